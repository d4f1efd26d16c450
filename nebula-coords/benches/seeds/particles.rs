//! Colliding particles of different sizes: sorted and swept against each-against-each.

use core::hint::black_box;
use core::ops::ControlFlow;

use nebula_coords::{PairScratch, Particle, SortedIndex};
use nebula_math::WorldPosition;

use crate::measure::{Random, Row, interleaved};

/// Particles with radii of 0.2 m to 1 m that fill about half of a square or a third of a cube.
fn particles(count: u32, flat: bool, seed: u64) -> Vec<Particle<u32>> {
    let mut random = Random(seed);
    // The side in millimetres at which a particle has 2.2 m of its own on each axis.
    let side = if flat {
        u64::from((count * 4).isqrt()) * 1_100
    } else {
        cube_root(count) * 1_900
    };
    let half = side / 2 + 1;
    (0..count)
        .map(|id| Particle {
            id,
            position: WorldPosition::new(
                random.around_zero(half),
                random.around_zero(half),
                if flat { 0 } else { random.around_zero(half) },
            ),
            radius_mm: 200 + i128::from(random.below(800)),
        })
        .collect()
}

fn cube_root(n: u32) -> u64 {
    (1..2_000)
        .find(|k| k * k * k >= u64::from(n))
        .unwrap_or(2_000)
}

fn sorted(particles: &[Particle<u32>]) -> SortedIndex<u32> {
    SortedIndex::from_particles(2_000, particles).expect("positive")
}

/// Moves everything a little, as a step of a simulation does, so that the sort has something to do.
fn step(index: &mut SortedIndex<u32>, random: &mut Random) {
    index.update_all(|_, at, _| {
        at.x += random.around_zero(50);
        at.y += random.around_zero(50);
    });
}

fn pairs(index: &SortedIndex<u32>, scratch: &mut PairScratch, out: &mut Vec<(u32, u32)>) {
    out.clear();
    let _ = index.visit_pairs(scratch, |a, b| {
        out.push((a, b));
        ControlFlow::Continue(())
    });
}

/// Each against each over plain 64-bit integers: what a careful programmer writes without an index.
fn brute(plain: &[[i64; 4]], out: &mut Vec<(u32, u32)>) {
    out.clear();
    for (i, a) in (0_u32..).zip(plain) {
        for (j, b) in (i + 1..).zip(&plain[i as usize + 1..]) {
            let (x, y, z, r) = (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] + b[3]);
            if x * x + y * y + z * z <= r * r {
                out.push((i, j));
            }
        }
    }
}

fn plain(particles: &[Particle<u32>]) -> Vec<[i64; 4]> {
    let small = |v: i128| i64::try_from(v).expect("a small world");
    particles
        .iter()
        .map(|p| {
            [
                small(p.position.x),
                small(p.position.y),
                small(p.position.z),
                small(p.radius_mm),
            ]
        })
        .collect()
}

/// S2.11: 5,000 particles; the seed takes 14 ms with its index and 150 ms without, 10.7 times.
pub(crate) fn collisions(quick: bool) -> Vec<Row> {
    let list = particles(5_000, true, 5);
    let mut index = sorted(&list);
    let plain = plain(&list);
    let (mut scratch, mut found, mut truth) = (PairScratch::default(), Vec::new(), Vec::new());
    brute(&plain, &mut truth);
    pairs(&index, &mut scratch, &mut found);
    found.sort_unstable();
    assert_eq!(found, truth, "the sweep and brute force differ");
    let note = format!("{} contacts", truth.len());
    let mut random = Random(6);
    let [ours, baseline] = interleaved(
        if quick { 5 } else { 30 },
        [
            &mut || {
                step(&mut index, &mut random);
                pairs(&index, &mut scratch, black_box(&mut found));
            },
            &mut || brute(&plain, black_box(&mut truth)),
        ],
    );
    vec![Row {
        name: "S2.11 5,000 particles, move + find".to_owned(),
        seed_ms: Some(14.0),
        ours,
        baseline: Some(("brute force", baseline)),
        ratio_goal: Some(10.7),
        note,
    }]
}

/// Where the sweep begins to win: 100 rounds at each size.
pub(crate) fn crossover(quick: bool) -> Vec<Row> {
    [4, 8, 12, 16, 24, 48, 128]
        .into_iter()
        .map(|count| {
            let index = sorted(&particles(count, true, u64::from(count)));
            let mut scratch = PairScratch::default();
            let mut contacts = 0_usize;
            let [swept, brute] = interleaved(
                if quick { 5 } else { 30 },
                [
                    &mut || {
                        for _ in 0..100 {
                            let _ = index.visit_pairs_sweep(&mut scratch, |a, b| {
                                black_box((a, b));
                                ControlFlow::Continue(())
                            });
                        }
                    },
                    &mut || {
                        for _ in 0..100 {
                            let _ = index.visit_pairs_brute_force(|a, b| {
                                contacts += 1;
                                black_box((a, b));
                                ControlFlow::Continue(())
                            });
                        }
                    },
                ],
            );
            black_box(contacts);
            Row {
                name: format!("sweep of {count} x 100"),
                seed_ms: None,
                ours: swept,
                baseline: Some(("brute force", brute)),
                ratio_goal: None,
                note: String::new(),
            }
        })
        .collect()
}

/// 100,000 particles on a plane and in space; the last line says what the parts cost.
pub(crate) fn many(quick: bool) -> Vec<Row> {
    let count = if quick { 20_000 } else { 100_000 };
    [true, false]
        .into_iter()
        .flat_map(|flat| {
            let mut index = sorted(&particles(count, flat, 9));
            let (mut scratch, mut found) = (PairScratch::default(), Vec::new());
            pairs(&index, &mut scratch, &mut found);
            let note = format!("{} contacts", found.len());
            let mut random = Random(7);
            let still = index.clone();
            let [moved, swept] = interleaved(
                if quick { 3 } else { 15 },
                [&mut || step(&mut index, &mut random), &mut || {
                    pairs(&still, &mut scratch, black_box(&mut found));
                }],
            );
            let space = if flat { "2D" } else { "3D" };
            let row = |what: &str, ours, note: &str| Row {
                name: format!("{count} particles {space}: {what}"),
                seed_ms: None,
                ours,
                baseline: None,
                ratio_goal: None,
                note: note.to_owned(),
            };
            [row("pairs", swept, &note), row("move + sort", moved, "")]
        })
        .collect()
}
