//! Runs the demo the way the README says, where nobody watches a screen.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::run::{cargo, run, show};

/// The README's first command.
pub(crate) const RUN_COMMAND: &str = "cargo run --release -p nebula-demo";

/// How long the demo may run once it is built. A demo that ends earlier must end well; one that
/// plays on is stopped.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many lines of the demo are shown.
const SHOWN: usize = 12;

/// Environment of a run, beyond what is inherited.
pub(crate) type Settings = [(&'static str, PathBuf)];

/// Builds and runs the demo of the checkout at `top` without a display, and looks for its title.
pub(crate) fn readme_command(top: &Path, settings: &Settings) -> Result<()> {
    let mut build = cargo("build --release -p nebula-demo");
    run(build.current_dir(top).envs(settings.iter().cloned()))?;
    let mut demo = cargo(RUN_COMMAND.trim_start_matches("cargo "));
    watch_title(demo.current_dir(top).envs(settings.iter().cloned()))
}

/// Draws every scenario into a folder, without a window.
pub(crate) fn shots(folder: &str) -> Result<()> {
    // The path is the user's, and they may stand in any folder of the checkout.
    let folder = std::env::current_dir()?.join(folder);
    let mut draw = cargo("run --release -p nebula-demo -- --shots");
    run(draw.arg(folder))
}

/// Runs a demo without a display, and fails unless it prints how many entities are near.
pub(crate) fn watch_title(command: &mut Command) -> Result<()> {
    watch(without_display(command), is_title, PATIENCE)
}

fn without_display(command: &mut Command) -> &mut Command {
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY")
}

/// Returns whether a line holds `Nearby: N entities` with a number in it.
fn is_title(line: &str) -> bool {
    line.split("Nearby: ").skip(1).any(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && rest[digits..].starts_with(" entit")
    })
}

/// Runs a program until it ends or `limit` has passed, and fails unless it showed a wanted line.
fn watch(command: &mut Command, wanted: fn(&str) -> bool, limit: Duration) -> Result<()> {
    let line = show(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{line}`"))?;
    let output = child.stdout.take().context("the output was piped")?;
    let (send, lines) = mpsc::channel();
    let reader = thread::spawn(move || {
        for text in BufReader::new(output).lines().map_while(Result::ok) {
            if send.send(text).is_err() {
                break;
            }
        }
    });
    let end = Instant::now() + limit;
    let (mut shown, mut seen) = (0, false);
    while let Ok(text) = lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
        seen |= wanted(&text);
        if shown < SHOWN {
            println!("  {text}");
            shown += 1;
        }
        if Instant::now() >= end {
            break;
        }
    }
    let status = wait_until(&mut child, end)?;
    drop(lines);
    if status.is_none() {
        child.kill().context("could not stop the program")?;
        child.wait()?;
        println!("  (still running after {limit:?}: stopped)");
    }
    if reader.join().is_err() {
        bail!("reading the output of `{line}` failed");
    }
    if let Some(status) = status {
        ensure!(status.success(), "`{line}` ended with {status}");
    }
    ensure!(seen, "`{line}` did not print the line it is known for");
    Ok(())
}

/// Waits for a program that closed its output, and returns `None` when time is up first.
fn wait_until(
    child: &mut std::process::Child,
    end: Instant,
) -> Result<Option<std::process::ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn titles_hold_a_number() {
        assert!(is_title("tick 3  Nearby: 42 entities"));
        assert!(is_title("Nearby: 1 entity"));
        assert!(!is_title("Nearby: many entities"));
        assert!(!is_title("Nearby: 42"));
    }

    #[test]
    fn a_program_that_ends_well_passes() {
        let limit = Duration::from_secs(30);
        watch(&mut shell("echo Nearby: 7 entities"), is_title, limit).expect("shows its title");
    }

    #[test]
    fn a_program_that_plays_on_is_stopped() {
        let mut endless = shell("echo Nearby: 7 entities; exec sleep 600");
        let start = Instant::now();
        watch(&mut endless, is_title, Duration::from_secs(1)).expect("shows its title");
        assert!(start.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_silent_or_failing_program_does_not_pass() {
        let limit = Duration::from_secs(30);
        assert!(watch(&mut shell("true"), is_title, limit).is_err());
        assert!(
            watch(
                &mut shell("echo Nearby: 7 entities; exit 3"),
                is_title,
                limit
            )
            .is_err()
        );
    }
}
