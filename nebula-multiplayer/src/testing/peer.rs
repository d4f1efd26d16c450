//! One client with its world and its link.

use core::time::Duration;

use bevy_ecs::world::World;

use super::{MAX_STREAM, Sent};
use crate::ClientId;
use crate::client::Client;
use crate::server::Identity;
use crate::transport::sim::{Faults, SimPipe};
use crate::transport::{Lane, Link, MAX_DATAGRAM, Pipe};

/// A client with its world and its link.
#[derive(Debug)]
pub struct TestClient {
    /// The client.
    pub client: Client,
    /// Its world, which mirrors what the server tells it.
    pub world: World,
    /// The link, which may be made better or worse at any time.
    pub link: Link<SimPipe>,
    pub(super) who: Identity,
    pub(super) id: Option<ClientId>,
    pub(super) last: Option<ClientId>,
    /// The server closed the link: what is under way still arrives, until this time.
    pub(super) closing: Option<Duration>,
}

impl TestClient {
    pub(super) fn new(client: Client, who: Identity) -> Self {
        let dead = || SimPipe::new(0, Faults::NONE);
        Self {
            client,
            world: World::new(),
            link: Link {
                to_server: dead(),
                to_client: dead(),
            },
            who,
            id: None,
            last: None,
            closing: None,
        }
    }

    /// Returns the server's name for the client while it has a link.
    #[must_use]
    pub const fn id(&self) -> Option<ClientId> {
        self.id
    }

    /// Returns the server's last name for the client, with a link or without.
    #[must_use]
    pub const fn last_id(&self) -> Option<ClientId> {
        self.last
    }

    /// Receives what has arrived, ticks, and sends.
    pub(super) fn step(
        &mut self,
        number: usize,
        now: Duration,
        buffer: &mut Vec<u8>,
        seen: &mut dyn FnMut(Sent<'_>),
    ) {
        self.receive(now);
        self.client.tick(&mut self.world, now);
        let Some(client) = self.id else { return };
        let link = &mut self.link.to_server;
        let mut pass = |lane: Lane, bytes: &[u8]| {
            let to_server = true;
            seen(Sent {
                number,
                client,
                to_server,
                lane,
                bytes,
                now,
            });
            link.send(lane, bytes, now);
        };
        buffer.clear();
        while self.client.transmit_stream(MAX_STREAM, buffer) {
            pass(Lane::Stream, buffer);
            buffer.clear();
        }
        while self.client.transmit(MAX_DATAGRAM, buffer) {
            pass(Lane::Datagram, buffer);
            buffer.clear();
        }
    }

    fn receive(&mut self, now: Duration) {
        if self.id.is_none() && self.closing.is_none() {
            return;
        }
        while let Some((lane, bytes)) = self.link.to_client.receive(now) {
            let result = match lane {
                Lane::Datagram => self.client.receive(&bytes, now),
                Lane::Stream => self.client.receive_stream(&bytes, now),
            };
            if result.is_err() {
                // A client that cannot read its server hangs up; the server notices nothing.
                self.hang_up(now);
                return;
            }
        }
        if self.closing.is_some_and(|until| now >= until) {
            self.hang_up(now);
        }
    }

    /// Ends the client's side of the link.
    pub(super) fn hang_up(&mut self, now: Duration) {
        self.link.to_client.cut();
        self.link.to_server.cut();
        self.closing = None;
        self.client.link_lost(now);
    }
}
