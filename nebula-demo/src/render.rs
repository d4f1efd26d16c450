//! Draws the map: the planet, a grid, who is near and who is not, and the player.

use nebula_math::WorldPosition;

use crate::World;
use crate::camera::Camera;
use crate::canvas::{Canvas, Stamp};
use crate::lossy;
use crate::marks::{Mark, Marks};
use crate::palette;
use crate::world::{PLANET_CENTER, PLANET_RADIUS_MM};

/// How far apart grid lines are at least, in pixels.
const GRID_PX_MIN: f64 = 64.0;
/// With more entities than this the dots shrink, so that a crowd stays a crowd of dots.
const SMALL_DOTS_FROM: usize = 5_000;

/// The radius of the ring around the entity under the cursor.
const HIGHLIGHT_PX: f64 = 9.0;

/// The dots, computed once.
#[derive(Clone, Debug)]
pub struct Map {
    far: Stamp,
    near: Stamp,
    tiny: Stamp,
    player: Stamp,
    player_edge: Stamp,
}

impl Default for Map {
    fn default() -> Self {
        Self {
            far: Stamp::new(2.2),
            near: Stamp::new(3.6),
            tiny: Stamp::new(1.1),
            player: Stamp::new(5.0),
            player_edge: Stamp::new(7.5),
        }
    }
}

impl Map {
    /// Draws everything below the panels.
    pub fn draw(&self, canvas: &mut Canvas<'_>, world: &World, marks: &Marks, camera: &Camera) {
        let view = View::new(canvas, camera);
        draw_planet(canvas, &view);
        draw_grid(canvas, &view);
        let player = view.place(&world.player());
        let radius = lossy::f64_from_mm(world.radius_mm()) / camera.mm_per_px();
        canvas.disc(player.0, player.1, radius, palette::NEAR, 26);
        self.draw_entities(canvas, world, marks, &view);
        canvas.ring(player.0, player.1, radius, 2.0, palette::NEAR, 235);
        self.player_edge
            .draw(canvas, player.0, player.1, palette::SPACE);
        self.player
            .draw(canvas, player.0, player.1, palette::PLAYER);
    }

    /// Draws the dots, those near last so that none of them is hidden.
    fn draw_entities(
        &self,
        canvas: &mut Canvas<'_>,
        world: &World,
        marks: &Marks,
        view: &View<'_>,
    ) {
        let small = world.entities() > SMALL_DOTS_FROM;
        let (far, near) = if small {
            (&self.tiny, &self.far)
        } else {
            (&self.far, &self.near)
        };
        let mut on_top = Vec::new();
        for (place, mark) in world.places().iter().zip(marks.all(world.tick())) {
            let (x, y) = view.place(place);
            if !view.shows(x, y) {
                continue;
            }
            match mark {
                Mark::Far => far.draw(canvas, x, y, palette::FAR),
                Mark::Near => on_top.push((x, y, palette::NEAR)),
                Mark::Entered => on_top.push((x, y, palette::ENTERED)),
                Mark::Exited => on_top.push((x, y, palette::EXITED)),
            }
        }
        for (x, y, color) in on_top {
            near.draw(canvas, x, y, color);
        }
    }

    /// Draws a ring around an entity.
    pub fn highlight(&self, canvas: &mut Canvas<'_>, at: &WorldPosition, camera: &Camera) {
        let (x, y) = View::new(canvas, camera).place(at);
        canvas.ring(x, y, HIGHLIGHT_PX, 1.5, palette::LOUD, 255);
    }
}

/// A camera with the size of the picture.
struct View<'a> {
    camera: &'a Camera,
    width: f64,
    height: f64,
}

impl<'a> View<'a> {
    fn new(canvas: &Canvas<'_>, camera: &'a Camera) -> Self {
        Self {
            camera,
            width: f64::from(canvas.width()),
            height: f64::from(canvas.height()),
        }
    }

    fn place(&self, at: &WorldPosition) -> (f64, f64) {
        let (x, y) = self.camera.to_px(at);
        (self.width / 2.0 + x, self.height / 2.0 + y)
    }

    fn shows(&self, x: f64, y: f64) -> bool {
        let margin = 8.0;
        (-margin..self.width + margin).contains(&x) && (-margin..self.height + margin).contains(&y)
    }
}

fn draw_planet(canvas: &mut Canvas<'_>, view: &View<'_>) {
    let radius = lossy::f64_from_mm(i128::from(PLANET_RADIUS_MM)) / view.camera.mm_per_px();
    let (x, y) = view.place(&PLANET_CENTER);
    let corner = (x.abs() + view.width).hypot(y.abs() + view.height);
    if corner < radius {
        canvas.fill(palette::GROUND); // Nothing but ground in sight.
        return;
    }
    canvas.fill(palette::SPACE);
    canvas.disc(x, y, radius, palette::GROUND, 255);
    canvas.ring(x, y, radius, 2.0, palette::LIMB, 255);
}

fn draw_grid(canvas: &mut Canvas<'_>, view: &View<'_>) {
    let step = round_length_mm(GRID_PX_MIN * view.camera.mm_per_px());
    let top_left = view.camera.from_px(-view.width / 2.0, -view.height / 2.0);
    let bottom_right = view.camera.from_px(view.width / 2.0, view.height / 2.0);
    // Lines go through the pole, so that they stand still while the camera moves.
    let first = |from: i128, pole: i128| from - (from - pole).rem_euclid(step);
    let mut x = first(top_left.x, PLANET_CENTER.x);
    while x <= bottom_right.x {
        let (px, _) = view.place(&WorldPosition::new(x, top_left.y, 0));
        canvas.column(lossy::pixel(px), 0, canvas.height(), palette::GRID, 255);
        x += step;
    }
    let mut y = first(bottom_right.y, PLANET_CENTER.y);
    while y <= top_left.y {
        let (_, py) = view.place(&WorldPosition::new(top_left.x, y, 0));
        canvas.span(lossy::pixel(py), 0, canvas.width(), palette::GRID, 255);
        y += step;
    }
}

/// Returns the shortest length of the form 1, 2 or 5 times a power of ten that is at least `mm`.
///
/// ```
/// use nebula_demo::render::round_length_mm;
///
/// assert_eq!(round_length_mm(0.2), 1);
/// assert_eq!(round_length_mm(21.0), 50);
/// assert_eq!(round_length_mm(100_000.0), 100_000);
/// ```
#[must_use]
pub fn round_length_mm(mm: f64) -> i128 {
    let mut decade = 1;
    loop {
        for length in [decade, 2 * decade, 5 * decade] {
            // No screen shows more than this; the bound keeps the loop finite for any float.
            if lossy::f64_from_mm(length) >= mm || length > 10_i128.pow(18) {
                return length;
            }
        }
        decade *= 10;
    }
}

/// Returns a length in the unit people would use.
///
/// ```
/// use nebula_demo::render::length_text;
///
/// assert_eq!(length_text(50), "50 mm");
/// assert_eq!(length_text(100_000), "100 m");
/// assert_eq!(length_text(2_500_000), "2.5 km");
/// ```
#[must_use]
pub fn length_text(mm: i128) -> String {
    match mm.unsigned_abs() {
        0..1_000 => format!("{mm} mm"),
        1_000..1_000_000 => format!("{} m", crate::headless::metres(mm)),
        _ => format!("{} km", crate::headless::metres(mm / 1_000)),
    }
}
