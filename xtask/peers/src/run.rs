//! A comparison from its command line to its exit status.

use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::clock::Share;
use crate::flags::Flags;
use crate::machine::Machine;
use crate::report::{Case, Report, json, table};

/// Runs a comparison: reads the command line, lets `measure` hand over cases, which are printed as
/// they come, and judges them. `measure` may leave out what [`Flags::wants`] does not ask for.
///
/// All of it is one thread: CPU time must not pay for a second one's waiting.
pub fn run(
    bench: &str,
    workloads: &[&str],
    measure: impl FnOnce(&Flags, &mut dyn FnMut(Case)) -> Result<()>,
) -> ExitCode {
    let flags = match Flags::parse(std::env::args().skip(1), workloads) {
        Ok(flags) => flags,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    match judge(bench, &flags, measure) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn judge(
    bench: &str,
    flags: &Flags,
    measure: impl FnOnce(&Flags, &mut dyn FnMut(Case)) -> Result<()>,
) -> Result<ExitCode> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()
        .context("could not start a thread")?;
    let share = Share::start();
    let mut report = Report {
        bench: bench.to_owned(),
        quick: flags.quick,
        machine: Machine::here(),
        ..Report::default()
    };
    measure(flags, &mut |case| {
        if flags.wants(&case.workload) {
            print!("{}", table::text(&case));
            report.cases.push(case);
        }
    })?;
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
