//! Is there a display to open a window on?

use std::ffi::OsString;
use std::path::PathBuf;

/// Which window system to talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// A Wayland compositor that answers.
    Wayland,
    /// An X server, as `DISPLAY` says.
    X11,
    /// Windows, macOS and others always have one.
    Native,
}

/// Finds the display from environment variables, or says in words why there is none.
///
/// A set `WAYLAND_DISPLAY` may be left over from a compositor that is gone. The window library makes
/// one event loop per process and so cannot try X11 afterwards: we try the socket first.
///
/// # Errors
/// With the reason, when no display can be there.
///
/// ```
/// use nebula_demo::display::{Display, find};
///
/// # if cfg!(target_os = "linux") {
/// let dead = |name: &str| match name {
///     "WAYLAND_DISPLAY" => Some("/nonexistent/wayland-0".into()),
///     "DISPLAY" => Some(":7".into()),
///     _ => None,
/// };
/// assert_eq!(find(dead), Ok(Display::X11));
/// assert!(find(|_| None).unwrap_err().contains("DISPLAY"));
/// # }
/// ```
pub fn find(var: impl Fn(&str) -> Option<OsString>) -> Result<Display, String> {
    if !cfg!(all(
        unix,
        not(any(
            target_os = "macos",
            target_os = "ios",
            target_os = "android"
        ))
    )) {
        return Ok(Display::Native);
    }
    let set = |name: &str| var(name).filter(|value| !value.is_empty());
    let wayland = set("WAYLAND_DISPLAY");
    if set("WAYLAND_SOCKET").is_some() || wayland.as_ref().is_some_and(|name| answers(name, &set)) {
        return Ok(Display::Wayland);
    }
    if set("DISPLAY").is_some() {
        return Ok(Display::X11);
    }
    Err(match wayland {
        Some(name) => {
            format!("no compositor answers at WAYLAND_DISPLAY {name:?}, and DISPLAY is not set")
        }
        None => "neither DISPLAY nor WAYLAND_DISPLAY is set".to_owned(),
    })
}

/// Whether something listens on the compositor's socket.
#[cfg(unix)]
fn answers(name: &OsString, set: &impl Fn(&str) -> Option<OsString>) -> bool {
    let path = PathBuf::from(name);
    let path = if path.is_absolute() {
        Some(path)
    } else {
        set("XDG_RUNTIME_DIR").map(|dir| PathBuf::from(dir).join(path))
    };
    path.is_some_and(|path| std::os::unix::net::UnixStream::connect(path).is_ok())
}

#[cfg(not(unix))]
fn answers(_: &OsString, _: &impl Fn(&str) -> Option<OsString>) -> bool {
    false
}
