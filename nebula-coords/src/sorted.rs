//! `SortedIndex`: nothing stored but a sorted array; cells are implied by the order.

mod brute;
mod lanes;
mod layout;
mod pairs;
mod query;
mod rows;
mod sort;

use core::cmp::Ordering;

use nebula_math::WorldPosition;

use crate::grid::{CellKey, CellSizeError};

pub use pairs::PairScratch;
use sort::{Movers, leaves_cell};

/// The cell of [`SortedIndex::default`]: 2^14 mm, the first power of two above 10 m.
const DEFAULT_BITS: u32 = 14;

/// Ids, positions and radii in one array, sorted by an implied cell.
///
/// Cells are cubes of a power of two millimetres. No cell and no key is stored: a key is three shifts of
/// a position, right for negatives and at the ends of the universe, and the array is sorted by (cell by
/// z, then y, then x; then id). A plane is the case where every `z` is 0.
///
/// * A region is read row by row: one search finds where a row begins, a walk along the array reads it,
///   and rows in which nothing lies are skipped. So the work is bounded by what is stored.
/// * [`overlapping_pairs`](Self::overlapping_pairs) finds every pair of spheres that touch.
/// * It is always in sync: single changes keep the array sorted, and [`update_all`](Self::update_all)
///   sorts again when it is done. Single changes look for the id one entry at a time and cost O(n); for
///   many ids that move one at a time take [`SpatialGrid`](crate::SpatialGrid) or
///   [`SpatialIndex`](crate::SpatialIndex).
/// * Memory is the entries themselves. Positions lie dense and in space order, so chunks of the array
///   can be handed to threads or to a GPU as they are.
///
/// Choose a cell of about the usual query radius. Results come in array order, a function of what is
/// stored alone.
///
/// ```
/// use nebula_coords::{Particle, SortedIndex};
/// use nebula_math::WorldPosition;
///
/// let at = |x, y| WorldPosition::new(x, y, 0);
/// let index = SortedIndex::from_particles(1_000, &[
///     Particle { id: 1_u32, position: at(-1, 0), radius_mm: 5 },
///     Particle { id: 2, position: at(10, 0), radius_mm: 6 },
///     Particle { id: 3, position: at(-1, -12), radius_mm: 6 },
/// ])?;
/// assert_eq!(index.query_radius(&at(0, 0), 10), [1, 2]);
/// assert_eq!(index.overlapping_pairs(), [(1, 2)]); // 11 apart; 1 and 3 are 12 apart
/// # Ok::<(), nebula_coords::CellSizeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SortedIndex<I> {
    /// A cell is 2^bits millimetres wide; at most 127.
    bits: u32,
    ids: Vec<I>,
    positions: Vec<WorldPosition>,
    radii: Vec<i128>,
    /// At least the largest radius; -1 when there is none.
    radius_max: i128,
    /// False only after a panic in the middle of `update_all`; queries then ask every entry.
    in_order: bool,
}

/// One entry of a [`SortedIndex`]: a sphere, or a disc where every `z` is the same.
///
/// A negative radius touches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Particle<I> {
    /// The caller's name for it.
    pub id: I,
    /// Its middle.
    pub position: WorldPosition,
    /// Its radius in millimetres.
    pub radius_mm: i128,
}

impl<I> Default for SortedIndex<I> {
    /// Makes an empty index with cells of 16.384 m.
    fn default() -> Self {
        Self::with_bits(DEFAULT_BITS)
    }
}

impl<I> SortedIndex<I> {
    const fn with_bits(bits: u32) -> Self {
        Self {
            bits,
            ids: Vec::new(),
            positions: Vec::new(),
            radii: Vec::new(),
            radius_max: -1,
            in_order: true,
        }
    }
}

impl<I: Copy + Ord> SortedIndex<I> {
    /// Makes an empty index whose cells are the smallest power of two of at least `cell_mm`.
    ///
    /// # Errors
    /// When `cell_mm` is zero or negative.
    ///
    /// ```
    /// let index = nebula_coords::SortedIndex::<u32>::new(1_000)?;
    /// assert_eq!(index.cell_size_mm(), 1_024);
    /// assert!(nebula_coords::SortedIndex::<u32>::new(0).is_err());
    /// # Ok::<(), nebula_coords::CellSizeError>(())
    /// ```
    pub fn new(cell_mm: i128) -> Result<Self, CellSizeError> {
        if cell_mm <= 0 {
            return Err(CellSizeError { cell_mm });
        }
        Ok(Self::with_bits(
            cell_mm.unsigned_abs().next_power_of_two().ilog2(),
        ))
    }

