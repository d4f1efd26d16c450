//! Bytes to the server.

use super::{Client, State};
use crate::limits::MAX_HEADER;
use crate::session::{Header, MAX_REQUESTS};

/// How long an answer is awaited before full state is asked for again.
const ASK_AGAIN: core::time::Duration = core::time::Duration::from_millis(200);

/// The most bytes that the number of a slot takes.
const SLOT_BYTES: usize = 3;

impl Client {
    /// Appends one datagram of at most `max` bytes; returns whether there was one. Call until
    /// `false`, once or more per frame: acknowledgements go this way.
    pub fn transmit(&mut self, max: usize, out: &mut Vec<u8>) -> bool {
        if !matches!(self.state, State::Live) {
            return false;
        }
        let limits = &self.settings.limits;
        // The server bears no more in a second, so a datagram can have no more.
        let most = usize::try_from(limits.bytes_in_per_second).unwrap_or(usize::MAX);
        let room = max.min(limits.datagram_bytes).min(most);
        let requests = self.requests(room);
        let asks = requests.is_some();
        if room < MAX_HEADER || !(asks || self.session.wants_to_send(self.now)) {
            return false;
        }
        // No faster than the server listens.
        self.datagrams.refill(self.now);
        self.bytes.refill(self.now);
        if self.datagrams.available() == 0 || self.affordable() < room {
            return false;
        }
        let start = out.len();
        let due = self.hashed.is_none_or(|last| {
            self.now.saturating_sub(last) >= self.settings.limits.view_hash_every
        });
        let view_hash = due.then(|| self.mirror.view_hash());
        let header = Header {
            view_hash,
            ..Header::default()
        };
        self.pace.refill(self.now);
        let most = self.pace.available();
        let draft = self
            .session
            .begin(header, requests.as_deref(), room, most, self.now, out);
        let messages = draft.unordered();
        if !self.session.end(draft, false, due || asks, self.now, out) {
            return false;
        }
        self.datagrams.take(1);
        self.pace.take(messages);
        self.pay(out.len().saturating_sub(start));
        if due {
            self.hashed = Some(self.now);
        }
        if asks {
            self.asked = Some(self.now);
        }
        self.outcome.clear();
        self.session.trim(&mut self.outcome);
        true
    }

    /// Returns the slots whose full state is to be asked for now, if any: as many as fit behind a header.
    fn requests(&self, room: usize) -> Option<Vec<u32>> {
        let waited = |last| self.now.saturating_sub(last) >= ASK_AGAIN;
        if !self.asked.is_none_or(waited) {
            return None;
        }
        let fit = room.saturating_sub(MAX_HEADER).checked_div(SLOT_BYTES);
        let most = fit.unwrap_or(0).min(MAX_REQUESTS);
        let slots: Vec<u32> = self.mirror.needs_full().take(most).collect();
        (!slots.is_empty()).then_some(slots)
    }

    /// Appends up to `max` bytes of the stream; returns whether there were any.
    pub fn transmit_stream(&mut self, max: usize, out: &mut Vec<u8>) -> bool {
        // After a disconnect, the goodbye still goes out.
        if matches!(self.state, State::Lost) {
            return false;
        }
        self.bytes.refill(self.now);
        self.pace.refill(self.now);
        let (max, most) = (max.min(self.affordable()), self.pace.available());
        let (len, messages) = self.session.ordered.write(max, most, out);
        self.pace.take(messages);
        self.pay(len);
        len > 0
    }

    /// Returns how many bytes the server listens to now.
    fn affordable(&self) -> usize {
        usize::try_from(self.bytes.available()).unwrap_or(usize::MAX)
    }

    fn pay(&mut self, len: usize) {
        self.bytes.take(u64::try_from(len).unwrap_or(u64::MAX));
    }
}
