//! The table, the goals, and the same as JSON.

use std::fmt::Write as _;

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) workload: &'static str,
    pub(crate) formula: &'static str,
    pub(crate) nanoseconds: f64,
    pub(crate) wrong: usize,
    pub(crate) tests: usize,
}

/// How much of the wrapping formula's time the exact one may take.
#[derive(Clone, Copy, Debug)]
enum Goal {
    AtMost(f64),
    LessThan(f64),
}

/// Near points may cost somewhat more, and more again where both ends change; rejected points must
/// be faster. Mixed points and the ends of `i128` are shown without a goal.
const GOALS: [(&str, Goal); 4] = [
    ("near", Goal::AtMost(1.3)),
    ("pairs", Goal::AtMost(1.8)),
    ("next", Goal::LessThan(1.0)),
    ("far", Goal::LessThan(1.0)),
];

pub(crate) fn missed(rows: &[Row]) -> Vec<String> {
    let mut missed = Vec::new();
    for (workload, goal) in GOALS {
        let Some(ratio) = ratio(rows, workload) else {
            continue;
        };
        let (met, goal) = match goal {
            Goal::AtMost(limit) => (ratio <= limit, format!("at most {limit}")),
            Goal::LessThan(limit) => (ratio < limit, format!("less than {limit}")),
        };
        if !met {
            missed.push(format!(
                "{workload}: is_within takes {ratio:.3} of the wrapping formula, goal {goal}"
            ));
        }
    }
    missed
}

/// Returns the time of the exact formula over that of the wrapping one.
fn ratio(rows: &[Row], workload: &str) -> Option<f64> {
    let time = |formula: &str| {
        let row = rows
            .iter()
            .find(|r| r.workload == workload && r.formula == formula);
        row.map(|r| r.nanoseconds)
    };
    Some(time("is_within")? / time("wrapping i128")?)
}

pub(crate) fn table(rows: &[Row]) -> String {
    let mut out = String::from("workload  formula          ns/test  to wrapping  wrong answers\n");
    for row in rows {
        let Row {
            workload,
            formula,
            nanoseconds,
            wrong,
            tests,
        } = row;
        let base = rows
            .iter()
            .find(|r| r.workload == *workload && r.formula == "wrapping i128");
        let ratio = base.map_or(1.0, |b| nanoseconds / b.nanoseconds);
        let _ = writeln!(
            out,
            "{workload:<9} {formula:<15} {nanoseconds:>8.2} {ratio:>11.2}x  {wrong} of {tests}"
        );
    }
    out
}

pub(crate) fn json(rows: &[Row]) -> String {
    let mut out = String::from("[");
    for (i, row) in rows.iter().enumerate() {
        let Row {
            workload,
            formula,
            nanoseconds,
            wrong,
            tests,
        } = row;
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            out,
            "{comma}\n  {{\"workload\": \"{workload}\", \"formula\": \"{formula}\", \
             \"ns\": {nanoseconds:.3}, \"wrong\": {wrong}, \"tests\": {tests}}}"
        );
    }
    out + "\n]\n"
}
