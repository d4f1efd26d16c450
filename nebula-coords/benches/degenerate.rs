//! Sets that break other indexes must cost `SpatialIndex` at most three times what a uniform set
//! costs: per operation, and per hit where the number of hits differs.
//!
//! `cargo bench -p nebula-coords --bench degenerate -- [--quick] [--check] [--only A,B] [--json FILE]`
//! Sets: uniform, point, line, plane, powers, clusters. Works: insert, bulk, query, nearest, move
//! (a step and back), requery and renear (the questions after such steps), jump, remove. `--check` exits 1 when a goal is missed and says which.
//!
//! Times are CPU time of the process, the minimum of several repeats that interleave the sets, after
//! the answers were compared with the slow twin. Repeats go on until the minima have settled, whether
//! they meet the goal or not: on a shared machine a minimum of few is no minimum yet.
#![expect(clippy::print_stdout, reason = "a benchmark reports to its user")]

#[path = "degenerate/flags.rs"]
mod flags;
#[path = "degenerate/sets.rs"]
mod sets;
#[path = "degenerate/work.rs"]
mod work;

use std::fmt::Write as _;
use std::process::ExitCode;

use flags::Flags;
use sets::{SETS, Set};
use work::{Cost, WORKS};

/// The goal: this many times the uniform set.
const GOAL: f64 = 3.0;

/// The minima have settled when none fell below this share of itself in so many rounds in a row.
const SETTLED: f64 = 0.98;
const CALM: usize = 3;

/// How many times the least number of repeats there are at most.
const MORE: usize = 5;

/// One measured cell of the table.
struct Row {
    set: &'static str,
    work: &'static str,
    cost: Cost,
    /// Cost against the uniform set, by the measure that fits.
    ratio: f64,
    per_hit: bool,
}

fn main() -> ExitCode {
    let flags = match Flags::parse(std::env::args().skip(1)) {
        Ok(flags) => flags,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let entities = if flags.quick { 20_000 } else { 200_000 };
    let repeats = if flags.quick { 3 } else { 5 };
    println!(
        "{entities} entities, minimum of {repeats} to {} repeats, CPU time",
        repeats * MORE
    );
    let sets: Vec<Set> = SETS
        .iter()
        .filter(|maker| maker.name == "uniform" || flags.wants(maker.name))
        .map(|maker| (maker.make)(entities))
        .collect();
    for set in &sets {
        work::compare_with_twin(set);
    }
    let rows = measure(&flags, &sets, repeats);
    print(&rows);
    if let Some(file) = &flags.json
        && let Err(error) = std::fs::write(file, to_json(entities, &rows))
    {
        eprintln!("--json {}: {error}", file.display());
        return ExitCode::FAILURE;
    }
    verdict(&flags, &rows)
}

/// Runs every work on every set, repeat by repeat, so that a slow moment of the machine falls on all.
fn measure(flags: &Flags, sets: &[Set], repeats: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for work in WORKS.iter().filter(|work| flags.wants(work.name)) {
        let mut best: Vec<Cost> = sets.iter().map(work.run).collect();
        let mut calm = 0;
        for round in 1..repeats * MORE {
            if round >= repeats && calm >= CALM {
                break;
            }
            calm += 1;
            for (set, best) in sets.iter().zip(&mut best) {
                let cost = (work.run)(set);
                if cost.ns_per_op() < best.ns_per_op() * SETTLED {
                    calm = 0;
                }
                *best = best.min(cost);
            }
        }
        // The uniform set comes first and is the baseline.
        for (set, cost) in sets.iter().zip(&best) {
            let (ratio, per_hit) = cost.ratio(&best[0]);
            rows.push(Row {
                set: set.name,
                work: work.name,
                cost: *cost,
                ratio,
                per_hit,
            });
        }
    }
    rows
}

fn print(rows: &[Row]) {
    println!(
        "{:8} {:9} {:>10} {:>10} {:>9} {:>8}",
        "work", "set", "ns/op", "hits/op", "ns/hit", "ratio"
    );
    for row in rows {
        println!(
            "{:8} {:9} {:10.1} {:10.1} {:>9} {:7.2}x{}",
            row.work,
            row.set,
            row.cost.ns_per_op(),
            row.cost.hits_per_op(),
            row.cost
                .ns_per_hit()
                .map_or_else(String::new, |ns| format!("{ns:.2}")),
            row.ratio,
            if row.per_hit { " per hit" } else { "" }
        );
    }
}

fn to_json(entities: u32, rows: &[Row]) -> String {
    let mut text =
        format!("{{\n  \"bench\": \"degenerate\",\n  \"entities\": {entities},\n  \"rows\": [");
    for (i, row) in rows.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}\n    {{\"work\": \"{}\", \"set\": \"{}\", \"ns_per_op\": {:.2}, \"hits_per_op\": {:.2}, \
             \"ratio\": {:.3}, \"per_hit\": {}}}",
            row.work,
            row.set,
            row.cost.ns_per_op(),
            row.cost.hits_per_op(),
            row.ratio,
            row.per_hit
        );
    }
    text.push_str("\n  ]\n}\n");
    text
}

fn verdict(flags: &Flags, rows: &[Row]) -> ExitCode {
    let missed: Vec<&Row> = rows.iter().filter(|row| row.ratio > GOAL).collect();
    for row in &missed {
        println!(
            "missed: {} on {} costs {:.2} times the uniform set{}, the goal is {GOAL}",
            row.work,
            row.set,
            row.ratio,
            if row.per_hit { " per hit" } else { "" }
        );
    }
    if missed.is_empty() {
        println!("every set costs at most {GOAL} times the uniform set");
    }
    if flags.check && !missed.is_empty() {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
