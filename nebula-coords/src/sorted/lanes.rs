//! Eight entries against one at a time, and the hits in between.
//!
//! A candidate or two are in reach of an entry, so loops over them end after a random number of turns and
//! a processor that guesses the end is wrong about once per entry. Here a window of eight is compared
//! whole, in floats that err on the near side, and what it finds is noted without a branch; the notes are
//! tested exactly, later.

use core::ops::{ControlFlow, Range};

use super::rows::Small;

/// Entries compared at once.
pub(super) const LANES: usize = 8;

/// Windows whose notes fit after [`Finder::make_room`]: those of five rows.
const WINDOWS: usize = 5;

/// Notes kept before they are tested.
const NOTES: usize = 128;

/// What a radius is multiplied by, 1 + 2^-20. Differences, their squares and sums are off by less than six
/// units of 2^-24 each, so that nothing which touches is missed.
const SLACK: f32 = 1.000_001;

/// Entries by column, so that a compiler can compare them with vector instructions.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    xs: Vec<u32>,
    ys: Vec<u32>,
    zs: Vec<u32>,
    /// Radii, a little enlarged.
    radii: Vec<f32>,
    /// The index of each entry in the array.
    indices: Vec<u32>,
}

/// Entries of equal number in every column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slices<'a> {
    pub(super) xs: &'a [u32],
    ys: &'a [u32],
    zs: &'a [u32],
    radii: &'a [f32],
    indices: &'a [u32],
}

/// One entry, to be compared with windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) x: u32,
    y: u32,
    z: u32,
    radius: f32,
}

/// The lower one of two bits for each lane of a window.
type Mask = u32;

impl Columns {
    /// Makes room for `n` entries and two windows behind the last. What is there is stale.
    pub(super) fn reserve(&mut self, n: usize) {
        let room = n + 2 * LANES;
        if self.xs.len() < room {
            self.xs.resize(room, 0);
            self.ys.resize(room, 0);
            self.zs.resize(room, 0);
            self.radii.resize(room, 0.0);
            self.indices.resize(room, 0);
        }
    }

    #[inline]
    pub(super) fn set(&mut self, at: usize, entry: &Small, index: u32) {
        self.xs[at] = entry.x;
        self.ys[at] = entry.y;
        self.zs[at] = entry.z;
        self.radii[at] = enlarged(entry.radius);
        self.indices[at] = index;
    }

    /// Moves an entry to the front of the run that ends before it, which is larger, and returns how far.
    #[inline]
    pub(super) fn sink(&mut self, from: usize, at: usize) -> usize {
        let x = self.xs[at];
        let larger = self.xs[from..at].iter().rev();
        let places = larger.take_while(|other| **other > x).count();
        if places > 0 {
            let run = at - places..=at;
            self.xs[run.clone()].rotate_right(1);
            self.ys[run.clone()].rotate_right(1);
            self.zs[run.clone()].rotate_right(1);
            self.radii[run.clone()].rotate_right(1);
            self.indices[run].rotate_right(1);
        }
        places
    }

    pub(super) fn slices(&self) -> Slices<'_> {
        let n = self.xs.len();
        Slices {
            xs: &self.xs,
            ys: &self.ys[..n],
            zs: &self.zs[..n],
            radii: &self.radii[..n],
            indices: &self.indices[..n],
        }
    }
}

impl Slices<'_> {
    #[inline]
    pub(super) fn probe(&self, at: usize) -> Probe {
        Probe {
            x: self.xs[at],
            y: self.ys[at],
            z: self.zs[at],
            radius: self.radii[at],
        }
    }

    #[inline]
    pub(super) fn index(&self, at: usize) -> u32 {
        self.indices[at]
    }

    /// Returns which entries of the window at `at` may touch the probe, those from `end` on left out.
    #[inline(always)]
    fn near(self, probe: &Probe, at: usize, end: usize) -> Mask {
        let near = compare(
            probe.x,
            probe.y,
            probe.z,
            probe.radius,
            window(self.xs, at),
            window(self.ys, at),
            window(self.zs, at),
            window(self.radii, at),
        );
        near & before(at, end)
    }
}

/// Returns which entries of a window may touch the probe: two bits for each.
///
/// A function of its own, since within another one compilers make vectors of it now and then only. With one
/// bit for each they would shift every lane by another number, which takes many steps without AVX2; bytes
/// written to memory are slow with AVX-512.
#[expect(
    clippy::too_many_arguments,
    reason = "in registers: a probe in memory is written in four parts and read in one, which waits"
)]
#[inline(never)]
fn compare(
    x: u32,
    y: u32,
    z: u32,
    radius: f32,
    xs: &[u32; LANES],
    ys: &[u32; LANES],
    zs: &[u32; LANES],
    radii: &[f32; LANES],
) -> Mask {
    let mut over = [0.0; LANES];
    for lane in 0..LANES {
        let reach = radii[lane] + radius;
        over[lane] = apart(xs[lane], x) + apart(ys[lane], y) + apart(zs[lane], z) - reach * reach;
    }
    let mut signs = [0; LANES];
    for lane in 0..LANES {
        let sign = over[lane].to_bits().cast_signed() >> (Mask::BITS - 1);
        signs[lane] = sign.cast_unsigned() & (0b11 << (2 * lane));
    }
    signs.iter().fold(0, |all, sign| all | sign)
}

