//! The panels: what you see as text, and everything you can change.

use egui::{Align2, Color32, Rect, RichText, Stroke, Ui, pos2, vec2};

use crate::palette::{self, color32};
use crate::viewer::Figures;
use crate::{Scenario, Show, lossy};

mod chosen;
mod clients;
pub(crate) mod counts;
mod help;
pub(crate) mod input;
pub(crate) mod labels;
pub(crate) mod plots;
mod sliders;

/// How wide the panels are, in points.
pub(crate) const PANEL_WIDTH: f32 = 292.0;

/// What the user has set, and what they asked for in this frame.
#[derive(Clone, Debug)]
pub struct Controls {
    /// How many entities there should be.
    pub entities: u32,
    /// Whether that was ever changed: until then the scenario's own number counts.
    pub resized: bool,
    /// How many clients there should be.
    pub clients: usize,
    /// Through whose eyes the map is seen.
    pub watched: usize,
    /// How far the players look, in metres.
    pub radius_m: f64,
    /// The margin, in hundredths of the radius.
    pub margin_percent: u32,
    /// How fast the world's time runs.
    pub speed: f64,
    /// How many datagrams in a hundred are lost.
    pub loss_percent: u16,
    /// How long everything takes, each way.
    pub latency_ms: u64,
    /// How many KiB a second a client may be sent.
    pub budget_kib: u32,
    /// Whether the world stands still.
    pub paused: bool,
    /// Whether the map keeps the player in its middle.
    pub follow: bool,
    /// Whether the set that is shown stays as it is, while everything moves on.
    pub locked: bool,
    /// Whether the leaves of the index are drawn.
    pub leaves: bool,
    /// Whether the heat map is drawn.
    pub heat: bool,
    /// Whether the client's own world is drawn over the truth.
    pub eyes: bool,
    /// Whether the scenario's slow twin works all the time.
    pub brute_force: bool,
    /// Whether the help page is open.
    pub help: bool,
    /// The entity that is looked at.
    pub chosen: Option<u32>,
    /// Asked for: another scenario.
    pub scenario: Option<Scenario>,
    /// Asked for: one tick.
    pub step: bool,
    /// Asked for: the map as it was at the start.
    pub reset_view: bool,
    /// Asked for: the end.
    pub quit: bool,
    /// Asked for: the map dragged by so many pixels.
    pub drag: (f64, f64),
    /// Asked for: the map closer by a factor, around a spot given in pixels from the middle.
    pub zoom: Option<(f64, f64, f64)>,
    /// Where the cursor is over the map, in pixels from the middle.
    pub cursor: Option<(f64, f64)>,
    /// Where the map was clicked, in pixels from the middle.
    pub clicked: Option<(f64, f64)>,
    /// Where the player is told to walk: signs of east and north.
    pub steer: (i64, i64),
    /// Where the radius slider is, so that a test can drag it.
    pub radius_slider: Option<Rect>,
}

impl Controls {
    /// Makes the controls of a scenario that has just begun.
    #[must_use]
    pub fn new(show: &Show) -> Self {
        let (world, conditions) = (show.world(), show.network().conditions());
        Self {
            entities: u32::try_from(world.entities()).unwrap_or(u32::MAX),
            resized: false,
            clients: world.players().len(),
            watched: world.watched(),
            radius_m: lossy::f64_from_mm(world.radius_mm()) / 1_000.0,
            margin_percent: conditions.margin_percent,
            speed: 1.0,
            loss_percent: conditions.loss_percent,
            latency_ms: conditions.latency_ms,
            budget_kib: conditions.budget_bytes / 1_024,
            paused: false,
            follow: false,
            locked: false,
            leaves: false,
            heat: false,
            eyes: false,
            brute_force: false,
            help: false,
            chosen: None,
            scenario: None,
            step: false,
            reset_view: false,
            quit: false,
            drag: (0.0, 0.0),
            zoom: None,
            cursor: None,
            clicked: None,
            steer: (0, 0),
            radius_slider: None,
        }
    }

