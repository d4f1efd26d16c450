//! Overlapping pairs: the sweep against each-against-each in big integers.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use core::hint::black_box;
use core::ops::ControlFlow;
use core::time::Duration;

use common::coords::{self, SPREADS, at};
use common::source::{Seeded, Source};
use cpu_time::ThreadTime;
use nebula_coords::{PairScratch, Particle, SortedIndex};
use nebula_math::WorldPosition;
use num_bigint::BigInt;

fn index(cell_mm: i128, particles: &[Particle<u32>]) -> SortedIndex<u32> {
    SortedIndex::from_particles(cell_mm, particles).expect("a positive size")
}

/// The truth, sorted.
fn truth(particles: &[Particle<u32>]) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for (i, a) in particles.iter().enumerate() {
        for b in &particles[i + 1..] {
            let reach = BigInt::from(a.radius_mm) + b.radius_mm;
            if a.radius_mm >= 0
                && b.radius_mm >= 0
                && common::oracle::distance_squared(&a.position, &b.position) <= &reach * &reach
            {
                pairs.push((a.id.min(b.id), a.id.max(b.id)));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

#[track_caller]
fn check(cell_mm: i128, particles: &[Particle<u32>], why: &str) -> usize {
    let index = index(cell_mm, particles);
    let mut found = index.overlapping_pairs();
    let n = found.len();
    found.sort_unstable();
    assert_eq!(found, truth(particles), "{why}");
    let mut brute = Vec::new();
    let _ = index.visit_pairs_brute_force(|a, b| {
        brute.push((a, b));
        ControlFlow::Continue(())
    });
    brute.sort_unstable();
    assert_eq!(brute, found, "{why}");
    let mut swept = Vec::new();
    let _ = index.visit_pairs_sweep(&mut PairScratch::default(), |a, b| {
        swept.push((a, b));
        ControlFlow::Continue(())
    });
    swept.sort_unstable();
    assert_eq!(swept, found, "{why}");
    n
}

fn random(s: &mut Seeded, count: u32, side: u64, flat: bool, radii: &[u64]) -> Vec<Particle<u32>> {
    let half = i128::from(side / 2);
    (0..count)
        .map(|id| {
            let mut axis = || i128::from(s.below(side)) - half;
            let position = at(axis(), axis(), if flat { 0 } else { axis() });
            let most = s.pick(radii);
            Particle {
                id,
                position,
                radius_mm: i128::from(s.below(most + 1)),
            }
        })
        .collect()
}

#[test]
fn the_boundary_counts() {
    let ball = |id, x, radius_mm| Particle {
        id,
        position: at(x, 0, 0),
        radius_mm,
    };
    assert_eq!(check(8, &[ball(1, -5, 5), ball(2, 5, 5)], "touching"), 1);
    assert_eq!(check(8, &[ball(1, -5, 5), ball(2, 6, 5)], "one apart"), 0);
    assert_eq!(
        check(
            8,
            &[ball(1, 0, 0), ball(2, 0, 0)],
            "two points in one place"
        ),
        1
    );
    assert_eq!(
        check(8, &[ball(1, 0, -1), ball(2, 0, 9)], "a negative radius"),
        0
    );
    assert_eq!(check(8, &[], "nothing"), 0);
}

#[test]
fn sizes_around_the_crossover_agree() {
    for count in 0..100 {
        let mut s = Seeded(u64::from(count));
        let list = random(&mut s, count, 600, count % 2 == 0, &[20, 60]);
        check(64, &list, &format!("{count} particles"));
    }
}

#[test]
fn discs_and_spheres_of_mixed_sizes_agree() {
    let mut pairs = 0;
    for seed in 0..24 {
        let mut s = Seeded(seed);
        let flat = seed % 2 == 0;
        let radii: &[u64] = s.pick(&[
            &[5][..],
            &[3, 40],
            &[2, 2, 2, 2, 2, 2, 2, 2, 300],
            &[0],
            &[1],
        ]);
        let side = if flat { 1_200 } else { 300 };
        let list = random(&mut s, 400, side, flat, radii);
        pairs += check(
            s.pick(&[1, 16, 100, 1 << 20]),
            &list,
            &format!("seed {seed}"),
        );
    }
    assert!(pairs > 3_000, "{pairs} pairs prove little");
}

#[test]
fn giants_among_dust_agree() {
    for seed in 0..12 {
        let mut s = Seeded(seed);
        let mut list = random(&mut s, 400, 20_000, seed % 2 == 0, &[30]);
        for (n, giant) in list.iter_mut().step_by(97).enumerate() {
            giant.radius_mm =
                s.pick(&[900, 5_000, 40_000, 1_000_000]) + i128::try_from(n).expect("small");
        }
        assert!(check(64, &list, &format!("seed {seed}")) > 100);
    }
}

/// Sizes of every class at once, so that each asks the smaller ones.
#[test]
fn sizes_from_dust_to_planets_agree() {
    for seed in 0..20 {
        let mut s = Seeded(seed);
        let mut list = random(&mut s, 400, 3_000, seed % 2 == 0, &[0]);
        for particle in &mut list {
            let most = s.pick(&[2, 6, 10, 12]);
            let bits = s.below(most);
            particle.radius_mm = i128::from(s.below(1 << bits)) - i128::from(s.below(20) == 0);
            if s.below(3) == 0 {
                particle.position = at(particle.position.x / 100, particle.position.y / 100, 0);
            }
        }
        assert!(check(64, &list, &format!("seed {seed}")) > 100);
    }
}

/// Dust in one spot among boulders: rows made for boulders would compare all the dust with itself, some
/// thirty times the work.
#[test]
fn dust_among_boulders_costs_little_more_than_dust() {
    let mut list = random(&mut Seeded(11), 20_000, 10_000, false, &[3]);
    let dust = time_of(&list[600..]);
    for boulder in &mut list[..600] {
        // In a line, apart from one another; the first one holds all the dust.
        boulder.radius_mm = 100_000;
        boulder.position.x += i128::from(boulder.id) * 300_000;
    }
    let both = time_of(&list);
    assert!(both < dust * 10, "{both:?} with boulders, {dust:?} without");
}

/// Returns the shortest CPU time of a few sweeps.
fn time_of(list: &[Particle<u32>]) -> Duration {
    let index = index(64, list);
    let mut scratch = PairScratch::default();
    let sweep = |_| {
        let before = ThreadTime::now();
        let _ = index.visit_pairs_sweep(&mut scratch, |a, b| {
            black_box((a, b));
            ControlFlow::Continue(())
        });
        before.elapsed()
    };
    (0..4).map(sweep).min().expect("four")
}

/// Extents and radii on both sides of the limits of the 32-bit sweep.
#[test]
fn wide_space_and_wide_radii_agree() {
    for bits in [29_u32, 30, 31, 32, 33, 62, 63] {
        for seed in 0..4 {
            let mut s = Seeded(seed + u64::from(bits) * 100);
            let side = 1_u64 << bits;
            let list = random(&mut s, 120, side, seed % 2 == 0, &[side / 64, side / 3]);
            let n = check(1 << (bits - 4), &list, &format!("{bits} bits, seed {seed}"));
            assert!(n > 20, "{n} pairs at {bits} bits");
        }
    }
    for radius_mm in [(1 << 30) - 1, 1 << 30, (1 << 30) + 1, 1 << 126, i128::MAX] {
        let mut list = random(&mut Seeded(1), 80, 1 << 20, false, &[10_000]);
        list[7].radius_mm = radius_mm;
        check(1 << 12, &list, &format!("radius {radius_mm}"));
    }
    for extent in [(1 << 31) - 1, 1 << 31, (1 << 31) + 1] {
        let mut list = random(&mut Seeded(2), 80, 1 << 10, false, &[100]);
        for particle in &mut list {
            particle.position.x += 1 << 9;
        }
        list[0].position.x = 0;
        list[1].position.x = extent;
        list[1].radius_mm = 500;
        list[2].position = at(extent - 400, list[1].position.y, list[1].position.z);
        check(1 << 8, &list, &format!("extent {extent}"));
    }
}

/// Cells around the thickness that rows must have, where the array itself is nearly in the order of the
/// rows; contacts and near misses by a millimetre at every distance at which floats could round them away.
#[test]
fn cells_as_thick_as_rows_agree_to_the_millimetre() {
    let mut pairs = 0;
    for bits in [3_u32, 8, 14, 22, 25, 28] {
        for seed in 0..8 {
            let mut s = Seeded(seed + u64::from(bits) * 100);
            let most = 1_u64 << bits;
            let side = most * s.pick(&[4, 6]);
            let mut list = random(&mut s, 250, side, seed % 2 == 0, &[most]);
            for k in (0..240).step_by(8) {
                // Just touching along one axis, or along three in the shape of 2, 3, 6 and 7.
                let (a, more) = (list[k], i128::from(s.below(2)));
                let reach = a.radius_mm + list[k + 1].radius_mm;
                let (dx, dy, dz) = s.pick(&[(7, 0, 0), (-7, 0, 0), (0, 7, 0), (2, 3, 6)]);
                let unit = reach / 7;
                list[k + 1].radius_mm -= reach % 7 - more + 1;
                list[k + 1].position = at(
                    a.position.x + dx * unit,
                    a.position.y + dy * unit,
                    a.position.z + dz * unit,
                );
            }
            for cell_mm in [1 << bits, 2 << bits, 4 << bits, 8 << bits] {
                pairs += check(
                    cell_mm,
                    &list,
                    &format!("{bits} bits, seed {seed}, {cell_mm}"),
                );
            }
        }
    }
    assert!(pairs > 10_000, "{pairs} pairs prove little");
}

/// One cell with everything in it: the array says nothing about the order in a row.
#[test]
fn crowded_cells_agree() {
    for seed in 0..4 {
        let mut s = Seeded(seed);
        let list = random(&mut s, 700, 120, seed % 2 == 0, &[4, 60]);
        check(s.pick(&[64, 128]), &list, &format!("seed {seed}"));
    }
}

#[test]
fn coordinates_of_every_kind_agree() {
    for seed in 0..400 {
        let mut s = Seeded(seed);
        let spread = s.pick(&SPREADS);
        let anchor = coords::position(&mut s, spread, &WorldPosition::ORIGIN);
        let list: Vec<_> = (0..70)
            .map(|id| Particle {
                id,
                position: coords::position(&mut s, spread, &anchor),
                radius_mm: coords::radius(&mut s),
            })
            .collect();
        check(
            s.pick(&[1, 1 << 10, 1 << 32, i128::MAX]),
            &list,
            &format!("seed {seed}"),
        );
    }
}

#[test]
fn degenerate_crowds_agree() {
    let same = |f: &dyn Fn(u32) -> WorldPosition, radius_mm| -> Vec<_> {
        (0..150)
            .map(|id| Particle {
                id,
                position: f(id),
                radius_mm,
            })
            .collect()
    };
    let n = i128::from;
    assert_eq!(
        check(8, &same(&|_| at(-3, -3, -3), 0), "one point"),
        150 * 149 / 2
    );
    check(8, &same(&|i| at(n(i) * 7, 0, 0), 4), "a line along x");
    check(8, &same(&|i| at(0, n(i) * 7, 0), 4), "a line along y");
    check(8, &same(&|i| at(0, 0, n(i) * -7), 4), "a line along z");
    check(
        8,
        &same(&|i| at(0, n(i % 12) * 5, n(i / 12) * 5), 3),
        "a plane across x",
    );
    check(
        8,
        &same(&|i| at(n(i % 2) << 126, 5, n(i)), 2),
        "two clusters far apart",
    );
}

#[test]
fn the_order_is_a_function_of_what_is_stored() {
    let mut list = random(&mut Seeded(6), 400, 400, false, &[30]);
    let pairs = index(64, &list).overlapping_pairs();
    assert!(pairs.len() > 50);
    list.reverse();
    assert_eq!(index(64, &list).overlapping_pairs(), pairs);
}

#[test]
fn a_break_ends_the_sweep_and_warm_scratch_allocates_nothing() {
    let index = index(64, &random(&mut Seeded(7), 3_000, 700, false, &[40]));
    let mut scratch = PairScratch::default();
    let mut n = 0;
    let flow = index.visit_pairs(&mut scratch, |_, _| {
        n += 1;
        if n == 10 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!((flow, n), (ControlFlow::Break(()), 10));
    let mut sweep = || {
        let _ = index.visit_pairs(&mut scratch, |_, _| {
            n += 1;
            ControlFlow::Continue(())
        });
    };
    sweep();
    let allocations = allocation_counter::measure(sweep);
    assert_eq!(allocations.count_total, 0);
    assert!(n > 1_000);
}
