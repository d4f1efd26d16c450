//! Growth: what a query and a move cost from a thousand entities to four million, beside the best two
//! peers at each.

use anyhow::Result;
use nebula_peers::clock::{Best, cpu};
use nebula_peers::report::chart::{Kind, Series};
use nebula_peers::report::{Case, Chart, Report, Role, Row, number};

use crate::contenders::{self, nebula};
use crate::measure::{Ask, Effort, Field, Floor, queries};
use crate::{Bench, RADIUS_MM, data};

/// The name of this workload.
pub(crate) const NAME: &str = "growth";

const SIZES: [usize; 7] = [1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000];
const QUICK_SIZES: [usize; 4] = [1_000, 16_000, 256_000, 1_000_000];
const QUERIES: usize = 2_000;

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let askers = best_two(&bench.report, "W1", "r = 500 m, 1,000,000 entities");
    let movers = best_two(
        &bench.report,
        "W2",
        "all of 1,000,000 move, then 1,000 queries",
    );
    let sizes = if bench.flags.quick {
        &QUICK_SIZES[..]
    } else {
        &SIZES
    };
    for n in sizes {
        let mut names: Vec<String> = askers.iter().chain(&movers).cloned().collect();
        names.push(nebula::NAME.to_owned());
        let who = contenders::named(&names, RADIUS_MM);
        let mut field = Field::new(data::planet(*n), who);
        let effort = Effort {
            repeats: if *n > 2_000_000 { 2 } else { 3 },
            ..bench.effort
        };
        let count = QUERIES.min(*n * 4);
        let centers = data::centers(&field.entries, count, 11);
        let ask = Ask::Ball(RADIUS_MM);
        let (mut rows, limit) = queries(&mut field, &centers, ask, Floor::MissAndCopy, effort)?;
        rows.retain(|row| row.role == Role::Ours || askers.contains(&row.contender));
        bench.finish(Case {
            limit: Some(limit),
            ..case(*n, "query", rows)
        });
        let rows = moves(&mut field, &movers, effort);
        bench.finish(case(*n, "move", rows));
    }
    let charts = ["query", "move"].map(|per| chart(&bench.report, per));
    bench.report.charts.extend(charts);
    Ok(())
}

fn case(n: usize, per: &str, rows: Vec<Row>) -> Case {
    Case {
        workload: NAME.to_owned(),
        name: format!("{} entities, one {per}", number(n)),
        per: per.to_owned(),
        rows,
        ..Case::default()
    }
}

/// Returns the best two peers at a case of this run, or those that were best before.
fn best_two(report: &Report, workload: &str, name: &str) -> Vec<String> {
    let Some(case) = report.case(workload, name) else {
        return ["kiddo immutable, SIMD stems", "parry BVH, refit"]
            .map(str::to_owned)
            .to_vec();
    };
    let names = case.peers().into_iter().map(|row| row.contender.clone());
    names.take(2).collect()
}

/// Lets everybody move, as in W2, and returns the time of one move.
fn moves(field: &mut Field, movers: &[String], effort: Effort) -> Vec<Row> {
    let n = field.entries.len();
    // Small worlds move so fast that one tick is no measure.
    let ticks = (100_000 / n).clamp(1, 100);
    let mut best = vec![Best::default(); field.lanes.len()];
    for repeat in 0..effort.repeats {
        let moves: Vec<_> = (0..ticks)
            .map(|tick| {
                let seed = (repeat * ticks + tick) as u64;
                data::steps(&mut field.entries, 1.0, 5_000, seed)
            })
            .collect();
        for (lane, best) in field.lanes.iter_mut().zip(&mut best) {
            let mut total = std::time::Duration::ZERO;
            for moves in &moves {
                lane.contender.load(moves);
                total += cpu(|| lane.contender.shift());
            }
            best.note(total);
        }
    }
    let rows = field.lanes.iter().zip(&best).map(|(lane, best)| Row {
        contender: lane.contender.name().to_owned(),
        role: lane.contender.role(),
        ns: Some(best.ns() / (n * ticks) as f64),
        ..Row::default()
    });
    rows.filter(|row| row.role == Role::Ours || movers.contains(&row.contender))
        .collect()
}

fn chart(report: &Report, per: &str) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    for case in report
        .cases
        .iter()
        .filter(|case| case.workload == NAME && case.per == per)
    {
        let digits: String = case.name.chars().take_while(|c| *c != ' ').collect();
        let n: f64 = digits.replace(',', "").parse().unwrap_or(1.0);
        for row in &case.rows {
            let Some(ns) = row.ns else { continue };
            match series.iter_mut().find(|line| line.name == row.contender) {
                Some(line) => line.points.push((n, ns)),
                None => series.push(Series {
                    name: row.contender.clone(),
                    points: vec![(n, ns)],
                }),
            }
        }
    }
    Chart {
        file: format!("growth-{per}.svg"),
        title: format!("CPU time of one {per} as the world grows (r = 500 m)"),
        kind: Kind::Lines {
            across: "entities".to_owned(),
            up: format!("time per {per}"),
            series,
        },
    }
}
