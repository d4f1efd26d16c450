//! Would a stranger's first hour go well? A fresh clone, an empty cargo home, both README commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::ci::TEST_COMMAND;
use crate::demo;
use crate::run::{answers, cargo, read, root, run};

/// A temporary folder that vanishes with this value. Its name holds the process, so that two runs do
/// not meet.
struct Scratch(PathBuf);

impl Scratch {
    fn new(kind: &str) -> Result<Self> {
        let name = format!("nebula-{kind}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).with_context(|| format!("could not make {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Build output of several gigabytes: clear it away on failure as well.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs the README commands in a fresh clone, or builds and runs the demo in a bare Debian.
pub(crate) fn fresh(chroot: bool) -> Result<ExitCode> {
    if chroot {
        return bare_debian();
    }
    let scratch = Scratch::new("fresh")?;
    let home = empty_cargo_home(&scratch.0)?;
    let clone = clone_head(&scratch.0)?;
    let settings = [
        ("CARGO_HOME", home),
        ("CARGO_TARGET_DIR", clone.join("target")),
    ];
    let mut test = cargo(TEST_COMMAND.trim_start_matches("cargo "));
    run(test.current_dir(&clone).envs(settings.clone()))?;
    demo::readme_command(&clone, &settings)?;
    println!("fresh: both README commands passed");
    Ok(ExitCode::SUCCESS)
}

fn clone_head(scratch: &Path) -> Result<PathBuf> {
    let clone = scratch.join("nebula");
    let mut git = Command::new("git");
    // A clone of a path would share object files with the checkout; this one copies them.
    run(git
        .args(["clone", "--quiet", "--no-local"])
        .arg(root())
        .arg(&clone))?;
    let head = read(
        Command::new("git")
            .args(["rev-parse", "HEAD"])
            .current_dir(root()),
    )?;
    let mut git = Command::new("git");
    run(git
        .args(["checkout", "--quiet", "--detach", head.trim()])
        .current_dir(&clone))?;
    Ok(clone)
}

/// Makes a cargo home without a single cached crate. How to reach the registry is copied: that is
/// part of the machine, not of the project.
fn empty_cargo_home(scratch: &Path) -> Result<PathBuf> {
    let home = scratch.join("cargo-home");
    fs::create_dir_all(&home)?;
    if let Some(user) = user_cargo_home() {
        for name in ["config.toml", "config"] {
            if user.join(name).is_file() {
                fs::copy(user.join(name), home.join(name))?;
            }
        }
    }
    Ok(home)
}

fn user_cargo_home() -> Option<PathBuf> {
    let set = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    set.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
}

/// Builds the demo in a Debian that has gcc and the C library's headers, and nothing else.
fn bare_debian() -> Result<ExitCode> {
    if let Some(missing) = missing_for_chroot()? {
        println!("not run: {missing}");
        return Ok(ExitCode::from(crate::USAGE));
    }
    let scratch = Scratch::new("chroot")?;
    let debian = scratch.0.join("debian");
    let mut debootstrap = Command::new("debootstrap");
    debootstrap.args(["--variant=minbase", "--include=gcc,libc6-dev", "stable"]);
    run(debootstrap.arg(&debian))?;

    let clone = clone_head(&debian)?;
    let home = empty_cargo_home(&debian)?;
    run(cargo("fetch --locked")
        .current_dir(&clone)
        .env("CARGO_HOME", &home))?;
    copy_toolchain(&debian.join("rust"))?;

    // A mount of its own vanishes with the process: nothing is left behind, whatever happens.
    let script = format!(
        "mount -t proc proc {0}/proc && exec chroot {0} \"$@\"",
        debian.display()
    );
    let inside = |words: &str| {
        let mut command = Command::new("unshare");
        command.args([
            "--mount", "sh", "-c", &script, "sh", "env", "-i", "-C", "/nebula",
        ]);
        command.args([
            "PATH=/rust/bin:/usr/bin:/bin",
            "CARGO_HOME=/cargo-home",
            "HOME=/",
        ]);
        command.args(words.split_whitespace());
        command
    };
    run(&mut inside(
        "cargo build --release --offline --locked -p nebula-demo",
    ))?;
    demo::watch_title(&mut inside("target/release/nebula-demo"))?;
    println!("fresh: the demo was built and ran in a bare Debian");
    Ok(ExitCode::SUCCESS)
}

/// Returns what this machine lacks to build in a root of its own.
fn missing_for_chroot() -> Result<Option<&'static str>> {
    let tools = ["debootstrap", "unshare", "chroot"];
    if let Some(tool) = tools
        .into_iter()
        .find(|tool| !answers(tool, &["--version"]))
    {
        return Ok(Some(tool));
    }
    let user = read(Command::new("id").arg("-u"))?;
    Ok((user.trim() != "0").then_some("chroot needs root"))
}

/// Copies the running toolchain, which needs no installer to work from another folder.
fn copy_toolchain(to: &Path) -> Result<()> {
    let sysroot = read(Command::new("rustc").args(["--print", "sysroot"]))?;
    fs::create_dir_all(to)?;
    for part in ["bin", "lib"] {
        run(Command::new("cp")
            .arg("-a")
            .arg(Path::new(sysroot.trim()).join(part))
            .arg(to))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_cargo_home_holds_no_crates() {
        let scratch = Scratch::new("test-home").expect("a temporary folder");
        let home = empty_cargo_home(&scratch.0).expect("a home");
        assert!(home.is_dir());
        assert!(!home.join("registry").exists());
    }

    #[test]
    fn scratch_folders_are_cleared_away() {
        let scratch = Scratch::new("test-scratch").expect("a temporary folder");
        let path = scratch.0.clone();
        assert!(path.is_dir());
        drop(scratch);
        assert!(!path.exists());
    }
}
