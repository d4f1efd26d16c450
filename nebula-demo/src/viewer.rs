//! One frame after the other, without a window: input in, pixels out.

use std::time::{Duration, Instant};

use egui::{PlatformOutput, RawInput, Rect};

use crate::args::Limit;
use crate::camera::Camera;
use crate::canvas::Canvas;
use crate::hud::{self, Controls, Figures};
use crate::lossy;
use crate::marks::Marks;
use crate::palette::{self, color32};
use crate::raster::Painter;
use crate::render::Map;
use crate::world::{Ground, SPREAD_MM, Seen, TICKS_PER_SECOND};
use crate::{Reading, World};

/// How much real time one frame may spend on ticks, so that input stays alive.
const TICKING_MAX: Duration = Duration::from_millis(12);
/// How far from the cursor an entity is found, in pixels.
const CURSOR_PX: f64 = 10.0;
/// How much of a new timing goes into the smoothed one.
const SMOOTHING: f64 = 0.05;

/// What one frame found and asks for.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The count of this frame.
    pub reading: Reading,
    /// Whether the tick limit was reached in this frame.
    pub reached_limit: bool,
    /// Whether the user wants to leave.
    pub quit: bool,
}

/// A world, a map of it, and panels.
pub struct Viewer {
    world: World,
    camera: Option<Camera>,
    map: Map,
    marks: Marks,
    controls: Controls,
    figures: Figures,
    context: egui::Context,
    painter: Painter,
    /// The tick to stop at, until it is reached.
    until: Option<u64>,
    /// Ticks that real time has earned and the world has not run yet.
    due: f64,
}

impl core::fmt::Debug for Viewer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Viewer")
            .field("world", &self.world)
            .field("camera", &self.camera)
            .field("controls", &self.controls)
            .finish_non_exhaustive()
    }
}

impl Viewer {
    /// Makes a viewer. With a tick limit the world runs to that tick as fast as it can and pauses there.
    #[must_use]
    pub fn new(mut world: World, limit: Limit) -> Self {
        let context = egui::Context::default();
        context.set_theme(egui::Theme::Dark);
        context.all_styles_mut(|style| {
            style.visuals.widgets.noninteractive.fg_stroke.color = color32(palette::LOUD);
        });
        let reading = world.measure();
        let controls = Controls::new(&world);
        Self {
            figures: Figures {
                reading,
                always_identical: reading.identical,
                query_us: (micros(reading.index_time), micros(reading.brute_force_time)),
                player: world.player(),
                ring_px: (0.0, 0.0, 0.0),
                seen: None,
                mm_per_px: 1.0,
            },
            world,
            camera: None,
            map: Map::default(),
            marks: Marks::default(),
            controls,
            context,
            painter: Painter::new(),
            until: match limit {
                Limit::Ticks { ticks, .. } => Some(ticks),
                Limit::None | Limit::Seconds(_) => None,
            },
            due: 0.0,
        }
    }

    /// Takes input, advances the world by the real time that passed, and paints everything.
    ///
    /// The second part is for the window: cursor shape and the like.
    pub fn frame(
        &mut self,
        input: RawInput,
        elapsed: Duration,
        canvas: &mut Canvas<'_>,
    ) -> (Frame, PlatformOutput) {
        let camera = self.camera.unwrap_or_else(|| whole_patch(canvas));
        self.camera = Some(camera);
        let mut output = self
            .context
            .clone()
            .run_ui(input, |ui| hud::show(ui, &mut self.controls, &self.figures));
        self.painter.update(&mut output.textures_delta);
        self.apply_controls(canvas);
        let reached_limit = self.advance(elapsed);
        self.count();
        self.paint(canvas);
        let scale = output.pixels_per_point;
        let shapes = self.context.tessellate(output.shapes, scale);
        self.painter.paint(canvas, &shapes, scale);
        let frame = Frame {
            reading: self.figures.reading,
            reached_limit,
            quit: self.controls.quit,
        };
        (frame, output.platform_output)
    }

