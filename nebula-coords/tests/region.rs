//! Regions against big-integer arithmetic, over the whole range of coordinates and radii.

use nebula_coords::{LinearIndex, Metric, Region, SpatialQuery};
use nebula_math::{Aabb128, WorldPosition};
use num_bigint::BigInt;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Coordinates from the extremes, powers of two, sector edges, small numbers, and anywhere.
fn coordinate() -> impl Strategy<Value = i128> {
    let near = |base: i128| (-2_i128..=2).prop_map(move |d| base.saturating_add(d));
    prop_oneof![
        near(i128::MIN),
        near(i128::MAX),
        -20_i128..=20,
        (0_u32..127, any::<bool>(), -2_i128..=2).prop_map(|(bit, negative, d)| {
            let power = 1_i128 << bit;
            (if negative { -power } else { power }).saturating_add(d)
        }),
        any::<i128>(),
    ]
}

fn position() -> impl Strategy<Value = WorldPosition> {
    (coordinate(), coordinate(), coordinate()).prop_map(|(x, y, z)| WorldPosition::new(x, y, z))
}

fn big(p: &WorldPosition) -> [BigInt; 3] {
    [p.x, p.y, p.z].map(BigInt::from)
}

fn minus(a: &[BigInt; 3], b: &[BigInt; 3]) -> [BigInt; 3] {
    core::array::from_fn(|i| &a[i] - &b[i])
}

fn dot(a: &[BigInt; 3], b: &[BigInt; 3]) -> BigInt {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

/// The textbook test, with the cross product, in numbers that cannot overflow.
fn swept_twin(from: &WorldPosition, to: &WorldPosition, r: i128, p: &WorldPosition) -> bool {
    if r < 0 {
        return false;
    }
    let rr = BigInt::from(r) * BigInt::from(r);
    let v = minus(&big(to), &big(from));
    let w = minus(&big(p), &big(from));
    let (wv, vv) = (dot(&w, &v), dot(&v, &v));
    if wv <= BigInt::ZERO {
        return dot(&w, &w) <= rr;
    }
    if wv >= vv {
        let u = minus(&w, &v);
        return dot(&u, &u) <= rr;
    }
    let cross = [
        &w[1] * &v[2] - &w[2] * &v[1],
        &w[2] * &v[0] - &w[0] * &v[2],
        &w[0] * &v[1] - &w[1] * &v[0],
    ];
    dot(&cross, &cross) <= rr * vv
}

fn ball_twin(center: &WorldPosition, r: i128, metric: Metric, p: &WorldPosition) -> bool {
    let d = minus(&big(p), &big(center)).map(|d| d.magnitude().clone());
    let Ok(r) = u128::try_from(r) else {
        return false;
    };
    let r = num_bigint::BigUint::from(r);
    match metric {
        Metric::Euclidean => d.iter().map(|d| d * d).sum::<num_bigint::BigUint>() <= &r * &r,
        Metric::Manhattan => d.iter().sum::<num_bigint::BigUint>() <= r,
        Metric::Chebyshev => d.iter().all(|d| *d <= r),
    }
}

/// A point near the line through two others, so that the narrow cases are met often.
fn near_line(from: WorldPosition, to: WorldPosition, part: i32, off: [i128; 3]) -> WorldPosition {
    let axis = |a: i128, b: i128, off: i128| {
        let way = (BigInt::from(b) - BigInt::from(a)) * part / 64;
        let at: BigInt = BigInt::from(a) + way + off;
        i128::try_from(at.clamp(i128::MIN.into(), i128::MAX.into())).unwrap()
    };
    WorldPosition::new(
        axis(from.x, to.x, off[0]),
        axis(from.y, to.y, off[1]),
        axis(from.z, to.z, off[2]),
    )
}

/// The whole square root of the distance from `p` to the line, to test radii on either side of it.
fn critical_radius(from: &WorldPosition, to: &WorldPosition, p: &WorldPosition) -> i128 {
    let v = minus(&big(to), &big(from));
    let w = minus(&big(p), &big(from));
    let (wv, vv, ww) = (dot(&w, &v), dot(&v, &v), dot(&w, &w));
    let squared = if wv <= BigInt::ZERO {
        ww
    } else if wv >= vv {
        ww - 2 * wv + vv
    } else {
        ww - &wv * &wv / vv
    };
    i128::try_from(squared.sqrt()).unwrap_or(i128::MAX - 1)
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 8_000,
        rng_seed: RngSeed::Fixed(0x5ec7_0002),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn swept_sphere_equals_big_integer_test(
        from in position(), to in position(), p in position(), r in coordinate(),
    ) {
        let region = Region::swept(from, to, r);
        prop_assert_eq!(region.contains(&p), swept_twin(&from, &to, r, &p));
        prop_assert_eq!(region.contains(&p), Region::swept(to, from, r).contains(&p));
    }

    #[test]
    fn swept_sphere_is_exact_one_millimetre_around_its_surface(
        from in position(), to in position(), part in -8_i32..=72,
        off in (coordinate(), -9_i128..=9, coordinate()),
    ) {
        let p = near_line(from, to, part, [off.0, off.1, off.2]);
        let r = critical_radius(&from, &to, &p);
        for r in r.saturating_sub(1)..=r.saturating_add(1) {
            let found = Region::swept(from, to, r).contains(&p);
            prop_assert_eq!(found, swept_twin(&from, &to, r, &p), "radius {}", r);
        }
    }

    #[test]
    fn short_ways_are_exact_around_the_surface(
        from in [-40_i128..=40, -40..=40, -40..=40], to in [-40_i128..=40, -40..=40, -40..=40],
        p in [-40_i128..=40, -40..=40, -40..=40], scale in 0_u32..26, base in position(),
    ) {
        let place = |at: [i128; 3]| WorldPosition::new(
            base.x.saturating_add(at[0] << scale),
            base.y.saturating_add(at[1] << scale),
            base.z.saturating_add(at[2] << scale),
        );
        let (from, to, p) = (place(from), place(to), place(p));
        let r = critical_radius(&from, &to, &p);
        for r in [r - 1, r, r + 1, 1 << 40, i128::MAX] {
            let found = Region::swept(from, to, r).contains(&p);
            prop_assert_eq!(found, swept_twin(&from, &to, r, &p), "radius {}", r);
        }
    }

    #[test]
    fn balls_equal_big_integer_tests(center in position(), p in position(), r in coordinate()) {
        for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Chebyshev] {
            let region = Region::ball_in(center, r, metric);
            prop_assert_eq!(region.contains(&p), ball_twin(&center, r, metric, &p));
        }
        prop_assert_eq!(Region::at(center).contains(&p), center == p);
        prop_assert_eq!(
            Region::ball(center, r).contains(&p),
            Region::swept(center, center, r).contains(&p)
        );
    }

    #[test]
    fn bounds_hold_the_region_tightly(
        a in position(), b in position(), p in position(), r in coordinate(),
    ) {
        let regions = [
            Region::ball(a, r),
            Region::ball_in(a, r, Metric::Manhattan),
            Region::ball_in(a, r, Metric::Chebyshev),
            Region::Box(Aabb128::from_corners(a, b)),
            Region::swept(a, b, r),
        ];
        for region in regions {
            let Some(bounds) = region.bounds() else {
                prop_assert!(r < 0 && !region.contains(&p) && !region.contains(&a));
                continue;
            };
            prop_assert!(!region.contains(&p) || bounds.contains(&p));
            prop_assert!(region.contains(&a));
            // The low and the high x side each touch the region, straight out from a or b.
            let swept = matches!(region, Region::Swept { .. });
            let (low, high) = if swept && b.x < a.x { (b, a) } else { (a, b) };
            let high = if swept { high } else { a };
            for (from, side) in [(low, bounds.min()), (high, bounds.max())] {
                let touching = WorldPosition::new(side.x, from.y, from.z);
                prop_assert!(region.contains(&touching), "{:?} {:?}", region, touching);
            }
        }
    }
}

