//! The panels: what you see as text, and everything you can change.

use egui::{Align2, Color32, FontId, Key, Pos2, Rect, RichText, Sense, Stroke, Ui, pos2, vec2};

use crate::headless::{metres, title, yes};
use crate::palette::{self, color32};
use crate::render::{length_text, round_length_mm};
use crate::world::Seen;
use crate::{Reading, World, lossy};

mod help;

/// How wide the panel is, in points.
const PANEL_WIDTH: f32 = 292.0;
/// How long the scale bar is at most, in points.
const SCALE_BAR_MAX: f64 = 180.0;
/// A smaller ring has no label: the words would hide the player.
const LABELLED_RING_PX: f64 = 14.0;
/// What the radius slider offers, in metres.
const RADIUS_M: core::ops::RangeInclusive<f64> = 1.0..=1_000.0;
/// What the entity slider offers.
const ENTITIES: core::ops::RangeInclusive<u32> = 10..=100_000;
/// What the speed slider offers.
const SPEED: core::ops::RangeInclusive<f64> = 0.1..=8.0;

/// What the user has set, and what they asked for in this frame.
#[derive(Clone, Debug)]
pub struct Controls {
    /// How many entities there should be.
    pub entities: u32,
    /// How far the player looks, in metres.
    pub radius_m: f64,
    /// How fast the world's time runs.
    pub speed: f64,
    /// Whether the world stands still.
    pub paused: bool,
    /// Whether the map keeps the player in its middle.
    pub follow: bool,
    /// Whether the help page is open.
    pub help: bool,
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
    /// Where the player is told to walk: signs of east and north.
    pub steer: (i64, i64),
    /// Where the radius slider is, so that a test can drag it.
    pub radius_slider: Option<Rect>,
}

impl Controls {
    /// Makes the controls of a world that has just begun.
    #[must_use]
    pub fn new(world: &World) -> Self {
        Self {
            entities: u32::try_from(world.entities()).unwrap_or(u32::MAX),
            radius_m: lossy::f64_from_mm(world.radius_mm()) / 1_000.0,
            speed: 1.0,
            paused: false,
            follow: false,
            help: false,
            step: false,
            reset_view: false,
            quit: false,
            drag: (0.0, 0.0),
            zoom: None,
            cursor: None,
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
    }
}

/// What the panels show.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The last count.
    pub reading: Reading,
    /// Whether every count so far agreed.
    pub always_identical: bool,
    /// What a query takes in microseconds, smoothed: by the index, and by asking everyone.
    pub query_us: (f64, f64),
    /// Where the player is, in full.
    pub player: nebula_math::WorldPosition,
    /// Where the player is drawn, in pixels from the middle, and the radius in pixels.
    pub ring_px: (f64, f64, f64),
    /// The entity under the cursor.
    pub seen: Option<Seen>,
    /// The scale of the map.
    pub mm_per_px: f64,
}

/// Lays out one frame of panels and reads keys and mouse.
pub fn show(ui: &mut Ui, controls: &mut Controls, figures: &Figures) {
    controls.begin();
    read_mouse(ui, controls);
    read_keys(ui, controls);
    draw_labels(ui, controls, figures);
    let frame = egui::Frame::new()
        .fill(plate())
        .stroke(Stroke::new(1.0, color32(palette::GRID)))
        .corner_radius(8)
        .inner_margin(14);
    egui::Area::new(egui::Id::unique("panel"))
        .fixed_pos(pos2(14.0, 14.0))
        .show(ui.ctx(), |ui| {
            frame.show(ui, |ui| {
                ui.set_width(PANEL_WIDTH);
                panel(ui, controls, figures);
            });
        });
    if controls.help {
        help::show(ui, &mut controls.help);
    }
}

fn panel(ui: &mut Ui, controls: &mut Controls, figures: &Figures) {
    let reading = &figures.reading;
    ui.label(
        RichText::new(title(reading.index))
            .size(22.0)
            .color(color32(palette::LOUD)),
    );
    ui.label(quiet(format!(
        "within {} m of you, tick {}",
        metres(lossy::mm_from_f64(controls.radius_m * 1_000.0)),
        reading.tick
    )));
    ui.add_space(8.0);
    ui.separator();
    sliders(ui, controls);
    ui.separator();
    figures_table(ui, figures);
    ui.separator();
    legend(ui);
    ui.separator();
    buttons(ui, controls);
}

