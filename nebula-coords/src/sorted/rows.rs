//! Rows of entries sorted by x, and the sweep over neighbouring rows.

use core::ops::{ControlFlow, Range};

use super::lanes::{Columns, Finder, LANES, Probe};
use super::layout::Layout;

/// An entry in offsets below 2^31 and a radius below 2^30, so that squares and their sums fit 64 bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Small {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) z: u32,
    pub(super) radius: u32,
}

impl Small {
    /// The radius of an entry that touches nothing.
    pub(super) const NOTHING: u32 = u32::MAX;

    pub(super) const fn is_nothing(&self) -> bool {
        self.radius == Self::NOTHING
    }

    /// Returns whether two spheres touch.
    #[inline]
    pub(super) fn touches(&self, other: &Self) -> bool {
        // Offsets below 2^31 differ by less than that, so squares are below 2^62 and three fit 64 bits:
        // nothing wraps, and the sweep pays for no checks.
        let square = |v: u32| {
            let v = i64::from(v.cast_signed());
            v.wrapping_mul(v).cast_unsigned()
        };
        square(self.x.wrapping_sub(other.x))
            .wrapping_add(square(self.y.wrapping_sub(other.y)))
            .wrapping_add(square(self.z.wrapping_sub(other.z)))
            <= square(self.radius.wrapping_add(other.radius))
    }
}

/// Rows in order of their keys: z in the high bits, y + 1 in the low `y_bits`.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    y_bits: u32,
    row_shift: u32,
    /// No radius is larger.
    usual: u32,
    rows: Vec<Row>,
    /// How many entries there are in all rows.
    len: usize,
    /// The entries of all rows, by x in each row.
    columns: Columns,
}

#[derive(Clone, Debug)]
struct Row {
    key: u64,
    range: Range<usize>,
    /// The largest radius in it.
    largest: u32,
}

/// A row beside the one at hand, read from its first entry in reach on.
#[derive(Clone, Copy, Debug, Default)]
struct Beside {
    first: usize,
    end: usize,
    /// No two entries of the rows touch that are farther apart.
    reach: u32,
}

impl Beside {
    /// Passes entries below `start`, perhaps not all of them, and returns the first one left.
    ///
    /// About one is to pass at a time. Without a branch two are; should more be, they are in the window.
    #[inline]
    fn pass(&mut self, xs: &[u32], start: u32) -> usize {
        let mut at = self.first;
        while at + LANES <= self.end && xs[at + LANES - 1] < start {
            at += LANES;
        }
        at += usize::from((at < self.end) & (xs[at] < start));
        at += usize::from((at < self.end) & (xs[at] < start));
        self.first = at;
        at
    }
}

impl Rows {
    /// Empties the rows and makes room for so many entries.
    pub(super) fn clear(&mut self, layout: &Layout, entries: usize) {
        self.y_bits = layout.y_bits;
        self.row_shift = layout.row_shift;
        self.usual = *layout.radii.end();
        self.rows.clear();
        self.len = 0;
        self.columns.reserve(entries);
    }

    /// Returns how many entries there are in all rows.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Appends an entry; keys never decrease, and x never decreases in a row.
    #[inline]
    pub(super) fn push(&mut self, key: u64, entry: &Small, index: u32) {
        let n = self.len;
        self.columns.set(n, entry, index);
        self.len += 1;
        match self.rows.last_mut() {
            Some(row) if row.key == key => {
                row.range.end = n + 1;
                row.largest = row.largest.max(entry.radius);
            }
            _ => self.rows.push(Row {
                key,
                range: n..n + 1,
                largest: entry.radius,
            }),
        }
    }

    /// Appends an entry wherever its x is in its row, and returns how many places it went back.
    #[inline]
    pub(super) fn push_nearly_sorted(&mut self, key: u64, entry: &Small, index: u32) -> usize {
        self.push(key, entry, index);
        let start = self.rows.last().map_or(0, |row| row.range.start);
        self.columns.sink(start, self.len - 1)
    }

