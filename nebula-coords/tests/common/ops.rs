//! Random operations, and the runner that checks an index against the slow twin after each.

use core::ops::ControlFlow;

use nebula_coords::{LinearIndex, Metric, Region, SpatialQuery};
use nebula_math::{Aabb128, WorldPosition};

use super::coords::{self, SPREADS, Spread};
use super::index::TestIndex;
use super::oracle;
use super::source::{Seeded, Source};

/// One thing to do to an index.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Insert(u32, WorldPosition),
    Update(u32, WorldPosition),
    Remove(u32),
    /// Many moves in one call; unknown and repeated ids are meant to occur.
    Batch(Vec<(u32, WorldPosition)>),
    /// Inserts many points at once, so that trees split within a few bytes of fuzz input.
    Crowd(Vec<(u32, WorldPosition)>),
    /// Removes every stored id of a range, so that trees merge.
    Cull(u32, u32),
    /// Builds the index anew from all its points and some more.
    Bulk(Vec<(u32, WorldPosition)>),
    Clear,
    Query(Region),
    Nearest(WorldPosition, usize, i128),
}

/// How large one sequence grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) ops: usize,
    /// Ids are below this.
    pub(crate) ids: u32,
    /// The most points of one crowd.
    pub(crate) crowd: u64,
    /// One crowd in so many is large; the others are a handful.
    pub(crate) large_one_in: u64,
}

/// Makes operations out of choices; remembers where points were put, to ask near them.
#[derive(Debug)]
pub(crate) struct Maker {
    size: Size,
    spread: Spread,
    anchors: [WorldPosition; 3],
    recent: Vec<WorldPosition>,
}

impl Maker {
    pub(crate) fn new(s: &mut impl Source, size: Size) -> Self {
        let spread = s.pick(&SPREADS);
        let from = s.pick(&SPREADS);
        let anchors = [(); 3].map(|()| coords::position(s, from, &WorldPosition::ORIGIN));
        Self {
            size,
            spread,
            anchors,
            recent: Vec::new(),
        }
    }

    /// Returns the next operation.
    pub(crate) fn next(&mut self, s: &mut impl Source) -> Op {
        match s.below(32) {
            0..=7 => Op::Insert(self.id(s), self.place(s)),
            8..=11 => Op::Update(self.id(s), self.place(s)),
            12..=14 => Op::Remove(self.id(s)),
            15..=16 => Op::Batch(self.list(s, 12)),
            17 if self.size.crowd > 0 => Op::Crowd(self.crowd(s)),
            18 => {
                let first = self.id(s);
                Op::Cull(first, first.saturating_add(self.size.ids / 2))
            }
            19 => Op::Bulk(self.list(s, 6)),
            20 if s.below(4) == 0 => Op::Clear,
            21..=23 => Op::Nearest(
                self.place(s),
                s.pick(&[0, 1, 2, 7, 40, usize::MAX]),
                coords::radius(s),
            ),
            _ => Op::Query(self.region(s)),
        }
    }

    fn id(&self, s: &mut impl Source) -> u32 {
        u32::try_from(s.below(u64::from(self.size.ids))).expect("ids are u32")
    }

    /// Returns a fresh place, or one where a point was put before, or just beside it.
    fn place(&mut self, s: &mut impl Source) -> WorldPosition {
        if !self.recent.is_empty() && s.below(3) == 0 {
            let p = self.recent[s.index(self.recent.len())];
            let by = s.pick(&[0, 0, 1, -1, 1 << 20]);
            return coords::at(p.x.saturating_add(by), p.y, p.z.saturating_sub(by));
        }
        let anchor = s.pick(&self.anchors);
        let place = coords::position(s, self.spread, &anchor);
        if self.recent.len() < 64 {
            self.recent.push(place);
        }
        place
    }

    fn list(&mut self, s: &mut impl Source, most: u64) -> Vec<(u32, WorldPosition)> {
        let mut list: Vec<(u32, WorldPosition)> = Vec::new();
        for _ in 0..s.below(most) {
            // The same id again, now and then: the last entry must win.
            let id = match list.last() {
                Some((id, _)) if s.below(3) == 0 => *id,
                _ => self.id(s),
            };
            list.push((id, self.place(s)));
        }
        list
    }

