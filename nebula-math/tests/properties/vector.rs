//! What `IVec3_128` does axis by axis.

use nebula_math::{IVec3_128, strategies};
use num_bigint::BigInt;
use proptest::prelude::*;

use crate::twin::{axes, config};

proptest! {
    #![proptest_config(config())]

    #[test]
    fn smaller_larger_and_clamped_axis_by_axis(
        a in strategies::vector(),
        b in strategies::vector(),
        c in strategies::vector(),
    ) {
        let ([ax, ay, az], [bx, by, bz]) = (axes(a), axes(b));
        let low = [ax.clone().min(bx.clone()), ay.clone().min(by.clone()), az.clone().min(bz.clone())];
        let high = [ax.max(bx), ay.max(by), az.max(bz)];
        prop_assert_eq!(axes(a.min(b)), low);
        prop_assert_eq!(axes(a.max(b)), high);
        let clamped = c.clamp(a.min(b), a.max(b));
        prop_assert_eq!(clamped.x, c.x.clamp(a.x.min(b.x), a.x.max(b.x)));
        prop_assert_eq!(clamped.y, c.y.clamp(a.y.min(b.y), a.y.max(b.y)));
        prop_assert_eq!(clamped.z, c.z.clamp(a.z.min(b.z), a.z.max(b.z)));
        // Bounds in the wrong order give the upper one, never a panic.
        prop_assert_eq!(c.clamp(a.max(b), a.min(b)), a.min(b));
    }

    #[test]
    fn distances_and_signs_axis_by_axis(a in strategies::vector(), b in strategies::vector()) {
        let ([ax, ay, az], [bx, by, bz]) = (axes(a), axes(b));
        let apart = [ax - bx, ay - by, az - bz].map(|d| BigInt::from(d.magnitude().clone()));
        prop_assert_eq!(a.abs_diff(b).map(BigInt::from), apart);
        let signs = axes(a).map(|c| BigInt::from(c.sign() as i8 - 1));
        prop_assert_eq!(axes(a.signum()), signs);
    }
}

#[test]
fn constants_are_what_their_names_say() {
    assert_eq!(IVec3_128::X + IVec3_128::Y + IVec3_128::Z, IVec3_128::ONE);
    assert_eq!(
        IVec3_128::NEG_X + IVec3_128::NEG_Y + IVec3_128::NEG_Z,
        IVec3_128::NEG_ONE
    );
    assert_eq!(IVec3_128::MIN + IVec3_128::MAX, IVec3_128::NEG_ONE);
    assert_eq!(IVec3_128::default(), IVec3_128::ZERO);
    assert_eq!(size_of::<IVec3_128>(), 48);
}
