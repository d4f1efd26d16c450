//! One frame after the other, without a window: input in, pixels out.

use std::time::{Duration, Instant};

use egui::{PlatformOutput, RawInput, Rect};

use crate::args::Limit;
use crate::camera::Camera;
use crate::canvas::Canvas;
use crate::headless::Verdict;
use crate::hud::{self, Controls};
use crate::in_process::Conditions;
use crate::lossy;
use crate::marks::Marks;
use crate::panels::Panels;
use crate::render::{Map, overlay};
use crate::world::{Seen, TICKS_PER_SECOND};
use crate::{Reading, Show, World};

mod figures;

pub use figures::{Chosen, ClientRow, Figures, History};

/// How much real time one frame may spend on ticks, so that input stays alive.
const TICKING_MAX: Duration = Duration::from_millis(12);
/// How far from the cursor an entity is found, in pixels.
const CURSOR_PX: f64 = 10.0;

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

/// A scenario, a map of it, and panels.
pub struct Viewer {
    show: Show,
    camera: Option<Camera>,
    map: Map,
    marks: Marks,
    controls: Controls,
    figures: Figures,
    panels: Panels,
    /// The tick to stop at, until it is reached.
    until: Option<u64>,
    /// Ticks that real time has earned and the world has not run yet.
    due: f64,
}

impl core::fmt::Debug for Viewer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Viewer")
            .field("show", &self.show)
            .field("camera", &self.camera)
            .field("controls", &self.controls)
            .finish_non_exhaustive()
    }
}

