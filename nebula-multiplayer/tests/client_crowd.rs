//! A client with default settings bears a view far larger than the default one.

use nebula_math::WorldPosition;
use nebula_multiplayer::interest::InterestConfig;
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::testing::TestPair;
use nebula_multiplayer::{Protocol, ServerSettings};

const NEAR: usize = 17_000;

#[test]
fn seventeen_thousand_entities_are_mirrored_by_a_default_client() {
    let settings = ServerSettings {
        interest: InterestConfig {
            max_visible: 20_000,
            ..InterestConfig::default()
        },
        limits: Limits {
            max_visible: 20_000,
            bytes_out_per_second: 8 << 20,
            burst_bytes: 1 << 20,
            ..Limits::default()
        },
        ..ServerSettings::default()
    };
    let mut pair = TestPair::with(&Protocol::new("crowd", 1), settings, 1);
    pair.run_ms(200);
    let at = WorldPosition::new(-1, 0, i128::MAX);
    let player = pair.world.spawn((Replicate, at)).id();
    pair.play(player);
    let near = (1..NEAR).map(|by| {
        let by = i128::try_from(by).expect("small");
        (
            Replicate,
            WorldPosition::new(at.x - by, at.y + by % 100, at.z),
        )
    });
    pair.world.spawn_batch(near.collect::<Vec<_>>());
    // The governor lets 256 begin in a tick.
    let done = (0..120).find(|_| {
        pair.run_ms(50);
        pair.the_client().mirrored() == NEAR
    });
    assert!(done.is_some(), "{} are there", pair.the_client().mirrored());
    pair.run_ms(200);
    assert!(pair.the_client().is_connected());
    let world = pair.client_world();
    let mut shown = world.query::<&WorldPosition>();
    assert_eq!(shown.iter(world).count(), NEAR);
}
