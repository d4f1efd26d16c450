//! The works: what is done to a set and what it costs.

use core::hint::black_box;
use core::ops::ControlFlow;
use core::time::Duration;

use cpu_time::ProcessTime;
use nebula_coords::{LinearIndex, Region, SpatialIndex, SpatialQuery};
use nebula_math::WorldPosition;

use crate::sets::Set;

/// A work's name and how it is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Set) -> Cost,
}

/// Every work.
pub(crate) const WORKS: &[Work] = &[
    Work {
        name: "insert",
        run: insert,
    },
    Work {
        name: "bulk",
        run: bulk,
    },
    Work {
        name: "query",
        run: query,
    },
    Work {
        name: "nearest",
        run: nearest,
    },
    Work {
        name: "move",
        run: steps,
    },
    Work {
        name: "requery",
        run: requery,
    },
    Work {
        name: "renear",
        run: renear,
    },
    Work {
        name: "jump",
        run: jumps,
    },
    Work {
        name: "remove",
        run: remove,
    },
];

/// The neighbours that `nearest` asks for.
const NEIGHBOURS: usize = 10;

/// What some operations cost, and what they found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    time: Duration,
    ops: usize,
    hits: usize,
}

impl Cost {
    pub(crate) fn min(self, other: Self) -> Self {
        if other.time < self.time { other } else { self }
    }

    pub(crate) fn ns_per_op(&self) -> f64 {
        self.time.as_secs_f64() * 1e9 / count(self.ops)
    }

    pub(crate) fn hits_per_op(&self) -> f64 {
        count(self.hits) / count(self.ops)
    }

    pub(crate) fn ns_per_hit(&self) -> Option<f64> {
        (self.hits > 0).then(|| self.time.as_secs_f64() * 1e9 / count(self.hits))
    }

    /// Returns the cost against the baseline, and whether it is counted per hit: that is so where
    /// more is found than in the baseline. Who finds less is held to the cost per operation.
    pub(crate) fn ratio(&self, uniform: &Self) -> (f64, bool) {
        match (self.ns_per_hit(), uniform.ns_per_hit()) {
            (Some(own), Some(base)) if self.hits_per_op() > uniform.hits_per_op() => {
                (own / base, true)
            }
            _ => (self.ns_per_op() / uniform.ns_per_op(), false),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a benchmark, to be shown"
)]
fn count(n: usize) -> f64 {
    n as f64
}

/// Runs the work and returns its CPU time.
fn timed(ops: usize, work: impl FnOnce() -> usize) -> Cost {
    let before = ProcessTime::now();
    let hits = black_box(work());
    Cost {
        time: before.elapsed(),
        ops,
        hits,
    }
}

fn insert(set: &Set) -> Cost {
    let mut index = SpatialIndex::new();
    timed(set.points.len(), || {
        for (id, at) in &set.points {
            index.insert(*id, *at);
        }
        0
    })
}

fn bulk(set: &Set) -> Cost {
    timed(set.points.len(), || {
        black_box(SpatialIndex::from_points(&set.points));
        0
    })
}

fn query(set: &Set) -> Cost {
    ask(set, &SpatialIndex::from_points(&set.points))
}

/// The same questions after everyone took a step and went back: the tree must not be worn out.
fn requery(set: &Set) -> Cost {
    ask(set, &stepped_and_back(set))
}

fn ask(set: &Set, index: &SpatialIndex<u32>) -> Cost {
    timed(set.centers.len(), || {
        let mut hits = 0;
        for center in &set.centers {
            let region = Region::ball(set.points[*center].1, set.radius_mm);
            let _ = index.visit(&region, &mut |ids| {
                hits += black_box(ids).len();
                ControlFlow::Continue(())
            });
        }
        hits
    })
}

fn nearest(set: &Set) -> Cost {
    ask_nearest(set, &SpatialIndex::from_points(&set.points))
}

fn renear(set: &Set) -> Cost {
    ask_nearest(set, &stepped_and_back(set))
}

/// Returns an index in which everyone took a step and went back.
fn stepped_and_back(set: &Set) -> SpatialIndex<u32> {
    let mut index = SpatialIndex::from_points(&set.points);
    index.update_batch(&set.stepped);
    index.update_batch(&set.points);
    index
}

fn ask_nearest(set: &Set, index: &SpatialIndex<u32>) -> Cost {
    let mut out = Vec::new();
    let mut cost = timed(set.centers.len(), || {
        for center in &set.centers {
            index.nearest(&set.points[*center].1, NEIGHBOURS, i128::MAX, &mut out);
        }
        0
    });
    // Ties go by id, so all points as near as the last neighbour must be looked at: in a set of
    // identical points that is every one. They count as the hits of this work.
    for center in &set.centers {
        let at = set.points[*center].1;
        index.nearest(&at, NEIGHBOURS, i128::MAX, &mut out);
        let last = out.last().and_then(|id| index.get(*id));
        let last = last.expect("every set has neighbours within the largest limit");
        cost.hits += index.count(&reach(at, last));
    }
    cost
}

/// Returns the smallest ball around `at` that holds `last`, to the millimetre.
fn reach(at: WorldPosition, last: WorldPosition) -> Region {
    let (mut low, mut high) = (0, i128::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        if at.is_within(&last, middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Region::ball(at, low)
}

/// Everyone takes a step and goes back.
fn steps(set: &Set) -> Cost {
    there_and_back(set, &set.stepped)
}

/// Everyone goes where someone else was, and back.
fn jumps(set: &Set) -> Cost {
    there_and_back(set, &set.jumped)
}

fn there_and_back(set: &Set, there: &[(u32, WorldPosition)]) -> Cost {
    let mut index = SpatialIndex::from_points(&set.points);
    timed(there.len() * 2, || {
        index.update_batch(there);
        index.update_batch(&set.points);
        0
    })
}

fn remove(set: &Set) -> Cost {
    let mut index = SpatialIndex::from_points(&set.points);
    timed(set.points.len(), || {
        for (id, _) in &set.points {
            index.remove(*id);
        }
        index.len()
    })
}

/// Compares some answers with the slow twin's, of a fresh index and of one that saw steps; a wrong
/// answer must not be measured.
pub(crate) fn compare_with_twin(set: &Set) {
    let mut twin = LinearIndex::new();
    for (id, at) in &set.points {
        twin.insert(*id, *at);
    }
    compare(set, &SpatialIndex::from_points(&set.points), &twin);
    compare(set, &stepped_and_back(set), &twin);
}

fn compare(set: &Set, index: &SpatialIndex<u32>, twin: &LinearIndex<u32>) {
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for center in set.centers.iter().take(5) {
        let at = set.points[*center].1;
        let region = Region::ball(at, set.radius_mm);
        index.collect(&region, &mut found);
        found.sort_unstable();
        twin.collect(&region, &mut expected);
        assert!(
            found == expected,
            "wrong answer on {}: {region:?}",
            set.name
        );
        index.nearest(&at, NEIGHBOURS, i128::MAX, &mut found);
        twin.nearest(&at, NEIGHBOURS, i128::MAX, &mut expected);
        assert_eq!(found, expected, "nearest on {}", set.name);
    }
}
