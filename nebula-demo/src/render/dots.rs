//! Draws a world that is known as a list of dots: what a server has, or what it told a client.

use nebula_math::WorldPosition;

use super::{Map, Sphere, View, color, draw_grid, overlay};
use crate::camera::Camera;
use crate::canvas::Canvas;
use crate::marks::Mark;
use crate::palette;

/// How far from the cursor a dot is found, in pixels.
const CURSOR_PX: f64 = 10.0;

/// Someone on the map.
#[derive(Clone, Debug)]
pub(crate) struct Dot {
    pub(crate) name: String,
    pub(crate) at: WorldPosition,
    /// How it stands to whoever is looked through; `None` for players, who have a colour of their own.
    pub(crate) mark: Option<Mark>,
}

/// A world as a list of dots.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// Grid lines go through it, and a new window looks at it.
    pub(crate) middle: WorldPosition,
    /// Half the width of what a new window shows.
    pub(crate) half_mm: i128,
    pub(crate) dots: Vec<Dot>,
    /// How far the one sees that is looked through.
    pub(crate) sphere: Option<Sphere>,
    /// How far the others see.
    pub(crate) others: Vec<Sphere>,
}

impl Map {
    /// Draws a picture below the panels.
    pub(crate) fn draw_picture(&self, canvas: &mut Canvas<'_>, picture: &Picture, camera: &Camera) {
        let view = View::new(canvas, camera);
        canvas.fill(palette::GROUND);
        draw_grid(canvas, &view, &picture.middle);
        overlay::edges(canvas, camera);
        if let Some(sphere) = &picture.sphere {
            sphere.fill(canvas, &view);
        }
        for sphere in &picture.others {
            sphere.sketch(canvas, &view);
        }
        // Those of interest last, so that none of them is hidden.
        let (far, near): (Vec<_>, Vec<_>) = picture
            .dots
            .iter()
            .partition(|dot| dot.mark == Some(Mark::Far));
        for dot in far.into_iter().chain(near) {
            let (x, y) = view.place(&dot.at);
            if !view.shows(x, y) {
                continue;
            }
            match dot.mark {
                Some(Mark::Far) => self.far.draw(canvas, x, y, palette::FAR),
                Some(mark) => self.near.draw(canvas, x, y, color(mark)),
                None => self.draw_other(canvas, (x, y)),
            }
        }
        if let Some(sphere) = &picture.sphere {
            sphere.outline(canvas, &view);
            self.draw_player(canvas, view.place(&sphere.at));
        }
    }
}

impl Picture {
    /// Returns who is under the cursor, which is given in pixels from the middle of the picture.
    pub(crate) fn dot_at(&self, camera: &Camera, (x, y): (f64, f64)) -> Option<&Dot> {
        let away = |dot: &Dot| {
            let (dx, dy) = camera.to_px(&dot.at);
            (dx - x).hypot(dy - y)
        };
        self.dots
            .iter()
            .filter(|dot| away(dot) <= CURSOR_PX)
            .min_by(|a, b| away(a).total_cmp(&away(b)))
    }
}
