//! Messages on the stream: kept until confirmed, so that a resume loses none.

use std::collections::VecDeque;

use super::{SendError, low16, widen};

/// Both directions of the stream lane.
#[derive(Debug)]
pub(crate) struct Ordered {
    /// Frames that the peer has not confirmed; those before `written` went into the stream.
    frames: VecDeque<Vec<u8>>,
    /// Number of the first of them.
    first: u64,
    written: usize,
    bytes: usize,
    max_bytes: usize,
    max_frame: usize,
    /// Handshake bytes and the frame being written, from `at` on.
    pending: Vec<u8>,
    at: usize,
    arrived: u32,
    /// Whether messages may flow: the handshake is over.
    open: bool,
}

impl Ordered {
    pub(super) const fn new(max_bytes: usize, max_frame: usize) -> Self {
        Self {
            frames: VecDeque::new(),
            first: 0,
            written: 0,
            bytes: 0,
            max_bytes,
            max_frame,
            pending: Vec::new(),
            at: 0,
            arrived: 0,
            open: false,
        }
    }

    /// Takes a message, if its frame and the queue have room for it.
    pub(super) fn queue(
        &mut self,
        len: usize,
        frame: impl FnOnce() -> Vec<u8>,
    ) -> Result<(), SendError> {
        // A frame's kind and the number of the message take up to six bytes.
        let max = self.max_frame.saturating_sub(6);
        if len > max {
            return Err(SendError::TooLong { len, max });
        }
        if self.bytes.saturating_add(len) > self.max_bytes {
            return Err(SendError::Full);
        }
        let frame = frame();
        self.bytes = self.bytes.saturating_add(frame.len());
        self.frames.push_back(frame);
        Ok(())
    }

    /// Writes control bytes ahead of all messages that are not in the stream yet.
    pub(crate) fn control(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.pending);
    }

    /// Lets messages follow the handshake.
    pub(crate) const fn open(&mut self) {
        self.open = true;
    }

    /// Drops what was meant for a stream that is gone; messages stay for the next.
    pub(crate) fn silence(&mut self) {
        self.pending = Vec::new();
        self.at = 0;
        self.written = 0;
        self.open = false;
    }

    /// Stops messages, as when the peer is being thrown out.
    pub(crate) const fn close(&mut self) {
        self.open = false;
    }

    /// Returns whether bytes wait for the stream.
    pub(crate) fn has_output(&self) -> bool {
        self.at < self.pending.len() || (self.open && self.written < self.frames.len())
    }

    /// Appends up to `max` bytes of the stream, in which at most `messages` begin; returns how many bytes,
    /// and how many messages began.
    pub(crate) fn write(&mut self, max: usize, messages: u64, out: &mut Vec<u8>) -> (usize, u64) {
        let start = out.len();
        let (mut room, mut begun) = (max, 0_u64);
        while room > 0 && self.has_output() {
            if self.at >= self.pending.len() {
                if begun >= messages {
                    break;
                }
                begun = begun.saturating_add(1);
                self.pending.clear();
                self.at = 0;
                if let Some(frame) = self.frames.get(self.written) {
                    self.pending.extend_from_slice(frame);
                }
                self.written = self.written.saturating_add(1);
            }
            let rest = self.pending.get(self.at..).unwrap_or_default();
            let count = rest.len().min(room);
            out.extend(rest.iter().take(count));
            self.at = self.at.saturating_add(count);
            room = room.saturating_sub(count);
        }
        if self.at >= self.pending.len() {
            self.pending = Vec::new();
            self.at = 0;
        }
        (out.len().saturating_sub(start), begun)
    }

    /// Takes the peer's count of messages that arrived there; more than were written are not believed.
    pub(super) fn confirmed(&mut self, count: u16) {
        let written = u64::try_from(self.written).unwrap_or(u64::MAX);
        let count = widen(count, self.first);
        if count <= self.first.saturating_add(written) {
            self.drop_below(count);
        }
    }

    fn drop_below(&mut self, count: u64) {
        while self.first < count {
            let Some(frame) = self.frames.pop_front() else {
                break;
            };
            self.bytes = self.bytes.saturating_sub(frame.len());
            self.first = self.first.saturating_add(1);
            self.written = self.written.saturating_sub(1);
        }
    }

    /// Begins anew on another stream, after the peer said how many messages it has.
    pub(super) fn restart(&mut self, count: u32) {
        // After a loss of the link nothing counts as written, and yet may have arrived.
        self.written = self.frames.len();
        self.confirmed(low16(count.into()));
        self.silence();
    }

    /// Notes that a message arrived.
    pub(super) const fn arrive(&mut self) {
        self.arrived = self.arrived.wrapping_add(1);
    }

    /// Returns how many messages arrived since the session began.
    pub(crate) const fn arrived(&self) -> u32 {
        self.arrived
    }
}
