//! Overlapping pairs by sort and sweep.
//!
//! Space is cut into rows along x, as thick as the largest usual contact. In a row, entries are
//! sorted by x; a sweep compares each with the few that follow within reach, in its own row and in the
//! four next ones (one on a plane). Sizes that differ a lot would make rows too thick for the small ones:
//! each class of sizes has rows of its own, which every smaller entry asks: few rows are in its reach, and
//! what they hold is near. (Asking the other way round, a boulder walks all the rows of a cloud of dust.)
//! All of it runs on 32-bit offsets, where squares fit 64 bits: exact integers.

use core::ops::ControlFlow;

use super::SortedIndex;
use super::lanes::Finder;
use super::layout::{Layout, measure};
use super::rows::{Rows, Small};
use crate::radix::{Word, radix_sort};

/// At this many entries or fewer, asking each against each is faster than sorting. Measured with
/// `cargo xtask bench seeds --only crossover`.
const BRUTE_MAX: usize = 20;

/// When entries go back so many places on average, sorting them from scratch is faster.
const PLACES: usize = 4;

/// Working room for [`SortedIndex::visit_pairs`], kept by the caller so that a step allocates nothing
/// once it has grown.
#[derive(Clone, Debug, Default)]
pub struct PairScratch {
    /// Every entry in small numbers, in array order.
    entries: Vec<Small>,
    /// Sort keys above array indices; the wide ones only where 64 bits are too few.
    words: [Vec<u64>; 2],
    wide_words: [Vec<u128>; 2],
    rows: Rows,
    /// Array indices of the few entries that are too large for any class.
    giants: Vec<usize>,
}

impl<I: Copy + Ord> SortedIndex<I> {
    /// Returns every pair of spheres that touch, each once, the smaller id first.
    ///
    /// Two touch when their middles are at most the sum of their radii apart, exactly. The order is a
    /// function of what is stored. A particle with a negative radius touches nothing.
    ///
    /// ```
    /// use nebula_coords::{Particle, SortedIndex};
    /// use nebula_math::WorldPosition;
    ///
    /// let ball = |id, x, radius_mm| Particle { id, position: WorldPosition::new(x, -3, 0), radius_mm };
    /// let index = SortedIndex::from_particles(64, &[
    ///     ball(1_u32, -100, 30),
    ///     ball(2, -50, 20), // 50 away, and 30 + 20 = 50: the boundary counts
    ///     ball(3, -29, 0),  // 21 away from 2
    /// ])?;
    /// assert_eq!(index.overlapping_pairs(), [(1, 2)]);
    /// # Ok::<(), nebula_coords::CellSizeError>(())
    /// ```
    #[must_use]
    pub fn overlapping_pairs(&self) -> Vec<(I, I)> {
        let mut out = Vec::new();
        let _ = self.visit_pairs(&mut PairScratch::default(), |a, b| {
            out.push((a, b));
            ControlFlow::Continue(())
        });
        out
    }

    /// Hands every pair of spheres that touch to `f` until it breaks; see
    /// [`overlapping_pairs`](Self::overlapping_pairs).
    ///
    /// Costs one sort plus the sweep; it grows with the entries and the pairs that are nearly in
    /// contact. Up to 20 entries are asked each against each, which is faster there.
    pub fn visit_pairs(
        &self,
        scratch: &mut PairScratch,
        f: impl FnMut(I, I) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.ids.len() <= BRUTE_MAX {
            self.visit_pairs_brute_force(f)
        } else {
            self.visit_pairs_sweep(scratch, f)
        }
    }