impl Viewer {
    /// Makes a viewer. With a tick limit the world runs to that tick as fast as it can and pauses there.
    #[must_use]
    pub fn new(mut show: Show, limit: Limit) -> Self {
        let controls = Controls::new(&show);
        Self {
            figures: Figures::new(&mut show),
            show,
            camera: None,
            map: Map::default(),
            marks: Marks::default(),
            controls,
            panels: Panels::new(),
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
        let camera = self
            .camera
            .unwrap_or_else(|| whole_view(&self.show, canvas));
        self.camera = Some(camera);
        let output = self
            .panels
            .lay_out(input, |ui| hud::show(ui, &mut self.controls, &self.figures));
        self.apply_controls(canvas);
        let reached_limit = self.advance(elapsed);
        self.count();
        self.paint(canvas);
        let platform = self.panels.paint(output, canvas);
        let frame = Frame {
            reading: self.figures.reading,
            reached_limit,
            quit: self.controls.quit,
        };
        (frame, platform)
    }

    fn apply_controls(&mut self, canvas: &Canvas<'_>) {
        if let Some(scenario) = self.controls.scenario.take() {
            self.begin(scenario.show(self.show.seed()));
        }
        let world = self.show.world_mut();
        let Controls {
            entities,
            clients,
            radius_m,
            watched,
            steer,
            drag,
            zoom,
            reset_view,
            ..
        } = self.controls;
        if usize::try_from(entities).is_ok_and(|n| n != world.entities()) && self.controls.resized {
            world.set_entities(entities);
        }
        if clients != world.players().len() {
            world.set_players(clients);
        }
        if watched != world.watched() {
            world.watch(watched);
            self.marks.clear();
        }
        self.controls.watched = world.watched();
        world.set_radius_mm(lossy::mm_from_f64(radius_m * 1_000.0));
        world.steer(steer.0, steer.1);
        world.set_brute_force(self.controls.brute_force);
        let usual = *self.show.network().conditions();
        self.show.network_mut().set_conditions(Conditions {
            margin_percent: self.controls.margin_percent,
            loss_percent: self.controls.loss_percent,
            latency_ms: self.controls.latency_ms,
            budget_bytes: self.controls.budget_kib.saturating_mul(1_024),
            ..usual
        });
        if reset_view {
            self.camera = None;
        }
        let show = &self.show;
        let camera = self.camera.get_or_insert_with(|| whole_view(show, canvas));
        camera.drag(drag.0, drag.1);
        if let Some((factor, x, y)) = zoom {
            camera.zoom(factor, x, y);
        }
    }

    /// Puts another scenario on the stage.
    fn begin(&mut self, mut show: Show) {
        let (help, paused) = (self.controls.help, self.controls.paused);
        self.controls = Controls {
            help,
            paused,
            ..Controls::new(&show)
        };
        self.figures = Figures::new(&mut show);
        self.marks.clear();
        self.camera = None;
        self.until = None;
        self.show = show;
    }

    /// Runs the ticks that are due, and returns whether the tick limit was reached.
    fn advance(&mut self, elapsed: Duration) -> bool {
        let start = Instant::now();
        if self.controls.step {
            self.controls.paused = true;
            self.tick();
        }
        if self.controls.paused {
            return false;
        }
        if let Some(until) = self.until {
            while self.show.world().tick() < until && start.elapsed() < TICKING_MAX {
                self.tick();
            }
            let reached = self.show.world().tick() >= until;
            if reached {
                self.until = None;
                self.controls.paused = true;
            }
            return reached;
        }
        self.due += elapsed.as_secs_f64() * self.controls.speed * f64::from(TICKS_PER_SECOND);
        while self.due >= 1.0 && start.elapsed() < TICKING_MAX {
            self.due -= 1.0;
            self.tick();
        }
        // A machine that cannot keep up slows the world down; it does not owe ticks for ever.
        self.due = self.due.min(1.0);
        false
    }

    fn tick(&mut self) {
        self.show.step();
        self.figures.note_tick(&self.show);
    }

    fn count(&mut self) {
        self.figures.count(&mut self.show);
        if self.controls.locked {
            return; // The set stays as it was when it was locked.
        }
        let world = self.show.world();
        let members: Vec<u32> = self
            .show
            .network()
            .set(world.watched())
            .into_iter()
            .map(|badge| badge.0)
            .collect();
        self.marks
            .update(world.tick(), world.entities(), &members, world.near());
    }

    fn paint(&mut self, canvas: &mut Canvas<'_>) {
        let show = &self.show;
        let camera = self.camera.get_or_insert_with(|| whole_view(show, canvas));
        if self.controls.follow {
            camera.middle = show.world().player();
        }
        self.map.draw(canvas, show, &self.marks, camera);
        if self.controls.heat {
            overlay::heat(canvas, camera, show.world().places());
        }
        if self.controls.leaves {
            overlay::leaves(canvas, camera, &show.world().leaves());
        }
        if self.controls.eyes {
            let client = show.world().watched();
            let network = show.network();
            overlay::eyes(
                canvas,
                camera,
                &network.sight(client),
                &network.truth(client),
            );
        }
        let seen = |(x, y)| {
            let reach = lossy::mm_from_f64(CURSOR_PX * camera.mm_per_px());
            show.world().entity_at(&camera.from_px(x, y), reach)
        };
        self.figures.seen = self.controls.cursor.and_then(seen);
        if let Some(at) = self.controls.clicked {
            self.controls.chosen = seen(at).map(|seen| seen.id);
        }
        self.figures.explain(show, self.controls.chosen);
        for at in [
            self.figures.seen.map(|seen| seen.at),
            self.figures.chosen.as_ref().map(|chosen| chosen.at),
        ]
        .into_iter()
        .flatten()
        {
            self.map.highlight(canvas, &at, camera);
        }
        let (x, y) = camera.to_px(&show.world().player());
        let radius = lossy::f64_from_mm(show.world().radius_mm()) / camera.mm_per_px();
        self.figures.ring_px = (x, y, radius);
        self.figures.mm_per_px = camera.mm_per_px();
    }

    /// Lets the world stand still until every client has the truth, and returns how it all went.
    pub fn verdict(&mut self) -> Verdict {
        Verdict {
            ticks: self.show.world().tick(),
            identical: self.figures.always_identical,
            settled: self.show.settle(),
        }
    }

    /// Returns the panel library's context, which a window feeds with events.
    #[must_use]
    pub const fn context(&self) -> &egui::Context {
        self.panels.context()
    }

    /// Returns the camera, once a frame was painted.
    #[must_use]
    pub const fn camera(&self) -> Option<&Camera> {
        self.camera.as_ref()
    }

    /// Returns the world.
    #[must_use]
    pub const fn world(&self) -> &World {
        self.show.world()
    }

    /// Returns what is shown.
    #[must_use]
    pub const fn show(&self) -> &Show {
        &self.show
    }

    /// Returns what the panels show.
    #[must_use]
    pub const fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Returns what the user has set, to set it without a mouse.
    pub const fn controls_mut(&mut self) -> &mut Controls {
        &mut self.controls
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

/// The whole scenario with a small margin.
fn whole_view(show: &Show, canvas: &Canvas<'_>) -> Camera {
    let side = canvas.width().min(canvas.height()).max(1);
    let half = i128::from(show.scenario().half_view_mm());
    Camera::new(
        show.middle(),
        lossy::f64_from_mm(half) * 2.12 / f64::from(side),
    )
}
