//! Planets: the stated error bounds against big integers, and the 12 edges and 8 corners.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use common::grids::{DefaultGrid, DefaultSorted};
use common::index::TestIndex;
use nebula_coords::{
    CubeFace, EntityId, FaceCoord, LinearIndex, Planet, PlanetError, Region, SpatialHashMap,
    SpatialIndex,
};
use nebula_math::{IVec3_128, WorldPosition};
use num_bigint::BigInt;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const EARTH_RADIUS_MM: i128 = 6_371_000_000;

/// An Earth whose surface crosses several sectors on both sides of zero.
fn earth() -> Planet {
    Planet::new(
        WorldPosition::new(-1_234_567, 1 << 40, -(1 << 32)),
        EARTH_RADIUS_MM,
    )
    .unwrap()
}

/// A number times 2^1074, which makes every finite `f64` up to 1 whole.
fn whole(value: f64) -> BigInt {
    let bits = value.abs().to_bits();
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let size = match exponent {
        0 => BigInt::from(fraction),
        e => BigInt::from(fraction | 1 << 52) << (e - 1),
    };
    if value.is_sign_negative() {
        -size
    } else {
        size
    }
}

/// The exact real position of a place relative to the centre, times 2^GUARD and rounded down.
fn exact_offset(place: &FaceCoord, distance: i128) -> [BigInt; 3] {
    let (n, u, v) = (
        place.face().normal(),
        place.face().u_axis(),
        place.face().v_axis(),
    );
    let part =
        |n: i128, u: i128, v: i128| whole(1.0) * n + whole(place.u()) * u + whole(place.v()) * v;
    let through = [
        part(n.x, u.x, v.x),
        part(n.y, u.y, v.y),
        part(n.z, u.z, v.z),
    ];
    let squared: BigInt = through.iter().map(|c| c * c).sum();
    let length = (squared << (2 * GUARD)).sqrt();
    through.map(|c| ((c * distance) << (2 * GUARD)) / &length)
}

/// Bits kept beyond the millimetre in the big-integer twin.
const GUARD: u32 = 160;

/// Asserts that `got` is within `half_mm / 2 + distance * 2^-shift` of the exact offset.
fn assert_within(got: i128, exact: &BigInt, half_mm: u32, distance: i128, shift: u32) {
    let error = (BigInt::from(got) << GUARD) - exact;
    let bound =
        (BigInt::from(half_mm) << (GUARD - 1)) + (BigInt::from(distance) << (GUARD - shift));
    assert!(
        error.magnitude() <= bound.magnitude(),
        "off by {error} / 2^{GUARD} mm"
    );
}

fn face() -> impl Strategy<Value = CubeFace> {
    prop::sample::select(CubeFace::ALL.to_vec())
}

/// Face coordinates anywhere, and often at the middle, the edge, or next to either.
fn unit() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => -1.0..=1.0_f64,
        1 => prop::sample::select(vec![
            -1.0, 1.0, 0.0, -0.0, 0.5, f64::MIN_POSITIVE, 5e-324, -1.0 + f64::EPSILON,
            1.0 - f64::EPSILON / 2.0, 1e-17, -1e-9,
        ]),
    ]
}

