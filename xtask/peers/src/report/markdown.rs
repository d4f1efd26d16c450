//! The page that a run writes, with its charts beside it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::{Case, Report, chart, table};

/// Where the parts of a page come from and go to.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The file of the page; charts go into `images` beside it.
    pub file: &'a Path,
    /// A folder with notes of people, one file per workload (`W4.md`), put under its tables.
    pub notes: &'a Path,
    /// The command that makes the page.
    pub command: &'a str,
    /// What the page is about, in a paragraph.
    pub about: &'a str,
}

/// Writes the page and its charts.
///
/// # Errors
/// When a file cannot be written.
pub fn write(report: &Report, page: &Page<'_>) -> Result<()> {
    let folder = page.file.parent().unwrap_or(Path::new("."));
    let images = folder.join("images");
    fs::create_dir_all(&images).with_context(|| format!("could not make {}", images.display()))?;
    for drawing in &report.charts {
        let file = images.join(&drawing.file);
        fs::write(&file, chart::svg(drawing))
            .with_context(|| format!("could not write {}", file.display()))?;
    }
    let notes = |workload: &str| fs::read_to_string(page.notes.join(format!("{workload}.md"))).ok();
    fs::write(page.file, text(report, page, &notes))
        .with_context(|| format!("could not write {}", page.file.display()))
}

fn text(report: &Report, page: &Page<'_>, notes: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = format!(
        "# Benchmarks\n\n{}\n\nThis page is written by `{}`.\n\n",
        page.about, page.command
    );
    machine(report, &mut out);
    for drawing in &report.charts {
        let _ = writeln!(out, "![{}](images/{})\n", drawing.title, drawing.file);
    }
    goals(report, &mut out);
    let mut workloads: Vec<&str> = Vec::new();
    for case in &report.cases {
        if !workloads.contains(&case.workload.as_str()) {
            workloads.push(&case.workload);
        }
    }
    for workload in workloads {
        let _ = writeln!(out, "## {workload}\n");
        for one in report.cases.iter().filter(|case| case.workload == workload) {
            case(one, &mut out);
        }
        if let Some(text) = notes(workload) {
            let _ = writeln!(out, "{}\n", text.trim_end());
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn machine(report: &Report, out: &mut String) {
    let m = &report.machine;
    let _ = writeln!(
        out,
        "| | |\n|---|---|\n| date | {} |\n| processor | {}, {} threads, last cache {} |\n\
         | memory | {} GiB |\n| system | {} |\n| compiler | {} |\n| run | {} |\n| sharing | {} |\n",
        m.date,
        m.cpu,
        m.threads,
        m.cache,
        m.memory_gib,
        m.system,
        m.rustc,
        if report.quick {
            "short (--quick)"
        } else {
            "full"
        },
        m.sharing
    );
    for setting in &report.settings {
        let _ = writeln!(out, "- {setting}");
    }
    out.push('\n');
}

fn goals(report: &Report, out: &mut String) {
    let missed = report.missed().len();
    let _ = writeln!(
        out,
        "## Goals\n\n{} of {} are met.\n\n| | work | goal | reached | |\n|---|---|---|---|---|",
        report.goals() - missed,
        report.goals()
    );
    for case in &report.cases {
        for verdict in case.verdicts() {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                case.workload,
                case.name,
                verdict.goal,
                verdict.reached,
                if verdict.met { "met" } else { "**missed**" }
            );
        }
    }
    out.push('\n');
}

fn case(case: &Case, out: &mut String) {
    let per = if case.per.is_empty() {
        String::new()
    } else {
        format!(" (time per {})", case.per)
    };
    let _ = writeln!(
        out,
        "### {}: {}{per}\n\n| contender | time | vs best peer | vs limit | bytes per entity | goal | met |\n\
         |---|--:|--:|--:|--:|---|---|",
        case.workload, case.name
    );
    for cells in table::rows(case) {
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
    let remarks = table::remarks(case);
    for remark in &remarks {
        let _ = writeln!(out, "- {remark}");
    }
    if !remarks.is_empty() {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Goal, Role, Row};
    use super::*;

    #[test]
    fn the_page_shows_goals_tables_and_notes() {
        let row = |contender: &str, role, ns| Row {
            contender: contender.to_owned(),
            role,
            ns: Some(ns),
            ..Row::default()
        };
        let report = Report {
            cases: vec![Case {
                workload: "W1".to_owned(),
                name: "few".to_owned(),
                per: "query".to_owned(),
                goal: Goal {
                    times_peer: Some(3.0),
                    ..Goal::default()
                },
                rows: vec![
                    row("Nebula", Role::Ours, 100.0),
                    row("peer", Role::Peer, 200.0),
                ],
                ..Case::default()
            }],
            ..Report::default()
        };
        let page = Page {
            file: Path::new("a.md"),
            notes: Path::new("."),
            command: "cargo xtask bench peers",
            about: "About.",
        };
        let text = text(&report, &page, &|name| Some(format!("Tried for {name}.")));
        assert!(text.contains("| W1 | few | 3 times the best peer | 2.00x | **missed** |"));
        assert!(text.contains("| Nebula | 100.0 ns | 2.00x |"), "{text}");
        assert!(text.contains("Tried for W1."));
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"));
    }
}
