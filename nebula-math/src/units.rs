//! Millimetre constants, and metres at the edge of the program.
//!
//! A coordinate is a whole number of millimetres. An axis holds 2^128 of them: about 3.4 * 10^38 mm,
//! which is 3.4 * 10^35 m or 3.6 * 10^19 light years, half of it on either side of the origin. The
//! observable universe, some 9.3 * 10^10 light years across, fits about 387 million times along an
//! axis.
//!
//! ```
//! use nebula_math::units;
//!
//! assert_eq!(units::meters_to_mm(-0.5), Ok(-500));
//! assert_eq!(i128::MAX / units::LIGHT_YEAR, 17_983_937_281_965_108_809);
//! ```

use crate::MetersError;
use crate::lossy::mm_to_f64_meters;

/// One millimetre, the unit of every coordinate.
pub const MILLIMETER: i128 = 1;
/// Ten millimetres.
pub const CENTIMETER: i128 = 10 * MILLIMETER;
/// A thousand millimetres.
pub const METER: i128 = 1_000 * MILLIMETER;
/// A thousand metres.
pub const KILOMETER: i128 = 1_000 * METER;
/// The distance that light travels in a second: exactly 299,792,458 metres.
pub const LIGHT_SECOND: i128 = 299_792_458 * METER;
/// The astronomical unit: exactly 149,597,870,700 metres.
pub const ASTRONOMICAL_UNIT: i128 = 149_597_870_700 * METER;
/// The distance that light travels in a Julian year of 365.25 days: exactly
/// 9,460,730,472,580,800 metres.
pub const LIGHT_YEAR: i128 = 31_557_600 * LIGHT_SECOND;

/// Returns a length in metres as whole millimetres, rounded once to the nearest; a half rounds away
/// from zero.
///
/// The exact value of the float is what is rounded: 0.0005 lies just above half a millimetre, and
/// becomes 1.
///
/// # Errors
/// When the value is NaN, infinite, or beyond `i128` millimetres.
///
/// # Examples
/// ```
/// use nebula_math::{MetersError, units};
///
/// assert_eq!(units::meters_to_mm(-1.2346), Ok(-1_235));
/// assert_eq!(units::meters_to_mm(f64::NAN), Err(MetersError::NotANumber));
/// assert_eq!(units::meters_to_mm(1e36), Err(MetersError::OutOfRange(1e36)));
/// ```
pub fn meters_to_mm(meters: f64) -> Result<i128, MetersError> {
    if meters.is_nan() {
        return Err(MetersError::NotANumber);
    }
    if meters.is_infinite() {
        return Err(MetersError::Infinite(meters));
    }
    let magnitude = magnitude_mm(meters).ok_or(MetersError::OutOfRange(meters))?;
    let mm = if meters.is_sign_negative() {
        0_i128.checked_sub_unsigned(magnitude)
    } else {
        0_i128.checked_add_unsigned(magnitude)
    };
    mm.ok_or(MetersError::OutOfRange(meters))
}

/// Returns a radius in metres as whole millimetres, rounded once to the nearest.
///
/// # Errors
/// When the value is NaN, infinite, negative, or beyond `i128` millimetres.
///
/// # Examples
/// ```
/// use nebula_math::{MetersError, units};
///
/// assert_eq!(units::radius_to_mm(500.0), Ok(500 * units::METER));
/// assert_eq!(units::radius_to_mm(-0.25), Err(MetersError::Negative(-0.25)));
/// ```
pub fn radius_to_mm(meters: f64) -> Result<i128, MetersError> {
    // An infinite value is reported as such, whatever its sign.
    if meters < 0.0 && meters.is_finite() {
        return Err(MetersError::Negative(meters));
    }
    meters_to_mm(meters)
}

/// Returns millimetres as metres, rounded once to the nearest `f64`.
///
/// ```
/// use nebula_math::units;
///
/// assert_eq!(units::mm_to_meters_lossy(-1_235), -1.235);
/// ```
#[must_use]
pub fn mm_to_meters_lossy(mm: i128) -> f64 {
    mm_to_f64_meters(mm < 0, mm.unsigned_abs())
}

/// The magnitude of a finite number of metres in whole millimetres; `None` past 128 bits.
fn magnitude_mm(meters: f64) -> Option<u128> {
    // A float is a whole number of 53 bits times a power of two, so the product with 1,000 fits 63
    // bits and the only rounding is the final shift. Multiplying floats first would round twice.
    let bits = meters.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, power) = match (bits >> 52) & 0x7ff {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, i64::try_from(exponent).ok()? - 1075),
    };
    let scaled = u128::from(mantissa) * 1_000;
    let shift = u32::try_from(power.unsigned_abs()).ok()?;
    if power >= 0 {
        (shift <= scaled.leading_zeros()).then(|| scaled << shift)
    } else if shift > 64 {
        Some(0) // Below 2^63 / 2^65, less than half a millimetre.
    } else {
        Some((scaled + (1 << (shift - 1))) >> shift)
    }
}
