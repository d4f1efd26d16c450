//! Insert, move, remove, bulk and clear.

use nebula_coords::Region;
use nebula_math::{Aabb128, WorldPosition};

use super::check::{Points, assorted, ball_finds, finds, inserted};
use crate::common::coords::{SECTOR, at};
use crate::common::index::TestIndex;
use crate::common::source::{Seeded, Source};

const A: WorldPosition = at(-1, -SECTOR, SECTOR - 1);
const B: WorldPosition = at(5, 1 << 80, i128::MIN);

#[track_caller]
fn whole<X: TestIndex>(x: &X) {
    x.validate().expect("the structure is whole");
}

pub(crate) fn insert_returns_where_the_id_was<X: TestIndex>() {
    let mut x = X::empty();
    assert_eq!(x.insert(3, A), None);
    assert_eq!(x.insert(3, B), Some(A));
    assert_eq!(x.insert(3, B), Some(B));
    whole(&x);
}

pub(crate) fn inserting_a_stored_id_moves_it<X: TestIndex>() {
    let mut x: X = inserted(&[(42, A), (43, A)]);
    x.insert(42, B);
    assert_eq!(x.stored(), 2);
    ball_finds(&x, A, 10, &[43]);
    ball_finds(&x, B, 10, &[42]);
    whole(&x);
}

pub(crate) fn a_move_is_seen_at_once<X: TestIndex>() {
    let mut x: X = inserted(&[(1, A)]);
    assert!(x.update(1, B));
    assert_eq!(x.place_of(1), Some(B));
    ball_finds(&x, A, 0, &[]);
    ball_finds(&x, B, 0, &[1]);
    assert_eq!(x.stored(), 1);
}

pub(crate) fn a_small_move_is_seen_at_once<X: TestIndex>() {
    let mut x: X = inserted(&[(1, at(100, 100, 100)), (2, at(101, 100, 100))]);
    assert!(x.update(1, at(200, 200, 200)));
    ball_finds(&x, at(100, 100, 100), 50, &[2]);
    ball_finds(&x, at(200, 200, 200), 0, &[1]);
}

pub(crate) fn moving_to_the_same_place_changes_nothing<X: TestIndex>() {
    let mut x: X = inserted(&[(1, A), (2, A)]);
    assert!(x.update(1, A));
    ball_finds(&x, A, 0, &[1, 2]);
    whole(&x);
}

pub(crate) fn moving_an_unknown_id_changes_nothing<X: TestIndex>() {
    let mut x: X = inserted(&[(1, A)]);
    assert!(!x.update(2, B));
    assert!(!x.update(900, A));
    assert_eq!(x.stored(), 1);
    assert_eq!(x.place_of(2), None);
    ball_finds(&x, B, i128::MAX, &[]);
    ball_finds(&x, A, 0, &[1]);
    whole(&x);
}

pub(crate) fn remove_returns_where_the_id_was<X: TestIndex>() {
    let mut x: X = inserted(&[(1, A), (2, B)]);
    assert_eq!(x.remove(1), Some(A));
    assert_eq!(x.place_of(1), None);
    assert_eq!(x.place_of(2), Some(B));
    assert_eq!(x.stored(), 1);
    ball_finds(&x, A, 0, &[]);
    whole(&x);
}

pub(crate) fn removing_an_unknown_id_changes_nothing<X: TestIndex>() {
    let mut x = X::empty();
    assert_eq!(x.remove(0), None);
    x.insert(1, A);
    assert_eq!(x.remove(2), None);
    assert_eq!(x.remove(50_000), None);
    assert_eq!(x.stored(), 1);
    whole(&x);
}

pub(crate) fn removing_twice_removes_once<X: TestIndex>() {
    let mut x: X = inserted(&[(1, A), (2, A)]);
    assert_eq!(x.remove(1), Some(A));
    assert_eq!(x.remove(1), None);
    assert_eq!(x.stored(), 1);
    assert!(!x.update(1, B));
    whole(&x);
}

pub(crate) fn a_removed_id_may_be_used_again<X: TestIndex>() {
    let mut x: X = inserted(&[(1, A), (2, A)]);
    for round in 0..50 {
        let p = at(round, -round, SECTOR * round);
        assert!(x.remove(1).is_some());
        assert_eq!(x.insert(1, p), None);
        ball_finds(&x, p, 0, &[1]);
    }
    ball_finds(&x, A, 0, &[2]);
    assert_eq!(x.stored(), 2);
    whole(&x);
}

pub(crate) fn clear_removes_everything<X: TestIndex>() {
    let points = assorted(71, 600);
    let mut x: X = inserted(&points);
    x.clear();
    assert_eq!(x.stored(), 0);
    finds(&x, &Region::Box(Aabb128::UNIVERSE), &[]);
    assert!(points.iter().all(|(id, _)| x.place_of(*id).is_none()));
    assert_eq!(x.remove(0), None);
    assert!(!x.update(1, A));
    whole(&x);
}

pub(crate) fn a_cleared_index_may_be_used_again<X: TestIndex>() {
    let mut x: X = inserted(&assorted(72, 600));
    for _ in 0..3 {
        x.clear();
        x.clear();
        assert_eq!(x.insert(5, A), None);
        assert_eq!(x.insert(6, B), None);
        ball_finds(&x, A, 0, &[5]);
        ball_finds(&x, B, 0, &[6]);
        assert_eq!(x.stored(), 2);
        whole(&x);
    }
}

