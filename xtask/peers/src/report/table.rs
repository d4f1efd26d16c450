//! The table that a run prints: one block per case.

use super::{Case, Report, Role, Row, time};

const HEAD: [&str; 7] = [
    "contender",
    "time",
    "vs best peer",
    "vs limit",
    "B/entity",
    "goal",
    "met",
];

/// Returns the block of a case as text.
#[must_use]
pub fn text(case: &Case) -> String {
    let lines = rows(case);
    let mut widths = HEAD.map(str::len);
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = format!("\n{} {}", case.workload, case.name);
    if !case.per.is_empty() {
        out.push_str(&format!(" (time per {})", case.per));
    }
    out.push('\n');
    let mut push = |cells: &[String; 7]| {
        let mut line = format!("  {:<w$}", cells[0], w = widths[0]);
        for (cell, w) in cells.iter().zip(widths).skip(1).take(4) {
            line.push_str(&format!("  {cell:>w$}"));
        }
        line.push_str(&format!("  {:<w$}  {}", cells[5], cells[6], w = widths[5]));
        out.push_str(line.trim_end());
        out.push('\n');
    };
    push(&HEAD.map(str::to_owned));
    for line in &lines {
        push(line);
    }
    for remark in remarks(case) {
        out.push_str(&format!("  note: {remark}\n"));
    }
    out
}

/// Returns the cells of every row, ours first, then the peers from fast to slow.
#[must_use]
pub fn rows(case: &Case) -> Vec<[String; 7]> {
    let mut rows: Vec<&Row> = case.rows.iter().collect();
    rows.sort_by(|a, b| {
        let rank = |row: &Row| match (row.role, row.ns) {
            (Role::Ours, _) => 0,
            (_, Some(_)) => 1,
            (_, None) => 2,
        };
        let ns = |row: &Row| row.ns.unwrap_or(f64::INFINITY);
        rank(a)
            .cmp(&rank(b))
            .then(ns(a).partial_cmp(&ns(b)).expect("times are no NaN"))
    });
    let mut lines: Vec<[String; 7]> = rows.into_iter().map(|row| cells(case, row)).collect();
    if let Some(limit) = &case.limit {
        lines.push([
            format!("limit: {}", limit.what),
            time(limit.ns),
            String::new(),
            "1.00x".to_owned(),
            String::new(),
            String::new(),
            String::new(),
        ]);
    }
    lines
}

fn cells(case: &Case, row: &Row) -> [String; 7] {
    let times = |value: Option<f64>| value.map_or(String::new(), |times| format!("{times:.2}x"));
    let (goal, met) = if row.role == Role::Ours {
        let verdicts = case.verdicts();
        let goals: Vec<&str> = verdicts.iter().map(|v| v.goal.as_str()).collect();
        let met: Vec<String> = verdicts
            .iter()
            .map(|v| {
                if v.met {
                    "met".to_owned()
                } else {
                    format!("MISSED ({})", v.reached)
                }
            })
            .collect();
        (goals.join("; "), met.join("; "))
    } else {
        (String::new(), String::new())
    };
    [
        row.contender.clone(),
        match row.ns {
            Some(ns) => time(ns),
            None if case.per.is_empty() => String::new(),
            None => "not timed".to_owned(),
        },
        times(case.times_peer(row)),
        times(case.times_limit(row)),
        row.bytes
            .map_or(String::new(), |bytes| format!("{bytes:.1}")),
        goal,
        met,
    ]
}

/// Returns what must be said beside the figures: samples, wrong answers, reasons.
#[must_use]
pub fn remarks(case: &Case) -> Vec<String> {
    let mut remarks = case.notes.clone();
    for row in &case.rows {
        let name = &row.contender;
        if let Some(sample) = &row.sample {
            remarks.push(format!("{name} ran on a sample: {sample}"));
        }
        if let Some(inexact) = row.inexact {
            remarks.push(format!(
                "{name} is inexact here by construction: {} wrong of {} ids",
                inexact.wrong, inexact.of
            ));
        }
        if let Some(note) = &row.note {
            remarks.push(format!("{name}: {note}"));
        }
    }
    remarks
}

/// Returns the last lines of a run: every missed goal and the tally.
#[must_use]
pub fn verdict(report: &Report) -> String {
    let missed = report.missed();
    let mut out = String::new();
    for (case, verdict) in &missed {
        out.push_str(&format!(
            "missed: {} {}: wanted {}, got {}\n",
            case.workload, case.name, verdict.goal, verdict.reached
        ));
    }
    let goals = report.goals();
    out.push_str(&format!(
        "goals: {} met, {} missed\n",
        goals - missed.len(),
        missed.len()
    ));
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Goal, Limit};
    use super::*;

    #[test]
    fn a_block_shows_ratios_goals_and_remarks() {
        let row = |contender: &str, role, ns| Row {
            contender: contender.to_owned(),
            role,
            ns,
            ..Row::default()
        };
        let mut slow = row("peer", Role::Peer, Some(400.0));
        slow.sample = Some("10 of 100 queries".to_owned());
        let case = Case {
            workload: "W1".to_owned(),
            name: "10,000 entities".to_owned(),
            per: "query".to_owned(),
            limit: Some(Limit {
                what: "copy".to_owned(),
                ns: 50.0,
            }),
            goal: Goal {
                times_peer: Some(5.0),
                ..Goal::default()
            },
            rows: vec![slow, row("Nebula", Role::Ours, Some(100.0))],
            notes: Vec::new(),
        };
        let text = text(&case);
        let ours = text.lines().find(|l| l.contains("Nebula")).expect("a row");
        assert!(ours.contains("4.00x") && ours.contains("2.00x"), "{ours}");
        assert!(ours.contains("MISSED (4.00x)"), "{ours}");
        assert!(text.contains("note: peer ran on a sample: 10 of 100 queries"));
        let report = Report {
            cases: vec![case],
            ..Report::default()
        };
        assert!(verdict(&report).ends_with("goals: 0 met, 1 missed\n"));
    }
}