    /// Hands every touching pair to `f`, as array indices.
    pub(super) fn sweep(
        &self,
        entries: &[Small],
        f: &mut impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut finder = Finder::new(entries, f);
        let layer = 1_u64 << self.y_bits;
        // The first row that may neighbour the present one in the next layer.
        let mut above = 0;
        for (n, row) in self.rows.iter().enumerate() {
            let mut besides = [Beside::default(); 4];
            let mut count = 0;
            let mut add = |other: &Row| {
                besides[count] = Beside {
                    first: other.range.start,
                    end: other.range.end,
                    reach: row.largest + other.largest,
                };
                count += 1;
            };
            if let Some(next) = self.rows.get(n + 1).filter(|next| next.key == row.key + 1) {
                add(next);
            }
            let wanted = row.key + layer - 1..=row.key + layer + 1;
            while self
                .rows
                .get(above)
                .is_some_and(|r| r.key < *wanted.start())
            {
                above += 1;
            }
            for other in self.rows[above..].iter().take(3) {
                if wanted.contains(&other.key) {
                    add(other);
                }
            }
            self.sweep_row(row, &mut besides[..count], &mut finder)?;
        }
        finder.flush()
    }

    /// Compares the entries of a row with one another and with those of the rows beside it.
    ///
    /// All at once, so that the searches for the first in reach, each of which waits for the one before,
    /// run side by side.
    fn sweep_row(
        &self,
        row: &Row,
        besides: &mut [Beside],
        finder: &mut Finder<'_, impl FnMut(usize, usize) -> ControlFlow<()>>,
    ) -> ControlFlow<()> {
        let slices = self.columns.slices();
        let reach = 2 * row.largest;
        for i in row.range.clone() {
            let (probe, index) = (slices.probe(i), slices.index(i));
            let one = (index, &probe);
            finder.make_room()?;
            finder.compare(one, slices, i + 1..row.range.end, reach)?;
            for beside in besides.iter_mut() {
                let at = beside.pass(slices.xs, probe.x.saturating_sub(beside.reach));
                finder.compare(one, slices, at..beside.end, beside.reach)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Hands every entry that touches one of any size to the finder; that one has an index in the array.
    pub(super) fn around(
        &self,
        giant: &Small,
        index: u32,
        finder: &mut Finder<'_, impl FnMut(usize, usize) -> ControlFlow<()>>,
    ) -> ControlFlow<()> {
        let reach = giant.radius + self.usual;
        let band = |v: u32| {
            let (low, high) = (v.saturating_sub(reach), v + reach);
            u64::from(low >> self.row_shift)..=u64::from(high >> self.row_shift)
        };
        let (ys, zs) = (band(giant.y), band(giant.z));
        let key_of = |z: u64, y: u64| (z << self.y_bits) + y + 1;
        let mut n = 0;
        while let Some(row) = self.rows.get(n) {
            let y = (row.key & ((1 << self.y_bits) - 1)) - 1;
            let z = row.key >> self.y_bits;
            if z > *zs.end() {
                break;
            }
            // From the row at hand follows the next one that can matter; empty space is skipped.
            let wanted = if z < *zs.start() {
                key_of(*zs.start(), *ys.start())
            } else if y < *ys.start() {
                key_of(z, *ys.start())
            } else if y > *ys.end() {
                key_of(z + 1, *ys.start())
            } else {
                self.around_in_row(row, giant, index, finder)?;
                n += 1;
                continue;
            };
            n += self.rows[n..].partition_point(|r| r.key < wanted).max(1);
        }
        ControlFlow::Continue(())
    }

    fn around_in_row(
        &self,
        row: &Row,
        giant: &Small,
        index: u32,
        finder: &mut Finder<'_, impl FnMut(usize, usize) -> ControlFlow<()>>,
    ) -> ControlFlow<()> {
        let slices = self.columns.slices();
        let probe = Probe::new(giant);
        let reach = giant.radius + row.largest;
        let start = giant.x.saturating_sub(reach);
        let first = slices.xs[row.range.clone()].partition_point(|x| *x < start);
        let run = row.range.start + first..row.range.end;
        finder.make_room()?;
        finder.compare((index, &probe), slices, run, reach)
    }
}
