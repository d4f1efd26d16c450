//! The command line.

use anyhow::{Context as _, Result, bail, ensure};

use crate::swarm::Way;

/// What a run is to be like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) clients: usize,
    pub(crate) entities: usize,
    /// How long each window is measured.
    pub(crate) seconds: u64,
    /// Hostile clients; with some there are four windows, of which the second and fourth have them.
    pub(crate) hostile: usize,
    /// Whether missed goals of speed fail the run, beside wrong results.
    pub(crate) check: bool,
}

/// What this process is.
#[derive(Debug)]
pub(crate) enum Job {
    Run(Plan),
    Server {
        entities: usize,
        connections: u32,
    },
    Swarm {
        way: Way,
        clients: usize,
        entities: usize,
    },
    Hostile {
        way: Way,
        count: usize,
    },
}

/// Turns words into a job. Only `run` is for people; it starts the others.
pub(crate) fn parse(words: &[String]) -> Result<Job> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match words[..] {
        ["server", entities, connections] => Job::Server {
            entities: entities.parse()?,
            connections: connections.parse()?,
        },
        ["swarm", server, fingerprint, clients, entities] => Job::Swarm {
            way: way(server, fingerprint)?,
            clients: clients.parse()?,
            entities: entities.parse()?,
        },
        ["hostile", server, fingerprint, count] => Job::Hostile {
            way: way(server, fingerprint)?,
            count: count.parse()?,
        },
        ["run", ref flags @ ..] => Job::Run(plan(flags)?),
        _ => bail!(
            "usage: load run --clients C --entities E --seconds S [--hostile H] [--check], not {words:?}"
        ),
    })
}

fn way(server: &str, fingerprint: &str) -> Result<Way> {
    Ok(Way {
        server: server.parse()?,
        fingerprint: fingerprint.parse()?,
    })
}

fn plan(words: &[&str]) -> Result<Plan> {
    let mut plan = Plan {
        clients: 0,
        entities: 0,
        seconds: 0,
        hostile: 0,
        check: false,
    };
    let mut words = words.iter();
    while let Some(&flag) = words.next() {
        if flag == "--check" {
            plan.check = true;
            continue;
        }
        let value = words
            .next()
            .with_context(|| format!("{flag} needs a number"))?;
        let number: usize = value
            .parse()
            .with_context(|| format!("{flag} needs a whole number, not `{value}`"))?;
        match flag {
            "--clients" => plan.clients = number,
            "--entities" => plan.entities = number,
            "--seconds" => plan.seconds = u64::try_from(number)?,
            "--hostile" => plan.hostile = number,
            _ => bail!(
                "unknown flag of load `{flag}`; allowed: --clients C, --entities E, --seconds S, \
                 --hostile H, --check"
            ),
        }
    }
    let limits = [
        ("--clients", plan.clients, 100_000),
        ("--entities", plan.entities, 10_000_000),
        ("--seconds", usize::try_from(plan.seconds)?, 86_400),
    ];
    for (flag, value, most) in limits {
        ensure!(
            (1..=most).contains(&value),
            "{flag} is {value}; give 1 to {most}"
        );
    }
    ensure!(
        plan.hostile <= 10_000,
        "--hostile is {}; give at most 10000",
        plan.hostile
    );
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Job> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn a_run_is_described_by_its_flags() {
        let job = parse_line("run --clients 3 --entities 500 --seconds 2 --hostile 1 --check");
        let Ok(Job::Run(plan)) = job else {
            panic!("{job:?}");
        };
        assert_eq!((plan.clients, plan.entities, plan.seconds), (3, 500, 2));
        assert_eq!((plan.hostile, plan.check), (1, true));
    }

    #[test]
    fn errors_name_the_flag() {
        let problem = |line: &str| format!("{:#}", parse_line(line).expect_err(line));
        assert!(problem("run --clients 3 --seconds 2").starts_with("--entities is 0"));
        assert!(problem("run --clients").starts_with("--clients needs a number"));
        assert!(problem("run --clients many").contains("not `many`"));
        assert!(problem("run --swarm 3").starts_with("unknown flag of load `--swarm`"));
        assert!(problem("walk").starts_with("usage:"));
    }
}
