//! Commands in documents: those that the README promises are the ones that CI runs, and no page
//! names a chore that does not exist.

use super::Source;
use crate::ci::TEST_COMMAND;
use crate::demo::RUN_COMMAND;
use crate::flags::JOBS;

const CHORE: &str = "cargo xtask ";

pub(super) fn problems(sources: &[Source]) -> Vec<String> {
    let mut problems = Vec::new();
    match sources.iter().find(|source| source.path == "README.md") {
        Some(readme) => readme_commands(readme, &mut problems),
        None => problems.push("there is no README.md".to_owned()),
    }
    let script = sources.iter().find(|source| source.path == ".ci/run");
    if !script.is_some_and(|script| script.text.contains("cargo xtask ci")) {
        problems.push(".ci/run does not run `cargo xtask ci`".to_owned());
    }
    for source in sources.iter().filter(|source| source.is_markdown()) {
        chores(source, &mut problems);
    }
    problems
}

/// The README's command lines are the two that `cargo xtask ci` runs, and chores.
fn readme_commands(readme: &Source, problems: &mut Vec<String>) {
    let lines: Vec<&str> = shell_lines(&readme.text).collect();
    for wanted in [RUN_COMMAND, TEST_COMMAND] {
        if !lines.contains(&wanted) {
            problems.push(format!("README.md does not show `{wanted}`"));
        }
    }
    for line in lines {
        let known = line == RUN_COMMAND || line == TEST_COMMAND || line.starts_with(CHORE);
        if line.starts_with("cargo ") && !known {
            problems.push(format!("README.md shows `{line}`, which CI does not run"));
        }
    }
}

/// Returns the lines of shell blocks, without their comments.
fn shell_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter_map(move |line| {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            inside = !inside && matches!(language, "sh" | "bash" | "console");
            return None;
        }
        let command = line.split("  #").next().unwrap_or(line).trim();
        (inside && !command.is_empty()).then_some(command)
    })
}

fn chores(source: &Source, problems: &mut Vec<String>) {
    for (number, line) in (1..).zip(source.text.lines()) {
        for (at, _) in line.match_indices(CHORE) {
            let rest = &line[at + CHORE.len()..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '-');
            let job = &rest[..end.unwrap_or(rest.len())];
            if !job.is_empty() && !JOBS.contains(&job) {
                let path = &source.path;
                problems.push(format!(
                    "{path}:{number} names `{CHORE}{job}`, which is no chore"
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    fn readme(commands: &str) -> Vec<Source> {
        let text = format!("# Nebula\n\n```sh\n{commands}\n```\n");
        vec![
            source("README.md", &text),
            source(".ci/run", "exec cargo xtask ci\n"),
        ]
    }

    const BOTH: &str = "cargo run --release -p nebula-demo\ncargo test --workspace";

    #[test]
    fn both_commands_pass() {
        assert_eq!(problems(&readme(BOTH)), [""; 0]);
        assert_eq!(
            problems(&readme(&format!("{BOTH}  # all of them"))),
            [""; 0]
        );
    }

    #[test]
    fn a_missing_command_is_reported() {
        let found = problems(&readme("cargo test --workspace"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("cargo run --release -p nebula-demo"));
        // Prose does not count: a reader copies from the block.
        let prose = [
            source("README.md", BOTH),
            source(".ci/run", "cargo xtask ci"),
        ];
        assert_eq!(problems(&prose).len(), 2);
    }

    #[test]
    fn a_command_that_ci_does_not_run_is_reported() {
        let found = problems(&readme(&format!("{BOTH}\ncargo test --all")));
        assert_eq!(
            found,
            ["README.md shows `cargo test --all`, which CI does not run"]
        );
    }

    #[test]
    fn unknown_chores_are_reported_in_any_page() {
        let mut sources = readme(BOTH);
        sources.push(source(
            "docs/a.md",
            "run `cargo xtask tydi` or `cargo xtask tidy`",
        ));
        assert_eq!(
            problems(&sources),
            ["docs/a.md:1 names `cargo xtask tydi`, which is no chore"]
        );
    }

    #[test]
    fn the_script_must_run_the_checks() {
        let sources = [
            source("README.md", &readme(BOTH)[0].text),
            source(".ci/run", "exit 0"),
        ];
        assert_eq!(
            problems(&sources),
            [".ci/run does not run `cargo xtask ci`"]
        );
    }
}
