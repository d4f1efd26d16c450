//! A hostile server, row 46: a client bears everything that a server must bear.

mod common;

use core::time::Duration;

use bevy_ecs::prelude::*;
use common::{Chat, Hit, MAX, Steer, protocol};
use nebula_multiplayer::client::ClientEvent;
use nebula_multiplayer::message::{ServerFrame, Welcome};
use nebula_multiplayer::session::{Acks, Header, Side, SmallMessage};
use nebula_multiplayer::wire::{DecodeError, Reader};
use nebula_multiplayer::{Client, ClientSettings, Disconnect};
use proptest::prelude::*;

const NOW: Duration = Duration::from_secs(9);

fn welcome() -> Welcome {
    Welcome {
        client: 1,
        tick: 5,
        tick_rate: 20,
        ticket: [1; 16],
        resumed: false,
        ordered: 0,
    }
}

fn frame(frame: &ServerFrame<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes);
    bytes
}

fn connecting() -> Client {
    let mut client = Client::new(protocol(), ClientSettings::default()).unwrap();
    client.connect(NOW);
    client
}

fn live() -> Client {
    let mut client = connecting();
    client
        .receive_stream(&frame(&ServerFrame::Welcome(welcome())), NOW)
        .unwrap();
    assert!(client.is_connected());
    client
}

fn datagram(sequence: u16, header: Header, rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Header {
        sequence,
        tick: Some(6),
        ..header
    }
    .encode(&mut bytes);
    bytes.extend(rest);
    bytes
}

#[track_caller]
fn assert_over(client: &Client, result: &Result<(), Disconnect>) {
    assert!(matches!(result, Err(Disconnect::Bad(_))), "{result:?}");
    assert!(!client.is_connected());
}

/// Appends a number of up to 128 bits, seven bits a byte.
fn put_wide(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7F).unwrap() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
}

#[test]
fn hostile_25_a_step_over_the_edge_of_the_universe() {
    // A body that shows slot 0 at x = i128::MAX.
    let mut spawn = vec![0, 0x03, 0, 1, 1, 1];
    let region = i128::MAX >> 40;
    put_wide(&mut spawn, u128::try_from(region).unwrap() << 1);
    spawn.extend([0, 0]);
    spawn.extend([0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0]);
    spawn.extend([0xFF, 0xFF, 0, 0, 0, 0, 0, 0]);
    let body = Header {
        body: true,
        ..Header::default()
    };
    // One millimetre on, or back, against the position of the tick before.
    let step = |x: u8| [1, 0x01, x << 2, x >> 6, 0];
    let run = |step: [u8; 5]| {
        let mut client = live();
        let mut world = World::new();
        client.receive(&datagram(1, body, &spawn), NOW).unwrap();
        client.tick(&mut world, NOW);
        assert_eq!(client.mirrored(), 1);
        let mut bytes = Vec::new();
        Header {
            sequence: 2,
            tick: Some(7),
            ..body
        }
        .encode(&mut bytes);
        bytes.extend(step);
        let result = client.receive(&bytes, NOW);
        client.tick(&mut world, NOW);
        let mut positions = world.query::<&nebula_math::WorldPosition>();
        (result, positions.iter(&world).next().map(|at| at.x))
    };
    let (result, _) = run(step(1));
    let edge = DecodeError::OutOfRange {
        what: "a step over the edge of the universe",
    };
    assert_eq!(result, Err(Disconnect::Bad(edge)));
    // Back by one: 7 bits of -1.
    assert_eq!(run(step(0x7F)), (Ok(()), Some(i128::MAX - 1)));
}

#[test]
fn hostile_46_frames_of_a_hostile_server() {
    let bad_welcome = |change: fn(&mut Welcome)| {
        let mut welcome = welcome();
        change(&mut welcome);
        frame(&ServerFrame::Welcome(welcome))
    };
    let mut truncated = frame(&ServerFrame::Welcome(welcome()));
    truncated.pop();
    truncated[0] -= 1;
    let mut trailing = frame(&ServerFrame::Welcome(welcome()));
    trailing.push(0);
    trailing[0] += 1;
    let before = [
        vec![0; 4],
        vec![0xFF; 4],
        65_537_u32.to_le_bytes().to_vec(),
        vec![1, 0, 0, 0, 9],
        bad_welcome(|welcome| welcome.tick_rate = 0),
        bad_welcome(|welcome| welcome.resumed = true),
        frame(&ServerFrame::Message {
            kind: 0,
            payload: &[0],
        }),
        vec![4, 0, 0, 0, 3, 2, b'a', b'\n'],
        vec![4, 0, 0, 0, 2, 2, 0xFF, 0xFF],
        truncated,
        trailing,
    ];
    for bytes in before {
        let mut client = connecting();
        let result = client.receive_stream(&bytes, NOW);
        assert_over(&client, &result);
    }
    let after = [
        frame(&ServerFrame::Welcome(welcome())),
        frame(&ServerFrame::Refused { reason: "late" }),
        frame(&ServerFrame::Message {
            kind: 99,
            payload: &[0],
        }),
        frame(&ServerFrame::Message {
            kind: 1,
            payload: &[7],
        }),
        frame(&ServerFrame::Message {
            kind: 0,
            payload: &[9, b'x'],
        }),
    ];
    for bytes in after {
        let mut client = live();
        let result = client.receive_stream(&bytes, NOW);
        assert_over(&client, &result);
    }
}

