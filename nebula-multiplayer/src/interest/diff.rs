//! The difference of two lists of ids that are mostly the same in mostly the same order.
//!
//! Equal stretches are compared like memory. Where the lists part, a few places ahead are searched
//! for the point at which they meet again. What is left over goes through a table.
//! `cargo xtask bench interest` measures it against the differences of two `HashSet`s.

use core::cell::RefCell;

use super::InterestTransitions;
use crate::NetworkId;

/// How far ahead the lists are searched for the point at which they meet again.
const LOOK_AHEAD: usize = 8;

/// How many places are compared at once.
const BLOCK: usize = 16;

/// Keys in a block of leftovers.
const LANES: usize = 8;

/// So many entries of the table and of each list of leftovers stay allocated between uses: 48 KiB.
const KEPT: usize = 4_096;

/// Up to this many leftovers are compared each with each, which takes less than the cache misses of
/// the table.
const FEW: usize = 64;

/// A table of ids and room for leftovers, used again and again.
#[derive(Debug, Default)]
pub(super) struct Marks {
    table: Table,
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

    pub(super) fn return_buffer(&mut self, buffer: Vec<NetworkId>) {
        self.buffer = emptied(buffer);
    }

    /// Removes all but the first of equal ids.
    pub(super) fn dedup(&mut self, ids: &mut Vec<NetworkId>) {
        self.table.clear(ids.len());
        ids.retain(|id| self.table.insert(*id));
    }
}

/// Empties a list. What a crowd once needed is not kept for good.
fn emptied(mut list: Vec<NetworkId>) -> Vec<NetworkId> {
    list.clear();
    list.shrink_to(KEPT);
    list
}

/// A set of ids, at most half full, with open addressing. Indexes are the server's own choice, so
/// nobody outside can have them collide.
#[derive(Debug, Default)]
struct Table {
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: NetworkId,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Vacant,
    Present,
    /// Found in the other list as well.
    Shared,
}

impl Table {
    /// Empties the table, with room for so many ids.
    fn clear(&mut self, ids: usize) {
        let vacant = Entry {
            id: NetworkId::new(0, 0),
            state: State::Vacant,
        };
        self.entries.clear();
        self.entries.shrink_to(KEPT);
        self.entries
            .resize((2 * ids + 1).next_power_of_two(), vacant);
    }

    /// Returns where an id stands, or the vacant entry where it belongs.
    #[inline]
    fn place(&self, id: NetworkId) -> usize {
        let mask = self.entries.len() - 1;
        // The upper half of the product: every bit of the key has a say in it.
        let mut at = (key(id).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        while self.entries[at].state != State::Vacant && self.entries[at].id != id {
            at = (at + 1) & mask;
        }
        at
    }

    /// Adds an id, and returns whether it is new.
    fn insert(&mut self, id: NetworkId) -> bool {
        let at = self.place(id);
        let new = self.entries[at].state == State::Vacant;
        self.entries[at] = Entry {
            id,
            state: State::Present,
        };
        new
    }

    /// Notes that the other list holds an id too, and returns whether this one does.
    fn share(&mut self, id: NetworkId) -> bool {
        let at = self.place(id);
        let entry = &mut self.entries[at];
        if entry.state == State::Present {
            entry.state = State::Shared;
        }
        entry.state == State::Shared
    }

    /// Returns whether the other list does not hold an id of this one.
    fn is_unshared(&self, id: NetworkId) -> bool {
        self.entries[self.place(id)].state == State::Present
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
    walk(previous, current, &mut before, &mut now);
    settle(&before, &now, marks, out);
    marks.only_previous = emptied(before);
    marks.only_current = emptied(now);
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
    } else {
        let table = &mut marks.table;
        table.clear(now.len());
        for id in now {
            table.insert(*id);
        }
        out.exited
            .extend(before.iter().filter(|id| !table.share(**id)));
        out.entered
            .extend(now.iter().filter(|id| table.is_unshared(**id)));
    }
}

/// Sorts ids, each compared as one number.
pub(super) fn sort(ids: &mut [NetworkId]) {
    ids.sort_unstable_by_key(|id| u64::from(id.index()) << 32 | u64::from(id.generation()));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Ids of few indexes and generations, the extremes among them, so that lists share many.
    fn ids(most: usize) -> impl Strategy<Value = Vec<NetworkId>> {
        let index = prop_oneof![0_u32..200, Just(u32::MAX), Just(1 << 24)];
        let id = (index, prop_oneof![0_u32..3, Just(u32::MAX)]);
        let id = id.prop_map(|(index, generation)| NetworkId::new(index, generation));
        proptest::collection::vec(id, 0..most)
    }

    fn once(mut ids: Vec<NetworkId>) -> Vec<NetworkId> {
        with_marks(|marks| marks.dedup(&mut ids));
        ids
    }

    proptest! {
        #[test]
        fn a_difference_is_that_of_two_sets(
            previous in ids(600), current in ids(600), kept in 0_usize..600,
        ) {
            // A common beginning, as lists of a moment later have.
            let current: Vec<_> = previous.iter().take(kept).chain(&current).copied().collect();
            let (previous, current) = (once(previous), once(current));
            let mut found = InterestTransitions::default();
            with_marks(|marks| compare(&previous, &current, marks, &mut found));
            sort(&mut found.entered);
            sort(&mut found.exited);
            let (old, new): (BTreeSet<_>, BTreeSet<_>) =
                (previous.into_iter().collect(), current.into_iter().collect());
            let only = |a: &BTreeSet<_>, b: &BTreeSet<_>| a.difference(b).copied().collect::<Vec<_>>();
            prop_assert_eq!(found.entered, only(&new, &old));
            prop_assert_eq!(found.exited, only(&old, &new));
        }

        #[test]
        fn the_first_of_equal_ids_stays(ids in ids(400)) {
            let mut seen = BTreeSet::new();
            let firsts: Vec<_> = ids.iter().copied().filter(|id| seen.insert(*id)).collect();
            prop_assert_eq!(once(ids), firsts);
        }
    }

    #[test]
    fn what_a_crowd_needed_is_given_back() {
        let crowd = |generation| (0..100_000).map(move |index| NetworkId::new(index, generation));
        let (old, new): (Vec<_>, Vec<_>) = (crowd(0).collect(), crowd(1).collect());
        let (mut marks, mut found) = (Marks::default(), InterestTransitions::default());
        compare(&old, &new, &mut marks, &mut found);
        assert_eq!(
            (found.entered.len(), found.exited.len()),
            (100_000, 100_000)
        );
        compare(&[], &[], &mut marks, &mut found);
        marks.dedup(&mut vec![NetworkId::new(1, 1)]);
        assert!(marks.table.entries.capacity() <= KEPT);
        assert!(marks.only_previous.capacity() <= KEPT && marks.only_current.capacity() <= KEPT);
    }
}
