//! Points: distances, comparisons, movement.

use core::cmp::Ordering;

use nebula_math::{IVec3_128, WorldPosition, strategies};
use num_bigint::BigInt;
use proptest::prelude::*;

use crate::twin::{
    axes, big, config, fitting, from_u384, outcome, point, saturate, squared_distance, wrap,
};

fn sums(p: &WorldPosition, v: IVec3_128) -> [BigInt; 3] {
    let ([px, py, pz], [x, y, z]) = (point(p), axes(v));
    [px + x, py + y, pz + z]
}

fn differences(a: &WorldPosition, b: &WorldPosition) -> [BigInt; 3] {
    let ([ax, ay, az], [bx, by, bz]) = (point(a), point(b));
    [ax - bx, ay - by, az - bz]
}

fn at(v: IVec3_128) -> WorldPosition {
    WorldPosition::from_array(v.to_array())
}

/// A radius at, just below or just above the distance of a pair, when one exists.
fn radius_near(a: &WorldPosition, b: &WorldPosition, by: i128) -> i128 {
    let root = squared_distance(a, b).sqrt() + by;
    saturate(root)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn distance_squared_is_exact((a, b) in strategies::pair()) {
        prop_assert_eq!(from_u384(a.distance_squared(&b)), squared_distance(&a, &b));
    }

    #[test]
    fn distance_along_axes_is_exact((a, b) in strategies::pair()) {
        let apart = differences(&a, &b).map(|d| BigInt::from(d.magnitude().clone()));
        prop_assert_eq!(a.abs_diff(&b).map(BigInt::from), apart.clone());
        prop_assert_eq!(from_u384(a.manhattan_distance(&b)), apart.iter().sum::<BigInt>());
        prop_assert_eq!(Some(big(a.chebyshev_distance(&b))), apart.into_iter().max());
    }

    #[test]
    fn distance_test_is_within_is_exact(
        (a, b) in strategies::pair(),
        any in strategies::radius(),
        by in -1..=1_i128,
        near in any::<bool>(),
    ) {
        let radius = if near { radius_near(&a, &b, by) } else { any };
        let exact = radius >= 0 && squared_distance(&a, &b) <= big(radius) * big(radius);
        prop_assert_eq!(a.is_within(&b, radius), exact);
        prop_assert_eq!(b.is_within(&a, radius), exact);
    }

    #[test]
    fn distance_comparison_is_exact(
        p in strategies::position(),
        (a, b) in strategies::pair(),
        mirror in any::<bool>(),
    ) {
        // A mirrored point is exactly as far, which random points never are.
        let b = match p.offset_to(&a).and_then(|v| p.checked_sub(v)) {
            Some(mirrored) if mirror => mirrored,
            _ => b,
        };
        let exact = squared_distance(&p, &a).cmp(&squared_distance(&p, &b));
        prop_assert_eq!(p.cmp_distance(&a, &b), exact);
        prop_assert_eq!(p.cmp_distance(&b, &a), exact.reverse());
        prop_assert_eq!(p.cmp_distance(&a, &a), Ordering::Equal);
    }

    #[test]
    fn midpoint_rounds_down((a, b) in strategies::pair()) {
        let ([ax, ay, az], [bx, by, bz]) = (point(&a), point(&b));
        let exact = [(ax + bx) >> 1, (ay + by) >> 1, (az + bz) >> 1];
        prop_assert_eq!(point(&a.midpoint(&b)), exact);
    }

    #[test]
    fn corners_of_two_points((a, b) in strategies::pair()) {
        let low = [a.x.min(b.x), a.y.min(b.y), a.z.min(b.z)];
        let high = [a.x.max(b.x), a.y.max(b.y), a.z.max(b.z)];
        prop_assert_eq!(a.min_corner(b).to_array(), low);
        prop_assert_eq!(a.max_corner(b).to_array(), high);
    }

    #[test]
    fn offsets_lead_from_point_to_point((a, b) in strategies::pair()) {
        let exact = fitting(differences(&b, &a));
        prop_assert_eq!(a.offset_to(&b), exact);
        prop_assert_eq!(outcome(|| b - a), exact);
        let wrapped = IVec3_128::from_array(differences(&b, &a).map(wrap));
        prop_assert_eq!(a.wrapping_offset_to(&b), wrapped);
        prop_assert_eq!(a.wrapping_add(wrapped), b);
        if let Some(offset) = exact {
            prop_assert_eq!(a + offset, b);
        }
    }

    #[test]
    fn movement_is_exact_in_every_form(p in strategies::position(), v in strategies::vector()) {
        let there = sums(&p, v);
        let moved = fitting(there.clone()).map(at);
        prop_assert_eq!(p.checked_add(v), moved);
        prop_assert_eq!(outcome(|| p + v), moved);
        prop_assert_eq!(outcome(|| { let mut q = p; q += v; q }), moved);
        prop_assert_eq!(p.saturating_add(v).to_array(), there.clone().map(saturate));
        prop_assert_eq!(p.wrapping_add(v).to_array(), there.map(wrap));

        let back = differences(&p, &at(v));
        let moved = fitting(back.clone()).map(at);
        prop_assert_eq!(p.checked_sub(v), moved);
        prop_assert_eq!(outcome(|| p - v), moved);
        prop_assert_eq!(outcome(|| { let mut q = p; q -= v; q }), moved);
        prop_assert_eq!(p.saturating_sub(v).to_array(), back.clone().map(saturate));
        prop_assert_eq!(p.wrapping_sub(v).to_array(), back.map(wrap));
    }
}

