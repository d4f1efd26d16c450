//! Wide integers.

use nebula_math::{I384, U384};
use num_bigint::BigInt;
use proptest::prelude::*;

use crate::twin::{big, config, from_i384, from_u384};

/// Limbs that carry: zeros, ones, and powers of two among random ones.
fn limb() -> impl Strategy<Value = u128> + Clone {
    (0..6_u8, any::<u128>(), 0..128_u32).prop_map(|(kind, any, k)| match kind {
        0 => 0,
        1 => u128::MAX,
        2 => 1 << k,
        3 => u128::MAX - any % 3,
        4 => any % 3,
        _ => any,
    })
}

fn wide() -> impl Strategy<Value = U384> + Clone {
    [limb(), limb(), limb()].prop_map(U384::from_limbs)
}

fn signed() -> impl Strategy<Value = I384> + Clone {
    (wide(), wide()).prop_map(|(a, b)| I384::difference(a, b))
}

/// The value if it fits 384 bits and is not negative.
fn fitting(exact: &BigInt) -> Option<U384> {
    let (sign, digits) = exact.to_u64_digits();
    if sign == num_bigint::Sign::Minus || digits.len() > 6 {
        return None;
    }
    let digit = |i: usize| u128::from(digits.get(i).copied().unwrap_or(0));
    Some(U384::from_limbs(
        [0, 2, 4].map(|i| digit(i) | digit(i + 1) << 64),
    ))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn products_and_sums_of_squares_are_exact(x in limb(), y in limb(), z in limb()) {
        let squares = big(x) * x + big(y) * y + big(z) * z;
        prop_assert_eq!(from_u384(U384::product(x, y)), big(x) * y);
        prop_assert_eq!(from_u384(U384::square(x)), big(x) * x);
        prop_assert_eq!(from_u384(U384::sum_of_squares(x, y, z)), squares);
        prop_assert_eq!(from_u384(U384::sum_of_three([x, y, z])), big(x) + y + z);
    }

    #[test]
    fn addition_and_subtraction_are_exact(a in wide(), b in wide()) {
        let (x, y) = (from_u384(a), from_u384(b));
        prop_assert_eq!(a.checked_add(b), fitting(&(&x + &y)));
        prop_assert_eq!(a.checked_sub(b), fitting(&(&x - &y)));
        prop_assert_eq!(a.cmp(&b), x.cmp(&y));
        prop_assert_eq!(from_i384(I384::difference(a, b)), x - y);
    }

    #[test]
    fn values_have_a_length_and_narrow_exactly(a in wide(), n in any::<u128>()) {
        let exact = from_u384(a);
        prop_assert_eq!(u64::from(a.bit_length()), exact.bits());
        prop_assert_eq!(a.to_u128(), u128::try_from(exact).ok());
        prop_assert_eq!(U384::from(n).to_u128(), Some(n));
        prop_assert_eq!(U384::from_limbs(a.limbs()), a);
    }

    #[test]
    fn signed_values_order_and_negate_as_numbers(a in signed(), b in signed(), n in any::<i128>()) {
        let (x, y) = (from_i384(a), from_i384(b));
        prop_assert_eq!(a.cmp(&b), x.cmp(&y));
        prop_assert_eq!(a == b, x == y);
        prop_assert_eq!(from_i384(-a), -&x);
        prop_assert_eq!(a.is_negative(), x < big(0));
        prop_assert_eq!(from_u384(a.magnitude()), BigInt::from(x.magnitude().clone()));
        prop_assert_eq!(a.to_i128(), i128::try_from(x).ok());
        prop_assert_eq!(I384::from(n).to_i128(), Some(n));
        prop_assert_eq!(from_i384(I384::from(a.magnitude())), from_u384(a.magnitude()));
    }

    #[test]
    fn values_are_written_in_decimal(a in wide(), b in signed()) {
        prop_assert_eq!(a.to_string(), from_u384(a).to_string());
        prop_assert_eq!(b.to_string(), from_i384(b).to_string());
        prop_assert_eq!(format!("{b:+0140}"), format!("{:+0140}", from_i384(b)));
    }
}

#[test]
fn the_ends_are_written_in_full() {
    assert_eq!(U384::ZERO.to_string(), "0");
    assert_eq!(-I384::ZERO, I384::ZERO);
    assert_eq!(U384::MAX.to_string().len(), 116);
    assert_eq!(
        format!("{:?}", U384::from(255)),
        format!("U384(0x{}_{}_{:032x})", "0".repeat(32), "0".repeat(32), 255)
    );
    assert_eq!(format!("{:?}", I384::from(-7)), "I384(-7)");
}
