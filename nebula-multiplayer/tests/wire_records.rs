//! Golden bytes of every record of a body, read and written. A byte that changes here changes the
//! protocol, and `WIRE_VERSION` with it.

mod common;

use common::{Health, Pair};
use nebula_math::WorldPosition;
use nebula_multiplayer::replication::{DespawnReason, Kind, Kinds, Record, Records, Replicate};
use nebula_multiplayer::session::{Header, Side};
use nebula_multiplayer::wire::Reader;

#[derive(bevy_ecs::component::Component, serde::Serialize, serde::Deserialize)]
struct Map(Vec<u8>);

/// Health is kind 1, the map kind 2.
fn kinds() -> Kinds {
    let map = Kind::new::<Map>("map").stream();
    Kinds::new([Kind::new::<Health>("health"), map]).expect("names differ")
}

/// Reads records behind a baseline of three ticks ago, and checks that they cannot be cut short.
#[track_caller]
fn check(golden: &[u8], expected: &[Record<'_>]) {
    let kinds = kinds();
    let body = [&[3], golden].concat();
    let read = |bytes: &[u8]| {
        let records = Records::new(&kinds, bytes).expect("a baseline");
        assert_eq!(records.baseline_age(), 3);
        records
            .map(|record| record.map(|record| format!("{record:?}")))
            .collect()
    };
    let whole: Vec<_> = expected
        .iter()
        .map(|record| format!("{record:?}"))
        .collect();
    assert_eq!(read(&body), Ok(whole));
    for cut in 2..body.len() {
        // Between two records a body may end.
        if let Ok(some) = read(&body[..cut]) {
            assert!(some.len() < expected.len(), "cut at {cut}");
        }
    }
    assert!(expected.len() > 1 || (2..body.len()).all(|cut| read(&body[..cut]).is_err()));
}

#[test]
fn places_and_steps() {
    let place = [1, u16::MAX, 0x1234];
    check(
        &[0x14, 0x01, 0x00, 0xFF, 0xFF, 0x34, 0x12],
        &[Record::Place { slot: 5, place }],
    );
    let step = |slot, step| Record::Step { slot, step };
    check(&[0x01, 0xFC, 0x01, 0x3F], &[step(0, [-1, 0, 63])]);
    check(&[0x05, 0x01, 0xF8, 0x1F, 0x10], &[step(1, [-512, 511, 64])]);
    // Slot 200 takes two bytes.
    check(
        &[0xA1, 0x06, 0x02, 0xE0, 0xFF, 0x01, 0x00],
        &[step(200, [-2_048, 2_047, 0])],
    );
}

#[test]
fn updates_and_removals() {
    let update = Record::EntityUpdate {
        slot: 1,
        components: vec![(0, None), (1, Some(&[0x64])), (2, None)],
    };
    check(&[0x06, 0x07, 0x00, 0x02, 0x64, 0x00], &[update]);
}

#[test]
fn spawns_that_span_packets_or_rest_on_what_was_kept() {
    let spawn = Record::SpawnEntity {
        slot: 1,
        generation: 9,
        kept: true,
        has_position: true,
        has: 0b110,
        position: None,
        components: vec![(1, &[0x64])],
    };
    check(&[0x07, 0x00, 0x06, 0x09, 0x06, 0x02, 0x02, 0x64], &[spawn]);
    let bare = Record::SpawnEntity {
        slot: 0,
        generation: 0,
        kept: false,
        has_position: false,
        has: 0,
        position: None,
        components: Vec::new(),
    };
    check(&[0x03, 0x00, 0x00, 0x00, 0x00, 0x00], &[bare]);
}

#[test]
fn leaves_say_left_or_destroyed() {
    for (byte, reason) in [(0, DespawnReason::Left), (1, DespawnReason::Destroyed)] {
        check(
            &[0x0B, 0x01, byte],
            &[Record::DespawnEntity { slot: 2, reason }],
        );
    }
}

#[test]
fn cells_name_their_region_once() {
    let golden = [
        0x07, 0x02, 0x01, 0x01, 0x00, 0x02, // a cell of slot 1 in region -1, 0, 1
        0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0xFF, 0xFF, 0xFF, // 1, 256, 2^24 - 1
        0x07, 0x02, 0x00, // a cell of slot 2 in the same
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ];
    let first = WorldPosition::new(65_536 - (1 << 40), 1 << 24, (1 << 41) - 65_536);
    let second = WorldPosition::new(-(1 << 40), 0, 1 << 40);
    let cell = |slot, corner| Record::Cell { slot, corner };
    check(&golden, &[cell(1, first), cell(2, second)]);
}

#[test]
fn fragments() {
    let fragment = Record::Fragment {
        slot: 1,
        kind: 2,
        version: 0x0403_0201,
        total: 300,
        offset: 256,
        bytes: &[0xAA, 0xBB],
    };
    let golden = [
        0x07, 0x03, 0x02, 0x01, 0x02, 0x03, 0x04, 0xAC, 0x02, 0x80, 0x02, 0x02, 0xAA, 0xBB,
    ];
    check(&golden, &[fragment]);
}

#[test]
fn what_concerns_the_client_itself() {
    check(&[0x03, 0x04, 0x05], &[Record::Yours { slot: Some(5) }]);
    check(&[0x03, 0x05], &[Record::Yours { slot: None }]);
    let tick = 0x0403_0201;
    check(
        &[0x03, 0x06, 0x01, 0x02, 0x03, 0x04],
        &[Record::Reset { tick }],
    );
}

/// Lets a tick pass and returns the bodies that the server sent.
fn bodies(pair: &mut Pair) -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    let take = |bytes: &[u8]| {
        let mut reader = Reader::new(bytes);
        if Header::decode(&mut reader, Side::Server)
            .expect("a header")
            .body
        {
            bodies.push(reader.rest().to_vec());
        }
        true
    };
    pair.step_with(take, |_| true);
    bodies
}

