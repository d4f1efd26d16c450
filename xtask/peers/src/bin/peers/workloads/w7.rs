//! W7: a million entities in a million sectors, spread over 2^100 mm. Floats cannot be exact there.

use anyhow::{Context as _, Result};
use nebula_math::WorldPosition;
use nebula_peers::report::{Case, Goal, Role, Row};

use super::w5::tune;
use crate::contenders::{Sink, Work};
use crate::measure::{Ask, Field, Floor, Lane, aim, queries};
use crate::{Bench, ENTITIES, contenders, data};

/// The logarithm of a radius, and how many queries.
const RADII: [(u32, usize); 3] = [(33, 10_000), (96, 1_000), (99, 20)];

pub(crate) fn run(bench: &mut Bench) -> Result<()> {
    let mut field = Field::new(data::universe(ENTITIES), contenders::wide(1 << 33));
    // A grid must know the size of its questions: neighbours here are some 2^93 mm away.
    tune(&mut field, 1 << 94);
    let edge = at_the_edge(&mut field)?;
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
            notes: vec![edge.clone()],
        });
    }
    Ok(())
}

/// Questions at the very edge of a ball.
const EDGES: usize = 100;

/// Asks everyone for balls whose radius is the distance of a neighbour, rounded up, and the same less a
/// millimetre: the neighbour is in the first and not in the second. Says who got how many wrong.
fn at_the_edge(field: &mut Field) -> Result<String> {
    let centers = data::centers(&field.entries, EDGES, 70);
    aim(field, &centers);
    let ours = field
        .lanes
        .iter()
        .find(|l| l.contender.role() == Role::Ours);
    let ours = ours.context("nobody on the field is ours")?;
    let mut sink = Sink::recording();
    ours.contender.nearest(0..EDGES, 2, &mut sink);
    let neighbours: Vec<u32> = sink.answers().iter().map(|near| near[1]).collect();
    let mut wrong = vec![0; field.lanes.len()];
    for (query, (center, neighbour)) in centers.iter().zip(neighbours).enumerate() {
        let radius_mm = distance_up(center, &field.entries[neighbour as usize].1);
        for (lane, wrong) in field.lanes.iter().zip(&mut wrong) {
            for (radius_mm, right) in [(radius_mm, true), (radius_mm - 1, false)] {
                let mut sink = Sink::recording();
                if lane.contender.refuses(Work::Ball(radius_mm)).is_none() {
                    lane.contender.balls(query..query + 1, radius_mm, &mut sink);
                    let found = sink.answers()[0].contains(&neighbour);
                    *wrong += usize::from(found != right);
                }
            }
        }
    }
    let asked = |lane: &&Lane| lane.contender.refuses(Work::Ball(1 << 90)).is_none();
    let told: Vec<String> = field
        .lanes
        .iter()
        .zip(wrong)
        .filter(|(lane, _)| asked(lane))
        .map(|(lane, wrong)| format!("{} {wrong}", lane.contender.name()))
        .collect();
    Ok(format!(
        "wrong answers to {} questions at the very edge of a ball, a millimetre on each side of a neighbour: {}",
        EDGES * 2,
        told.join(", ")
    ))
}

/// Returns the smallest whole radius that reaches from one point to the other.
fn distance_up(a: &WorldPosition, b: &WorldPosition) -> i128 {
    let (mut low, mut high) = (0, i128::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        if a.is_within(b, middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
