//! A report: cases, each a race of contenders at one piece of work, with its limit and its goal.

pub mod chart;
pub mod json;
pub mod markdown;
pub mod table;

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
pub use chart::Chart;

/// Everything one run measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// The name of the benchmark.
    pub bench: String,
    /// Whether this was a short run.
    pub quick: bool,
    /// What it ran on.
    pub machine: Machine,
    /// Settings that hold for all contenders, one sentence each.
    pub settings: Vec<String>,
    /// The races, in the order of the workloads.
    pub cases: Vec<Case>,
    /// Drawings of some of them.
    #[serde(skip)]
    pub charts: Vec<Chart>,
}

/// One race.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Case {
    /// The workload that it belongs to, for example `W1`.
    pub workload: String,
    /// What sets it apart from others of that workload.
    pub name: String,
    /// What a time is for: `query`, `tick`, `move`.
    pub per: String,
    /// What the hardware would need for the same, if it was measured.
    pub limit: Option<Limit>,
    /// What is wanted.
    pub goal: Goal,
    /// One row for each contender.
    pub rows: Vec<Row>,
    /// What else there is to know, one sentence each.
    pub notes: Vec<String>,
}

/// The time that hardware needs at least.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Limit {
    /// What was measured, for example "copy of the hits".
    pub what: String,
    /// Nanoseconds per unit of work.
    pub ns: f64,
}

/// What our row is to reach. Goals that are not set are not asked.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Goal {
    /// At least this many times faster than the best peer.
    pub times_peer: Option<f64>,
    /// At most this many times the limit.
    pub times_limit: Option<f64>,
    /// At most this many bytes per entity.
    pub bytes: Option<f64>,
}

/// Whose row it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Nebula.
    Ours,
    /// A library or a method that others use.
    #[default]
    Peer,
    /// Shown for scale, but no peer at this work; a note says why.
    Aside,
}

/// What one contender did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub contender: String,
    /// Whose it is.
    pub role: Role,
    /// Nanoseconds per unit of work; absent when it was not timed.
    pub ns: Option<f64>,
    /// Bytes per entity, everything counted.
    pub bytes: Option<f64>,
    /// How much of the work it did, when that was not all.
    pub sample: Option<String>,
    /// Why its answers cannot be exact, and how many were wrong.
    pub inexact: Option<Inexact>,
    /// Why it was not timed, or another remark.
    pub note: Option<String>,
}

impl Row {
    /// Returns the row of a contender that took so many nanoseconds.
    #[must_use]
    pub fn timed(contender: &str, role: Role, ns: f64) -> Self {
        Self {
            contender: contender.to_owned(),
            role,
            ns: Some(ns),
            ..Self::default()
        }
    }

    /// Returns the row of a contender that needed so many bytes.
    #[must_use]
    pub fn sized(contender: &str, role: Role, bytes: f64) -> Self {
        Self {
            contender: contender.to_owned(),
            role,
            bytes: Some(bytes),
            ..Self::default()
        }
    }
}

/// Answers that are wrong by construction.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Inexact {
    /// Ids that were missing or too many.
    pub wrong: usize,
    /// Ids that would have been right.
    pub of: usize,
}

/// A goal and how it went.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The goal in words.
    pub goal: String,
    /// What was reached, in words.
    pub reached: String,
    /// Whether that is enough.
    pub met: bool,
}

