//! The table of clients: what each has, and what it is sent.

use egui::{RichText, Ui};

use super::{Controls, quiet};
use crate::palette::{self, color32};
use crate::viewer::Figures;

pub(super) fn show(ui: &mut Ui, controls: &mut Controls, figures: &Figures) {
    ui.label("Clients of one server, each with its own world");
    egui::Grid::new("clients")
        .num_columns(6)
        .spacing([6.0, 3.0])
        .show(ui, |ui| {
            for heading in ["", "set", "has", "behind", "state B/s", "wire B/s"] {
                ui.label(quiet(heading));
            }
            ui.end_row();
            for (number, client) in figures.clients.iter().enumerate() {
                let name = format!("{number}");
                let watched = number == figures.watched;
                if ui.selectable_label(watched, name).clicked() {
                    controls.watched = number;
                }
                if !client.connected {
                    ui.label(RichText::new("joining").color(color32(palette::LEAVING)));
                    ui.end_row();
                    continue;
                }
                ui.monospace(client.set.to_string());
                ui.monospace(client.sees.to_string());
                ui.monospace(client.differences.total().to_string());
                ui.monospace(client.state_per_second.to_string());
                ui.monospace(client.wire_per_second.to_string());
                ui.end_row();
            }
        });
    if let Some(client) = figures.clients.get(figures.watched) {
        let apart = client.differences;
        let trip = client.round_trip.map_or(String::new(), |time| {
            format!(", round trip {} ms", time.as_millis())
        });
        ui.label(quiet(format!(
            "client {}: {} on their way, {} to go, {} elsewhere{trip}",
            figures.watched, apart.missing, apart.extra, apart.elsewhere
        )));
    }
}
