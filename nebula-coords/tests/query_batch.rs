//! Many questions at once: each is answered once, as if it were asked alone.

#[expect(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use common::source::{Seeded, Source};
use nebula_coords::{LinearIndex, Metric, Region, SpatialIndex, SpatialQuery, spatial_order};
use nebula_math::{Aabb128, WorldPosition};

const ENDS: [i128; 6] = [i128::MIN, i128::MAX, 0, -1, 1 << 32, -(1 << 96)];

fn somewhere(s: &mut Seeded) -> WorldPosition {
    let around = s.pick(&ENDS);
    let [x, y, z] = [0; 3].map(|_| {
        let step = i128::from(s.below(1 << 20));
        around.checked_add(step).unwrap_or_else(|| around - step)
    });
    WorldPosition::new(x, y, z)
}

fn question(s: &mut Seeded) -> Region {
    let radius_mm = s.pick(&[-1, 0, 1_000, 1 << 18, 1 << 20, 1 << 97, i128::MAX]);
    let (center, other) = (somewhere(s), somewhere(s));
    match s.below(6) {
        0 => Region::Box(Aabb128::from_corners(center, other)),
        1 => Region::swept(center, other, radius_mm),
        2 => Region::ball_in(center, radius_mm, Metric::Manhattan),
        _ => Region::ball(center, radius_mm),
    }
}

#[test]
fn every_question_is_answered_once_as_if_it_were_alone() {
    for seed in 0..12 {
        let s = &mut Seeded(seed);
        let points: Vec<_> = (0..2_000).map(|id| (id, somewhere(s))).collect();
        let index = SpatialIndex::from_points(&points);
        let mut twin = LinearIndex::new();
        for (id, at) in &points {
            twin.insert(*id, *at);
        }
        let questions: Vec<_> = (0..s.below(300)).map(|_| question(s)).collect();
        let mut answers: Vec<Option<Vec<u32>>> = vec![None; questions.len()];
        index.query_batch(&questions, |number, ids| {
            let before = answers[number].replace(ids.to_vec());
            assert_eq!(before, None, "seed {seed}: {number} was answered before");
        });
        let (mut alone, mut right) = (Vec::new(), Vec::new());
        for (question, answer) in questions.iter().zip(answers) {
            let mut answer = answer.expect("every question is answered");
            index.collect(question, &mut alone);
            assert_eq!(answer, alone, "seed {seed}: {question:?}");
            twin.collect(question, &mut right);
            answer.sort_unstable();
            assert_eq!(answer, right, "seed {seed}: {question:?}");
        }
    }
}

#[test]
fn nothing_is_asked_of_nobody() {
    let empty = SpatialIndex::<u32>::new();
    empty.query_batch(&[], |number, _| panic!("{number} was not asked"));
    let mut asked = Vec::new();
    let questions = [WorldPosition::MAX, WorldPosition::MIN].map(Region::at);
    empty.query_batch(&questions, |number, ids| {
        assert!(ids.is_empty());
        asked.push(number);
    });
    assert_eq!(asked, [1, 0]);
}

/// Wherever positions are, each has its turn, and a second call gives the same order.
#[test]
fn an_order_names_every_position_once() {
    for seed in 0..40 {
        let s = &mut Seeded(seed);
        let count = s.below(3_000);
        let places: Vec<_> = (0..count).map(|_| somewhere(s)).collect();
        let order = spatial_order(&places);
        assert_eq!(order, spatial_order(&places), "seed {seed}");
        let mut numbers = order;
        numbers.sort_unstable();
        assert!(
            numbers.into_iter().map(u64::from).eq(0..count),
            "seed {seed}"
        );
    }
}
