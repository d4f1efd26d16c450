//! A loop on a thread of its own, and a window in front of it.

use std::io::{self, LineWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use nebula_multiplayer::transport::quic::Stop;

use super::window::{Side, Window};
use crate::app::{self, Failure};
use crate::display;

/// What passes between a loop and its window: `V` from the loop to the window, `W` back.
#[derive(Default)]
pub(super) struct Stage<V, W> {
    view: Mutex<V>,
    wish: Mutex<W>,
    /// Whether anyone looks: a loop in a terminal has nothing to draw.
    watched: AtomicBool,
    pub(super) stop: Stop,
}

impl<V: Clone + Send, W: Clone + Send> Stage<V, W> {
    /// Lets the loop change what is shown, if there is a window.
    pub(super) fn show(&self, change: impl FnOnce(&mut V)) {
        if self.watched.load(Ordering::Relaxed) {
            change(&mut self.view.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Returns what there is to show.
    pub(super) fn look(&self) -> V {
        let view = self.view.lock();
        view.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells the loop what the window's user wants.
    pub(super) fn ask(&self, wish: W) {
        *self.wish.lock().unwrap_or_else(PoisonError::into_inner) = wish;
    }

    /// Returns what the window's user wants.
    pub(super) fn asked(&self) -> W {
        let wish = self.wish.lock();
        wish.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs a loop with a window in front of it, or in the terminal: when `headless` says so, and,
    /// after one sentence, when there can be no window.
    pub(super) fn run(
        &self,
        name: &str,
        headless: bool,
        work: impl FnOnce(&mut dyn Write) -> Result<()> + Send,
        side: &mut dyn Side,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<()> {
        if headless {
            return work(out);
        }
        let display = match display::find(|name| std::env::var_os(name)) {
            Ok(display) => display,
            Err(reason) => {
                say_no_window(name, &reason, err)?;
                return work(out);
            }
        };
        self.watched.store(true, Ordering::Relaxed);
        std::thread::scope(|scope| {
            let (sender, lines) = mpsc::channel();
            let worker = scope.spawn(move || work(&mut LineWriter::new(Lines(sender))));
            let shown = self.in_front(name, display, lines, side, out, err);
            self.stop.stop();
            let ended = worker.join();
            shown.and(ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    /// Shows the window until it is closed, and passes on what the loop prints until it ends.
    fn in_front(
        &self,
        name: &str,
        display: display::Display,
        lines: Receiver<Vec<u8>>,
        side: &mut dyn Side,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<()> {
        // A loop that cannot even start gets no window: its error says why.
        let Ok(first) = lines.recv() else {
            return Ok(());
        };
        pass_on(&first, out)?;
        let mut window = Window::new(side, &lines, out);
        match app::show(&mut window, display) {
            Ok(()) => self.stop.stop(),
            Err(Failure::Broken(error)) => return Err(error),
            Err(Failure::NoWindow(reason)) => {
                self.watched.store(false, Ordering::Relaxed);
                say_no_window(name, &reason, err)?;
            }
        }
        for bytes in lines {
            pass_on(&bytes, out)?;
        }
        Ok(())
    }
}

fn say_no_window(name: &str, reason: &str, err: &mut dyn Write) -> io::Result<()> {
    writeln!(
        err,
        "No window: {reason}. The {name} runs here in the terminal."
    )
}

/// Writes at once, so that nobody waits for a line.
pub(super) fn pass_on(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(bytes)?;
    out.flush()
}

/// Carries what a loop prints to the thread that owns the output.
struct Lines(Sender<Vec<u8>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.send(bytes.to_vec()) {
            Ok(()) => Ok(bytes.len()),
            Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