    /// Forgets what was asked for in the last frame; settings stay.
    fn begin(&mut self) {
        self.step = false;
        self.reset_view = false;
        self.drag = (0.0, 0.0);
        self.zoom = None;
        self.cursor = None;
        self.clicked = None;
    }
}

/// Lays out one frame of panels and reads keys and mouse.
pub fn show(ui: &mut Ui, controls: &mut Controls, figures: &Figures) {
    controls.begin();
    input::read_mouse(ui, controls);
    input::read_keys(ui, controls);
    labels::draw(ui, controls, figures);
    let right = ui.max_rect().right() - PANEL_WIDTH - 42.0;
    panel(ui, "panel", pos2(14.0, 14.0), |ui| {
        counts::show(ui, controls, figures);
        ui.separator();
        sliders::show(ui, controls);
        ui.separator();
        buttons(ui, controls);
    });
    // A narrow window keeps the panel that changes things, and the map.
    if right > PANEL_WIDTH + 60.0 {
        panel(ui, "network", pos2(right, 14.0), |ui| {
            clients::show(ui, controls, figures);
            ui.separator();
            plots::show(ui, figures);
            if let Some(chosen) = &figures.chosen {
                ui.separator();
                chosen::show(ui, chosen);
            }
        });
    }
    if controls.help {
        help::show(ui, &mut controls.help);
    }
}

pub(crate) fn panel(ui: &Ui, name: &str, at: egui::Pos2, content: impl FnOnce(&mut Ui)) {
    let frame = egui::Frame::new()
        .fill(plate())
        .stroke(Stroke::new(1.0, color32(palette::GRID)))
        .corner_radius(8)
        .inner_margin(12);
    egui::Area::new(egui::Id::unique(name))
        .fixed_pos(at)
        .show(ui.ctx(), |ui| {
            frame.show(ui, |ui| {
                ui.set_width(PANEL_WIDTH);
                ui.spacing_mut().item_spacing = vec2(8.0, 3.0);
                content(ui);
            });
        });
}

fn buttons(ui: &mut Ui, controls: &mut Controls) {
    ui.horizontal_wrapped(|ui| {
        let pause = if controls.paused { "Run" } else { "Pause" };
        if ui.button(pause).clicked() {
            controls.paused = !controls.paused;
        }
        if ui.button("Step").clicked() {
            controls.step = true;
        }
        if ui.button("Reset view").clicked() {
            controls.reset_view = true;
        }
        ui.toggle_value(&mut controls.follow, "Follow");
        ui.toggle_value(&mut controls.locked, "Lock set");
        ui.toggle_value(&mut controls.eyes, "Client's eyes");
        ui.toggle_value(&mut controls.leaves, "Leaves");
        ui.toggle_value(&mut controls.heat, "Heat");
        ui.toggle_value(&mut controls.brute_force, "Brute force");
        ui.toggle_value(&mut controls.help, "Help");
    });
}

pub(crate) fn quiet(text: impl Into<String>) -> RichText {
    RichText::new(text).color(color32(palette::QUIET))
}

/// Writes on the map, over a plate that keeps the words readable on top of dots.
pub(crate) fn text(ui: &Ui, at: egui::Pos2, anchor: Align2, words: String, color: palette::Rgb) {
    let font = egui::FontId::proportional(13.0);
    let layout = ui.painter().layout_no_wrap(words, font, color32(color));
    let rect = anchor.anchor_size(at, layout.size());
    ui.painter()
        .rect_filled(rect.expand2(vec2(6.0, 2.0)), 4, plate());
    ui.painter().galley(rect.min, layout, color32(color));
}

/// The background of panels and words.
fn plate() -> Color32 {
    Color32::from_rgba_unmultiplied(10, 14, 21, 224)
}

/// Screen points are small numbers: an `f32` holds them.
pub(crate) fn point(v: f64) -> f32 {
    lossy::f32_from_f64(v)
}
