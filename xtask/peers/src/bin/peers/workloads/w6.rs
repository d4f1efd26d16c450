//! W6: overlapping pairs of spheres of mixed radii, on a plane and in space. A step moves all of them.

use anyhow::{Result, bail};
use nebula_math::WorldPosition;
use nebula_peers::clock::{Best, cpu};
use nebula_peers::random::Random;
use nebula_peers::report::{Case, Goal, Limit, Role, Row, number};

use crate::Bench;
use crate::data::{self, Sphere};
use crate::limits::Limits;
use crate::pairs::{self, Pairs};

/// How many spheres, and how many times faster than the best peer.
const SIZES: [(usize, f64); 2] = [(5_000, 1.2), (100_000, 2.0)];
/// How far a step goes on each axis.
const STEP_MM: i64 = 50;
/// Of so many spheres all contacts are checked against each other sphere.
const CHECKED: usize = 500;

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    for (n, goal) in SIZES {
        for flat in [true, false] {
            race(bench, n, flat, goal)?;
        }
    }
    Ok(())
}

fn race(bench: &mut Bench, n: usize, flat: bool, goal: f64) -> Result<()> {
    let mut spheres = data::particles(n, flat);
    let mut finders = pairs::all(flat);
    let mut random = Random(0x6);
    let mut limits = Limits::new(n);
    let mut limit = Best::default();
    let mut best = vec![Best::default(); finders.len()];
    let mut rows: Vec<Row> = finders.iter().map(|f| row(&**f)).collect();
    let mut contacts = 0;
    for finder in &mut finders {
        finder.load(&spheres);
    }
    let repeats = if n < 10_000 {
        bench.effort.repeats * 5
    } else {
        bench.effort.repeats
    };
    for repeat in 0..=repeats {
        step(&mut spheres, flat, &mut random);
        let mut truth = Vec::new();
        for ((finder, best), row) in finders.iter_mut().zip(&mut best).zip(&mut rows) {
            finder.load(&spheres);
            let mut out = Vec::new();
            let time = cpu(|| finder.step(&mut out));
            // The first step is for comparing, and warms everybody's memory.
            if repeat > 0 {
                best.note(time.div_f64(finder.share()));
                continue;
            }
            out.sort_unstable();
            if finder.role() == Role::Ours {
                check(&spheres, &out)?;
                contacts = out.len();
                truth = out;
            } else if finder.share() == 1.0 && out != truth {
                row.note =
                    Some("WRONG: other pairs than the rest; its time does not count".to_owned());
            }
        }
        // Two ids of 4 bytes for each contact, 16 bytes for each sphere.
        let copied = [contacts.min(n / 2) * 2];
        limit.note(limits.stream() + limits.copy(&copied));
    }
    for ((row, best), finder) in rows.iter_mut().zip(&best).zip(&finders) {
        row.ns = row.note.is_none().then(|| best.ns());
        if finder.share() < 1.0 {
            let share = finder.share() * 100.0;
            row.sample = Some(format!("{share:.1} % of the comparisons"));
        }
    }
    bench.finish(Case {
        workload: "W6".to_owned(),
        name: format!("{} spheres, {}", number(n), if flat { "2D" } else { "3D" }),
        per: "step: move all, list all pairs".to_owned(),
        limit: Some(Limit {
            what: "stream read of the spheres and a copy of the pairs".to_owned(),
            ns: limit.ns(),
        }),
        goal: Goal {
            times_peer: Some(goal),
            ..Goal::default()
        },
        rows,
        notes: vec![format!("{} pairs touch", number(contacts))],
    });
    Ok(())
}

fn row(finder: &dyn Pairs) -> Row {
    Row {
        contender: finder.name().to_owned(),
        role: finder.role(),
        ..Row::default()
    }
}

fn step(spheres: &mut [Sphere], flat: bool, random: &mut Random) {
    for (at, _) in spheres {
        let to = data::nudged(*at, STEP_MM, random);
        *at = WorldPosition::new(to.x, to.y, if flat { 0 } else { to.z });
    }
}

/// Holds our pairs against an exact check of the first spheres with all others.
fn check(spheres: &[Sphere], found: &[(u32, u32)]) -> Result<()> {
    let mut right = Vec::new();
    for (a, (at, radius)) in spheres.iter().enumerate().take(CHECKED) {
        for (b, (other, more)) in spheres.iter().enumerate().skip(a + 1) {
            if at.is_within(other, i128::from(radius + more)) {
                right.push((u32::try_from(a)?, u32::try_from(b)?));
            }
        }
    }
    let of_those = |(a, _): &&(u32, u32)| (*a as usize) < CHECKED;
    if !found.iter().filter(of_those).eq(&right) {
        bail!("SortedIndex and an exact check of {CHECKED} spheres differ");
    }
    Ok(())
}