    /// A crowd is drawn from a seed of its own: two bytes of fuzz input make hundreds of points.
    fn crowd(&mut self, s: &mut impl Source) -> Vec<(u32, WorldPosition)> {
        let large = s.below(self.size.large_one_in) == 0;
        let n = 1 + s.below(if large { self.size.crowd } else { 16 });
        let first = u64::from(self.id(s));
        let anchor = s.pick(&self.anchors);
        let spread = s.pick(&[self.spread, Spread::Cluster]);
        let mut own = Seeded(s.below(1 << 16));
        (0..n)
            .map(|i| {
                let id = (first + i) % u64::from(self.size.ids);
                let place = coords::position(&mut own, spread, &anchor);
                (u32::try_from(id).expect("ids are u32"), place)
            })
            .collect()
    }

    fn region(&mut self, s: &mut impl Source) -> Region {
        match s.below(8) {
            0..=4 => {
                let (center, radius_mm) = if s.below(3) == 0 {
                    self.touching(s)
                } else {
                    (self.place(s), self.radius(s))
                };
                let metric = s.pick(&[
                    Metric::Euclidean,
                    Metric::Euclidean,
                    Metric::Manhattan,
                    Metric::Chebyshev,
                ]);
                Region::Ball {
                    center,
                    radius_mm,
                    metric,
                }
            }
            5 | 6 => Region::Box(Aabb128::from_corners(self.place(s), self.place(s))),
            _ => Region::Swept {
                from: self.place(s),
                to: self.place(s),
                radius_mm: self.radius(s),
            },
        }
    }

    /// Returns a ball whose border passes exactly through a place where a point was put, or ends one
    /// millimetre short of it: along an axis, or by whole numbers whose squares sum to a square.
    fn touching(&mut self, s: &mut impl Source) -> (WorldPosition, i128) {
        let p = self.place(s);
        let ([x, y, z], norm) = s.pick(&[
            ([1, 0, 0], 1),
            ([0, -3, 4], 5),
            ([2, 3, -6], 7),
            ([-8, 1, 4], 9),
        ]);
        let scale = match s.below(2) {
            0 => i128::from(s.below(1 << 24)),
            _ => 1 << s.below(123),
        };
        let moved = |from: i128, by: i128| from.checked_add(by * scale);
        match (moved(p.x, x), moved(p.y, y), moved(p.z, z)) {
            (Some(x), Some(y), Some(z)) => {
                (coords::at(x, y, z), norm * scale + s.pick(&[0, 0, -1]))
            }
            _ => (p, 0), // The centre would leave the universe.
        }
    }

    /// Returns a radius that often ends exactly at, or one short of, a point that was stored.
    fn radius(&mut self, s: &mut impl Source) -> i128 {
        if self.recent.len() < 2 || s.below(2) == 0 {
            return coords::radius(s);
        }
        let a = self.recent[s.index(self.recent.len())];
        let b = self.recent[s.index(self.recent.len())];
        let gap = s.pick(&[
            a.x.abs_diff(b.x),
            a.y.abs_diff(b.y),
            a.z.abs_diff(b.z),
            a.chebyshev_distance(&b),
        ]);
        i128::try_from(gap)
            .unwrap_or(i128::MAX)
            .saturating_add(s.pick(&[0, 0, -1, 1]))
    }
}

/// An index and its slow twin, kept in step.
#[derive(Debug)]
pub(crate) struct Pair<X> {
    pub(crate) index: X,
    pub(crate) twin: LinearIndex<u32>,
    /// Sets up to this size have the twin itself checked by big-integer arithmetic.
    pub(crate) oracle_up_to: usize,
    /// `validate()` runs after every so many operations.
    pub(crate) validate_every: usize,
    steps: usize,
}

impl<X: TestIndex> Pair<X> {
    pub(crate) fn new(oracle_up_to: usize, validate_every: usize) -> Self {
        Self {
            index: X::empty(),
            twin: LinearIndex::new(),
            oracle_up_to,
            validate_every,
            steps: 0,
        }
    }

    /// Runs one operation on both, and panics where they differ.
    pub(crate) fn step(&mut self, op: &Op) {
        self.apply(op);
        assert_eq!(self.index.stored(), self.twin.len(), "len after {op:?}");
        self.steps += 1;
        if self.steps.is_multiple_of(self.validate_every) {
            self.validate();
        }
    }

