//! Everything that can be changed while it runs.

use core::ops::RangeInclusive;

use egui::emath::Numeric;
use egui::{Response, Slider, Ui};

use super::{Controls, quiet};
use crate::world::PLAYERS_MAX;

/// How many bytes a second a client may be sent, in KiB.
const BUDGET_KIB: RangeInclusive<u32> = 4..=1_024;

pub(super) fn show(ui: &mut Ui, controls: &mut Controls) {
    egui::Grid::new("sliders")
        .num_columns(2)
        .spacing([8.0, 3.0])
        .show(ui, |ui| {
            ui.spacing_mut().slider_width = 130.0;
            let radius = row(
                ui,
                "Radius",
                &mut controls.radius_m,
                1.0..=1_000.0,
                " m",
                true,
            );
            controls.radius_slider = Some(radius.rect);
            let margin = &mut controls.margin_percent;
            row(ui, "Margin", margin, 0..=100, " %", false);
            let entities = &mut controls.entities;
            let changed = row(ui, "Entities", entities, 10..=100_000, "", true).changed();
            controls.resized |= changed;
            row(
                ui,
                "Clients",
                &mut controls.clients,
                1..=PLAYERS_MAX,
                "",
                false,
            );
            row(ui, "Speed", &mut controls.speed, 0.1..=8.0, " x", true);
            row(ui, "Loss", &mut controls.loss_percent, 0..=60, " %", false);
            row(
                ui,
                "Latency",
                &mut controls.latency_ms,
                0..=500,
                " ms",
                false,
            );
            let budget = &mut controls.budget_kib;
            row(ui, "Budget", budget, BUDGET_KIB, " KiB/s", true);
        });
}

fn row<N: Numeric>(
    ui: &mut Ui,
    name: &str,
    value: &mut N,
    range: RangeInclusive<N>,
    unit: &str,
    logarithmic: bool,
) -> Response {
    ui.label(quiet(name));
    let decimals = usize::from(!N::INTEGRAL);
    let slider = Slider::new(value, range)
        .logarithmic(logarithmic)
        .max_decimals(decimals)
        .suffix(unit);
    let response = ui.add(slider);
    ui.end_row();
    response
}
