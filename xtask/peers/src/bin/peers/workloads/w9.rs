//! W9: `SpatialHashMap`, which carries values, against the code of the story that asked for it.

use anyhow::{Result, ensure};
use nebula_coords::{EntityId, SpatialHashMap};
use nebula_math::WorldPosition;
use nebula_peers::alloc::held_by;
use nebula_peers::clock::{Best, cpu};
use nebula_peers::report::{Case, Goal, Limit, Role, Row, number};

use crate::contenders::literal::{Item, SectorMap};
use crate::limits::Limits;
use crate::{Bench, ENTITIES, RADIUS_MM, data};

const QUERIES: usize = 10_000;

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let effort = bench.effort;
    let entries = data::planet(ENTITIES);
    let (ours, our_bytes) = held_by(|| {
        let values = entries.iter().map(|(id, at)| (EntityId::from(*id), *at));
        values.collect::<SpatialHashMap<_>>()
    });
    let (literal, literal_bytes) = held_by(|| {
        let mut map = SectorMap::default();
        for (id, at) in &entries {
            let id = EntityId::from(*id);
            map.insert(Item { id, at: *at });
        }
        map
    });
    let centers = data::centers(&entries, QUERIES, 9);
    let few = if bench.flags.quick { 20 } else { 100 };
    let hits = compare(&ours, &literal, &centers, few)?;
    let mut limits = Limits::new(ENTITIES);
    let (mut our_time, mut literal_time, mut limit) =
        (Best::default(), Best::default(), Best::default());
    for _ in 0..effort.repeats {
        our_time.note(cpu(|| {
            let count = |at| ours.query_radius(at, RADIUS_MM).len();
            centers.iter().map(count).sum::<usize>()
        }));
        literal_time.note(cpu(|| {
            let count = |at| literal.query_radius(at, RADIUS_MM).len();
            centers[..few].iter().map(count).sum::<usize>()
        }));
        limit.note(limits.misses(QUERIES) + limits.copy(&hits));
    }
    let row = |name: &str, role, ns, bytes: i64| Row {
        contender: name.to_owned(),
        role,
        ns: Some(ns),
        bytes: Some(bytes as f64 / ENTITIES as f64),
        ..Row::default()
    };
    let mut slow = row(
        "literal sector hash",
        Role::Peer,
        literal_time.ns() / few as f64,
        literal_bytes,
    );
    slow.sample = Some(format!("{few} of {} queries", number(QUERIES)));
    let our_ns = our_time.ns() / QUERIES as f64;
    bench.finish(Case {
        workload: "W9".to_owned(),
        name: "SpatialHashMap, r = 500 m, 1,000,000 values".to_owned(),
        per: "query".to_owned(),
        limit: Some(Limit {
            what: "one dependent miss and a copy of the hits".to_owned(),
            ns: limit.ns() / QUERIES as f64,
        }),
        goal: Goal {
            times_peer: Some(200.0),
            ..Goal::default()
        },
        rows: vec![
            row("Nebula SpatialHashMap", Role::Ours, our_ns, our_bytes),
            slow,
        ],
        notes: vec!["both hand over a new list of references to the values".to_owned()],
    });
    Ok(())
}

/// Compares answers, and returns how many hits each query has.
fn compare(
    ours: &SpatialHashMap<(EntityId, WorldPosition)>,
    literal: &SectorMap,
    centers: &[WorldPosition],
    few: usize,
) -> Result<Vec<usize>> {
    for at in &centers[..few] {
        let mut found: Vec<EntityId> = ours
            .query_radius(at, RADIUS_MM)
            .iter()
            .map(|v| v.0)
            .collect();
        let mut right: Vec<EntityId> = literal
            .query_radius(at, RADIUS_MM)
            .iter()
            .map(|item| item.id)
            .collect();
        found.sort_unstable();
        right.sort_unstable();
        ensure!(
            found == right,
            "SpatialHashMap and the literal code differ at {at}"
        );
    }
    let hits = |at| ours.query_radius(at, RADIUS_MM).len();
    Ok(centers.iter().map(hits).collect())
}
