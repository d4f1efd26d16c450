//! The same run sends the same bytes, whatever the number of threads.

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;
use nebula_multiplayer::protocol::Protocol;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::server::ServerSettings;
use nebula_multiplayer::testing::TestNet;
use nebula_multiplayer::transport::sim::{Faults, Random};
use serde::{Deserialize, Serialize};

#[derive(Component, Clone, Copy, Serialize, Deserialize)]
#[component(summary_tick)]
struct Health(u64);

const CLIENTS: usize = 16;
const ENTITIES: usize = 150;

/// Runs a crowd around one place at the end of space and returns how many bytes were sent, and a hash
/// over all of them in their order.
fn crowd(threads: usize) -> (usize, u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(|| {
        let protocol = Protocol::new("crowd", 1).replicate::<Health>("health", 1);
        let mut net = TestNet::new(&protocol, ServerSettings::default(), 11);
        net.faults = Faults {
            drop: 500,
            reorder: 500,
            ..Faults::NONE
        };
        let mut random = Random::new(5);
        let mut entities = Vec::new();
        for _ in 0..ENTITIES {
            let at = place(&mut random);
            entities.push(net.world.spawn((Replicate, at, Health(0))).id());
        }
        for entity in &entities[..CLIENTS] {
            let number = net.join();
            net.set_player(number, Some(*entity));
        }
        let (mut bytes, mut hash) = (0, 0xcbf2_9ce4_8422_2325_u64);
        for _ in 0..20 {
            for entity in &entities {
                if random.chance(3_000) {
                    let mut entity = net.world.entity_mut(*entity);
                    entity.insert((place(&mut random), Health(random.word())));
                }
            }
            net.step_seen(&mut |sent| {
                bytes += sent.bytes.len();
                for byte in sent.client.get().to_le_bytes().iter().chain(sent.bytes) {
                    hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
                }
            });
        }
        (bytes, hash)
    })
}

/// Returns a place within 1 km of a corner of space, where a radius of 500 m ends.
fn place(random: &mut Random) -> WorldPosition {
    let mut axis = || i128::MAX - i128::from(random.below(700_000));
    WorldPosition::new(axis(), axis(), axis())
}

#[test]
fn packets_are_the_same_for_1_2_and_8_threads_and_in_every_run() {
    let one = crowd(1);
    assert!(one.0 > 20_000, "only {} bytes were sent", one.0);
    assert_eq!(one, crowd(1), "a second run");
    assert_eq!(one, crowd(2), "2 threads");
    assert_eq!(one, crowd(8), "8 threads");
}
