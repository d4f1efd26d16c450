//! The window: events in, frames out. All that is worth testing lives in [`Viewer`].

use std::io::Write;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow};
use winit::window::{Window, WindowId};

use crate::args::{Limit, Options};
use crate::canvas::Canvas;
use crate::display::Display;
use crate::headless::{Verdict, title, yes};
use crate::viewer::{Frame, Viewer};
use crate::{EXIT_OK, Reading, Show};

mod start;

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

/// Shows a world in a window until it is closed or a limit is reached, and returns the exit status.
///
/// # Errors
/// [`Failure::NoWindow`] when nothing was ever shown, [`Failure::Broken`] for everything later.
pub fn run(options: &Options, display: Display, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut app = App {
        show: Some(options.scenario.show(options.seed)),
        limit: options.limit,
        screen: None,
        failure: None,
        last_reading: Reading::default(),
        out,
        quiet_panics: None,
    };
    start::run(&mut app, display)?;
    if let Some(failure) = app.failure.take() {
        return Err(failure);
    }
    app.log("Closed").map_err(Failure::Broken)?;
    // The clients get the time to catch up that a closed window would take from them.
    let verdict = app.screen.as_mut().map(|screen| screen.viewer.verdict());
    Ok(verdict.map_or(EXIT_OK, Verdict::exit_status))
}

struct App<'a> {
    /// The scenario, until a window takes it.
    show: Option<Show>,
    limit: Limit,
    screen: Option<Screen>,
    failure: Option<Failure>,
    last_reading: Reading,
    out: &'a mut dyn Write,
    /// While true, panics are not printed: set until the first frame is on the screen.
    quiet_panics: Option<Arc<AtomicBool>>,
}

/// What exists as long as the window does.
struct Screen {
    window: Rc<Window>,
    surface: softbuffer::Surface<Rc<Window>, Rc<Window>>,
    input: egui_winit::State,
    viewer: Viewer,
    opened: Instant,
    last_frame: Instant,
    titled: (Instant, String),
    shown: bool,
}

impl Screen {
    fn open(event_loop: &ActiveEventLoop, show: Show, limit: Limit) -> Result<Self, String> {
        let viewer = Viewer::new(show, limit);
        let (width, height) = SIZE;
        let attributes = Window::default_attributes()
            .with_title(title(0))
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
            viewer.context().clone(),
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
            viewer,
            opened: now,
            last_frame: now,
            titled: (now, String::new()),
            shown: false,
        })
    }

    /// Paints one frame; `None` while the window has no size.
    fn redraw(&mut self) -> anyhow::Result<Option<Frame>> {
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
        let (frame, platform) = self.viewer.frame(input, elapsed, &mut canvas);
        self.input.handle_platform_output(&self.window, platform);
        self.window.pre_present_notify();
        buffer.present().map_err(broken)?;
        self.shown = true;
        self.set_title(&frame);
        Ok(Some(frame))
    }

    fn set_title(&mut self, frame: &Frame) {
        let words = title(frame.reading.index);
        let due = self.titled.0.elapsed() >= TITLE || self.titled.1.is_empty();
        if words != self.titled.1 && (due || frame.reached_limit) {
            self.window.set_title(&words);
            self.titled = (Instant::now(), words);
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
        let frame = match screen.redraw() {
            Ok(Some(frame)) => frame,
            Ok(None) => return,
            Err(error) => return self.fail(event_loop, error),
        };
        if let Some(quiet) = self.quiet_panics.take() {
            quiet.store(false, Ordering::Relaxed);
        }
        self.last_reading = frame.reading;
        let late =
            matches!(self.limit, Limit::Seconds(n) if screen.opened.elapsed().as_secs() >= n);
        let hold = matches!(self.limit, Limit::Ticks { hold: true, .. });
        if frame.reached_limit
            && hold
            && let Err(error) = self.log("Holding")
        {
            return self.fail(event_loop, error);
        }
        if frame.quit || late || (frame.reached_limit && !hold) {
            event_loop.exit();
        }
    }

    /// Logs both counts of the last frame.
    fn log(&mut self, what: &str) -> anyhow::Result<()> {
        let reading = &self.last_reading;
        writeln!(
            self.out,
            "{what} at tick {}: index {}, brute force {}, identical: {}",
            reading.tick,
            reading.index,
            reading.brute_force,
            yes(reading.identical),
        )?;
        self.out.flush()?;
        Ok(())
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
        let Some(show) = self.show.take() else {
            return;
        };
        match Screen::open(event_loop, show, self.limit) {
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
