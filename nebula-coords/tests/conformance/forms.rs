//! The forms a question comes in, and what they promise about order and ends.

use core::ops::ControlFlow;

use nebula_coords::{Region, SpatialQuery};
use nebula_math::{Aabb128, WorldPosition};

use super::check::{Points, assorted, each_way, finds, inserted, numbered};
use crate::common::coords::at;
use crate::common::index::TestIndex;

const ALL: Region = Region::Box(Aabb128::UNIVERSE);

fn block() -> Points {
    numbered((0..1_000).map(|i| at(i % 10 * 50 - 250, i / 10 % 10 * 50, i / 100 * 50)))
}

pub(crate) fn count_collect_and_visit_agree<X: TestIndex>() {
    let points = block();
    each_way(&points, |x: &X| {
        for r in [0, 49, 50, 120, 300, 5_000] {
            let region = Region::ball(at(0, 0, 0), r);
            let truth = crate::common::oracle::ids_in(&points, &region);
            finds(x, &region, &truth);
        }
    });
}

pub(crate) fn a_break_ends_the_visit<X: TestIndex>() {
    each_way(&block(), |x: &X| {
        let mut calls = 0;
        let flow = x.query().visit(&ALL, &mut |_| {
            calls += 1;
            ControlFlow::Break(())
        });
        assert!(flow.is_break());
        assert_eq!(calls, 1, "a call after the break");
    });
}

pub(crate) fn a_late_break_ends_the_visit<X: TestIndex>() {
    each_way(&block(), |x: &X| {
        let mut slices = 0;
        let _ = x.query().visit(&ALL, &mut |_| {
            slices += 1;
            ControlFlow::Continue(())
        });
        for stop in 1..=slices.min(40) {
            let mut calls = 0;
            let flow = x.query().visit(&ALL, &mut |_| {
                calls += 1;
                if calls == stop {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            assert!(flow.is_break());
            assert_eq!(calls, stop);
        }
    });
}

pub(crate) fn a_visit_without_break_continues<X: TestIndex>() {
    each_way(&block(), |x: &X| {
        let flow = x.query().visit(&ALL, &mut |_| ControlFlow::Continue(()));
        assert!(flow.is_continue());
        let nothing = Region::ball(WorldPosition::ORIGIN, -1);
        let flow = x.query().visit(&nothing, &mut |_| ControlFlow::Break(()));
        assert!(flow.is_continue(), "nothing to break at");
    });
}

pub(crate) fn no_slice_is_empty<X: TestIndex>() {
    let mut x: X = inserted(&block());
    for id in (0..1_000).filter(|id| id % 3 != 0) {
        x.remove(id);
    }
    for r in [0, 60, 200, 400, i128::MAX] {
        let _ = x.query().visit(&Region::ball(at(0, 0, 0), r), &mut |ids| {
            assert!(!ids.is_empty());
            ControlFlow::Continue(())
        });
    }
}

pub(crate) fn each_id_comes_once<X: TestIndex>() {
    let points = assorted(81, 900);
    each_way(&points, |x: &X| {
        for (_, p) in points.iter().step_by(97) {
            for r in [0, 1 << 20, 1 << 33, 1 << 91, i128::MAX] {
                let mut ids = x.visited(&Region::ball(*p, r));
                let n = ids.len();
                ids.sort_unstable();
                ids.dedup();
                assert_eq!(ids.len(), n, "an id twice around {p:?} within {r}");
            }
        }
    });
}

pub(crate) fn collect_replaces_the_buffer<X: TestIndex>() {
    each_way(&numbered([at(1, 0, 0)]), |x: &X| {
        let mut out = vec![X::id(9); 5];
        x.query().collect(&ALL, &mut out);
        assert_eq!(out.len(), 1);
        x.query().collect(&Region::ball(at(0, 0, 0), 0), &mut out);
        assert!(out.is_empty());
    });
}

/// Runs a fixed story of edits.
fn story<X: TestIndex>() -> X {
    let points = assorted(82, 1_200);
    let mut x = X::bulk(&points[..600]);
    for (id, p) in &points[600..] {
        x.insert(*id, *p);
    }
    for id in (0..1_200).step_by(3) {
        x.remove(id);
    }
    let moves: Points = (0..1_200)
        .map(|id| (id, points[(id as usize * 7) % 1_200].1))
        .collect();
    x.update_batch(&moves);
    x
}

pub(crate) fn the_same_operations_give_the_same_order<X: TestIndex>() {
    let (a, b) = (story::<X>(), story::<X>());
    for (_, p) in assorted(82, 1_200).iter().step_by(41) {
        for r in [0, 1 << 20, 1 << 34, 1 << 92, i128::MAX] {
            let region = Region::ball(*p, r);
            assert_eq!(a.visited(&region), b.visited(&region));
        }
    }
    assert_eq!(a.visited(&ALL), b.visited(&ALL));
}

pub(crate) fn asking_twice_gives_the_same_order<X: TestIndex>() {
    let x = story::<X>();
    let region = Region::ball(WorldPosition::ORIGIN, 1 << 100);
    let first = x.visited(&region);
    assert!(first.len() > 100);
    let _ = x.closest(&WorldPosition::ORIGIN, 50, i128::MAX);
    assert_eq!(x.visited(&region), first);
}

pub(crate) fn questions_work_through_a_trait_object<X: TestIndex>() {
    let x: X = inserted(&block());
    let asked: &dyn SpatialQuery<Id = X::Id> = x.query();
    assert_eq!(asked.len(), 1_000);
    assert!(!asked.is_empty());
    assert_eq!(asked.count(&ALL), 1_000);
    let mut out = Vec::new();
    asked.nearest(&at(-250, 0, 0), 1, 0, &mut out);
    assert_eq!(out.len(), 1);
    assert_eq!(asked.position(out[0]), Some(at(-250, 0, 0)));
}

pub(crate) fn an_index_says_when_it_is_empty<X: TestIndex>() {
    let mut x = X::empty();
    assert!(x.query().is_empty());
    x.insert(1, at(0, 0, 0));
    assert!(!x.query().is_empty());
    x.remove(1);
    assert!(x.query().is_empty());
}
