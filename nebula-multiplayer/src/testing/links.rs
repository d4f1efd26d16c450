//! Making, breaking and healing links.

use core::time::Duration;

use bevy_ecs::world::World;

use super::TestNet;
use crate::server::ServerEvent;
use crate::transport::sim::SimPipe;
use crate::transport::{Lane, Link, Pipe};

/// How long a link that the server closed still delivers what is under way.
const LINGER: Duration = Duration::from_secs(2);

impl TestNet {
    /// Gives a client a new link and starts its handshake; one that remembers its session asks to
    /// resume it. Returns whether the server took the link.
    pub fn reconnect(&mut self, number: usize) -> bool {
        let seed = self.random.word();
        let now = self.now;
        let who = self.clients[number].who;
        let taken = self.server.connect(who, now);
        self.take_events();
        let faults = self.faults;
        let client = &mut self.clients[number];
        if client.id.is_some() || client.closing.is_some() {
            client.id = None;
            client.hang_up(now);
        }
        self.past += *client.link.to_server.counts();
        self.past += *client.link.to_client.counts();
        client.link = Link {
            to_server: SimPipe::new(seed, faults),
            to_client: SimPipe::new(!seed, faults),
        };
        let Ok(id) = taken else { return false };
        client.id = Some(id);
        client.last = Some(id);
        self.numbers.insert(id, number);
        client.client.connect(now);
        true
    }

    /// Cuts a client's link, with all that is under way. Both ends notice at once.
    pub fn cut(&mut self, number: usize) {
        let now = self.now;
        let client = &mut self.clients[number];
        client.hang_up(now);
        if let Some(id) = client.id.take() {
            self.server.disconnect(id, now);
            self.take_events();
        }
    }

    /// Kills a client's process: its world and its memory are gone, and so is its link. The server
    /// is told only if `noticed`; otherwise it finds out by silence.
    pub fn crash(&mut self, number: usize, noticed: bool) {
        let fresh = self.fresh_client();
        let now = self.now;
        let client = &mut self.clients[number];
        client.hang_up(now);
        client.client = fresh;
        client.world = World::new();
        if noticed && let Some(id) = client.id.take() {
            self.server.disconnect(id, now);
            self.take_events();
        }
        self.clients[number].id = None;
    }

    /// Parts a client and the server for a time.
    pub fn partition(&mut self, number: usize, time: Duration) {
        let until = self.now + time;
        let link = &mut self.clients[number].link;
        link.to_server.partition(until);
        link.to_client.partition(until);
    }

    /// Holds back everything between a client and the server for a time.
    pub fn pause(&mut self, number: usize, time: Duration) {
        let until = self.now + time;
        let link = &mut self.clients[number].link;
        link.to_server.pause(until);
        link.to_client.pause(until);
    }

    /// Takes every fault from a client's link; its latency stays.
    pub fn heal(&mut self, number: usize) {
        let now = self.now;
        let link = &mut self.clients[number].link;
        link.to_server.heal(now);
        link.to_client.heal(now);
    }

    pub(super) fn deliver_to_server(&mut self) {
        for number in 0..self.clients.len() {
            let Some(id) = self.clients[number].id else {
                continue;
            };
            while let Some((lane, bytes)) = self.clients[number].link.to_server.receive(self.now) {
                let result = match lane {
                    Lane::Datagram => self.server.receive(id, &bytes, self.now),
                    Lane::Stream => self.server.receive_stream(id, &bytes, self.now),
                };
                self.take_events();
                if result.is_err() || self.clients[number].id.is_none() {
                    break;
                }
            }
        }
    }

    /// Notes what happened, and closes the links of clients that are gone.
    pub(super) fn take_events(&mut self) {
        for event in self.server.events() {
            if let ServerEvent::Disconnected { client, .. } = &event {
                let gone = self.clients.iter_mut().find(|c| c.id == Some(*client));
                if let Some(gone) = gone {
                    gone.id = None;
                    gone.closing = Some(self.now + LINGER);
                }
            }
            self.events.push(event);
        }
    }
}
