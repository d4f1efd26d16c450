//! A server and a swarm of clients in processes of their own, over real QUIC and TLS on loopback.
//! `cargo xtask load` builds and starts it; see its README.

mod child;
mod flags;
mod game;
mod hostile;
mod line;
mod report;
mod run;
mod server;
mod swarm;
mod truth;

use std::alloc::System;
use std::process::ExitCode;

use anyhow::Result;
use cap::Cap;

use flags::Job;

/// Counts what is allocated and not yet freed; the server says how much.
#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match flags::parse(&words).and_then(perform) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(job: Job) -> Result<ExitCode> {
    match job {
        Job::Run(plan) => return run::run(&plan),
        Job::Server {
            entities,
            connections,
        } => server::serve(entities, connections, live_heap)?,
        Job::Swarm {
            way,
            clients,
            entities,
        } => swarm::swarm(way, clients, entities)?,
        Job::Hostile { way, count } => hostile::hostile(&way, count)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn live_heap() -> u64 {
    u64::try_from(HEAP.allocated()).unwrap_or(u64::MAX)
}
