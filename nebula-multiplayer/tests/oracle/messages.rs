//! Messages both ways: each channel keeps its promise.

use std::collections::HashSet;

/// What one side sent to the other, and what arrived of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channels {
    pub(crate) lines: u32,
    pub(crate) pings: u32,
    pub(crate) steers: u32,
    /// The first line of the session that stands.
    session_from: u32,
    last_line: u32,
    last_steer: u32,
    heard: HashSet<u32>,
}

impl Channels {
    /// A session began anew: what was under way is lost.
    pub(crate) fn restart(&mut self) {
        self.session_from = self.lines;
    }

    /// Takes an ordered message: each comes once, in order, without a gap within a session.
    pub(crate) fn line(&mut self, number: u32) -> Result<(), String> {
        let next = self.last_line + 1;
        if number == next || (number > next && next <= self.session_from) {
            self.last_line = number;
            return Ok(());
        }
        Err(format!(
            "ordered message {number} came after {}",
            self.last_line
        ))
    }

    /// Takes an unordered message: each comes once.
    pub(crate) fn ping(&mut self, number: u32) -> Result<(), String> {
        if self.heard.insert(number) {
            return Ok(());
        }
        Err(format!("unordered message {number} came twice"))
    }

    /// Takes a message of which the newest counts: none comes after a newer one.
    pub(crate) fn steer(&mut self, number: u32) -> Result<(), String> {
        if number > self.last_steer {
            self.last_steer = number;
            return Ok(());
        }
        Err(format!(
            "message {number} came after the newer {}",
            self.last_steer
        ))
    }

    /// Returns what should have arrived and did not.
    pub(crate) fn missing(&self) -> Option<String> {
        (self.last_line < self.lines && self.lines > self.session_from)
            .then(|| format!("ordered message {} is missing", self.last_line + 1))
    }
}
