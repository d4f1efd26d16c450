//! Boxes against per-axis big integers, and against their own points.

use nebula_math::{Aabb128, WorldPosition, strategies};
use num_bigint::BigInt;
use proptest::prelude::*;

use crate::twin::{big, config, from_u384, point, saturate, squared_distance};

/// A box as exact intervals.
fn intervals(b: &Aabb128) -> [(BigInt, BigInt); 3] {
    let ([x, y, z], [u, v, w]) = (point(&b.min()), point(&b.max()));
    [(x, u), (y, v), (z, w)]
}

/// Intervals as a box, if they are inside the universe and not empty.
fn fitting(intervals: [(BigInt, BigInt); 3]) -> Option<Aabb128> {
    let [x, y, z] = intervals.map(|(lo, hi)| {
        Some((i128::try_from(lo).ok()?, i128::try_from(hi).ok()?)).filter(|(lo, hi)| lo <= hi)
    });
    let (x, y, z) = (x?, y?, z?);
    Aabb128::try_new(
        WorldPosition::new(x.0, y.0, z.0),
        WorldPosition::new(x.1, y.1, z.1),
    )
    .ok()
}

fn holds(b: &Aabb128, p: &WorldPosition) -> bool {
    let axes = intervals(b);
    axes.iter()
        .zip(point(p))
        .all(|((lo, hi), c)| *lo <= c && c <= *hi)
}

/// The squared distance from a box to a point, axis by axis.
fn squared_gap(b: &Aabb128, p: &WorldPosition) -> BigInt {
    let gaps = intervals(b).into_iter().zip(point(p)).map(|((lo, hi), c)| {
        if c < lo {
            lo - c
        } else if c > hi {
            c - hi
        } else {
            big(0)
        }
    });
    gaps.map(|gap| &gap * &gap).sum()
}

fn corner_list(b: &Aabb128) -> Vec<WorldPosition> {
    let (lo, hi) = (b.min(), b.max());
    let mut out = Vec::new();
    for x in [lo.x, hi.x] {
        for y in [lo.y, hi.y] {
            for z in [lo.z, hi.z] {
                out.push(WorldPosition::new(x, y, z));
            }
        }
    }
    out
}

fn corner_distances(b: &Aabb128, p: &WorldPosition) -> Vec<BigInt> {
    let corners = corner_list(b);
    corners.iter().map(|c| squared_distance(c, p)).collect()
}

/// A point of, on the border of, or near the box as often as one anywhere.
fn box_and_point() -> impl Strategy<Value = (Aabb128, WorldPosition)> {
    (
        strategies::aabb(),
        strategies::position(),
        0..8_usize,
        0..3_u8,
    )
        .prop_map(|(b, p, corner, kind)| match kind {
            0 => (b, p),
            1 => (b, b.nearest_point(&p)),
            _ => {
                let c = b.corners()[corner];
                let beside = WorldPosition::new(
                    c.x.saturating_add(p.x % 3),
                    c.y.saturating_add(p.y % 3),
                    c.z.saturating_add(p.z % 3),
                );
                (b, beside)
            }
        })
}

