//! Coordinates that break things: clusters, identical points, sector edges, sign changes, powers of
//! two, and the ends of the universe.

use nebula_math::WorldPosition;

use super::source::Source;

/// Shorthand for a position.
pub(crate) const fn at(x: i128, y: i128, z: i128) -> WorldPosition {
    WorldPosition::new(x, y, z)
}

/// One sector: 2^32 mm.
pub(crate) const SECTOR: i128 = 1 << 32;

/// How the points of one sequence lie in space.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spread {
    /// Within some kilometres of an anchor.
    Cluster,
    /// On a handful of spots, over and over.
    Identical,
    /// Within two millimetres of a sector's edge, on every axis.
    SectorEdge,
    /// Within two millimetres of zero, of a power of two, or of an end of the universe.
    Extremes,
    /// A few millimetres around zero.
    Sign,
    /// At plus or minus a power of two, or one beside it.
    Powers,
    /// Anywhere in the universe.
    Anywhere,
    /// Each axis chosen from any of the above.
    Mixed,
}

/// Every spread, to choose from.
pub(crate) const SPREADS: [Spread; 8] = [
    Spread::Cluster,
    Spread::Identical,
    Spread::SectorEdge,
    Spread::Extremes,
    Spread::Sign,
    Spread::Powers,
    Spread::Anywhere,
    Spread::Mixed,
];

/// Returns a position of the spread near the anchor, where the spread has one.
pub(crate) fn position(
    s: &mut impl Source,
    spread: Spread,
    anchor: &WorldPosition,
) -> WorldPosition {
    at(
        coordinate(s, spread, anchor.x),
        coordinate(s, spread, anchor.y),
        coordinate(s, spread, anchor.z),
    )
}

/// Returns a radius: small, around a power of two, an extreme, or negative.
pub(crate) fn radius(s: &mut impl Source) -> i128 {
    match s.below(8) {
        0 => i128::from(s.below(4)),
        1 => i128::from(s.below(1 << 16)),
        2 => i128::from(s.below(1 << 40)),
        3 | 4 => around_power(s).saturating_abs(),
        5 => s.wide().saturating_abs(),
        6 => s.pick(&[i128::MAX, i128::MAX - 1, SECTOR, SECTOR - 1, SECTOR + 1]),
        _ => s.pick(&[0, -1, i128::MIN, 500_000, 1 << 64, 1 << 96, 1]),
    }
}

fn coordinate(s: &mut impl Source, spread: Spread, anchor: i128) -> i128 {
    match spread {
        Spread::Cluster => {
            let bits = s.pick(&[4, 12, 20, 30, 34]);
            anchor.saturating_add(i128::from(s.below(1 << bits)) - (1 << (bits - 1)))
        }
        Spread::Identical => anchor.saturating_add(s.pick(&[0, 0, 0, 1, 1 << 40])),
        Spread::SectorEdge => {
            let sector = s.pick(&[-2, -1, 0, 1, 2, 1 << 60, -(1 << 60)]);
            sector * SECTOR + s.pick(&[-2, -1, 0, 1])
        }
        Spread::Extremes => match s.below(3) {
            0 => i128::MIN.saturating_add(i128::from(s.below(3))),
            1 => i128::MAX.saturating_sub(i128::from(s.below(3))),
            _ => around_power(s),
        },
        Spread::Sign => i128::from(s.below(7)) - 3,
        Spread::Powers => around_power(s),
        Spread::Anywhere => s.wide(),
        Spread::Mixed => {
            let one = s.index(SPREADS.len() - 1);
            coordinate(s, SPREADS[one], anchor)
        }
    }
}

fn around_power(s: &mut impl Source) -> i128 {
    let power = 1_i128.checked_shl(u32::try_from(s.below(128)).expect("small"));
    let power = power.unwrap_or(0); // 2^127 wraps to MIN, which is wanted too.
    let signed = if s.below(2) == 0 {
        power
    } else {
        power.wrapping_neg()
    };
    signed.saturating_add(s.pick(&[-2, -1, 0, 1, 2]))
}
