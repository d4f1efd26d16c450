//! Leaves: up to a few hundred points in one cube.

use super::WIDE_LIMIT;
use super::cube::{Cube, Key, level_of_difference};
use super::frame::{Frame, OFFSET_BITS};
use super::node::Place;
use super::simd;

/// Points of a block; the width of the widest vector register we use.
pub(super) const LANES: usize = 8;

/// Marks a point that waits to leave its leaf while a batch is applied. It stands in the x offset,
/// whose highest bit is free, because a batch touches that word anyway.
const WAITING: u32 = 1 << 31;

/// Offsets of eight points, one axis after the other, as vector registers want them.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(super) struct Block {
    pub(super) axes: [[u32; LANES]; 3],
}

/// What became of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// It was done in place.
    Stays,
    /// It was done in place, and was the first to leave the spot that a crowd stands on: the leaf
    /// has to be settled.
    Parts,
    /// It was done in place, and no point of the leaf was as far outside the cube: the nodes above
    /// have to know.
    Strays,
    /// It leads out of the leaf.
    Waits,
}

/// The points of one cube. Ids stand apart from offsets, so a leaf that lies wholly inside a region
/// is handed over as one slice.
///
/// The fields stand in the order of their lines in memory: a hand-over costs the first one, and where the
/// cube is small a scan or a move costs the first two.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Leaf<I> {
    ids: Vec<I>,
    blocks: Vec<Block>,
    pub(super) place: Place,
    /// How many points left in a batch and still count above.
    missing: u32,
    /// By how many bits a point may be outside the cube; never less than it is.
    stray: u8,
    /// Whether this leaf is a crowd that parted; see `try_move`.
    restless: bool,
    /// The part of space whose points come here; see `Cube::slack` for who may stay.
    pub(super) cube: Cube,
    /// See `frame()`, which leaves this unread where the cube is small.
    wide_frame: Frame,
    /// The whole keys, where the frame is not exact; else empty.
    keys: Vec<Key>,
    /// The last change epoch in which this leaf was reported; see `changes.rs`.
    pub(super) reported: u64,
}

/// The lines of a leaf where its cube may be large.
pub(super) const LEAF_LINES: usize = 4;

/// Those that are in use where it is small.
pub(super) const SMALL_LEAF_LINES: usize = 2;

// What `Leaf` says of lines.
const _: () = assert!(core::mem::offset_of!(Leaf<u64>, cube) == 64);
const _: () = assert!(size_of::<Option<Leaf<u64>>>() == 256);

impl<I: Copy> Leaf<I> {
    /// Makes a leaf of points in the cube; see `find_strays` for points in its slack.
    pub(super) fn new(
        cube: Cube,
        place: Place,
        points: impl ExactSizeIterator<Item = (I, Key)>,
    ) -> Self {
        let (ids, keys) = points.unzip();
        Self::whole(cube, place, ids, keys)
    }

    /// Makes a leaf of points in the cube, given by their keys.
    pub(super) fn whole(cube: Cube, place: Place, ids: Vec<I>, keys: Vec<Key>) -> Self {
        let frame = Frame::fitting(&cube, &keys);
        let mut leaf = Self {
            cube,
            place,
            restless: false,
            missing: 0,
            stray: 0,
            reported: 0,
            wide_frame: frame,
            ids,
            blocks: Vec::new(),
            keys: Vec::new(),
        };
        leaf.write_all(&keys);
        if !frame.is_exact() {
            leaf.keys = keys;
        }
        leaf
    }

    /// Looks for points outside the cube.
    pub(super) fn find_strays(&mut self) {
        let stray = |key: &Key| self.cube.stray(key).expect("points belong to their leaf");
        self.stray = self.points().map(|(_, key)| stray(&key)).max().unwrap_or(0);
    }

