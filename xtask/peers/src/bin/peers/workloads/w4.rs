//! W4: a crowd of 10,000 within 100 m; each asks for 500 m and finds them all.

use anyhow::Result;
use nebula_peers::random::Random;
use nebula_peers::report::{Case, Goal};

use crate::measure::{Ask, Field, Floor, queries};
use crate::{Bench, RADIUS_MM, contenders, data};

const CROWD: usize = 10_000;

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let mut field = Field::new(data::crowd(CROWD), contenders::all(RADIUS_MM));
    let mut centers: Vec<_> = field.entries.iter().map(|(_, at)| *at).collect();
    Random(4).shuffle(&mut centers);
    let ask = Ask::Ball(RADIUS_MM);
    let (rows, limit) = queries(&mut field, &centers, ask, Floor::Copy, bench.effort)?;
    bench.finish(Case {
        workload: "W4".to_owned(),
        name: "10,000 within 100 m, each asks r = 500 m".to_owned(),
        per: "query of 10,000 hits".to_owned(),
        limit: Some(limit),
        goal: Goal {
            times_peer: Some(10.0),
            times_limit: Some(3.0),
            bytes: None,
        },
        rows,
        notes: Vec::new(),
    });
    Ok(())
}
