//! One client's side of replication: which slots it has, what it knows, what is due.

use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use core::cmp::Reverse;

use super::dirty::Dirty;
use super::ids::table_index;
use super::record::{DespawnReason, MAX_SLOTS};
use super::settings::ReplicationSettings;
use super::stats::ReplicationStats;
use crate::interest::Area;
use crate::{ClientId, NetworkId, Tick};

/// Ticks between two full answers about one slot.
const FULL_TICKS: u32 = 20;

/// Where a slot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nobody's.
    Free,
    /// In view, waiting for the governor; nothing was sent yet.
    Waiting,
    /// Parts of the full state are sent until all of them are acknowledged.
    Spawning,
    /// The client has the entity; changes are sent.
    Live,
    /// Out of view; the leave is sent until it is acknowledged.
    Leaving(DespawnReason),
    /// Left and acknowledged; the client may still hold its state.
    Dormant,
}

/// How far a piece of state has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// The last packet it was in, plus one.
    pub(crate) sent: u64,
    /// The tick of the newest acknowledged packet it was in.
    pub(crate) acked: Option<Tick>,
}

/// One entity as this client knows it.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) id: NetworkId,
    pub(crate) store: u32,
    /// Counts incarnations, so that a late acknowledgement meets nobody.
    pub(crate) life: u32,
    pub(crate) phase: Phase,
    /// Bits of the kinds that are due.
    pub(crate) dirty: u64,
    /// The list of kinds, or the leave, is due.
    pub(crate) notice: bool,
    /// Since when something is due.
    pub(crate) since: Tick,
    /// Something about it was written since the slot was given out.
    pub(crate) touched: bool,
    /// The client had all of it once since the slot was given out.
    pub(crate) complete: bool,
    /// The client had all of it when the tick began, so references name it.
    pub(super) known: bool,
    /// When state of it was last sent.
    pub(crate) last_sent: Option<Tick>,
    /// When the client last got everything anew on request.
    pub(crate) full_tick: Option<Tick>,
    /// The governor's order among those that appear.
    pub(crate) order: u32,
    /// The spawn is a difference to what the client kept.
    pub(crate) kept: bool,
    /// Bits of the kinds that this client may get.
    pub(crate) allowed: u64,
    pub(crate) position: Progress,
    /// The tick of the newest acknowledged packet that named the cell.
    pub(crate) cell: Option<Tick>,
    /// The list of kinds while spawning, the leave after.
    pub(crate) notice_progress: Progress,
    /// By number of the kind, from 1.
    pub(crate) kinds: Vec<Progress>,
    /// Fragments of streams.
    pub(crate) streams: Vec<super::stream::Sending>,
    /// The newest list of kinds that was acknowledged in this life.
    pub(super) list: Option<(Tick, u64)>,
    /// Everything is sent anew since a reset.
    anew: bool,
    /// It stands in the list of those that wait.
    pub(super) listed: bool,
    /// Bits of the kinds that count in the view hash.
    pub(super) counted: u64,
    /// What they add to it.
    pub(super) mixed: u64,
    /// The life whose parts count in the view hash.
    pub(super) counted_life: u32,
}

impl Slot {
    fn new(kinds: usize) -> Self {
        Self {
            id: NetworkId::new(u32::MAX, u32::MAX),
            store: 0,
            life: 0,
            phase: Phase::Free,
            dirty: 0,
            notice: false,
            since: Tick::default(),
            touched: false,
            complete: false,
            known: false,
            last_sent: None,
            full_tick: None,
            order: 0,
            kept: false,
            allowed: 0,
            position: Progress::default(),
            cell: None,
            notice_progress: Progress::default(),
            kinds: vec![Progress::default(); kinds - 1],
            streams: Vec::new(),
            list: None,
            anew: false,
            listed: false,
            counted: 0,
            mixed: 0,
            counted_life: 0,
        }
    }

    /// Forgets what the client was told.
    fn forget(&mut self) {
        self.kept = false;
        self.complete = false;
        self.position = Progress::default();
        self.cell = None;
        self.notice_progress = Progress::default();
        self.kinds.fill(Progress::default());
        self.streams.clear();
    }