#[test]
fn radii_around_the_switch_to_wide_squares_are_exact() {
    // Below 2^62 halves of 64 bits do; each side of that is a different path, and 2^63 and 2^64 are
    // where such halves would break.
    let around = [
        (1 << 62) - 1,
        (1 << 62) + 1,
        (1 << 62) + (1 << 61),
        (1 << 63) - 1,
        1 << 63,
        (1 << 63) + 1,
        (1 << 63) + (1 << 40),
        (1 << 63) + (1 << 62) + 1,
        3 << 62,
        (1 << 64) - (1 << 50),
        (1 << 64) - 1,
    ];
    for r in [1 << 62, 1 << 64, i128::MAX].into_iter().chain(around) {
        let edge = WorldPosition::new(0, -r, 0);
        assert!(WorldPosition::ORIGIN.is_within(&edge, r), "{r}");
        assert!(!WorldPosition::ORIGIN.is_within(&edge, r - 1), "{r}");
        let beside = WorldPosition::new(1, -r, 0);
        assert!(!WorldPosition::ORIGIN.is_within(&beside, r), "{r}");
    }
    // This x needs all of 64 bits: taken for a signed number it would look near.
    let (p, r) = (WorldPosition::new(3 << 62, 1 << 50, 0), (3 << 62) + 1);
    assert!(!WorldPosition::ORIGIN.is_within(&p, r));
}

#[test]
fn distances_around_the_switch_to_wide_squares_compare_exactly() {
    let far = |d: i128| WorldPosition::new(d, -d, d);
    for d in [
        (1 << 63) - 1,
        1 << 63,
        (1 << 63) + 1,
        (1 << 64) - 1,
        1 << 64,
    ] {
        let order = WorldPosition::ORIGIN.cmp_distance(&far(d - 1), &far(d));
        assert_eq!(order, Ordering::Less, "{d}");
        let order = WorldPosition::ORIGIN.cmp_distance(&far(d), &WorldPosition::new(1, 0, 0));
        assert_eq!(order, Ordering::Greater, "{d}");
    }
    // The first sum is 1.7 * 2^128, which wraps to less than the second.
    let near = WorldPosition::new((1 << 64) - 1, 0, 0);
    let order = WorldPosition::ORIGIN.cmp_distance(&far(3 << 62), &near);
    assert_eq!(order, Ordering::Greater);
    // These two squares add up to 2^128 and a little: in 128 bits, to the little alone.
    let a = WorldPosition::new(13_043_817_825_332_782_213, 13_043_817_825_332_782_213, 0);
    let b = WorldPosition::new(1 << 63, 0, 0);
    let order = WorldPosition::ORIGIN.cmp_distance(&a, &b);
    assert_eq!(order, Ordering::Greater);
}

#[test]
fn spheres_that_reach_past_the_universe_do_not_wrap_around() {
    // Modulo 2^128 these neighbours across the ends are one apart.
    for r in [1, 500_000, (1 << 63) - 1, 1 << 63, i128::MAX] {
        assert!(!WorldPosition::MIN.is_within(&WorldPosition::MAX, r), "{r}");
        let low = WorldPosition::new(i128::MIN + (r - 1) / 2, 0, 0);
        let end = WorldPosition::new(i128::MAX, 0, 0);
        assert!(!low.is_within(&end, r), "{r}");
        assert!(!end.is_within(&low, r), "{r}");
    }
}

#[test]
fn the_outer_half_of_the_universe_is_as_exact_as_the_middle() {
    for at in [
        0,
        (1 << 126) - 1,
        1 << 126,
        -1 << 126,
        (-1 << 126) - 1,
        i128::MAX - 5,
    ] {
        let center = WorldPosition::new(0, at, 0);
        let edge = WorldPosition::new(3, at + 4, 0);
        assert!(center.is_within(&edge, 5), "{at}");
        assert!(!center.is_within(&edge, 4), "{at}");
    }
}

#[test]
fn points_that_look_near_in_the_low_half_are_far() {
    let r = 500_000;
    let below = [3 << 62, (1 << 64) - 1 - r, (1 << 64) - r, (1 << 64) - 1];
    let powers = (63..127).map(|k| 1_i128 << k);
    for far in powers.chain(below) {
        for along in [-far, far] {
            for axis in 0..3 {
                let mut at = [0; 3];
                at[axis] = along;
                let p = WorldPosition::from_array(at);
                assert!(!WorldPosition::ORIGIN.is_within(&p, r), "{p}");
                assert!(!p.is_within(&WorldPosition::ORIGIN, r), "{p}");
            }
        }
    }
}
