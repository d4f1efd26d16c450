//! A live client whose bytes a test makes by hand, beside a witness.

use core::time::Duration;

use nebula_multiplayer::Disconnect;
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::session::Header;

use super::bytes::{datagram, messages, small};
use super::{MAX, Pair};

/// A live client whose bytes the test makes by hand. It never reads and never acknowledges by itself.
pub(crate) struct Raw {
    pub(crate) pair: Pair,
    pub(crate) sequence: u16,
}

impl Raw {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        Self::over(Pair::watched_with(limits))
    }

    /// Makes the hostile client of a pair a raw one.
    pub(crate) fn over(mut pair: Pair) -> Self {
        let hello = pair.hello_bytes();
        pair.stream(&hello).unwrap();
        assert!(pair.server.is_connected(pair.id));
        Self { pair, sequence: 0 }
    }

    pub(crate) fn send(&mut self, header: Header, rest: &[u8]) -> Result<(), Disconnect> {
        self.sequence = self.sequence.wrapping_add(1);
        self.pair.datagram(&datagram(self.sequence, header, rest))
    }

    /// Sends one small message.
    pub(crate) fn send_message(
        &mut self,
        kind: u32,
        id: u16,
        payload: &[u8],
    ) -> Result<(), Disconnect> {
        self.send(messages(), &small(kind, id, payload))
    }

    /// One server tick; returns how many bytes went to the client.
    pub(crate) fn tick(&mut self) -> usize {
        self.pair.now += Duration::from_millis(50);
        self.pair.tick();
        let mut bytes = Vec::new();
        while self.pair.server.transmit(self.pair.id, MAX, &mut bytes) {}
        while self
            .pair
            .server
            .transmit_stream(self.pair.id, MAX, &mut bytes)
        {}
        bytes.len()
    }
}
