//! Points, displacements and boxes as text: `(x, y, z)`, and back.

use core::error::Error;
use core::fmt::{self, Write as _};
use core::num::IntErrorKind;
use core::str::FromStr;

use crate::{Aabb128, IVec3_128, WorldPosition};

macro_rules! xyz_text {
    ($($type:ident)*) => {$(
        /// Writes `(x, y, z)` in millimetres; a width pads the whole.
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                pad(f, format_args!("({}, {}, {})", self.x, self.y, self.z))
            }
        }

        /// Reads `x, y, z` in millimetres, with or without parentheses and spaces.
        impl FromStr for $type {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                parse_three(text).map(Self::from_array)
            }
        }
    )*};
}

xyz_text! { IVec3_128 WorldPosition }

/// Writes the two corners, as `(x, y, z)..=(x, y, z)`; a width pads the whole.
impl fmt::Display for Aabb128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        pad(f, format_args!("{}..={}", self.min(), self.max()))
    }
}

/// Writes a text with the width, the fill and the alignment that `format!` asks for.
fn pad(f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>) -> fmt::Result {
    if f.width().is_none() && f.precision().is_none() {
        return f.write_fmt(text);
    }
    let mut line = Line {
        bytes: [0; Line::CAP],
        len: 0,
    };
    line.write_fmt(text)?;
    f.pad(core::str::from_utf8(&line.bytes[..line.len]).map_err(|_| fmt::Error)?)
}

/// A whole text, because padding has to know its length and there is no allocator.
struct Line {
    bytes: [u8; Self::CAP],
    len: usize,
}

impl Line {
    /// A box is six numbers of at most 40 characters, and 15 characters between them.
    const CAP: usize = 6 * 40 + 15;
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        let free = self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?;
        free.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Why a text is not three whole numbers.
///
/// ```
/// use nebula_math::WorldPosition;
///
/// let error = "1,2".parse::<WorldPosition>().unwrap_err();
/// assert_eq!(error.to_string(), r#"expected three numbers, as in "1, -2, 3", but "1,2" has 2"#);
///
/// let error = "1, 2.5, 3".parse::<WorldPosition>().unwrap_err();
/// assert_eq!(error.to_string(), r#"y is "2.5", which is not a whole number"#);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    fault: Fault,
    text: Excerpt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Count(usize),
    Empty(char),
    NotANumber(char),
    OutOfRange(char),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        match self.fault {
            Fault::Count(found) => {
                write!(
                    f,
                    "expected three numbers, as in \"1, -2, 3\", but {text} has {found}"
                )
            }
            Fault::Empty(axis) => write!(f, "{axis} is {text}, where a whole number belongs"),
            Fault::NotANumber(axis) => write!(f, "{axis} is {text}, which is not a whole number"),
            Fault::OutOfRange(axis) => write!(f, "{axis} is {text}, which does not fit i128"),
        }
    }
}

impl Error for ParseError {}

fn parse_three(text: &str) -> Result<[i128; 3], ParseError> {
    let trimmed = text.trim();
    let inner = trimmed
        .strip_prefix('(')
        .and_then(|t| t.strip_suffix(')'))
        .unwrap_or(trimmed);
    let mut parts = inner.split(',');
    let (Some(x), Some(y), Some(z), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        let found = if inner.trim().is_empty() {
            0
        } else {
            inner.split(',').count()
        };
        return Err(ParseError {
            fault: Fault::Count(found),
            text: Excerpt::new(text),
        });
    };
    Ok([parse_one('x', x)?, parse_one('y', y)?, parse_one('z', z)?])
}

fn parse_one(axis: char, text: &str) -> Result<i128, ParseError> {
    let text = text.trim();
    text.parse().map_err(|error: core::num::ParseIntError| {
        let fault = match error.kind() {
            IntErrorKind::Empty => Fault::Empty(axis),
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Fault::OutOfRange(axis),
            _ => Fault::NotANumber(axis),
        };
        ParseError {
            fault,
            text: Excerpt::new(text),
        }
    })
}

/// The beginning of a refused text. Without an allocator an error can hold no more, and a hostile
/// text should not fill a log.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Excerpt {
    bytes: [u8; Self::CAP],
    len: usize,
    cut: bool,
}

impl Excerpt {
    /// Enough for any `i128`, which takes at most 40 characters.
    const CAP: usize = 48;

    fn new(text: &str) -> Self {
        let len = text.floor_char_boundary(Self::CAP);
        let mut bytes = [0; Self::CAP];
        bytes[..len].copy_from_slice(&text.as_bytes()[..len]);
        Self {
            bytes,
            len,
            cut: len < text.len(),
        }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = core::str::from_utf8(&self.bytes[..self.len]).map_err(|_| fmt::Error)?;
        write!(f, "{text:?}{}", if self.cut { "..." } else { "" })
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
