//! Mouse and keys.

use egui::{InputState, Key, Sense, Ui};

use super::Controls;
use crate::Scenario;

/// The number keys, in the order of the scenarios.
const NUMBERS: [Key; 10] = [
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
    Key::Num0,
];

/// What the mouse asks of the map, in pixels from its middle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mouse {
    pub(crate) drag: (f64, f64),
    /// Closer by a factor, around a spot.
    pub(crate) zoom: Option<(f64, f64, f64)>,
    pub(crate) cursor: Option<(f64, f64)>,
    pub(crate) clicked: Option<(f64, f64)>,
}

impl Mouse {
    /// Drag to pan, wheel or pinch to zoom, click to choose. Panels lie above the map and keep their
    /// own events.
    pub(crate) fn read(ui: &Ui) -> Self {
        let screen = ui.max_rect();
        let scale = f64::from(ui.pixels_per_point());
        let map = ui.interact(screen, egui::Id::unique("map"), Sense::click_and_drag());
        let drag = map.drag_delta();
        let mut mouse = Self {
            drag: (f64::from(drag.x) * scale, f64::from(drag.y) * scale),
            ..Self::default()
        };
        let Some(at) = map.hover_pos() else {
            return mouse;
        };
        let at = at - screen.center();
        let at = (f64::from(at.x) * scale, f64::from(at.y) * scale);
        mouse.cursor = Some(at);
        mouse.clicked = map.clicked().then_some(at);
        let factor = ui.input(|i| {
            f64::from(i.smooth_scroll_delta().y / 200.0).exp() * f64::from(i.zoom_delta())
        });
        if (factor - 1.0).abs() > 1e-6 {
            mouse.zoom = Some((factor, at.0, at.1));
        }
        mouse
    }
}

pub(super) fn read_mouse(ui: &Ui, controls: &mut Controls) {
    let mouse = Mouse::read(ui);
    controls.drag = mouse.drag;
    if controls.drag != (0.0, 0.0) {
        controls.follow = false;
    }
    controls.cursor = mouse.cursor;
    controls.clicked = mouse.clicked;
    controls.zoom = mouse.zoom;
}

/// Returns where the keys say to walk: the signs of east and north.
pub(crate) fn walk_keys(i: &InputState) -> (i8, i8) {
    let held = |keys: [Key; 2]| i8::from(keys.iter().any(|key| i.key_down(*key)));
    (
        held([Key::D, Key::ArrowRight]) - held([Key::A, Key::ArrowLeft]),
        held([Key::W, Key::ArrowUp]) - held([Key::S, Key::ArrowDown]),
    )
}

/// Returns how much closer or wider the keys say to look.
pub(crate) fn zoom_keys(i: &InputState) -> Option<f64> {
    let closer = i.key_pressed(Key::Plus) || i.key_pressed(Key::Equals);
    let wider = i.key_pressed(Key::Minus).then_some(0.8);
    closer.then_some(1.25).or(wider)
}

/// Keys work unless a widget has the keyboard.
pub(super) fn read_keys(ui: &Ui, controls: &mut Controls) {
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
        for (value, key) in [
            (&mut controls.paused, Key::Space),
            (&mut controls.follow, Key::F),
            (&mut controls.locked, Key::K),
            (&mut controls.leaves, Key::L),
            (&mut controls.heat, Key::M),
            (&mut controls.eyes, Key::E),
            (&mut controls.brute_force, Key::B),
        ] {
            *value ^= i.key_pressed(key);
        }
        controls.help ^= i.key_pressed(Key::H) || i.key_pressed(Key::F1);
        controls.step |= i.key_pressed(Key::N) || i.key_pressed(Key::Period);
        controls.reset_view |= i.key_pressed(Key::R);
        controls.quit |= i.key_pressed(Key::Q);
        if i.key_pressed(Key::Escape) {
            (controls.help, controls.chosen) = (false, None);
        }
        if i.key_pressed(Key::C) {
            controls.watched = (controls.watched + 1) % controls.clients.max(1);
        }
        for (key, scenario) in NUMBERS.iter().zip(Scenario::ALL) {
            if i.key_pressed(*key) {
                controls.scenario = Some(*scenario);
            }
        }
        let (east, north) = walk_keys(i);
        controls.steer = (east.into(), north.into());
        if let Some(factor) = zoom_keys(i) {
            controls.zoom = Some((factor, 0.0, 0.0));
        }
    });
}
