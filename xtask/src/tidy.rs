//! Checks of the repository itself: things that no compiler looks at.

mod calls;
mod commands;
mod functions;
mod links;
mod receiver;
mod text;

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::run::{read, root};

/// One file of the repository, by its path from the top.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn is_markdown(&self) -> bool {
        self.path.ends_with(".md")
    }
}

/// Runs every check and fails when one found something. Unless `quiet`, it first lists every public
/// function with the test that calls it.
pub(crate) fn tidy(quiet: bool) -> Result<()> {
    let paths = repository_files()?;
    let sources = read_texts(&paths)?;
    let coverage = functions::coverage(&sources)?;
    if !quiet {
        for (function, test) in &coverage.called {
            println!("{function}  <- {test}");
        }
    }
    for note in text::long_files(&sources) {
        println!("note: {note}");
    }
    let checks = [
        ("public functions", coverage.uncalled()),
        ("file sizes", text::too_long_files(&sources)),
        ("commands", commands::problems(&sources)),
        ("links", links::problems(&sources, &paths)),
        ("forbidden text", text::forbidden(&sources)),
        ("top level", text::top_level(&paths)),
    ];
    let mut count = 0;
    for (name, problems) in &checks {
        for problem in problems {
            println!("{name}: {problem}");
        }
        count += problems.len();
    }
    println!(
        "tidy: {} files, {} public functions of which {} are called by a test",
        paths.len(),
        coverage.len(),
        coverage.called.len()
    );
    if count > 0 {
        bail!("tidy found {count} problems");
    }
    Ok(())
}

/// Returns the files that are, or would be, committed.
fn repository_files() -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let listed = read(git.current_dir(root())).context("git ls-files")?;
    let mut paths: Vec<String> = listed
        .lines()
        .filter(|path| root().join(path).is_file())
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Reads what people write; pictures, corpora and lock files are not looked into.
fn read_texts(paths: &[String]) -> Result<Vec<Source>> {
    const KINDS: [&str; 6] = [".rs", ".md", ".toml", ".sh", ".yml", ".ci/run"];
    paths
        .iter()
        .filter(|path| KINDS.iter().any(|kind| path.ends_with(kind)))
        .map(|path| {
            let text = fs::read_to_string(root().join(path))
                .with_context(|| format!("could not read {path}"))?;
            Ok(Source {
                path: path.clone(),
                text,
            })
        })
        .collect()
}

#[cfg(test)]
pub(crate) fn source(path: &str, text: &str) -> Source {
    Source {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}
