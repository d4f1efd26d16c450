//! The grid's budgets: 4,000 entities on a plane, cells of 10 m, radius 15 m.

use core::hint::black_box;

use nebula_coords::{Region, SpatialGrid, SpatialQuery};
use nebula_math::WorldPosition;

use crate::measure::{Random, Row, interleaved};

const ENTITIES: u32 = 4_000;
/// A village of one square kilometre.
const HALF_MM: u64 = 500_000;
const CELL_MM: i128 = 10_000;
const RADIUS_MM: i128 = 15_000;

fn world() -> Vec<(u32, WorldPosition)> {
    let mut random = Random(1);
    (0..ENTITIES).map(|id| (id, place(&mut random))).collect()
}

fn place(random: &mut Random) -> WorldPosition {
    WorldPosition::new(random.around_zero(HALF_MM), random.around_zero(HALF_MM), 0)
}

fn filled(world: &[(u32, WorldPosition)]) -> SpatialGrid<u32> {
    let mut grid = SpatialGrid::new_2d(CELL_MM).expect("positive");
    for (id, at) in world {
        grid.insert(*id, *at);
    }
    grid
}

const fn repeats(quick: bool) -> usize {
    if quick { 5 } else { 40 }
}

/// S1.P1.
pub(crate) fn insert(quick: bool) -> Vec<Row> {
    let world = world();
    let [ours] = interleaved(
        repeats(quick),
        [&mut || {
            black_box(filled(&world));
        }],
    );
    vec![Row {
        name: "S1.P1 insert 4,000".to_owned(),
        seed_ms: Some(100.0),
        ours,
        baseline: None,
        ratio_goal: None,
        note: String::new(),
    }]
}

/// S1.P2, beside the scan over every entity that the grid replaces (S1.14 expects 3 to 5 times).
pub(crate) fn query(quick: bool) -> Vec<Row> {
    let world = world();
    let grid = filled(&world);
    let mut random = Random(2);
    let centers: Vec<_> = (0..100).map(|_| place(&mut random)).collect();
    let scan = |center: &WorldPosition, out: &mut Vec<u32>| {
        out.clear();
        out.extend(
            world
                .iter()
                .filter(|(_, at)| center.is_within(at, RADIUS_MM))
                .map(|(id, _)| *id),
        );
    };
    let (mut hits, mut a, mut b) = (0, Vec::new(), Vec::new());
    for center in &centers {
        scan(center, &mut a);
        grid.collect(&Region::ball(*center, RADIUS_MM), &mut b);
        b.sort_unstable();
        assert_eq!(a, b, "the grid and the scan differ");
        hits += a.len();
    }
    let [exact, candidates, scanned] = interleaved(
        repeats(quick),
        [
            &mut || {
                for center in &centers {
                    grid.collect(&Region::ball(*center, RADIUS_MM), black_box(&mut b));
                }
            },
            &mut || {
                let mut out = Vec::with_capacity(256);
                for center in &centers {
                    grid.candidates(&Region::ball(*center, RADIUS_MM), black_box(&mut out));
                }
            },
            &mut || {
                for center in &centers {
                    scan(center, black_box(&mut a));
                }
            },
        ],
    );
    let row = |name: &str, ours, ratio_goal| Row {
        name: name.to_owned(),
        seed_ms: Some(50.0),
        ours,
        baseline: Some(("scan", scanned)),
        ratio_goal,
        note: format!("{hits} hits"),
    };
    vec![
        row("S1.P2 100 exact queries on 4,000", exact, Some(3.0)),
        row("S1.P2 100 candidate queries", candidates, Some(3.0)),
    ]
}

/// S1.P3: a thousand entities walk up to a metre; a tenth of them change cells.
pub(crate) fn update(quick: bool) -> Vec<Row> {
    let mut world = world();
    let mut grid = filled(&world);
    let mut random = Random(3);
    let [ours] = interleaved(
        repeats(quick),
        [&mut || {
            for (id, at) in &mut world[..1_000] {
                at.x += random.around_zero(1_000);
                at.y += random.around_zero(1_000);
                grid.update(*id, *at);
            }
        }],
    );
    grid.validate().expect("sound");
    vec![Row {
        name: "S1.P3 update 1,000".to_owned(),
        seed_ms: Some(50.0),
        ours,
        baseline: None,
        ratio_goal: None,
        note: String::new(),
    }]
}
