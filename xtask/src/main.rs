//! Every chore of the workspace: `cargo xtask` lists them.
#![expect(clippy::print_stdout, reason = "a command line tool talks to its user")]

mod bench;
mod ci;
mod consumers;
mod demo;
mod docs;
mod flags;
mod fresh;
mod fuzz;
mod load;
mod run;
mod sim;
mod tidy;

use std::process::ExitCode;

use flags::Job;

/// The exit status when nothing was done: the command line made no sense, or a tool is missing.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let job = match flags::parse(&words) {
        Ok(job) => job,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(USAGE);
        }
    };
    match perform(job) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(job: Job) -> anyhow::Result<ExitCode> {
    match job {
        Job::Help => println!("{}", flags::HELP.trim_end()),
        Job::Ci => return ci::ci(),
        Job::Fresh { chroot } => return fresh::fresh(chroot),
        Job::Consumers { packaged } => consumers::consumers(packaged)?,
        Job::Tidy { quiet } => tidy::tidy(quiet)?,
        Job::Docs => docs::docs()?,
        Job::Bench { name, flags } => bench::bench(name, &flags)?,
        Job::Fuzz { target, limit } => fuzz::fuzz(target, limit)?,
        Job::Sim { link, seeds } => sim::sim(link, seeds)?,
        Job::Load { flags } => load::load(&flags)?,
        Job::Demo { shots } => demo::shots(&shots)?,
    }
    Ok(ExitCode::SUCCESS)
}
