//! The window: events in, frames out. What it shows is a [`Scene`], and all that is worth testing lives
//! there.

use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use egui::{PlatformOutput, RawInput};
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow};
use winit::window::{Window, WindowId};

use crate::canvas::Canvas;
use crate::display::Display;

mod scenario;
mod start;

pub use scenario::run;

/// The size of a new window.
const SIZE: (u32, u32) = (1_280, 720);
/// Time between frames.
const FRAME: Duration = Duration::from_millis(33);
/// Time between changes of the title: a few times a second is readable.
const TITLE: Duration = Duration::from_millis(250);

/// Why the window did not do its work.
#[derive(Debug)]
pub enum Failure {
    /// It never appeared; the terminal can take over. The words finish "no window: ".
    NoWindow(String),
    /// It was there, and broke, or its log could not be written.
    Broken(anyhow::Error),
}

/// What a window shows.
pub trait Scene {
    /// Returns the panel library's context, which the window feeds with events.
    fn context(&self) -> &egui::Context;

    /// Takes input, goes on by the real time that passed, and paints everything. The second part is
    /// for the window: cursor shape and the like.
    ///
    /// # Errors
    /// If the window must close because the scene cannot go on.
    fn frame(
        &mut self,
        input: RawInput,
        elapsed: Duration,
        canvas: &mut Canvas<'_>,
    ) -> anyhow::Result<(Wish, PlatformOutput)>;
}

/// What a frame asks of its window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The title.
    pub title: String,
    /// Whether the title must be right at once: otherwise it changes a few times a second.
    pub at_once: bool,
    /// Whether the window closes.
    pub close: bool,
}

/// Shows a scene in a window until it is closed.
///
/// # Errors
/// [`Failure::NoWindow`] when nothing was ever shown, [`Failure::Broken`] for everything later.
pub fn show(scene: &mut dyn Scene, display: Display) -> Result<(), Failure> {
    let mut app = App {
        scene,
        screen: None,
        failure: None,
        quiet_panics: None,
    };
    start::run(&mut app, display)?;
    app.failure.take().map_or(Ok(()), Err)
}

struct App<'a> {
    scene: &'a mut dyn Scene,
    screen: Option<Screen>,
    failure: Option<Failure>,
    /// While true, panics are not printed: set until the first frame is on the screen.
    quiet_panics: Option<Arc<AtomicBool>>,
}

/// What exists as long as the window does.
struct Screen {
    window: Rc<Window>,
    surface: softbuffer::Surface<Rc<Window>, Rc<Window>>,
    input: egui_winit::State,
    last_frame: Instant,
    titled: (Instant, String),
    shown: bool,
}

impl Screen {
    fn open(event_loop: &ActiveEventLoop, context: &egui::Context) -> Result<Self, String> {
        let (width, height) = SIZE;
        let attributes = Window::default_attributes()
            .with_title("Nebula")
            .with_inner_size(LogicalSize::new(width, height))
            .with_min_inner_size(LogicalSize::new(480, 320));
        let window = event_loop
            .create_window(attributes)
            .map_err(|e| format!("the display refused one ({e})"))?;
        let window = Rc::new(window);
        let surface = softbuffer::Context::new(Rc::clone(&window))
            .and_then(|context| softbuffer::Surface::new(&context, Rc::clone(&window)))
            .map_err(|e| format!("the display gives no pixel buffer ({e})"))?;
        let input = egui_winit::State::new(
            context.clone(),
            egui::ViewportId::ROOT,
            &*window,
            None,
            None,
            None,
        );
        let now = Instant::now();
        Ok(Self {
            window,
            surface,
            input,
            last_frame: now,
            titled: (now, String::new()),
            shown: false,
        })
    }

    /// Paints one frame and returns whether the window closes; `None` while it has no size.
    fn redraw(&mut self, scene: &mut dyn Scene) -> anyhow::Result<Option<bool>> {
        let size = self.window.inner_size();
        let (Some(width), Some(height)) =
            (NonZeroU32::new(size.width), NonZeroU32::new(size.height))
        else {
            return Ok(None);
        };
        self.surface.resize(width, height).map_err(broken)?;
        let mut buffer = self.surface.buffer_mut().map_err(broken)?;
        let Some(mut canvas) = Canvas::new(size.width, size.height, &mut buffer) else {
            return Ok(None); // Between two sizes; the next frame fits.
        };
        let elapsed = self.last_frame.elapsed();
        self.last_frame = Instant::now();
        let input = self.input.take_egui_input(&self.window);
        let (wish, platform) = scene.frame(input, elapsed, &mut canvas)?;
        self.input.handle_platform_output(&self.window, platform);
        self.window.pre_present_notify();
        buffer.present().map_err(broken)?;
        self.shown = true;
        let close = wish.close;
        self.set_title(wish);
        Ok(Some(close))
    }

    fn set_title(&mut self, wish: Wish) {
        let due = self.titled.0.elapsed() >= TITLE || self.titled.1.is_empty();
        if wish.title != self.titled.1 && (due || wish.at_once) {
            self.window.set_title(&wish.title);
            self.titled = (Instant::now(), wish.title);
        }
    }
}

fn broken(error: softbuffer::SoftBufferError) -> anyhow::Error {
    anyhow::Error::msg(format!("the window's pixel buffer broke: {error}"))
}

impl App<'_> {
    /// Whether a frame has been on the screen.
    fn shown(&self) -> bool {
        self.screen.as_ref().is_some_and(|screen| screen.shown)
    }

    fn redraw(&mut self, event_loop: &ActiveEventLoop) {
        let Some(screen) = &mut self.screen else {
            return;
        };
        let close = match screen.redraw(self.scene) {
            Ok(Some(close)) => close,
            Ok(None) => return,
            Err(error) => return self.fail(event_loop, error),
        };
        if let Some(quiet) = self.quiet_panics.take() {
            quiet.store(false, Ordering::Relaxed);
        }
        if close {
            event_loop.exit();
        }
    }

    fn fail(&mut self, event_loop: &ActiveEventLoop, error: anyhow::Error) {
        self.failure = Some(if self.shown() {
            Failure::Broken(error)
        } else {
            Failure::NoWindow(error.to_string())
        });
        event_loop.exit();
    }
}

impl ApplicationHandler for App<'_> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.screen.is_some() {
            return;
        }
        match Screen::open(event_loop, self.scene.context()) {
            Ok(screen) => {
                screen.window.request_redraw();
                self.screen = Some(screen);
            }
            Err(reason) => {
                self.failure = Some(Failure::NoWindow(reason));
                event_loop.exit();
            }
        }
    }

    fn new_events(&mut self, _: &ActiveEventLoop, cause: StartCause) {
        if let (StartCause::ResumeTimeReached { .. }, Some(screen)) = (cause, &self.screen) {
            screen.window.request_redraw();
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(screen) = &mut self.screen else {
            return;
        };
        match event {
            WindowEvent::RedrawRequested => self.redraw(event_loop),
            WindowEvent::CloseRequested => event_loop.exit(),
            event => {
                // The map reads its events from the panel library too, so "consumed" is no news.
                let _ = screen.input.on_window_event(&screen.window, &event);
            }
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        if let Some(screen) = &self.screen {
            event_loop.set_control_flow(ControlFlow::WaitUntil(screen.last_frame + FRAME));
        }
    }
}