#[inline(always)]
fn window<T>(column: &[T], at: usize) -> &[T; LANES] {
    column[at..]
        .first_chunk()
        .expect("there is room behind the last entry")
}

impl Probe {
    pub(super) fn new(entry: &Small) -> Self {
        Self {
            x: entry.x,
            y: entry.y,
            z: entry.z,
            radius: enlarged(entry.radius),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the slack is larger than the loss"
)]
#[inline]
fn enlarged(radius: u32) -> f32 {
    radius as f32 * SLACK + SLACK / 4.0
}

/// Returns about the square of a difference. Offsets below 2^31 differ by less than that.
#[expect(
    clippy::cast_precision_loss,
    reason = "the slack is larger than the loss"
)]
#[inline]
fn apart(a: u32, b: u32) -> f32 {
    let d = a.wrapping_sub(b).cast_signed() as f32;
    d * d
}

/// Returns the lanes of a window at `at` before `end`.
#[inline]
const fn before(at: usize, end: usize) -> Mask {
    let lanes = end - at;
    if lanes >= LANES {
        0x5555
    } else {
        0x5555 & !(Mask::MAX << (2 * lanes))
    }
}

/// Notes which entries may touch, tests them exactly and hands on those that do.
pub(super) struct Finder<'a, F> {
    /// Every entry, in array order.
    entries: &'a [Small],
    /// Array indices of entries that may touch, in the order in which they were found.
    notes: [[u32; 2]; NOTES],
    len: usize,
    f: &'a mut F,
}

impl<'a, F: FnMut(usize, usize) -> ControlFlow<()>> Finder<'a, F> {
    pub(super) fn new(entries: &'a [Small], f: &'a mut F) -> Self {
        Self {
            entries,
            notes: [[0; 2]; NOTES],
            len: 0,
            f,
        }
    }

    /// Makes room for the notes of [`WINDOWS`] windows.
    #[inline]
    pub(super) fn make_room(&mut self) -> ControlFlow<()> {
        if self.len > NOTES - WINDOWS * LANES {
            return self.flush();
        }
        ControlFlow::Continue(())
    }

    /// Compares the entry `a` of the array with a run of others, up to the last in reach. There must be
    /// room for a window.
    ///
    /// The first window is compared whether there is anything in reach or not. Nobody could guess that: a look
    /// at the first x made 5,000 spheres 15 to 30 % slower.
    #[inline(always)]
    pub(super) fn compare(
        &mut self,
        (a, probe): (u32, &Probe),
        slices: Slices<'_>,
        run: Range<usize>,
        reach: u32,
    ) -> ControlFlow<()> {
        self.note(a, slices, run.start, slices.near(probe, run.start, run.end));
        let rest = run.start + LANES..run.end;
        if (rest.start < rest.end) & (slices.xs[rest.start] <= probe.x + reach) {
            return self.compare_rest((a, probe), slices, rest, reach);
        }
        ControlFlow::Continue(())
    }

    #[cold]
    fn compare_rest(
        &mut self,
        (a, probe): (u32, &Probe),
        slices: Slices<'_>,
        mut run: Range<usize>,
        reach: u32,
    ) -> ControlFlow<()> {
        while run.start < run.end && slices.xs[run.start] <= probe.x + reach {
            self.make_room()?;
            self.note(a, slices, run.start, slices.near(probe, run.start, run.end));
            run.start += LANES;
        }
        self.make_room()
    }

    /// Notes the entry `a` of the array with those of the window at `at` that a mask names.
    #[inline(always)]
    fn note(&mut self, a: u32, slices: Slices<'_>, at: usize, mut near: Mask) {
        let indices = window(slices.indices, at);
        // Most windows have nothing or one: it is written either way, and counted if it is there.
        loop {
            let lane = (near.trailing_zeros() / 2) as usize % LANES;
            self.notes[self.len % NOTES] = [a, indices[lane]];
            self.len += usize::from(near != 0);
            near &= near.wrapping_sub(1);
            if near == 0 {
                return;
            }
        }
    }

    /// Tests what was noted. To be called at the end.
    #[inline(never)]
    pub(super) fn flush(&mut self) -> ControlFlow<()> {
        let len = core::mem::take(&mut self.len);
        for [a, b] in self.notes.iter().take(len) {
            let (a, b) = (*a as usize, *b as usize);
            if self.entries[a].touches(&self.entries[b]) {
                (self.f)(a, b)?;
            }
        }
        ControlFlow::Continue(())
    }
}
