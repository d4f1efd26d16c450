//! Dot products and lengths.

use nebula_math::{IVec3_128, strategies};
use num_bigint::BigInt;
use proptest::prelude::*;

use crate::twin::{axes, config, from_i384, from_u384};

proptest! {
    #![proptest_config(config())]

    #[test]
    fn dot_products_are_exact(a in strategies::vector(), b in strategies::vector()) {
        let exact: BigInt = axes(a).iter().zip(&axes(b)).map(|(a, b)| a * b).sum();
        let dot = a.dot(b);
        prop_assert_eq!(from_i384(dot), exact.clone());
        prop_assert_eq!(dot.to_i128(), i128::try_from(exact).ok());
    }

    #[test]
    fn lengths_are_exact(v in strategies::vector()) {
        let squared: BigInt = axes(v).iter().map(|c| c * c).sum();
        prop_assert_eq!(from_u384(v.length_squared()), squared);
        let magnitudes = axes(v).map(|c| BigInt::from(c.magnitude().clone()));
        prop_assert_eq!(from_u384(v.manhattan_length()), magnitudes.iter().sum::<BigInt>());
        prop_assert_eq!(Some(BigInt::from(v.chebyshev_length())), magnitudes.into_iter().max());
    }
}

#[test]
fn the_largest_products_fit() {
    let corner = IVec3_128::MIN;
    assert_eq!(from_i384(corner.dot(corner)), BigInt::from(3) << 254_u32);
    assert_eq!(
        from_i384(corner.dot(IVec3_128::MAX)),
        -(BigInt::from(3) << 254_u32) + (BigInt::from(3) << 127_u32)
    );
}
