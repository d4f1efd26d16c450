//! The difference of two lists of ids that are mostly the same in mostly the same order.
//!
//! Equal stretches are compared like memory. Where the lists part, a few places ahead are searched
//! for the point at which they meet again. What is left over goes through a table from index
//! to place. `cargo xtask bench interest` measures it against the
//! differences of two `HashSet`s.

use core::cell::RefCell;
use std::collections::BTreeSet;

use super::InterestTransitions;
use crate::NetworkId;

/// How far ahead the lists are searched for the point at which they meet again.
const LOOK_AHEAD: usize = 8;

/// How many places are compared at once.
const BLOCK: usize = 16;

/// Keys in a block of leftovers.
const LANES: usize = 8;

/// Leftovers with an index from here on are sorted instead, so that the table stays below 64 MiB.
const TABLE_LIMIT: u32 = 1 << 24;

/// Up to this many leftovers are compared each with each, which takes less than the cache misses of
/// the table.
const FEW: usize = 64;

/// A table from entity index to place in a list (counted from 1; 0 stands for "not in it"), and room
/// for leftovers. The table is all zero between uses.
#[derive(Debug, Default)]
pub(super) struct Marks {
    places: Vec<u32>,
    only_previous: Vec<NetworkId>,
    only_current: Vec<NetworkId>,
    buffer: Vec<NetworkId>,
}

thread_local! {
    static MARKS: RefCell<Marks> = RefCell::default();
}

/// Lends this thread's table.
pub(super) fn with_marks<R>(f: impl FnOnce(&mut Marks) -> R) -> R {
    MARKS.with_borrow_mut(f)
}

impl Marks {
    /// Lends an empty list that keeps its memory.
    pub(super) fn take_buffer(&mut self) -> Vec<NetworkId> {
        core::mem::take(&mut self.buffer)
    }

    pub(super) fn return_buffer(&mut self, mut buffer: Vec<NetworkId>) {
        buffer.clear();
        self.buffer = buffer;
    }

    /// Enters the places of a list, or returns `false`, having entered nothing, if an index comes
    /// twice or is too large.
    fn enter(&mut self, ids: &[NetworkId]) -> bool {
        let Some(last) = ids.iter().map(|id| id.index()).max() else {
            return true;
        };
        if last >= TABLE_LIMIT || u32::try_from(ids.len()).is_err() {
            return false;
        }
        if self.places.len() <= last as usize {
            self.places.resize(last as usize + 1, 0);
        }
        for (place, id) in (1..).zip(ids) {
            let entry = &mut self.places[id.index() as usize];
            if *entry != 0 {
                self.leave(&ids[..place as usize - 1]);
                return false;
            }
            *entry = place;
        }
        true
    }

    /// Clears the places of a list.
    fn leave(&mut self, ids: &[NetworkId]) {
        for id in ids {
            self.places[id.index() as usize] = 0;
        }
    }

    /// Takes an id of the entered list out of the table, and returns whether it was there.
    #[inline]
    fn take(&mut self, ids: &[NetworkId], id: NetworkId) -> bool {
        match self.places.get_mut(id.index() as usize) {
            Some(place) if *place != 0 && ids[*place as usize - 1] == id => {
                *place = 0;
                true
            }
            _ => false,
        }
    }

    /// Removes all but the first of equal ids.
    pub(super) fn dedup(&mut self, ids: &mut Vec<NetworkId>) {
        if self.enter(ids) {
            self.leave(ids);
            return;
        }
        let mut seen = BTreeSet::new();
        ids.retain(|id| seen.insert(*id));
    }
}

/// Appends to `out` what only one of the lists holds, in no particular order. No list may hold an id
/// twice.
pub(super) fn compare(
    previous: &[NetworkId],
    current: &[NetworkId],
    marks: &mut Marks,
    out: &mut InterestTransitions,
) {
    let (mut before, mut now) = (
        core::mem::take(&mut marks.only_previous),
        core::mem::take(&mut marks.only_current),
    );
    before.clear();
    now.clear();
    walk(previous, current, &mut before, &mut now);
    settle(&before, &now, marks, out);
    marks.only_previous = before;
    marks.only_current = now;
}

/// Lists what differs, place by place: a superset of the difference.
fn walk(
    mut previous: &[NetworkId],
    mut current: &[NetworkId],
    before: &mut Vec<NetworkId>,
    now: &mut Vec<NetworkId>,
) {
    loop {
        let same = common_prefix(previous, current);
        previous = &previous[same..];
        current = &current[same..];
        let (Some((gone, rest)), Some((came, others))) =
            (previous.split_first(), current.split_first())
        else {
            break;
        };
        if let Some(ahead) = find(rest, *came) {
            push_all(before, &previous[..=ahead]);
            previous = &rest[ahead..];
        } else if let Some(ahead) = find(others, *gone) {
            push_all(now, &current[..=ahead]);
            current = &others[ahead..];
        } else {
            before.push(*gone);
            now.push(*came);
            previous = rest;
            current = others;
        }
    }
    before.extend_from_slice(previous);
    now.extend_from_slice(current);
}

