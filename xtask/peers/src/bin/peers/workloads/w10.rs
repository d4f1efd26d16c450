//! W10: batches on two threads against one, by the wall clock.

use anyhow::{Context as _, Result, ensure};
use nebula_coords::{Region, SpatialIndex, SpatialQuery as _, spatial_order};
use nebula_math::WorldPosition;
use nebula_peers::clock::{Best, wall};
use nebula_peers::report::{Case, Role, Row};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{Bench, ENTITIES, RADIUS_MM, data};

const QUERIES: usize = 10_000;
/// Queries that a thread takes at a time.
const CHUNK: usize = 256;
const THREADS: [usize; 2] = [1, 2];

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let mut entries = data::planet(ENTITIES);
    let mut index = SpatialIndex::from_points(&entries);
    let pools = THREADS.map(|n| ThreadPoolBuilder::new().num_threads(n).build());
    let pools = pools.into_iter().collect::<Result<Vec<_>, _>>();
    let pools = pools.context("could not start threads")?;
    let centers = data::centers(&entries, QUERIES, 10);
    let found: Vec<usize> = pools
        .iter()
        .map(|pool| ask(pool, &index, &centers))
        .collect();
    ensure!(found[0] == found[1], "threads change answers: {found:?}");
    let mut moves = [Best::default(); 2];
    let mut queries = [Best::default(); 2];
    for repeat in 0..bench.effort.repeats as u64 {
        for (t, pool) in pools.iter().enumerate() {
            let seed = repeat * 2 + t as u64;
            let batch = data::steps(&mut entries, 1.0, 5_000, seed);
            moves[t].note(wall(|| pool.install(|| index.update_batch(&batch))));
            queries[t].note(wall(|| ask(pool, &index, &centers)));
        }
    }
    let note = format!("{} processors are there", bench.report.machine.threads);
    for (name, best, per, count) in [
        ("all of 1,000,000 move in a batch", moves, "tick", 1),
        (
            "10,000 queries of 500 m in a batch",
            queries,
            "query",
            QUERIES,
        ),
    ] {
        let row = |t: usize, role| Row {
            contender: format!(
                "Nebula on {} thread{}",
                THREADS[t],
                if t == 0 { "" } else { "s" }
            ),
            role,
            ns: Some(best[t].ns() / count as f64),
            ..Row::default()
        };
        bench.finish(Case {
            workload: "W10".to_owned(),
            name: format!("{name}, wall time"),
            per: per.to_owned(),
            rows: vec![row(1, Role::Ours), row(0, Role::Peer)],
            notes: vec![
                "reported, no goal; the peer is one thread".to_owned(),
                note.clone(),
            ],
            ..Case::default()
        });
    }
    Ok(())
}

/// Answers every query, neighbours one after the other, each thread into a list of its own.
fn ask(pool: &ThreadPool, index: &SpatialIndex<u32>, centers: &[WorldPosition]) -> usize {
    let chunk = |numbers: &[u32]| {
        let mut out = Vec::new();
        let count = |number: &u32| {
            let at = centers[*number as usize];
            index.collect(&Region::ball(at, RADIUS_MM), &mut out);
            out.len()
        };
        numbers.iter().map(count).sum::<usize>()
    };
    pool.install(|| spatial_order(centers).par_chunks(CHUNK).map(chunk).sum())
}