impl Case {
    /// Returns our row.
    #[must_use]
    pub fn ours(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.role == Role::Ours)
    }

    /// Returns the peers that were timed, fastest first.
    #[must_use]
    pub fn peers(&self) -> Vec<&Row> {
        let mut peers: Vec<&Row> = self
            .rows
            .iter()
            .filter(|row| row.role == Role::Peer && row.ns.is_some())
            .collect();
        peers.sort_by(|a, b| a.ns.partial_cmp(&b.ns).expect("times are no NaN"));
        peers
    }

    /// Returns how many times faster a row is than the best peer.
    #[must_use]
    pub fn times_peer(&self, row: &Row) -> Option<f64> {
        Some(self.peers().first()?.ns? / row.ns?)
    }

    /// Returns how many times the limit a row takes.
    #[must_use]
    pub fn times_limit(&self, row: &Row) -> Option<f64> {
        Some(row.ns? / self.limit.as_ref()?.ns)
    }

    /// Returns every goal of this case with its outcome.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        let Some(ours) = self.ours() else {
            return Vec::new();
        };
        let mut verdicts = Vec::new();
        if let Some(goal) = self.goal.times_peer {
            let reached = self.times_peer(ours);
            verdicts.push(Verdict {
                goal: format!("{goal} times the best peer"),
                reached: reached.map_or("no peer".to_owned(), |times| format!("{times:.2}x")),
                met: reached.is_some_and(|times| times >= goal),
            });
        }
        if let Some(goal) = self.goal.times_limit {
            let reached = self.times_limit(ours);
            let what = self.limit.as_ref().map_or("", |limit| &limit.what);
            verdicts.push(Verdict {
                goal: format!("at most {goal} times {what}"),
                reached: reached.map_or("no limit".to_owned(), |times| format!("{times:.2}x")),
                met: reached.is_some_and(|times| times <= goal),
            });
        }
        if let Some(goal) = self.goal.bytes {
            verdicts.push(Verdict {
                goal: format!("at most {goal} bytes"),
                reached: ours
                    .bytes
                    .map_or("unknown".to_owned(), |bytes| format!("{bytes:.1}")),
                met: ours.bytes.is_some_and(|bytes| bytes <= goal),
            });
        }
        verdicts
    }
}

impl Report {
    /// Returns every goal that was missed: the case and the outcome.
    #[must_use]
    pub fn missed(&self) -> Vec<(&Case, Verdict)> {
        self.cases
            .iter()
            .flat_map(|case| case.verdicts().into_iter().map(move |v| (case, v)))
            .filter(|(_, verdict)| !verdict.met)
            .collect()
    }

    /// Returns how many goals there were.
    #[must_use]
    pub fn goals(&self) -> usize {
        self.cases.iter().map(|case| case.verdicts().len()).sum()
    }

    /// Returns the case of that workload and name.
    #[must_use]
    pub fn case(&self, workload: &str, name: &str) -> Option<&Case> {
        self.cases
            .iter()
            .find(|case| case.workload == workload && case.name == name)
    }
}

/// Writes a time with a fitting unit.
#[must_use]
pub fn time(ns: f64) -> String {
    match ns {
        _ if ns < 1e3 => format!("{ns:.1} ns"),
        _ if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        _ if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

/// Writes a whole number with commas.
#[must_use]
pub fn number(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_held_against_the_best_peer_and_the_limit() {
        let mut case = Case {
            rows: vec![
                Row::timed("ours", Role::Ours, 10.0),
                Row::timed("slow", Role::Peer, 90.0),
                Row::timed("best", Role::Peer, 30.0),
                Row::timed("aside", Role::Aside, 1.0),
            ],
            limit: Some(Limit {
                what: "a copy".to_owned(),
                ns: 5.0,
            }),
            goal: Goal {
                times_peer: Some(3.0),
                times_limit: Some(1.5),
                bytes: Some(40.0),
            },
            ..Case::default()
        };
        assert_eq!(case.peers()[0].contender, "best");
        let met: Vec<bool> = case.verdicts().iter().map(|v| v.met).collect();
        assert_eq!(met, [true, false, false]);
        case.rows[0].bytes = Some(40.0);
        assert!(case.verdicts()[2].met);
        let report = Report {
            cases: vec![case],
            ..Report::default()
        };
        assert_eq!((report.goals(), report.missed().len()), (3, 1));
    }

    #[test]
    fn times_and_numbers_read_well() {
        assert_eq!(time(12.34), "12.3 ns");
        assert_eq!(time(4_560.0), "4.56 us");
        assert_eq!(time(2.5e9), "2.50 s");
        assert_eq!(number(4_000_000), "4,000,000");
        assert_eq!(number(12), "12");
    }
}
