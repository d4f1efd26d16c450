//! Golden bytes: what each frame, header and message looks like on the wire. A byte that changes
//! here changes the protocol, and `WIRE_VERSION` with it.

mod common;

use core::time::Duration;

use common::{Chat, Health, Hit, Pair, Steer};
use nebula_math::WorldPosition;
use nebula_multiplayer::limits::{MAX_DATAGRAM, MAX_HEADER, WIRE_VERSION};
use nebula_multiplayer::message::{ClientFrame, Hello, Resume, ServerFrame, Welcome};
use nebula_multiplayer::replication::{Kind, Kinds, Record, Records, Replicate};
use nebula_multiplayer::session::{Acks, Header, Side, SmallMessage};
use nebula_multiplayer::wire::{self, DecodeError, Reader};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// Checks a client frame against its bytes, both ways, and every way to cut or stretch it.
#[track_caller]
fn check_client(frame: &ClientFrame<'_>, golden: &[u8]) {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes);
    assert_eq!(bytes, golden);
    let body = &golden[4..];
    assert_eq!(ClientFrame::decode(body).as_ref(), Ok(frame));
    if !matches!(frame, ClientFrame::Message { .. }) {
        check_strict(body, |bytes| ClientFrame::decode(bytes).is_ok());
    }
}

#[track_caller]
fn check_server(frame: &ServerFrame<'_>, golden: &[u8]) {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes);
    assert_eq!(bytes, golden);
    let body = &golden[4..];
    assert_eq!(ServerFrame::decode(body).as_ref(), Ok(frame));
    if !matches!(frame, ServerFrame::Message { .. }) {
        check_strict(body, |bytes| ServerFrame::decode(bytes).is_ok());
    }
}

/// Whole bytes are accepted; cut anywhere or followed by any byte they are not.
#[track_caller]
fn check_strict(bytes: &[u8], accepts: impl Fn(&[u8]) -> bool) {
    assert!(accepts(bytes));
    for cut in 0..bytes.len() {
        assert!(!accepts(&bytes[..cut]), "cut at {cut}");
    }
    for extra in 0..=255 {
        let mut longer = bytes.to_vec();
        longer.push(extra);
        assert!(!accepts(&longer), "followed by {extra}");
    }
}

#[test]
fn hello() {
    let hello = Hello {
        wire_version: 1,
        name: "game",
        version: 3,
        hash: 0x1122_3344_5566_7788,
        parts: vec![0xAABB_CCDD],
        resume: None,
    };
    let golden = [
        29, 0, 0, 0, 1, b'N', b'E', b'B', b'U', 1, 0, 4, b'g', b'a', b'm', b'e', 3, 0, 0, 0, 0x88,
        0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 1, 0xDD, 0xCC, 0xBB, 0xAA,
    ];
    let mut with_flag = golden.to_vec();
    with_flag.push(0);
    with_flag[0] += 1;
    check_client(&ClientFrame::Hello(hello.clone()), &with_flag);

    let resume = Resume {
        ticket: [9; 16],
        acks: Some((0x0201, 0x8000_0001)),
        ordered: 5,
        view_hash: 6,
    };
    let mut golden = golden.to_vec();
    golden.push(1);
    golden.extend([9; 16]);
    golden.extend([
        1, 0x01, 0x02, 0x01, 0, 0, 0x80, 5, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
    ]);
    golden[0] += 1 + 16 + 7 + 4 + 8;
    check_client(
        &ClientFrame::Hello(Hello {
            resume: Some(resume),
            ..hello.clone()
        }),
        &golden,
    );

    let resume = Resume {
        acks: None,
        ..resume
    };
    let mut bytes = Vec::new();
    ClientFrame::Hello(Hello {
        resume: Some(resume),
        ..hello
    })
    .encode(&mut bytes);
    assert_eq!(
        bytes.len(),
        golden.len() - 6,
        "without acknowledgements, six bytes less"
    );
}

#[test]
fn client_message_and_goodbye() {
    check_client(
        &ClientFrame::Message {
            kind: 300,
            payload: b"hey",
        },
        &[6, 0, 0, 0, 2, 0xAC, 0x02, b'h', b'e', b'y'],
    );
    check_client(&ClientFrame::Goodbye, &[1, 0, 0, 0, 3]);
}

#[test]
fn welcome() {
    let welcome = Welcome {
        client: 7,
        tick: 0x0403_0201,
        tick_rate: 20,
        ticket: [5; 16],
        resumed: true,
        ordered: 9,
    };
    let mut golden = vec![29, 0, 0, 0, 1, 7, 1, 2, 3, 4, 20, 0];
    golden.extend([5; 16]);
    golden.extend([1, 9, 0, 0, 0]);
    check_server(&ServerFrame::Welcome(welcome), &golden);
}

