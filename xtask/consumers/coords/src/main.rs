//! Uses nebula-coords as a dependant does, with nothing but that crate in its manifest.

use nebula_coords::nebula_math::WorldPosition;
use nebula_coords::{LinearIndex, Region, SpatialQuery as _};

fn main() {
    // Two neighbours on either side of a sector border, and one at the other end of space.
    let border = 1_i128 << 32;
    let mut index = LinearIndex::new();
    index.insert(1_u32, WorldPosition::new(border - 1, 0, 0));
    index.insert(2, WorldPosition::new(border, 0, 0));
    index.insert(3, WorldPosition::new(i128::MIN, 0, 0));

    let mut near = Vec::new();
    index.collect(&Region::ball(WorldPosition::new(border, 0, 0), 1), &mut near);
    assert_eq!(near, [1, 2]);
    println!("nebula-coords: found both sides of a sector border");
}
