//! The exact test and what it is compared with. Each counts the points in reach.

#![expect(
    clippy::cast_precision_loss,
    reason = "losing digits is what the float formulas do"
)]

use nebula_math::WorldPosition;

/// A centre, a radius, and points to test; the same points as floats, for the formula that has
/// given up exact positions altogether.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) center: WorldPosition,
    pub(crate) radius: i128,
    pub(crate) points: Vec<WorldPosition>,
    pub(crate) float_center: [f64; 3],
    pub(crate) float_points: Vec<[f64; 3]>,
    /// Test each point against the one before it, and not against the centre.
    pub(crate) pairs: bool,
}

pub(crate) type Formula = fn(&Scene) -> usize;

/// The exact one first.
#[expect(
    clippy::redundant_closure,
    reason = "a formula given by name becomes one function that both loops call"
)]
pub(crate) const FORMULAS: [(&str, Formula); 4] = [
    ("is_within", |s| {
        count(s, |c, p, r| exact(c, p, r), |c, p, r| exact(c, p, r))
    }),
    ("wrapping i128", |s| {
        count(s, |c, p, r| wrapping(c, p, r), |c, p, r| wrapping(c, p, r))
    }),
    ("i128 to f64", |s| {
        count(s, |c, p, r| to_float(c, p, r), |c, p, r| to_float(c, p, r))
    }),
    ("f64 stored", stored_floats),
];

#[inline(always)]
pub(crate) fn exact(center: &WorldPosition, p: &WorldPosition, radius: i128) -> bool {
    center.is_within(p, radius)
}

/// The formula one writes first. Right while nothing wraps: differences below 2^63.
#[inline(always)]
pub(crate) fn wrapping(center: &WorldPosition, p: &WorldPosition, radius: i128) -> bool {
    let dx = center.x.wrapping_sub(p.x);
    let dy = center.y.wrapping_sub(p.y);
    let dz = center.z.wrapping_sub(p.z);
    let squared = dx
        .wrapping_mul(dx)
        .wrapping_add(dy.wrapping_mul(dy))
        .wrapping_add(dz.wrapping_mul(dz));
    squared <= radius.wrapping_mul(radius)
}

/// Differences in integers, squares in floats.
#[inline(always)]
pub(crate) fn to_float(center: &WorldPosition, p: &WorldPosition, radius: i128) -> bool {
    let dx = center.x.wrapping_sub(p.x) as f64;
    let dy = center.y.wrapping_sub(p.y) as f64;
    let dz = center.z.wrapping_sub(p.z) as f64;
    let radius = radius as f64;
    dx * dx + dy * dy + dz * dz <= radius * radius
}

/// Positions that are floats to begin with.
#[inline(always)]
pub(crate) fn stored(center: &[f64; 3], p: &[f64; 3], radius: f64) -> bool {
    let [dx, dy, dz] = [center[0] - p[0], center[1] - p[1], center[2] - p[2]];
    dx * dx + dy * dy + dz * dz <= radius * radius
}

/// Takes the formula twice, as two closures: one that both loops called would be a function of its
/// own, and the call would be timed with it.
#[inline(always)]
fn count(
    scene: &Scene,
    around: impl Fn(&WorldPosition, &WorldPosition, i128) -> bool,
    between: impl Fn(&WorldPosition, &WorldPosition, i128) -> bool,
) -> usize {
    let (center, radius, points) = (&scene.center, scene.radius, &scene.points);
    if scene.pairs {
        let pairs = points.windows(2);
        pairs
            .filter(|pair| between(&pair[0], &pair[1], radius))
            .count()
    } else {
        points.iter().filter(|p| around(center, p, radius)).count()
    }
}

fn stored_floats(scene: &Scene) -> usize {
    let (center, radius) = (&scene.float_center, scene.radius as f64);
    let points = &scene.float_points;
    if scene.pairs {
        let pairs = points.windows(2);
        pairs
            .filter(|pair| stored(&pair[0], &pair[1], radius))
            .count()
    } else {
        points.iter().filter(|p| stored(center, p, radius)).count()
    }
}
