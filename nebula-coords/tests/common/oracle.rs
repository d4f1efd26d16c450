//! The truth: regions and distances in big-integer arithmetic, which cannot overflow or round.

use nebula_coords::{Metric, Region};
use nebula_math::WorldPosition;
use num_bigint::BigInt;

/// Returns whether the region holds the point, by textbook formulas over big integers.
pub(crate) fn contains(region: &Region, p: &WorldPosition) -> bool {
    match *region {
        Region::Ball {
            center,
            radius_mm,
            metric,
        } => radius_mm >= 0 && in_ball(&center, radius_mm, metric, p),
        Region::Box(aabb) => {
            let (lo, hi) = (axes(&aabb.min()), axes(&aabb.max()));
            let p = axes(p);
            (0..3).all(|i| lo[i] <= p[i] && p[i] <= hi[i])
        }
        Region::Swept {
            from,
            to,
            radius_mm,
        } => radius_mm >= 0 && in_swept(&from, &to, radius_mm, p),
    }
}

/// Returns the exact squared distance.
pub(crate) fn distance_squared(a: &WorldPosition, b: &WorldPosition) -> BigInt {
    let v = minus(a, b);
    dot(&v, &v)
}

/// Returns the ids of all points in the region, in id order.
pub(crate) fn ids_in(points: &[(u32, WorldPosition)], region: &Region) -> Vec<u32> {
    let mut ids: Vec<u32> = points
        .iter()
        .filter(|(_, p)| contains(region, p))
        .map(|(id, _)| *id)
        .collect();
    ids.sort_unstable();
    ids
}

/// Returns the `k` ids nearest to `at` within the limit, by (distance, id).
pub(crate) fn nearest(
    points: &[(u32, WorldPosition)],
    at: &WorldPosition,
    k: usize,
    limit_mm: i128,
) -> Vec<u32> {
    if limit_mm < 0 {
        return Vec::new();
    }
    let limit = BigInt::from(limit_mm) * limit_mm;
    let mut found: Vec<(BigInt, u32)> = points
        .iter()
        .map(|(id, p)| (distance_squared(at, p), *id))
        .filter(|(d, _)| *d <= limit)
        .collect();
    found.sort_unstable();
    found.into_iter().take(k).map(|(_, id)| id).collect()
}

fn in_ball(center: &WorldPosition, radius_mm: i128, metric: Metric, p: &WorldPosition) -> bool {
    let r = BigInt::from(radius_mm);
    let mut v = minus(p, center);
    match metric {
        Metric::Euclidean => dot(&v, &v) <= &r * &r,
        Metric::Manhattan | Metric::Chebyshev => {
            for d in &mut v {
                if *d < BigInt::ZERO {
                    *d = -&*d;
                }
            }
            if metric == Metric::Manhattan {
                v.iter().sum::<BigInt>() <= r
            } else {
                v.iter().all(|d| *d <= r)
            }
        }
    }
}

/// Distance to a segment without division: beyond an end it is the distance to that end, and
/// beside the segment both sides are multiplied by the squared length.
fn in_swept(from: &WorldPosition, to: &WorldPosition, radius_mm: i128, p: &WorldPosition) -> bool {
    let r2 = BigInt::from(radius_mm) * radius_mm;
    let along = minus(to, from);
    let v = minus(p, from);
    let length2 = dot(&along, &along);
    let t = dot(&v, &along);
    if t <= BigInt::ZERO {
        dot(&v, &v) <= r2
    } else if t >= length2 {
        distance_squared(p, to) <= r2
    } else {
        dot(&v, &v) * &length2 - &t * &t <= r2 * length2
    }
}

fn axes(p: &WorldPosition) -> [BigInt; 3] {
    [p.x.into(), p.y.into(), p.z.into()]
}

fn minus(a: &WorldPosition, b: &WorldPosition) -> [BigInt; 3] {
    let (a, b) = (axes(a), axes(b));
    [&a[0] - &b[0], &a[1] - &b[1], &a[2] - &b[2]]
}

fn dot(a: &[BigInt; 3], b: &[BigInt; 3]) -> BigInt {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}
