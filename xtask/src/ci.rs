//! What CI runs, in order: cheap checks first, and a failing one does not stop the rest.

use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::run::{LIBRARIES, answers, cargo, cargo_beside, root, run};
use crate::{consumers, demo, docs, load, sim, tidy};

/// The README's test command, run by CI exactly as it stands there.
pub(crate) const TEST_COMMAND: &str = "cargo test --workspace";

/// How one check ended.
#[derive(Debug)]
enum Outcome {
    Passed,
    Failed(anyhow::Error),
    /// The tool of this name is not installed.
    Skipped(&'static str),
}

struct Check {
    name: &'static str,
    run: fn() -> Outcome,
}

const CHECKS: &[Check] = &[
    Check {
        name: "format",
        run: || with_tool("rustfmt", "fmt --version", || outcome(format())),
    },
    Check {
        name: "tidy",
        run: || outcome(tidy::tidy(true)),
    },
    Check {
        // Before anything builds: the README's test command would mend a lock file unseen.
        name: "lock files",
        run: || outcome(lock_files()),
    },
    Check {
        name: "clippy",
        run: || {
            with_tool("clippy", "clippy --version", || {
                line("clippy --locked --workspace --all-targets --all-features -- -D warnings")
            })
        },
    },
    Check {
        name: "tests",
        run: || line(TEST_COMMAND.trim_start_matches("cargo ")),
    },
    Check {
        name: "tests, all features",
        run: || line(&format!("test --locked {} --all-features", libraries())),
    },
    Check {
        name: "sim",
        run: || outcome(sim::sim_in_ci(sim::Link::Session)),
    },
    Check {
        name: "sim over QUIC",
        run: || outcome(sim::sim_in_ci(sim::Link::Quic)),
    },
    Check {
        // Debug and release must agree on every property.
        name: "tests, release",
        run: || line("test --locked --release -p nebula-math --test properties"),
    },
    Check {
        name: "window",
        run: window,
    },
    Check {
        name: "docs",
        run: || outcome(docs::docs()),
    },
    Check {
        name: "each library alone",
        run: || outcome(libraries_alone()),
    },
    Check {
        name: "benches type-checked",
        run: || line("check --locked --workspace --benches --all-features"),
    },
    Check {
        name: "side workspaces",
        run: || with_tool("clippy", "clippy --version", || outcome(side_workspaces())),
    },
    Check {
        name: "consumers",
        run: || outcome(consumers::consumers(false)),
    },
    Check {
        name: "consumers, packaged",
        run: || outcome(consumers::consumers(true)),
    },
    Check {
        name: "demo",
        run: || outcome(demo::readme_command(&root(), &[])),
    },
    Check {
        // After the demo, which builds most of it.
        name: "load",
        run: || outcome(load::load_in_ci()),
    },
    Check {
        name: "feature powerset",
        run: || {
            with_tool("cargo-hack", "hack --version", || {
                line(&format!(
                    "hack check {} --feature-powerset --no-dev-deps",
                    libraries()
                ))
            })
        },
    },
    Check {
        name: "dependencies",
        run: || with_tool("cargo-deny", "deny --version", || line("deny check")),
    },
    Check {
        name: "miri",
        run: || with_tool("miri", "+nightly miri --version", || outcome(miri())),
    },
];

/// Runs every check and prints the tally as its last line.
pub(crate) fn ci() -> Result<ExitCode> {
    let results: Vec<(&str, Outcome, Duration)> = CHECKS
        .iter()
        .map(|check| {
            println!("\n== {}", check.name);
            let start = Instant::now();
            let outcome = (check.run)();
            match &outcome {
                Outcome::Passed => {}
                Outcome::Failed(error) => println!("failed: {error:#}"),
                Outcome::Skipped(tool) => println!("not run: {tool}"),
            }
            (check.name, outcome, start.elapsed())
        })
        .collect();
    println!();
    for (name, outcome, time) in &results {
        println!("{:>7.1} s  {name}: {}", time.as_secs_f64(), word(outcome));
    }
    let outcomes: Vec<&Outcome> = results.iter().map(|(_, outcome, _)| outcome).collect();
    println!("{}", tally(&outcomes));
    Ok(exit_code(&outcomes))
}

fn word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Passed => "passed".to_owned(),
        Outcome::Failed(_) => "FAILED".to_owned(),
        Outcome::Skipped(tool) => format!("not run: {tool}"),
    }
}

fn tally(outcomes: &[&Outcome]) -> String {
    let count = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|o| wanted(o)).count();
    format!(
        "checks: {} passed, {} failed, {} skipped",
        count(|o| matches!(o, Outcome::Passed)),
        count(|o| matches!(o, Outcome::Failed(_))),
        count(|o| matches!(o, Outcome::Skipped(_))),
    )
}

