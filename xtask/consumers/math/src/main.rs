//! Uses nebula-math as a dependant does: distances that stay exact at the edge of space.

use nebula_math::WorldPosition;

fn main() {
    let ship = WorldPosition::new(i128::MIN, -1, 0);
    let buoy = WorldPosition::new(i128::MIN + 300, -401, 0);
    assert!(ship.is_within(&buoy, 500));
    assert!(!ship.is_within(&buoy, 499));

    let corner = WorldPosition::new(i128::MAX, i128::MAX, i128::MAX);
    assert!(!ship.is_within(&corner, i128::MAX));
    assert_eq!(ship.chebyshev_distance(&corner), u128::MAX);
    println!("nebula-math: exact at the edge of space");
}
