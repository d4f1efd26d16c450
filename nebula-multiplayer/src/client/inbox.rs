//! Messages of the server that arrived and were not taken yet.

use std::collections::VecDeque;

use crate::protocol::{AnyMessage, Channel, Protocol};

/// What a waiting message counts besides its bytes: its place in the queue and its allocation.
const MESSAGE_COST: usize = 48;

/// There is no room for a message that must not be lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Full;

/// The waiting messages of one kind, in the order of arrival, each with what it counts.
#[derive(Default)]
struct Queue {
    latest: bool,
    waiting: VecDeque<(usize, AnyMessage)>,
}

/// Messages by kind.
///
/// Those of which each must arrive share a number of bytes. Those of which the newest must share
/// a number of places: of whatever has most waiting, the oldest goes.
pub(super) struct Inbox {
    kinds: Vec<Queue>,
    bytes: usize,
    max_bytes: usize,
    latest: usize,
    max_latest: usize,
    lost: u64,
}

impl Inbox {
    /// Returns an empty inbox with room for `max_bytes` of messages that must not be lost, and for
    /// `max_latest` others, or one of each kind.
    pub(super) fn new(protocol: &Protocol, max_bytes: usize, max_latest: usize) -> Self {
        let is_latest = |number| {
            let kind = protocol.message_kind(number);
            kind.is_some_and(|kind| kind.channel == Channel::Latest)
        };
        let kinds: Vec<Queue> = (0..protocol.message_kinds())
            .map(|number| Queue {
                latest: is_latest(number),
                ..Queue::default()
            })
            .collect();
        let latest_kinds = kinds.iter().filter(|queue| queue.latest).count();
        Self {
            kinds,
            bytes: 0,
            max_bytes,
            latest: 0,
            max_latest: max_latest.max(latest_kinds),
            lost: 0,
        }
    }

    /// Adds a message of `len` bytes.
    pub(super) fn push(
        &mut self,
        kind: usize,
        len: usize,
        message: AnyMessage,
    ) -> Result<(), Full> {
        let Some(queue) = self.kinds.get(kind) else {
            return Ok(());
        };
        let cost = len.saturating_add(MESSAGE_COST);
        if queue.latest {
            if self.latest >= self.max_latest {
                self.drop_oldest(kind);
            }
            self.latest = self.latest.saturating_add(1);
        } else {
            let bytes = self.bytes.saturating_add(cost);
            if bytes > self.max_bytes {
                return Err(Full);
            }
            self.bytes = bytes;
        }
        if let Some(queue) = self.kinds.get_mut(kind) {
            queue.waiting.push_back((cost, message));
        }
        Ok(())
    }

    /// Drops the oldest of the kind with most waiting; of `kind`, if no other has more. As there is
    /// a place for each kind, the newest of every kind stays until a newer one comes.
    fn drop_oldest(&mut self, kind: usize) {
        let waiting = |queue: &Queue| queue.waiting.len();
        let most = |best: usize, (number, queue): (usize, &Queue)| {
            let known = self.kinds.get(best).map_or(0, waiting);
            let longer = queue.latest && waiting(queue) > known;
            if longer { number } else { best }
        };
        let longest = self.kinds.iter().enumerate().fold(kind, most);
        let dropped = self.kinds.get_mut(longest);
        if dropped.is_some_and(|queue| queue.waiting.pop_front().is_some()) {
            self.latest = self.latest.saturating_sub(1);
            self.lost = self.lost.saturating_add(1);
        }
    }

    /// Takes all messages of one kind.
    pub(super) fn take<M: 'static>(&mut self, kind: usize) -> Vec<M> {
        let Some(queue) = self.kinds.get_mut(kind) else {
            return Vec::new();
        };
        let waiting = core::mem::take(&mut queue.waiting);
        if queue.latest {
            self.latest = self.latest.saturating_sub(waiting.len());
        } else {
            let costs = waiting.iter().map(|(cost, _)| *cost);
            let freed = costs.fold(0, usize::saturating_add);
            self.bytes = self.bytes.saturating_sub(freed);
        }
        let messages = waiting.into_iter();
        messages
            .filter_map(|(_, message)| Some(*message.downcast().ok()?))
            .collect()
    }

    /// Returns how many messages were dropped.
    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }
}

impl core::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Inbox")
            .field("bytes", &self.bytes)
            .field("latest", &self.latest)
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}