fn sliders(ui: &mut Ui, controls: &mut Controls) {
    ui.spacing_mut().slider_width = 200.0;
    ui.label(quiet("Radius"));
    let radius = egui::Slider::new(&mut controls.radius_m, RADIUS_M)
        .logarithmic(true)
        .max_decimals(1)
        .suffix(" m");
    controls.radius_slider = Some(ui.add(radius).rect);
    ui.label(quiet("Entities"));
    ui.add(egui::Slider::new(&mut controls.entities, ENTITIES).logarithmic(true));
    ui.label(quiet("Speed"));
    let speed = egui::Slider::new(&mut controls.speed, SPEED)
        .logarithmic(true)
        .max_decimals(1)
        .suffix(" x");
    ui.add(speed);
}

fn figures_table(ui: &mut Ui, figures: &Figures) {
    let Figures {
        reading, query_us, ..
    } = figures;
    egui::Grid::new("figures")
        .num_columns(3)
        .spacing([18.0, 4.0])
        .show(ui, |ui| {
            for heading in ["", "found", "per query"] {
                ui.label(quiet(heading));
            }
            ui.end_row();
            for (name, found, us) in [
                ("index", reading.index, query_us.0),
                ("brute force", reading.brute_force, query_us.1),
            ] {
                ui.label(name);
                ui.monospace(found.to_string());
                ui.monospace(format!("{us:.1} us"));
                ui.end_row();
            }
        });
    ui.horizontal(|ui| {
        ui.label("identical:");
        let color = if reading.identical {
            palette::GOOD
        } else {
            palette::BAD
        };
        ui.label(
            RichText::new(yes(reading.identical))
                .color(color32(color))
                .strong(),
        );
        if !figures.always_identical {
            ui.label(RichText::new("differed before").color(color32(palette::BAD)));
        }
    });
}

fn legend(ui: &mut Ui) {
    let entries = [
        [(palette::NEAR, "near"), (palette::FAR, "far")],
        [
            (palette::ENTERED, "just entered"),
            (palette::EXITED, "just left"),
        ],
    ];
    egui::Grid::new("legend")
        .spacing([18.0, 4.0])
        .show(ui, |ui| {
            for row in entries {
                for (color, name) in row {
                    ui.horizontal(|ui| {
                        let (rect, _) = ui.allocate_exact_size(vec2(12.0, 14.0), Sense::hover());
                        ui.painter()
                            .circle_filled(rect.center(), 4.5, color32(color));
                        ui.label(name);
                    });
                }
                ui.end_row();
            }
        });
}

fn buttons(ui: &mut Ui, controls: &mut Controls) {
    ui.horizontal(|ui| {
        let pause = if controls.paused { "Run" } else { "Pause" };
        if ui.button(pause).clicked() {
            controls.paused = !controls.paused;
        }
        if ui.button("Step").clicked() {
            controls.step = true;
        }
        ui.toggle_value(&mut controls.follow, "Follow");
        if ui.button("Reset view").clicked() {
            controls.reset_view = true;
        }
        ui.toggle_value(&mut controls.help, "Help");
    });
}

fn quiet(text: impl Into<String>) -> RichText {
    RichText::new(text).color(color32(palette::QUIET))
}

/// Drag to pan, wheel or pinch to zoom. Panels lie above the map and keep their own events.
fn read_mouse(ui: &Ui, controls: &mut Controls) {
    let screen = ui.max_rect();
    let scale = f64::from(ui.pixels_per_point());
    let map = ui.interact(screen, egui::Id::unique("map"), Sense::click_and_drag());
    let drag = map.drag_delta();
    controls.drag = (f64::from(drag.x) * scale, f64::from(drag.y) * scale);
    if controls.drag != (0.0, 0.0) {
        controls.follow = false;
    }
    let Some(at) = map.hover_pos() else {
        return;
    };
    let at = at - screen.center();
    let at = (f64::from(at.x) * scale, f64::from(at.y) * scale);
    controls.cursor = Some(at);
    let factor = ui
        .input(|i| f64::from(i.smooth_scroll_delta().y / 200.0).exp() * f64::from(i.zoom_delta()));
    if (factor - 1.0).abs() > 1e-6 {
        controls.zoom = Some((factor, at.0, at.1));
    }
}

