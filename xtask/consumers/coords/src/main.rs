//! Uses nebula-coords as a dependant does, with nothing but that crate in its manifest.

use nebula_coords::nebula_math::WorldPosition;
use nebula_coords::{LinearIndex, Region, SectorKey, SpatialIndex, SpatialQuery};

fn main() {
    // Two neighbours on either side of a sector border, and one at the other end of space.
    let border = 1_i128 << 32;
    let points = [
        (1_u32, WorldPosition::new(border - 1, 0, 0)),
        (2, WorldPosition::new(border, 0, 0)),
        (3, WorldPosition::new(i128::MIN, 0, 0)),
    ];
    assert_ne!(
        SectorKey::from_world(&points[0].1),
        SectorKey::from_world(&points[1].1)
    );

    let ball = Region::ball(WorldPosition::new(border, 0, 0), 1);
    let index = SpatialIndex::from_points(&points);
    assert_eq!(found(&index, &ball), [1, 2]);

    let mut twin = LinearIndex::new();
    for (id, at) in points {
        twin.insert(id, at);
    }
    assert_eq!(found(&twin, &ball), [1, 2]);
    println!("nebula-coords: found both sides of a sector border");
}

/// Asks any index through the trait that they share.
fn found(index: &dyn SpatialQuery<Id = u32>, region: &Region) -> Vec<u32> {
    let mut out = Vec::new();
    index.collect(region, &mut out);
    out.sort_unstable();
    out
}