    pub(crate) fn progress(&mut self, kind: usize) -> &mut Progress {
        if kind == 0 {
            &mut self.position
        } else {
            &mut self.kinds[kind - 1]
        }
    }

    #[cfg(test)]
    pub(crate) fn versions(&self) -> Vec<(usize, Tick)> {
        super::record::bits(self.counted)
            .map(|kind| (kind, state_tick(self, kind)))
            .collect()
    }

    /// Whether the client may be told of this entity's state at all.
    pub(crate) fn is_shown(&self) -> bool {
        matches!(self.phase, Phase::Waiting | Phase::Spawning | Phase::Live)
    }
}

/// What one packet said about one slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) slot: u32,
    pub(crate) life: u32,
    pub(crate) bits: u64,
    pub(crate) cell: bool,
    pub(crate) notice: bool,
    /// The list of kinds, if it is a spawn.
    pub(crate) list: u64,
}

/// A packet that is neither acknowledged nor lost.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) packet: u64,
    pub(crate) tick: Tick,
    pub(crate) sent: Vec<Sent>,
    /// Pieces of streams: slot, kind, version, piece.
    pub(crate) pieces: Vec<super::stream::Piece>,
    pub(crate) own: bool,
    pub(crate) reset: bool,
}

/// A small piece of state about the client itself, sent until acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signal {
    pub(crate) due: bool,
    pub(crate) sent: u64,
}

/// Everything about one client.
#[derive(Debug)]
pub(crate) struct Viewer {
    pub(crate) client: ClientId,
    /// Its number among the viewers.
    pub(crate) number: u32,
    pub(crate) slots: Vec<Slot>,
    free: BinaryHeap<Reverse<u32>>,
    pub(crate) by_id: BTreeMap<NetworkId, u32>,
    pub(crate) dirty: Dirty,
    /// Slots in phase `Waiting`, and perhaps some that are no more, each once.
    pub(super) waiting: Vec<u32>,
    /// How many slots are in phase `Leaving`.
    pub(super) leaving: usize,
    /// Slots in phase `Dormant`, with life and end, oldest first.
    pub(super) dormant: VecDeque<(u32, u32, Tick)>,
    pub(crate) flights: VecDeque<Flight>,
    pub(crate) spare: Vec<Vec<Sent>>,
    pub(crate) hash: u64,
    pub(crate) own: Option<NetworkId>,
    pub(crate) own_signal: Signal,
    pub(crate) reset: Option<(Tick, Signal)>,
    /// Slots that are awaited since a reset.
    anew: usize,
    pub(crate) areas: Vec<Area>,
    pub(crate) shown: usize,
    pub(crate) plan: super::plan::Plan,
    pub(crate) gate: super::gate::Gate,
    pub(crate) stats: ReplicationStats,
    pub(crate) settings: ReplicationSettings,
}

impl Viewer {
    pub(crate) fn new(
        client: ClientId,
        number: u32,
        kinds: usize,
        settings: ReplicationSettings,
    ) -> Self {
        Self {
            client,
            number,
            slots: Vec::new(),
            free: BinaryHeap::new(),
            by_id: BTreeMap::new(),
            dirty: Dirty::default(),
            waiting: Vec::new(),
            leaving: 0,
            dormant: VecDeque::new(),
            flights: VecDeque::new(),
            spare: Vec::new(),
            hash: 0,
            own: None,
            own_signal: Signal::default(),
            reset: None,
            anew: 0,
            areas: Vec::new(),
            shown: 0,
            plan: super::plan::Plan::default(),
            gate: super::gate::Gate::default(),
            stats: ReplicationStats::new(kinds),
            settings,
        }
    }

    pub(crate) fn slot(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[table_index(slot)]
    }

    /// Marks kinds of a slot as due.
    #[inline]
    pub(crate) fn mark(&mut self, slot: u32, mask: u64, tick: Tick) {
        let allowed = self.slots[table_index(slot)].allowed;
        self.mark_any(slot, mask & allowed, tick);
    }

    /// Marks kinds of a slot as due, those included that the client must be told are gone.
    #[inline]
    pub(super) fn mark_any(&mut self, slot: u32, mask: u64, tick: Tick) {
        let state = &mut self.slots[table_index(slot)];
        if mask == 0 || !matches!(state.phase, Phase::Spawning | Phase::Live) {
            return;
        }
        if state.dirty == 0 && !state.notice {
            state.since = tick;
        }
        state.dirty |= mask;
        self.dirty.set(slot);
    }