/// Returns a datagram with one message, both with this number.
fn message(number: u16, kind: u32, payload: &[u8]) -> Vec<u8> {
    let mut rest = vec![1];
    SmallMessage {
        kind,
        id: number,
        payload,
    }
    .encode(&mut rest);
    let messages = Header {
        messages: true,
        ..Header::default()
    };
    datagram(number, messages, &rest)
}

#[test]
fn hostile_46_datagrams_of_a_hostile_server() {
    let body = Header {
        body: true,
        ..Header::default()
    };
    let bad = [
        vec![],
        vec![0x80, 0, 0],
        vec![0, 0, 0],
        vec![0x48, 0, 0, 0, 0, 0, 0],
        vec![0; MAX + 1],
        message(1, 0, &[0]),
        message(1, 9, &[0]),
        message(1, 1, &[0x87, 0x00]),
        message(1, 1, &[7, 7]),
        datagram(
            1,
            Header {
                messages: true,
                ..Header::default()
            },
            &[0],
        ),
        datagram(1, Header::default(), &[1]),
        datagram(1, body, &[]),
        datagram(1, body, &[0, 0xFF, 0xFF, 0xFF]),
        datagram(1, body, &[0, 2, 0xFF]),
    ];
    for bytes in bad {
        let mut client = live();
        let result = client.receive(&bytes, NOW);
        assert_over(&client, &result);
    }
}

#[test]
fn hostile_46_a_huge_length_reserves_nothing() {
    let mut client = connecting();
    let mut result = Ok(());
    let info = allocation_counter::measure(|| result = client.receive_stream(&[0xFF; 4], NOW));
    let error = DecodeError::TooLong {
        what: "a frame",
        len: u32::MAX.into(),
        max: 65_536,
    };
    assert_eq!(result, Err(Disconnect::Bad(error)));
    assert!(info.bytes_total < 4_096, "{} bytes", info.bytes_total);
}

#[test]
fn hostile_46_a_silent_server_is_given_up_and_a_flood_is_bounded() {
    let mut client = connecting();
    let mut world = World::new();
    client.tick(&mut world, NOW + Duration::from_secs(5));
    assert!(
        client
            .events()
            .any(|event| format!("{event:?}").contains("HelloTimeout"))
    );

    let mut client = live();
    let info = allocation_counter::measure(|| {
        for number in 0..5_000 {
            client.receive(&message(number, 1, &[7]), NOW).unwrap();
        }
    });
    assert!(
        info.bytes_max < 1 << 20,
        "{} bytes for messages that nobody takes",
        info.bytes_max
    );
}

/// Feeds a client that takes nothing until it gives up; returns why, after how many, and the most
/// bytes that were held.
fn give_up(
    mut feed: impl FnMut(&mut Client, u32) -> Result<(), Disconnect>,
) -> (Disconnect, u32, u64) {
    let mut client = live();
    let mut end = None;
    let info = allocation_counter::measure(|| {
        end = (0..1_000_000).find_map(|number| Some((feed(&mut client, number).err()?, number)));
    });
    let (reason, number) = end.expect("a bound");
    assert!(!client.is_connected());
    let told = ClientEvent::Disconnected {
        reason: reason.clone(),
    };
    assert_eq!(client.events().last(), Some(told));
    (reason, number, info.bytes_max)
}

#[test]
fn hostile_46_messages_without_end_that_nobody_takes() {
    let small = frame(&ServerFrame::Message {
        kind: 0,
        payload: &[1, b'x'],
    });
    let mut payload = vec![0xE0, 0xD4, 0x03];
    payload.resize(60_000 + 3, b'x');
    let large = frame(&ServerFrame::Message {
        kind: 0,
        payload: &payload,
    });
    for (bytes, least) in [(small, 160_000), (large, 135)] {
        let (reason, taken, held) = give_up(|client, _| client.receive_stream(&bytes, NOW));
        assert_eq!(reason, Disconnect::Untaken);
        assert!(taken > least, "{taken} messages");
        assert!(held < 24 << 20, "{held} bytes");
    }
    let (reason, taken, held) = give_up(|client, number| {
        let number = u16::try_from(number & 0xFFFF).unwrap();
        client.receive(&message(number, 1, &[7]), NOW)
    });
    assert_eq!(reason, Disconnect::Untaken);
    assert!(taken > 160_000, "{taken} messages");
    assert!(held < 24 << 20, "{held} bytes");
}

