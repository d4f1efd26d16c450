//! Text on the map: the radius at its ring, the scale bar, and the player's full coordinates.

use egui::{Align2, Rect, Stroke, Ui, pos2, vec2};

use super::{Controls, point, text};
use crate::headless::metres;
use crate::lossy;
use crate::palette::{self, color32};
use crate::render::{length_text, round_length_mm};
use crate::viewer::Figures;

/// How long the scale bar is at most, in points.
const SCALE_BAR_MAX: f64 = 180.0;
/// A smaller ring has no label: the words would hide the player.
const LABELLED_RING_PX: f64 = 14.0;

pub(super) fn draw(ui: &Ui, controls: &Controls, figures: &Figures) {
    let screen = ui.max_rect();
    let scale = f64::from(ui.pixels_per_point());
    let (x, y, radius) = figures.ring_px;
    if radius > LABELLED_RING_PX {
        let top = screen.center() + vec2(point(x / scale), point((y - radius) / scale) - 4.0);
        let name = length_text(lossy::mm_from_f64(controls.radius_m * 1_000.0));
        text(ui, top, Align2::CENTER_BOTTOM, name, palette::NEAR);
    }
    let banner = match (controls.paused, controls.locked) {
        (true, _) => Some("paused: Space runs, N steps"),
        (false, true) => Some("the set is locked: K lets it go"),
        (false, false) => None,
    };
    if let Some(words) = banner {
        let at = pos2(screen.center().x, screen.top() + 18.0);
        text(ui, at, Align2::CENTER_TOP, words.to_owned(), palette::LOUD);
    }
    if let (Some(seen), Some((x, y))) = (&figures.seen, controls.cursor) {
        let at = screen.center() + vec2(point(x / scale) + 16.0, point(y / scale) + 18.0);
        let distance = metres(i128::try_from(seen.distance_mm).unwrap_or(i128::MAX));
        let words = format!(
            "entity {}, {distance} m from client {}",
            seen.id, figures.watched
        );
        text(ui, at, Align2::LEFT_TOP, words, palette::LOUD);
    }
    draw_scale_bar(ui, screen, figures.mm_per_px * scale);
    let at = &figures.player;
    let line = format!(
        "client {} is at  x {}  y {}  z {} mm",
        figures.watched, at.x, at.y, at.z
    );
    let corner = screen.left_bottom() + vec2(18.0, -12.0);
    text(ui, corner, Align2::LEFT_BOTTOM, line, palette::QUIET);
}

/// Draws the scale bar in the lower right corner.
pub(crate) fn draw_scale_bar(ui: &Ui, screen: Rect, mm_per_point: f64) {
    // The next round length below the longest one is at most 2.5 times shorter.
    let length = round_length_mm(SCALE_BAR_MAX / 2.5 * mm_per_point);
    let width = point(lossy::f64_from_mm(length) / mm_per_point);
    let end = screen.right_bottom() + vec2(-22.0, -18.0);
    let start = end - vec2(width, 0.0);
    let stroke = Stroke::new(2.0, color32(palette::LOUD));
    for (a, b) in [
        (start, end),
        (start, start - vec2(0.0, 6.0)),
        (end, end - vec2(0.0, 6.0)),
    ] {
        ui.painter().line_segment([a, b], stroke);
    }
    let middle = start + vec2(width / 2.0, -5.0);
    let words = length_text(length);
    text(ui, middle, Align2::CENTER_BOTTOM, words, palette::LOUD);
}
