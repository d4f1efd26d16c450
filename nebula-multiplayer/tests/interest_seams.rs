//! Cube faces, sector seams and the ends of the universe are no borders to interest.

use nebula_coords::{FaceCoord, Planet, SpatialIndex};
use nebula_math::{IVec3_128, WorldPosition};
use nebula_multiplayer::interest::{
    Area, ClientFacts, Facts, Interest, entities_in_interest_area, within_interest,
};
use nebula_multiplayer::{ClientId, NetworkId};

const CLIENT: ClientId = ClientId::new(7);

/// Farther out than a float could tell kilometres apart.
const FAR: WorldPosition = WorldPosition::new(1 << 126, -(1 << 125), i128::MIN + (1 << 34));

/// The twelve edges and eight corners of the cube, as signs of the axes; 0 runs along the edge.
fn seams() -> Vec<[i128; 3]> {
    let mut seams = Vec::new();
    for x in -1..=1 {
        for y in -1..=1 {
            for z in -1..=1_i128 {
                if [x, y, z].iter().filter(|sign| **sign != 0).count() >= 2 {
                    seams.push([x, y, z]);
                }
            }
        }
    }
    seams
}

/// The same place at altitude 0.
fn ground(place: FaceCoord) -> FaceCoord {
    FaceCoord::new(place.face(), place.u(), place.v(), 0).unwrap()
}

#[test]
fn cube_face_edges_and_corners_are_no_seams() {
    let planet = Planet::new(FAR, 6_371_000_000).unwrap();
    let seams = seams();
    assert_eq!(seams.len(), 12 + 8);
    for seam in seams {
        let mut faces = Vec::new();
        let mut places = Vec::new();
        // Around the seam, one place per face that meets there, 100 m or so from it.
        for axis in 0..3 {
            if seam[axis] == 0 {
                continue;
            }
            let mut toward = seam.map(|sign| sign * 1_000_000);
            toward[axis] += seam[axis] * 16;
            let [x, y, z] = toward.map(|part| part * 10_000);
            let face = planet.to_face(&(FAR + IVec3_128::new(x, y, z))).unwrap();
            let at = planet.to_world(&ground(face)).unwrap();
            faces.push(face.face());
            places.push(at);
        }
        faces.sort();
        faces.dedup();
        assert_eq!(
            faces.len(),
            places.len(),
            "{seam:?}: one face each, {faces:?}"
        );

        let mut interest = Interest::new();
        let mut index = SpatialIndex::new();
        for (i, at) in (0..).zip(&places) {
            interest.insert(NetworkId::new(i, 0), Facts::at(*at));
            index.insert(i, *at);
        }
        // The other side of the planet is on the opposite faces, 12,000 km away.
        let opposite = WorldPosition::new(
            FAR.x - (places[0].x - FAR.x),
            FAR.y - (places[0].y - FAR.y),
            FAR.z - (places[0].z - FAR.z),
        );
        interest.insert(NetworkId::new(9, 0), Facts::at(opposite));
        for (number, at) in (0..).zip(&places) {
            let client = ClientId::new(number);
            interest.add_client(client, ClientFacts::default());
            interest.set_areas(client, &[Area::new(*at, 500_000)]);
        }
        interest.update();
        for (number, at) in (0..).zip(&places) {
            let set = interest.set(ClientId::new(number)).unwrap();
            assert_eq!(
                set.len(),
                places.len(),
                "{seam:?}: every face that meets here, and no other"
            );
            let found = entities_in_interest_area(&index, at, 500.0);
            assert_eq!(found.len(), places.len());
        }
    }
}

#[test]
fn sector_seams_and_the_ends_of_the_universe_are_no_borders() {
    let mut interest = Interest::new();
    interest.add_client(CLIENT, ClientFacts::default());
    let edges = [
        0,
        1 << 32,
        -(1 << 32),
        1 << 64,
        -(1 << 96),
        i128::MAX,
        i128::MIN,
    ];
    for x in edges {
        for y in edges {
            let center = WorldPosition::new(x, y, i128::MIN);
            let mut id = 0;
            interest.set_areas(CLIENT, &[Area::new(center, 500_000)]);
            let mut inside = 0;
            for (dx, dy) in [
                (-300_000, 400_000),
                (300_000, -400_000),
                (0, 500_001),
                (500_000, 0),
            ] {
                let (Some(ex), Some(ey)) = (x.checked_add(dx), y.checked_add(dy)) else {
                    continue;
                };
                let at = WorldPosition::new(ex, ey, i128::MIN);
                inside += usize::from(dy != 500_001);
                assert_eq!(within_interest(&center, &at, 500.0), dy != 500_001);
                interest.insert(NetworkId::new(id, 0), Facts::at(at));
                id += 1;
            }
            interest.update();
            assert_eq!(interest.set(CLIENT).unwrap().len(), inside, "at {center:?}");
            for id in 0..id {
                interest.remove(NetworkId::new(id, 0));
            }
        }
    }
}