/// Two boxes that often touch, nest or miss each other by one.
fn two_boxes() -> impl Strategy<Value = (Aabb128, Aabb128)> {
    (box_and_point(), box_and_point(), any::<bool>()).prop_map(|((a, p), (b, q), tied)| {
        if tied {
            (a, Aabb128::from_corners(p, q))
        } else {
            (a, b)
        }
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn boxes_are_made_from_corners_in_any_order((a, b) in strategies::pair()) {
        let hull = Aabb128::from_corners(a, b);
        prop_assert_eq!(hull, Aabb128::from_corners(b, a));
        prop_assert!(holds(&hull, &a) && holds(&hull, &b));
        let ordered = a.x <= b.x && a.y <= b.y && a.z <= b.z;
        prop_assert_eq!(Aabb128::try_new(a, b).ok(), ordered.then_some(hull));
        prop_assert_eq!(Aabb128::from_points([a, b, a]), Some(hull));
        prop_assert_eq!(Aabb128::from_point(a), Aabb128::from_corners(a, a));
    }

    #[test]
    fn boxes_know_their_measures(b in strategies::aabb()) {
        let sizes = intervals(&b).map(|(lo, hi)| hi - lo);
        prop_assert_eq!(b.size().map(BigInt::from), sizes);
        let middle = intervals(&b).map(|(lo, hi)| (lo + hi) >> 1);
        prop_assert_eq!(point(&b.center()), middle);
        prop_assert_eq!(b.corners().to_vec(), corner_list(&b));
        prop_assert_eq!(Aabb128::from_points(b.corners()), Some(b));
    }

    #[test]
    fn boxes_hold_points_exactly((b, p) in box_and_point()) {
        prop_assert_eq!(b.contains(&p), holds(&b, &p));
        prop_assert_eq!(b.contains(&p), b.distance_squared(&p).to_u128() == Some(0));
    }

    #[test]
    fn box_distances_are_exact((b, p) in box_and_point()) {
        prop_assert_eq!(from_u384(b.distance_squared(&p)), squared_gap(&b, &p));
        let nearest = b.nearest_point(&p);
        prop_assert!(holds(&b, &nearest));
        prop_assert_eq!(squared_distance(&nearest, &p), squared_gap(&b, &p));
        let corners = corner_distances(&b, &p);
        let (near, far) = (b.nearest_corner(&p), b.farthest_corner(&p));
        prop_assert!(b.corners().contains(&near) && b.corners().contains(&far));
        prop_assert_eq!(Some(&squared_distance(&near, &p)), corners.iter().min());
        prop_assert_eq!(Some(&squared_distance(&far, &p)), corners.iter().max());
    }

    #[test]
    fn box_corners_as_far_are_told_apart((b, p) in box_and_point(), tie in any::<[bool; 3]>()) {
        let (middle, at) = (b.center().to_array(), p.to_array());
        let axis = |i: usize| if tie[i] { middle[i] } else { at[i] };
        let p = WorldPosition::new(axis(0), axis(1), axis(2));
        let gaps = |c: &WorldPosition| squared_distance(c, &p);
        // Corners come in ascending order: of equal ones `max_by_key` takes the last, the largest.
        let corners = corner_list(&b);
        let far = corners.iter().max_by_key(|c| gaps(c)).copied();
        let near = corners.iter().max_by_key(|c| -gaps(c)).copied();
        prop_assert_eq!(Some(b.farthest_corner(&p)), far);
        prop_assert_eq!(Some(b.nearest_corner(&p)), near);
    }

    #[test]
    fn box_overlaps_are_exact((a, b) in two_boxes()) {
        let [x, y, z] = intervals(&a);
        let [u, v, w] = intervals(&b);
        let meet = |(a, b): (BigInt, BigInt), (c, d): (BigInt, BigInt)| (a.max(c), b.min(d));
        let join = |(a, b): (BigInt, BigInt), (c, d): (BigInt, BigInt)| (a.min(c), b.max(d));
        let both = fitting([
            meet(x.clone(), u.clone()),
            meet(y.clone(), v.clone()),
            meet(z.clone(), w.clone()),
        ]);
        prop_assert_eq!(a.intersection(&b), both);
        prop_assert_eq!(a.intersects(&b), both.is_some());
        prop_assert_eq!(a.contains_box(&b), both == Some(b));
        prop_assert_eq!(Some(a.union(&b)), fitting([join(x, u), join(y, v), join(z, w)]));
    }

    #[test]
    fn box_growth_is_exact(b in strategies::aabb(), by in strategies::radius(), wide in any::<bool>()) {
        let by = if wide { by.unsigned_abs() << 1 } else { by.unsigned_abs() };
        let exact = intervals(&b).map(|(lo, hi)| (lo - by, hi + by));
        prop_assert_eq!(b.checked_expand(by), fitting(exact.clone()));
        let clipped = exact.map(|(lo, hi)| (big(saturate(lo)), big(saturate(hi))));
        prop_assert_eq!(Some(b.saturating_expand(by)), fitting(clipped));
        let less = intervals(&b).map(|(lo, hi)| (lo + by, hi - by));
        prop_assert_eq!(b.checked_shrink(by), fitting(less));
    }

    #[test]
    fn box_movement_is_exact(b in strategies::aabb(), v in strategies::vector()) {
        let [x, y, z] = intervals(&b);
        let by = |(lo, hi): (BigInt, BigInt), c: i128| (lo + c, hi + c);
        prop_assert_eq!(b.checked_add(v), fitting([by(x, v.x), by(y, v.y), by(z, v.z)]));
    }

    #[test]
    fn box_and_sphere_are_exact(
        (b, p) in box_and_point(),
        any in strategies::radius(),
        by in -1..=1_i128,
        kind in 0..3_u8,
    ) {
        let farthest = corner_distances(&b, &p).into_iter().max().expect("eight corners");
        let radius = match kind {
            0 => any,
            1 => saturate(squared_gap(&b, &p).sqrt() + by),
            _ => saturate(farthest.sqrt() + by),
        };
        let square = big(radius) * radius;
        let valid = radius >= 0;
        prop_assert_eq!(b.intersects_sphere(&p, radius), valid && squared_gap(&b, &p) <= square);
        prop_assert_eq!(b.is_inside_sphere(&p, radius), valid && farthest <= square);
        let around = point(&p).map(|c| (&c - radius, c + radius));
        let inside = intervals(&b).iter().zip(&around).all(|(b, s)| b.0 <= s.0 && s.1 <= b.1);
        prop_assert_eq!(b.contains_sphere(&p, radius), !valid || inside);
        let clipped = around.map(|(lo, hi)| (big(saturate(lo)), big(saturate(hi))));
        let expected = fitting(clipped).filter(|_| valid);
        prop_assert_eq!(Aabb128::around_sphere(&p, radius), expected);
    }
}

#[test]
fn the_universe_holds_its_corners_and_itself() {
    let universe = Aabb128::UNIVERSE;
    assert!(universe.contains(&WorldPosition::MIN));
    assert!(universe.contains(&WorldPosition::MAX));
    assert!(universe.contains_box(&universe));
    assert_eq!(universe.size(), [u128::MAX; 3]);
    assert_eq!(universe.checked_expand(0), Some(universe));
    assert_eq!(universe.checked_expand(1), None);
}

#[test]
fn of_two_corners_as_far_the_larger_coordinate_wins() {
    let b = Aabb128::from_corners(WorldPosition::new(-2, -2, -2), WorldPosition::new(2, 2, 2));
    assert_eq!(b.nearest_corner(&WorldPosition::ORIGIN), b.max());
    assert_eq!(b.farthest_corner(&WorldPosition::ORIGIN), b.max());
    // A tie on one axis alone, with the other two decided towards either end.
    for (p, near, far) in [
        ([0, -1, 1], [2, -2, 2], [2, 2, -2]),
        ([1, 0, -1], [2, 2, -2], [-2, 2, 2]),
        ([-1, 1, 0], [-2, 2, 2], [2, -2, 2]),
        ([-9, 9, 0], [-2, 2, 2], [2, -2, 2]),
    ] {
        let p = WorldPosition::from_array(p);
        assert_eq!(b.nearest_corner(&p).to_array(), near, "{p}");
        assert_eq!(b.farthest_corner(&p).to_array(), far, "{p}");
    }
    // Of an odd length no point is in the middle.
    let odd = Aabb128::UNIVERSE;
    let p = WorldPosition::new(-1, 0, -1);
    assert_eq!(
        odd.nearest_corner(&p).to_array(),
        [i128::MIN, i128::MAX, i128::MIN]
    );
    assert_eq!(
        odd.farthest_corner(&p).to_array(),
        [i128::MAX, i128::MIN, i128::MAX]
    );
}
