//! Bad behaviour of a client over time, by the rows of the hostile input table: acknowledgements,
//! rates, inputs, ids, reconnects. A healthy client beside the bad one notices nothing.

mod common;

use core::time::Duration;

use bevy_ecs::prelude::*;
use common::bytes::{requests, with_message};
use common::raw::Raw;
use common::{Health, MAX, Pair, Steer, protocol, watched_protocol};
use nebula_math::WorldPosition;
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::session::{Acks, Header, InputVerdict, InputWindow};
use nebula_multiplayer::{
    Client, ClientEvent, ClientSettings, Disconnect, Identity, Server, ServerEvent, ServerSettings,
};

#[test]
fn hostile_17_a_ticket_with_any_bit_flipped_resumes_nothing() {
    let mut pair = Pair::connected();
    pair.steps(3);
    pair.client.link_lost(pair.now);
    pair.client.connect(pair.now);
    let mut hello = Vec::new();
    pair.client.transmit_stream(usize::MAX, &mut hello);
    let end = hello.len() - (7 + 4 + 8);
    let resumes = |hello: &[u8]| {
        let settings = ServerSettings {
            secret: [7; 16],
            ..ServerSettings::default()
        };
        let mut server = Server::new(protocol(), settings).unwrap();
        let id = server.connect(Identity::Account(7), pair.now).unwrap();
        server.receive_stream(id, &Pair::hello(), pair.now).unwrap();
        server.connect(Identity::Account(7), pair.now).unwrap();
        server.receive_stream(id, hello, pair.now).unwrap();
        server.events().last()
            == Some(ServerEvent::Connected {
                client: id,
                resumed: true,
            })
    };
    assert!(resumes(&hello), "as it was issued");
    for bit in 0..128 {
        let mut forged = hello.clone();
        forged[end - 16 + bit / 8] ^= 1 << (bit % 8);
        assert!(!resumes(&forged), "bit {bit}");
    }
}

/// What a client learns by asking for the full state of slots: the answer, the bytes that follow in
/// ten ticks, and what it cost, as how often and how much memory was asked for.
fn ask(raw: &mut Raw, slots: &[u32]) -> (Result<(), Disconnect>, Vec<usize>, (u64, u64)) {
    raw.sequence = raw.sequence.wrapping_add(1);
    let bytes = requests(raw.sequence, slots);
    let mut result = Ok(());
    let work = allocation_counter::measure(|| result = raw.pair.datagram(&bytes));
    let sent = (0..10).map(|_| raw.tick()).collect();
    (result, sent, (work.count_total, work.bytes_total))
}

#[test]
fn hostile_33_ids_that_are_not_there_and_ids_of_others_look_the_same() {
    // Two servers with the same world; in one, an entity that the client may not see exists.
    let answer = |hidden: bool, slots: &[u32]| {
        let mut raw = Raw::new();
        let at = WorldPosition::new(0, 0, 0);
        let player = raw.pair.world.spawn((Replicate, at, Health(1))).id();
        raw.pair.server.set_player(raw.pair.id, Some(player));
        if hidden {
            let far = WorldPosition::new(i128::MAX, 0, 0);
            raw.pair.world.spawn((Replicate, far, Health(2)));
        }
        for _ in 0..5 {
            raw.tick();
        }
        let answer = ask(&mut raw, slots);
        let server = &raw.pair.server;
        let stats = server.stats(raw.pair.id).cloned();
        let state = server.replication_stats(raw.pair.id).cloned();
        raw.pair.witness_notices_nothing();
        (answer, stats, state)
    };
    // Among them the number that the hidden one has for the server: it is the fourth in its world.
    let low = [1, 2, 3, 4, 9_999, u32::MAX];
    let nothing_there = answer(false, &low);
    assert_eq!(nothing_there.0.0, Ok(()), "no error tells anything");
    assert_eq!(answer(true, &low), nothing_there);
    let high = [77, 78, 79, 80, 12_345, u32::MAX - 1];
    assert_eq!(answer(true, &high), nothing_there);
}