    /// Makes a leaf of points in the cube, given by their offsets in its frame.
    pub(super) fn framed(
        cube: Cube,
        place: Place,
        frame: Frame,
        ids: Vec<I>,
        offsets: impl Iterator<Item = [u32; 3]>,
    ) -> Self {
        let mut leaf = Self {
            cube,
            place,
            reported: 0,
            restless: false,
            stray: 0,
            missing: 0,
            wide_frame: frame,
            blocks: vec![Block::default(); ids.len().div_ceil(LANES)],
            ids,
            keys: Vec::new(),
        };
        for (slot, offsets) in offsets.enumerate() {
            leaf.write(slot, offsets);
        }
        leaf
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    #[inline]
    pub(super) fn ids(&self) -> &[I] {
        &self.ids
    }

    #[inline]
    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Lets the processor fetch what a scan reads first.
    #[inline]
    pub(super) fn fetch(&self) {
        simd::prefetch_list(&self.ids, 4);
        simd::prefetch_list(&self.blocks, 16);
    }

    /// Lets the processor fetch the whole keys of points from a slot on, a bit for each, if there are any.
    #[inline]
    pub(super) fn fetch_keys(&self, from: usize, mut bits: u64) {
        if self.is_exact() {
            return;
        }
        while bits != 0 {
            simd::prefetch(&self.keys[from + bits.trailing_zeros() as usize]);
            bits &= bits - 1;
        }
    }

    /// Returns how many of the leaf's own lines a move reads.
    #[inline]
    pub(super) fn lines(&self) -> usize {
        if self.cube.level <= OFFSET_BITS {
            SMALL_LEAF_LINES
        } else {
            LEAF_LINES
        }
    }

    /// Lets the processor fetch what a move of a point reads and writes.
    #[inline]
    pub(super) fn fetch_point(&self, slot: usize) {
        if let Some(block) = self.blocks.get(slot / LANES) {
            simd::prefetch(&block.axes[0][slot % LANES]);
            simd::prefetch(&block.axes[2][slot % LANES]);
        }
        // Whole keys, and the line that says where they are, are read where the cube is large.
        if self.cube.level > OFFSET_BITS
            && let Some(key) = self.keys.get(slot)
        {
            // It may lie across two lines.
            simd::prefetch(&key[0]);
            simd::prefetch(&key[2]);
        }
    }

    #[inline]
    pub(super) fn frame(&self) -> Frame {
        Frame::of_cube(&self.cube).unwrap_or(self.wide_frame)
    }

    /// Returns whether the offsets say all there is to know of a position.
    #[inline]
    fn is_exact(&self) -> bool {
        self.cube.level <= OFFSET_BITS || self.wide_frame.is_exact()
    }

    /// Returns by how many bits a point may be outside the cube.
    #[inline]
    pub(super) fn stray(&self) -> u8 {
        self.stray
    }

    /// Returns by how many bits a point may ever be outside the cube.
    pub(super) fn most_stray(&self) -> u8 {
        level_of_difference(self.cube.slack())
    }

    #[inline]
    pub(super) fn key(&self, slot: usize) -> Key {
        if self.is_exact() {
            self.frame().key(self.offsets(slot))
        } else {
            self.keys[slot]
        }
    }

    pub(super) fn points(&self) -> impl Iterator<Item = (I, Key)> + '_ {
        self.ids
            .iter()
            .enumerate()
            .map(|(slot, id)| (*id, self.key(slot)))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = Key> + Clone + '_ {
        (0..self.len()).map(|slot| self.key(slot))
    }

    /// Takes the ids out of a leaf that is no longer in the tree.
    pub(super) fn take_ids(&mut self) -> Vec<I> {
        core::mem::take(&mut self.ids)
    }

    /// Returns the list of whole keys, where the frame is not exact.
    pub(super) fn whole_keys(&self) -> Option<&[Key]> {
        (!self.is_exact()).then_some(&*self.keys)
    }

    /// Adds a point of this leaf's cube and returns its slot.
    pub(super) fn push(&mut self, id: I, key: Key) -> usize {
        let slot = self.ids.len();
        self.ids.push(id);
        if slot.is_multiple_of(LANES) {
            self.blocks.push(Block::default());
        }
        if self.cube.level <= OFFSET_BITS {
            self.write_low(slot, &key);
        } else if self.is_exact() {
            self.set(slot, key);
        } else {
            self.keys.push(key);
            match self.frame().offsets(&key) {
                Some(offsets) => self.write(slot, offsets),
                None => self.reframe(slot, key),
            }
        }
        slot
    }

