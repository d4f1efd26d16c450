//! The command line: words in, one `Job` out.

use crate::sim::Link;

/// What `cargo xtask` prints when it is asked for nothing.
pub(crate) const HELP: &str = "\
cargo xtask ci                      the whole check; last line \"checks: N passed, N failed, N skipped\"
cargo xtask fresh [--chroot]        fresh clone, empty cargo home: both README commands;
                                    --chroot: bare Debian, gcc and libc headers only
cargo xtask consumers [--packaged]  a crate outside the workspace per library, built and run
cargo xtask tidy [--quiet]          every public function and the test that calls it, file sizes, README
                                    commands, links between docs; --quiet: only problems and totals
cargo xtask docs                    API docs with warnings denied
cargo xtask bench NAME [--quick] [--only A,B] [--check] [--json FILE]
    math  seeds  degenerate                 own figures
    peers  interest  replication  bandwidth against other libraries (xtask/peers, its own workspace)
cargo xtask fuzz TARGET [--seconds N | --runs N]
    index_ops  decode  session_ops  frame_decode  client_messages  token_parse
cargo xtask sim [--link session|quic] [--seeds N | --seed S]
                                    servers and clients under seeded faults, checked every tick;
                                    --link quic: over QUIC endpoints on a simulated network
cargo xtask load --clients C --entities E --seconds S [--hostile H] [--check]
                                    a server and a swarm in processes of their own, over QUIC; with
                                    hostile clients in every other of four runs; --check: speed counts too
cargo xtask demo --shots DIR        a picture of every scenario of the demo
";

/// The first words that mean something, in the order of the help text.
pub(crate) const JOBS: [&str; 10] = [
    "ci",
    "fresh",
    "consumers",
    "tidy",
    "docs",
    "bench",
    "fuzz",
    "sim",
    "load",
    "demo",
];

/// One chore, with all that was said about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Job {
    Help,
    Ci,
    Fresh { chroot: bool },
    Consumers { packaged: bool },
    Tidy { quiet: bool },
    Docs,
    Bench { name: Bench, flags: Vec<String> },
    Fuzz { target: &'static str, limit: Limit },
    Sim { link: Link, seeds: Seeds },
    Load { flags: Vec<String> },
    Demo { shots: String },
}

/// A benchmark and the package it lives in: a library, or `PEERS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bench {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
}

/// The package of xtask/peers, whose benchmarks are binaries.
pub(crate) const PEERS: &str = "nebula-peers";

const BENCHES: [Bench; 7] = [
    Bench {
        name: "math",
        package: "nebula-math",
    },
    Bench {
        name: "seeds",
        package: "nebula-coords",
    },
    Bench {
        name: "degenerate",
        package: "nebula-coords",
    },
    Bench {
        name: "peers",
        package: PEERS,
    },
    Bench {
        name: "interest",
        package: PEERS,
    },
    Bench {
        name: "replication",
        package: PEERS,
    },
    Bench {
        name: "bandwidth",
        package: PEERS,
    },
];

const TARGETS: [&str; 6] = [
    "index_ops",
    "decode",
    "session_ops",
    "frame_decode",
    "client_messages",
    "token_parse",
];

/// Which simulations run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seeds {
    /// The first so many seeds.
    First(u64),
    /// This one alone.
    Only(u64),
}

/// How long a fuzz target runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Seconds(u64),
    Runs(u64),
}

/// Turns the words after `cargo xtask` into a job, or says which words are allowed.
pub(crate) fn parse(words: &[String]) -> Result<Job, String> {
    let Some((first, rest)) = words.split_first() else {
        return Ok(Job::Help);
    };
    match first.as_str() {
        "help" | "--help" | "-h" => Ok(Job::Help),
        "ci" => no_flags("ci", rest).map(|()| Job::Ci),
        "fresh" => one_flag("fresh", "--chroot", rest).map(|chroot| Job::Fresh { chroot }),
        "consumers" => {
            one_flag("consumers", "--packaged", rest).map(|packaged| Job::Consumers { packaged })
        }
        "tidy" => one_flag("tidy", "--quiet", rest).map(|quiet| Job::Tidy { quiet }),
        "docs" => no_flags("docs", rest).map(|()| Job::Docs),
        "bench" => bench(rest),
        "fuzz" => fuzz(rest),
        "sim" => sim(rest),
        "demo" => demo(rest),
        "load" => load(rest),
        other => Err(unknown("job", other, &JOBS)),
    }
}

