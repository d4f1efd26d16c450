//! Overlapping pairs by sort and sweep.
//!
//! Space is cut into rows along x, as thick as the largest usual contact. In a row, entries are
//! sorted by x; a sweep compares each with the few that follow within reach, in its own row and in the
//! four next ones (one on a plane). The few giants that would make every row thick are left out and ask
//! the rows one by one. All of it runs on 32-bit offsets, where squares fit 64 bits: exact integers.

use core::ops::ControlFlow;

use super::SortedIndex;
use super::rows::{Rows, Small};
use super::sort::radix_sort;

/// At this many entries or fewer, asking each against each is faster than sorting. Measured with
/// `cargo bench -p nebula-coords --bench seeds -- --only crossover`.
const BRUTE_MAX: usize = 40;

/// Offsets and radii stay below these, so that a sum of three squares fits 64 bits.
const EXTENT_LIMIT: u128 = 1 << 31;
const RADIUS_LIMIT: u128 = 1 << 30;

/// Working room for [`SortedIndex::visit_pairs`], kept by the caller so that a step allocates nothing
/// once it has grown.
#[derive(Clone, Debug, Default)]
pub struct PairScratch {
    keyed: Vec<(u64, u32)>,
    spare: Vec<(u64, u32)>,
    rows: Rows,
    /// Array indices of the entries that are too large for the rows.
    giants: Vec<u32>,
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
    /// contact. Up to 40 entries are asked each against each, which is faster there.
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
    /// times) with the same answers.
    pub fn visit_pairs_sweep(
        &self,
        scratch: &mut PairScratch,
        mut f: impl FnMut(I, I) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(span) = self.span() else {
            return self.visit_pairs_wide(f);
        };
        self.fill_rows(&span, scratch);
        scratch.rows.sweep(&mut |a, b| self.hand(a, b, &mut f))?;
        self.sweep_giants(&span, scratch, &mut f)
    }

    /// Measures the entries, if their offsets fit 32 bits.
    fn span(&self) -> Option<Span> {
        let first = self.positions.first()?;
        let (mut min, mut max) = (*first, *first);
        for p in &self.positions {
            (min.x, max.x) = (min.x.min(p.x), max.x.max(p.x));
            (min.y, max.y) = (min.y.min(p.y), max.y.max(p.y));
            (min.z, max.z) = (min.z.min(p.z), max.z.max(p.z));
        }
        let fits = |lo: i128, hi: i128| {
            let extent = hi.abs_diff(lo);
            (extent < EXTENT_LIMIT).then(|| u32::try_from(extent).ok())?
        };
        u32::try_from(self.ids.len()).ok()?;
        Some(Span {
            min: [min.x, min.y, min.z],
            extent: [
                fits(min.x, max.x)?,
                fits(min.y, max.y)?,
                fits(min.z, max.z)?,
            ],
            usual: self.usual_radius()?,
        })
    }

    /// Returns the largest radius that rows are made for: all but a few giants are at most as large.
    /// `None` when a radius is too large for 32 bits.
    fn usual_radius(&self) -> Option<u32> {
        let mut by_bits = [0_usize; 32];
        let mut largest = [0_u32; 32];
        for radius in &self.radii {
            let Ok(radius) = u128::try_from(*radius) else {
                continue;
            };
            let radius = u32::try_from(radius)
                .ok()
                .filter(|r| u128::from(*r) < RADIUS_LIMIT)?;
            let bits = (u32::BITS - radius.leading_zeros()) as usize;
            by_bits[bits] += 1;
            largest[bits] = largest[bits].max(radius);
        }
        // Giants are compared with one another each against each, so their squares must stay below n.
        let mut giants_left = 2 * self.ids.len().isqrt();
        for bits in (0..32).rev() {
            if by_bits[bits] > giants_left {
                return Some(largest[bits]);
            }
            giants_left -= by_bits[bits];
        }
        Some(0)
    }

