//! What the optional features promise: written forms, components, strategies.

#[path = "properties/config.rs"]
mod config;

use nebula_math::{Aabb128, I384, U384, WorldPosition, strategies};
use proptest::prelude::*;

use config::config;

#[test]
fn a_position_is_written_with_its_field_names() {
    let p = WorldPosition::new(i128::MIN, -1, i128::MAX);
    let json = serde_json::to_string(&p).unwrap();
    assert_eq!(
        json,
        r#"{"x":-170141183460469231731687303715884105728,"y":-1,"z":170141183460469231731687303715884105727}"#
    );
    assert_eq!(serde_json::from_str::<WorldPosition>(&json).unwrap(), p);
}

#[test]
fn a_box_with_swapped_corners_is_refused_when_read() {
    let json = r#"{"min":{"x":0,"y":0,"z":7},"max":{"x":0,"y":0,"z":-7}}"#;
    let error = serde_json::from_str::<Aabb128>(json).unwrap_err();
    assert!(
        error.to_string().contains("on z min is 7 and max is -7"),
        "{error}"
    );
}

#[test]
fn a_signed_value_is_written_as_sign_and_magnitude() {
    let json = serde_json::to_string(&I384::from(-5)).unwrap();
    assert_eq!(json, "[true,[5,0,0]]");
    assert_eq!(serde_json::from_str::<I384>(&json).unwrap(), I384::from(-5));
    // There is one zero, however it is written.
    let zero: I384 = serde_json::from_str("[true,[0,0,0]]").unwrap();
    assert_eq!(zero, I384::ZERO);
}

#[cfg(feature = "bevy_ecs")]
#[test]
fn a_position_is_a_component_with_a_summary_tick() {
    let mut world = bevy_ecs::world::World::new();
    let id = world.register_component::<WorldPosition>();
    assert!(world.components().get_info(id).unwrap().summary_tick());
    let entity = world.spawn(WorldPosition::MIN).id();
    assert_eq!(
        world.get::<WorldPosition>(entity),
        Some(&WorldPosition::MIN)
    );
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_type_reads_back_what_it_wrote(
        p in strategies::position(),
        v in strategies::vector(),
        b in strategies::aabb(),
        limbs in any::<[u128; 3]>(),
        negative in any::<bool>(),
    ) {
        let wide = U384::from_limbs(limbs);
        let signed = if negative { -I384::from(wide) } else { I384::from(wide) };
        let all = (p, v, b, wide, signed);
        let json = serde_json::to_string(&all).unwrap();
        let read: (_, _, _, _, I384) = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(read, all);
        prop_assert_eq!(read.4.is_negative(), negative);
    }

    #[test]
    fn drawn_radii_are_mostly_valid(r in proptest::collection::vec(strategies::radius(), 200)) {
        prop_assert!(r.iter().filter(|r| **r >= 0).count() > 150);
        prop_assert!(r.contains(&0) || r.iter().any(|r| *r < 2_000));
    }
}
