//! Crates outside the workspace that use one library each, as a dependant would.
//!
//! Every folder of xtask/consumers is one. A consumer that sets a release profile of its own is run
//! in release too, because that profile is what it is about.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::run::{LIBRARIES, cargo, cargo_beside, root, run, target_dir};

/// Where a consumer's manifest finds the libraries.
const TOP: &str = "../../../";

/// Builds and runs every consumer, against the folders of the checkout or the packed crates.
pub(crate) fn consumers(packaged: bool) -> Result<()> {
    let folders = folders(&root().join("xtask/consumers"))?;
    let manifests = folders
        .iter()
        .map(|folder| read(&folder.join("Cargo.toml")))
        .collect::<Result<Vec<_>>>()?;
    every_library_has_one(&manifests)?;
    let packed = packaged.then(pack).transpose()?;
    for (folder, manifest) in folders.iter().zip(&manifests) {
        let folder = match &packed {
            None => folder.clone(),
            Some(packed) => against_packed(folder, manifest, packed)?,
        };
        run_consumer(&folder, manifest)?;
    }
    println!("{} consumers ran", folders.len());
    Ok(())
}

/// Returns the manifest of every consumer.
pub(crate) fn manifests() -> Result<Vec<PathBuf>> {
    let folders = folders(&root().join("xtask/consumers"))?;
    Ok(folders
        .iter()
        .map(|folder| folder.join("Cargo.toml"))
        .collect())
}

fn run_consumer(folder: &Path, manifest: &str) -> Result<()> {
    // Start from the workspace's versions: reproducible, and dependencies are built only once.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))
        .with_context(|| format!("could not copy Cargo.lock to {}", folder.display()))?;
    let path = folder.join("Cargo.toml");
    run(&mut cargo_beside("run", &path))?;
    if manifest.contains("[profile.release") {
        run(&mut cargo_beside("run --release", &path))?;
    }
    Ok(())
}

