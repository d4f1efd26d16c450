//! Wide integers in decimal, with the padding and sign that `format!` asks for.

use core::fmt;

use crate::{I384, U384};

/// As many decimal digits as fit a `u64`.
const CHUNK: u64 = 10_u64.pow(DIGITS);
const DIGITS: u32 = 19;
/// 2^384 has 116 digits.
const CAP: usize = 7 * DIGITS as usize;

impl fmt::Display for U384 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(*self, true, f)
    }
}

impl fmt::Display for I384 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(self.magnitude(), !self.is_negative(), f)
    }
}

impl fmt::Debug for U384 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lo, mid, hi] = self.limbs();
        write!(f, "U384(0x{hi:032x}_{mid:032x}_{lo:032x})")
    }
}

impl fmt::Debug for I384 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "I384({self})")
    }
}

fn write_decimal(value: U384, non_negative: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut digits = [b'0'; CAP];
    let mut rest = value;
    for chunk in digits.rchunks_mut(DIGITS as usize) {
        let mut remainder;
        (rest, remainder) = divide(rest, CHUNK);
        for digit in chunk.iter_mut().rev() {
            *digit += u8::try_from(remainder % 10).map_err(|_| fmt::Error)?;
            remainder /= 10;
        }
    }
    // A lone zero keeps its digit.
    let start = digits.iter().position(|d| *d != b'0').unwrap_or(CAP - 1);
    let text = core::str::from_utf8(&digits[start..]).map_err(|_| fmt::Error)?;
    f.pad_integral(non_negative, "", text)
}

/// Returns quotient and remainder, by long division in base 2^64.
fn divide(value: U384, by: u64) -> (U384, u64) {
    let by = u128::from(by);
    let mut remainder = 0_u128;
    let mut step = |half: u128| {
        let dividend = remainder << 64 | half;
        remainder = dividend % by;
        dividend / by
    };
    let [lo, mid, hi] = value.limbs();
    let mut limb = |limb: u128| step(limb >> 64) << 64 | step(limb & u128::from(u64::MAX));
    let (hi, mid, lo) = (limb(hi), limb(mid), limb(lo));
    let remainder = u64::try_from(remainder).unwrap_or_default();
    (U384::from_limbs([lo, mid, hi]), remainder)
}
