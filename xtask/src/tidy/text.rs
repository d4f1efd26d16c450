//! Checks that need no parser: file sizes, text that must not be committed, the top level.

use super::Source;

/// A file of more lines than this is two files.
const MOST_LINES: usize = 600;
/// From here on a file is worth a second look.
const MANY_LINES: usize = 450;

/// What may stand at the top of the repository.
const TOP_LEVEL: [&str; 22] = [
    ".cargo",
    ".ci",
    ".config",
    ".gitattributes",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "clippy.toml",
    "deny.toml",
    "docs",
    "nebula-coords",
    "nebula-demo",
    "nebula-math",
    "nebula-multiplayer",
    "rustfmt.toml",
    "xtask",
];

/// Folders that exist on one machine only. Written in pieces, or this file would accuse itself.
const MACHINE_PATHS: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Use", "rs/"),
    concat!("/wo", "rk/"),
    concat!("C:\\Use", "rs\\"),
];

/// Code that is unfinished or switched off.
const UNFINISHED: [&str; 3] = [
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("#[ig", "nore"),
];

/// Where crates are published. A page that names a crate needs no link to one registry.
const REGISTRIES: [&str; 2] = [concat!("crates", ".io"), concat!("//docs", ".rs")];

/// Returns files over the limit.
pub(super) fn too_long_files(sources: &[Source]) -> Vec<String> {
    longer_than(sources, MOST_LINES)
        .map(|(path, lines)| format!("{path} has {lines} lines, and {MOST_LINES} is the limit"))
        .collect()
}

/// Returns files near the limit.
pub(super) fn long_files(sources: &[Source]) -> Vec<String> {
    longer_than(sources, MANY_LINES)
        .filter(|(_, lines)| *lines <= MOST_LINES)
        .map(|(path, lines)| format!("{path} has {lines} lines; is it still one room?"))
        .collect()
}

fn longer_than(sources: &[Source], limit: usize) -> impl Iterator<Item = (&str, usize)> {
    sources
        .iter()
        .filter(|source| source.is_rust())
        .map(|source| (source.path.as_str(), source.text.lines().count()))
        .filter(move |(_, lines)| *lines > limit)
}

/// Returns lines that name a machine's folders or a registry, and Rust that is unfinished or switched
/// off.
pub(super) fn forbidden(sources: &[Source]) -> Vec<String> {
    let mut problems = Vec::new();
    for source in sources {
        for (number, line) in (1..).zip(source.text.lines()) {
            let place = format!("{}:{number}", source.path);
            if let Some(path) = MACHINE_PATHS.iter().find(|path| names_folder(line, path)) {
                problems.push(format!("{place} names a folder of one machine: {path}"));
            }
            if (source.is_rust() || source.is_markdown())
                && let Some(host) = REGISTRIES.iter().find(|host| line.contains(**host))
            {
                problems.push(format!("{place} names a registry: {host}"));
            }
            if source.is_rust()
                && let Some(word) = UNFINISHED.iter().find(|word| line.contains(**word))
            {
                problems.push(format!("{place} is unfinished or switched off: {word}"));
            }
        }
    }
    problems
}

/// Returns whether a line holds the folder as the start of a path, not inside a longer one.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-/}".contains(c))
    })
}

/// Returns entries at the top that are not on the list.
pub(super) fn top_level(paths: &[String]) -> Vec<String> {
    let mut entries: Vec<&str> = paths
        .iter()
        .map(|path| path.split('/').next().unwrap_or(path))
        .filter(|entry| !TOP_LEVEL.contains(entry))
        .collect();
    entries.dedup();
    entries
        .into_iter()
        .map(|entry| format!("{entry} does not belong at the top of the repository"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    #[test]
    fn long_rust_files_are_refused_and_near_ones_noted() {
        let file = |lines: usize| [source("a/src/b.rs", &"x\n".repeat(lines))];
        assert!(too_long_files(&file(600)).is_empty());
        assert_eq!(too_long_files(&file(601)).len(), 1);
        assert_eq!(long_files(&file(451)).len(), 1);
        assert!(long_files(&file(450)).is_empty());
        assert!(too_long_files(&[source("docs/a.md", &"x\n".repeat(601))]).is_empty());
    }

    #[test]
    fn machine_paths_are_refused() {
        for path in MACHINE_PATHS {
            let text = format!("see `{path}someone/notes`\n");
            assert_eq!(forbidden(&[source("README.md", &text)]).len(), 1, "{path}");
            let inside = format!("see docs{path}notes\n");
            assert!(
                forbidden(&[source("README.md", &inside)]).is_empty(),
                "{path}"
            );
        }
    }

    #[test]
    fn registries_are_refused_in_pages_and_code() {
        for host in REGISTRIES {
            let text = format!("see <https:{host}/name>\n");
            for path in ["docs/a.md", "a/src/b.rs"] {
                assert_eq!(forbidden(&[source(path, &text)]).len(), 1, "{path} {host}");
            }
            assert!(forbidden(&[source("deny.toml", &text)]).is_empty());
        }
        // How a manifest says it, with a hyphen, is no host.
        let patch = source("a/src/b.rs", "\"[patch.crates-io]\"\n");
        assert!(forbidden(&[patch]).is_empty());
    }

    #[test]
    fn unfinished_code_is_refused() {
        for word in UNFINISHED {
            let line = format!("    {word})]\n");
            let problems = forbidden(&[source("a/src/b.rs", &line)]);
            assert!(problems[0].starts_with("a/src/b.rs:1 "), "{problems:?}");
            assert!(forbidden(&[source("a.md", &line)]).is_empty());
        }
    }

    #[test]
    fn strangers_at_the_top_are_refused() {
        let paths = ["README.md", "notes.txt", "scratch/a.rs", "xtask/a.rs"].map(str::to_owned);
        let problems = top_level(&paths);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].starts_with("notes.txt "));
    }
}
