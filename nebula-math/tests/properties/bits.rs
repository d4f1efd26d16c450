//! Shifts and bitwise operators.

use nebula_math::{IVec3_128, strategies};
use num_bigint::BigInt;
use proptest::prelude::*;

use crate::twin::{axes, config, outcome, wrap};

fn exactly(v: IVec3_128, f: impl Fn(BigInt) -> BigInt) -> IVec3_128 {
    IVec3_128::from_array(axes(v).map(|c| wrap(f(c))))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn left_shifts_multiply_modulo_the_universe(v in strategies::vector(), bits in 0..300_u32) {
        let shifted = exactly(v, |c| c << (bits % 128));
        let valid = (bits < 128).then_some(shifted);
        prop_assert_eq!(v.checked_shl(bits), valid);
        prop_assert_eq!(v.wrapping_shl(bits), shifted);
        prop_assert_eq!(v.overflowing_shl(bits), (shifted, bits >= 128));
        prop_assert_eq!(outcome(|| v << bits), valid);
        prop_assert_eq!(outcome(|| { let mut w = v; w <<= bits; w }), valid);
    }

    #[test]
    fn right_shifts_divide_and_round_down(v in strategies::vector(), bits in 0..300_u32) {
        // A big integer's `>>` rounds down too, as two's complement does.
        let shifted = exactly(v, |c| c >> (bits % 128));
        let valid = (bits < 128).then_some(shifted);
        prop_assert_eq!(v.checked_shr(bits), valid);
        prop_assert_eq!(v.wrapping_shr(bits), shifted);
        prop_assert_eq!(v.overflowing_shr(bits), (shifted, bits >= 128));
        prop_assert_eq!(outcome(|| v >> bits), valid);
        prop_assert_eq!(outcome(|| { let mut w = v; w >>= bits; w }), valid);
    }

    #[test]
    fn bitwise_operators_work_axis_by_axis(
        a in strategies::vector(),
        b in strategies::vector(),
        n in strategies::coordinate(),
    ) {
        // Big integers are two's complement of endless length here, so the low bits agree.
        let pair = |f: fn(BigInt, BigInt) -> BigInt| {
            let ([ax, ay, az], [bx, by, bz]) = (axes(a), axes(b));
            IVec3_128::from_array([f(ax, bx), f(ay, by), f(az, bz)].map(wrap))
        };
        prop_assert_eq!(a & b, pair(|a, b| a & b));
        prop_assert_eq!(a | b, pair(|a, b| a | b));
        prop_assert_eq!(a ^ b, pair(|a, b| a ^ b));
        prop_assert_eq!(!a, exactly(a, |c| -c - 1));
        let splat = IVec3_128::splat(n);
        prop_assert_eq!((a & n, n & a), (a & splat, a & splat));
        prop_assert_eq!((a | n, n | a), (a | splat, a | splat));
        prop_assert_eq!((a ^ n, n ^ a), (a ^ splat, a ^ splat));
        let assigned = |f: fn(&mut IVec3_128, IVec3_128, i128)| { let mut v = a; f(&mut v, b, n); v };
        prop_assert_eq!(assigned(|v, b, _| *v &= b), a & b);
        prop_assert_eq!(assigned(|v, b, _| *v |= b), a | b);
        prop_assert_eq!(assigned(|v, b, _| *v ^= b), a ^ b);
        prop_assert_eq!(assigned(|v, _, n| *v &= n), a & n);
        prop_assert_eq!(assigned(|v, _, n| *v |= n), a | n);
        prop_assert_eq!(assigned(|v, _, n| *v ^= n), a ^ n);
    }
}