fn bench(words: &[String]) -> Result<Job, String> {
    let names = BENCHES.map(|bench| bench.name);
    let Some((first, rest)) = words.split_first() else {
        return Err(missing("bench", "a name", &names));
    };
    let Some(name) = BENCHES.into_iter().find(|b| b.name == first) else {
        return Err(unknown("benchmark", first, &names));
    };
    let mut flags = Vec::new();
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        flags.push(word.clone());
        match word.as_str() {
            "--quick" | "--check" => {}
            "--only" | "--json" => flags.push(value(word, rest.next())?),
            other => {
                let allowed = ["--quick", "--only A,B", "--check", "--json FILE"];
                return Err(unknown("flag of bench", other, &allowed));
            }
        }
    }
    Ok(Job::Bench { name, flags })
}

fn fuzz(words: &[String]) -> Result<Job, String> {
    let Some((first, rest)) = words.split_first() else {
        return Err(missing("fuzz", "a target", &TARGETS));
    };
    let Some(target) = TARGETS.into_iter().find(|t| t == first) else {
        return Err(unknown("fuzz target", first, &TARGETS));
    };
    let limit = match rest {
        [] => Limit::Seconds(60),
        [flag, tail @ ..] if flag == "--seconds" || flag == "--runs" => {
            let n = number(flag, tail.first())?;
            no_flags("fuzz (after its limit)", tail.get(1..).unwrap_or_default())?;
            if flag == "--seconds" {
                Limit::Seconds(n)
            } else {
                Limit::Runs(n)
            }
        }
        [other, ..] => return Err(unknown("flag of fuzz", other, &["--seconds N", "--runs N"])),
    };
    Ok(Job::Fuzz { target, limit })
}

fn sim(words: &[String]) -> Result<Job, String> {
    let (mut link, mut seeds) = (Link::Session, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let chosen = match word.as_str() {
            "--link" => {
                link = match value(word, words.next())?.as_str() {
                    "session" => Link::Session,
                    "quic" => Link::Quic,
                    other => return Err(unknown("link", other, &["session", "quic"])),
                };
                continue;
            }
            "--seeds" => Seeds::First(number(word, words.next())?),
            "--seed" => Seeds::Only(number(word, words.next())?),
            other => {
                let allowed = ["--link session|quic", "--seeds N", "--seed S"];
                return Err(unknown("flag of sim", other, &allowed));
            }
        };
        if seeds.replace(chosen).is_some() {
            return Err("sim takes either --seeds N or --seed S, once".to_owned());
        }
    }
    let seeds = seeds.unwrap_or(Seeds::First(100));
    Ok(Job::Sim { link, seeds })
}

fn load(words: &[String]) -> Result<Job, String> {
    let mut missing_flags = vec!["--clients", "--entities", "--seconds"];
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--clients" | "--entities" | "--seconds" | "--hostile" => {
                number(word, rest.next())?;
                missing_flags.retain(|flag| flag != word);
            }
            "--check" => {}
            other => {
                let allowed = [
                    "--clients C",
                    "--entities E",
                    "--seconds S",
                    "--hostile H",
                    "--check",
                ];
                return Err(unknown("flag of load", other, &allowed));
            }
        }
    }
    if let Some(flag) = missing_flags.first() {
        return Err(format!(
            "load needs {flag}, for example: --clients 300 --entities 50000 --seconds 120"
        ));
    }
    Ok(Job::Load {
        flags: words.to_vec(),
    })
}

fn demo(words: &[String]) -> Result<Job, String> {
    match words {
        [] => Err(missing("demo", "a flag", &["--shots DIR"])),
        [flag, rest @ ..] if flag == "--shots" => {
            let shots = value(flag, rest.first())?;
            no_flags("demo --shots DIR", rest.get(1..).unwrap_or_default())?;
            Ok(Job::Demo { shots })
        }
        [other, ..] => Err(unknown("flag of demo", other, &["--shots DIR"])),
    }
}

fn no_flags(job: &str, words: &[String]) -> Result<(), String> {
    match words.first() {
        None => Ok(()),
        Some(word) => Err(format!(
            "`{word}` means nothing here: {job} takes no more words"
        )),
    }
}

fn one_flag(job: &str, flag: &str, words: &[String]) -> Result<bool, String> {
    match words {
        [] => Ok(false),
        [word] if word == flag => Ok(true),
        [word, ..] if word != flag => Err(unknown(&format!("flag of {job}"), word, &[flag])),
        [_, rest @ ..] => no_flags(&format!("{job} {flag}"), rest).map(|()| true),
    }
}

fn value(flag: &str, word: Option<&String>) -> Result<String, String> {
    match word {
        Some(word) if !word.starts_with("--") => Ok(word.clone()),
        _ => Err(format!("{flag} needs a value after it")),
    }
}

fn number(flag: &str, word: Option<&String>) -> Result<u64, String> {
    let word = value(flag, word)?;
    word.parse()
        .map_err(|_| format!("{flag} needs a whole number, not `{word}`"))
}

fn unknown(kind: &str, word: &str, allowed: &[&str]) -> String {
    format!("unknown {kind} `{word}`; allowed: {}", allowed.join(", "))
}

