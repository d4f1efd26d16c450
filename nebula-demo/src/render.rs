//! Draws the map: the planet, a grid, who is near and who is not, and the player.

use nebula_math::WorldPosition;

use crate::Show;
use crate::camera::Camera;
use crate::canvas::{Canvas, Stamp};
use crate::lossy;
use crate::marks::{Mark, Marks};
use crate::palette;
use crate::world::{Globe, TILE_MM, World};

pub(crate) mod dots;
pub mod overlay;

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
    /// Draws everything below the panels, as the watched client has it.
    pub fn draw(&self, canvas: &mut Canvas<'_>, show: &Show, marks: &Marks, camera: &Camera) {
        let view = View::new(canvas, camera);
        let globe = show.scenario().globe();
        draw_ground(canvas, &view, globe);
        draw_grid(canvas, &view, &show.middle());
        overlay::edges(canvas, camera);
        let world = show.world();
        let sphere = Sphere {
            at: world.player(),
            radius_mm: world.radius_mm(),
            margin_mm: show.margin_mm(world.watched()),
        };
        sphere.fill(canvas, &view);
        self.draw_entities(canvas, world, marks, &view);
        sphere.outline(canvas, &view);
        let hidden = |at: &WorldPosition| {
            let below = |globe: Globe| at.z < globe.center.z && camera.middle.z > globe.center.z;
            globe.is_some_and(below)
        };
        // Whoever is on the far side of the planet is not in this crowd.
        for other in world.players().iter().filter(|at| !hidden(at)) {
            self.draw_other(canvas, view.place(other));
        }
        self.draw_player(canvas, view.place(&sphere.at));
    }

    /// Draws a player who is not looked through.
    fn draw_other(&self, canvas: &mut Canvas<'_>, (x, y): (f64, f64)) {
        self.player.draw(canvas, x, y, palette::SPACE);
        self.near.draw(canvas, x, y, palette::OTHER);
    }

    /// Draws the player who is looked through.
    fn draw_player(&self, canvas: &mut Canvas<'_>, (x, y): (f64, f64)) {
        self.player_edge.draw(canvas, x, y, palette::SPACE);
        self.player.draw(canvas, x, y, palette::PLAYER);
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
        let cast = world.cast();
        let marked = world.places().iter().zip(marks.all(world.tick()));
        for (id, (place, mark)) in (0_u32..).zip(marked) {
            let (x, y) = view.place(place);
            if !view.shows(x, y) {
                continue;
            }
            if let Some(size) = cast.size_mm(id) {
                let radius = lossy::f64_from_mm(size) / view.camera.mm_per_px();
                canvas.ring(x, y, radius.max(1.0), 1.0, color(mark), 200);
                continue;
            }
            if let Some(floor) = cast.floor(id) {
                tile(canvas, view, (x, y), floor, mark);
                continue;
            }
            match mark {
                Mark::Far => far.draw(canvas, x, y, palette::FAR),
                mark => on_top.push((x, y, color(mark))),
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

/// How far someone sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sphere {
    pub(crate) at: WorldPosition,
    pub(crate) radius_mm: i128,
    /// How much farther one must go to be out again.
    pub(crate) margin_mm: i128,
}

impl Sphere {
    fn radius_px(&self, view: &View<'_>) -> f64 {
        lossy::f64_from_mm(self.radius_mm) / view.camera.mm_per_px()
    }

    fn fill(&self, canvas: &mut Canvas<'_>, view: &View<'_>) {
        let (x, y) = view.place(&self.at);
        canvas.disc(x, y, self.radius_px(view), palette::NEAR, 26);
    }

    fn outline(&self, canvas: &mut Canvas<'_>, view: &View<'_>) {
        let ((x, y), radius) = (view.place(&self.at), self.radius_px(view));
        canvas.ring(x, y, radius, 2.0, palette::NEAR, 235);
        if self.margin_mm > 0 {
            let outer = radius + lossy::f64_from_mm(self.margin_mm) / view.camera.mm_per_px();
            canvas.ring(x, y, outer, 1.0, palette::LEAVING, 160);
        }
    }

    /// Draws the sphere of someone who is not looked through.
    fn sketch(&self, canvas: &mut Canvas<'_>, view: &View<'_>) {
        let (x, y) = view.place(&self.at);
        canvas.ring(x, y, self.radius_px(view), 1.0, palette::OTHER, 120);
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

/// The colour of a state.
const fn color(mark: Mark) -> palette::Rgb {
    match mark {
        Mark::Far => palette::FAR,
        Mark::Near => palette::NEAR,
        Mark::Entered => palette::ENTERED,
        Mark::Leaving => palette::LEAVING,
    }
}

/// Fills a tile: the higher the floor, the smaller and brighter, as seen from above.
fn tile(canvas: &mut Canvas<'_>, view: &View<'_>, (x, y): (f64, f64), floor: u8, mark: Mark) {
    let side = lossy::f64_from_mm(i128::from(TILE_MM)) / view.camera.mm_per_px();
    let half = (side * (0.45 - 0.06 * f64::from(floor.min(5)))).max(0.5);
    let (left, right) = (lossy::pixel(x - half), lossy::pixel(x + half));
    let alpha = if floor == 0 { 255 } else { 170 };
    for line in lossy::pixel(y - half)..=lossy::pixel(y + half) {
        canvas.span(line, left, right.saturating_add(1), color(mark), alpha);
    }
}

fn draw_ground(canvas: &mut Canvas<'_>, view: &View<'_>, globe: Option<Globe>) {
    let Some(globe) = globe else {
        canvas.fill(palette::GROUND);
        return;
    };
    let radius = lossy::f64_from_mm(globe.radius_mm.into()) / view.camera.mm_per_px();
    let (x, y) = view.place(&globe.center);
    let away = (x - view.width / 2.0)
        .abs()
        .hypot((y - view.height / 2.0).abs());
    if away + view.width.hypot(view.height) < radius {
        canvas.fill(palette::GROUND); // Nothing but ground in sight.
        return;
    }
    canvas.fill(palette::SPACE);
    canvas.disc(x, y, radius, palette::GROUND, 255);
    canvas.ring(x, y, radius, 2.0, palette::LIMB, 255);
}

/// Lines go through the middle of the scenario, so that they stand still while the camera moves.
fn draw_grid(canvas: &mut Canvas<'_>, view: &View<'_>, middle: &WorldPosition) {
    let step = round_length_mm(GRID_PX_MIN * view.camera.mm_per_px());
    let half = (view.width / 2.0, view.height / 2.0);
    let top_left = view.camera.from_px(-half.0, -half.1);
    let bottom_right = view.camera.from_px(half.0, half.1);
    for x in lines(top_left.x, bottom_right.x, middle.x, step) {
        let (px, _) = view.place(&WorldPosition::new(x, top_left.y, 0));
        canvas.column(lossy::pixel(px), 0, canvas.height(), palette::GRID, 255);
    }
    for y in lines(bottom_right.y, top_left.y, middle.y, step) {
        let (_, py) = view.place(&WorldPosition::new(top_left.x, y, 0));
        canvas.span(lossy::pixel(py), 0, canvas.width(), palette::GRID, 255);
    }
}

/// The coordinates from one to another that lie whole steps from an origin, and end where space does.
fn lines(from: i128, to: i128, origin: i128, step: i128) -> impl Iterator<Item = i128> {
    let back = from.wrapping_sub(origin).rem_euclid(step);
    let first = from.checked_sub(back);
    core::iter::successors(first, move |line| line.checked_add(step))
        .skip_while(move |line| *line < from)
        .take_while(move |line| *line <= to)
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
