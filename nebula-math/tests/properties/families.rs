//! Operators and their `checked_`, `saturating_`, `wrapping_` and `overflowing_` forms.

use nebula_math::{IVec3_128, strategies};
use num_bigint::BigInt;
use proptest::prelude::*;

use crate::twin::{axes, big, config, euclid, fitting, outcome, saturate, wrap};

/// Exact results axis by axis; `None` where there is none, as in a division by zero.
fn exact(
    a: IVec3_128,
    b: IVec3_128,
    f: impl Fn(BigInt, BigInt) -> Option<BigInt>,
) -> Option<[BigInt; 3]> {
    let ([ax, ay, az], [bx, by, bz]) = (axes(a), axes(b));
    Some([f(ax, bx)?, f(ay, by)?, f(az, bz)?])
}

fn nonzero(f: impl Fn(&BigInt, &BigInt) -> BigInt) -> impl Fn(BigInt, BigInt) -> Option<BigInt> {
    move |a, b| (b != big(0)).then(|| f(&a, &b))
}

/// Small components too, so that quotients are not all 0 and products not all too large.
fn operand() -> impl Strategy<Value = IVec3_128> + Clone {
    (strategies::vector(), any::<bool>()).prop_map(|(v, small)| {
        if small {
            v.rem_euclid(IVec3_128::splat(41)) - IVec3_128::splat(20)
        } else {
            v
        }
    })
}

/// One property per operation: every form agrees with the exact result.
macro_rules! binary {
    ($name:ident, $exact:expr, $checked:ident, $wrapping:ident, $overflowing:ident) => {
        proptest! {
            #![proptest_config(config())]

            #[test]
            fn $name(a in operand(), b in operand()) {
                let exact = exact(a, b, $exact);
                let fits = exact.clone().and_then(fitting);
                prop_assert_eq!(a.$checked(b), fits);
                let wrapped = exact.map(|e| IVec3_128::from_array(e.map(wrap)));
                prop_assert_eq!(outcome(|| a.$wrapping(b)), wrapped);
                let flagged = wrapped.map(|w| (w, fits.is_none()));
                prop_assert_eq!(outcome(|| a.$overflowing(b)), flagged);
            }
        }
    };
}

binary!(
    add,
    |a, b| Some(a + b),
    checked_add,
    wrapping_add,
    overflowing_add
);
binary!(
    sub,
    |a, b| Some(a - b),
    checked_sub,
    wrapping_sub,
    overflowing_sub
);
binary!(
    mul,
    |a, b| Some(a * b),
    checked_mul,
    wrapping_mul,
    overflowing_mul
);
binary!(
    div,
    nonzero(|a, b| a / b),
    checked_div,
    wrapping_div,
    overflowing_div
);
binary!(
    div_euclid,
    nonzero(|a, b| euclid(a, b).0),
    checked_div_euclid,
    wrapping_div_euclid,
    overflowing_div_euclid
);

/// `MIN % -1` is 0, but `i128` counts it as an overflow because its division is one. The families
/// follow `i128`, so the twin asks for the quotient too.
macro_rules! remainder {
    ($name:ident, $quotient:expr, $rest:expr, $checked:ident, $wrapping:ident, $overflowing:ident) => {
        proptest! {
            #![proptest_config(config())]

            #[test]
            fn $name(a in operand(), b in operand()) {
                let quotient = exact(a, b, nonzero($quotient)).and_then(fitting);
                let rest = exact(a, b, nonzero($rest)).and_then(fitting);
                prop_assert_eq!(a.$checked(b), quotient.and(rest));
                prop_assert_eq!(outcome(|| a.$wrapping(b)), rest);
                let flagged = rest.map(|r| (r, quotient.is_none()));
                prop_assert_eq!(outcome(|| a.$overflowing(b)), flagged);
            }
        }
    };
}

remainder!(
    rem,
    |a, b| a / b,
    |a, b| a % b,
    checked_rem,
    wrapping_rem,
    overflowing_rem
);
remainder!(
    rem_euclid,
    |a, b| euclid(a, b).0,
    |a, b| euclid(a, b).1,
    checked_rem_euclid,
    wrapping_rem_euclid,
    overflowing_rem_euclid
);

