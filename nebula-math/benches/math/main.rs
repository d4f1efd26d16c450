//! What the exact distance test costs, beside the wrapping formula and floats.
//!
//! Flags: `--quick` (fewer repeats), `--only A,B` (some workloads), `--check` (exit 1 when a goal is
//! missed), `--json FILE`. Times are CPU time of the process, the minimum of interleaved repeats,
//! taken after the answers were compared.

mod flags;
mod formulas;
mod goals;
mod workloads;

use std::hint::black_box;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use cpu_time::ProcessTime;

use flags::Flags;
use formulas::{FORMULAS, Formula};
use goals::Row;
use workloads::Workload;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let flags = Flags::parse(std::env::args().skip(1))?;
    let mut rows = Vec::new();
    for workload in workloads::all() {
        if flags.wants(workload.name) {
            rows.extend(measure(&workload, &flags));
        }
    }
    print(&goals::table(&rows))?;
    if let Some(path) = &flags.json {
        std::fs::write(path, goals::json(&rows)).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let missed = goals::missed(&rows);
    for goal in &missed {
        print(&format!("MISSED {goal}\n"))?;
    }
    Ok(if flags.check && !missed.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Times every formula on a workload, in turns, so that a busy moment hits all of them.
fn measure(workload: &Workload, flags: &Flags) -> Vec<Row> {
    let wrong = workload.wrong_answers();
    let mut best = [Duration::MAX; FORMULAS.len()];
    for _ in 0..flags.repeats() {
        for ((_, formula), best) in FORMULAS.iter().zip(&mut best) {
            *best = (*best).min(time(workload, *formula));
        }
    }
    let row = |(i, (name, _)): (usize, &(&'static str, Formula))| Row {
        workload: workload.name,
        formula: name,
        nanoseconds: best[i].as_secs_f64() * 1e9 / workload.tests_per_run(),
        wrong: wrong[i],
        tests: workload.tests(),
    };
    FORMULAS.iter().enumerate().map(row).collect()
}

fn time(workload: &Workload, formula: Formula) -> Duration {
    let start = ProcessTime::now();
    for _ in 0..Workload::ROUNDS {
        black_box(formula(black_box(workload.scene())));
    }
    start.elapsed()
}

fn print(text: &str) -> Result<(), String> {
    let written = std::io::stdout().write_all(text.as_bytes());
    written.map_err(|e| format!("could not write: {e}"))
}
