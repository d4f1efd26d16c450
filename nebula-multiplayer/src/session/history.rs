//! Packets under way: what each carried, until it is acknowledged or given up.

use core::time::Duration;
use std::collections::VecDeque;

/// Newer acknowledged packets after which one is given up.
const OVERTAKEN: u8 = 3;

/// Packets that were given up and are remembered, should they have been late only.
const REMEMBERED: usize = 64;

/// Packets whose fate became known, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) acked: Vec<u64>,
    pub(crate) lost: Vec<u64>,
}

impl Outcome {
    pub(crate) fn clear(&mut self) {
        self.acked.clear();
        self.lost.clear();
    }
}

/// Something in a packet that must be told when the packet's fate is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Unordered(u64),
    Latest { kind: usize, number: u64 },
    Echo(u32),
    Confirm(u32),
}

/// One packet under way.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) packet: u64,
    pub(super) at: Duration,
    /// Whether the peer owes an acknowledgement for it.
    pub(super) eliciting: bool,
    pub(super) items: Vec<Item>,
    /// Newer packets that were acknowledged already.
    pub(super) newer: u8,
}

/// Packets under way, oldest first. At most `max` stay after [`next_surplus`](Self::next_surplus).
#[derive(Debug)]
pub(super) struct History {
    sent: VecDeque<Sent>,
    max: usize,
    /// Packets that were given up because their time was over, with the time of sending, oldest first.
    given_up: VecDeque<(u64, Duration)>,
}

impl History {
    pub(super) const fn new(max: usize) -> Self {
        Self {
            sent: VecDeque::new(),
            max,
            given_up: VecDeque::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.sent.len()
    }

    pub(super) fn push(&mut self, sent: Sent) {
        self.sent.push_back(sent);
    }

    pub(super) fn any_eliciting(&self) -> bool {
        self.sent.iter().any(|sent| sent.eliciting)
    }

    /// Takes out the packets that `newest` and the bits before it acknowledge. Numbers that were
    /// never sent, or whose fate is known, find nothing.
    pub(super) fn acked(&mut self, newest: u64, before: u32, mut each: impl FnMut(&Sent)) {
        let is_acked = |packet: u64| match newest.checked_sub(packet) {
            Some(0) => true,
            Some(back @ 1..=32) => before >> back.saturating_sub(1) & 1 == 1,
            _ => false,
        };
        let from = self
            .sent
            .partition_point(|sent| sent.packet.saturating_add(32) < newest);
        let mut found = 0_usize;
        for sent in self.sent.range(from..).filter(|sent| is_acked(sent.packet)) {
            each(sent);
            found = found.saturating_add(1);
        }
        if found == 0 {
            return;
        }
        // From the newest back, so that each packet learns how many newer ones arrived.
        let mut newer = 0_u8;
        for sent in self.sent.iter_mut().rev() {
            if is_acked(sent.packet) {
                newer = newer.saturating_add(1);
            } else {
                sent.newer = sent.newer.saturating_add(newer);
            }
        }
        self.sent.retain(|sent| !is_acked(sent.packet));
    }

    /// Takes out the oldest packet that enough newer ones overtook.
    pub(super) fn next_overtaken(&mut self) -> Option<Sent> {
        // Counts only fall from old to new, so the oldest has the highest.
        self.pop_if(|sent| sent.newer >= OVERTAKEN)
    }

    /// Takes out the oldest packet if it is older than `timeout`.
    pub(super) fn next_expired(&mut self, now: Duration, timeout: Duration) -> Option<Sent> {
        self.pop_if(|sent| now.saturating_sub(sent.at) >= timeout)
    }

    /// Remembers when a packet left that was given up.
    pub(super) fn remember(&mut self, sent: &Sent) {
        if self.given_up.len() >= REMEMBERED {
            self.given_up.pop_front();
        }
        self.given_up.push_back((sent.packet, sent.at));
    }

    /// Returns when a packet left that was given up and is acknowledged after all; once.
    pub(super) fn given_up(&mut self, packet: u64) -> Option<Duration> {
        let mut all = self.given_up.iter();
        let place = all.position(|(given_up, _)| *given_up == packet)?;
        let (_, at) = self.given_up.remove(place)?;
        Some(at)
    }

    /// Takes out the oldest packet if there are too many.
    pub(super) fn next_surplus(&mut self) -> Option<Sent> {
        if self.sent.len() > self.max {
            self.sent.pop_front()
        } else {
            None
        }
    }

    /// Takes out the oldest packet.
    pub(super) fn give_up_oldest(&mut self) -> Option<Sent> {
        self.sent.pop_front()
    }

    fn pop_if(&mut self, test: impl FnOnce(&Sent) -> bool) -> Option<Sent> {
        if self.sent.front().is_some_and(test) {
            self.sent.pop_front()
        } else {
            None
        }
    }
}
