//! What lies over the map on demand: leaves of the index, heat, sector edges, a client's own world.

use nebula_math::{Aabb128, WorldPosition};

use super::View;
use crate::camera::Camera;
use crate::canvas::{Canvas, Stamp};
use crate::in_process::Sight;
use crate::{lossy, palette};

/// The width of a sector.
const SECTOR_MM: i128 = 1 << 32;
/// The side of a square of the heat map, in pixels.
const HEAT_PX: i32 = 16;

/// Draws the outline of every leaf of the index.
pub fn leaves(canvas: &mut Canvas<'_>, camera: &Camera, leaves: &[(Aabb128, usize)]) {
    let view = View::new(canvas, camera);
    for (leaf, _) in leaves {
        let (left, bottom) = view.place(&leaf.min());
        let (right, top) = view.place(&leaf.max());
        if right < 0.0 || left > view.width || bottom < 0.0 || top > view.height {
            continue;
        }
        let [left, right, top, bottom] = [left, right, top, bottom].map(lossy::pixel);
        for y in [top, bottom] {
            canvas.span(y, left, right.saturating_add(1), palette::LEAF, 120);
        }
        for x in [left, right] {
            canvas.column(x, top, bottom.saturating_add(1), palette::LEAF, 120);
        }
    }
}

/// Shades the map by how many entities each of its squares holds.
pub fn heat(canvas: &mut Canvas<'_>, camera: &Camera, places: &[WorldPosition]) {
    let view = View::new(canvas, camera);
    let columns = canvas.width() / HEAT_PX + 1;
    let rows = canvas.height() / HEAT_PX + 1;
    let mut counts = vec![0_u32; lossy::index(columns) * lossy::index(rows)];
    for place in places {
        let (x, y) = view.place(place);
        if view.shows(x, y) && x >= 0.0 && y >= 0.0 {
            let (column, row) = (lossy::pixel(x) / HEAT_PX, lossy::pixel(y) / HEAT_PX);
            if let Some(count) = counts.get_mut(lossy::index(row * columns + column)) {
                *count += 1;
            }
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    for (square, count) in (0_i32..).zip(counts).filter(|(_, count)| *count > 0) {
        // By the logarithm: one is visible, and a thousand is not all there is to see.
        let share = f64::from(count + 1).ln() / f64::from(most + 1).ln();
        let alpha = lossy::byte(lossy::f32_from_f64(20.0 + share * 150.0));
        let (x, y) = (square % columns * HEAT_PX, square / columns * HEAT_PX);
        for line in y..y + HEAT_PX {
            canvas.span(line, x, x + HEAT_PX, palette::HEAT, alpha);
        }
    }
}

/// Draws the edges of sectors and the end of space, where they are in sight.
pub fn edges(canvas: &mut Canvas<'_>, camera: &Camera) {
    let view = View::new(canvas, camera);
    let top_left = camera.from_px(-view.width / 2.0, -view.height / 2.0);
    let bottom_right = camera.from_px(view.width / 2.0, view.height / 2.0);
    // Whole planets hold many sectors: lines closer than this say nothing.
    if lossy::f64_from_mm(SECTOR_MM) / camera.mm_per_px() > 40.0 {
        let (height, width) = (canvas.height(), canvas.width());
        for x in multiples(top_left.x, bottom_right.x) {
            let (px, _) = view.place(&WorldPosition::new(x, top_left.y, 0));
            canvas.column(lossy::pixel(px), 0, height, palette::SECTOR, 200);
        }
        for y in multiples(bottom_right.y, top_left.y) {
            let (_, py) = view.place(&WorldPosition::new(top_left.x, y, 0));
            canvas.span(lossy::pixel(py), 0, width, palette::SECTOR, 200);
        }
    }
    end_of_space(canvas, &view);
}

/// The multiples of a sector in a short stretch, of which the map never shows many.
fn multiples(from: i128, to: i128) -> impl Iterator<Item = i128> {
    let first = from.div_euclid(SECTOR_MM);
    (first..=first + 64)
        .filter_map(|n| n.checked_mul(SECTOR_MM))
        .filter(move |edge| (from..=to).contains(edge))
}

/// Nothing lies beyond the largest coordinate: it is painted over.
fn end_of_space(canvas: &mut Canvas<'_>, view: &View<'_>) {
    let (right, top) = view.place(&WorldPosition::MAX);
    let (left, bottom) = view.place(&WorldPosition::MIN);
    let (width, height) = (canvas.width(), canvas.height());
    let [left, right, top, bottom] = [left, right, top, bottom].map(lossy::pixel);
    for y in 0..height {
        canvas.span(
            y,
            right.saturating_add(1).max(0),
            width,
            palette::SPACE,
            255,
        );
        canvas.span(y, 0, left.clamp(0, width), palette::SPACE, 255);
    }
    for y in (0..top.clamp(0, height)).chain(bottom.saturating_add(1).clamp(0, height)..height) {
        canvas.span(y, 0, width, palette::SPACE, 255);
    }
    for x in [left, right] {
        canvas.column(x, top.max(0), bottom.min(height), palette::BAD, 255);
    }
    for y in [top, bottom] {
        canvas.span(y, left.max(0), right.min(width), palette::BAD, 255);
    }
}

/// Draws a client's own world over the truth: a dot where it has an entity, and a line to where the
/// entity is if that is elsewhere. What it lacks gets a ring.
pub fn eyes(canvas: &mut Canvas<'_>, camera: &Camera, sight: &[Sight], truth: &[Sight]) {
    let view = View::new(canvas, camera);
    let dot = Stamp::new(2.0);
    for (badge, at) in sight {
        let (x, y) = view.place(at);
        let known = truth.binary_search_by_key(badge, |(badge, _)| *badge);
        let right = known.is_ok_and(|place| truth[place].1 == *at);
        if view.shows(x, y) {
            let color = if right { palette::GOOD } else { palette::BAD };
            dot.draw(canvas, x, y, color);
            if !right {
                canvas.ring(x, y, 6.0, 1.5, palette::BAD, 220);
            }
        }
    }
    for (badge, at) in truth {
        if sight
            .binary_search_by_key(badge, |(badge, _)| *badge)
            .is_err()
        {
            let (x, y) = view.place(at);
            canvas.ring(x, y, 8.0, 1.5, palette::LOUD, 200);
        }
    }
}