    /// Moves a point if it stays in this leaf's cube or strays no farther than its slack; else marks it as waiting to cross. So does a
    /// point that waits already: its moves keep their order.
    #[inline]
    pub(super) fn try_move(&mut self, slot: usize, key: Key) -> Moved {
        // Nearly every move ends here: the frame is exact, so the lowest bits are all it takes.
        if self.cube.level <= OFFSET_BITS
            && (self.restless || !self.is_crowd())
            && self.cube.contains_small(&key)
            && !self.is_waiting(slot)
        {
            self.write_low(slot, &key);
            return Moved::Stays;
        }
        self.try_move_far(slot, key)
    }

    /// Does so in a large cube, and for a point that waits or leaves the cube or a crowd.
    #[inline(never)]
    fn try_move_far(&mut self, slot: usize, key: Key) -> Moved {
        if self.is_waiting(slot) {
            return Moved::Waits;
        }
        if self.cube.contains(&key) && (self.restless || !self.is_crowd()) {
            self.set(slot, key);
            return Moved::Stays;
        }
        let Some(stray) = self.cube.stray(&key) else {
            self.blocks[slot / LANES].axes[0][slot % LANES] |= WAITING;
            return Moved::Waits;
        };
        self.set(slot, key);
        let strays = stray > self.stray;
        self.stray = self.stray.max(stray);
        if self.is_crowd() && !self.restless && key != self.key(usize::from(slot == 0)) {
            self.restless = true;
            return Moved::Parts;
        }
        if strays { Moved::Strays } else { Moved::Stays }
    }

    /// Returns whether there are more points than a leaf holds. Between operations a crowd stands on
    /// one spot: anyone who leaves it splits it.
    #[inline]
    pub(super) fn is_crowd(&self) -> bool {
        self.len() > self.cube.leaf_limit()
    }

    /// Notes that a point is leaving and still counts above, and returns whether it is the first.
    pub(super) fn miss_one(&mut self) -> bool {
        self.missing += 1;
        self.missing == 1
    }

    /// Returns how many points are missing, and forgets them.
    pub(super) fn miss_none(&mut self) -> usize {
        core::mem::take(&mut self.missing) as usize
    }

    /// Ends a spell of `Moved::Parts` whose movers all came back.
    pub(super) fn calm(&mut self) {
        self.restless = false;
    }

    /// Takes the mark of a waiting point away, if it is still there.
    pub(super) fn stop_waiting(&mut self, slot: usize) {
        self.blocks[slot / LANES].axes[0][slot % LANES] &= !WAITING;
    }

    #[inline]
    fn is_waiting(&self, slot: usize) -> bool {
        self.blocks[slot / LANES].axes[0][slot % LANES] & WAITING != 0
    }

    #[inline]
    fn offsets(&self, slot: usize) -> [u32; 3] {
        let [x, y, z] = self.blocks[slot / LANES]
            .axes
            .map(|axis| axis[slot % LANES]);
        [x & !WAITING, y, z]
    }

    /// Moves a point within this leaf's cube.
    #[inline]
    pub(super) fn set(&mut self, slot: usize, key: Key) {
        if self.is_exact() && self.frame().holds(&key) {
            return self.write_low(slot, &key);
        }
        match self.frame().offsets(&key) {
            Some(offsets) => {
                self.write(slot, offsets);
                if !self.is_exact() {
                    // Axis by axis: a copy of the whole would wait for halves that were just written.
                    let written = &mut self.keys[slot];
                    for (axis, v) in written.iter_mut().zip(key) {
                        *axis = v;
                    }
                }
            }
            None => self.reframe(slot, key),
        }
    }

    /// Removes a point; the last one takes its slot, and is returned if it was another one.
    pub(super) fn swap_remove(&mut self, slot: usize) -> Option<I> {
        let last = self.ids.len() - 1;
        let block = self.blocks[last / LANES];
        self.write(slot, [0, 1, 2].map(|axis| block.axes[axis][last % LANES]));
        if !self.is_exact() {
            self.keys.swap_remove(slot);
        }
        self.ids.swap_remove(slot);
        self.blocks.truncate(last.div_ceil(LANES));
        if last < self.ids.capacity() / 4 && self.ids.capacity() > WIDE_LIMIT {
            self.shrink();
        }
        self.ids.get(slot).copied()
    }

