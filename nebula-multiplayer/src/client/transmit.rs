//! Bytes to the server.

use super::{Client, State};
use crate::limits::MAX_HEADER;
use crate::session::Header;

impl Client {
    /// Appends one datagram of at most `max` bytes; returns whether there was one. Call until
    /// `false`, once or more per frame: acknowledgements go this way.
    pub fn transmit(&mut self, max: usize, out: &mut Vec<u8>) -> bool {
        if !matches!(self.state, State::Live) {
            return false;
        }
        let room = max.min(self.settings.limits.datagram_bytes);
        let resync = self.mirror.wants_resync();
        if room < MAX_HEADER || !(resync || self.session.wants_to_send(self.now)) {
            return false;
        }
        // No faster than the server listens.
        self.datagrams.refill(self.now);
        if self.datagrams.available() == 0 {
            return false;
        }
        let due = self.hashed.is_none_or(|last| {
            self.now.saturating_sub(last) >= self.settings.limits.view_hash_every
        });
        let view_hash = due.then(|| self.mirror.view_hash());
        let header = Header {
            view_hash,
            resync,
            ..Header::default()
        };
        let draft = self.session.begin(header, room, self.now, out);
        if !self.session.end(draft, false, due || resync, self.now, out) {
            return false;
        }
        self.datagrams.take(1);
        if due {
            self.hashed = Some(self.now);
        }
        if resync {
            self.mirror.resync_sent();
        }
        self.outcome.clear();
        self.session.trim(&mut self.outcome);
        true
    }

    /// Appends up to `max` bytes of the stream; returns whether there were any.
    pub fn transmit_stream(&mut self, max: usize, out: &mut Vec<u8>) -> bool {
        // After a disconnect, the goodbye still goes out.
        if matches!(self.state, State::Lost) {
            return false;
        }
        self.session.ordered.write(max, out) > 0
    }
}
