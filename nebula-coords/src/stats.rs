//! Query statistics: how often, how wide, how many candidates and hits; how full the cells are.

mod measured;

use core::fmt;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Region;

pub use measured::Measured;

/// Buckets for 0, [1, 2), [2, 4), ... [2^127, 2^128).
const RADIUS_BUCKETS: usize = 129;

/// Counts of queries by shape and radius, and of what they found. Filled by [`Measured`], or by hand.
///
/// Recording takes `&self`, so readers on several threads share one; each count is exact, and a
/// summary taken meanwhile may miss the queries that are just being recorded.
///
/// ```
/// use nebula_coords::{QueryStats, Region};
/// use nebula_math::WorldPosition;
///
/// let stats = QueryStats::new();
/// stats.record(&Region::ball(WorldPosition::new(-5, 0, 0), 9_000), Some(40), 10);
/// stats.record(&Region::ball(WorldPosition::new(-6, 0, 0), 12_000), Some(20), 5);
/// let summary = stats.summary();
/// assert_eq!((summary.queries, summary.hits), (2, 15));
/// assert_eq!(summary.candidates_per_hit(), Some(4.0));
/// assert_eq!(summary.by_radius, [(8_192, 2)]); // both are in [8192, 16384)
/// ```
#[derive(Debug)]
pub struct QueryStats {
    balls: AtomicU64,
    boxes: AtomicU64,
    swept: AtomicU64,
    nearest: AtomicU64,
    hits: AtomicU64,
    /// Hits of the queries whose candidates were counted, so that the ratio compares like with like.
    weighed_hits: AtomicU64,
    candidates: AtomicU64,
    radii: [AtomicU64; RADIUS_BUCKETS],
}

impl Default for QueryStats {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            balls: zero(),
            boxes: zero(),
            swept: zero(),
            nearest: zero(),
            hits: zero(),
            weighed_hits: zero(),
            candidates: zero(),
            radii: core::array::from_fn(|_| zero()),
        }
    }
}

impl QueryStats {
    /// Makes statistics that count nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one query about a region, with the entries that were looked at, if known, and those
    /// that were found.
    pub fn record(&self, region: &Region, candidates: Option<usize>, hits: usize) {
        match region {
            Region::Ball { radius_mm, .. } => {
                bump(&self.balls, 1);
                self.record_radius(*radius_mm);
            }
            Region::Box(_) => bump(&self.boxes, 1),
            Region::Swept { radius_mm, .. } => {
                bump(&self.swept, 1);
                self.record_radius(*radius_mm);
            }
        }
        bump(&self.hits, hits);
        if let Some(candidates) = candidates {
            bump(&self.candidates, candidates);
            bump(&self.weighed_hits, hits);
        }
    }

    /// Counts one query for the nearest entries.
    pub fn record_nearest(&self, hits: usize) {
        bump(&self.nearest, 1);
        bump(&self.hits, hits);
    }

    /// Forgets everything counted so far.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn summary(&self) -> StatsSummary {
        let by_radius: Vec<(u128, u64)> = self
            .radii
            .iter()
            .enumerate()
            .map(|(bucket, n)| (bucket_start(bucket), read(n)))
            .filter(|(_, n)| *n > 0)
            .collect();
        let (balls, boxes) = (read(&self.balls), read(&self.boxes));
        let (swept, nearest) = (read(&self.swept), read(&self.nearest));
        StatsSummary {
            queries: balls + boxes + swept + nearest,
            balls,
            boxes,
            swept,
            nearest,
            hits: read(&self.hits),
            weighed_hits: read(&self.weighed_hits),
            candidates: read(&self.candidates),
            by_radius,
        }
    }

    fn record_radius(&self, radius_mm: i128) {
        // A negative radius finds nothing and says nothing about a good cell size.
        if let Ok(radius) = u128::try_from(radius_mm) {
            let bucket = (u128::BITS - radius.leading_zeros()) as usize;
            bump(&self.radii[bucket], 1);
        }
    }
}

/// What [`QueryStats`] counted up to a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatsSummary {
    /// All queries.
    pub queries: u64,
    /// Queries about a ball.
    pub balls: u64,
    /// Queries about a box.
    pub boxes: u64,
    /// Queries about a swept sphere.
    pub swept: u64,
    /// Queries for the nearest.
    pub nearest: u64,
    /// Entries found by all queries.
    pub hits: u64,
    /// Entries found by those queries whose candidates were counted.
    pub weighed_hits: u64,
    /// Entries looked at by those queries.
    pub candidates: u64,
    /// Queries by radius: the smallest radius of a power-of-two bucket in millimetres, and how many
    /// fell into it. Empty buckets are left out.
    pub by_radius: Vec<(u128, u64)>,
}

