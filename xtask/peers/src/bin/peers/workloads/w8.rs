//! W8: the nearest 1, 16 and 256 of a million.

use anyhow::Result;
use nebula_peers::report::{Case, Goal};

use crate::measure::{Ask, Floor, queries};
use crate::{Bench, data};

/// How many neighbours, and how many queries.
const COUNTS: [(usize, usize); 3] = [(1, 10_000), (16, 10_000), (256, 1_000)];
/// Queries are asked beside entities, up to this far on each axis.
const BESIDE_MM: i64 = 100_000;

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let effort = bench.effort;
    for (k, count) in COUNTS {
        let field = bench.planet();
        let centers = data::centers_beside(&field.entries, count, BESIDE_MM, 8);
        let (rows, limit) = queries(field, &centers, Ask::Nearest(k), Floor::MissAndCopy, effort)?;
        bench.finish(Case {
            workload: "W8".to_owned(),
            name: format!("nearest {k} of 1,000,000"),
            per: "query".to_owned(),
            limit: Some(limit),
            goal: Goal {
                times_peer: Some(1.0),
                ..Goal::default()
            },
            rows,
            notes: vec!["equal means equal distances: ties may be broken either way".to_owned()],
        });
    }
    Ok(())
}
