//! The inner loop of sphere queries: eight points at a time against a band of doubt.
//!
//! Distances are taken in floats from a leaf's 30-bit offsets. Every step that can be off (units
//! cut away by a coarse frame, the float rounding) is covered by two thresholds: at most `sure`
//! is certainly inside, above `never` is certainly outside, and the few in between are asked
//! exactly. So floats decide nothing that integers would decide differently.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "every rounding step is covered by the band of doubt"
)]

use super::cube::Key;
use super::frame::{Frame, OFFSET_BITS};
use super::leaf::{Block, LANES, Leaf};

/// A sphere relative to a frame, in the frame's units.
#[derive(Clone, Copy, Debug)]
pub(super) enum Band {
    /// The centre is close enough for exact `i32` differences.
    Near {
        center: [i32; 3],
        sure: f32,
        never: f32,
    },
    /// The centre is far from the frame, measured by its units.
    Far {
        center: [f64; 3],
        sure: f64,
        never: f64,
    },
}

impl Band {
    pub(super) fn new(center: &Key, radius: u128, frame: &Frame) -> Self {
        let unit = 2_f64.powi(i32::from(frame.shift));
        let radius = radius as f64 / unit;
        // Offset and centre each lose less than one unit per axis to a coarse frame, in the same
        // direction: a distance is off by less than sqrt(3) units.
        let cut = if frame.is_exact() { 0.0 } else { 2.0 };
        match near_center(center, frame) {
            Some(center) => {
                // Conversion, square and two sums round five times by 2^-24; a margin of 2^-20 also
                // covers the thresholds' own rounding.
                let (sure, never) = thresholds(radius, cut, 2_f64.powi(-20));
                Self::Near {
                    center,
                    sure: sure as f32,
                    never: never as f32,
                }
            }
            None => {
                let relative = [0, 1, 2].map(|k| signed(center[k], frame.origin[k]) / unit);
                let far = relative.iter().fold(0.0_f64, |far, v| far.max(v.abs()));
                // The centre itself is rounded to 2^-52 of its distance here.
                let rounded = (far + 2_f64.powi(i32::from(OFFSET_BITS))) * 2_f64.powi(-49);
                let (sure, never) = thresholds(radius, cut + rounded, 2_f64.powi(-46));
                Self::Far {
                    center: relative,
                    sure,
                    never,
                }
            }
        }
    }
}

/// Returns the squared distances up to which a point is surely inside, and beyond which it is
/// surely outside, if distances are off by at most `error` and squares by the share `rounding`.
fn thresholds(radius: f64, error: f64, rounding: f64) -> (f64, f64) {
    let inner = radius - error;
    let sure = if inner < 0.0 {
        -1.0
    } else {
        inner * inner * (1.0 - rounding)
    };
    let outer = radius + error;
    (sure, outer * outer * (1.0 + rounding))
}

/// Returns the centre in the frame's units if differences to every offset fit `i32`.
fn near_center(center: &Key, frame: &Frame) -> Option<[i32; 3]> {
    let mut near = [0; 3];
    for axis in 0..3 {
        let (at, origin) = (center[axis], frame.origin[axis]);
        near[axis] = if at >= origin {
            i32::try_from((at - origin) >> frame.shift).ok()?
        } else {
            // Rounds down, as the offsets do.
            let below = ((origin - at - 1) >> frame.shift) + 1;
            if below >> OFFSET_BITS != 0 {
                return None;
            }
            -i32::try_from(below).ok()?
        };
    }
    Some(near)
}

fn signed(at: u128, origin: u128) -> f64 {
    if at >= origin {
        (at - origin) as f64
    } else {
        -((origin - at) as f64)
    }
}

/// Writes the ids of a leaf's points from slot `from` on that lie in a band, and those in doubt that
/// `exactly` confirms, to `out`, and returns how many there were.
pub(super) fn scan<I: Copy>(
    band: &Band,
    leaf: &Leaf<I>,
    from: usize,
    out: &mut [I],
    exactly: impl Fn(usize) -> bool,
) -> usize {
    debug_assert!(from.is_multiple_of(LANES), "scans start at a block");
    match *band {
        Band::Near {
            center,
            sure,
            never,
        } => scan_by(
            leaf,
            from,
            out,
            exactly,
            |block| near(block, center),
            sure,
            never,
        ),
        Band::Far {
            center,
            sure,
            never,
        } => scan_by(
            leaf,
            from,
            out,
            exactly,
            |block| far(block, center),
            sure,
            never,
        ),
    }
}

#[inline]
fn scan_by<I: Copy, F: Copy + PartialOrd>(
    leaf: &Leaf<I>,
    from: usize,
    out: &mut [I],
    exactly: impl Fn(usize) -> bool,
    squares: impl Fn(&Block) -> [F; LANES],
    sure: F,
    never: F,
) -> usize {
    let until = leaf.len().min(from + out.len());
    let mut found = 0;
    let blocks = &leaf.blocks()[from / LANES..until.div_ceil(LANES)];
    for (at, (block, ids)) in blocks
        .iter()
        .zip(leaf.ids()[from..until].chunks(LANES))
        .enumerate()
    {
        let squares = squares(block);
        if squares.iter().any(|d| *d > sure && *d <= never) {
            for (lane, id) in ids.iter().enumerate() {
                let slot = from + at * LANES + lane;
                if squares[lane] <= sure || (squares[lane] <= never && exactly(slot)) {
                    out[found] = *id;
                    found += 1;
                }
            }
        } else {
            for (lane, id) in ids.iter().enumerate() {
                // Written always, kept only if inside: a branch here would be a coin toss.
                out[found] = *id;
                found += usize::from(squares[lane] <= sure);
            }
        }
    }
    found
}

#[inline]
fn near(block: &Block, center: [i32; 3]) -> [f32; LANES] {
    let mut squares = [0.0; LANES];
    for (axis, at) in block.axes.iter().zip(center) {
        for lane in 0..LANES {
            let d = axis[lane].cast_signed().wrapping_sub(at) as f32;
            squares[lane] += d * d;
        }
    }
    squares
}

#[inline]
fn far(block: &Block, center: [f64; 3]) -> [f64; LANES] {
    let mut squares = [0.0; LANES];
    for (axis, at) in block.axes.iter().zip(center) {
        for lane in 0..LANES {
            let d = f64::from(axis[lane]) - at;
            squares[lane] += d * d;
        }
    }
    squares
}
