//! Messages of which only the newest counts.

use super::history::Item;
use super::low16;
use super::small::{SmallMessage, Writer};
use crate::wire::DecodeError;

/// The newest message of each kind.
#[derive(Debug)]
pub(super) struct LatestOut {
    kinds: Vec<Option<Newest>>,
    unsent: usize,
}

#[derive(Debug)]
struct Newest {
    number: u64,
    payload: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unsent,
    UnderWay,
    Arrived,
}

impl LatestOut {
    pub(super) fn new(kinds: usize) -> Self {
        Self {
            kinds: core::iter::repeat_with(|| None).take(kinds).collect(),
            unsent: 0,
        }
    }

    pub(super) const fn wants_to_send(&self) -> bool {
        self.unsent > 0
    }

    pub(super) fn set(&mut self, kind: usize, payload: Vec<u8>) {
        let Some(slot) = self.kinds.get_mut(kind) else {
            return;
        };
        let number = slot.as_ref().map_or(0, |old| old.number.saturating_add(1));
        if slot.as_ref().is_none_or(|old| old.state != State::Unsent) {
            self.unsent = self.unsent.saturating_add(1);
        }
        *slot = Some(Newest {
            number,
            payload,
            state: State::Unsent,
        });
    }

    pub(super) fn write(&mut self, writer: &mut Writer<'_>, items: &mut Vec<Item>) {
        if self.unsent == 0 {
            return;
        }
        for (kind, slot) in self.kinds.iter_mut().enumerate() {
            let Some(newest) = slot.as_mut().filter(|newest| newest.state == State::Unsent) else {
                continue;
            };
            let number = u32::try_from(kind).unwrap_or(u32::MAX);
            let message = SmallMessage {
                kind: number,
                id: low16(newest.number),
                payload: &newest.payload,
            };
            if writer.put(&message) {
                newest.state = State::UnderWay;
                self.unsent = self.unsent.saturating_sub(1);
                items.push(Item::Latest {
                    kind,
                    number: newest.number,
                });
            }
        }
    }

    pub(super) fn acked(&mut self, kind: usize, number: u64) {
        if let Some(newest) = self.current(kind, number) {
            // The number stays, so that the next one follows it; the bytes need not.
            newest.payload = Vec::new();
            newest.state = State::Arrived;
        }
    }

    pub(super) fn lost(&mut self, kind: usize, number: u64) {
        if let Some(newest) = self.current(kind, number) {
            newest.state = State::Unsent;
            self.unsent = self.unsent.saturating_add(1);
        }
    }

    /// Returns the newest of a kind if it is this one, and under way.
    fn current(&mut self, kind: usize, number: u64) -> Option<&mut Newest> {
        let newest = self.kinds.get_mut(kind)?.as_mut()?;
        (newest.number == number && newest.state == State::UnderWay).then_some(newest)
    }
}

/// The newest number of each kind that arrived.
#[derive(Debug)]
pub(super) struct LatestIn {
    kinds: Vec<Arrived>,
    /// Datagrams with messages so far.
    datagrams: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    newest: Option<u16>,
    /// The datagram that had the last one, newest or not.
    datagram: u64,
}

impl LatestIn {
    pub(super) fn new(kinds: usize) -> Self {
        Self {
            kinds: vec![Arrived::default(); kinds],
            datagrams: 0,
        }
    }

    /// Notes that the messages of another datagram follow.
    pub(super) const fn begin_datagram(&mut self) {
        self.datagrams = self.datagrams.saturating_add(1);
    }

    /// Notes a number; returns whether it is newer than all before.
    ///
    /// A datagram has one of a kind: [`LatestOut`] holds no more. So the rate of datagrams bounds
    /// that of messages.
    pub(super) fn note(&mut self, kind: usize, id: u16) -> Result<bool, DecodeError> {
        let Some(slot) = self.kinds.get_mut(kind) else {
            return Ok(false);
        };
        if core::mem::replace(&mut slot.datagram, self.datagrams) == self.datagrams {
            return Err(DecodeError::NotAllowed(
                "two messages of a latest-wins kind in a datagram",
            ));
        }
        let ahead = slot.newest.map_or(1, |last| id.wrapping_sub(last));
        let newer = ahead != 0 && ahead < 1 << 15;
        if newer {
            slot.newest = Some(id);
        }
        Ok(newer)
    }
}
