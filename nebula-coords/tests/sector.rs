//! Sectors against big-integer arithmetic, over the whole range of coordinates.

use nebula_coords::{SECTOR_SIZE_MM, SectorCoord, SectorIndex, SectorKey, SectorOffset};
use nebula_math::WorldPosition;
use num_bigint::BigInt;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Coordinates from the extremes, powers of two, sector edges, and anywhere.
fn coordinate() -> impl Strategy<Value = i128> {
    let near = |base: i128| (-2_i128..=2).prop_map(move |d| base.saturating_add(d));
    prop_oneof![
        near(i128::MIN),
        near(i128::MAX),
        near(0),
        (0_u32..127, any::<bool>(), -2_i128..=2).prop_map(|(bit, negative, d)| {
            let power = 1_i128 << bit;
            (if negative { -power } else { power }).saturating_add(d)
        }),
        (any::<i64>(), -2_i128..=2).prop_map(|(s, d)| i128::from(s) * SECTOR_SIZE_MM + d),
        any::<i128>(),
    ]
}

fn position() -> impl Strategy<Value = WorldPosition> {
    (coordinate(), coordinate(), coordinate()).prop_map(|(x, y, z)| WorldPosition::new(x, y, z))
}

/// Asserts `coordinate == sector * 2^32 + offset` without any fixed-width arithmetic; with the
/// offset a `u32` this has one solution, so it is the definition.
fn check_axis(coordinate: i128, sector: i128, offset: u32) {
    let joined = BigInt::from(sector) * BigInt::from(SECTOR_SIZE_MM) + BigInt::from(offset);
    assert_eq!(joined, BigInt::from(coordinate));
}

/// A fixed seed: a failure here is a failure everywhere.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 4_000,
        rng_seed: RngSeed::Fixed(0x5ec7_0001),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn split_equals_big_integer_division_and_joins_back(at in position()) {
        let split = SectorCoord::from_world(&at);
        check_axis(at.x, split.sector.x, split.offset.x);
        check_axis(at.y, split.sector.y, split.offset.y);
        check_axis(at.z, split.sector.z, split.offset.z);
        prop_assert_eq!(split.to_world(), Ok(at));
        prop_assert_eq!(SectorKey::from_world(&at).index(), split.sector);
        prop_assert!(split.sector.is_in_universe());
    }

    #[test]
    fn bounds_hold_exactly_the_positions_of_the_sector(at in position(), other in position()) {
        let sector = SectorIndex::from_world(&at);
        let bounds = sector.bounds().unwrap();
        prop_assert!(bounds.contains(&at));
        prop_assert_eq!(bounds.contains(&other), SectorIndex::from_world(&other) == sector);
        for corner in [bounds.min(), bounds.max()] {
            prop_assert_eq!(SectorIndex::from_world(&corner), sector);
        }
        prop_assert_eq!(SectorCoord::from_world(&bounds.max()).offset, SectorOffset::MAX);
        prop_assert_eq!(SectorCoord::from_world(&bounds.min()).offset, SectorOffset::ZERO);
    }

    #[test]
    fn any_index_joins_to_its_position_or_reports_itself(
        x in coordinate(), y in coordinate(), z in coordinate(),
        offset in any::<(u32, u32, u32)>(),
    ) {
        let sector = SectorIndex { x, y, z };
        let split = SectorCoord { sector, offset: SectorOffset::new(offset.0, offset.1, offset.2) };
        let fits = |axis: i128| {
            let low = BigInt::from(axis) * BigInt::from(SECTOR_SIZE_MM);
            low >= BigInt::from(i128::MIN) && low <= BigInt::from(i128::MAX)
        };
        match split.to_world() {
            Ok(at) => prop_assert_eq!(SectorCoord::from_world(&at), split),
            Err(error) => {
                prop_assert!(!(fits(x) && fits(y) && fits(z)));
                prop_assert_eq!(error.index(), sector);
            }
        }
    }

    #[test]
    fn neighbors_are_the_sectors_one_step_away(at in position(), far in position()) {
        let center = SectorIndex::from_world(&at);
        let found: Vec<_> = center.neighbors().collect();
        prop_assert!(found.is_sorted());
        let per_axis = |i: i128| {
            3 - usize::from(i == SectorIndex::MIN.x) - usize::from(i == SectorIndex::MAX.x)
        };
        let all = per_axis(center.x) * per_axis(center.y) * per_axis(center.z);
        prop_assert_eq!(found.len(), all - 1);
        prop_assert_eq!(center.with_neighbors().count(), all);
        for other in &found {
            let step = other.x.abs_diff(center.x).max(other.y.abs_diff(center.y))
                .max(other.z.abs_diff(center.z));
            prop_assert_eq!(step, 1);
            prop_assert!(other.is_in_universe());
        }
        let unrelated = SectorIndex::from_world(&far);
        prop_assert_eq!(center.neighbors().any(|s| s == unrelated),
            unrelated.neighbors().any(|s| s == center));
    }
}

#[test]
fn an_index_far_outside_has_no_neighbors_and_does_not_overflow() {
    let nowhere = SectorIndex::new(i128::MAX, i128::MIN, 0);
    assert_eq!(nowhere.with_neighbors().count(), 0);
    assert!(nowhere.bounds().is_err());
}

#[test]
fn an_index_one_past_the_end_touches_the_universe_by_a_side() {
    let past = SectorIndex::new(SectorIndex::MAX.x + 1, 0, 0);
    assert_eq!(past.with_neighbors().count(), 9);
}

#[cfg(feature = "serde")]
mod serde_feature {
    use super::*;

    #[test]
    fn every_sector_type_round_trips_through_text() {
        for at in [
            WorldPosition::MIN,
            WorldPosition::new(-1, 0, 1 << 32),
            WorldPosition::MAX,
        ] {
            let split = SectorCoord::from_world(&at);
            let text = serde_json::to_string(&split).unwrap();
            assert_eq!(serde_json::from_str::<SectorCoord>(&text).unwrap(), split);
            let key = SectorKey(split.sector);
            let text = serde_json::to_string(&key).unwrap();
            assert_eq!(serde_json::from_str::<SectorKey>(&text).unwrap(), key);
        }
    }

    #[test]
    fn a_sector_outside_the_universe_is_refused_by_name() {
        let text = format!("{{\"x\":0,\"y\":{},\"z\":0}}", 1_i128 << 95);
        let error = serde_json::from_str::<SectorIndex>(&text).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("[0, 39614081257132168796771975168, 0]"),
            "{error}"
        );
    }
}
