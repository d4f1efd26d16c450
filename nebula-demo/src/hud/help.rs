//! The help page.

use egui::{Align2, RichText, Ui, vec2};

use crate::palette::{self, color32};

const KEYS: &[(&str, &str)] = &[
    ("drag", "move the map"),
    ("point, click", "see who it is; and why it is sent, or not"),
    (
        "wheel, + and -",
        "zoom, from the whole planet to a millimetre",
    ),
    ("W A S D, arrows", "walk; let go to wander again"),
    ("Space", "pause and run"),
    ("N", "one tick"),
    ("1 to 9, 0", "another scenario"),
    ("C", "look through the next client's eyes"),
    ("E", "the client's own world over the truth"),
    ("K", "lock the set and let the world move on"),
    ("L, M", "leaves of the index, heat map"),
    ("B", "the slow twin of particles, all the time"),
    ("F", "keep the player in the middle"),
    ("R", "the view of the start"),
    ("H", "this page"),
    ("Q", "quit"),
];

const STORY: &str = "A server tells each client what is near its player, and nothing else. Orange entities \
    are within the radius of the client you look through, purple ones in the margin, where they stay \
    until they have left it. Everything the client has came over a link that loses and delays as you \
    set it. The index finds who is near without asking everyone; brute force asks everyone, each tick, \
    and both must name the same ones. Positions are whole millimetres in 128 bits.";

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