    /// Does the work of [`visit_pairs`](Self::visit_pairs) by the sweep, however few entries there are.
    ///
    /// Entries spread over 2^31 mm or more, or with radii of 2^30 mm or more, take a slower way (several
    /// times, and with memory of its own) through a [`SpatialIndex`](crate::SpatialIndex) built for the
    /// purpose; the answers are the same.
    pub fn visit_pairs_sweep(
        &self,
        scratch: &mut PairScratch,
        mut f: impl FnMut(I, I) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(span) = measure(
            &self.positions,
            &self.radii,
            self.bits,
            &mut scratch.entries,
        ) else {
            return self.visit_pairs_wide(f);
        };
        let mut hand = |a: usize, b: usize| {
            let (a, b) = (self.ids[a], self.ids[b]);
            f(a.min(b), a.max(b))
        };
        let mut giants_above = None;
        for layout in span.classes() {
            let on_cells = span
                .with_cells(&layout, self.bits)
                .filter(|_| self.in_order);
            if on_cells.is_some_and(|layout| scratch.rows_of_cells(&layout)) {
                // Nothing is left to sort.
            } else if layout.fits_u64() {
                sort_rows(&layout, scratch, |scratch| &mut scratch.words);
            } else {
                sort_rows(&layout, scratch, |scratch| &mut scratch.wide_words);
            }
            scratch.rows.sweep(&scratch.entries, &mut hand)?;
            let giant = *giants_above.get_or_insert(*layout.radii.end());
            if scratch.rows.len() < span.touchable() {
                scratch.ask_rows(
                    |radius| radius < *layout.radii.start() || radius > giant,
                    &mut hand,
                )?;
            }
        }
        scratch.sweep_giants(giants_above, &mut hand)
    }
}

/// Sorts the entries of a class by (row, x) and hands them to the rows in that order.
fn sort_rows<W: Word>(
    layout: &Layout,
    scratch: &mut PairScratch,
    words_of: fn(&mut PairScratch) -> &mut [Vec<W>; 2],
) {
    let [mut words, mut spare] = core::mem::take(words_of(scratch));
    words.clear();
    for (i, entry) in scratch.entries.iter().enumerate() {
        if layout.radii.contains(&entry.radius) {
            words.push(W::pack(layout.key(entry), layout.index_bits, i));
        }
    }
    radix_sort(&mut words, &mut spare, layout.index_bits, layout.key_bits());
    scratch.rows.clear(layout, words.len());
    for word in &words {
        let i = word.index(layout.index_bits);
        let row = word.key(layout.index_bits + layout.x_bits);
        scratch.rows.push(row, &scratch.entries[i as usize], i);
    }
    *words_of(scratch) = [words, spare];
}

impl PairScratch {
    /// Makes the rows from the array, which is sorted by cells, if its order is nearly that of the rows.
    ///
    /// Cells as thick as the rows, or twice, do: what is left is to sort each cell by x, in place.
    fn rows_of_cells(&mut self, layout: &Layout) -> bool {
        self.rows.clear(layout, self.entries.len());
        let mut places = 0;
        for (i, entry) in (0..).zip(&self.entries) {
            if layout.radii.contains(&entry.radius) {
                places += self.rows.push_nearly_sorted(layout.row(entry), entry, i);
                if places > self.entries.len() * PLACES {
                    return false;
                }
            }
        }
        true
    }

    /// Lets each entry of a wanted radius ask the rows. Entries of the class itself must not.
    fn ask_rows(
        &self,
        wanted: impl Fn(u32) -> bool,
        f: &mut impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut finder = Finder::new(&self.entries, f);
        for (a, entry) in (0..).zip(&self.entries) {
            if wanted(entry.radius) && !entry.is_nothing() {
                self.rows.around(entry, a, &mut finder)?;
            }
        }
        finder.flush()
    }

    /// Compares the entries above the radius, which no class takes in, each with each.
    fn sweep_giants(
        &mut self,
        radius: Option<u32>,
        f: &mut impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.giants.clear();
        for (a, giant) in self.entries.iter().enumerate() {
            if giant.is_nothing() || radius.is_some_and(|radius| giant.radius <= radius) {
                continue;
            }
            for b in &self.giants {
                if giant.touches(&self.entries[*b]) {
                    f(*b, a)?;
                }
            }
            self.giants.push(a);
        }
        ControlFlow::Continue(())
    }
}