    /// Marks the list of kinds, or the leave, as due.
    pub(crate) fn mark_notice(&mut self, slot: u32, tick: Tick) {
        let state = &mut self.slots[table_index(slot)];
        if state.dirty == 0 && !state.notice {
            state.since = tick;
        }
        state.notice = true;
        self.dirty.set(slot);
    }

    /// Gives an entity that came into view a slot: the one it had if the client may remember it.
    /// Returns the slot, and whether it must be subscribed.
    pub(crate) fn enter(&mut self, id: NetworkId) -> Option<(u32, bool)> {
        if let Some(&slot) = self.by_id.get(&id) {
            let state = self.slot(slot);
            if state.is_shown() {
                return None;
            }
            let leaves = matches!(state.phase, Phase::Leaving(_));
            if state.complete {
                state.kept = true;
                // The client dropped what it had of unfinished ones.
                state
                    .streams
                    .retain(|stream| stream.done.iter().all(|done| *done));
            } else {
                state.forget();
            }
            state.life = state.life.wrapping_add(1);
            state.notice = false;
            state.dirty = 0;
            self.dirty.clear(slot);
            self.wait(slot);
            self.leaving -= usize::from(leaves);
            self.shown += 1;
            return Some((slot, false));
        }
        let slot = match self.free.pop() {
            Some(Reverse(slot)) => slot,
            None => {
                let next = u32::try_from(self.slots.len()).ok()?;
                if next >= MAX_SLOTS {
                    return None;
                }
                self.slots.push(Slot::new(self.stats.kinds()));
                next
            }
        };
        let state = self.slot(slot);
        state.id = id;
        state.life = state.life.wrapping_add(1);
        state.forget();
        state.touched = false;
        state.full_tick = None;
        state.last_sent = None;
        state.dirty = 0;
        state.notice = false;
        self.by_id.insert(id, slot);
        self.wait(slot);
        self.shown += 1;
        Some((slot, true))
    }

    /// Takes an entity out of view. Returns the slot if it was freed at once: of what was never sent, no
    /// leave need arrive. For a client that is away, slots would pile up until it is back.
    pub(crate) fn exit(&mut self, id: NetworkId, reason: DespawnReason, tick: Tick) -> Option<u32> {
        let slot = *self.by_id.get(&id)?;
        let state = self.slot(slot);
        if !state.is_shown() {
            return None;
        }
        let unseen = !state.kept && !state.touched;
        // The client keeps nothing of it, should another world have one of the same id.
        state.complete &= reason != DespawnReason::Destroyed;
        state.known = false;
        state.dirty = 0;
        state.notice = false;
        state.life = state.life.wrapping_add(1);
        self.renewed(slot);
        self.shown -= 1;
        self.dirty.clear(slot);
        if unseen {
            self.free_slot(slot);
            return Some(slot);
        }
        self.slot(slot).phase = Phase::Leaving(reason);
        self.leaving += 1;
        self.mark_notice(slot, tick);
        None
    }

    pub(crate) fn free_slot(&mut self, slot: u32) {
        let state = self.slot(slot);
        let id = state.id;
        state.phase = Phase::Free;
        state.dirty = 0;
        state.notice = false;
        state.forget();
        self.by_id.remove(&id);
        self.dirty.clear(slot);
        self.free.push(Reverse(slot));
    }

    /// Frees dormant slots whose time is over, or that are too many; appends them to `freed`.
    pub(crate) fn expire(&mut self, tick: Tick, freed: &mut Vec<u32>) {
        while let Some(&(slot, life, until)) = self.dormant.front() {
            let state = &self.slots[table_index(slot)];
            let stale = state.life != life || state.phase != Phase::Dormant;
            let over = self.dormant.len() > self.settings.kept_max || !until.is_newer_than(tick);
            if !stale && !over {
                break;
            }
            self.dormant.pop_front();
            if !stale {
                self.free_slot(slot);
                freed.push(slot);
            }
        }
    }

