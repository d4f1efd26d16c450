//! Seeds: points on their way into the tree, in 20 bytes each.
//!
//! A seed shows 42 bits of each axis through a window, and the point's number. Most often that is all of
//! the point that differs from others: a planet spans 34 bits. Where points lie farther apart, the window
//! shows their highest bits first and is moved down to the lower ones with each part of them.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a window cuts 42 bits out of each axis"
)]

use nebula_math::WorldPosition;

use super::cube::{Cube, Key, key_of, level_of_difference};
use super::simd;
use crate::DenseId;

/// The bits of each axis that a seed shows.
const BITS: u8 = 42;

/// The highest of them says in which half of the window a point is.
const HALF: u8 = BITS - 1;

/// The bits of each axis above the lowest 32: they share one word.
const HIGH: u8 = BITS - 32;

/// How many nodes of one way a window can show, and one for what it does not.
pub(super) const STEPS: usize = BITS as usize / 2 + 1;

/// So many whole keys are fetched ahead of the one that is read.
pub(super) const AHEAD: usize = 12;

/// A point on its way into the tree.
#[derive(Clone, Copy, Default)]
pub(super) struct Seed {
    /// The lowest 32 bits that the window shows of each axis.
    pub(super) low: [u32; 3],
    /// The others, x lowest.
    high: u32,
    /// Which point it is.
    pub(super) point: u32,
}

impl Seed {
    /// Returns whether two seeds look the same in a window.
    pub(super) fn looks_like(&self, other: &Self) -> bool {
        (self.low, self.high) == (other.low, other.high)
    }

    /// Returns what the window shows of an axis.
    #[inline]
    fn value(&self, axis: usize) -> u64 {
        let high = self.high >> (usize::from(HIGH) * axis) & ((1 << HIGH) - 1);
        u64::from(self.low[axis]) | u64::from(high) << 32
    }
}

/// Where the keys of the points are that seeds stand for.
#[derive(Clone, Copy)]
pub(super) enum Keys<'a, I> {
    /// In a list, and in one that goes on where the first ends.
    Points(&'a [(I, WorldPosition)], &'a [(I, WorldPosition)]),
    /// In a list of keys.
    Whole(&'a [Key]),
    /// Nowhere: the window shows all of them.
    Shown,
}

/// The points that seeds stand for. The ids stand apart: they are read once more, in any order.
pub(super) struct Source<'a, I> {
    pub(super) ids: Vec<I>,
    pub(super) keys: Keys<'a, I>,
}

impl<I: DenseId> Source<'_, I> {
    #[inline]
    fn whole_key(&self, seed: &Seed) -> Key {
        let at = seed.point as usize;
        match self.keys {
            Keys::Points(points, more) => {
                let (_, position) = match points.get(at) {
                    Some(point) => point,
                    None => &more[at - points.len()],
                };
                key_of(position)
            }
            Keys::Whole(keys) => keys[at],
            Keys::Shown => unreachable!("a window on all bits stays where it is"),
        }
    }

    /// Lets the processor fetch the whole keys of seeds from a list in another order.
    #[inline]
    pub(super) fn fetch<'a>(&self, seeds: impl IntoIterator<Item = &'a Seed>) {
        let Keys::Points(points, _) = self.keys else {
            return;
        };
        for seed in seeds {
            if let Some((_, position)) = points.get(seed.point as usize) {
                // It may lie across two lines.
                simd::prefetch(&position.x);
                simd::prefetch(&position.z);
            }
        }
    }

    /// Returns a seed's whole key.
    #[inline]
    pub(super) fn key(&self, seed: &Seed, window: &Window) -> Key {
        if window.shows_all() {
            window.key(seed)
        } else {
            self.whole_key(seed)
        }
    }

    #[inline]
    pub(super) fn point(&self, seed: &Seed, window: &Window) -> (I, Key) {
        (self.ids[seed.point as usize], self.key(seed, window))
    }
}

/// The 42 bits of each axis that seeds show, counted from a corner.
///
/// The corner is aligned to half the window. So points on both sides of a high border, such as the one
/// through the origin, are seen at once; all bits above follow from the half that a point is in.
#[derive(Clone, Copy)]
pub(super) struct Window {
    corner: Key,
    shift: u8,
}

impl Window {
    /// Returns seeds for numbered keys, and the window on them.
    pub(super) fn open(keys: impl Iterator<Item = (u32, Key)> + Clone) -> (Vec<Seed>, Self) {
        Self::open_and(keys, |_| {})
    }

