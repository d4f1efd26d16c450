//! Links between documents resolve, and every decision is in the index.

use super::Source;

const DECISIONS: &str = "docs/decisions/";

/// Returns links to files or headings that are not there, and decisions that nobody links to.
pub(super) fn problems(sources: &[Source], paths: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.is_markdown()) {
        for (number, link) in links(&source.text) {
            if let Some(reason) = broken(source, link, sources, paths) {
                problems.push(format!(
                    "{}:{number} links to {link}: {reason}",
                    source.path
                ));
            }
        }
    }
    problems.extend(unlisted_decisions(sources));
    problems
}

/// Returns each link outside code, with its line.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let mut code = false;
        let mut at = 0;
        while let Some(next) = line[at..].find(['`', ']']) {
            at += next + 1;
            if line.as_bytes()[at - 1] == b'`' {
                code = !code;
            } else if !code
                && let Some(rest) = line[at..].strip_prefix('(')
                && let Some(end) = rest.find([')', ' '])
            {
                found.push((number, &rest[..end]));
            }
        }
    }
    found
}

/// Returns the lines outside code blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

fn broken(from: &Source, link: &str, all: &[Source], paths: &[String]) -> Option<&'static str> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let Some(target) = resolve(&from.path, path) else {
        return Some("it leaves the repository");
    };
    let is_folder = || {
        let folder = format!("{target}/");
        paths.iter().any(|path| path.starts_with(&folder))
    };
    if !paths.contains(&target) && !is_folder() {
        return Some("no such file");
    }
    let page = all.iter().find(|source| source.path == target)?;
    let exists = heading.is_empty() || headings(&page.text).any(|slug| slug == heading);
    (page.is_markdown() && !exists).then_some("no such heading")
}

/// Returns the path that a link means, from the top of the repository.
fn resolve(from: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Returns each heading the way browsers address it.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text).filter_map(|(_, line)| {
        let title = line.strip_prefix('#')?.trim_start_matches('#').trim();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
    })
}

fn unlisted_decisions(sources: &[Source]) -> Vec<String> {
    let index_path = format!("{DECISIONS}README.md");
    let index = sources.iter().find(|source| source.path == index_path);
    sources
        .iter()
        .filter_map(|source| source.path.strip_prefix(DECISIONS))
        .filter(|name| *name != "README.md")
        .filter(|name| !index.is_some_and(|index| index.text.contains(&format!("({name})"))))
        .map(|name| format!("{index_path} does not list {name}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    #[track_caller]
    fn check(sources: &[Source], expected: &[&str]) {
        let paths: Vec<String> = sources.iter().map(|source| source.path.clone()).collect();
        assert_eq!(problems(sources, &paths), expected);
    }

    #[test]
    fn links_to_files_folders_and_headings_resolve() {
        let page = "[a](docs/b.md#two-words) [c](docs) [d](#here) [e](https://example.org)\n# Here";
        let other = "# Two words!\n\n[back](../README.md)";
        check(
            &[source("README.md", page), source("docs/b.md", other)],
            &[],
        );
    }

    #[test]
    fn broken_links_are_reported_with_their_line() {
        let page = "\n[a](b.md)\n[c](../x.md)\n[d](#nowhere)\n";
        check(
            &[source("README.md", page)],
            &[
                "README.md:2 links to b.md: no such file",
                "README.md:3 links to ../x.md: it leaves the repository",
                "README.md:4 links to #nowhere: no such heading",
            ],
        );
    }

    #[test]
    fn code_holds_no_links() {
        check(&[source("a.md", "`x[0](y)`\n```rust\nf[1](z)\n```\n")], &[]);
    }

    #[test]
    fn decisions_must_be_in_the_index() {
        let index = source("docs/decisions/README.md", "[one](0001-one.md)");
        let one = source("docs/decisions/0001-one.md", "");
        let two = source("docs/decisions/0002-two.md", "");
        check(
            &[index, one, two],
            &["docs/decisions/README.md does not list 0002-two.md"],
        );
    }
}