/// Radii of every size, up to the largest that fits around the origin.
fn radius() -> impl Strategy<Value = i128> {
    (0_u32..127, any::<u128>()).prop_map(|(bits, noise)| {
        let top = 1_i128 << bits;
        top + i128::try_from(noise % (1_u128 << bits)).unwrap()
    })
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x5ec7_0003),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(3_000))]

    #[test]
    fn positions_are_within_the_stated_bound(
        face in face(), u in unit(), v in unit(), radius in radius(), share in -64_i128..=16,
    ) {
        let planet = Planet::new(WorldPosition::ORIGIN, radius).unwrap();
        let altitude = radius / 64 * share;
        let place = FaceCoord::new(face, u, v, altitude).unwrap();
        let Some(distance) = radius.checked_add(altitude) else {
            prop_assert!(planet.to_world(&place).is_err());
            return Ok(());
        };
        let Ok(at) = planet.to_world(&place) else {
            // Only a distance next to the end of the universe may round past it.
            prop_assert!(distance > i128::MAX - (1 << 77));
            return Ok(());
        };
        let exact = exact_offset(&place, distance);
        for (got, exact) in [at.x, at.y, at.z].into_iter().zip(&exact) {
            assert_within(got, exact, 1, distance, 50);
        }
    }

    #[test]
    fn there_and_back_moves_at_most_the_stated_bound(
        x in any::<i128>(), y in any::<i128>(), z in any::<i128>(), shift in 1_u32..126, radius in radius(),
        center in [any::<i128>(), any::<i128>(), any::<i128>()],
    ) {
        let center = center.map(|c| c >> 2);
        let center = WorldPosition::new(center[0], center[1], center[2]);
        let Ok(planet) = Planet::new(center, radius >> 2 | 1) else { unreachable!("both are below 2^126") };
        let offset = IVec3_128::new(x >> shift >> 2, y >> shift >> 2, z >> shift >> 2);
        let at = center + offset;
        let place = match planet.to_face(&at) {
            Ok(place) => place,
            Err(error) => {
                prop_assert_eq!(at, center);
                prop_assert_eq!(error, PlanetError::AtCenter { center });
                return Ok(());
            }
        };
        let distance = planet.radius_mm() + place.altitude_mm();
        let again = planet.to_world(&place).unwrap();
        for (got, from) in [(again.x, at.x), (again.y, at.y), (again.z, at.z)] {
            assert_within(got, &(BigInt::from(from) << GUARD), 2, distance, 49);
        }
    }

    #[test]
    fn altitude_is_the_nearest_millimetre(
        at in [any::<i128>(), any::<i128>(), any::<i128>()], shift in 0_u32..127, radius in radius(),
    ) {
        let at = at.map(|c| c >> shift);
        let planet = Planet::new(WorldPosition::ORIGIN, radius).unwrap();
        let altitude = planet.altitude_mm(&WorldPosition::new(at[0], at[1], at[2]));
        let squared: BigInt = at.iter().map(|c| BigInt::from(*c) * BigInt::from(*c)).sum();
        // Twice the distance, rounded down, then plus one and halved: the nearest whole number.
        let nearest: BigInt = ((squared * 4_u32).sqrt() + 1_u32) / 2_u32;
        prop_assert_eq!(altitude, i128::try_from(nearest - radius).ok());
    }

    #[test]
    fn no_center_radius_or_altitude_panics(
        center in [any::<i128>(), any::<i128>(), any::<i128>()], at in [any::<i128>(), any::<i128>(), any::<i128>()],
        radius in any::<i128>(), altitude in any::<i128>(), near_end in 0..6_usize, face in face(), u in unit(), v in unit(),
    ) {
        let mut center = center;
        if near_end < 3 {
            center[near_end] = i128::MAX - (radius & 0xff);
        }
        let center = WorldPosition::new(center[0], center[1], center[2]);
        let at = WorldPosition::new(at[0], at[1], at[2]);
        for radius in [radius, radius & 0xff] {
            let Ok(planet) = Planet::new(center, radius) else { continue };
            let _ = planet.to_face(&at);
            for altitude in [altitude, altitude & 0xff, -(altitude & 0xff)] {
                let place = FaceCoord::new(face, u, v, altitude).unwrap();
                if let Ok(at) = planet.to_world(&place) {
                    prop_assert!(altitude >= -radius);
                    let _ = planet.to_face(&at);
                }
            }
        }
    }
}

/// The place on `face` through the point of the cube's surface, given by its x, y, z.
fn on_face(face: CubeFace, cube: [f64; 3], altitude_mm: i128) -> FaceCoord {
    let along = |axis: IVec3_128| match (axis.x, axis.y) {
        (1, 0) => cube[0],
        (0, 1) => cube[1],
        _ => cube[2],
    };
    FaceCoord::new(
        face,
        along(face.u_axis()),
        along(face.v_axis()),
        altitude_mm,
    )
    .unwrap()
}

/// The faces that a point of the cube's surface lies on: one, two on an edge, three on a corner.
fn faces_at(cube: [f64; 3]) -> Vec<CubeFace> {
    let touches = |face: &CubeFace| {
        let n = face.normal();
        let along: f64 = [n.x, n.y, n.z]
            .iter()
            .zip(cube)
            .map(|(n, c)| match n {
                1 => c,
                -1 => -c,
                _ => 0.0,
            })
            .sum();
        along == 1.0
    };
    CubeFace::ALL.into_iter().filter(touches).collect()
}

