//! The seeds' own figures beside ours: `cargo xtask bench seeds [--quick] [--only A,B] [--check] [--json FILE]`.
//!
//! Times are process CPU time, the minimum of several interleaved repeats, after the answers were
//! compared. The seeds' figures come from other machines and languages; the ratios to a baseline in the
//! same run are what to trust.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

#[path = "seeds/grid.rs"]
mod grid;
#[path = "seeds/measure.rs"]
mod measure;
#[path = "seeds/particles.rs"]
mod particles;

use std::process::ExitCode;

use measure::Row;

/// What to run and where to put it.
#[derive(Default)]
struct Flags {
    quick: bool,
    check: bool,
    only: Vec<String>,
    json: Option<String>,
}

type Case = fn(bool) -> Vec<Row>;

const CASES: [(&str, Case); 6] = [
    ("insert", grid::insert),
    ("query", grid::query),
    ("update", grid::update),
    ("collisions", particles::collisions),
    ("crossover", particles::crossover),
    ("pairs", particles::many),
];

fn main() -> ExitCode {
    let flags = match parse(std::env::args().skip(1)) {
        Ok(flags) => flags,
        Err(fault) => {
            eprintln!("{fault}");
            return ExitCode::FAILURE;
        }
    };
    let mut rows = Vec::new();
    for (name, case) in CASES {
        if flags.only.is_empty() || flags.only.iter().any(|only| only == name) {
            for row in case(flags.quick) {
                println!("{row}");
                rows.push(row);
            }
        }
    }
    if let Some(path) = &flags.json
        && let Err(fault) = std::fs::write(path, measure::json(&rows, flags.quick))
    {
        eprintln!("cannot write {path}: {fault}");
        return ExitCode::FAILURE;
    }
    let missed: Vec<_> = rows.iter().filter(|row| !row.goals_met()).collect();
    for row in &missed {
        println!("missed: {}", row.name);
    }
    let goals: usize = rows.iter().map(Row::goals).sum();
    println!("{goals} goals, {} rows missed one", missed.len());
    if flags.check && !missed.is_empty() {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Flags, String> {
    let mut flags = Flags::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--quick" => flags.quick = true,
            "--check" => flags.check = true,
            "--only" => {
                let names = words.next().ok_or("--only needs names")?;
                flags.only = names.split(',').map(str::to_owned).collect();
            }
            "--json" => flags.json = Some(words.next().ok_or("--json needs a file")?),
            // Cargo adds this one.
            "--bench" => {}
            other => return Err(format!("unknown flag {other}")),
        }
    }
    let known = |name: &String| CASES.iter().any(|(case, _)| case == name);
    match flags.only.iter().find(|name| !known(name)) {
        Some(name) => Err(format!(
            "--only {name}: the cases are {}",
            CASES.map(|(case, _)| case).join(", ")
        )),
        None => Ok(flags),
    }
}
