//! `cargo xtask bench peers`: Nebula's index against every other that people use, on the same data.

mod contenders;
mod data;
mod growth;
mod huge;
mod limits;
mod measure;
mod page;
mod pairs;
mod workloads;

use std::process::ExitCode;

use anyhow::Result;
use nebula_peers::alloc::Counting;
use nebula_peers::clock::Share;
use nebula_peers::flags::Flags;
use nebula_peers::machine::Machine;
use nebula_peers::report::{Case, Report, json, table};

use measure::{Effort, Field};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The radius of most queries: 500 m.
const RADIUS_MM: i128 = 500_000;
/// The size of most worlds.
const ENTITIES: usize = 1_000_000;

/// A run: what was asked, what is known so far, and the world that several workloads share.
pub(crate) struct Bench {
    flags: Flags,
    effort: Effort,
    report: Report,
    planet: Option<Field>,
    /// Seconds that went to another process of this run.
    waited: f64,
}

impl Bench {
    /// Returns the planet of a million entities with every contender on it, built at the first call.
    fn planet(&mut self) -> &mut Field {
        let who = if self.flags.inner {
            contenders::fast
        } else {
            contenders::all
        };
        self.planet
            .get_or_insert_with(|| Field::new(data::planet(ENTITIES), who(RADIUS_MM)))
    }

    /// Prints a case and keeps it.
    fn finish(&mut self, case: Case) {
        print!("{}", table::text(&case));
        self.report.cases.push(case);
    }
}

fn main() -> ExitCode {
    let names: Vec<&str> = workloads::ALL
        .iter()
        .map(|workload| workload.name)
        .collect();
    let flags = match Flags::parse(std::env::args().skip(1), &names) {
        Ok(flags) => flags,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    // One thread, except where threads are compared: CPU time must not pay for a second one's waiting.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .stack_size(64 << 20)
        .build()
        .expect("one thread");
    match pool.install(|| run(flags)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: Flags) -> Result<ExitCode> {
    let share = Share::start();
    let mut bench = Bench {
        effort: Effort::of(flags.quick),
        report: Report {
            bench: "peers".to_owned(),
            quick: flags.quick,
            machine: Machine::here(),
            settings: page::settings(),
            ..Report::default()
        },
        planet: None,
        waited: 0.0,
        flags,
    };
    for workload in workloads::ALL {
        if bench.flags.wants(workload.name) {
            let before = share.seconds();
            (workload.run)(&mut bench)?;
            let after = share.seconds();
            eprintln!(
                "{} took {:.0} s ({:.0} s of CPU), {:.0} s in all",
                workload.name,
                after.1 - before.1,
                after.0 - before.0,
                after.1
            );
        }
    }
    let seconds = share.seconds();
    let (cpu, wall) = seconds;
    bench
        .report
        .machine
        .note_sharing((cpu, wall - bench.waited));
    if bench.flags.inner {
        note_huge_pages(&mut bench);
    } else {
        println!("\n{} ({:.0} s)", bench.report.machine.sharing, seconds.1);
        page::write(&mut bench.report, &bench.flags)?;
    }
    if let Some(file) = &bench.flags.json {
        json::write(&bench.report, file)?;
    }
    print!("{}", table::verdict(&bench.report));
    if bench.flags.check && !bench.report.missed().is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Says how much of the memory lay in huge pages, so that nobody takes an unheard wish for granted.
fn note_huge_pages(bench: &mut Bench) {
    let mib = nebula_peers::machine::huge_mib();
    for case in &mut bench.report.cases {
        case.notes
            .push(format!("{mib} MiB lay in huge pages at the end"));
    }
}