/// Appends what is mostly a single id, for which a block copy takes too long to begin.
#[inline]
fn push_all(list: &mut Vec<NetworkId>, ids: &[NetworkId]) {
    for id in ids {
        list.push(*id);
    }
}

#[inline]
fn find(ids: &[NetworkId], id: NetworkId) -> Option<usize> {
    let ahead = ids.iter().take(LOOK_AHEAD);
    ahead.map(|other| key(*other)).position(|k| k == key(id))
}

/// Returns how many first ids are the same.
#[inline]
fn common_prefix(a: &[NetworkId], b: &[NetworkId]) -> usize {
    let len = a.len().min(b.len());
    let (mut at, (mut a, mut b)) = (0, (&a[..len], &b[..len]));
    // One test for a whole block: without an exit inside, vector registers compare it.
    while let (Some((x, more)), Some((y, others))) = (
        a.split_first_chunk::<BLOCK>(),
        b.split_first_chunk::<BLOCK>(),
    ) {
        let pairs = x.iter().zip(y);
        if pairs.fold(0, |bits, (x, y)| bits | (key(*x) ^ key(*y))) != 0 {
            break;
        }
        (at, a, b) = (at + BLOCK, more, others);
    }
    at + a
        .iter()
        .zip(b)
        .take_while(|(x, y)| key(**x) == key(**y))
        .count()
}

/// Returns whether a list of keys holds one. Whole blocks are read to the end, which vector registers
/// do faster than a search that stops.
fn has(keys: &[[u64; LANES]], key: u64) -> bool {
    let any = |block: &[u64; LANES]| block.iter().fold(false, |any, other| any | (*other == key));
    keys.iter().fold(false, |found, block| found | any(block))
}

/// Writes the keys of a short list into a buffer; the first fills up the last block.
fn keys<'a>(ids: &[NetworkId], buffer: &'a mut [u64; FEW]) -> &'a [[u64; LANES]] {
    let len = ids.len().min(FEW);
    for (slot, id) in buffer.iter_mut().zip(ids) {
        *slot = key(*id);
    }
    let (first, whole) = (buffer[0], len.next_multiple_of(LANES));
    buffer[len..whole].fill(first);
    buffer[..whole].as_chunks().0
}

/// Returns an id as one number, in the order of its fields in memory: a single load.
#[inline]
fn key(id: NetworkId) -> u64 {
    u64::from(id.index()) | u64::from(id.generation()) << 32
}

/// Takes from both lists what they share, and appends the rest to `out`.
fn settle(
    before: &[NetworkId],
    now: &[NetworkId],
    marks: &mut Marks,
    out: &mut InterestTransitions,
) {
    out.exited.reserve(before.len());
    out.entered.reserve(now.len());
    if before.is_empty() || now.is_empty() {
        out.exited.extend_from_slice(before);
        out.entered.extend_from_slice(now);
    } else if before.len() <= FEW && now.len() <= FEW {
        let (mut old, mut new) = ([0; FEW], [0; FEW]);
        let (old, new) = (keys(before, &mut old), keys(now, &mut new));
        out.exited
            .extend(before.iter().filter(|id| !has(new, key(**id))));
        out.entered
            .extend(now.iter().filter(|id| !has(old, key(**id))));
    } else if marks.enter(now) {
        out.exited
            .extend(before.iter().filter(|id| !marks.take(now, **id)));
        // Who is still in the table was not found before.
        out.entered.extend(
            now.iter()
                .filter(|id| marks.places[id.index() as usize] != 0),
        );
        marks.leave(now);
    } else {
        let (old, new) = (sorted(before), sorted(now));
        out.exited
            .extend(before.iter().filter(|id| new.binary_search(id).is_err()));
        out.entered
            .extend(now.iter().filter(|id| old.binary_search(id).is_err()));
    }
}

fn sorted(ids: &[NetworkId]) -> Vec<NetworkId> {
    let mut ids = ids.to_vec();
    sort(&mut ids);
    ids
}

/// Sorts ids, each compared as one number.
pub(super) fn sort(ids: &mut [NetworkId]) {
    ids.sort_unstable_by_key(|id| u64::from(id.index()) << 32 | u64::from(id.generation()));
}
