//! W1: queries of 500 m in random order, from 10,000 to 4,000,000 entities.

use anyhow::Result;
use nebula_peers::report::{Case, Goal, number};

use crate::data;
use crate::measure::{Ask, Field, Floor, queries};
use crate::{Bench, ENTITIES, RADIUS_MM, contenders};

const QUERIES: usize = 10_000;
/// Entities, and how many times faster than the best peer.
const SIZES: [(usize, f64); 4] = [
    (10_000, 1.0),
    (100_000, 1.5),
    (1_000_000, 3.0),
    (4_000_000, 3.0),
];

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let effort = bench.effort;
    let ask = Ask::Ball(RADIUS_MM);
    let mut best_two = Vec::new();
    for (n, goal) in SIZES {
        // A run under other conditions repeats the size that counts most.
        if bench.flags.inner && n != ENTITIES {
            continue;
        }
        // The largest world is for the best two peers of the one before.
        let mut small;
        let field = if n == ENTITIES {
            bench.planet()
        } else {
            let entries = data::planet(n);
            let who = if n > ENTITIES {
                contenders::named(&best_two, RADIUS_MM)
            } else {
                contenders::all(RADIUS_MM)
            };
            small = Field::new(entries, who);
            &mut small
        };
        let centers = data::centers(&field.entries, QUERIES, 1);
        let alone = queries(field, &centers, ask, Floor::MissAndCopy, effort)?;
        let batch = Ask::Batch(RADIUS_MM);
        let together = queries(field, &centers, batch, Floor::MissAndCopy, effort)?;
        let case = |what: &str, (rows, limit)| Case {
            workload: "W1".to_owned(),
            name: format!("r = 500 m, {} entities{what}", number(n)),
            per: "query".to_owned(),
            limit: Some(limit),
            rows,
            notes: (n > ENTITIES)
                .then(|| "the best two peers only".to_owned())
                .into_iter()
                .collect(),
            ..Case::default()
        };
        let alone = Case {
            goal: Goal {
                times_peer: Some(goal),
                ..Goal::default()
            },
            ..case("", alone)
        };
        let mut together = case(", in any order", together);
        together.notes.push(
            "all queries are known beforehand: Nebula's by `query_batch`, everyone else's sorted by \
             `spatial_order` first, which counts"
                .to_owned(),
        );
        best_two = vec![contenders::nebula::NAME.to_owned()];
        let peers = alone.peers();
        best_two.extend(peers.iter().take(2).map(|row| row.contender.clone()));
        bench.finish(alone);
        bench.finish(together);
    }
    Ok(())
}
