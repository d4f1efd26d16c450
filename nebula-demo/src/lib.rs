//! The demo's parts, apart from its `main`, so that tests can call them.
//!
//! One scenario, two ways to look at it: [`headless`] prints it, and a window draws it. Both step the
//! same [`Show`]: a [`World`] that counts the neighbours of a player twice each tick, with the index
//! and by asking everyone, and a server that tells its clients of it over links in virtual time.
//!
//! Reading order: [`args`] (what may be asked), [`scenario`] (the worlds to show), [`world`] (what
//! moves and what is counted), [`in_process`] (the server and clients around it),
//! [`show`] (the two together), [`headless`] (plain lines or JSON). For the window: [`viewer`] (one
//! frame, from input to pixels), [`camera`], [`render`] (the map), [`hud`] and [`panels`] (text and
//! buttons), [`canvas`] and [`raster`] (pixels), [`display`] and [`app`] (the window itself), [`offscreen`] (pictures
//! without one). For two terminals: [`online`], a server and its clients on a real network.

pub mod app;
pub mod args;
pub mod camera;
pub mod canvas;
pub mod display;
pub mod headless;
pub mod hud;
pub mod in_process;
pub mod lossy;
pub mod marks;
pub mod offscreen;
pub mod online;
pub mod palette;
pub mod panels;
pub mod png;
pub mod raster;
pub mod render;
pub mod rng;
pub mod scenario;
pub mod show;
pub mod viewer;
pub mod world;

/// The examples of the guide, run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide.md")]
mod guide {}

use std::io::Write;

use args::{Command, Options};

pub use scenario::Scenario;
pub use show::Show;
pub use world::{Reading, World};

/// The exit status when everything agreed.
pub const EXIT_OK: u8 = 0;
/// The exit status when the index and the brute force differed, a client's world differed from the
/// truth, or the output could not be written.
pub const EXIT_DIFFERS: u8 = 1;
/// The exit status for a command line that makes no sense.
pub const EXIT_USAGE: u8 = 2;

/// Runs the demo with the given arguments (program name left out) and returns its exit status.
///
/// ```
/// let (mut out, mut err) = (Vec::new(), Vec::new());
/// let args = ["--headless", "--ticks", "1", "--seed", "7"];
/// let status = nebula_demo::run(args.map(Into::into), &mut out, &mut err);
/// assert_eq!(status, nebula_demo::EXIT_OK);
/// assert!(String::from_utf8(out).unwrap().starts_with("Nearby: "));
/// ```
pub fn run(
    args: impl IntoIterator<Item = std::ffi::OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let out: &mut dyn Write = &mut Named(out);
    let outcome = match args::parse(args) {
        Ok(Command::Help) => out
            .write_all(args::HELP.as_bytes())
            .map(|()| EXIT_OK)
            .map_err(anyhow::Error::from),
        Ok(Command::Run(options)) => show(&options, out, err),
        Ok(Command::Screenshot(options, file)) => {
            offscreen::screenshot(&options, &file).map(headless::Verdict::exit_status)
        }
        Ok(Command::Shots(options, folder)) => offscreen::shots(&options, &folder, out),
        Ok(Command::Server(options)) => online::serve(&options, out, err).map(|()| EXIT_OK),
        Ok(Command::Client(options)) => online::visit(&options, out, err).map(|()| EXIT_OK),
        Ok(Command::BenchFrames) => offscreen::bench_frames(out).map(|()| EXIT_OK),
        Err(usage) => {
            // The message is all we have to say; when even that cannot be written, the status tells.
            let _ = writeln!(err, "nebula-demo: {usage}\nTry: nebula-demo --help");
            return EXIT_USAGE;
        }
    };
    outcome.unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return EXIT_OK; // The reader, such as `head`, has seen enough.
        }
        let _ = writeln!(err, "nebula-demo: {error:#}");
        EXIT_DIFFERS
    })
}

/// Shows one scenario in a window, or in the terminal, and returns the exit status.
fn show(options: &Options, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<u8> {
    if !options.headless {
        let shown = display::find(|name| std::env::var_os(name))
            .map_err(app::Failure::NoWindow)
            .and_then(|display| app::run(options, display, out));
        match shown {
            Ok(status) => return Ok(status),
            Err(app::Failure::Broken(error)) => return Err(error),
            Err(app::Failure::NoWindow(reason)) => writeln!(
                err,
                "No window: {reason}. The same scenario runs here in the terminal."
            )?,
        }
    }
    let mut show = options.scenario.show(options.seed);
    Ok(headless::run(&mut show, options, out)?.exit_status())
}

/// An output whose errors say that they are its own: a full disk, say, that it goes to.
struct Named<'a>(&'a mut dyn Write);

impl Named<'_> {
    fn name<T>(result: std::io::Result<T>) -> std::io::Result<T> {
        result.map_err(|error| {
            let text = format!("the output cannot be written: {error}");
            std::io::Error::new(error.kind(), text)
        })
    }
}

impl Write for Named<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Self::name(self.0.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Self::name(self.0.flush())
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