/// Points on all 12 edges, several on each, and the 8 corners.
fn edges_and_corners() -> Vec<[f64; 3]> {
    let mut found = Vec::new();
    for a in [-1.0, 1.0] {
        for b in [-1.0, 1.0] {
            for c in [-1.0, -0.875, -0.3, 0.0, 1e-9, 0.123_456_789, 0.999_999, 1.0] {
                found.extend([[a, b, c], [a, c, b], [c, a, b]]);
            }
        }
    }
    found
}

#[test]
fn edges_and_corners_cover_the_whole_cube() {
    let mut pairs = std::collections::BTreeSet::new();
    let mut corners = std::collections::BTreeSet::new();
    for cube in edges_and_corners() {
        match faces_at(cube)[..] {
            [a, b] => drop(pairs.insert((a, b))),
            [a, b, c] => drop(corners.insert((a, b, c))),
            ref other => panic!("{cube:?} is on {other:?}"),
        }
    }
    assert_eq!((pairs.len(), corners.len()), (12, 8));
}

#[test]
fn edges_agree_to_the_last_bit_all_along() {
    // A planet so large that one bit of the direction shows in the position.
    let planet = Planet::new(WorldPosition::ORIGIN, 1 << 120).unwrap();
    for part in 0..500_u32 {
        let c = f64::from(part).mul_add(1.0 / 250.0, -1.0) / 1.000_1;
        for cube in [[1.0, -1.0, c], [-1.0, c, 1.0], [c, 1.0, 1.0]] {
            let positions: Vec<_> = faces_at(cube)
                .iter()
                .map(|face| planet.to_world(&on_face(*face, cube, 0)).unwrap())
                .collect();
            assert_eq!(positions.len(), 2);
            assert_eq!(positions[0], positions[1], "{cube:?}");
        }
    }
}

#[test]
fn bounds_touch_the_middle_of_every_face() {
    let planet = earth();
    let bounds = planet.bounds();
    for face in CubeFace::ALL {
        let top = |altitude| {
            planet
                .to_world(&FaceCoord::new(face, 0.0, 0.0, altitude).unwrap())
                .unwrap()
        };
        assert!(
            bounds.contains(&top(0)) && !bounds.contains(&top(1)),
            "{face}"
        );
    }
    assert!(bounds.contains(&planet.center()));
}

#[test]
fn every_face_gives_an_edge_or_corner_the_same_position() {
    let small = Planet::new(WorldPosition::new(3, -7, 1), 1_000).unwrap();
    let huge = Planet::new(WorldPosition::ORIGIN, i128::MAX / 4).unwrap();
    for planet in [earth(), small, huge] {
        for altitude in [-999, 0, 8_848_000] {
            for cube in edges_and_corners() {
                let positions: Vec<_> = faces_at(cube)
                    .iter()
                    .map(|face| planet.to_world(&on_face(*face, cube, altitude)).unwrap())
                    .collect();
                assert!(positions.len() > 1);
                assert!(
                    positions.iter().all(|p| *p == positions[0]),
                    "{cube:?}: {positions:?}"
                );
            }
        }
    }
}

/// Places one thing on every face next to an edge or corner, and asks around it.
fn check_no_seam<X: TestIndex>() {
    let planet = earth();
    for cube in edges_and_corners() {
        let faces = faces_at(cube);
        let mut points = Vec::new();
        for (id, face) in (0..).zip(&faces) {
            // Two millionths of the half edge inwards: 4 to 13 metres from the edge or corner.
            let inwards = cube.map(|c| if c.abs() == 1.0 { c * (1.0 - 2e-6) } else { c });
            points.push((id, planet.to_world(&on_face(*face, inwards, 0)).unwrap()));
        }
        let there = planet.to_world(&on_face(faces[0], cube, 0)).unwrap();
        let behind = cube.map(|c| -c);
        let far = planet
            .to_world(&on_face(faces[0].opposite(), behind, 0))
            .unwrap();
        points.push((99, far));
        let index = X::bulk(&points);
        let mut found = index.visited(&Region::ball(there, 25_000));
        found.sort_unstable();
        let expected: Vec<u32> = (0..).take(faces.len()).collect();
        assert_eq!(found, expected, "at {cube:?}");
        let mut nearest = index.closest(&there, 99, 25_000);
        nearest.sort_unstable();
        assert_eq!(nearest, expected, "at {cube:?}");
    }
}