    /// Runs the index's own check of its structure.
    pub(crate) fn validate(&self) {
        if let Err(broken) = self.index.validate() {
            panic!("invariant broken: {broken}");
        }
    }

    /// Compares every stored position with the twin's.
    pub(crate) fn compare_all(&self) {
        for (id, at) in self.twin.iter() {
            assert_eq!(self.index.place_of(id), Some(at), "position of {id}");
        }
        let everything = Region::Box(Aabb128::UNIVERSE);
        self.query(&everything);
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Insert(id, at) => self.insert(*id, *at),
            Op::Update(id, to) => {
                let known = self.index.update(*id, *to);
                assert_eq!(known, self.twin.update(*id, *to), "update of {id}");
                assert_eq!(self.index.place_of(*id), self.twin.position(*id));
            }
            Op::Remove(id) => self.remove(*id),
            Op::Batch(moves) => {
                let known = self.index.update_batch(moves);
                let expected = moves
                    .iter()
                    .filter(|(id, to)| self.twin.update(*id, *to))
                    .count();
                assert_eq!(known, expected, "entries that named a stored id");
            }
            Op::Crowd(points) => {
                for (id, at) in points {
                    self.insert(*id, *at);
                }
            }
            Op::Cull(first, end) => {
                for id in *first..*end {
                    if self.twin.position(id).is_some() {
                        self.remove(id);
                    }
                }
            }
            Op::Bulk(more) => {
                let mut points: Vec<_> = self.twin.iter().collect();
                points.extend_from_slice(more);
                self.index = X::bulk(&points);
                for (id, at) in more {
                    self.twin.insert(*id, *at);
                }
            }
            Op::Clear => {
                self.index.clear();
                self.twin.clear();
            }
            Op::Query(region) => self.query(region),
            Op::Nearest(at, k, limit) => self.nearest(at, *k, *limit),
        }
    }

    fn insert(&mut self, id: u32, at: WorldPosition) {
        let old = self.index.insert(id, at);
        assert_eq!(old, self.twin.insert(id, at), "insert of {id} at {at:?}");
    }

    fn remove(&mut self, id: u32) {
        let old = self.index.remove(id);
        assert_eq!(old, self.twin.remove(id), "removal of {id}");
        assert_eq!(self.index.place_of(id), None, "{id} is still there");
    }

    fn query(&self, region: &Region) {
        // Indexes answer each form in their own way, so each is asked.
        let mut found = Vec::new();
        let _ = self.index.query().visit(region, &mut |ids| {
            found.extend(ids.iter().map(|id| X::number(*id)));
            ControlFlow::Continue(())
        });
        assert_eq!(found, self.index.visited(region), "visit and collect");
        assert_eq!(found.len(), self.index.query().count(region), "{region:?}");
        found.sort_unstable();
        let expected = self.twin.visited(region);
        assert_eq!(found, expected, "{region:?}");
        if self.twin.len() <= self.oracle_up_to {
            let points: Vec<_> = self.twin.iter().collect();
            assert_eq!(
                expected,
                oracle::ids_in(&points, region),
                "twin: {region:?}"
            );
        }
    }

    fn nearest(&self, at: &WorldPosition, k: usize, limit: i128) {
        let found = self.index.closest(at, k, limit);
        let expected = self.twin.closest(at, k, limit);
        assert_eq!(found, expected, "nearest {k} to {at:?} within {limit}");
        if self.twin.len() <= self.oracle_up_to {
            let points: Vec<_> = self.twin.iter().collect();
            let truth = oracle::nearest(&points, at, k, limit);
            assert_eq!(
                expected, truth,
                "twin: nearest {k} to {at:?} within {limit}"
            );
        }
    }
}

/// Reads operations from the source until it ends or the sequence is long enough, runs each on an
/// index and its twin, and panics where they differ.
pub(crate) fn run<X: TestIndex>(
    s: &mut impl Source,
    size: Size,
    oracle_up_to: usize,
    validate_every: usize,
) -> Pair<X> {
    let mut maker = Maker::new(s, size);
    let mut pair = Pair::<X>::new(oracle_up_to, validate_every);
    for _ in 0..size.ops {
        if s.is_done() {
            break;
        }
        let op = maker.next(s);
        pair.step(&op);
    }
    pair.validate();
    pair.compare_all();
    pair
}
