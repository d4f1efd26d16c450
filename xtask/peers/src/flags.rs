//! The command line that every comparison understands.

use std::path::PathBuf;

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// A short run: fewer repeats and smaller samples.
    pub quick: bool,
    /// Exit 1 when a goal is missed.
    pub check: bool,
    /// Only these workloads; empty means all.
    pub only: Vec<String>,
    /// Where to write the figures as JSON.
    pub json: Option<PathBuf>,
    /// Set by a run that starts itself again under other conditions: figures only, no page.
    pub inner: bool,
}

impl Flags {
    /// Reads the words after the program's name.
    ///
    /// # Errors
    /// A sentence that names the word which is not understood, or the workload that does not exist.
    pub fn parse(
        words: impl IntoIterator<Item = String>,
        workloads: &[&str],
    ) -> Result<Self, String> {
        let mut flags = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => flags.quick = true,
                "--check" => flags.check = true,
                "--inner" => flags.inner = true,
                "--only" => {
                    let list = words.next().ok_or("--only needs a list, such as W1,W4")?;
                    for name in list.split(',') {
                        let known = workloads.iter().find(|w| w.eq_ignore_ascii_case(name));
                        let known = known.ok_or_else(|| {
                            let all = workloads.join(", ");
                            format!("--only: no workload is called `{name}`; there are {all}")
                        })?;
                        flags.only.push((*known).to_owned());
                    }
                }
                "--json" => {
                    let file = words.next().ok_or("--json needs a file")?;
                    flags.json = Some(PathBuf::from(file));
                }
                // Cargo adds it to benches.
                "--bench" => {}
                other => {
                    return Err(format!(
                        "unknown flag `{other}`; allowed: --quick, --only A,B, --check, --json FILE"
                    ));
                }
            }
        }
        Ok(flags)
    }

    /// Returns whether a workload was asked for.
    #[must_use]
    pub fn wants(&self, workload: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == workload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Flags, String> {
        Flags::parse(line.split_whitespace().map(str::to_owned), &["W1", "W2b"])
    }

    #[test]
    fn every_flag_is_read() {
        let flags = parse("--quick --check --only w1,W2B --json a.json").expect("valid");
        assert!(flags.quick && flags.check);
        assert_eq!(flags.only, ["W1", "W2b"]);
        assert_eq!(flags.json, Some(PathBuf::from("a.json")));
        assert!(flags.wants("W2b") && !flags.wants("W3"));
        assert!(parse("").expect("valid").wants("W3"));
    }

    #[test]
    fn nonsense_is_named() {
        assert!(parse("--fast").expect_err("unknown").contains("--fast"));
        assert!(parse("--only W9").expect_err("unknown").contains("`W9`"));
        assert!(parse("--json").is_err());
    }
}