#[test]
fn hostile_46_of_the_latest_only_the_oldest_are_lost() {
    let mut client = live();
    client.receive(&message(0, 1, &[7]), NOW).unwrap();
    for number in 1..=5_000_u16 {
        let value = u8::try_from(number % 100).unwrap();
        client.receive(&message(number, 2, &[value]), NOW).unwrap();
    }
    let chat = ServerFrame::Message {
        kind: 0,
        payload: &[1, b'x'],
    };
    client.receive_stream(&frame(&chat), NOW).unwrap();
    assert_eq!(client.messages::<Chat>().count(), 1, "others have room");
    assert_eq!(client.messages::<Hit>().collect::<Vec<_>>(), [Hit(7)]);
    let waiting: Vec<_> = client.messages::<Steer>().collect();
    assert_eq!((waiting.len(), waiting.last()), (256, Some(&Steer(0))));
    assert_eq!(client.lost_messages(), 5_000 - 256);
    client.receive(&message(5_001, 2, &[3]), NOW).unwrap();
    assert_eq!(client.messages::<Steer>().collect::<Vec<_>>(), [Steer(3)]);
    assert_eq!(client.lost_messages(), 5_000 - 256);
}

/// What a hostile peer may do to a client.
#[derive(Clone, Debug)]
enum Deed {
    Datagram(Vec<u8>),
    Headed(u16, Option<(u16, u32, u32)>, bool, Vec<u8>),
    Stream(Vec<u8>),
    Framed(Vec<u8>),
    Welcome(bool),
    Tick(u16),
    Lost,
    Connect,
}

fn deed() -> impl Strategy<Value = Deed> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..60);
    prop_oneof![
        bytes().prop_map(Deed::Datagram),
        (
            any::<u16>(),
            any::<Option<(u16, u32, u32)>>(),
            any::<bool>(),
            bytes()
        )
            .prop_map(|(sequence, acks, body, rest)| Deed::Headed(sequence, acks, body, rest)),
        bytes().prop_map(Deed::Stream),
        bytes().prop_map(Deed::Framed),
        any::<bool>().prop_map(Deed::Welcome),
        any::<u16>().prop_map(Deed::Tick),
        Just(Deed::Lost),
        Just(Deed::Connect),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn hostile_46_no_sequence_of_calls_panics(deeds in proptest::collection::vec(deed(), 1..40)) {
        let mut client = live();
        let mut world = World::new();
        let mut now = NOW;
        let mut out = Vec::new();
        for deed in deeds {
            match deed {
                Deed::Datagram(bytes) => drop(client.receive(&bytes, now)),
                Deed::Headed(sequence, acks, body, rest) => {
                    let acks = acks.map(|(newest, before, delay_ms)| Acks { newest, before, delay_ms });
                    let messages = !body;
                    drop(client.receive(&datagram(sequence, Header { acks, body, messages, ..Header::default() }, &rest), now));
                }
                Deed::Stream(bytes) => drop(client.receive_stream(&bytes, now)),
                Deed::Framed(body) => {
                    let mut bytes = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
                    bytes.extend(body);
                    drop(client.receive_stream(&bytes, now));
                }
                Deed::Welcome(resumed) => {
                    let bytes = frame(&ServerFrame::Welcome(Welcome { resumed, ..welcome() }));
                    drop(client.receive_stream(&bytes, now));
                }
                Deed::Tick(millis) => {
                    now += Duration::from_millis(millis.into());
                    client.tick(&mut world, now);
                }
                Deed::Lost => client.link_lost(now),
                Deed::Connect => client.connect(now),
            }
            out.clear();
            while out.len() < 10_000 && client.transmit(MAX, &mut out) {}
            client.transmit_stream(1_000, &mut out);
            client.server_time(now);
        }
    }
}

#[test]
fn hostile_46_slots_that_are_missing_are_asked_for_within_the_room() {
    // A hundred entities that came back and of which this client should know: slots of three bytes.
    let mut body = vec![0];
    for slot in 65_000..65_100_u128 {
        let further = if slot == 65_000 { slot } else { 1 };
        put_wide(&mut body, further << 2 | 3);
        body.extend([0, 2, 1, 0, 0]);
    }
    let header = Header {
        body: true,
        ..Header::default()
    };
    for room in [48, 60, 100, MAX] {
        let mut client = live();
        client.receive(&datagram(1, header, &body), NOW).unwrap();
        let mut bytes = Vec::new();
        assert!(client.transmit(room, &mut bytes));
        assert!(bytes.len() <= room, "{} bytes in {room}", bytes.len());
        let read = Header::decode(&mut Reader::new(&bytes), Side::Client).unwrap();
        assert_eq!(read.requests, room > 48);
    }
}
