//! The command line.

use std::path::PathBuf;

use crate::sets::SETS;
use crate::work::WORKS;

#[derive(Debug, Default)]
pub(crate) struct Flags {
    pub(crate) quick: bool,
    pub(crate) check: bool,
    pub(crate) json: Option<PathBuf>,
    sets: Vec<String>,
    works: Vec<String>,
}

impl Flags {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut flags = Self::default();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => flags.quick = true,
                "--check" => flags.check = true,
                "--bench" => {} // Cargo adds it.
                "--json" => {
                    let file = words.next().ok_or("--json needs a file name")?;
                    flags.json = Some(file.into());
                }
                "--only" => {
                    let names = words.next().ok_or("--only needs names: A,B")?;
                    for name in names.split(',') {
                        flags.only(name)?;
                    }
                }
                other => {
                    return Err(format!(
                        "unknown flag {other}; known: --quick --check --json FILE --only A,B"
                    ));
                }
            }
        }
        Ok(flags)
    }

    fn only(&mut self, name: &str) -> Result<(), String> {
        if SETS.iter().any(|set| set.name == name) {
            self.sets.push(name.to_owned());
        } else if WORKS.iter().any(|work| work.name == name) {
            self.works.push(name.to_owned());
        } else {
            let known: Vec<&str> = (SETS.iter().map(|set| set.name))
                .chain(WORKS.iter().map(|work| work.name))
                .collect();
            return Err(format!(
                "--only {name}: no such set or work; known: {}",
                known.join(", ")
            ));
        }
        Ok(())
    }

    /// Returns whether a set or a work was asked for; without `--only`, every one is.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let list = if SETS.iter().any(|set| set.name == name) {
            &self.sets
        } else {
            &self.works
        };
        list.is_empty() || list.iter().any(|wanted| wanted == name)
    }
}