#[test]
fn hostile_33_ids_that_are_gone_look_like_ids_that_went_out_of_sight() {
    let answer = |despawned: bool| {
        let mut raw = Raw::new();
        raw.pair.spawn_player();
        let at = WorldPosition::new(-2, 0, i128::MAX);
        let thing = raw.pair.world.spawn((Replicate, at, Health(2))).id();
        for _ in 0..5 {
            raw.tick();
        }
        let state = |raw: &Raw| raw.pair.server.replication_stats(raw.pair.id).cloned();
        assert_eq!(state(&raw).map(|state| state.spawns), Some(2), "it saw it");
        if despawned {
            raw.pair.world.despawn(thing);
        } else {
            let far = WorldPosition::new(i128::MIN, 0, 0);
            raw.pair.world.entity_mut(thing).insert(far);
        }
        for _ in 0..5 {
            raw.tick();
        }
        let answer = ask(&mut raw, &[0, 1, 2]);
        raw.pair.witness_notices_nothing();
        answer
    };
    assert_eq!(answer(true), answer(false));
}

#[test]
fn hostile_29_a_client_cannot_place_itself_nor_its_camera() {
    // Where a client's interest lies is the server's doing: the player it was given, and what watches
    // for it. A client has no way to say "I am over there": state flows down only.
    let mut raw = Raw::new();
    let at = WorldPosition::new(i128::MIN, -1, 0);
    let player = raw.pair.world.spawn((Replicate, at, Health(1))).id();
    let far = WorldPosition::new(i128::MAX, 0, 0);
    raw.pair.world.spawn((Replicate, far, Health(2)));
    raw.pair.server.set_player(raw.pair.id, Some(player));
    for _ in 0..5 {
        raw.tick();
    }
    let id = raw.pair.id;
    let areas = raw.pair.server.interest().areas(id).unwrap().to_vec();
    assert_eq!(areas[0].center, at);

    // A body with a leap of its own entity, as a server would write it: the bytes are refused.
    let header = Header {
        body: true,
        ..Header::default()
    };
    let leap = [0, 1, 0xFF, 0x7F, 0xFF, 0x7F, 0xFF, 0x7F];
    assert!(matches!(raw.send(header, &leap), Err(Disconnect::Bad(_))));
    raw.pair.witness_notices_nothing();

    // A client that moves its mirrored entity has moved a picture.
    let mut pair = Pair::watched().live();
    let player = pair.spawn_player();
    pair.steps(5);
    let own = pair.client.own_entity().expect("it has one");
    pair.mirror.entity_mut(own).insert(far);
    pair.steps(5);
    let truth = *pair.world.get::<WorldPosition>(player).unwrap();
    assert_ne!(truth, far);
    assert_eq!(
        pair.server.interest().areas(pair.id).unwrap()[0].center,
        truth
    );
    // What the server says next puts it back.
    let next = WorldPosition::new(truth.x + 5, truth.y, truth.z);
    pair.world.entity_mut(player).insert(next);
    pair.steps(5);
    assert_eq!(pair.mirror.get::<WorldPosition>(own), Some(&next));
    pair.witness_notices_nothing();
}

#[test]
fn hostile_34_counting_through_ids_finds_nothing() {
    // Slots are the client's own numbers: asking for others gives no answer to learn from, and the
    // rate ends it.
    let mut raw = Raw::new();
    let far = WorldPosition::new(i128::MIN, 0, 0);
    for _ in 0..100 {
        raw.pair.world.spawn((Replicate, far, Health(9)));
    }
    for _ in 0..3 {
        raw.tick();
    }
    let before = raw.pair.server.replication_stats(raw.pair.id).cloned();
    let mut state_bytes = 0;
    let mut first = 0_u32;
    let result = loop {
        let slots: Vec<u32> = (first..first + 64).collect();
        first += 64;
        raw.sequence = raw.sequence.wrapping_add(1);
        let bytes = requests(raw.sequence, &slots);
        if let Err(reason) = raw.pair.datagram(&bytes) {
            break reason;
        }
        if first.is_multiple_of(6_400) {
            raw.tick();
            state_bytes = raw.pair.server.stats(raw.pair.id).unwrap().state_bytes_sent;
        }
        assert!(first < 1_000_000, "the rate ends it before the end");
        assert_eq!(
            raw.pair.server.replication_stats(raw.pair.id),
            before.as_ref(),
            "nothing was sent"
        );
    };
    assert_eq!(result, Disconnect::Flood);
    assert_eq!(state_bytes, 0, "not one byte of state");
    raw.pair.witness_notices_nothing();
}

