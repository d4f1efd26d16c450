//! Feature `proptest`: strategies that look for trouble at the edges of `i128`.
//!
//! Uniform 128-bit values are nearly always huge, so they miss ties, cell edges and overflow by one.
//! These strategies mix them with the values at which arithmetic breaks.

use proptest::prelude::{Strategy, any};

use crate::{Aabb128, IVec3_128, WorldPosition};

/// Draws a coordinate: anything, `MIN`, `MAX`, 0, near `±2^k`, random bits of a random
/// length, near a multiple of 2^32, or small.
///
/// ```
/// use nebula_math::strategies;
/// use proptest::prelude::*;
///
/// proptest!(|(x in strategies::coordinate())| {
///     prop_assert_eq!(x.abs_diff(0), x.unsigned_abs());
/// });
/// ```
pub fn coordinate() -> impl Strategy<Value = i128> + Clone {
    // One flat tuple and a `match`: nested `prop_oneof!`s make value trees of many kilobytes, and
    // three boxes of them overflow a test thread's stack. Kinds shrink towards small values.
    (0..21_u8, any::<i128>(), 0..127_u32, -2..=2_i128).prop_map(|(kind, any, k, near)| match kind {
        0 => 0,
        1..=3 => any % 1_001,
        4..=6 => (1_i128 << k).saturating_add(near),
        7..=9 => (-1_i128 << k).saturating_add(near),
        10 => ((any.rem_euclid(7) - 3) << 32).saturating_add(near),
        11 | 12 => (any >> 32 << 32).saturating_add(near),
        13 => i128::MAX,
        14 => i128::MIN,
        15 => i128::MAX.saturating_sub(near.abs()),
        16 => i128::MIN.saturating_add(near.abs()),
        // Powers of two alone leave no middle between them: a limit that is off by one bit hides there.
        17..=19 => any >> k,
        _ => any,
    })
}

/// Draws a point of three independent [`coordinate`]s, or one whose coordinates are alike.
pub fn position() -> impl Strategy<Value = WorldPosition> + Clone {
    vector().prop_map(|v| WorldPosition::new(v.x, v.y, v.z))
}

/// Draws a displacement of three independent [`coordinate`]s, or one whose components are alike.
pub fn vector() -> impl Strategy<Value = IVec3_128> + Clone {
    let axes = [coordinate(), coordinate(), coordinate()];
    (axes, 0..4_u8).prop_map(|([x, y, z], kind)| match kind {
        0 => IVec3_128::new(x, x.saturating_add(y % 3), x.saturating_sub(z % 3)),
        _ => IVec3_128::new(x, y, z),
    })
}

/// Draws a radius in millimetres: mostly valid ones, zero and `MAX` included, and some negative.
pub fn radius() -> impl Strategy<Value = i128> + Clone {
    (coordinate(), 0..9_u8).prop_map(|(r, kind)| match kind {
        0 | 1 => (r % 2_001).abs(),
        2 => r,
        _ => r.checked_abs().unwrap_or(i128::MAX),
    })
}

/// Draws a box: between two [`position`]s, a single point, or the whole universe.
pub fn aabb() -> impl Strategy<Value = Aabb128> + Clone {
    (pair(), 0..11_u8).prop_map(|((a, b), kind)| match kind {
        0 => Aabb128::from_corners(a, a),
        1 => Aabb128::UNIVERSE,
        _ => Aabb128::from_corners(a, b),
    })
}

/// Draws two points, half of the time within 50 mm per axis, so that distances meet small radii
/// and each other.
///
/// ```
/// use nebula_math::strategies;
/// use proptest::prelude::*;
///
/// proptest!(|((a, b) in strategies::pair())| {
///     prop_assert_eq!(a.distance_squared(&b), b.distance_squared(&a));
/// });
/// ```
pub fn pair() -> impl Strategy<Value = (WorldPosition, WorldPosition)> + Clone {
    (position(), position(), any::<bool>()).prop_map(|(a, b, apart)| {
        let close = WorldPosition::new(
            a.x.saturating_add(b.x % 51),
            a.y.saturating_add(b.y % 51),
            a.z.saturating_add(b.z % 51),
        );
        (a, if apart { b } else { close })
    })
}
