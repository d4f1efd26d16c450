//! A process that this one started: orders go in, lines come out.

use core::time::Duration;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::line::{Line, Order};

/// A process of this program, ended when dropped.
#[derive(Debug)]
pub(crate) struct Child {
    name: &'static str,
    process: std::process::Child,
    lines: Receiver<Line>,
}

impl Child {
    /// Starts this program with other words, on one core where the system lets us choose.
    pub(crate) fn start(name: &'static str, core: Option<usize>, words: &[String]) -> Result<Self> {
        let program = std::env::current_exe().context("where is this program?")?;
        let mut command = match core {
            Some(core) => {
                let mut command = Command::new("taskset");
                command.args(["-c", &core.to_string()]).arg(program);
                command
            }
            None => Command::new(program),
        };
        let mut process = command
            .arg(name)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start the {name}"))?;
        let out = process.stdout.take().context("no pipe")?;
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for text in BufReader::new(out).lines().map_while(Result::ok) {
                let Ok(line) = serde_json::from_str(&text) else {
                    eprintln!("{text}");
                    continue;
                };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            name,
            process,
            lines,
        })
    }

    pub(crate) fn order(&mut self, order: &Order) -> Result<()> {
        let pipe = self.process.stdin.as_mut().context("no pipe")?;
        let mut text = serde_json::to_string(order)?;
        text.push('\n');
        pipe.write_all(text.as_bytes())
            .with_context(|| format!("the {} listens no more", self.name))
    }

    /// Returns the first answer that `pick` takes; other lines are passed over.
    pub(crate) fn wait_for<T>(
        &mut self,
        what: &str,
        patience: Duration,
        mut pick: impl FnMut(Line) -> Option<T>,
    ) -> Result<T> {
        let start = Instant::now();
        loop {
            let left = patience.saturating_sub(start.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    if let Some(found) = pick(line) {
                        return Ok(found);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    bail!("waited {patience:?} for the {}: {what}", self.name)
                }
                Err(RecvTimeoutError::Disconnected) => {
                    bail!("the {} ended before: {what}", self.name)
                }
            }
        }
    }

    /// Returns the newest of the lines that `pick` takes, if there was one since last asked.
    pub(crate) fn latest<T>(&mut self, mut pick: impl FnMut(Line) -> Option<T>) -> Option<T> {
        self.lines.try_iter().filter_map(&mut pick).last()
    }

    /// Lets it end by itself, and waits for that.
    pub(crate) fn quit(mut self) -> Result<()> {
        self.order(&Order::Quit)?;
        let status = self.process.wait()?;
        anyhow::ensure!(status.success(), "the {} ended with {status}", self.name);
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Nothing to do where it ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
