//! Messages both ways: each channel keeps its promise.

use std::collections::HashSet;

use nebula_multiplayer::ClientId;
use nebula_multiplayer::client::Client;
use nebula_multiplayer::server::Server;

use super::world::{Line, Ping, Steer};

/// A message of any of the channels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Said {
    Line(u32),
    Ping(u32),
    Steer(u32),
}

/// Takes what clients said to a server, in order within each channel.
pub(crate) fn said_to_server(server: &mut Server) -> Vec<(ClientId, Said)> {
    let lines = server
        .messages::<Line>()
        .map(|(id, m)| (id, Said::Line(m.0)));
    let mut all: Vec<_> = lines.collect();
    all.extend(
        server
            .messages::<Ping>()
            .map(|(id, m)| (id, Said::Ping(m.0))),
    );
    all.extend(
        server
            .messages::<Steer>()
            .map(|(id, m)| (id, Said::Steer(m.0))),
    );
    all
}

/// What one side sent to the other, and what arrived of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channels {
    lines: u32,
    pings: u32,
    steers: u32,
    /// What was said before the session that stands: lines, pings and steers.
    session_from: [u32; 3],
    last_line: u32,
    last_steer: u32,
    heard: HashSet<u32>,
}

impl Channels {
    /// A session began anew: what was under way is lost.
    pub(crate) fn restart(&mut self) {
        self.session_from = [self.lines, self.pings, self.steers];
    }

    /// Lets a server say something, for three values of `what`.
    pub(crate) fn say_to_client(&mut self, what: u64, server: &mut Server, client: ClientId) {
        match what {
            0 => self.lines += u32::from(server.send(client, &Line(self.lines + 1)).is_ok()),
            1 => self.pings += u32::from(server.send(client, &Ping(self.pings + 1)).is_ok()),
            2 => self.steers += u32::from(server.send(client, &Steer(self.steers + 1)).is_ok()),
            _ => {}
        }
    }

    /// Lets a client say something, for three other values of `what`.
    pub(crate) fn say_to_server(&mut self, what: u64, client: &mut Client) {
        match what {
            3 => self.lines += u32::from(client.send(&Line(self.lines + 1)).is_ok()),
            4 => self.pings += u32::from(client.send(&Ping(self.pings + 1)).is_ok()),
            5 => self.steers += u32::from(client.send(&Steer(self.steers + 1)).is_ok()),
            _ => {}
        }
    }

    /// Takes what a server said to a client.
    pub(crate) fn hear_client(&mut self, client: &mut Client) -> Result<(), String> {
        let mut said: Vec<_> = client.messages::<Line>().map(|m| Said::Line(m.0)).collect();
        said.extend(client.messages::<Ping>().map(|m| Said::Ping(m.0)));
        said.extend(client.messages::<Steer>().map(|m| Said::Steer(m.0)));
        said.into_iter().try_for_each(|said| self.hear(said))
    }

    /// Takes a message.
    pub(crate) fn hear(&mut self, said: Said) -> Result<(), String> {
        match said {
            Said::Line(number) => self.line(number),
            Said::Ping(number) => self.ping(number),
            Said::Steer(number) => self.steer(number),
        }
    }

    /// Takes an ordered message: each comes once, in order, without a gap within a session.
    fn line(&mut self, number: u32) -> Result<(), String> {
        let next = self.last_line + 1;
        let [from, ..] = self.session_from;
        if number == next || (number > next && next <= from) {
            self.last_line = number;
            return Ok(());
        }
        Err(format!(
            "ordered message {number} came after {}",
            self.last_line
        ))
    }

    /// Takes an unordered message: each comes once.
    fn ping(&mut self, number: u32) -> Result<(), String> {
        if self.heard.insert(number) {
            return Ok(());
        }
        Err(format!("unordered message {number} came twice"))
    }

    /// Takes a message of which the newest counts: none comes after a newer one.
    fn steer(&mut self, number: u32) -> Result<(), String> {
        if number > self.last_steer {
            self.last_steer = number;
            return Ok(());
        }
        Err(format!(
            "message {number} came after the newer {}",
            self.last_steer
        ))
    }

    /// Returns what should have arrived and did not: every ordered and unordered message of the session
    /// that stands, and the newest of those of which that alone counts.
    pub(crate) fn missing(&self) -> Option<String> {
        let [lines, pings, steers] = self.session_from;
        if self.last_line < self.lines && self.lines > lines {
            return Some(format!("ordered message {} is missing", self.last_line + 1));
        }
        if self.last_steer < self.steers && self.steers > steers {
            return Some(format!("the newest message, {}, is missing", self.steers));
        }
        let ping = (pings + 1..=self.pings).find(|ping| !self.heard.contains(ping));
        ping.map(|ping| format!("unordered message {ping} is missing"))
    }
}
