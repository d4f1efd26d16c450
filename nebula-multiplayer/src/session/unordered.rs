//! Messages that each arrive once, in any order.

use std::collections::VecDeque;

use super::history::Item;
use super::small::{SmallMessage, Writer};
use super::{SendError, low16, widen};
use crate::wire::DecodeError;

/// How far numbers may run ahead of the oldest one that is missing.
const WINDOW: u64 = 1_024;

/// Messages that wait for an acknowledgement, by number.
#[derive(Debug)]
pub(super) struct UnorderedOut {
    /// From `first` on; `None` where one was acknowledged before an older one.
    waiting: VecDeque<Option<Waiting>>,
    first: u64,
    held: usize,
    max: usize,
    unsent: usize,
}

#[derive(Debug)]
struct Waiting {
    kind: u32,
    payload: Vec<u8>,
    under_way: bool,
}

impl UnorderedOut {
    pub(super) const fn new(max: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            first: 0,
            held: 0,
            max,
            unsent: 0,
        }
    }

    pub(super) const fn wants_to_send(&self) -> bool {
        self.unsent > 0
    }

    pub(super) fn queue(&mut self, kind: usize, payload: Vec<u8>) -> Result<(), SendError> {
        let ahead = u64::try_from(self.waiting.len()).unwrap_or(u64::MAX);
        if self.held >= self.max || ahead >= WINDOW {
            return Err(SendError::Full);
        }
        let kind = u32::try_from(kind).unwrap_or(u32::MAX);
        self.waiting.push_back(Some(Waiting {
            kind,
            payload,
            under_way: false,
        }));
        self.held = self.held.saturating_add(1);
        self.unsent = self.unsent.saturating_add(1);
        Ok(())
    }

    /// Writes what was not sent yet or was lost, at most so many.
    pub(super) fn write(&mut self, most: u64, writer: &mut Writer<'_>, items: &mut Vec<Item>) {
        let mut left = most.min(u64::try_from(self.unsent).unwrap_or(u64::MAX));
        if left == 0 {
            return;
        }
        for (number, slot) in (self.first..).zip(&mut self.waiting) {
            let Some(waiting) = slot.as_mut().filter(|waiting| !waiting.under_way) else {
                continue;
            };
            let message = SmallMessage {
                kind: waiting.kind,
                id: low16(number),
                payload: &waiting.payload,
            };
            // One that does not fit lets smaller ones pass: order is not promised.
            if writer.put(&message) {
                waiting.under_way = true;
                self.unsent = self.unsent.saturating_sub(1);
                items.push(Item::Unordered(number));
                left = left.saturating_sub(1);
                if left == 0 {
                    break;
                }
            }
        }
    }

    pub(super) fn acked(&mut self, number: u64) {
        let Some(slot) = self.slot(number) else {
            return;
        };
        if let Some(waiting) = slot.take() {
            self.held = self.held.saturating_sub(1);
            if !waiting.under_way {
                self.unsent = self.unsent.saturating_sub(1);
            }
        }
        while matches!(self.waiting.front(), Some(None)) {
            self.waiting.pop_front();
            self.first = self.first.saturating_add(1);
        }
    }

    pub(super) fn lost(&mut self, number: u64) {
        let Some(Some(waiting)) = self.slot(number) else {
            return;
        };
        if core::mem::replace(&mut waiting.under_way, false) {
            self.unsent = self.unsent.saturating_add(1);
        }
    }

    fn slot(&mut self, number: u64) -> Option<&mut Option<Waiting>> {
        let index = number.checked_sub(self.first)?;
        self.waiting.get_mut(usize::try_from(index).ok()?)
    }
}

/// Numbers that arrived: all below `first`, and the bits from there on.
#[derive(Debug, Default)]
pub(super) struct UnorderedIn {
    first: u64,
    arrived: VecDeque<bool>,
}

impl UnorderedIn {
    /// Notes a number; returns whether it is new.
    pub(super) fn note(&mut self, id: u16) -> Result<bool, DecodeError> {
        let number = widen(id, self.first);
        let Some(ahead) = number.checked_sub(self.first) else {
            return Ok(false);
        };
        if ahead >= WINDOW {
            return Err(DecodeError::NotAllowed("a message number far ahead"));
        }
        let index = usize::try_from(ahead).unwrap_or(usize::MAX);
        if self.arrived.len() <= index {
            self.arrived.resize(index.saturating_add(1), false);
        }
        let Some(bit) = self.arrived.get_mut(index) else {
            return Ok(false);
        };
        let fresh = !core::mem::replace(bit, true);
        while self.arrived.front() == Some(&true) {
            self.arrived.pop_front();
            self.first = self.first.saturating_add(1);
        }
        Ok(fresh)
    }
}