    /// Sends everything anew. When the client has it, it is told to drop whatever is older.
    pub(crate) fn reset(&mut self, tick: Tick, freed: &mut Vec<u32>) {
        self.flights.clear();
        self.dormant.clear();
        self.dirty.clear_all();
        self.hash = 0;
        self.anew = 0;
        for slot in 0..u32::try_from(self.slots.len()).unwrap_or(0) {
            let state = self.slot(slot);
            state.counted = 0;
            state.mixed = 0;
            state.life = state.life.wrapping_add(1);
            state.dirty = 0;
            state.notice = false;
            state.forget();
            match state.phase {
                Phase::Free => {}
                Phase::Dormant => {
                    self.free_slot(slot);
                    freed.push(slot);
                }
                // Not free before its leave arrived: the client would take the next for the same.
                Phase::Leaving(_) => self.mark_notice(slot, tick),
                Phase::Waiting | Phase::Spawning | Phase::Live => {
                    state.anew = true;
                    self.anew += 1;
                    self.wait(slot);
                }
            }
        }
        let due = self.anew == 0;
        self.reset = Some((tick, Signal { due, sent: 0 }));
        self.own_signal = Signal { due: true, sent: 0 };
    }

    /// Notes that a slot is no longer awaited since a reset.
    pub(super) fn renewed(&mut self, slot: u32) {
        let state = self.slot(slot);
        if core::mem::take(&mut state.anew) {
            self.anew -= 1;
            if self.anew == 0
                && let Some((_, signal)) = &mut self.reset
            {
                signal.due = true;
            }
        }
    }

    /// The client lost what it kept of a slot: everything about it is sent anew.
    pub(crate) fn request_full(&mut self, slot: u32, tick: Tick) {
        let Some(state) = self.slots.get_mut(table_index(slot)) else {
            return;
        };
        // Whoever asks again and again is answered once in a while.
        let asked = state.full_tick.map(|asked| tick.since(asked));
        if !state.is_shown() || asked.is_some_and(|ago| ago < FULL_TICKS) {
            return;
        }
        state.full_tick = Some(tick);
        state.forget();
        state.dirty = 0;
        state.notice = false;
        state.life = state.life.wrapping_add(1);
        self.wait(slot);
        self.dirty.clear(slot);
    }

    /// Says which kinds the client may get; those it may get no longer are removed from it.
    pub(crate) fn set_allowed(&mut self, slot: u32, allowed: u64, tick: Tick) {
        let state = self.slot(slot);
        let changed = state.allowed ^ allowed;
        if changed == 0 {
            return;
        }
        state.allowed |= changed;
        // Should the client get them again, it gets all of them.
        state
            .streams
            .retain(|stream| allowed & 1 << stream.kind != 0);
        match state.phase {
            Phase::Live => self.mark(slot, changed, tick),
            Phase::Spawning => {
                self.mark(slot, changed & allowed, tick);
                self.mark_notice(slot, tick);
            }
            _ => {}
        }
        self.slot(slot).allowed = allowed;
    }

    /// Returns the slot of the client's own entity, or that it has none, if it is time to say so.
    pub(crate) fn own_due(&self) -> Option<Option<u32>> {
        if !self.own_signal.due {
            return None;
        }
        let Some(id) = self.own else {
            return Some(None);
        };
        let slot = *self.by_id.get(&id)?;
        let live = self.slots[table_index(slot)].phase == Phase::Live;
        live.then_some(Some(slot))
    }

    /// Whether anything is due.
    pub(crate) fn wants_to_send(&self) -> bool {
        !self.dirty.is_empty()
            || self.own_due().is_some()
            || self.reset.as_ref().is_some_and(|(_, signal)| signal.due)
    }
}

pub(super) fn state_tick(state: &Slot, kind: usize) -> Tick {
    let progress = if kind == 0 {
        &state.position
    } else {
        &state.kinds[kind - 1]
    };
    progress.acked.unwrap_or_default()
}

/// What acknowledgements brought about, as (viewer, slot).
#[derive(Debug, Default)]
pub(crate) struct News {
    /// The client has the entity now: references to it can be sent from the next tick on.
    pub(crate) known: Vec<(u32, u32)>,
    /// The slot is free: nobody subscribes with it any more.
    pub(crate) freed: Vec<(u32, u32)>,
}
