//! The command line.

use std::path::PathBuf;

#[derive(Debug, Default)]
pub(crate) struct Flags {
    pub(crate) check: bool,
    pub(crate) json: Option<PathBuf>,
    quick: bool,
    only: Option<Vec<String>>,
}

impl Flags {
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut flags = Self::default();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--quick" => flags.quick = true,
                "--check" => flags.check = true,
                "--json" => {
                    let file = args.next().ok_or("--json needs a file")?;
                    flags.json = Some(file.into());
                }
                "--only" => {
                    let names = args.next().ok_or("--only needs names, as in near,far")?;
                    flags.only = Some(names.split(',').map(str::to_owned).collect());
                }
                "--bench" => {} // Cargo adds it.
                other => return Err(format!("unknown flag {other}")),
            }
        }
        flags.known_names()?;
        Ok(flags)
    }

    pub(crate) fn wants(&self, workload: &str) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|names| names.iter().any(|name| name == workload))
    }

    pub(crate) fn repeats(&self) -> u32 {
        if self.quick { 15 } else { 100 }
    }

    /// A misspelt name would measure nothing and pass.
    fn known_names(&self) -> Result<(), String> {
        let known = crate::workloads::all().map(|w| w.name);
        for name in self.only.iter().flatten() {
            if !known.contains(&name.as_str()) {
                return Err(format!(
                    "no workload {name}; there are {}",
                    known.join(", ")
                ));
            }
        }
        Ok(())
    }
}