#[test]
fn hostile_35_acknowledgements_of_anything() {
    let mut raw = Raw::new();
    let player = raw.pair.spawn_player();
    let mut value = 0_u16;
    let mut state = 35_u64;
    for round in 0..400_u32 {
        raw.tick();
        value = value.wrapping_add(1);
        raw.pair.world.get_mut::<Health>(player).unwrap().0 = value;
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        // Never sent, far ahead, zero, falling, all bits at once.
        let newest = match round % 5 {
            0 => 0,
            1 => u16::MAX,
            2 => u16::try_from(state >> 48).unwrap(),
            3 => 0x8000,
            _ => u16::try_from(400 - round).unwrap(),
        };
        let delay_ms = if round % 2 == 0 { u32::MAX } else { 0 };
        let acks = Some(Acks {
            newest,
            before: u32::MAX,
            delay_ms,
        });
        raw.send(
            Header {
                acks,
                ordered: Some(newest),
                ..Header::default()
            },
            &[],
        )
        .unwrap();
        let stats = raw.pair.server.stats(raw.pair.id).unwrap();
        assert!(stats.packets_in_flight <= Limits::default().history_packets);
        assert!(
            stats.packets_acked <= stats.datagrams_sent,
            "none counts twice"
        );
    }
    raw.pair.witness_notices_nothing();
}

#[test]
fn hostile_36_a_client_that_never_acknowledges() {
    let mut raw = Raw::with(Limits {
        history_packets: 64,
        ..Limits::default()
    });
    let player = raw.pair.spawn_player();
    let start = raw.pair.now;
    let mut most = 0;
    while raw.pair.held() > 0 {
        raw.pair.world.get_mut::<Health>(player).unwrap().0 ^= 1;
        raw.tick();
        let result = raw.send(Header::default(), &[]);
        if let Some(stats) = raw.pair.server.stats(raw.pair.id) {
            result.unwrap();
            most = most.max(stats.packets_in_flight);
        }
        assert!(
            raw.pair.now - start <= Duration::from_millis(10_200),
            "dropped after 10 s"
        );
    }
    assert!(raw.pair.now - start >= Duration::from_secs(10));
    assert!(most <= 64, "{most} packets remembered");
    let last = raw.pair.server.events().last();
    assert_eq!(
        last,
        Some(ServerEvent::Disconnected {
            client: raw.pair.id,
            reason: Disconnect::NeverAcks
        })
    );
    raw.pair.witness_notices_nothing();
}

#[test]
fn hostile_39_inputs_twice_late_early_and_backwards() {
    let mut window = InputWindow::default();
    let start = u32::MAX - 5;
    assert_eq!(window.note(start), InputVerdict::Fresh);
    // The slow twin: everything processed, in a set, with the window's rule.
    let mut done = std::collections::BTreeSet::from([0_i64]);
    let mut state = 39_u64;
    for _ in 0..20_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let newest = *done.last().unwrap();
        let jump = i64::try_from((state >> 33) % 90).unwrap() - 75;
        let wild = state.is_multiple_of(97);
        let offset = newest
            + if wild {
                1_000 + i64::try_from(state >> 54).unwrap()
            } else {
                jump
            };
        let expected = if done.contains(&offset) && newest - offset <= 64 {
            InputVerdict::Repeated
        } else if offset > newest + 1_024 {
            InputVerdict::TooNew
        } else if newest - offset > 64 {
            InputVerdict::TooOld
        } else {
            InputVerdict::Fresh
        };
        let number = start.wrapping_add(u32::try_from(offset.rem_euclid(1 << 32)).unwrap());
        assert_eq!(window.note(number), expected, "{offset} after {newest}");
        if expected == InputVerdict::Fresh {
            done.insert(offset);
        }
        let newest = u32::try_from(done.last().unwrap().rem_euclid(1 << 32)).unwrap();
        assert_eq!(
            window.newest(),
            Some(start.wrapping_add(newest)),
            "never back"
        );
    }
}

