//! Runs commands, and shows each one before it runs.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// The library crates, in the order of their dependencies.
pub(crate) const LIBRARIES: [&str; 3] = ["nebula-math", "nebula-coords", "nebula-multiplayer"];

/// Returns the top of the checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the checkout")
        .to_owned()
}

/// Returns the build folder that every workspace of the checkout shares.
pub(crate) fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// Returns a cargo command at the top of the checkout from a line such as `test --workspace`.
pub(crate) fn cargo(line: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args(line.split_whitespace()).current_dir(root());
    forget_our_own_build(&mut command);
    command
}

/// Returns a cargo command for a workspace beside ours, which builds into the shared folder.
pub(crate) fn cargo_beside(line: &str, manifest: &Path) -> Command {
    let mut command = cargo(line);
    command
        .arg("--manifest-path")
        .arg(manifest)
        .env("CARGO_TARGET_DIR", target_dir());
    command
}

/// Cargo describes the running package to the program it starts. A cargo started from there would
/// pass that on to build scripts and rebuild what depends on it.
fn forget_our_own_build(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
}

/// Shows the command, runs it, and fails when it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = show(command);
    let status = command
        .status()
        .with_context(|| format!("could not start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}");
    }
    Ok(())
}

/// Runs a question to the system, too small to be shown, and returns its answer.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("ended with {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns whether a tool answers, for example `cargo deny --version`.
pub(crate) fn answers(program: &str, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Prints the command the way one would type it, and returns that line.
pub(crate) fn show(command: &Command) -> String {
    let line = describe(command);
    println!("$ {line}");
    // A pipe buffers our lines but not those of the command: keep them in order.
    let _ = std::io::stdout().flush();
    line
}

fn describe(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={}", name.display(), quoted(value)));
        }
    }
    words.push(command.get_program().display().to_string());
    words.extend(command.get_args().map(quoted));
    // Paths inside the checkout read better from its top.
    let prefix = format!("{}/", root().display());
    words.join(" ").replace(&prefix, "")
}

fn quoted(word: &OsStr) -> String {
    let word = word.display().to_string();
    if word.is_empty() || word.contains([' ', '"', '\'', '$', '*', ';']) {
        format!("{word:?}")
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_commands_can_be_typed() {
        let mut command = cargo("doc --no-deps");
        command.env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            describe(&command),
            "RUSTDOCFLAGS=\"-D warnings\" cargo doc --no-deps"
        );
    }

    #[test]
    fn paths_are_shown_from_the_top() {
        let command = cargo_beside("run", &root().join("xtask/fuzz/Cargo.toml"));
        assert!(describe(&command).ends_with("cargo run --manifest-path xtask/fuzz/Cargo.toml"));
    }

    #[test]
    fn a_failing_command_is_an_error_that_names_it() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).expect_err("must fail");
        assert_eq!(
            error.to_string(),
            "`sh -c \"exit 3\"` ended with exit status: 3"
        );
    }

    #[test]
    fn a_missing_tool_does_not_answer() {
        assert!(!answers("no-such-tool-anywhere", &["--version"]));
        assert!(answers("cargo", &["--version"]));
    }
}
