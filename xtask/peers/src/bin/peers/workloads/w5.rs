//! W5: small and large radii on the planet of a million.

use anyhow::Result;
use nebula_peers::report::{Case, Goal};

use crate::contenders::hash_grid;
use crate::measure::{Ask, Field, Floor, Lane, queries};
use crate::{Bench, data};

/// A radius, its name, how many queries, and how many times faster than the best peer.
const RADII: [(i128, &str, usize, f64); 3] = [
    (10_000, "r = 10 m", 10_000, 1.0),
    (50_000_000, "r = 50 km", 1_000, 5.0),
    (5_000_000_000, "r = 5,000 km", 20, 3.0),
];

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let effort = bench.effort;
    for (radius_mm, name, count, goal) in RADII {
        let field = bench.planet();
        // Every other contender stays as it is; the grid gets cells of the radius, its best setting.
        let usual = tune(field, radius_mm);
        let centers = data::centers(&field.entries, count, 5);
        let ask = Ask::Ball(radius_mm);
        let raced = queries(field, &centers, ask, Floor::MissAndCopy, effort);
        restore(field, usual);
        let (rows, limit) = raced?;
        bench.finish(Case {
            workload: "W5".to_owned(),
            name: format!("{name}, 1,000,000 entities"),
            per: "query".to_owned(),
            limit: Some(limit),
            goal: Goal {
                times_peer: Some(goal),
                ..Goal::default()
            },
            rows,
            notes: vec!["the grid's cells are as wide as the radius".to_owned()],
        });
    }
    Ok(())
}

/// Puts a grid for this radius in the place of the usual one, and returns that.
pub(super) fn tune(field: &mut Field, radius_mm: i128) -> Option<(usize, Lane)> {
    let is_grid = |lane: &Lane| lane.contender.name() == hash_grid::NAME;
    let at = field.lanes.iter().position(is_grid)?;
    let grid = Box::new(hash_grid::Grid::new(radius_mm));
    let tuned = Field::new(field.entries.clone(), vec![grid]).lanes.pop()?;
    Some((at, std::mem::replace(&mut field.lanes[at], tuned)))
}

fn restore(field: &mut Field, usual: Option<(usize, Lane)>) {
    if let Some((at, lane)) = usual {
        field.lanes[at] = lane;
    }
}