/// A plain operator in its five forms gives the checked result or panics.
macro_rules! operator {
    ($name:ident, $op:tt, $assign:tt, $checked:ident) => {
        proptest! {
            #![proptest_config(config())]

            #[test]
            fn $name(a in operand(), b in operand(), n in strategies::coordinate()) {
                let n = if a.x % 2 == 0 { n } else { n % 20 };
                let splat = IVec3_128::splat(n);
                prop_assert_eq!(outcome(|| a $op b), a.$checked(b));
                prop_assert_eq!(outcome(|| a $op n), a.$checked(splat));
                prop_assert_eq!(outcome(|| n $op b), splat.$checked(b));
                let assigned = outcome(|| { let mut v = a; v $assign b; v });
                prop_assert_eq!(assigned, a.$checked(b));
                let assigned = outcome(|| { let mut v = a; v $assign n; v });
                prop_assert_eq!(assigned, a.$checked(splat));
            }
        }
    };
}

operator!(plus_checks, +, +=, checked_add);
operator!(minus_checks, -, -=, checked_sub);
operator!(times_checks, *, *=, checked_mul);
operator!(divide_checks, /, /=, checked_div);
operator!(remainder_checks, %, %=, checked_rem);

proptest! {
    #![proptest_config(config())]

    #[test]
    fn saturating_forms_stop_at_the_ends(a in operand(), b in operand()) {
        let near = |f: fn(BigInt, BigInt) -> Option<BigInt>| {
            exact(a, b, f).map(|e| IVec3_128::from_array(e.map(saturate)))
        };
        prop_assert_eq!(Some(a.saturating_add(b)), near(|a, b| Some(a + b)));
        prop_assert_eq!(Some(a.saturating_sub(b)), near(|a, b| Some(a - b)));
        prop_assert_eq!(Some(a.saturating_mul(b)), near(|a, b| Some(a * b)));
        let quotient = near(|a, b| (b != big(0)).then(|| a / b));
        prop_assert_eq!(outcome(|| a.saturating_div(b)), quotient);
        prop_assert_eq!(a.saturating_neg(), IVec3_128::from_array(axes(a).map(|c| saturate(-c))));
        let magnitudes = axes(a).map(|c| saturate(c.magnitude().clone().into()));
        prop_assert_eq!(a.saturating_abs(), IVec3_128::from_array(magnitudes));
    }

    #[test]
    fn negation_and_magnitude_in_every_form(a in strategies::vector()) {
        let negated = axes(a).map(|c| -c);
        let magnitudes = axes(a).map(|c| BigInt::from(c.magnitude().clone()));
        prop_assert_eq!(a.checked_neg(), fitting(negated.clone()));
        prop_assert_eq!(outcome(|| -a), fitting(negated.clone()));
        prop_assert_eq!(a.wrapping_neg(), IVec3_128::from_array(negated.map(wrap)));
        prop_assert_eq!(a.overflowing_neg(), (a.wrapping_neg(), a.checked_neg().is_none()));
        prop_assert_eq!(a.checked_abs(), fitting(magnitudes.clone()));
        prop_assert_eq!(outcome(|| a.abs()), fitting(magnitudes.clone()));
        prop_assert_eq!(a.wrapping_abs(), IVec3_128::from_array(magnitudes.clone().map(wrap)));
        prop_assert_eq!(a.overflowing_abs(), (a.wrapping_abs(), a.checked_abs().is_none()));
        prop_assert_eq!(a.unsigned_abs().map(BigInt::from), magnitudes);
    }

    #[test]
    fn plain_euclidean_forms_check(a in operand(), b in operand()) {
        prop_assert_eq!(outcome(|| a.div_euclid(b)), a.checked_div_euclid(b));
        prop_assert_eq!(outcome(|| a.rem_euclid(b)), a.checked_rem_euclid(b));
    }

    #[test]
    fn sums_add_one_by_one(list in prop::collection::vec(operand(), 0..6)) {
        let running = list.iter().try_fold(IVec3_128::ZERO, |sum, v| sum.checked_add(*v));
        prop_assert_eq!(outcome(|| list.iter().copied().sum::<IVec3_128>()), running);
    }
}