fn exit_code(outcomes: &[&Outcome]) -> ExitCode {
    if outcomes.iter().any(|o| matches!(o, Outcome::Failed(_))) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn outcome(result: Result<()>) -> Outcome {
    match result {
        Ok(()) => Outcome::Passed,
        Err(error) => Outcome::Failed(error),
    }
}

fn line(words: &str) -> Outcome {
    outcome(run(&mut cargo(words)))
}

fn with_tool(tool: &'static str, question: &str, check: impl FnOnce() -> Outcome) -> Outcome {
    let words: Vec<&str> = question.split_whitespace().collect();
    if answers("cargo", &words) {
        check()
    } else {
        Outcome::Skipped(tool)
    }
}

fn libraries() -> String {
    LIBRARIES.map(|name| format!("-p {name}")).join(" ")
}

/// Opens the demo on a virtual screen. Without one those tests pass by doing nothing, which a plain
/// test run cannot tell from success.
fn window() -> Outcome {
    match missing_program(&["Xvfb", "xdotool", "xprop"]) {
        Some(tool) => Outcome::Skipped(tool),
        // Named with the whole workspace, so that what the README's test command built fits.
        None => line("test --locked --workspace --test window"),
    }
}

/// Returns the first of these programs that no folder of `PATH` holds.
fn missing_program(names: &[&'static str]) -> Option<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_installed =
        |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    names.iter().copied().find(|name| !is_installed(name))
}

/// Built together, the crates of a workspace lend each other features; a user builds one alone, with
/// no feature, with each single one, or with all.
fn libraries_alone() -> Result<()> {
    for library in LIBRARIES {
        let manifest = root().join(library).join("Cargo.toml");
        let manifest = std::fs::read_to_string(&manifest)
            .with_context(|| format!("could not read {}", manifest.display()))?;
        let single = features(&manifest)
            .into_iter()
            .map(|name| format!("--no-default-features --features {name}"));
        let flags = ["--no-default-features", "", "--all-features"].map(str::to_owned);
        for flags in flags.into_iter().chain(single) {
            run(&mut cargo(&format!("check --locked -p {library} {flags}")))?;
        }
    }
    Ok(())
}

/// Returns the names in the `[features]` table of a manifest, except `default`.
fn features(manifest: &str) -> Vec<&str> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.trim())
        .filter(|name| *name != "default")
        .collect()
}

fn format() -> Result<()> {
    run(&mut cargo("fmt --all --check"))?;
    for manifest in side_manifests().into_iter().chain(consumers::manifests()?) {
        run(&mut cargo_beside("fmt --check", &manifest))?;
    }
    Ok(())
}

/// Interprets the plain tests, and a few cases of the properties of arithmetic and boxes.
fn miri() -> Result<()> {
    for tests in ["limits", "properties -- families:: wide:: aabb::"] {
        let mut command = cargo(&format!("+nightly miri test -p nebula-math --test {tests}"));
        // Isolation hides the clock and the file system, which property tests look at.
        command
            .env("MIRIFLAGS", "-Zmiri-disable-isolation")
            .env("PROPTEST_CASES", "4");
        run(&mut command)?;
    }
    Ok(())
}

/// Holds each lock file against its manifests: what is checked is what everyone else builds.
fn lock_files() -> Result<()> {
    // It needs the packages of this platform only, which are built anyway.
    let locked = "tree --locked --depth 0";
    run(cargo(locked).stdout(Stdio::null()))?;
    for manifest in side_manifests() {
        run(cargo_beside(locked, &manifest).stdout(Stdio::null()))?;
    }
    Ok(())
}

/// Fuzz targets and peer comparisons build apart, so nothing else would notice them rot. The peers
/// take minutes to compile, so only their lock file is looked at.
fn side_workspaces() -> Result<()> {
    for manifest in side_manifests() {
        if manifest != peers_manifest() {
            let mut command = cargo_beside("clippy --locked --all-targets", &manifest);
            run(command.args(["--", "-D", "warnings"]))?;
        }
    }
    Ok(())
}

fn peers_manifest() -> PathBuf {
    root().join("xtask/peers/Cargo.toml")
}

fn side_manifests() -> Vec<PathBuf> {
    let fuzz = root().join("xtask/fuzz/Cargo.toml");
    [fuzz, load::manifest(), peers_manifest()]
        .into_iter()
        .filter(|manifest| manifest.is_file())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Outcome {
        Outcome::Failed(anyhow::anyhow!("a reason"))
    }

    #[test]
    fn the_last_line_counts_each_kind() {
        let all = [
            Outcome::Passed,
            failed(),
            Outcome::Skipped("miri"),
            Outcome::Passed,
        ];
        let all: Vec<&Outcome> = all.iter().collect();
        assert_eq!(tally(&all), "checks: 2 passed, 1 failed, 1 skipped");
        assert_eq!(exit_code(&all), ExitCode::FAILURE);
    }

    #[test]
    fn a_skipped_check_does_not_fail_the_run() {
        let all = [Outcome::Passed, Outcome::Skipped("miri")];
        assert_eq!(
            exit_code(&all.iter().collect::<Vec<_>>()),
            ExitCode::SUCCESS
        );
    }

    #[test]
    fn a_missing_tool_is_skipped_and_its_check_not_run() {
        let result = with_tool("nothing", "no-such-command-of-cargo --version", || {
            panic!("the tool is missing")
        });
        assert!(matches!(result, Outcome::Skipped("nothing")));
    }

    #[test]
    fn a_missing_program_is_named() {
        assert_eq!(missing_program(&["cargo"]), None);
        assert_eq!(missing_program(&["cargo", "no-such"]), Some("no-such"));
    }

    #[test]
    fn features_are_read_from_the_manifest() {
        let manifest = "[package]\nname = \"a\"\n\n[features]\ndefault = [\"std\"]\n# Why = this.\n\
                        std = []\nserde = [\"dep:serde\"]\n\n[dependencies]\nlibm = \"1\"\n";
        assert_eq!(features(manifest), ["std", "serde"]);
        assert_eq!(features("[package]\nname = \"a\"\n"), [""; 0]);
    }

    #[test]
    fn a_command_that_fails_is_a_failed_check() {
        let failing = run(&mut std::process::Command::new("false"));
        assert!(matches!(outcome(failing), Outcome::Failed(_)));
    }
}