    /// Does so, and calls a function once with the number of each.
    pub(super) fn open_and(
        keys: impl Iterator<Item = (u32, Key)> + Clone,
        mut each: impl FnMut(u32),
    ) -> (Vec<Seed>, Self) {
        let Some((_, first)) = keys.clone().next() else {
            return (Vec::new(), Self::on(&[0; 3], 0));
        };
        let mut window = Self::near(&first);
        let mut seeds = Vec::with_capacity(keys.size_hint().0);
        let mut rest = keys.clone();
        for (point, key) in rest.by_ref() {
            each(point);
            if window.beyond(&key) != 0 {
                // Its seeds would be of no use: the rest is looked at for a wider one.
                let bits = keys
                    .clone()
                    .take(seeds.len() + 1)
                    .fold(0, |bits, (_, key)| bits | difference(&key, &first));
                let bits = rest.fold(bits, |bits, (point, key)| {
                    each(point);
                    bits | difference(&key, &first)
                });
                window = Self::on(&first, level_of_difference(bits));
                seeds.clear();
                seeds.extend(keys.map(|(point, key)| window.seed(&key, point)));
                return (seeds, window);
            }
            seeds.push(window.seed(&key, point));
        }
        (seeds, window)
    }

    /// Returns a window on everything within a quarter of its width of a key.
    fn near(key: &Key) -> Self {
        let quarter = 1 << (HALF - 1);
        // The window ends with the universe: beyond that, keys would begin anew.
        let last = u128::MAX << BITS;
        let corner = key.map(|v| (v.saturating_sub(quarter) >> HALF << HALF).min(last));
        Self { corner, shift: 0 }
    }

    /// Returns the window on the bits in which points of a cube differ.
    fn on(key: &Key, level: u8) -> Self {
        let shift = level.saturating_sub(BITS);
        Self {
            corner: Cube::around(key, shift + BITS).origin,
            shift,
        }
    }

    /// Returns bits that are not zero if a key lies outside a window that shows all bits.
    #[inline]
    fn beyond(&self, key: &Key) -> u128 {
        let outside = |k: usize| key[k].wrapping_sub(self.corner[k]) >> BITS;
        outside(0) | outside(1) | outside(2)
    }

    #[inline]
    fn seed(&self, key: &Key, point: u32) -> Seed {
        let at = |k: usize| (key[k].wrapping_sub(self.corner[k]) >> self.shift) as u64;
        let [x, y, z] = [at(0), at(1), at(2)];
        let high = |v: u64| (v >> 32) as u32 & ((1 << HIGH) - 1);
        Seed {
            low: [x as u32, y as u32, z as u32],
            high: high(x) | high(y) << HIGH | high(z) << (2 * HIGH),
            point,
        }
    }

    /// Returns whether no bit of a point is hidden.
    #[inline]
    pub(super) fn shows_all(&self) -> bool {
        self.shift == 0
    }

    /// Returns whether the window shows the bits that choose a slot in a node of a level.
    #[inline]
    pub(super) fn shows(&self, level: u8) -> bool {
        level >= self.shift + 2
    }

    /// Returns whether points of a cube of some level part by bits that the window shows alone.
    #[inline]
    pub(super) fn parts_all(&self, level: u8) -> bool {
        level <= self.shift + HALF
    }

    /// Returns how many nodes up from the lowest that the window shows two points part; none if it does not
    /// show where. They are of a cube that `parts_all` of.
    #[inline]
    pub(super) fn steps(&self, a: &Seed, b: &Seed) -> u8 {
        let [x, y, z] = [0, 1, 2].map(|k| a.low[k] ^ b.low[k]);
        let high = a.high ^ b.high;
        let high = (high | high >> HIGH | high >> (2 * HIGH)) & ((1 << HIGH) - 1);
        let bits = u64::from(high) << 32 | u64::from(x | y | z);
        let level = self.shift + (u64::BITS - bits.leading_zeros()) as u8;
        (level.next_multiple_of(2) - self.shift) / 2
    }

    /// Returns the level of the node where points part after so many steps.
    pub(super) fn level_of(&self, steps: usize) -> u8 {
        (self.shift + steps as u8 * 2).next_multiple_of(2)
    }

    /// Copies seeds to the scratch list, those first that part from `tip` after most steps, and returns
    /// where those end that part after so many.
    pub(super) fn sort_by_steps(
        &self,
        tip: &Seed,
        seeds: &[Seed],
        scratch: &mut [Seed],
    ) -> [usize; STEPS] {
        let mut counts = [0; STEPS];
        for seed in seeds {
            counts[usize::from(self.steps(tip, seed))] += 1;
        }
        let mut next = [0; STEPS];
        for steps in (1..STEPS).rev() {
            next[steps - 1] = next[steps] + counts[steps];
        }
        for seed in seeds {
            let to = &mut next[usize::from(self.steps(tip, seed))];
            scratch[*to] = *seed;
            *to += 1;
        }
        next
    }