impl StatsSummary {
    /// Returns the mean number of results, or `None` before the first query.
    #[must_use]
    pub fn hits_per_query(&self) -> Option<f64> {
        ratio(self.hits, self.queries)
    }

    /// Returns how many entries were looked at for each one found, or `None` when that is unknown.
    ///
    /// 1 is ideal; far above some 8 the cells are too large for the radius.
    #[must_use]
    pub fn candidates_per_hit(&self) -> Option<f64> {
        ratio(self.candidates, self.weighed_hits)
    }

    /// Returns a cell size for these queries, or `None` when none had a radius.
    ///
    /// The rule of thumb is a cell about as large as the usual radius: this is the upper end of the
    /// bucket in which the median query falls.
    ///
    /// ```
    /// use nebula_coords::{QueryStats, Region, SpatialGrid};
    /// use nebula_math::WorldPosition;
    ///
    /// let stats = QueryStats::new();
    /// for r in [14_000, 15_000, 900_000] {
    ///     stats.record(&Region::ball(WorldPosition::ORIGIN, r), None, 0);
    /// }
    /// let cell_mm = stats.summary().suggested_cell_mm().unwrap();
    /// assert_eq!(cell_mm, 16_384);
    /// let mut grid = SpatialGrid::<u32>::default();
    /// grid.set_cell_size_mm(cell_mm)?;
    /// # Ok::<(), nebula_coords::CellSizeError>(())
    /// ```
    #[must_use]
    pub fn suggested_cell_mm(&self) -> Option<i128> {
        let with_radius: u64 = self.by_radius.iter().map(|(_, n)| n).sum();
        let mut left = with_radius.div_ceil(2);
        for (start, n) in &self.by_radius {
            left = left.saturating_sub(*n);
            if left == 0 {
                let end = start.saturating_mul(2).max(1);
                return Some(i128::try_from(end).unwrap_or(i128::MAX));
            }
        }
        None
    }
}

impl fmt::Display for StatsSummary {
    /// Writes one line for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} queries, {} hits", self.queries, self.hits)?;
        if let Some(mean) = self.hits_per_query() {
            write!(f, " ({mean:.1} each)")?;
        }
        if let Some(cost) = self.candidates_per_hit() {
            write!(f, ", {cost:.1} candidates per hit")?;
        }
        for (radius, n) in &self.by_radius {
            write!(f, "; r >= {radius} mm: {n}")?;
        }
        Ok(())
    }
}

/// How full the cells of an index are.
///
/// ```
/// let mut occupancy = nebula_coords::Occupancy::default();
/// occupancy.add(1);
/// occupancy.add(6);
/// occupancy.add(7);
/// assert_eq!(occupancy.histogram(), [(1, 1), (4, 2)]); // one cell with 1, two with 4 to 7
/// assert_eq!(occupancy.entries_per_cell(), Some(14.0 / 3.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Cells that hold something.
    pub cells: usize,
    /// Entries in all of them.
    pub entries: usize,
    /// Entries in the fullest one.
    pub fullest: usize,
    buckets: Vec<usize>,
}

impl Occupancy {
    /// Counts one cell. An empty one does not count.
    pub fn add(&mut self, entries: usize) {
        let Some(bucket) = entries.checked_ilog2() else {
            return;
        };
        let bucket = bucket as usize;
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.cells += 1;
        self.entries += entries;
        self.fullest = self.fullest.max(entries);
    }

    /// Returns the fewest entries of each power-of-two bucket and how many cells fell into it, without
    /// the empty buckets.
    #[must_use]
    pub fn histogram(&self) -> Vec<(usize, usize)> {
        self.buckets
            .iter()
            .enumerate()
            .map(|(bucket, n)| (1_usize << bucket, *n))
            .filter(|(_, n)| *n > 0)
            .collect()
    }

    /// Returns the mean number of entries in an occupied cell, or `None` when there is none.
    #[must_use]
    pub fn entries_per_cell(&self) -> Option<f64> {
        ratio(self.entries as u64, self.cells as u64)
    }
}

fn bucket_start(bucket: usize) -> u128 {
    bucket.checked_sub(1).map_or(0, |shift| 1 << shift)
}

fn bump(counter: &AtomicU64, by: usize) {
    counter.fetch_add(by as u64, Ordering::Relaxed);
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a ratio for people; counts past 2^53 lose digits that nobody reads"
)]
fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

/// Returns the bytes a vector holds on the heap.
pub(crate) const fn vec_bytes<T>(v: &Vec<T>) -> usize {
    v.capacity() * size_of::<T>()
}

/// Returns about how many bytes a hash map holds: its entries and one control byte each, at most 7/8
/// full.
pub(crate) fn map_bytes<K, V, S>(map: &HashMap<K, V, S>) -> usize {
    map.capacity() * 8 / 7 * (size_of::<(K, V)>() + 1)
}
