//! The help page.

use egui::{Align2, RichText, Ui, vec2};

use crate::palette::{self, color32};

const KEYS: &[(&str, &str)] = &[
    ("drag", "move the map"),
    ("point", "see who it is and how far away"),
    (
        "wheel, + and -",
        "zoom, from the whole planet to a millimetre",
    ),
    ("W A S D, arrows", "walk; let go to wander again"),
    ("Space", "pause and run"),
    ("N", "one tick"),
    ("F", "keep the player in the middle"),
    ("R", "the view of the start"),
    ("H", "this page"),
    ("Q", "quit"),
];

const STORY: &str = "You are the white dot on a planet 131 million light years from the origin. \
    Positions are whole millimetres in 128 bits, so nothing blurs out here: a 64-bit float could not \
    tell these entities apart. Orange entities are within your radius. The index finds them without \
    asking everyone; brute force asks everyone, each tick, and both must name the same ones.";

/// Shows the page in the middle; its close button clears `open`.
pub(super) fn show(ui: &Ui, open: &mut bool) {
    egui::Window::new("Help")
        .anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0))
        .collapsible(false)
        .resizable(false)
        .open(open)
        .show(ui.ctx(), |ui| {
            ui.set_max_width(440.0);
            ui.label(STORY);
            ui.add_space(10.0);
            egui::Grid::new("keys").spacing([22.0, 6.0]).show(ui, |ui| {
                for (key, what) in KEYS {
                    ui.label(RichText::new(*key).color(color32(palette::NEAR)));
                    ui.label(*what);
                    ui.end_row();
                }
            });
        });
}
