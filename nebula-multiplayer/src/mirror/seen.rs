//! One slot as the client knows it.

use core::fmt;
use std::collections::VecDeque;

use bevy_ecs::entity::Entity;
use nebula_math::WorldPosition;

use crate::Tick;
use crate::replication::Staged;
use crate::replication::position::Cell;

/// Positions of the past that steps may start from.
const PAST: usize = 17;

/// Where a slot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Parts have come, others are missing.
    Pending,
    /// All of it is here.
    Live,
    /// It left; what it was is kept for a while.
    Kept,
}

/// A component of one kind.
#[derive(Default)]
pub(super) struct Value {
    pub(super) tick: Tick,
    /// `None`: removed.
    pub(super) bytes: Option<Vec<u8>>,
    /// Slots plus one of the entities it refers to.
    pub(super) references: Vec<u32>,
    /// Decoded and not yet applied.
    pub(super) staged: Option<Box<dyn Staged>>,
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Value")
            .field("tick", &self.tick)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// A large component that arrives in fragments.
#[derive(Debug)]
pub(super) struct Assembly {
    pub(super) kind: usize,
    pub(super) version: Tick,
    pub(super) bytes: Vec<u8>,
    pub(super) got: Vec<bool>,
}

/// One slot.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) phase: Phase,
    /// It left, and nothing is remembered but when.
    pub(super) hollow: bool,
    pub(super) generation: u8,
    /// The first packet of this appearance, or the leave.
    pub(super) since: Tick,
    /// Of what is kept: its leave. That may be said again later.
    pub(super) left: Tick,
    pub(super) entity: Option<Entity>,
    pub(super) has: u64,
    pub(super) has_tick: Tick,
    pub(super) has_position: bool,
    pub(super) position: Option<WorldPosition>,
    /// The newest word about the position.
    pub(super) position_tick: Option<Tick>,
    pub(super) cell: Option<(Tick, Cell)>,
    pub(super) past: VecDeque<(Tick, WorldPosition)>,
    /// By number of the kind, from 1.
    pub(super) values: Vec<Option<Value>>,
    pub(super) assemblies: Vec<Assembly>,
    /// Bits of the kinds to apply.
    pub(super) changed: u64,
    /// Bits of the kinds that count in the view hash.
    pub(super) counted: u64,
    /// Ticks by kind, as they count in the view hash.
    pub(super) versions: Vec<Tick>,
}

impl Seen {
    pub(super) fn new(kinds: usize, generation: u8, tick: Tick) -> Self {
        let mut values = Vec::new();
        values.resize_with(kinds.saturating_sub(1), || None);
        Self {
            phase: Phase::Pending,
            hollow: false,
            generation,
            since: tick,
            left: tick,
            entity: None,
            has: 0,
            has_tick: tick,
            has_position: false,
            position: None,
            position_tick: None,
            cell: None,
            past: VecDeque::new(),
            values,
            assemblies: Vec::new(),
            changed: 0,
            counted: 0,
            versions: vec![Tick::default(); kinds],
        }
    }

    /// Returns a slot that left at `tick`, of which nothing is remembered.
    pub(super) fn hollow(tick: Tick) -> Self {
        let mut seen = Self::new(0, 0, tick);
        seen.phase = Phase::Kept;
        seen.hollow = true;
        seen
    }

    pub(super) fn value(&self, kind: usize) -> Option<&Value> {
        self.values.get(kind.checked_sub(1)?)?.as_ref()
    }

    /// Returns the bytes that the components take.
    pub(super) fn bytes(&self) -> usize {
        let values = self.values.iter().flatten();
        let kept = values.map(|value| value.bytes.as_ref().map_or(0, Vec::len));
        let parts = self.assemblies.iter().map(|part| part.bytes.len());
        kept.chain(parts).fold(0, usize::saturating_add)
    }

    /// Notes a position of a packet. An older one is remembered for steps and otherwise ignored.
    pub(super) fn set_position(&mut self, tick: Tick, at: WorldPosition) -> bool {
        if !self.past.iter().any(|(then, _)| *then == tick) {
            if self.past.len() >= PAST {
                // The oldest goes, wherever a reordered packet put it.
                let oldest = (0..self.past.len()).max_by_key(|place| {
                    let then = self.past.get(*place).map(|(then, _)| *then);
                    then.map_or(0, |then| tick.since(then).wrapping_add(1 << 16))
                });
                self.past.remove(oldest.unwrap_or(0));
            }
            self.past.push_back((tick, at));
        }
        if self
            .position_tick
            .is_some_and(|newest| newest.is_newer_than(tick))
        {
            return false;
        }
        self.position = Some(at);
        self.position_tick = Some(tick);
        self.changed |= 1;
        true
    }

    /// Returns where it was in the packet of a tick.
    pub(super) fn past(&self, tick: Tick) -> Option<WorldPosition> {
        let found = self.past.iter().rev().find(|(then, _)| *then == tick);
        found.map(|(_, at)| *at)
    }

    /// Whether everything that it has is here, streams aside.
    pub(super) fn is_complete(&self, streams: u64) -> bool {
        let kinds = crate::replication::record::bits(self.has & !streams);
        (!self.has_position || self.position.is_some())
            && kinds
                .into_iter()
                .all(|kind| self.value(kind).is_some_and(|value| value.bytes.is_some()))
    }
}
