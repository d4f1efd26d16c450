//! The slow, obviously right twin: big integers, and what all properties share.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use nebula_math::{I384, IVec3_128, U384, WorldPosition};
use num_bigint::{BigInt, BigUint, Sign};

pub(crate) use crate::config::config;

pub(crate) fn big(value: impl Into<BigInt>) -> BigInt {
    value.into()
}

pub(crate) fn axes(v: IVec3_128) -> [BigInt; 3] {
    [v.x.into(), v.y.into(), v.z.into()]
}

pub(crate) fn point(p: &WorldPosition) -> [BigInt; 3] {
    [p.x.into(), p.y.into(), p.z.into()]
}

pub(crate) fn from_u384(value: U384) -> BigInt {
    let [lo, mid, hi] = value.limbs().map(BigUint::from);
    BigInt::from_biguint(Sign::Plus, lo + (mid << 128_u32) + (hi << 256_u32))
}

pub(crate) fn from_i384(value: I384) -> BigInt {
    let magnitude = from_u384(value.magnitude());
    if value.is_negative() {
        -magnitude
    } else {
        magnitude
    }
}

/// The vector of three exact results, if all fit.
pub(crate) fn fitting(exact: [BigInt; 3]) -> Option<IVec3_128> {
    let [x, y, z] = exact.map(|c| i128::try_from(c).ok());
    Some(IVec3_128::new(x?, y?, z?))
}

/// An exact result modulo 2^128.
pub(crate) fn wrap(exact: BigInt) -> i128 {
    let modulus = big(1) << 128_u32;
    let rest = ((exact % &modulus) + &modulus) % &modulus;
    let signed = if rest >= big(1) << 127_u32 {
        rest - modulus
    } else {
        rest
    };
    i128::try_from(signed).expect("a value between -2^127 and 2^127")
}

/// The nearest `i128` to an exact result.
pub(crate) fn saturate(exact: BigInt) -> i128 {
    let below = exact.sign() == Sign::Minus;
    i128::try_from(exact).unwrap_or(if below { i128::MIN } else { i128::MAX })
}

pub(crate) fn euclid(a: &BigInt, b: &BigInt) -> (BigInt, BigInt) {
    let (mut quotient, mut rest) = (a / b, a % b);
    if rest.sign() == Sign::Minus {
        if b.sign() == Sign::Minus {
            rest -= b;
            quotient += 1;
        } else {
            rest += b;
            quotient -= 1;
        }
    }
    (quotient, rest)
}

pub(crate) fn squared_distance(a: &WorldPosition, b: &WorldPosition) -> BigInt {
    let [ax, ay, az] = point(a);
    let [bx, by, bz] = point(b);
    [ax - bx, ay - by, az - bz].iter().map(|d| d * d).sum()
}

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
    static BLAMED: Cell<Option<(String, u32)>> = const { Cell::new(None) };
}

/// What an operator gives, or `None` if it panics. Expected panics are kept silent: printing
/// thousands of them took most of the time.
pub(crate) fn outcome<T>(f: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if SILENT.get() {
                BLAMED.set(info.location().map(|at| (at.file().to_owned(), at.line())));
            } else {
                loud(info);
            }
        }));
    });
    SILENT.set(true);
    let result = catch_unwind(AssertUnwindSafe(f)).ok();
    SILENT.set(false);
    result
}

/// The file and the line that a panic names, or `None` without a panic.
pub(crate) fn blamed<T>(f: impl FnOnce() -> T) -> Option<(String, u32)> {
    BLAMED.set(None);
    outcome(f);
    BLAMED.take()
}
