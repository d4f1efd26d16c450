//! Places that are far from each other, and near for whoever calculates wrongly.

use nebula_math::WorldPosition;

/// At one end of the universe.
pub(crate) const HERE: WorldPosition = WorldPosition::new(i128::MIN, 0, 5);

/// In wrapping arithmetic 2^64 squares to 0, and the ends of the universe are neighbours. The first is
/// 2^64 away, and none is nearer.
pub(crate) const FAR: [WorldPosition; 7] = [
    WorldPosition::new(i128::MIN + (1 << 64), 0, 5),
    WorldPosition::new(i128::MIN + (1 << 64), 1 << 64, 5 + (1 << 64)),
    WorldPosition::new(i128::MIN, -(1 << 96), 5),
    WorldPosition::new(-1, 0, 5),
    WorldPosition::new(0, 0, 5),
    WorldPosition::new(i128::MAX, 0, 5),
    WorldPosition::new(i128::MAX, i128::MAX, i128::MAX),
];
