//! `cargo xtask bench interest`: interest sets against what people write today, a k-d tree built anew
//! in every tick and two differences of hash sets.

#[allow(
    dead_code,
    reason = "the worlds of the index comparison, of which one is used here"
)]
#[path = "../peers/data.rs"]
mod data;
mod diff;
mod idle;
mod tick;

use std::process::ExitCode;

use anyhow::Result;
use nebula_peers::clock::Share;
use nebula_peers::flags::Flags;
use nebula_peers::machine::Machine;
use nebula_peers::report::{Case, Report, json, table};

/// 500 m.
const RADIUS_MM: u128 = 500_000;
const CLIENTS: usize = 1_000;

/// A workload: its name, and how it is run. `true` asks for a short run.
type Workload = (&'static str, fn(bool) -> Result<Vec<Case>>);

const WORKLOADS: [Workload; 3] = [("I1", tick::run), ("I2", idle::run), ("I3", diff::run)];

fn main() -> ExitCode {
    let names = WORKLOADS.map(|(name, _)| name);
    let flags = match Flags::parse(std::env::args().skip(1), &names) {
        Ok(flags) => flags,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    match run(&flags) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &Flags) -> Result<ExitCode> {
    let share = Share::start();
    let mut report = Report {
        bench: "interest".to_owned(),
        quick: flags.quick,
        machine: Machine::here(),
        ..Report::default()
    };
    for (name, run) in WORKLOADS {
        if flags.wants(name) {
            for case in run(flags.quick)? {
                print!("{}", table::text(&case));
                report.cases.push(case);
            }
        }
    }
    report.machine.note_sharing(share.seconds());
    println!("\n{}", report.machine.sharing);
    print!("{}", table::verdict(&report));
    if let Some(file) = &flags.json {
        json::write(&report, file)?;
    }
    let failed = flags.check && !report.missed().is_empty();
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