#[test]
fn hostile_39_a_doubled_or_older_datagram_is_not_applied_again() {
    let mut raw = Raw::new();
    for (sequence, id, value) in [
        (10, 5, 5),
        (10, 5, 5),
        (9, 4, 4),
        (11, 5, 5),
        (12, 6, 6),
        (10, 7, 7),
    ] {
        let bytes = with_message(sequence, 2, id, &[value]);
        raw.pair.datagram(&bytes).unwrap();
    }
    let taken: Vec<_> = raw
        .pair
        .server
        .messages::<Steer>()
        .map(|(_, steer)| steer.0)
        .collect();
    assert_eq!(taken, [5, 6], "newest wins, nothing twice, nothing back");
    raw.pair.witness_notices_nothing();
}

#[test]
fn hostile_40_links_that_end_in_each_state_leave_nothing() {
    let whole = Limits::default().resume_window + Duration::from_secs(20);
    let mut pair = Pair::watched();
    for state in 0..6 {
        pair.another();
        match state {
            0 => {}
            1 => pair.stream(&pair.hello_bytes()[..9]).unwrap(),
            2 => pair.join(),
            3 => {
                pair.join();
                pair.stream(&[9, 0, 0, 0, 2]).unwrap();
            }
            4 => {
                pair.join();
                for x in 0..300 {
                    pair.world
                        .spawn((Replicate, WorldPosition::new(x, 0, 0), Health(1)));
                }
                pair.spawn_player();
                pair.tick();
                pair.server.transmit(pair.id, MAX, &mut Vec::new());
            }
            _ => {
                pair.join();
                pair.server.kick(pair.id, "bye", pair.now);
            }
        }
        // Once told, once silent.
        for told in [true, false] {
            if told && state % 2 == 0 {
                pair.server.disconnect(pair.id, pair.now);
            }
            pair.pass(whole);
        }
        assert_eq!(pair.held(), 0, "state {state}");
        assert!(
            pair.server.interest().set(pair.id).is_none(),
            "state {state}"
        );
        assert!(
            pair.server.replication_stats(pair.id).is_none(),
            "state {state}"
        );
        assert!(pair.server.stats(pair.id).is_none(), "state {state}");
    }
    pair.witness_notices_nothing();
}

#[test]
fn hostile_41_connecting_and_leaving_over_and_over_grows_nothing() {
    let mut pair = Pair::watched();
    pair.server.disconnect(pair.id, pair.now);
    let hello = pair.hello_bytes();
    // A thousand a second.
    let round = |pair: &mut Pair, number: u64| {
        pair.now += Duration::from_millis(1);
        let id = pair.server.connect(Identity::Anonymous, pair.now).unwrap();
        pair.server.receive_stream(id, &hello, pair.now).unwrap();
        pair.server.disconnect(id, pair.now);
        pair.heard = pair.now;
        if number.is_multiple_of(50) {
            pair.tick();
            pair.server.events().count();
            pair.server.take_ended().count();
        }
    };
    for number in 0..1_000 {
        round(&mut pair, number);
    }
    let info = allocation_counter::measure(|| {
        for number in 1_000..3_000 {
            round(&mut pair, number);
        }
    });
    assert_eq!(pair.held(), 0);
    assert!(
        info.bytes_current < 16 * 1_024,
        "{} bytes more than before",
        info.bytes_current
    );
    pair.witness_notices_nothing();
}

