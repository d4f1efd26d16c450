//! Why a value was refused. Each error names the value and what would have been right.

use core::error::Error;
use core::fmt;

/// Why a number of metres is not a length in millimetres.
///
/// ```
/// use nebula_math::{MetersError, WorldPosition};
///
/// let error = WorldPosition::from_meters(0.0, 1e36, 0.0).unwrap_err();
/// assert_eq!(error, MetersError::OutOfRange(1e36));
/// assert!(error.to_string().starts_with("1e36 metres"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MetersError {
    /// The value is NaN.
    NotANumber,
    /// The value is infinite.
    Infinite(f64),
    /// The value is below zero where a radius is asked for.
    Negative(f64),
    /// The value in millimetres is beyond `i128`.
    OutOfRange(f64),
}

impl fmt::Display for MetersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber => write!(f, "NaN metres is not a length"),
            Self::Infinite(m) => write!(f, "{m:?} metres is not finite"),
            Self::Negative(m) => write!(f, "{m:?} metres is negative; a radius is zero or more"),
            Self::OutOfRange(m) => write!(
                f,
                "{m:?} metres is beyond the universe, which ends 2^127 millimetres (1.7e35 metres) from its origin"
            ),
        }
    }
}

impl Error for MetersError {}

/// Why a 128-bit component did not fit a narrower integer.
///
/// ```
/// use nebula_math::IVec3_128;
///
/// let error = <[i32; 3]>::try_from(IVec3_128::new(0, -5_000_000_000, 0)).unwrap_err();
/// assert_eq!(error.to_string(), "y is -5000000000, which does not fit i32");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NarrowError {
    axis: char,
    value: i128,
    target: &'static str,
}

impl NarrowError {
    pub(crate) const fn new(axis: char, value: i128, target: &'static str) -> Self {
        Self {
            axis,
            value,
            target,
        }
    }

    /// Returns the component that did not fit.
    #[must_use]
    pub const fn value(&self) -> i128 {
        self.value
    }
}

impl fmt::Display for NarrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            axis,
            value,
            target,
        } = self;
        write!(f, "{axis} is {value}, which does not fit {target}")
    }
}

impl Error for NarrowError {}

/// Why two corners are not a box: on some axis the smaller one is larger.
///
/// ```
/// use nebula_math::{Aabb128, WorldPosition};
///
/// let error = Aabb128::try_new(WorldPosition::new(0, 0, 4), WorldPosition::ORIGIN).unwrap_err();
/// assert_eq!(error.to_string(), "a box needs min <= max, but on z min is 4 and max is 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AabbError {
    axis: char,
    min: i128,
    max: i128,
}

impl AabbError {
    pub(crate) const fn new(axis: char, min: i128, max: i128) -> Self {
        Self { axis, min, max }
    }
}

impl fmt::Display for AabbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { axis, min, max } = self;
        write!(
            f,
            "a box needs min <= max, but on {axis} min is {min} and max is {max}"
        )
    }
}

impl Error for AabbError {}