pub(crate) fn a_bulk_build_equals_inserts<X: TestIndex>() {
    let points = assorted(73, 1_000);
    let (one, many) = (inserted::<X>(&points), X::bulk(&points));
    assert_eq!(one.stored(), many.stored());
    for (id, p) in &points {
        assert_eq!(many.place_of(*id), Some(*p));
        assert_eq!(one.place_of(*id), Some(*p));
    }
    whole(&many);
}

pub(crate) fn a_bulk_build_of_nothing<X: TestIndex>() {
    let mut x = X::bulk(&[]);
    assert_eq!(x.stored(), 0);
    assert_eq!(x.insert(0, A), None);
    ball_finds(&x, A, 0, &[0]);
    whole(&x);
}

pub(crate) fn the_last_entry_wins_in_a_bulk_build<X: TestIndex>() {
    let x = X::bulk(&[(1, A), (2, A), (1, B), (2, B), (2, A)]);
    assert_eq!(x.stored(), 2);
    assert_eq!(x.place_of(1), Some(B));
    assert_eq!(x.place_of(2), Some(A));
    ball_finds(&x, A, 0, &[2]);
    ball_finds(&x, B, 0, &[1]);
    whole(&x);
}

pub(crate) fn a_bulk_built_index_may_be_edited<X: TestIndex>() {
    let points = assorted(74, 800);
    let mut x = X::bulk(&points);
    for id in 0..400 {
        assert!(x.update(id, A));
    }
    for id in 400..600 {
        assert_eq!(x.remove(id), Some(points[id as usize].1));
    }
    x.insert(5_000, A);
    let mut there: Vec<u32> = (0..400).chain([5_000]).collect();
    there.extend((600..800).filter(|id| points[*id as usize].1 == A));
    ball_finds(&x, A, 0, &there);
    assert_eq!(x.stored(), 601);
    whole(&x);
}

pub(crate) fn the_last_entry_wins_in_a_batch<X: TestIndex>() {
    let mut x: X = inserted(&[(1, A), (2, A)]);
    let far = at(i128::MAX, 0, 0);
    x.update_batch(&[(1, B), (2, far), (1, far), (2, B), (1, A)]);
    assert_eq!(x.place_of(1), Some(A));
    assert_eq!(x.place_of(2), Some(B));
    ball_finds(&x, far, 0, &[]);
    whole(&x);
}

pub(crate) fn a_batch_skips_unknown_ids<X: TestIndex>() {
    let mut x: X = inserted(&[(1, A)]);
    assert_eq!(x.update_batch(&[(7, B), (1, B), (8, A)]), 1);
    assert_eq!(x.stored(), 1);
    assert_eq!(x.place_of(7), None);
    assert_eq!(x.place_of(1), Some(B));
    whole(&x);
}

/// Long enough that an index may share the work among threads: every id three times, steps and
/// jumps mixed, with strangers between.
pub(crate) fn a_long_batch_equals_single_moves<X: TestIndex>() {
    let mut s = Seeded(76);
    let mut place = || {
        let bits = s.pick(&[8, 20, 34]);
        let mut axis = || i128::from(s.below(1 << bits)) - (1 << (bits - 1));
        at(axis(), axis(), axis())
    };
    let points: Points = (0..2_000).map(|id| (id, place())).collect();
    let moves: Points = (0..7_000).map(|i| (i * 7 % 2_300, place())).collect();
    let (mut single, mut batch) = (inserted::<X>(&points), X::bulk(&points));
    let known = moves.iter().filter(|(id, to)| single.update(*id, *to));
    assert_eq!(known.count(), batch.update_batch(&moves));
    whole(&batch);
    for id in 0..2_300 {
        assert_eq!(batch.place_of(id), single.place_of(id), "{id}");
    }
    for r in [1 << 7, 1 << 19, 1 << 30] {
        let region = Region::ball(WorldPosition::ORIGIN, r);
        finds(&batch, &region, &single.visited(&region));
    }
}

pub(crate) fn an_empty_batch_changes_nothing<X: TestIndex>() {
    let mut x: X = inserted(&[(1, A)]);
    assert_eq!(x.update_batch(&[]), 0);
    assert_eq!(x.place_of(1), Some(A));
    assert_eq!(X::empty().update_batch(&[(1, A)]), 0);
}

pub(crate) fn ids_may_be_far_apart<X: TestIndex>() {
    let ids = [0, 4_095, 4_096, 1_000_000, u32::MAX - 1];
    let points: Vec<_> = ids
        .iter()
        .map(|id| (*id, at(i128::from(*id), 0, 0)))
        .collect();
    let mut x: X = inserted(&points);
    for (id, p) in &points {
        ball_finds(&x, *p, 0, &[*id]);
        assert!(x.update(*id, A));
    }
    ball_finds(&x, A, 0, &ids);
    assert_eq!(x.remove(u32::MAX - 1), Some(A));
    whole(&x);
}

pub(crate) fn len_and_position_follow_every_change<X: TestIndex>() {
    let points = assorted(75, 500);
    let mut x = X::empty();
    for (n, (id, p)) in points.iter().enumerate() {
        assert_eq!(x.stored(), n);
        assert_eq!(x.place_of(*id), None);
        x.insert(*id, *p);
        assert_eq!(x.place_of(*id), Some(*p));
    }
    for (id, p) in &points {
        assert_eq!(x.remove(*id), Some(*p));
    }
    assert_eq!(x.stored(), 0);
}