#[test]
fn hostile_42_a_second_link_of_a_live_client_ends_the_first() {
    let mut pair = Pair::watched().live();
    pair.spawn_player();
    pair.steps(4);
    let mut again = Client::new(watched_protocol(), ClientSettings::default()).unwrap();
    pair.server.events().count();
    assert_eq!(
        pair.server.connect(Identity::Account(7), pair.now),
        Ok(pair.id)
    );
    assert_eq!(
        pair.server.events().last(),
        Some(ServerEvent::LinkLost { client: pair.id }),
        "the old one first"
    );
    again.connect(pair.now);
    pair.client = again;
    pair.mirror = World::new();
    pair.steps(5);
    assert_eq!(pair.held(), 1);
    assert_eq!(pair.server.clients().count(), 2, "it and the witness");
    let spawned = pair
        .client
        .events()
        .filter(|event| matches!(event, ClientEvent::Spawned(_)))
        .count();
    assert_eq!(spawned, 1, "one entity");
    assert!(pair.client.own_entity().is_some());
    pair.witness_notices_nothing();
}

#[test]
fn hostile_42_a_session_that_begins_anew_has_no_inputs_of_the_one_before() {
    let mut pair = Pair::watched().live();
    pair.client.send(&Steer(5_000)).unwrap();
    pair.step();
    // The game has not taken it yet when the client starts anew, and numbers its inputs from 1.
    assert!(pair.server.connect(Identity::Account(7), pair.now).is_ok());
    pair.client = Client::new(watched_protocol(), ClientSettings::default()).unwrap();
    pair.join();
    pair.client.send(&Steer(1)).unwrap();
    pair.step();
    let inputs: Vec<_> = pair.server.messages::<Steer>().collect();
    assert_eq!(inputs, [(pair.id, Steer(1))]);
    let verdict = pair.server.accept_input(pair.id, 1);
    assert_eq!(verdict, Some(InputVerdict::Fresh));
    pair.witness_notices_nothing();
}

/// The header of a datagram with a view hash.
fn hash(view_hash: u64) -> Header {
    Header {
        view_hash: Some(view_hash),
        ..Header::default()
    }
}

fn resyncs(raw: &Raw) -> u64 {
    raw.pair.server.stats(raw.pair.id).unwrap().resyncs
}

#[test]
fn hostile_38_of_view_hashes_by_the_hundred_two_a_second_are_looked_at() {
    let mut raw = Raw::new();
    // All of them differ, and the third that is looked at has everything sent anew.
    for tick in 0..20 {
        for _ in 0..6 {
            raw.send(hash(1), &[]).unwrap();
        }
        assert_eq!(resyncs(&raw), 0, "tick {tick}");
        raw.tick();
    }
    raw.send(hash(1), &[]).unwrap();
    assert_eq!(resyncs(&raw), 1, "a second is over");
    raw.pair.witness_notices_nothing();
}

#[test]
fn a_wrong_view_hash_has_everything_sent_anew_once_until_that_arrived() {
    let mut raw = Raw::new();
    raw.pair.spawn_player();
    for _ in 0..3 {
        raw.tick();
    }
    // Nothing is acknowledged, so the right hash is that of nothing. Those that differ once or twice
    // may speak of a packet that was given up too early.
    for view_hash in [0, 1, 1] {
        raw.send(hash(view_hash), &[]).unwrap();
        assert_eq!(resyncs(&raw), 0);
        for _ in 0..10 {
            raw.tick();
        }
    }
    // What is sent anew is not acknowledged either: nothing is begun again on top of it.
    for _ in 0..60 {
        raw.send(hash(1), &[]).unwrap();
        raw.tick();
        assert_eq!(resyncs(&raw), 1);
    }
    // An older datagram speaks of an older state, and is not judged by this one.
    for _ in 0..30 {
        raw.tick();
    }
    raw.sequence = raw.sequence.wrapping_add(5);
    raw.send(Header::default(), &[]).unwrap();
    raw.sequence = raw.sequence.wrapping_sub(3);
    raw.send(hash(1), &[]).unwrap();
    assert_eq!(resyncs(&raw), 1);
}