#[test]
fn refusal_kick_and_server_message() {
    check_server(
        &ServerFrame::Refused { reason: "no" },
        &[4, 0, 0, 0, 2, 2, b'n', b'o'],
    );
    check_server(
        &ServerFrame::Kick { reason: "no" },
        &[4, 0, 0, 0, 3, 2, b'n', b'o'],
    );
    check_server(
        &ServerFrame::Message {
            kind: 1,
            payload: &[8],
        },
        &[3, 0, 0, 0, 4, 1, 8],
    );
}

#[track_caller]
fn check_header(header: &Header, from: Side, golden: &[u8]) {
    let mut bytes = Vec::new();
    header.encode(&mut bytes);
    assert_eq!(bytes, golden);
    assert_eq!(header.encoded_len(), golden.len());
    assert!(golden.len() <= MAX_HEADER);
    let mut reader = Reader::new(golden);
    assert_eq!(Header::decode(&mut reader, from).as_ref(), Ok(header));
    assert!(reader.is_empty());
    for cut in 0..golden.len() {
        assert!(
            Header::decode(&mut Reader::new(&golden[..cut]), from).is_err(),
            "cut at {cut}"
        );
    }
}

#[test]
fn headers() {
    check_header(
        &Header {
            sequence: 0x0201,
            ..Header::default()
        },
        Side::Client,
        &[0, 0x01, 0x02],
    );
    let acks = Some(Acks {
        newest: 0x0403,
        before: 0x8765_4321,
        delay_ms: 300,
    });
    check_header(
        &Header {
            sequence: 1,
            acks,
            ordered: Some(2),
            view_hash: Some(3),
            messages: true,
            requests: true,
            ..Header::default()
        },
        Side::Client,
        &[
            0b0001_1111,
            1,
            0,
            0x03,
            0x04,
            0x21,
            0x43,
            0x65,
            0x87,
            0xAC,
            0x02,
            2,
            0,
            3,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ],
    );
    check_header(
        &Header {
            sequence: 1,
            tick: Some(7),
            acks,
            ordered: Some(2),
            echo: Some(300),
            messages: true,
            body: true,
            ..Header::default()
        },
        Side::Server,
        &[
            0b0111_0111,
            1,
            0,
            7,
            0,
            0,
            0,
            0x03,
            0x04,
            0x21,
            0x43,
            0x65,
            0x87,
            0xAC,
            0x02,
            2,
            0,
            0xAC,
            0x02,
        ],
    );
}

#[test]
fn the_longest_header_fits() {
    let acks = Some(Acks {
        newest: u16::MAX,
        before: u32::MAX,
        delay_ms: u32::MAX,
    });
    let server = Header {
        tick: Some(u32::MAX),
        acks,
        ordered: Some(9),
        echo: Some(u32::MAX),
        ..Header::default()
    };
    let client = Header {
        acks,
        ordered: Some(9),
        view_hash: Some(u64::MAX),
        ..Header::default()
    };
    assert!(server.encoded_len().max(client.encoded_len()) <= MAX_HEADER);
}

#[test]
fn small_messages() {
    let message = SmallMessage {
        kind: 1,
        id: 0x0201,
        payload: &[7, 8],
    };
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    assert_eq!(bytes, [1, 0x01, 0x02, 2, 7, 8]);
    for cut in 0..bytes.len() {
        assert!(SmallMessage::decode(&mut Reader::new(&bytes[..cut]), 100).is_err());
    }
    assert!(matches!(
        SmallMessage::decode(&mut Reader::new(&bytes), 1),
        Err(DecodeError::TooLong { .. })
    ));
}

/// The example of `docs/wire-format.md`: a whole datagram with both kinds of small messages.
#[test]
fn a_whole_datagram_from_a_client() {
    let mut pair = Pair::connected();
    pair.steps(30);
    pair.client.send(&Hit(300)).unwrap();
    pair.client.send(&Steer(5)).unwrap();
    let mut bytes = Vec::new();
    assert!(pair.client.transmit(MAX_DATAGRAM, &mut bytes));
    let mut reader = Reader::new(&bytes);
    let header = Header::decode(&mut reader, Side::Client).unwrap();
    assert!(header.messages && !header.body && header.acks.is_some());
    // Kinds are numbered by name: chat 0, hit 1, steer 2.
    assert_eq!(reader.rest(), [2, 1, 0, 0, 2, 0xAC, 0x02, 2, 0, 0, 1, 5]);
}

