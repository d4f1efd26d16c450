//! Frames without a window: screenshots, and how long a frame takes.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use cpu_time::ProcessTime;
use egui::{RawInput, Rect, pos2, vec2};

use crate::args::{Limit, Options};
use crate::canvas::Canvas;
use crate::headless::{Verdict, yes};
use crate::png;
use crate::viewer::{Frame, Viewer};
use crate::{EXIT_OK, Scenario, Show};

/// The size of a picture: that of a new window.
pub const SIZE: (u32, u32) = (1_280, 720);
/// Time between two frames, as the world sees it.
const FRAME: Duration = Duration::from_millis(33);
/// The tick of a screenshot, unless `--ticks` says otherwise.
const SHOT_TICK: u64 = 100;
/// Frames that are measured per size.
const BENCH_FRAMES: usize = 60;

/// A viewer with a pixel buffer in place of a window.
///
/// ```
/// use nebula_demo::args::Limit;
/// use nebula_demo::{Scenario, offscreen::Offscreen};
///
/// let mut screen = Offscreen::new(Scenario::Border.show(7), Limit::None);
/// let frame = screen.frame(Vec::new());
/// assert!(frame.reading.identical);
/// assert!(screen.pixels().iter().any(|p| *p != screen.pixels()[0]));
/// ```
#[derive(Debug)]
pub struct Offscreen {
    viewer: Viewer,
    pixels: Vec<u32>,
    time: Duration,
}

impl Offscreen {
    /// Makes a blank picture of [`SIZE`].
    #[must_use]
    pub fn new(show: Show, limit: Limit) -> Self {
        let area = u64::from(SIZE.0) * u64::from(SIZE.1);
        Self {
            viewer: Viewer::new(show, limit),
            pixels: vec![0; usize::try_from(area).expect("a picture fits memory")],
            time: Duration::ZERO,
        }
    }

    /// Paints the next frame, after these events.
    pub fn frame(&mut self, events: Vec<egui::Event>) -> Frame {
        self.time += FRAME;
        let (width, height) = (SIZE.0.into(), SIZE.1.into());
        let size = vec2(
            crate::lossy::f32_from_f64(width),
            crate::lossy::f32_from_f64(height),
        );
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), size)),
            time: Some(self.time.as_secs_f64()),
            focused: true,
            events,
            ..RawInput::default()
        };
        let mut canvas =
            Canvas::new(SIZE.0, SIZE.1, &mut self.pixels).expect("the buffer has this size");
        self.viewer.frame(input, FRAME, &mut canvas).0
    }

    /// Returns the picture, `0x00RRGGBB`.
    #[must_use]
    pub fn pixels(&self) -> &[u32] {
        &self.pixels
    }

    /// Returns the viewer, to set things without a mouse.
    pub const fn viewer_mut(&mut self) -> &mut Viewer {
        &mut self.viewer
    }

    /// Returns the viewer.
    #[must_use]
    pub const fn viewer(&self) -> &Viewer {
        &self.viewer
    }
}

/// Writes a picture of the world at the tick limit (tick 100 without one) as a PNG file.
///
/// # Errors
/// When the file cannot be written.
pub fn screenshot(options: &Options, file: &Path) -> anyhow::Result<Verdict> {
    let limit = match options.limit {
        Limit::Ticks { .. } => options.limit,
        Limit::None | Limit::Seconds(_) => Limit::Ticks {
            ticks: SHOT_TICK,
            hold: true,
        },
    };
    let mut screen = Offscreen::new(options.scenario.show(options.seed), limit);
    while !screen.frame(Vec::new()).reached_limit {}
    // The panel shows the figures of the frame before, so it takes one more to show the last ones.
    screen.frame(Vec::new());
    let bytes = png::encode(SIZE.0, SIZE.1, screen.pixels()).context("the picture is empty")?;
    std::fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(screen.viewer.verdict())
}

/// Writes a picture of every scenario into a folder, which is made if need be, and a line for each;
/// returns the exit status.
///
/// # Errors
/// When the folder, a picture or a line cannot be written.
pub fn shots(options: &Options, folder: &Path, out: &mut dyn Write) -> anyhow::Result<u8> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut status = EXIT_OK;
    for &scenario in Scenario::ALL {
        let file = folder.join(format!("{}.png", scenario.name()));
        let options = Options {
            scenario,
            ..options.clone()
        };
        let verdict = screenshot(&options, &file)?;
        writeln!(
            out,
            "{}: tick {}, identical: {}, clients equal the truth: {}",
            file.display(),
            verdict.ticks,
            yes(verdict.identical),
            yes(verdict.settled.is_some())
        )?;
        status = status.max(verdict.exit_status());
    }
    Ok(status)
}

/// Measures frames at 1,000, 10,000 and 100,000 entities and writes a line for each.
///
/// # Errors
/// When a line cannot be written.
pub fn bench_frames(out: &mut dyn Write) -> anyhow::Result<()> {
    let (width, height) = SIZE;
    writeln!(
        out,
        "{width} x {height}, best and median of {BENCH_FRAMES} frames, CPU time"
    )?;
    for entities in [1_000, 10_000, 100_000] {
        let mut show = Scenario::Counter.show(1);
        show.world_mut().set_entities(entities);
        let mut screen = Offscreen::new(show, Limit::None);
        screen.frame(Vec::new());
        let running = measure(&mut screen);
        screen.frame(vec![space()]); // Pauses: what is left is drawing and counting.
        let paused = measure(&mut screen);
        writeln!(
            out,
            "{entities:>7} entities: drawn in {:.1} / {:.1} ms, with movement {:.1} / {:.1} ms",
            paused.0, paused.1, running.0, running.1
        )?;
    }
    Ok(())
}

fn space() -> egui::Event {
    egui::Event::Key {
        key: egui::Key::Space,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: egui::Modifiers::NONE,
    }
}

/// The best and the median frame, in milliseconds.
fn measure(screen: &mut Offscreen) -> (f64, f64) {
    let mut times: Vec<_> = (0..BENCH_FRAMES)
        .map(|_| {
            let start = ProcessTime::now();
            screen.frame(Vec::new());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    (ms(times[0]), ms(times[BENCH_FRAMES / 2]))
}
