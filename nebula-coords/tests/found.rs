//! What reviews of the tree found, in its smallest form.

#[expect(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use common::entity::Entity;
use nebula_coords::{SpatialIndex, SpatialQuery};
use nebula_math::WorldPosition;

#[test]
fn a_batch_that_builds_anew_leaves_unknown_generations_out() {
    let entity = |row, generation| Entity { row, generation };
    let spot = |row: u32| WorldPosition::new(1_000 * i128::from(row), 0, 0);
    let all: Vec<_> = (0..20_000)
        .map(|row| (entity(row, 0), WorldPosition::ORIGIN))
        .collect();
    let mut index = SpatialIndex::from_points(&all);
    // Rows 0 and 9 name a generation that nobody has, row 9 beside the one that is there.
    let mut moves = vec![(entity(0, 1), WorldPosition::MAX)];
    moves.extend((1..20_000).map(|row| (entity(row, 0), spot(row))));
    moves.push((entity(9, 2), WorldPosition::MIN));
    let report = index.update_batch(&moves);
    index.validate().expect("valid");
    assert_eq!((report.moved, report.unknown), (19_999, 2));
    assert_eq!((index.len(), index.iter().count()), (20_000, 20_000));
    for row in 0..20_000 {
        assert_eq!(index.get(entity(row, 0)), Some(spot(row)));
    }
}

#[test]
fn the_change_feed_of_a_copy_covers_what_changes_in_it() {
    let mut index = SpatialIndex::from_points(&[(1_u32, WorldPosition::ORIGIN)]);
    index.mark();
    index.update(1, WorldPosition::new(1, 0, 0));
    let mut copy = index.clone();
    let mark = copy.mark();
    copy.update(1, WorldPosition::new(2, 0, 0));
    let changes = copy.changes_since(mark).expect("the mark is young");
    assert_eq!(changes.ids(), [1]);
    assert!(
        changes
            .regions()
            .any(|region| region.contains(&WorldPosition::new(2, 0, 0)))
    );
}

#[test]
fn the_change_feed_is_bounded_when_nobody_asks() {
    let mut index = SpatialIndex::new();
    let mark = index.mark();
    for generation in 0..200_000 {
        index.insert(Entity { row: 0, generation }, WorldPosition::ORIGIN);
    }
    assert!(index.changes_since(mark).is_none(), "everything changed");
    let bytes = index.memory().changes;
    assert!(bytes < 3 << 20, "{bytes} bytes for one point");
}

#[cfg(feature = "serde")]
mod snapshot {
    use super::*;

    #[test]
    fn a_restored_index_parts_its_crowds_in_the_same_order() {
        let crowd = |from: u32, at: WorldPosition| (from..from + 300).map(move |id| (id, at));
        let [a, b] = [(2_040, 1_030), (2_060, 1_020)].map(|(x, y)| WorldPosition::new(x, y, 0));
        let mut points: Vec<_> = crowd(1_000, b).collect();
        points.push((9_999, WorldPosition::new(4_000, 0, 0)));
        let mut index = SpatialIndex::from_points(&points);
        for (id, at) in crowd(0, a) {
            index.insert(id, at);
        }
        let text = serde_json::to_string(&index).expect("saves");
        let mut restored: SpatialIndex<u32> = serde_json::from_str(&text).expect("restores");
        let moves = [
            (0, WorldPosition::new(2_050, 1_030, 0)),
            (1_000, WorldPosition::new(2_060, 1_030, 0)),
        ];
        assert_eq!(index.update_batch(&moves), restored.update_batch(&moves));
        assert!(index.iter().eq(restored.iter()));
    }

    #[test]
    fn a_snapshot_with_an_empty_leaf_is_refused() {
        let text = r#"[{"Leaf":{"slot":0,"coarse":false,"points":[]}}]"#;
        let error = serde_json::from_str::<SpatialIndex<u32>>(text).expect_err("refused");
        assert!(error.to_string().contains("an empty leaf"), "{error}");
    }
}