    fn apply_controls(&mut self, canvas: &Canvas<'_>) {
        let Controls {
            entities,
            radius_m,
            steer,
            drag,
            zoom,
            reset_view,
            ..
        } = self.controls;
        if usize::try_from(entities).is_ok_and(|n| n != self.world.entities()) {
            self.world.set_entities(entities);
        }
        self.world
            .set_radius_mm(lossy::mm_from_f64(radius_m * 1_000.0));
        self.world.steer(steer.0, steer.1);
        if reset_view {
            self.camera = None;
        }
        let camera = self.camera.get_or_insert_with(|| whole_patch(canvas));
        camera.drag(drag.0, drag.1);
        if let Some((factor, x, y)) = zoom {
            camera.zoom(factor, x, y);
        }
    }

    /// Runs the ticks that are due, and returns whether the tick limit was reached.
    fn advance(&mut self, elapsed: Duration) -> bool {
        let start = Instant::now();
        if self.controls.step {
            self.controls.paused = true;
            self.world.step();
        }
        if self.controls.paused {
            return false;
        }
        if let Some(until) = self.until {
            while self.world.tick() < until && start.elapsed() < TICKING_MAX {
                self.world.step();
            }
            let reached = self.world.tick() >= until;
            if reached {
                self.until = None;
                self.controls.paused = true;
            }
            return reached;
        }
        self.due += elapsed.as_secs_f64() * self.controls.speed * f64::from(TICKS_PER_SECOND);
        while self.due >= 1.0 && start.elapsed() < TICKING_MAX {
            self.due -= 1.0;
            self.world.step();
        }
        // A machine that cannot keep up slows the world down; it does not owe ticks for ever.
        self.due = self.due.min(1.0);
        false
    }

    fn count(&mut self) {
        let reading = self.world.measure();
        self.marks
            .update(reading.tick, self.world.entities(), self.world.near());
        let smooth = |old: f64, new: Duration| old + (micros(new) - old) * SMOOTHING;
        let figures = &mut self.figures;
        figures.reading = reading;
        figures.always_identical &= reading.identical;
        figures.query_us = (
            smooth(figures.query_us.0, reading.index_time),
            smooth(figures.query_us.1, reading.brute_force_time),
        );
        figures.player = self.world.player();
    }

    fn paint(&mut self, canvas: &mut Canvas<'_>) {
        let camera = self.camera.get_or_insert_with(|| whole_patch(canvas));
        if self.controls.follow {
            camera.middle = self.world.player();
        }
        self.map.draw(canvas, &self.world, &self.marks, camera);
        self.figures.seen = self.controls.cursor.and_then(|(x, y)| {
            let reach = lossy::mm_from_f64(CURSOR_PX * camera.mm_per_px());
            self.world.entity_at(&camera.from_px(x, y), reach)
        });
        if let Some(seen) = &self.figures.seen {
            self.map.highlight(canvas, &seen.at, camera);
        }
        let (x, y) = camera.to_px(&self.world.player());
        let radius = lossy::f64_from_mm(self.world.radius_mm()) / camera.mm_per_px();
        self.figures.ring_px = (x, y, radius);
        self.figures.mm_per_px = camera.mm_per_px();
    }

    /// Returns the panel library's context, which a window feeds with events.
    #[must_use]
    pub const fn context(&self) -> &egui::Context {
        &self.context
    }

    /// Returns the camera, once a frame was painted.
    #[must_use]
    pub const fn camera(&self) -> Option<&Camera> {
        self.camera.as_ref()
    }

    /// Returns the world.
    #[must_use]
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// Returns whether every count so far agreed.
    #[must_use]
    pub const fn always_identical(&self) -> bool {
        self.figures.always_identical
    }

    /// Returns where the radius slider was laid out in the last frame, in points.
    #[must_use]
    pub const fn radius_slider(&self) -> Option<Rect> {
        self.controls.radius_slider
    }

    /// Returns the entity under the cursor, as the last frame showed it.
    #[must_use]
    pub const fn seen(&self) -> Option<&Seen> {
        self.figures.seen.as_ref()
    }

    /// Returns whether the world stands still.
    #[must_use]
    pub const fn is_paused(&self) -> bool {
        self.controls.paused
    }
}

/// The whole patch with a small margin.
fn whole_patch(canvas: &Canvas<'_>) -> Camera {
    let side = canvas.width().min(canvas.height()).max(1);
    let patch = lossy::f64_from_mm(i128::from(SPREAD_MM)) * 2.12;
    Camera::new(Ground::at(0, 0), patch / f64::from(side))
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
