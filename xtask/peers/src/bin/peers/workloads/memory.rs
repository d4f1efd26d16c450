//! Memory: bytes per entity of the planet, everything counted.

use anyhow::Result;
use nebula_peers::report::{Case, Goal, Row};

use crate::Bench;

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let row = |lane: &crate::measure::Lane| Row {
        contender: lane.contender.name().to_owned(),
        role: lane.contender.role(),
        bytes: lane.bytes,
        ..Row::default()
    };
    let rows = bench.planet().lanes.iter().map(row).collect();
    bench.finish(Case {
        workload: "memory".to_owned(),
        name: "bytes per entity, 1,000,000 entities".to_owned(),
        goal: Goal {
            bytes: Some(40.0),
            ..Goal::default()
        },
        rows,
        notes: vec![
            "counted by the allocator after a bulk build: what is still held, spare room included"
                .to_owned(),
            "a removal from kiddo and rstar needs the old position, which the caller keeps: not counted"
                .to_owned(),
        ],
        ..Case::default()
    });
    Ok(())
}
