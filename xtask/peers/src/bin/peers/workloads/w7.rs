//! W7: a million entities in a million sectors, spread over 2^100 mm. Floats cannot be exact there.

use anyhow::Result;
use nebula_peers::report::{Case, Goal, Row};

use super::w5::tune;
use crate::measure::{Ask, Field, Floor, queries};
use crate::{Bench, ENTITIES, contenders, data};

/// The logarithm of a radius, and how many queries.
const RADII: [(u32, usize); 3] = [(33, 10_000), (96, 1_000), (99, 20)];

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let mut field = Field::new(data::universe(ENTITIES), contenders::wide(1 << 33));
    for (log, count) in RADII {
        let radius_mm = 1_i128 << log;
        tune(&mut field, radius_mm);
        let centers = data::centers(&field.entries, count, 7);
        let ask = Ask::Ball(radius_mm);
        let floor = Floor::MissAndCopy;
        let (mut rows, limit) = queries(&mut field, &centers, ask, floor, bench.effort)?;
        rows.push(Row {
            contender: contenders::big_space::NAME.to_owned(),
            note: Some("64-bit numbers of cells that fit f32 offsets end at 2^82 mm".to_owned()),
            ..Row::default()
        });
        bench.finish(Case {
            workload: "W7".to_owned(),
            name: format!("1,000,000 over 2^100 mm, r = 2^{log} mm"),
            per: "query".to_owned(),
            limit: Some(limit),
            goal: Goal {
                times_peer: Some(1.0),
                ..Goal::default()
            },
            rows,
            notes: Vec::new(),
        });
    }
    Ok(())
}
