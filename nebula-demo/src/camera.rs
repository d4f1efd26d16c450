//! Where the map looks: an exact middle, a scale, and the step to pixels.

use nebula_math::WorldPosition;

use crate::lossy;
use crate::world::PLANET_RADIUS_MM;

/// The closest look: a pixel per millimetre.
pub const MM_PER_PX_MIN: f64 = 1.0;
/// The widest look: the whole planet in a small window.
pub const MM_PER_PX_MAX: f64 = 5.0e7;

/// A look straight down along z: x to the right, y up.
///
/// The middle is an exact position and differences are taken in integers, so nothing shakes however
/// far from the origin the planet is; only the difference becomes a float.
///
/// ```
/// use nebula_demo::camera::Camera;
/// use nebula_demo::world::Ground;
///
/// let camera = Camera::new(Ground::POLE.at(-250, 0), 2.0);
/// assert_eq!(camera.to_px(&Ground::POLE.at(-150, 30)), (50.0, -15.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// What is in the middle of the picture.
    pub middle: WorldPosition,
    /// What was there at first; the middle stays within two planets of it.
    home: WorldPosition,
    mm_per_px: f64,
}

impl Camera {
    /// Makes a camera; the scale is held within its limits, and one that is no number is the widest.
    #[must_use]
    pub fn new(middle: WorldPosition, mm_per_px: f64) -> Self {
        Self {
            middle,
            home: middle,
            mm_per_px: if mm_per_px.is_nan() {
                MM_PER_PX_MAX
            } else {
                mm_per_px.clamp(MM_PER_PX_MIN, MM_PER_PX_MAX)
            },
        }
    }

    /// Returns how many millimetres one pixel shows.
    #[must_use]
    pub const fn mm_per_px(&self) -> f64 {
        self.mm_per_px
    }

    /// Returns where a point is drawn, in pixels right of and below the middle.
    #[must_use]
    #[inline]
    pub fn to_px(&self, at: &WorldPosition) -> (f64, f64) {
        // Saturation is far outside any window; wrapping would bring far points back into it.
        let x = at.x.saturating_sub(self.middle.x);
        let y = self.middle.y.saturating_sub(at.y);
        (
            lossy::f64_from_mm(x) / self.mm_per_px,
            lossy::f64_from_mm(y) / self.mm_per_px,
        )
    }

    /// Returns the point drawn at this many pixels right of and below the middle, at its height.
    #[must_use]
    pub fn from_px(&self, x: f64, y: f64) -> WorldPosition {
        WorldPosition::new(
            self.middle
                .x
                .saturating_add(lossy::mm_from_f64(x * self.mm_per_px)),
            self.middle
                .y
                .saturating_sub(lossy::mm_from_f64(y * self.mm_per_px)),
            self.middle.z,
        )
    }

    /// Drags the map by so many pixels. The middle stays within two radii of a planet from
    /// where it was at first.
    pub fn drag(&mut self, dx: f64, dy: f64) {
        let to = self.from_px(-dx, -dy);
        let leash = 2 * i128::from(PLANET_RADIUS_MM);
        let hold = |v: i128, around: i128| {
            v.clamp(around.saturating_sub(leash), around.saturating_add(leash))
        };
        self.middle = WorldPosition::new(hold(to.x, self.home.x), hold(to.y, self.home.y), to.z);
    }

    /// Looks closer (factor above 1) or wider, and keeps the point under the cursor where it is.
    ///
    /// The cursor is given in pixels right of and below the middle. A factor that is no positive
    /// number changes nothing.
    pub fn zoom(&mut self, factor: f64, x: f64, y: f64) {
        if !(factor.is_finite() && factor > 0.0) {
            return;
        }
        let before = self.mm_per_px;
        self.mm_per_px = (before / factor).clamp(MM_PER_PX_MIN, MM_PER_PX_MAX);
        let moved = before / self.mm_per_px - 1.0;
        self.drag(-x * moved, -y * moved);
    }
}