#[test]
fn the_hello_of_this_version_is_what_it_was() {
    let bytes = Pair::hello();
    assert_eq!(bytes[4..11], [1, b'N', b'E', b'B', b'U', 1, 0]);
    assert_eq!(WIRE_VERSION, 1);
    let ClientFrame::Hello(hello) = ClientFrame::decode(&bytes[4..]).unwrap() else {
        panic!("a hello");
    };
    assert_eq!(hello.parts.len(), 4, "one component and three messages");
    assert_eq!(
        hello.hash, 0x4A1D_BD0F_664E_C7C3,
        "equal on every machine and build"
    );
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Unit,
    New(i64),
    Tuple(u8, i128),
    Struct { a: Option<String>, b: Vec<u16> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    small: (bool, i8, u8, i16, u16),
    wide: (i32, u32, i64, u64, i128, u128),
    floats: (f32, f64),
    letter: char,
    text: String,
    shapes: Vec<Shape>,
    maybe: Option<Box<(u64, [i32; 3])>>,
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Unit),
        any::<i64>().prop_map(Shape::New),
        any::<(u8, i128)>().prop_map(|(a, b)| Shape::Tuple(a, b)),
        (any::<Option<String>>(), any::<Vec<u16>>()).prop_map(|(a, b)| Shape::Struct { a, b }),
    ]
}

fn finite() -> impl Strategy<Value = (f32, f64)> {
    (
        proptest::num::f32::NORMAL | proptest::num::f32::ZERO | proptest::num::f32::SUBNORMAL,
        proptest::num::f64::NORMAL,
    )
}

fn everything() -> impl Strategy<Value = Everything> {
    let parts = (
        any::<(bool, i8, u8, i16, u16)>(),
        any::<(i32, u32, i64, u64, i128, u128)>(),
        finite(),
        any::<char>(),
    );
    let rest = (
        any::<String>(),
        proptest::collection::vec(shape(), 0..5),
        any::<Option<(u64, [i32; 3])>>(),
    );
    (parts, rest).prop_map(
        |((small, wide, floats, letter), (text, shapes, maybe))| Everything {
            small,
            wide,
            floats,
            letter,
            text,
            shapes,
            maybe: maybe.map(Box::new),
        },
    )
}

proptest! {
    #[test]
    fn our_bytes_are_postcards(value in everything()) {
        let mut ours = Vec::new();
        wire::encode(&value, &mut ours).unwrap();
        prop_assert_eq!(&ours, &postcard::to_stdvec(&value).unwrap());
        prop_assert_eq!(&wire::decode::<Everything>(&ours).unwrap(), &value);
        for cut in 0..ours.len() {
            prop_assert!(wire::decode::<Everything>(&ours[..cut]).is_err());
        }
    }

    #[test]
    fn what_is_accepted_is_what_postcard_accepts_and_has_one_spelling(bytes: Vec<u8>) {
        if let Ok(value) = wire::decode::<Everything>(&bytes) {
            prop_assert_eq!(&postcard::from_bytes::<Everything>(&bytes).unwrap(), &value);
            let mut again = Vec::new();
            wire::encode(&value, &mut again).unwrap();
            prop_assert_eq!(&again, &bytes);
        }
        if let Ok(value) = wire::decode::<(Vec<Shape>, Chat)>(&bytes) {
            let mut again = Vec::new();
            wire::encode(&value, &mut again).unwrap();
            prop_assert_eq!(&again, &bytes);
        }
    }
}

/// The example of `docs/wire-format.md`, byte by byte: a server's datagram that shows a client its
/// own entity.
#[test]
fn the_example_datagram_of_the_page() {
    let mut pair = Pair::connected();
    pair.steps(2);
    let at = WorldPosition::new(-1, 0, 70_000);
    let player = pair.world.spawn((Replicate, at, Health(100))).id();
    pair.server.set_player(pair.id, Some(player));
    pair.server.accept_input(pair.id, 300);
    pair.now += Duration::from_millis(50);
    pair.server.tick(&mut pair.world, pair.now);
    let mut bytes = Vec::new();
    assert!(pair.server.transmit(pair.id, MAX_DATAGRAM, &mut bytes));
    let golden = [
        0x65, 0x02, 0x00, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xC8, 0x01,
        0xAC, 0x02, // header
        0x00, 0x03, 0x00, 0x01, 0x01, // body, record, spawn
        0x01, 0x01, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x01, 0x00,
        0x00, // region and cell
        0xFF, 0xFF, 0x00, 0x00, 0x70, 0x11, 0x02, 0x02, 0x02, 0x64, // place, components
    ];
    assert_eq!(bytes, golden);
    let mut reader = Reader::new(&golden);
    let header = Header::decode(&mut reader, Side::Server).unwrap();
    let acks = Some(Acks {
        newest: 0,
        before: 0,
        delay_ms: 200,
    });
    let expected = Header {
        sequence: 2,
        tick: Some(6),
        acks,
        echo: Some(300),
        body: true,
        ..Header::default()
    };
    assert_eq!(header, expected);
    let kinds = Kinds::new([Kind::new::<Health>("health")]).unwrap();
    let records: Vec<_> = Records::new(&kinds, reader.rest())
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let spawn = Record::SpawnEntity {
        slot: 0,
        generation: 1,
        kept: false,
        has_position: true,
        has: 0b10,
        position: Some(at),
        components: vec![(1, &[100])],
    };
    assert_eq!(records, [spawn]);
}
