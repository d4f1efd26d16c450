//! `Buckets`: values side by side, one list per occupied sector.

use core::hash::BuildHasher;
use core::mem;

use super::{Handle, Lookup};
use crate::SectorKey;

/// A bucket that becomes empty keeps room for this many values, so that an entity that crosses a
/// sector's edge to and fro does not allocate; more is given back.
const KEPT_CAPACITY: usize = 16;

/// Where a value lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    bucket: u32,
    slot: u32,
}

/// The values of one sector, and the handle of each.
#[derive(Clone, Debug)]
pub(super) struct Bucket<T> {
    key: SectorKey,
    values: Vec<T>,
    handles: Vec<Handle>,
    /// The bucket's place in `Buckets::order`, while it holds a value.
    rank: u32,
}

impl<T> Bucket<T> {
    #[inline]
    pub(super) const fn key(&self) -> SectorKey {
        self.key
    }

    #[inline]
    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns the handles of the values, in the same order.
    pub(super) fn handles(&self) -> &[Handle] {
        &self.handles
    }
}

/// All buckets.
///
/// A bucket keeps its number while it holds a value, because the place of each of its values says
/// it; so buckets are not moved to fill gaps, and `order` is the gapless list to walk.
#[derive(Clone, Debug)]
pub(super) struct Buckets<T, S> {
    list: Vec<Bucket<T>>,
    /// Numbers of the occupied buckets.
    order: Vec<u32>,
    /// Numbers of the empty buckets, last emptied last.
    free: Vec<u32>,
    numbers: Lookup<SectorKey, u32, S>,
}

impl<T, S> Buckets<T, S> {
    pub(super) fn new(hasher: S) -> Self {
        Self {
            list: Vec::new(),
            order: Vec::new(),
            free: Vec::new(),
            numbers: Lookup::with_hasher(hasher),
        }
    }

    pub(super) fn occupied(&self) -> usize {
        self.order.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Bucket<T>> + '_ {
        self.order.iter().map(|number| self.bucket(*number))
    }

    #[inline]
    pub(super) fn get(&self, place: Place) -> &T {
        &self.bucket(place.bucket).values[place.slot as usize]
    }

    /// Returns the handle of the value at a place, if the place exists.
    pub(super) fn handle(&self, place: Place) -> Option<Handle> {
        let bucket = self.list.get(place.bucket as usize)?;
        bucket.handles.get(place.slot as usize).copied()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, place: Place) -> &mut T {
        &mut self.list[place.bucket as usize].values[place.slot as usize]
    }

    #[inline]
    pub(super) fn key(&self, place: Place) -> SectorKey {
        self.bucket(place.bucket).key
    }

    pub(super) fn clear(&mut self) {
        self.list = Vec::new();
        self.order = Vec::new();
        self.free = Vec::new();
        self.numbers.clear();
    }

    #[inline]
    fn bucket(&self, number: u32) -> &Bucket<T> {
        &self.list[number as usize]
    }
}

impl<T, S: BuildHasher> Buckets<T, S> {
    /// Returns the values of a sector; empty when it has none.
    #[inline]
    pub(super) fn slice(&self, key: &SectorKey) -> &[T] {
        match self.numbers.get(key) {
            Some(number) => self.bucket(*number).values(),
            None => &[],
        }
    }

    /// Adds a value at the end of its sector's bucket.
    pub(super) fn push(&mut self, key: SectorKey, handle: Handle, value: T) -> Place {
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None => self.open(key),
        };
        let bucket = &mut self.list[number as usize];
        let slot = small(bucket.values.len());
        bucket.values.push(value);
        bucket.handles.push(handle);
        Place {
            bucket: number,
            slot,
        }
    }

    /// Takes a value out. The last value of the bucket fills the gap; its handle is returned, so that
    /// the caller can note the new place.
    pub(super) fn take(&mut self, place: Place) -> (T, Option<Handle>) {
        let bucket = &mut self.list[place.bucket as usize];
        let slot = place.slot as usize;
        let value = bucket.values.swap_remove(slot);
        bucket.handles.swap_remove(slot);
        let moved = bucket.handles.get(slot).copied();
        if bucket.values.is_empty() {
            self.close(place.bucket);
        }
        (value, moved)
    }

    fn open(&mut self, key: SectorKey) -> u32 {
        let rank = small(self.order.len());
        let number = if let Some(number) = self.free.pop() {
            let bucket = &mut self.list[number as usize];
            bucket.key = key;
            bucket.rank = rank;
            number
        } else {
            self.list.push(Bucket {
                key,
                values: Vec::new(),
                handles: Vec::new(),
                rank,
            });
            small(self.list.len() - 1)
        };
        self.order.push(number);
        self.numbers.insert(key, number);
        number
    }

    fn close(&mut self, number: u32) {
        let bucket = &mut self.list[number as usize];
        if bucket.values.capacity() > KEPT_CAPACITY {
            drop(mem::take(&mut bucket.values));
            drop(mem::take(&mut bucket.handles));
        }
        self.numbers.remove(&bucket.key);
        let rank = bucket.rank;
        self.order.swap_remove(rank as usize);
        if let Some(moved) = self.order.get(rank as usize) {
            self.list[*moved as usize].rank = rank;
        }
        self.free.push(number);
    }

    /// Checks that lists, order and lookup table agree.
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.numbers.len() != self.order.len() {
            return Err(format!(
                "{} sectors can be looked up, but {} are occupied",
                self.numbers.len(),
                self.order.len()
            ));
        }
        if self.order.len() + self.free.len() != self.list.len() {
            return Err("a bucket is neither occupied nor free".into());
        }
        for (rank, number) in self.order.iter().enumerate() {
            let bucket = self.bucket(*number);
            let key = bucket.key;
            if bucket.rank as usize != rank || self.numbers.get(&key) != Some(number) {
                return Err(format!("the bucket of sector {key} has lost its number"));
            }
            if bucket.values.is_empty() || bucket.values.len() != bucket.handles.len() {
                return Err(format!(
                    "the bucket of sector {key} holds {} values and {} handles",
                    bucket.values.len(),
                    bucket.handles.len()
                ));
            }
        }
        Ok(())
    }
}

/// Narrows a position in a table; rows are `u32`, so no table is longer.
#[inline]
pub(super) fn small(n: usize) -> u32 {
    u32::try_from(n).expect("a map holds at most 2^32 - 1 values; use several maps for more")
}
