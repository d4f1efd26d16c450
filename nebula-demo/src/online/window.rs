//! The window in front of a loop: a map, the side's own panels, and what was printed last.

use core::time::Duration;
use std::collections::VecDeque;
use std::io::Write;
use std::sync::mpsc::{Receiver, TryRecvError};

use anyhow::Result;
use egui::{Align2, Key, PlatformOutput, RawInput, Ui, vec2};

use super::stage::pass_on;
use crate::app::{Scene, Wish};
use crate::camera::Camera;
use crate::canvas::Canvas;
use crate::hud::input::{Mouse, walk_keys, zoom_keys};
use crate::hud::{self, labels};
use crate::panels::Panels;
use crate::render::Map;
use crate::render::dots::Picture;
use crate::{lossy, palette};

/// How many of the printed lines are shown.
const LINES: usize = 6;

/// What a server and a client show differently.
pub(super) trait Side {
    /// Takes over what the loop has to show.
    fn look(&mut self);
    /// Returns the map.
    fn picture(&self) -> Picture;
    /// Returns the window's title.
    fn title(&self) -> String;
    /// Lays out the panels.
    fn panels(&mut self, ui: &mut Ui, keys: &mut Keys);
    /// Hears which way the keys point.
    fn walk(&mut self, _east: i8, _north: i8) {}
}

/// What the user has set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Keys {
    pub(super) follow: bool,
    pub(super) reset: bool,
    pub(super) quit: bool,
}

/// A window in front of a loop.
pub(super) struct Window<'a> {
    side: &'a mut dyn Side,
    lines: &'a Receiver<Vec<u8>>,
    out: &'a mut dyn Write,
    printed: VecDeque<String>,
    panels: Panels,
    map: Map,
    camera: Option<Camera>,
    keys: Keys,
}

impl<'a> Window<'a> {
    pub(super) fn new(
        side: &'a mut dyn Side,
        lines: &'a Receiver<Vec<u8>>,
        out: &'a mut dyn Write,
    ) -> Self {
        Self {
            side,
            lines,
            out,
            printed: VecDeque::new(),
            panels: Panels::new(),
            map: Map::default(),
            camera: None,
            keys: Keys::default(),
        }
    }

    /// Prints what the loop said; returns whether it has ended.
    fn pass_on_lines(&mut self) -> Result<bool> {
        loop {
            match self.lines.try_recv() {
                Ok(bytes) => {
                    pass_on(&bytes, self.out)?;
                    let text = String::from_utf8_lossy(&bytes);
                    self.printed.extend(text.lines().map(str::to_owned));
                    let old = self.printed.len().saturating_sub(LINES);
                    self.printed.drain(..old);
                }
                Err(TryRecvError::Empty) => return Ok(false),
                Err(TryRecvError::Disconnected) => return Ok(true),
            }
        }
    }

    fn move_camera(&mut self, mouse: &Mouse, zoom: Option<f64>, picture: &Picture) {
        let Some(camera) = &mut self.camera else {
            return;
        };
        if mouse.drag != (0.0, 0.0) {
            self.keys.follow = false;
        }
        camera.drag(mouse.drag.0, mouse.drag.1);
        if let Some((factor, x, y)) = zoom.map(|factor| (factor, 0.0, 0.0)).or(mouse.zoom) {
            camera.zoom(factor, x, y);
        }
        if let (true, Some(sphere)) = (self.keys.follow, &picture.sphere) {
            camera.middle = sphere.at;
        }
    }
}

impl Scene for Window<'_> {
    fn context(&self) -> &egui::Context {
        self.panels.context()
    }

    fn frame(
        &mut self,
        input: RawInput,
        _: Duration,
        canvas: &mut Canvas<'_>,
    ) -> Result<(Wish, PlatformOutput)> {
        let over = self.pass_on_lines()?;
        self.side.look();
        let picture = self.side.picture();
        if self.keys.reset {
            self.camera = None;
        }
        self.keys.reset = false;
        let camera = *self
            .camera
            .get_or_insert_with(|| whole_view(&picture, canvas));
        let (mut mouse, mut zoom) = (Mouse::default(), None);
        let Self {
            side,
            panels,
            keys,
            printed,
            ..
        } = self;
        let output = panels.lay_out(input, |ui| {
            mouse = Mouse::read(ui);
            zoom = read_keys(ui, keys, &mut **side);
            draw_labels(ui, &camera, &picture, &mouse, printed);
            side.panels(ui, keys);
        });
        self.move_camera(&mouse, zoom, &picture);
        let camera = self.camera.as_ref().unwrap_or(&camera);
        self.map.draw_picture(canvas, &picture, camera);
        if let Some(dot) = mouse.cursor.and_then(|at| picture.dot_at(camera, at)) {
            self.map.highlight(canvas, &dot.at, camera);
        }
        let wish = Wish {
            title: self.side.title(),
            at_once: false,
            close: over || self.keys.quit,
        };
        Ok((wish, self.panels.paint(output, canvas)))
    }
}

/// Reads keys, and returns how much closer they say to look.
fn read_keys(ui: &Ui, keys: &mut Keys, side: &mut dyn Side) -> Option<f64> {
    ui.input(|i| {
        keys.follow ^= i.key_pressed(Key::F);
        keys.reset |= i.key_pressed(Key::R);
        keys.quit |= i.key_pressed(Key::Q);
        let (east, north) = walk_keys(i);
        side.walk(east, north);
        zoom_keys(i)
    })
}

/// Who is under the cursor, the scale, and what was printed last.
fn draw_labels(
    ui: &Ui,
    camera: &Camera,
    picture: &Picture,
    mouse: &Mouse,
    printed: &VecDeque<String>,
) {
    let (screen, scale) = (ui.max_rect(), f64::from(ui.pixels_per_point()));
    if let Some(cursor) = mouse.cursor
        && let Some(dot) = picture.dot_at(camera, cursor)
    {
        let from = vec2(
            hud::point(cursor.0 / scale) + 16.0,
            hud::point(cursor.1 / scale) + 18.0,
        );
        let at = screen.center() + from;
        hud::text(ui, at, Align2::LEFT_TOP, dot.name.clone(), palette::LOUD);
    }
    labels::draw_scale_bar(ui, screen, camera.mm_per_px() * scale);
    let mut at = screen.left_bottom() + vec2(20.0, -14.0);
    for line in printed.iter().rev() {
        hud::text(ui, at, Align2::LEFT_BOTTOM, line.clone(), palette::QUIET);
        at.y -= 19.0;
    }
}

/// Everything, with a small margin.
fn whole_view(picture: &Picture, canvas: &Canvas<'_>) -> Camera {
    let side = canvas.width().min(canvas.height()).max(1);
    let half = lossy::f64_from_mm(picture.half_mm);
    Camera::new(picture.middle, half * 2.12 / f64::from(side))
}
