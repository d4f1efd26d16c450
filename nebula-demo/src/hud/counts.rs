//! Who is near, by the index and by asking everyone.

use egui::{RichText, Sense, Ui, vec2};

use super::{Controls, quiet};
use crate::headless::{metres, title, yes};
use crate::lossy;
use crate::palette::{self, color32};
use crate::viewer::Figures;

/// How an entity stands to the client that is looked through.
pub(crate) const STATES: &[(palette::Rgb, &str)] = &[
    (palette::NEAR, "in"),
    (palette::ENTERED, "entering"),
    (palette::LEAVING, "leaving"),
    (palette::FAR, "out"),
];

pub(super) fn show(ui: &mut Ui, controls: &Controls, figures: &Figures) {
    let reading = &figures.reading;
    ui.label(
        RichText::new(title(reading.index))
            .size(22.0)
            .color(color32(palette::LOUD)),
    );
    ui.label(quiet(format!(
        "within {} m of client {}, tick {}",
        metres(lossy::mm_from_f64(controls.radius_m * 1_000.0)),
        figures.watched,
        reading.tick
    )));
    ui.label(quiet(format!(
        "{}: {}",
        figures.scenario.name(),
        figures.scenario.story()
    )));
    ui.separator();
    table(ui, figures);
    identical(ui, figures);
    if let Some(extra) = &figures.extra {
        ui.label(&extra.words);
        if !extra.cost.is_empty() {
            ui.label(quiet(&extra.cost));
        }
    }
    ui.separator();
    legend(ui, STATES);
}

fn table(ui: &mut Ui, figures: &Figures) {
    egui::Grid::new("figures")
        .num_columns(4)
        .spacing([14.0, 3.0])
        .show(ui, |ui| {
            for heading in ["", "found", "mean", "p99"] {
                ui.label(quiet(heading));
            }
            ui.end_row();
            let reading = &figures.reading;
            for (name, found, times) in [
                ("index", reading.index, &figures.index_us),
                ("brute force", reading.brute_force, &figures.brute_us),
            ] {
                ui.label(name);
                ui.monospace(found.to_string());
                ui.monospace(format!("{:.1} us", times.mean()));
                ui.monospace(format!("{:.1} us", times.p99()));
                ui.end_row();
            }
        });
    let (leaves, held) = figures.visited;
    ui.label(quiet(format!(
        "{leaves} leaves met, {held} candidates to {} hits",
        figures.reading.index
    )));
}

fn identical(ui: &mut Ui, figures: &Figures) {
    let extra = figures.extra.as_ref().is_none_or(|extra| extra.identical);
    let same = figures.reading.identical && extra;
    ui.horizontal(|ui| {
        ui.label("identical:");
        let color = if same { palette::GOOD } else { palette::BAD };
        ui.label(RichText::new(yes(same)).color(color32(color)).strong());
        if !figures.always_identical {
            ui.label(RichText::new("differed before").color(color32(palette::BAD)));
        }
    });
}

/// Says what colours mean.
pub(crate) fn legend(ui: &mut Ui, entries: &[(palette::Rgb, &str)]) {
    ui.horizontal(|ui| {
        for &(color, name) in entries {
            let (rect, _) = ui.allocate_exact_size(vec2(9.0, 14.0), Sense::hover());
            ui.painter()
                .circle_filled(rect.center(), 4.5, color32(color));
            ui.label(name);
        }
    });
}