    /// Returns the corners of the smallest box around seeds, if the window hides nothing of them.
    pub(super) fn bounds(&self, seeds: &[Seed]) -> Option<(Key, Key)> {
        if !self.shows_all() {
            return None;
        }
        let (mut low, mut high) = ([u64::MAX; 3], [0; 3]);
        for seed in seeds {
            for axis in 0..3 {
                let value = seed.value(axis);
                low[axis] = low[axis].min(value);
                high[axis] = high[axis].max(value);
            }
        }
        let key = |at: [u64; 3]| [0, 1, 2].map(|k| self.corner[k] + u128::from(at[k]));
        Some((key(low), key(high)))
    }

    #[inline]
    fn key(&self, seed: &Seed) -> Key {
        [0, 1, 2].map(|k| self.corner[k] + u128::from(seed.value(k)))
    }

    /// Returns the bits of an axis above those that tell points of one half apart.
    #[inline]
    fn above(&self, axis: usize, half: u8) -> u128 {
        (self.corner[axis] >> (self.shift + HALF)).wrapping_add(u128::from(half))
    }

    /// Returns the level of the smallest aligned cube that holds all points. Moves the window down to
    /// them if it shows less than the two bits that a node looks at.
    pub(super) fn focus<I: DenseId>(&mut self, source: &Source<'_, I>, seeds: &mut [Seed]) -> u8 {
        let first = seeds[0];
        let (mut low, mut high) = (0, 0);
        for seed in &*seeds {
            let [x, y, z] = [0, 1, 2].map(|k| seed.low[k] ^ first.low[k]);
            low |= x | y | z;
            high |= seed.high ^ first.high;
        }
        let mut above = 0;
        for axis in 0..3 {
            if high >> (HIGH * (axis as u8 + 1) - 1) & 1 == 1 {
                above |= self.above(axis, 0) ^ self.above(axis, 1);
            }
        }
        if above != 0 {
            return level_of_difference(above) + self.shift + HALF;
        }
        let high = (high | high >> HIGH | high >> (2 * HIGH)) & ((1 << HIGH) - 1);
        let seen = level_of_difference(u128::from(high) << 32 | u128::from(low));
        if self.shows_all() || seen >= 2 {
            return if seen == 0 { 0 } else { seen + self.shift };
        }
        let first = source.whole_key(&first);
        let bits = seeds.iter().enumerate().fold(0, |bits, (at, seed)| {
            source.fetch(seeds.get(at + AHEAD));
            bits | difference(&source.whole_key(seed), &first)
        });
        let level = level_of_difference(bits);
        *self = Self::on(&first, level);
        for seed in seeds {
            *seed = self.seed(&source.whole_key(seed), seed.point);
        }
        level
    }
}

/// Returns the bits in which two keys differ along any axis.
#[inline]
fn difference(a: &Key, b: &Key) -> u128 {
    (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2])
}

/// Where a window shows the bits that choose a node's slot.
pub(super) struct Bits {
    octant: Bit,
    fine: Bit,
}

/// Where a window shows one bit of each axis.
#[derive(Clone, Copy)]
struct Bit {
    shift: u8,
    /// The bit by axis and half of the window, if it is above what tells points of one half apart.
    above: [[u32; 2]; 3],
}

impl Bit {
    fn new(bit: u8, window: &Window) -> Self {
        let shift = bit - window.shift;
        let mut above = [[0; 2]; 3];
        if let Some(up) = shift.checked_sub(HALF) {
            for (axis, halves) in above.iter_mut().enumerate() {
                *halves = [0, 1].map(|half| (window.above(axis, half) >> up) as u32 & 1);
            }
        }
        Self { shift, above }
    }

    /// Returns the bit of each axis, if it is among the lowest 32 that the window shows.
    #[inline]
    fn low(&self, seed: &Seed) -> u32 {
        let [x, y, z] = seed.low.map(|v| v >> (self.shift & 31) & 1);
        x | y << 1 | z << 2
    }

    /// Returns the bit of each axis, if it is above those and tells points of one half apart.
    #[inline]
    fn high(&self, seed: &Seed) -> u32 {
        let bits = seed.high >> (self.shift & 31);
        bits & 1 | bits >> (HIGH - 1) & 2 | bits >> (2 * HIGH - 2) & 4
    }

    #[inline]
    fn any(&self, seed: &Seed) -> u32 {
        let at = |axis: usize| {
            let value = seed.value(axis);
            if self.shift < HALF {
                (value >> self.shift) as u32 & 1
            } else {
                self.above[axis][(value >> HALF & 1) as usize]
            }
        };
        at(0) | at(1) << 1 | at(2) << 2
    }
}

/// How many points fall into each slot.
pub(super) type Counts = [u32; 64];

