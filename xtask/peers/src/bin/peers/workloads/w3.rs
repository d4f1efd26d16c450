//! W3: build at once, store one by one, remove everything in random order.

use anyhow::Result;
use nebula_coords::SpatialIndex;
use nebula_peers::clock::{Best, cpu};
use nebula_peers::random::Random;
use nebula_peers::report::{Case, Goal, Limit, Role, Row, number};

use crate::contenders::{self, Contender, Sink, Work};
use crate::data::{self, Entry};
use crate::limits::Limits;
use crate::measure::{Ask, Field, Lane, Truth, aim, line_up, scaled};
use crate::{Bench, RADIUS_MM};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Bulk,
    Insert,
    Remove,
}

/// Those that keep nothing which would have to be built, or next to nothing.
const ASIDE: [(&str, &str); 2] = [
    ("brute force", "no peer here: there is no index to build"),
    (
        "literal sector hash",
        "no peer here: its buckets make queries hundreds of times slower",
    ),
];

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    race(bench, How::Bulk, 200_000, 1.0)?;
    race(bench, How::Bulk, 1_000_000, 1.5)?;
    let n = if bench.flags.quick {
        200_000
    } else {
        1_000_000
    };
    race(bench, How::Insert, n, 1.0)?;
    race(bench, How::Remove, n, 2.5)
}

fn race(bench: &mut Bench, how: How, n: usize, goal: f64) -> Result<()> {
    let mut effort = bench.effort;
    if n > 500_000 {
        effort.repeats = effort.repeats.div_ceil(2);
    }
    let entries = data::planet(n);
    let mut order = entries.clone();
    Random(0x0D).shuffle(&mut order);
    let lanes = contenders::all(RADIUS_MM)
        .into_iter()
        .map(|contender| Lane {
            contender,
            bytes: None,
        });
    let mut field = Field {
        lanes: lanes.collect(),
        reach_mm: data::reach(&entries),
        entries,
    };
    let limits = Limits::new(n);
    let mut limit = Best::default();
    let mut best = vec![Best::default(); field.lanes.len()];
    let mut samples = vec![None; field.lanes.len()];
    for _ in 0..effort.repeats {
        for lane in 0..field.lanes.len() {
            if how == How::Insert {
                field.lanes[lane].contender = fresh(lane);
            }
            let contender = &mut *field.lanes[lane].contender;
            if refusal(contender, how).is_some() {
                continue;
            }
            let (time, part) = once(contender, how, &field.entries, &order);
            best[lane].note(scaled(time, part, n));
            samples[lane] = (part < n).then(|| format!("{} of {}", number(part), number(n)));
        }
        limit.note(if how == How::Bulk {
            limits.stream()
        } else {
            limits.misses(n)
        });
    }
    let mut rows = check(&mut field, how, bench.effort)?;
    for (lane, row) in rows.iter_mut().enumerate() {
        if let Some(reason) = refusal(&*field.lanes[lane].contender, how) {
            row.note = Some(reason.to_owned());
        } else if row
            .note
            .as_ref()
            .is_none_or(|note| !note.starts_with("WRONG"))
        {
            row.ns = Some(best[lane].ns() / per(how, n));
            row.sample.clone_from(&samples[lane]);
        }
        if let Some((_, why)) = ASIDE.iter().find(|(name, _)| *name == row.contender) {
            row.role = Role::Aside;
            row.note = Some((*why).to_owned());
        }
    }
    bench.finish(Case {
        workload: "W3".to_owned(),
        name: match how {
            How::Bulk => format!("bulk build of {}", number(n)),
            How::Insert => format!("insert {} one by one", number(n)),
            How::Remove => format!("remove all of {} in random order", number(n)),
        },
        per: if how == How::Bulk { "build" } else { "entity" }.to_owned(),
        limit: Some(Limit {
            what: match how {
                How::Bulk => "stream read of 16 bytes per entity".to_owned(),
                _ => "one dependent miss".to_owned(),
            },
            ns: limit.ns() / per(how, n),
        }),
        goal: Goal {
            times_peer: Some(goal),
            ..Goal::default()
        },
        rows,
        notes: if how == How::Remove {
            vec![one_by_one(&field.entries, &order, effort.repeats)]
        } else {
            Vec::new()
        },
    });
    Ok(())
}

/// Says what our removals cost by one call each.
fn one_by_one(entries: &[Entry], order: &[Entry], repeats: usize) -> String {
    let mut best = Best::default();
    for _ in 0..repeats {
        let mut index = SpatialIndex::from_points(entries);
        best.note(cpu(|| {
            for (id, _) in order {
                index.remove(*id);
            }
        }));
    }
    format!(
        "Nebula SpatialIndex removes the list by one call of `remove_batch`, which no peer has; one by one it takes {:.1} ns",
        best.ns() / entries.len() as f64
    )
}

fn per(how: How, n: usize) -> f64 {
    if how == How::Bulk { 1.0 } else { n as f64 }
}

fn fresh(lane: usize) -> Box<dyn Contender> {
    contenders::all(RADIUS_MM).swap_remove(lane)
}

fn refusal(contender: &dyn Contender, how: How) -> Option<&'static str> {
    match how {
        How::Bulk => None,
        How::Insert => contender.refuses(Work::Insert),
        How::Remove => contender.refuses(Work::Remove),
    }
}

/// Does the work once and returns its time, and how much of it was done.
fn once(
    contender: &mut dyn Contender,
    how: How,
    entries: &[Entry],
    order: &[Entry],
) -> (std::time::Duration, usize) {
    let n = entries.len();
    match how {
        How::Bulk => {
            contender.load(entries);
            (cpu(|| contender.bulk()), n)
        }
        How::Insert => {
            contender.load(entries);
            (cpu(|| contender.insert()), n)
        }
        How::Remove => {
            contender.load(entries);
            contender.bulk();
            let part = n.min(contender.most_removals());
            contender.load(&order[..part]);
            (cpu(|| contender.remove()), part)
        }
    }
}

/// Compares what is stored now: everything, or after removals nothing.
fn check(field: &mut Field, how: How, effort: crate::measure::Effort) -> Result<Vec<Row>> {
    let ask = Ask::Ball(RADIUS_MM);
    let centers = data::centers(&field.entries, 300, 3);
    aim(field, &centers);
    if how != How::Remove {
        let truth = Truth::of(field, &centers, ask, effort.checks)?;
        let starts = line_up(field, &centers, ask, &truth, effort);
        return Ok(starts
            .into_iter()
            .map(|start| start.row)
            .map(plain)
            .collect());
    }
    let row = |lane: &Lane| {
        let contender = &*lane.contender;
        let mut sink = Sink::default();
        ask.answer(contender, &centers, 0, centers.len().min(20), &mut sink);
        let all = contender.most_removals() >= field.entries.len();
        let wrong = all && sink.hits > 0 && refusal(contender, how).is_none();
        Row {
            contender: contender.name().to_owned(),
            role: contender.role(),
            note: wrong.then(|| format!("WRONG: {} hits after all were removed", sink.hits)),
            ..Row::default()
        }
    };
    Ok(field.lanes.iter().map(row).collect())
}

/// A sample of the check's queries says nothing about the build.
fn plain(mut row: Row) -> Row {
    row.sample = None;
    row
}
