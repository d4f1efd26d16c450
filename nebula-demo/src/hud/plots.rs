//! Lines over the last ten seconds.

use egui::{Sense, Shape, Stroke, Ui, pos2, vec2};

use super::{PANEL_WIDTH, point, quiet};
use crate::palette::{self, Rgb, color32};
use crate::viewer::{Figures, History};

/// How high a plot is, in points.
const HEIGHT: f32 = 34.0;

pub(super) fn show(ui: &mut Ui, figures: &Figures) {
    let [bytes, set, entered, exited] = &figures.plots;
    plot(
        ui,
        &format!(
            "tick {:.2} ms (p99 {:.2})",
            figures.tick_ms.last(),
            figures.tick_ms.p99()
        ),
        &[(&figures.tick_ms, palette::FAR)],
    );
    plot(
        ui,
        &format!("{:.0} B/s to client {}", bytes.last(), figures.watched),
        &[(bytes, palette::NEAR)],
    );
    plot(
        ui,
        &format!("{:.0} in its set", set.last()),
        &[(set, palette::GOOD)],
    );
    plot(
        ui,
        &format!("{:.0} entered, {:.0} left", entered.last(), exited.last()),
        &[(entered, palette::ENTERED), (exited, palette::LEAVING)],
    );
}

/// Draws lines from 0 to the largest value of all of them.
pub(crate) fn plot(ui: &mut Ui, name: &str, lines: &[(&History, Rgb)]) {
    ui.label(quiet(name));
    let (rect, _) = ui.allocate_exact_size(vec2(PANEL_WIDTH, HEIGHT), Sense::hover());
    let most = lines
        .iter()
        .flat_map(|(history, _)| history.values())
        .fold(1e-9, f64::max);
    let base = Stroke::new(1.0, color32(palette::GRID));
    ui.painter()
        .line_segment([rect.left_bottom(), rect.right_bottom()], base);
    for (history, color) in lines {
        let count = u32::try_from(history.values().len()).unwrap_or(u32::MAX);
        let step = f64::from(rect.width()) / f64::from(count.max(2) - 1);
        let points = (0_u32..).zip(history.values()).map(|(n, value)| {
            pos2(
                rect.left() + point(f64::from(n) * step),
                rect.bottom() - point(value / most) * (HEIGHT - 2.0),
            )
        });
        ui.painter().add(Shape::line(
            points.collect(),
            Stroke::new(1.5, color32(*color)),
        ));
    }
}