impl Bits {
    /// Returns the bits for a node of a level that the window shows.
    pub(super) fn new(level: u8, window: &Window) -> Self {
        Self {
            octant: Bit::new(level - 1, window),
            fine: Bit::new(level - 2, window),
        }
    }

    /// Calls a function with every seed and its slot, in the way that suits where the bits are.
    #[inline]
    fn each(&self, seeds: &[Seed], mut f: impl FnMut(usize, &Seed)) {
        let (octant, fine) = (&self.octant, &self.fine);
        let mut put = |octant: u32, fine: u32, seed: &Seed| f((octant << 3 | fine) as usize, seed);
        if octant.shift < 32 {
            for seed in seeds {
                put(octant.low(seed), fine.low(seed), seed);
            }
        } else if octant.shift < HALF && fine.shift >= 32 {
            for seed in seeds {
                put(octant.high(seed), fine.high(seed), seed);
            }
        } else {
            for seed in seeds {
                put(octant.any(seed), fine.any(seed), seed);
            }
        }
    }

    pub(super) fn count(&self, seeds: &[Seed]) -> Counts {
        let mut counts = [0; 64];
        self.each(seeds, |slot, _| counts[slot & 63] += 1);
        counts
    }

    /// Copies seeds to the scratch list sorted by slot, keeping the order within each, and returns
    /// where each slot ends.
    pub(super) fn sort(
        &self,
        counts: &Counts,
        seeds: &[Seed],
        scratch: &mut [Seed],
    ) -> [usize; 64] {
        let mut next = [0; 64];
        for slot in 1..64 {
            next[slot] = next[slot - 1] + counts[slot - 1] as usize;
        }
        self.each(seeds, |slot, seed| {
            let to = &mut next[slot & 63];
            scratch[*to] = *seed;
            *to += 1;
        });
        next
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::{Node, Place};
    use super::*;

    const SOURCE: Source<'_, u32> = Source {
        ids: Vec::new(),
        keys: Keys::Shown,
    };

    #[test]
    fn a_window_across_the_origin_shows_both_sides() {
        let middle = 1 << 127;
        let keys = [
            [middle - 1, middle, middle + 5],
            [middle, middle - (1 << 39), middle + (1 << 39)],
            [middle, middle, middle + 4],
        ];
        let (mut seeds, mut window) = Window::open((0..).zip(keys));
        assert!(window.shows_all(), "2^40 to each side is near");
        for (seed, key) in seeds.iter().zip(keys) {
            assert_eq!(window.key(seed), key);
        }
        assert_eq!(window.focus(&SOURCE, &mut seeds), 128);
        assert_eq!(window.focus(&SOURCE, &mut seeds[1..]), 128);
        assert_eq!(window.focus(&SOURCE, &mut seeds[2..]), 0);
    }

    #[test]
    fn the_ends_of_the_universe_are_not_near_each_other() {
        let keys = [[u128::MAX; 3], [0; 3]];
        for keys in [keys, [keys[1], keys[0]]] {
            let (seeds, window) = Window::open((0..).zip(keys));
            assert!(!window.shows_all());
            assert!(window.bounds(&seeds).is_none());
        }
    }

    #[test]
    fn seeds_choose_the_slots_that_their_keys_do() {
        let corners = [0, (1 << 127) - 3, 1 << 127, (1 << 41) - 1, u128::MAX - 9];
        for corner in corners {
            for spread in [1_u128, 1 << 20, 1 << 33, 1 << 41, 1 << 60, 1 << 100] {
                let at = |steps: u128| corner.saturating_add(spread / 4 * steps);
                let keys: Vec<Key> = (0..5).map(|i| [at(i), at(4 - i), corner]).collect();
                let (mut seeds, mut window) = Window::open((0..).zip(keys.iter().copied()));
                let mut room = seeds.clone();
                let source = Source::<u32> {
                    ids: Vec::new(),
                    keys: Keys::Whole(&keys),
                };
                let level = window.focus(&source, &mut seeds);
                let bits = keys
                    .iter()
                    .fold(0, |bits, key| bits | difference(key, &keys[0]));
                assert_eq!(level, level_of_difference(bits), "{corner:x} {spread:x}");
                if level == 0 {
                    continue;
                }
                let cube = Cube::around(&keys[0], level.next_multiple_of(2));
                let node = Node::new(cube, Place::Root, 0);
                let bits = Bits::new(cube.level, &window);
                bits.sort(&bits.count(&seeds), &seeds, &mut room);
                let slots = room
                    .iter()
                    .map(|seed| node.slot_of(&keys[seed.point as usize]));
                assert!(slots.is_sorted(), "{corner:x} {spread:x}");
                let mut points: Vec<_> = room.iter().map(|seed| seed.point).collect();
                points.sort_unstable();
                assert_eq!(points, [0, 1, 2, 3, 4]);
            }
        }
    }
}