    /// Returns the memory of a crowd that left.
    #[cold]
    fn shrink(&mut self) {
        let room = self.len() * 2;
        self.ids.shrink_to(room);
        self.blocks.shrink_to(room.div_ceil(LANES));
        self.keys.shrink_to(room);
    }

    #[inline]
    fn write(&mut self, slot: usize, offsets: [u32; 3]) {
        let block = &mut self.blocks[slot / LANES];
        for (axis, offset) in block.axes.iter_mut().zip(offsets) {
            axis[slot % LANES] = offset;
        }
    }

    /// Writes a point of a small cube.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "in a frame of 31 bits the lowest 32 lead to the offset, whatever is above"
    )]
    fn write_low(&mut self, slot: usize, key: &Key) {
        let from = self.frame().origin;
        let offset = |k: usize| (key[k] as u32).wrapping_sub(from[k] as u32);
        self.write(slot, [offset(0), offset(1), offset(2)]);
    }

    /// Moves a point out of the present frame, which only a leaf of a large cube has to do.
    #[cold]
    fn reframe(&mut self, slot: usize, key: Key) {
        let mut keys: Vec<Key> = if self.is_exact() {
            // The slot's offsets may be unset yet: its key is replaced below.
            (0..self.len()).map(|slot| self.key(slot)).collect()
        } else {
            core::mem::take(&mut self.keys)
        };
        keys[slot] = key;
        // A point on its way in may find a mark left behind by one that was there before.
        let waiting: Vec<_> = (0..self.len())
            .filter(|other| *other != slot && self.is_waiting(*other))
            .collect();
        self.encode(keys);
        for slot in waiting {
            self.blocks[slot / LANES].axes[0][slot % LANES] |= WAITING;
        }
    }

    /// Writes every point anew in a frame that fits the points of a large cube.
    fn encode(&mut self, keys: Vec<Key>) {
        self.wide_frame = Frame::fitting(&self.cube, &keys);
        self.write_all(&keys);
        self.keys = if self.is_exact() { Vec::new() } else { keys };
    }

    /// Writes every point anew in the present frame.
    fn write_all(&mut self, keys: &[Key]) {
        self.blocks.clear();
        self.blocks
            .resize(keys.len().div_ceil(LANES), Block::default());
        let frame = self.frame();
        for (slot, key) in keys.iter().enumerate() {
            let offsets = frame
                .offsets(key)
                .expect("a frame holds the points it was made for");
            self.write(slot, offsets);
        }
    }

    /// Returns the bytes of the leaf's lists, unused room included.
    pub(super) fn heap_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<I>()
            + self.blocks.capacity() * size_of::<Block>()
            + self.keys.capacity() * size_of::<Key>()
    }

    /// Checks that every point lies in the cube, or strays no farther than it may, and leads back to its offsets.
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.blocks.len() != self.len().div_ceil(LANES) {
            return Err(format!(
                "{} blocks for {} points",
                self.blocks.len(),
                self.len()
            ));
        }
        if self.keys.len() != if self.is_exact() { 0 } else { self.len() } {
            return Err(format!(
                "{} whole keys for {} points",
                self.keys.len(),
                self.len()
            ));
        }
        for slot in 0..self.len() {
            let key = self.key(slot);
            if self.cube.stray(&key).is_none_or(|stray| stray > self.stray) {
                return Err(format!(
                    "point {key:x?} lies outside its leaf's {:x?}",
                    self.cube
                ));
            }
            let written = self.blocks[slot / LANES]
                .axes
                .map(|axis| axis[slot % LANES]);
            if self.frame().offsets(&key) != Some(written) {
                return Err(format!(
                    "point {key:x?} is written as {written:?} in {:x?}",
                    self.frame()
                ));
            }
        }
        Ok(())
    }
}