fn missing(job: &str, what: &str, allowed: &[&str]) -> String {
    format!("{job} needs {what}; allowed: {}", allowed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Job, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn no_word_asks_for_help() {
        assert_eq!(parse_line(""), Ok(Job::Help));
        assert_eq!(parse_line("--help"), Ok(Job::Help));
    }

    #[test]
    fn help_names_every_job() {
        for job in JOBS {
            assert!(HELP.contains(&format!("cargo xtask {job}")), "{job}");
        }
    }

    #[test]
    fn flags_reach_their_jobs() {
        assert_eq!(parse_line("fresh"), Ok(Job::Fresh { chroot: false }));
        assert_eq!(
            parse_line("fresh --chroot"),
            Ok(Job::Fresh { chroot: true })
        );
        assert_eq!(
            parse_line("consumers --packaged"),
            Ok(Job::Consumers { packaged: true })
        );
        assert_eq!(parse_line("tidy"), Ok(Job::Tidy { quiet: false }));
        assert_eq!(parse_line("tidy --quiet"), Ok(Job::Tidy { quiet: true }));
        let shots = "pictures".to_owned();
        assert_eq!(parse_line("demo --shots pictures"), Ok(Job::Demo { shots }));
        assert!(parse_line("demo --shots").is_err());
        assert!(parse_line("demo --shots a b").is_err());
        assert!(parse_line("demo").is_err());
    }

    #[test]
    fn bench_flags_are_passed_on_in_order() {
        let job = parse_line("bench math --quick --only near,far --json out.json");
        let Ok(Job::Bench { name, flags }) = job else {
            panic!("not a benchmark: {job:?}");
        };
        assert_eq!((name.name, name.package), ("math", "nebula-math"));
        assert_eq!(flags.join(" "), "--quick --only near,far --json out.json");
        let Ok(Job::Bench { name, .. }) = parse_line("bench peers --check") else {
            panic!("not a benchmark");
        };
        assert_eq!(name.package, PEERS);
    }

    #[test]
    fn a_load_names_its_size() {
        let line = "load --clients 4 --entities 500 --seconds 3 --hostile 2 --check";
        let Ok(Job::Load { flags }) = parse_line(line) else {
            panic!("not a load");
        };
        assert_eq!(format!("load {}", flags.join(" ")), line);
        let problem = |line: &str| parse_line(line).expect_err("must fail");
        assert!(problem("load --clients 4 --seconds 3").starts_with("load needs --entities"));
        assert!(problem("load --clients few").contains("not `few`"));
        assert!(problem("load --swarm 4").starts_with("unknown flag of load"));
    }

    #[test]
    fn fuzz_limits_are_numbers() {
        let fuzz = |limit| {
            Ok(Job::Fuzz {
                target: "index_ops",
                limit,
            })
        };
        assert_eq!(parse_line("fuzz index_ops"), fuzz(Limit::Seconds(60)));
        assert_eq!(parse_line("fuzz index_ops --runs 7"), fuzz(Limit::Runs(7)));
        assert_eq!(
            parse_line("fuzz index_ops --runs many"),
            Err("--runs needs a whole number, not `many`".to_owned())
        );
        assert!(parse_line("fuzz index_ops --runs 7 --seconds 3").is_err());
    }

    #[test]
    fn simulations_run_many_seeds_or_one() {
        let sim = |seeds| {
            let link = Link::Session;
            Ok(Job::Sim { link, seeds })
        };
        assert_eq!(parse_line("sim"), sim(Seeds::First(100)));
        assert_eq!(parse_line("sim --link session"), sim(Seeds::First(100)));
        assert_eq!(parse_line("sim --seeds 7"), sim(Seeds::First(7)));
        assert_eq!(parse_line("sim --seed 7"), sim(Seeds::Only(7)));
        let quic = Job::Sim {
            link: Link::Quic,
            seeds: Seeds::Only(7),
        };
        assert_eq!(parse_line("sim --link quic --seed 7"), Ok(quic));
        assert!(parse_line("sim --seed 7 --seeds 3").is_err());
        assert!(parse_line("sim --link carrier-pigeon").is_err());
    }

    #[test]
    fn unknown_words_list_what_is_allowed() {
        #[track_caller]
        fn check(line: &str, allowed: &str) {
            let error = parse_line(line).expect_err("nonsense must not parse");
            assert!(error.contains(allowed), "{error}");
        }
        check("tydi", "ci, fresh, consumers, tidy");
        check("ci --fast", "takes no more words");
        check("fresh --chrot", "--chroot");
        check("bench maths", "math, seeds, degenerate");
        check("bench", "math, seeds, degenerate");
        check("bench math --fast", "--quick, --only A,B");
        check("bench math --json", "needs a value");
        check("fuzz index", "index_ops");
    }
}
