//! A scenario in a window, to its end.

use std::io::Write;
use std::time::{Duration, Instant};

use egui::{PlatformOutput, RawInput};

use super::{Failure, Scene, Wish, show};
use crate::args::{Limit, Options};
use crate::canvas::Canvas;
use crate::display::Display;
use crate::headless::{title, yes};
use crate::viewer::Viewer;

/// Shows a scenario in a window until it is closed or a limit is reached, and returns the exit status.
///
/// # Errors
/// [`Failure::NoWindow`] when nothing was ever shown, [`Failure::Broken`] for everything later.
pub fn run(options: &Options, display: Display, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut scene = Scenario {
        viewer: Viewer::new(options.scenario.show(options.seed), options.limit),
        limit: options.limit,
        opened: None,
        out,
    };
    show(&mut scene, display)?;
    scene.log("Closed").map_err(Failure::Broken)?;
    // The clients get the time to catch up that a closed window would take from them.
    Ok(scene.viewer.verdict().exit_status())
}

struct Scenario<'a> {
    viewer: Viewer,
    limit: Limit,
    opened: Option<Instant>,
    out: &'a mut dyn Write,
}

impl Scenario<'_> {
    /// Logs both counts of the last frame.
    fn log(&mut self, what: &str) -> anyhow::Result<()> {
        let reading = &self.viewer.figures().reading;
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
}

impl Scene for Scenario<'_> {
    fn context(&self) -> &egui::Context {
        self.viewer.context()
    }

    fn frame(
        &mut self,
        input: RawInput,
        elapsed: Duration,
        canvas: &mut Canvas<'_>,
    ) -> anyhow::Result<(Wish, PlatformOutput)> {
        let opened = *self.opened.get_or_insert_with(Instant::now);
        let (frame, platform) = self.viewer.frame(input, elapsed, canvas);
        let late = matches!(self.limit, Limit::Seconds(n) if opened.elapsed().as_secs() >= n);
        let hold = matches!(self.limit, Limit::Ticks { hold: true, .. });
        if frame.reached_limit && hold {
            self.log("Holding")?;
        }
        let wish = Wish {
            title: title(frame.reading.index),
            at_once: frame.reached_limit,
            close: frame.quit || late || (frame.reached_limit && !hold),
        };
        Ok((wish, platform))
    }
}
