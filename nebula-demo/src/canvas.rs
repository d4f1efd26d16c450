//! A pixel buffer with the few shapes the map needs, each clipped to the buffer.

use crate::lossy;
use crate::palette::Rgb;

mod stamp;

pub use stamp::Stamp;

/// A borrowed pixel buffer, `0x00RRGGBB`, row by row from the top left.
///
/// ```
/// use nebula_demo::canvas::Canvas;
///
/// let mut pixels = vec![0; 12];
/// let mut canvas = Canvas::new(4, 3, &mut pixels).unwrap();
/// canvas.fill(0x10_20_30);
/// canvas.blend(-1, 0, 0xFF_FF_FF, 255); // outside: nothing happens
/// canvas.blend(1, 2, 0xFF_FF_FF, 255);
/// assert_eq!(pixels[9], 0xFF_FF_FF);
/// ```
#[derive(Debug)]
pub struct Canvas<'a> {
    width: i32,
    height: i32,
    pixels: &'a mut [u32],
}

impl<'a> Canvas<'a> {
    /// Wraps a buffer; `None` when its length is not `width * height`, or a side is above `i32::MAX`.
    #[must_use]
    pub fn new(width: u32, height: u32, pixels: &'a mut [u32]) -> Option<Self> {
        let area = usize::try_from(u64::from(width) * u64::from(height)).ok()?;
        (pixels.len() == area).then_some(())?;
        Some(Self {
            width: i32::try_from(width).ok()?,
            height: i32::try_from(height).ok()?,
            pixels,
        })
    }

    /// Returns the width in pixels.
    #[must_use]
    pub const fn width(&self) -> i32 {
        self.width
    }

    /// Returns the height in pixels.
    #[must_use]
    pub const fn height(&self) -> i32 {
        self.height
    }

    /// Paints everything in one colour.
    pub fn fill(&mut self, color: Rgb) {
        self.pixels.fill(color);
    }

    /// Returns the pixels of a row from `from` up to, but not including, `to`, as far as they exist.
    pub fn row(&mut self, y: i32, from: i32, to: i32) -> &mut [u32] {
        let from = from.clamp(0, self.width);
        let to = to.clamp(from, self.width);
        if !(0..self.height).contains(&y) {
            return &mut [];
        }
        let start = lossy::index(y) * lossy::index(self.width);
        &mut self.pixels[start + lossy::index(from)..start + lossy::index(to)]
    }

    /// Lays a colour over one pixel; 255 covers it.
    pub fn blend(&mut self, x: i32, y: i32, color: Rgb, alpha: u8) {
        self.span(y, x, x.saturating_add(1), color, alpha);
    }

    /// Lays a colour over part of a row, `to` excluded.
    pub fn span(&mut self, y: i32, from: i32, to: i32, color: Rgb, alpha: u8) {
        for pixel in self.row(y, from, to) {
            *pixel = mix(*pixel, color, alpha);
        }
    }

    /// Lays a colour over part of a column, `to` excluded.
    pub fn column(&mut self, x: i32, from: i32, to: i32, color: Rgb, alpha: u8) {
        for y in from.clamp(0, self.height)..to.clamp(0, self.height) {
            self.blend(x, y, color, alpha);
        }
    }

    /// Lays a colour over a disc. Its edge is not smoothed: a ring drawn over it does that.
    pub fn disc(&mut self, cx: f64, cy: f64, radius: f64, color: Rgb, alpha: u8) {
        for y in self.rows(cy, radius) {
            let half = half_chord(radius, f64::from(y) + 0.5 - cy);
            let (from, to) = (lossy::pixel(cx - half + 0.5), lossy::pixel(cx + half + 0.5));
            self.span(y, from, to, color, alpha);
        }
    }

    /// Draws a smooth circle line. Only pixels near the line are looked at, however large it is.
    pub fn ring(&mut self, cx: f64, cy: f64, radius: f64, line: f64, color: Rgb, alpha: u8) {
        let reach = line / 2.0 + 0.5;
        for y in self.rows(cy, radius + reach) {
            let dy = f64::from(y) + 0.5 - cy;
            let outer = half_chord(radius + reach, dy);
            let inner = half_chord((radius - reach).max(0.0), dy);
            let left = (lossy::pixel(cx - outer), lossy::pixel(cx - inner));
            let right = (lossy::pixel(cx + inner), lossy::pixel(cx + outer));
            // Near the top and the bottom both sides meet; a pixel must not be painted twice.
            let right = (right.0.max(left.1.saturating_add(1)), right.1);
            for (from, to) in [left, right] {
                for x in from.max(0)..=to.min(self.width - 1) {
                    let distance = (f64::from(x) + 0.5 - cx).hypot(dy);
                    let cover = (reach - (distance - radius).abs()).clamp(0.0, 1.0);
                    let cover = lossy::f32_from_f64(cover) * f32::from(alpha);
                    self.blend(x, y, color, lossy::byte(cover));
                }
            }
        }
    }

    /// Returns the rows that a circle touches and the buffer has.
    fn rows(&self, cy: f64, radius: f64) -> core::ops::Range<i32> {
        let from = lossy::pixel(cy - radius).clamp(0, self.height);
        let to = lossy::pixel(cy + radius).saturating_add(1);
        from..to.clamp(from, self.height)
    }
}

/// Half the length of the chord at height `dy` over the middle; 0 beyond the circle.
fn half_chord(radius: f64, dy: f64) -> f64 {
    (radius * radius - dy * dy).max(0.0).sqrt()
}

/// Mixes two colours; `alpha` 255 gives `over`.
///
/// ```
/// use nebula_demo::canvas::mix;
///
/// assert_eq!(mix(0x00_00_00, 0xFF_80_01, 255), 0xFF_80_01);
/// assert_eq!(mix(0x12_34_56, 0xFF_FF_FF, 0), 0x12_34_56);
/// ```
#[must_use]
#[inline]
pub const fn mix(under: Rgb, over: Rgb, alpha: u8) -> Rgb {
    // 0..=256, so that both ends are exact and the division is a shift.
    let a = alpha as u32 + (alpha >> 7) as u32;
    let b = 256 - a;
    // Red and blue share one multiplication: their products stay 8 bits apart.
    let rb = (under & 0xFF_00_FF) * b + (over & 0xFF_00_FF) * a;
    let g = (under & 0x00_FF_00) * b + (over & 0x00_FF_00) * a;
    ((rb >> 8) & 0xFF_00_FF) | ((g >> 8) & 0x00_FF_00)
}
