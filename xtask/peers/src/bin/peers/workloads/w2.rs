//! W2 and W2b: entities move up to 5 m on each axis, then queries are asked: one by one after one step,
//! all at once in whatever order suits after the next. The better counts, for everyone.

use anyhow::Result;
use nebula_peers::clock::{Best, cpu};
use nebula_peers::report::{Case, Goal, Limit, Row, number};

use crate::contenders::Sink;
use crate::data::{self, Entry};
use crate::limits::Limits;
use crate::measure::{Ask, Field, Start, Truth, aim, line_up, scaled};
use crate::{Bench, RADIUS_MM};

/// How far a step goes on each axis.
const STEP_MM: i64 = 5_000;
/// The queries after the moves: the first few, and all of them.
const FEW: usize = 1_000;
const MANY: usize = 10_000;

pub(crate) fn all_move(bench: &mut Bench) -> Result<()> {
    run(bench, "W2", 1.0, [5.0, 6.0])
}

pub(crate) fn some_move(bench: &mut Bench) -> Result<()> {
    run(bench, "W2b", 0.1, [15.0, 7.0])
}

/// The least times of a lane.
#[derive(Clone, Copy, Default)]
struct Ticks {
    moves: Best,
    few: Best,
    many: Best,
}

fn run(bench: &mut Bench, workload: &str, share: f64, goals: [f64; 2]) -> Result<()> {
    let effort = bench.effort;
    let ways = [Ask::Batch(RADIUS_MM), Ask::Ball(RADIUS_MM)];
    let field = bench.planet();
    let mut limits = Limits::new(field.entries.len());
    let mut ticks = vec![Ticks::default(); field.lanes.len()];
    let mut limit = Ticks::default();
    let mut starts: Vec<Start> = Vec::new();
    let mut hits = Vec::new();
    for repeat in 0..effort.repeats as u64 + 1 {
        let ask = ways[repeat as usize % 2];
        let moves = data::steps(&mut field.entries, share, STEP_MM, 0x5000 + repeat);
        let shifts: Vec<_> = (0..field.lanes.len())
            .map(|lane| shift(field, lane, &moves))
            .collect();
        let centers = data::centers(&field.entries, MANY, 0x6000 + repeat);
        if starts.is_empty() {
            // The answers after the first step are compared; later steps do the same work.
            aim(field, &centers);
            let truth = Truth::of(field, &centers, ask, effort.checks)?;
            hits.clone_from(&truth.hits);
            starts = line_up(field, &centers, ask, &truth, effort);
        } else {
            aim(field, &centers);
        }
        for (((lane, start), ticks), shift) in
            field.lanes.iter().zip(&starts).zip(&mut ticks).zip(shifts)
        {
            if start.takes_part() {
                let ask = |from: usize, to: usize, all: usize| {
                    let (from, to) = (from.min(start.queries), to.min(start.queries));
                    let mut sink = Sink::default();
                    let time = cpu(|| ask.answer(&*lane.contender, &centers, from, to, &mut sink));
                    (to > from).then(|| scaled(time, to - from, all))
                };
                let few = ask(0, FEW, FEW).unwrap_or_default();
                let rest = ask(FEW, MANY, MANY - FEW).unwrap_or(few.mul_f64(9.0));
                ticks.moves.note(shift);
                ticks.few.note(shift + few);
                ticks.many.note(shift + few + rest);
            }
        }
        let read = scaled(limits.stream(), field.entries.len(), moves.len());
        let few = limits.misses(FEW) + limits.copy(&hits[..FEW]);
        limit.few.note(read + few);
        limit
            .many
            .note(read + limits.misses(MANY) + limits.copy(&hits));
    }
    let n = field.entries.len();
    let cases = [(FEW, goals[0]), (MANY, goals[1])].map(|(queries, goal)| {
        let pick = |ticks: &Ticks| {
            if queries == FEW {
                ticks.few.ns()
            } else {
                ticks.many.ns()
            }
        };
        let rows = starts.iter().zip(&ticks).map(|(start, ticks)| {
            let mut row = start.row.clone();
            row.ns = start.takes_part().then(|| pick(ticks));
            row
        });
        let mut case = Case {
            workload: workload.to_owned(),
            name: format!(
                "{} of {} move, then {} queries",
                if share < 1.0 { "10 %" } else { "all" },
                number(n),
                number(queries)
            ),
            per: "tick".to_owned(),
            limit: Some(Limit {
                what: "stream read of the moves, then a miss and a copy per query".to_owned(),
                ns: pick(&limit),
            }),
            goal: Goal {
                times_peer: Some(goal),
                ..Goal::default()
            },
            rows: rows.collect(),
            notes: vec![
                "queries are asked one by one and as a batch (W1) in turns, and the better counts"
                    .to_owned(),
                parts(&starts, &ticks),
            ],
        };
        note_samples(field, &mut case.rows, share);
        case
    });
    for case in cases {
        bench.finish(case);
    }
    Ok(())
}

/// Applies the moves to one lane and returns its time. Who does only a part of them is then brought
/// up to date apart from the clock, so that queries see the same world.
fn shift(field: &mut Field, lane: usize, moves: &[Entry]) -> std::time::Duration {
    let contender = &mut field.lanes[lane].contender;
    let part = moves.len().min(contender.most_moves());
    contender.load(&moves[..part]);
    let time = cpu(|| contender.shift());
    if part < moves.len() {
        contender.load(&field.entries);
        contender.bulk();
    }
    scaled(time, part, moves.len())
}

/// Says what the moves alone cost, lane by lane.
fn parts(starts: &[Start], ticks: &[Ticks]) -> String {
    let mut parts: Vec<(f64, &str)> = starts
        .iter()
        .zip(ticks)
        .filter(|(start, _)| start.takes_part())
        .map(|(start, ticks)| (ticks.moves.ns(), start.row.contender.as_str()))
        .collect();
    parts.sort_by(|a, b| a.0.partial_cmp(&b.0).expect("times are no NaN"));
    let text: Vec<String> = parts
        .iter()
        .map(|(ns, name)| format!("{name} {:.1} ms", ns / 1e6))
        .collect();
    format!("of that the moves alone: {}", text.join(", "))
}

fn note_samples(field: &Field, rows: &mut [Row], share: f64) {
    let moves = (field.entries.len() as f64 * share) as usize;
    for (lane, row) in field.lanes.iter().zip(rows) {
        let most = lane.contender.most_moves();
        if most < moves {
            let part = format!("{} of {} moves", number(most), number(moves));
            row.sample = Some(match row.sample.take() {
                Some(sample) => format!("{part}, {sample}"),
                None => part,
            });
        }
    }
}
