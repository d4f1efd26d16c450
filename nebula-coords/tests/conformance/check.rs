//! What the behaviours are written with.

use core::ops::ControlFlow;

use nebula_coords::{Region, SpatialQuery};
use nebula_math::WorldPosition;

use crate::common::coords;
use crate::common::index::TestIndex;
use crate::common::oracle;
use crate::common::source::Seeded;

pub(crate) type Points = Vec<(u32, WorldPosition)>;

/// Numbers positions from zero.
pub(crate) fn numbered(positions: impl IntoIterator<Item = WorldPosition>) -> Points {
    (0..).zip(positions).collect()
}

/// Builds an index by single inserts.
pub(crate) fn inserted<X: TestIndex>(points: &[(u32, WorldPosition)]) -> X {
    let mut index = X::empty();
    for (id, at) in points {
        index.insert(*id, *at);
    }
    index.validate().expect("inserts keep the structure whole");
    index
}

/// Builds the index by inserts, in bulk, and by moving every point in from elsewhere, and runs
/// the check on each: how points came in must not show in an answer.
#[track_caller]
pub(crate) fn each_way<X: TestIndex>(points: &[(u32, WorldPosition)], check: impl Fn(&X)) {
    check(&inserted::<X>(points));
    let bulk = X::bulk(points);
    bulk.validate()
        .expect("a bulk build keeps the structure whole");
    check(&bulk);
    let mut moved = X::empty();
    for (id, _) in points {
        moved.insert(*id, coords::at(-7, i128::from(*id), 1 << 70));
    }
    moved.update_batch(points);
    moved
        .validate()
        .expect("batch moves keep the structure whole");
    check(&moved);
}

/// Asserts that every query form gives exactly these ids (in any order, each once, no slice empty).
#[track_caller]
pub(crate) fn finds<X: TestIndex>(index: &X, region: &Region, ids: &[u32]) {
    let mut expected = ids.to_vec();
    expected.sort_unstable();
    let mut found = Vec::new();
    let flow = index.query().visit(region, &mut |slice| {
        assert!(!slice.is_empty(), "an empty slice for {region:?}");
        found.extend(slice.iter().map(|id| X::number(*id)));
        ControlFlow::Continue(())
    });
    assert!(flow.is_continue());
    let order = index.visited(region);
    assert_eq!(order, found, "collect keeps the visiting order");
    found.sort_unstable();
    assert_eq!(found, expected, "{region:?}");
    assert_eq!(index.query().count(region), expected.len(), "{region:?}");
}

/// Asserts a Euclidean ball's hits.
#[track_caller]
pub(crate) fn ball_finds<X: TestIndex>(index: &X, center: WorldPosition, r: i128, ids: &[u32]) {
    finds(index, &Region::ball(center, r), ids);
}

/// Asserts that the index and big-integer arithmetic agree on the regions.
#[track_caller]
pub(crate) fn agrees<X: TestIndex>(points: &[(u32, WorldPosition)], regions: &[Region]) {
    let truth: Vec<_> = regions.iter().map(|r| oracle::ids_in(points, r)).collect();
    let hits: usize = truth.iter().map(Vec::len).sum();
    assert!(hits > 0, "a test that finds nothing proves nothing");
    each_way(points, |index: &X| {
        for (region, expected) in regions.iter().zip(&truth) {
            finds(index, region, expected);
        }
    });
}

/// Returns points of every spread, from a fixed seed.
pub(crate) fn assorted(seed: u64, n: u32) -> Points {
    let mut s = Seeded(seed);
    (0..n)
        .map(|id| {
            let spread = coords::SPREADS[usize::try_from(id % 8).expect("small")];
            let anchor = coords::at(-5_000, 1 << 33, -(1 << 90));
            (id, coords::position(&mut s, spread, &anchor))
        })
        .collect()
}