fn folders(parent: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(parent).with_context(|| format!("no {}", parent.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.join("Cargo.toml").is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the libraries that a manifest names as dependencies.
fn used(manifest: &str) -> Vec<&'static str> {
    LIBRARIES
        .into_iter()
        .filter(|library| {
            manifest
                .lines()
                .any(|line| line.split(['=', '.']).next().map(str::trim) == Some(library))
        })
        .collect()
}

fn every_library_has_one(manifests: &[String]) -> Result<()> {
    for manifest in manifests {
        let used = used(manifest);
        ensure!(
            used.len() == 1,
            "a consumer depends on exactly one library, not on {used:?}:\n{manifest}"
        );
    }
    for library in LIBRARIES {
        ensure!(
            manifests.iter().any(|m| used(m) == [library]),
            "no consumer for {library}: add one under xtask/consumers"
        );
    }
    Ok(())
}

/// Packs the libraries as for publishing, unpacks them, and returns the folder that holds them.
fn pack() -> Result<PathBuf> {
    let packages = LIBRARIES.map(|name| format!("-p {name}")).join(" ");
    // Each is built right after, by its consumers. Edits in progress may be packed too.
    let line = format!("package {packages} --no-verify --allow-dirty");
    // The cached index answers after any build; only a machine that built nothing has to ask.
    if run(&mut cargo(&format!("{line} --offline"))).is_err() {
        run(&mut cargo(&line))?;
    }
    let packed = target_dir().join("packed");
    if packed.exists() {
        fs::remove_dir_all(&packed)?;
    }
    fs::create_dir_all(&packed)?;
    for library in LIBRARIES {
        let archive = target_dir()
            .join("package")
            .join(format!("{}.crate", versioned(library)));
        let mut tar = std::process::Command::new("tar");
        run(tar.arg("-xzf").arg(&archive).arg("-C").arg(&packed))?;
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            let text = read(&packed.join(versioned(library)).join(file))?;
            ensure!(text.len() > 20, "{library} is packed with an empty {file}");
        }
    }
    Ok(packed)
}

fn versioned(library: &str) -> String {
    // All crates share the workspace's version, and so does this program.
    format!("{library}-{}", env!("CARGO_PKG_VERSION"))
}

/// Copies a consumer beside the packed libraries and points it at them.
fn against_packed(folder: &Path, manifest: &str, packed: &Path) -> Result<PathBuf> {
    let name = folder.file_name().context("a consumer is a folder")?;
    let copy = packed.join("consumers").join(name);
    copy_folder(folder, &copy)?;
    let mut packed_manifests = Vec::new();
    for library in LIBRARIES {
        packed_manifests.push(read(&packed.join(versioned(library)).join("Cargo.toml"))?);
    }
    let depends = |on: &str, library: &str| {
        let position = LIBRARIES.iter().position(|name| *name == library);
        position.is_some_and(|i| packed_manifests[i].contains(&format!("[dependencies.{on}]")))
    };
    let text = packed_manifest(manifest, packed, depends)?;
    fs::write(copy.join("Cargo.toml"), text)?;
    Ok(copy)
}

/// Points a manifest at the packed libraries; `depends(on, library)` knows what those depend on.
fn packed_manifest(
    manifest: &str,
    packed: &Path,
    depends: impl Fn(&str, &str) -> bool,
) -> Result<String> {
    let [library] = used(manifest)[..] else {
        bail!("a consumer depends on one library");
    };
    let folder = |name: &str| packed.join(versioned(name)).display().to_string();
    let mut text = manifest.replace(&format!("{TOP}{library}"), &folder(library));
    ensure!(
        !text.contains(TOP),
        "a path that leaves the consumer is not packed:\n{manifest}"
    );
    // A packed library asks the registry for the libraries below it, which may not be there yet.
    let mut needed = vec![library];
    for below in LIBRARIES.into_iter().rev() {
        if needed.iter().any(|above| depends(below, above)) {
            needed.push(below);
        }
    }
    if needed.len() > 1 {
        text.push_str("\n[patch.crates-io]\n");
    }
    for name in &needed[1..] {
        text.push_str(&format!("{name} = {{ path = {:?} }}\n", folder(name)));
    }
    Ok(text)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_name() == "target" {
            continue;
        }
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATH: &str = "[dependencies]\nnebula-math = { path = \"../../../nebula-math\" }\n";
    const COORDS: &str = "[dependencies]\nnebula-coords = { path = \"../../../nebula-coords\" }\n";
    const MULTIPLAYER: &str = "[dependencies.nebula-multiplayer]\npath = \"x\"\n";

    fn owned(manifests: &[&str]) -> Vec<String> {
        manifests.iter().map(|m| (*m).to_owned()).collect()
    }

    #[test]
    fn each_library_needs_a_consumer() {
        let missing = every_library_has_one(&owned(&[MATH])).expect_err("coords has none");
        assert!(
            missing
                .to_string()
                .contains("no consumer for nebula-coords")
        );
    }

    #[test]
    fn a_consumer_of_two_libraries_is_refused() {
        let both = format!("{COORDS}nebula-math = \"0.1\"\n");
        assert!(every_library_has_one(&[both]).is_err());
        assert!(every_library_has_one(&owned(&[MULTIPLAYER])).is_err());
    }

    #[test]
    fn packed_consumers_leave_the_checkout_alone() {
        let depends = |on: &str, library: &str| (on, library) == ("nebula-math", "nebula-coords");
        let text = packed_manifest(COORDS, Path::new("/packed"), depends).expect("one library");
        assert!(text.contains(&format!("/packed/{}\"", versioned("nebula-coords"))));
        let patch = text
            .split("[patch.crates-io]")
            .nth(1)
            .expect("math comes from the folder too");
        assert!(patch.contains(&versioned("nebula-math")));
    }

    #[test]
    fn packed_consumers_with_other_paths_are_refused() {
        let text = format!("{MATH}other = {{ path = \"../../../other\" }}\n");
        assert!(packed_manifest(&text, Path::new("/packed"), |_, _| false).is_err());
    }
}
