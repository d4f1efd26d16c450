//! Starting the event loop on machines where that can go wrong in several ways.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use winit::event_loop::{EventLoop, EventLoopBuilder};

use super::{App, Failure};
use crate::display::Display;

/// Runs the event loop to its end.
///
/// The window library panics when a client library such as `libxkbcommon-x11` is missing. Before the
/// first frame such a panic means "no window", in our words and without a backtrace; after it, a panic
/// is a bug and goes on.
pub(super) fn run(app: &mut App<'_>, display: Display) -> Result<(), Failure> {
    let quiet = Arc::new(AtomicBool::new(true));
    let usual = Arc::new(take_hook());
    {
        let (quiet, usual) = (Arc::clone(&quiet), Arc::clone(&usual));
        set_hook(Box::new(move |info| {
            if !quiet.load(Ordering::Relaxed) {
                usual(info);
            }
        }));
    }
    app.quiet_panics = Some(Arc::clone(&quiet));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let event_loop = build(display)?;
        event_loop
            .run_app(app)
            .map_err(|e| format!("the event loop ended ({e})"))
    }));
    quiet.store(false, Ordering::Relaxed);
    match outcome {
        Ok(Ok(())) => Ok(()),
        Ok(Err(reason)) if app.shown() => Err(Failure::Broken(anyhow::Error::msg(reason))),
        Ok(Err(reason)) => Err(Failure::NoWindow(reason)),
        Err(panic) if app.shown() => resume_unwind(panic),
        Err(panic) => Err(Failure::NoWindow(first_line(&*panic))),
    }
}

fn build(display: Display) -> Result<EventLoop<()>, String> {
    let mut builder = EventLoop::builder();
    choose(&mut builder, display);
    builder.build().map_err(|e| {
        format!(
            "the display cannot be reached ({})",
            last_part(&e.to_string())
        )
    })
}

#[cfg(target_os = "linux")]
fn choose(builder: &mut EventLoopBuilder<()>, display: Display) {
    use winit::platform::wayland::EventLoopBuilderExtWayland;
    use winit::platform::x11::EventLoopBuilderExtX11;

    match display {
        Display::Wayland => {
            builder.with_wayland();
        }
        Display::X11 => {
            builder.with_x11();
        }
        Display::Native => {}
    }
}

#[cfg(not(target_os = "linux"))]
fn choose(_: &mut EventLoopBuilder<()>, _: Display) {}

/// What a panic said, in one line.
fn first_line(panic: &(dyn core::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown reason");
    format!("the window library gave up ({})", one_line(text))
}

fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// What an error says in the end: the library puts its own source file in front.
fn last_part(text: &str) -> String {
    one_line(text.rsplit(": ").next().unwrap_or(text))
}