#[test]
fn linear_index_sees_no_seam_between_faces() {
    check_no_seam::<LinearIndex<u32>>();
}

#[test]
fn spatial_index_sees_no_seam_between_faces() {
    check_no_seam::<SpatialIndex<u32>>();
}

#[test]
fn hash_map_sees_no_seam_between_faces() {
    check_no_seam::<SpatialHashMap<(EntityId, WorldPosition)>>();
}

#[test]
fn grid_sees_no_seam_between_faces() {
    check_no_seam::<DefaultGrid>();
}

#[test]
fn sorted_index_sees_no_seam_between_faces() {
    check_no_seam::<DefaultSorted>();
}

#[test]
fn a_position_belongs_to_the_face_it_lies_under() {
    let planet = earth();
    for face in CubeFace::ALL {
        for (u, v) in [(0.0, 0.0), (0.9, -0.9), (-0.5, 0.25), (0.999, 0.999)] {
            let place = FaceCoord::new(face, u, v, 1_700).unwrap();
            let back = planet.to_face(&planet.to_world(&place).unwrap()).unwrap();
            assert_eq!(back.face(), face);
            assert!(
                (back.u() - u).abs() < 1e-9 && (back.v() - v).abs() < 1e-9,
                "{back}"
            );
            assert!(back.altitude_mm().abs_diff(1_700) <= 1, "{back}");
        }
    }
}

#[test]
fn wrong_values_are_refused_by_name() {
    let origin = WorldPosition::ORIGIN;
    assert_eq!(
        Planet::new(origin, 0),
        Err(PlanetError::Radius { radius_mm: 0 })
    );
    assert!(Planet::new(origin, i128::MIN).is_err());
    assert!(Planet::new(WorldPosition::MAX, 1).is_err());
    assert!(Planet::new(origin, i128::MAX).is_ok());
    for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1.000_000_1, -2.0] {
        let error = FaceCoord::new(CubeFace::PosY, bad, 0.0, 0).unwrap_err();
        assert!(error.to_string().contains(&bad.to_string()), "{error}");
    }
    let planet = Planet::new(WorldPosition::new(i128::MAX - 10, 0, 0), 10).unwrap();
    let place = |face, altitude| FaceCoord::new(face, 0.0, 0.0, altitude).unwrap();
    assert!(planet.to_world(&place(CubeFace::PosX, 0)).is_ok());
    let error = planet.to_world(&place(CubeFace::PosX, 1)).unwrap_err();
    assert!(matches!(
        error,
        PlanetError::PlaceLeavesUniverse { altitude_mm: 1, .. }
    ));
    assert!(planet.to_world(&place(CubeFace::NegX, 1)).is_ok());
    assert!(planet.to_world(&place(CubeFace::NegX, -10)).is_ok());
    let error = planet.to_world(&place(CubeFace::NegX, -11)).unwrap_err();
    assert_eq!(
        error,
        PlanetError::BelowCenter {
            radius_mm: 10,
            altitude_mm: -11
        }
    );
    let far = Planet::new(origin, 1)
        .unwrap()
        .to_face(&WorldPosition::MIN)
        .unwrap_err();
    assert_eq!(
        far,
        PlanetError::TooFar {
            position: WorldPosition::MIN
        }
    );
}

#[cfg(feature = "serde")]
#[test]
fn planets_and_places_round_trip_and_are_checked() {
    let planet = earth();
    let text = serde_json::to_string(&planet).unwrap();
    assert_eq!(serde_json::from_str::<Planet>(&text).unwrap(), planet);
    let broken = text.replace("6371000000", "-5");
    let error = serde_json::from_str::<Planet>(&broken).unwrap_err();
    assert!(
        error.to_string().contains("planet radius is -5 mm"),
        "{error}"
    );
    let place = FaceCoord::new(CubeFace::NegY, -1.0, 0.25, -3).unwrap();
    let text = serde_json::to_string(&place).unwrap();
    assert_eq!(serde_json::from_str::<FaceCoord>(&text).unwrap(), place);
    assert!(serde_json::from_str::<FaceCoord>(&text.replace("0.25", "1.25")).is_err());
}