/// Keys work unless a widget has the keyboard.
fn read_keys(ui: &Ui, controls: &mut Controls) {
    // A click on a slider gives it the keyboard; the map takes it back, except from a text field.
    if ui.input(|i| i.pointer.any_released()) && !ui.ctx().text_edit_focused() {
        ui.memory_mut(|memory| {
            if let Some(id) = memory.focused() {
                memory.surrender_focus(id);
            }
        });
    }
    controls.steer = (0, 0);
    if ui.ctx().egui_wants_keyboard_input() {
        return;
    }
    ui.input(|i| {
        let toggle = |value: &mut bool, key: Key| *value ^= i.key_pressed(key);
        toggle(&mut controls.paused, Key::Space);
        toggle(&mut controls.follow, Key::F);
        toggle(&mut controls.help, Key::H);
        toggle(&mut controls.help, Key::F1);
        controls.step |= i.key_pressed(Key::N) || i.key_pressed(Key::Period);
        controls.reset_view |= i.key_pressed(Key::R);
        controls.quit |= i.key_pressed(Key::Q);
        controls.help &= !i.key_pressed(Key::Escape);
        let held = |keys: [Key; 2]| i64::from(keys.iter().any(|key| i.key_down(*key)));
        controls.steer = (
            held([Key::D, Key::ArrowRight]) - held([Key::A, Key::ArrowLeft]),
            held([Key::W, Key::ArrowUp]) - held([Key::S, Key::ArrowDown]),
        );
        let closer = i.key_pressed(Key::Plus) || i.key_pressed(Key::Equals);
        for (pressed, factor) in [(closer, 1.25), (i.key_pressed(Key::Minus), 0.8)] {
            if pressed {
                controls.zoom = Some((factor, 0.0, 0.0));
            }
        }
    });
}

/// Text on the map: the radius at its ring, the scale bar, and the player's full coordinates.
fn draw_labels(ui: &Ui, controls: &Controls, figures: &Figures) {
    let screen = ui.max_rect();
    let scale = f64::from(ui.pixels_per_point());
    let (x, y, radius) = figures.ring_px;
    if radius > LABELLED_RING_PX {
        let top = screen.center() + vec2(point(x / scale), point((y - radius) / scale) - 4.0);
        let name = length_text(lossy::mm_from_f64(controls.radius_m * 1_000.0));
        text(ui, top, Align2::CENTER_BOTTOM, name, palette::NEAR);
    }
    if controls.paused {
        let at = pos2(screen.center().x, screen.top() + 18.0);
        text(
            ui,
            at,
            Align2::CENTER_TOP,
            "paused: Space runs, N steps".to_owned(),
            palette::LOUD,
        );
    }
    if let (Some(seen), Some((x, y))) = (&figures.seen, controls.cursor) {
        let at = screen.center() + vec2(point(x / scale) + 16.0, point(y / scale) + 18.0);
        let distance = metres(i128::try_from(seen.distance_mm).unwrap_or(i128::MAX));
        let words = format!("entity {}, {distance} m from you", seen.id);
        text(ui, at, Align2::LEFT_TOP, words, palette::LOUD);
    }
    draw_scale_bar(ui, screen, figures.mm_per_px * scale);
    let at = &figures.player;
    let line = format!("you are at  x {}  y {}  z {} mm", at.x, at.y, at.z);
    let corner = screen.left_bottom() + vec2(18.0, -16.0);
    text(ui, corner, Align2::LEFT_BOTTOM, line, palette::QUIET);
}

fn draw_scale_bar(ui: &Ui, screen: Rect, mm_per_point: f64) {
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
    text(
        ui,
        middle,
        Align2::CENTER_BOTTOM,
        length_text(length),
        palette::LOUD,
    );
}

/// Writes on the map, over a plate that keeps the words readable on top of dots.
fn text(ui: &Ui, at: Pos2, anchor: Align2, words: String, color: palette::Rgb) {
    let font = FontId::proportional(13.0);
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
fn point(v: f64) -> f32 {
    lossy::f32_from_f64(v)
}
