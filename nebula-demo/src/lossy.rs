//! Every step from exact numbers to pixels: the only place where this program drops bits on purpose.

/// Returns the nearest `f64`; drawing needs no more.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "drawing only: a pixel is far wider than the error"
)]
#[inline]
pub fn f64_from_mm(mm: i128) -> f64 {
    // One instruction for what fits 64 bits, which is all that is ever near a camera.
    i64::try_from(mm).map_or(mm as f64, |mm| mm as f64)
}

/// Returns whole millimetres, rounded; NaN gives 0 and values out of range the nearest end.
///
/// ```
/// assert_eq!(nebula_demo::lossy::mm_from_f64(-2.6), -3);
/// assert_eq!(nebula_demo::lossy::mm_from_f64(f64::NAN), 0);
/// ```
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounds and saturates, as documented"
)]
pub fn mm_from_f64(mm: f64) -> i128 {
    mm.round() as i128
}

/// Returns the pixel that holds this coordinate: rounded down, and saturating.
///
/// ```
/// assert_eq!(nebula_demo::lossy::pixel(-0.5), -1);
/// assert_eq!(nebula_demo::lossy::pixel(1e30), i32::MAX);
/// ```
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounds down and saturates, as documented"
)]
pub fn pixel(v: f64) -> i32 {
    v.floor() as i32
}

/// Returns a colour channel or coverage from 0 to 255, rounded; values outside give the nearest end.
///
/// ```
/// assert_eq!(nebula_demo::lossy::byte(254.6), 255);
/// assert_eq!(nebula_demo::lossy::byte(-1.0), 0);
/// ```
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounds and saturates, as documented"
)]
pub fn byte(v: f32) -> u8 {
    (v + 0.5) as u8
}

/// Returns the nearest `f32`, for the panel library.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "screen coordinates only")]
pub const fn f32_from_f64(v: f64) -> f32 {
    v as f32
}

/// Returns a slice index; negative values give 0.
#[must_use]
pub fn index(v: i32) -> usize {
    usize::try_from(v).unwrap_or(0)
}