    /// Sorts the entries into rows, and the giants out.
    fn fill_rows(&self, span: &Span, scratch: &mut PairScratch) {
        let layout = Layout::of(span);
        scratch.keyed.clear();
        scratch.giants.clear();
        for i in 0..self.ids.len() {
            let Some(small) = self.small(i, span) else {
                continue;
            };
            let index = u32::try_from(i).expect("`span` checked the length");
            if small.radius > span.usual {
                scratch.giants.push(index);
            } else {
                scratch.keyed.push((layout.key(&small), index));
            }
        }
        radix_sort(&mut scratch.keyed, &mut scratch.spare, layout.bits);
        scratch
            .rows
            .clear(layout.y_bits, layout.row_shift, span.usual);
        for (key, index) in &scratch.keyed {
            if let Some(small) = self.small(*index as usize, span) {
                scratch.rows.push(key >> layout.x_bits, small, *index);
            }
        }
    }

    /// Compares each giant with the rows and with the giants before it.
    fn sweep_giants(
        &self,
        span: &Span,
        scratch: &PairScratch,
        f: &mut impl FnMut(I, I) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for (n, a) in scratch.giants.iter().enumerate() {
            let Some(giant) = self.small(*a as usize, span) else {
                continue;
            };
            scratch.rows.around(&giant, &mut |b| self.hand(*a, b, f))?;
            for b in &scratch.giants[..n] {
                if self
                    .small(*b as usize, span)
                    .is_some_and(|other| giant.touches(&other))
                {
                    self.hand(*a, *b, f)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns an entry in 32-bit offsets, or `None` if it touches nothing.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`span` checked that every offset is below 2^31 and every radius below 2^30"
    )]
    #[inline]
    fn small(&self, i: usize, span: &Span) -> Option<Small> {
        let (p, radius) = (&self.positions[i], self.radii[i]);
        (radius >= 0).then(|| Small {
            x: p.x.wrapping_sub(span.min[0]) as u32,
            y: p.y.wrapping_sub(span.min[1]) as u32,
            z: p.z.wrapping_sub(span.min[2]) as u32,
            radius: radius as u32,
        })
    }

    #[inline]
    fn hand(&self, a: u32, b: u32, f: &mut impl FnMut(I, I) -> ControlFlow<()>) -> ControlFlow<()> {
        let (a, b) = (self.ids[a as usize], self.ids[b as usize]);
        f(a.min(b), a.max(b))
    }
}

/// Where the entries lie, and how large the usual ones are.
struct Span {
    min: [i128; 3],
    extent: [u32; 3],
    usual: u32,
}

/// How an entry becomes a sort key: row by z, row by y, x.
struct Layout {
    x_bits: u32,
    y_bits: u32,
    /// Rows are 2^row_shift thick.
    row_shift: u32,
    bits: u32,
}

impl Layout {
    fn of(span: &Span) -> Self {
        let width = |v: u32| u32::BITS - v.leading_zeros();
        let [x, y, z] = span.extent;
        let x_bits = width(x);
        // A row must be at least as thick as the widest contact of usual entries.
        let contact = 2 * span.usual;
        let mut row_shift = width(contact.saturating_sub(1));
        loop {
            // Two spare values keep the rows beside the first and the last one apart from the next layer.
            let y_bits = width((y >> row_shift) + 2);
            let bits = x_bits + y_bits + width(z >> row_shift);
            if bits <= u64::BITS {
                return Self {
                    x_bits,
                    y_bits,
                    row_shift,
                    bits,
                };
            }
            // So wide a space is thinly filled: thicker rows cost little.
            row_shift += 1;
        }
    }

    fn key(&self, p: &Small) -> u64 {
        let y = u64::from(p.y >> self.row_shift) + 1;
        let z = u64::from(p.z >> self.row_shift);
        ((z << self.y_bits | y) << self.x_bits) | u64::from(p.x)
    }
}
