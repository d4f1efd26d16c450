//! A dot computed once and stamped many times.

use super::{Canvas, mix};
use crate::lossy;
use crate::palette::Rgb;

/// Positions between two pixels that have a picture of their own, per axis.
const PHASES: u8 = 4;
/// Samples per pixel and axis when a picture is computed.
const SAMPLES: u8 = 4;

/// A smooth dot of one radius, as coverage tables: stamping one is a handful of mixes, no square
/// roots. A path per dot costs up to 280 ms a frame at 100,000 dots; stamps cost 4.
///
/// ```
/// use nebula_demo::canvas::{Canvas, Stamp};
///
/// let mut pixels = vec![0; 81];
/// let mut canvas = Canvas::new(9, 9, &mut pixels).unwrap();
/// Stamp::new(2.0).draw(&mut canvas, 4.5, 4.5, 0xFF_FF_FF);
/// assert_eq!(pixels[40], 0xFF_FF_FF); // the middle
/// assert_eq!(pixels[0], 0); // a corner
/// ```
#[derive(Clone, Debug)]
pub struct Stamp {
    /// Pixels per side of a picture.
    side: i32,
    /// `PHASES * PHASES` pictures of `side * side` coverages.
    cover: Vec<u8>,
}

impl Stamp {
    /// Computes the pictures of a dot; the radius is held between half a pixel and 32.
    #[must_use]
    pub fn new(radius: f64) -> Self {
        let radius = radius.clamp(0.5, 32.0);
        let side = 2 * lossy::pixel(radius) + 4;
        let mut cover = Vec::new();
        for phase_y in 0..PHASES {
            for phase_x in 0..PHASES {
                let middle = |phase: u8| f64::from(side / 2) + f64::from(phase) / f64::from(PHASES);
                picture(side, middle(phase_x), middle(phase_y), radius, &mut cover);
            }
        }
        Self { side, cover }
    }

    /// Lays the dot over the canvas, its middle at these pixel coordinates; one that is no number
    /// draws nothing.
    #[inline]
    pub fn draw(&self, canvas: &mut Canvas<'_>, x: f64, y: f64, color: Rgb) {
        if x.is_nan() || y.is_nan() {
            return;
        }
        let (left, phase_x) = self.split(x);
        let (top, phase_y) = self.split(y);
        let side = lossy::index(self.side);
        let picture = (phase_y * usize::from(PHASES) + phase_x) * side * side;
        for (row, line) in (0..self.side).zip(self.cover[picture..].chunks_exact(side)) {
            let skip = lossy::index(left.saturating_neg().min(self.side));
            let pixels = canvas.row(
                top.saturating_add(row),
                left,
                left.saturating_add(self.side),
            );
            for (pixel, cover) in pixels.iter_mut().zip(&line[skip..]) {
                *pixel = mix(*pixel, color, *cover);
            }
        }
    }

    /// Splits a coordinate into the picture's first pixel and its phase.
    fn split(&self, v: f64) -> (i32, usize) {
        let whole = lossy::pixel(v);
        let part = (v - f64::from(whole)).clamp(0.0, 1.0) * f64::from(PHASES);
        let phase = lossy::index(lossy::pixel(part).min(i32::from(PHASES) - 1));
        (whole.saturating_sub(self.side / 2), phase)
    }
}

/// Appends the coverage of a disc to `cover`, by counting samples.
fn picture(side: i32, cx: f64, cy: f64, radius: f64, cover: &mut Vec<u8>) {
    let sample = |pixel: i32, s: u8| f64::from(pixel) + (f64::from(s) + 0.5) / f64::from(SAMPLES);
    for y in 0..side {
        for x in 0..side {
            let hits = (0..SAMPLES)
                .flat_map(|sy| (0..SAMPLES).map(move |sx| (sx, sy)))
                .filter(|(sx, sy)| (sample(x, *sx) - cx).hypot(sample(y, *sy) - cy) <= radius)
                .count();
            let hits = u8::try_from(hits).unwrap_or(u8::MAX);
            cover.push(lossy::byte(
                f32::from(hits) * 255.0 / f32::from(SAMPLES * SAMPLES),
            ));
        }
    }
}
