//! Any sequence of calls: a server bears what its clients do in any order.

mod common;

use core::time::Duration;

use bevy_ecs::prelude::*;
use common::{Chat, Health, Hit, MAX, Pair, Steer, protocol};
use nebula_math::WorldPosition;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::session::{Acks, Header};
use nebula_multiplayer::{ClientId, Identity, Server, ServerSettings};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Deed {
    Connect(u8),
    Hello(u8),
    Datagram(u8, Vec<u8>),
    Headed(u8, u16, Option<(u16, u32, u32)>, Option<u64>, u8, Vec<u8>),
    Stream(u8, Vec<u8>),
    Framed(u8, Vec<u8>),
    Send(u8),
    Player(u8),
    Tick(u16),
    Disconnect(u8),
    Kick(u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    let who = 0_u8..4;
    let bytes = || proptest::collection::vec(any::<u8>(), 0..50);
    prop_oneof![
        1 => who.clone().prop_map(Deed::Connect),
        2 => who.clone().prop_map(Deed::Hello),
        1 => (who.clone(), bytes()).prop_map(|(who, bytes)| Deed::Datagram(who, bytes)),
        4 => (who.clone(), 0_u16..200, any::<Option<(u16, u32, u32)>>(), any::<Option<u64>>(), 0_u8..4, bytes())
            .prop_map(|(who, sequence, acks, hash, parts, rest)| Deed::Headed(who, sequence, acks, hash, parts, rest)),
        1 => (who.clone(), bytes()).prop_map(|(who, bytes)| Deed::Stream(who, bytes)),
        1 => (who.clone(), bytes()).prop_map(|(who, bytes)| Deed::Framed(who, bytes)),
        1 => who.clone().prop_map(Deed::Send),
        1 => who.clone().prop_map(Deed::Player),
        3 => (0_u16..2_000).prop_map(Deed::Tick),
        1 => who.clone().prop_map(Deed::Disconnect),
        1 => who.prop_map(Deed::Kick),
    ]
}

fn id(who: u8) -> ClientId {
    ClientId::new(who.into())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn hostile_06_no_sequence_of_calls_panics_or_leaves_anything(
        deeds in proptest::collection::vec(deed(), 1..60),
    ) {
        let settings = ServerSettings { secret: [7; 16], ..ServerSettings::default() };
        let mut server = Server::new(protocol(), settings).unwrap();
        let mut world = World::new();
        let hello = Pair::hello();
        let entity = world.spawn((Replicate, WorldPosition::new(-1, 0, 0), Health(1))).id();
        let mut now = Duration::from_secs(1);
        let mut out = Vec::new();
        for deed in deeds {
            match deed {
                Deed::Connect(who) => drop(server.connect(Identity::Account(who.into()), now)),
                Deed::Hello(who) => drop(server.receive_stream(id(who), &hello, now)),
                Deed::Datagram(who, bytes) => drop(server.receive(id(who), &bytes, now)),
                Deed::Headed(who, sequence, acks, view_hash, parts, rest) => {
                    let acks = acks.map(|(newest, before, delay_ms)| Acks { newest, before, delay_ms });
                    let (messages, requests) = (parts & 1 != 0, parts & 2 != 0);
                    let header = Header { sequence, acks, view_hash, messages, requests, ..Header::default() };
                    let mut bytes = Vec::new();
                    header.encode(&mut bytes);
                    if messages || requests {
                        bytes.extend(rest);
                    }
                    drop(server.receive(id(who), &bytes, now));
                }
                Deed::Stream(who, bytes) => drop(server.receive_stream(id(who), &bytes, now)),
                Deed::Framed(who, body) => {
                    let mut bytes = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
                    bytes.extend(body);
                    drop(server.receive_stream(id(who), &bytes, now));
                }
                Deed::Send(who) => {
                    drop(server.send(id(who), &Chat("hi".into())));
                    drop(server.send(id(who), &Hit(1)));
                    drop(server.broadcast(&Steer(2)));
                }
                Deed::Player(who) => drop(server.set_player(id(who), Some(entity))),
                Deed::Tick(millis) => {
                    now += Duration::from_millis(millis.into());
                    server.tick(&mut world, now);
                    world.get_mut::<Health>(entity).unwrap().0 ^= 1;
                }
                Deed::Disconnect(who) => server.disconnect(id(who), now),
                Deed::Kick(who) => server.kick(id(who), "out", now),
            }
            for who in 0..4 {
                out.clear();
                let mut count = 0;
                while server.transmit(id(who), MAX, &mut out) {
                    count += 1;
                    prop_assert!(count < 200, "datagrams without end");
                }
                while server.transmit_stream(id(who), MAX, &mut out) {}
            }
        }
        // Everyone is silent from here on: nothing is left of anyone.
        for _ in 0..3 {
            now += Duration::from_secs(60);
            server.tick(&mut world, now);
        }
        prop_assert_eq!(server.held(), 0);
        for who in 0..4 {
            prop_assert!(server.interest().set(id(who)).is_none());
            prop_assert!(server.replication_stats(id(who)).is_none());
        }
    }
}