#[test]
fn linear_index_answers_each_kind_of_region() {
    let mut index = LinearIndex::new();
    for x in -10..=10_i128 {
        index.insert(x, WorldPosition::new(x, 0, 0));
    }
    let at = |x| WorldPosition::new(x, 0, 0);
    let corner = WorldPosition::new(-4, 3, 0);
    assert_eq!(index.query_radius(&corner, 3), [-4]);
    assert_eq!(index.query_radius(&corner, 5), (-8..=0).collect::<Vec<_>>());
    assert_eq!(index.query_radius(&corner, -1), []);
    assert_eq!(index.query_radius(&corner, i128::MAX).len(), 21);
    assert_eq!(
        index.query_box(&Aabb128::from_corners(at(9), at(99))),
        [9, 10]
    );
    assert_eq!(index.query_at(&at(-7)), [-7]);
    assert_eq!(index.query_at(&corner), []);
    let flight = Region::swept(
        WorldPosition::new(-20, 1, 0),
        WorldPosition::new(-8, 1, 0),
        1,
    );
    assert!(index.query_iter(&flight).eq([-10, -9, -8]));
    assert_eq!(index.count(&flight), 3);
    let mut out = vec![99];
    index.nearest(&corner, 3, 4, &mut out);
    assert_eq!(out, [-4, -5, -3]);
    assert!(index.contains(3) && !index.contains(11));
    assert_eq!((index.get(3), index.get(11)), (Some(at(3)), None));
}