    /// Builds an index from a list; of entries with the same id the last one wins. O(n log n).
    ///
    /// # Errors
    /// When `cell_mm` is zero or negative.
    pub fn from_particles(cell_mm: i128, particles: &[Particle<I>]) -> Result<Self, CellSizeError> {
        let mut index = Self::new(cell_mm)?;
        let mut order: Vec<usize> = (0..particles.len()).collect();
        // Stable, so that of equal ids the last entry comes last.
        order.sort_by_key(|i| particles[*i].id);
        for (n, i) in order.iter().enumerate() {
            let particle = &particles[*i];
            let again = order
                .get(n + 1)
                .is_some_and(|next| particles[*next].id == particle.id);
            if !again {
                index.push(particle);
            }
        }
        index.sort();
        Ok(index)
    }

    /// Returns the size of a cell in millimetres: a power of two, up to 2^127.
    #[must_use]
    pub const fn cell_size_mm(&self) -> u128 {
        1 << self.bits
    }

    /// Returns the key of the implied cell that a position falls into.
    ///
    /// ```
    /// use nebula_coords::SortedIndex;
    /// use nebula_math::WorldPosition;
    ///
    /// let index = SortedIndex::<u32>::new(1_024)?;
    /// let key = index.cell_of(&WorldPosition::new(-1, 1_024, i128::MIN));
    /// assert_eq!((key.x, key.y, key.z), (-1, 1, i128::MIN >> 10));
    /// # Ok::<(), nebula_coords::CellSizeError>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn cell_of(&self, at: &WorldPosition) -> CellKey {
        // An arithmetic shift rounds down and keeps the order, for negatives too. The axes stay apart,
        // so no sign runs from one into the next.
        CellKey {
            z: at.z >> self.bits,
            y: at.y >> self.bits,
            x: at.x >> self.bits,
        }
    }

    /// Stores `id` at a position with radius 0 and returns where it was before. O(n).
    pub fn insert(&mut self, id: I, at: WorldPosition) -> Option<WorldPosition> {
        self.insert_particle(Particle {
            id,
            position: at,
            radius_mm: 0,
        })
        .map(|before| before.position)
    }

    /// Stores a particle and returns the one with its id that it replaces. O(n).
    pub fn insert_particle(&mut self, particle: Particle<I>) -> Option<Particle<I>> {
        let before = self.remove_particle(particle.id);
        self.ensure_order();
        let at = self.lower_bound_entry(&particle.position, particle.id);
        self.ids.insert(at, particle.id);
        self.positions.insert(at, particle.position);
        self.radii.insert(at, particle.radius_mm);
        self.radius_max = self.radius_max.max(particle.radius_mm);
        before
    }

    /// Moves `id`, and returns whether it was stored; an unknown id changes nothing. O(n).
    ///
    /// To move many, use [`update_all`](Self::update_all).
    pub fn update(&mut self, id: I, to: WorldPosition) -> bool {
        let Some(i) = self.find(id) else {
            return false;
        };
        if self.cell_of(&self.positions[i]) == self.cell_of(&to) {
            self.positions[i] = to;
        } else {
            let radius_mm = self.radii[i];
            self.insert_particle(Particle {
                id,
                position: to,
                radius_mm,
            });
        }
        true
    }

    /// Gives `id` another radius, and returns whether it was stored. O(n).
    pub fn set_radius(&mut self, id: I, radius_mm: i128) -> bool {
        let Some(i) = self.find(id) else {
            return false;
        };
        self.radii[i] = radius_mm;
        self.radius_max = self.radius_max.max(radius_mm);
        true
    }

    /// Removes `id` and returns where it was. O(n).
    pub fn remove(&mut self, id: I) -> Option<WorldPosition> {
        self.remove_particle(id).map(|particle| particle.position)
    }

    /// Removes `id` and returns the particle. O(n).
    pub fn remove_particle(&mut self, id: I) -> Option<Particle<I>> {
        let i = self.find(id)?;
        self.ids.remove(i);
        Some(Particle {
            id,
            position: self.positions.remove(i),
            radius_mm: self.radii.remove(i),
        })
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.positions.clear();
        self.radii.clear();
        self.radius_max = -1;
        self.in_order = true;
    }

    /// Makes room for `additional` more entries.
    pub fn reserve(&mut self, additional: usize) {
        self.ids.reserve(additional);
        self.positions.reserve(additional);
        self.radii.reserve(additional);
    }

    /// Lets `f` move every entry (it gets the id, the position to change and the radius), then sorts.
    ///
    /// The answers of this step were computed before, so forces are gathered first and applied here:
    /// the order never changes while something reads it. The sort is adaptive: entries that stay in
    /// their cells stay in order, the others are sorted and merged in, and when more than a third have
    /// left their cells a radix sort takes over.
    ///
    /// ```
    /// use nebula_coords::{SortedIndex, SpatialQuery};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut index = SortedIndex::new(1_000)?;
    /// index.insert(1_u32, WorldPosition::new(-1, 0, 0));
    /// index.insert(2, WorldPosition::new(5_000, 0, 0));
    /// index.update_all(|id, at, _radius| if id == 1 { at.x = 9_000 });
    /// assert_eq!(index.iter().map(|p| p.id).collect::<Vec<_>>(), [2, 1]);
    /// # Ok::<(), nebula_coords::CellSizeError>(())
    /// ```
    pub fn update_all(&mut self, mut f: impl FnMut(I, &mut WorldPosition, i128)) {
        // If `f` panics, the flag stays down and queries do not rely on the order.
        let was_in_order = core::mem::replace(&mut self.in_order, false);
        let mut movers = Movers::new();
        let bits = self.bits;
        let entries = self.ids.iter().zip(&mut self.positions).zip(&self.radii);
        for (i, ((id, at), radius)) in entries.enumerate() {
            let before = *at;
            f(*id, at, *radius);
            movers.note(i, leaves_cell(&before, at, bits));
        }
        let movers = movers.indices();
        if was_in_order {
            self.sort_movers(&movers);
        } else {
            self.sort();
        }
    }

    /// Returns whether `id` is stored. O(n).
    #[must_use]
    pub fn contains(&self, id: I) -> bool {
        self.find(id).is_some()
    }

    /// Returns where `id` is. O(n).
    #[must_use]
    pub fn get(&self, id: I) -> Option<WorldPosition> {
        self.find(id).map(|i| self.positions[i])
    }

    /// Returns the radius of `id`. O(n).
    #[must_use]
    pub fn radius(&self, id: I) -> Option<i128> {
        self.find(id).map(|i| self.radii[i])
    }

    /// Returns every particle, in array order.
    pub fn iter(&self) -> impl Iterator<Item = Particle<I>> + '_ {
        (0..self.ids.len()).map(|i| self.particle(i))
    }

    /// Returns the ids in array order.
    #[must_use]
    pub fn ids(&self) -> &[I] {
        &self.ids
    }

    /// Returns the positions in array order, beside [`ids`](Self::ids).
    #[must_use]
    pub fn positions(&self) -> &[WorldPosition] {
        &self.positions
    }

    /// Returns about how many bytes the index holds, spare room included.
    #[must_use]
    pub const fn memory_bytes(&self) -> usize {
        crate::stats::vec_bytes(&self.ids)
            + crate::stats::vec_bytes(&self.positions)
            + crate::stats::vec_bytes(&self.radii)
    }

    /// Checks every invariant of the structure.
    ///
    /// # Errors
    /// A sentence that names the first invariant that does not hold.
    pub fn validate(&self) -> Result<(), String> {
        let n = self.ids.len();
        if self.positions.len() != n || self.radii.len() != n {
            return Err(format!("{n} ids do not match positions and radii"));
        }
        if let Some(i) = (1..n).find(|i| self.in_order && self.order(i - 1, *i).is_ge()) {
            return Err(format!("entries {} and {i} are out of order", i - 1));
        }
        if let Some(radius) = self.radii.iter().find(|r| **r > self.radius_max) {
            return Err(format!("radius {radius} exceeds the noted largest"));
        }
        let mut ids = self.ids.clone();
        ids.sort_unstable();
        if ids.windows(2).any(|w| w[0] == w[1]) {
            return Err("an id is stored twice".to_owned());
        }
        Ok(())
    }

    fn push(&mut self, particle: &Particle<I>) {
        self.ids.push(particle.id);
        self.positions.push(particle.position);
        self.radii.push(particle.radius_mm);
        self.radius_max = self.radius_max.max(particle.radius_mm);
    }

    fn find(&self, id: I) -> Option<usize> {
        self.ids.iter().position(|other| *other == id)
    }

    fn particle(&self, i: usize) -> Particle<I> {
        Particle {
            id: self.ids[i],
            position: self.positions[i],
            radius_mm: self.radii[i],
        }
    }

    #[inline]
    fn key(&self, i: usize) -> CellKey {
        self.cell_of(&self.positions[i])
    }

    /// Compares two entries by (cell, id).
    #[inline]
    fn order(&self, a: usize, b: usize) -> Ordering {
        (self.key(a), self.ids[a]).cmp(&(self.key(b), self.ids[b]))
    }

    /// Sorts if a panic left the array out of order.
    fn ensure_order(&mut self) {
        if !self.in_order {
            self.sort();
        }
    }

    /// Returns where an entry belongs.
    fn lower_bound_entry(&self, at: &WorldPosition, id: I) -> usize {
        let wanted = (self.cell_of(at), id);
        self.partition(self.ids.len(), |i| (self.key(i), self.ids[i]) < wanted)
    }

    /// Returns the first of `n` entries that is not `before`, by halves.
    fn partition(&self, n: usize, before: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (0, n);
        while low < high {
            let middle = low.midpoint(high);
            if before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