/// Region 2^87 - 1, the last one, as a number that is twice as large.
const LAST: [u8; 13] = [
    0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F,
];

#[test]
fn what_a_server_writes() {
    let mut pair = Pair::connected();
    let at = |x| WorldPosition::new(x, 0, i128::MAX);
    let player = pair.world.spawn((Replicate, at(-2), Health(100))).id();
    pair.server.set_player(pair.id, Some(player));
    let spawn = [
        &[0x00, 0x03, 0x00, 0x01, 0x01, 0x01, 0x01, 0x00][..],
        &LAST,
        &[0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF],
        &[0xFE, 0xFF, 0x00, 0x00, 0xFF, 0xFF, 0x02, 0x02, 0x02, 0x64],
    ];
    assert_eq!(bodies(&mut pair), [spawn.concat()]);
    assert_eq!(bodies(&mut pair), [[0x00, 0x03, 0x04, 0x00]], "yours");
    assert!(bodies(&mut pair).is_empty());

    pair.world.entity_mut(player).insert(at(-1));
    assert_eq!(
        bodies(&mut pair),
        [[0x03, 0x01, 0x04, 0x00, 0x00]],
        "a step"
    );
    pair.world.entity_mut(player).insert(at(0));
    let over = [[0x01, 0x01, 0x04, 0x00, 0x00]];
    assert_eq!(bodies(&mut pair), over, "a step into another cell");

    pair.world.entity_mut(player).insert((at(9_000), Health(3)));
    let jump = [
        &[0x01, 0x03, 0x02, 0x01, 0x00, 0x00][..],
        &LAST,
        &[0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF],
        &[0x00, 0x28, 0x23, 0x00, 0x00, 0xFF, 0xFF],
        &[0x02, 0x02, 0x02, 0x03],
    ];
    assert_eq!(bodies(&mut pair), [jump.concat()], "cell, place, update");

    pair.world.entity_mut(player).remove::<Health>();
    assert_eq!(bodies(&mut pair), [[0x00, 0x02, 0x02, 0x00]], "a removal");
    pair.world.despawn(player);
    let gone = [[0x00, 0x03, 0x01, 0x01, 0x03, 0x05]];
    assert_eq!(bodies(&mut pair), gone, "destroyed, and nothing is yours");
}
