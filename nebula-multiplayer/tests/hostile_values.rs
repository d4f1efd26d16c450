//! Values that a message must not hold: rows 11 to 13, 15 and 27 of the hostile input table. Each is
//! decoded by itself, and sent to a server on which a healthy client notices nothing.

mod common;

use std::collections::{BTreeMap, HashMap};

use common::bytes::frame;
use common::{Chat, Pair, settings, watched_protocol};
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::message::ClientFrame;
use nebula_multiplayer::wire::{self, DecodeError};
use nebula_multiplayer::{Channel, Protocol};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Numbers(Vec<u64>);

#[derive(Debug, Serialize, Deserialize)]
struct Names(HashMap<u64, u64>);

#[derive(Debug, Serialize, Deserialize)]
struct Lists(Vec<Vec<u8>>);

#[derive(Debug, Serialize, Deserialize)]
struct Nested(Option<Box<Self>>);

#[derive(Debug, Serialize, Deserialize)]
struct Tree(Vec<Self>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Turn(f32, f64);

/// The numbers of the messages below: those of every test and of the witness come before them.
const NUMBERS: u32 = 4;
const NAMES: u32 = 5;
const LISTS: u32 = 6;
const NESTED: u32 = 7;
const TREE: u32 = 8;
const TURN: u32 = 9;

/// What a careless game might register.
fn careless() -> Protocol {
    watched_protocol()
        .message::<Numbers>("xa numbers", 1, Channel::Ordered)
        .message::<Names>("xb names", 1, Channel::Ordered)
        .message::<Lists>("xc lists", 1, Channel::Ordered)
        .message::<Nested>("xd nested", 1, Channel::Ordered)
        .message::<Tree>("xe tree", 1, Channel::Ordered)
        .message::<Turn>("xf turn", 1, Channel::Ordered)
}

/// A server that takes frames of 64 KiB, which no server has to.
fn careless_pair() -> Pair {
    let limits = Limits {
        frame_in_bytes: 1 << 17,
        bytes_in_per_second: 1 << 20,
        ..Limits::default()
    };
    Pair::watched_over(careless(), settings(limits))
}

/// A client joins and sends this message. Returns why it was dropped and the bytes that took at most,
/// without those of the frame itself.
#[track_caller]
fn refuse(pair: &mut Pair, kind: u32, payload: &[u8]) -> (DecodeError, u64) {
    pair.another_live();
    let whole = frame(&ClientFrame::Message { kind, payload });
    let (last, before) = whole.split_last().unwrap();
    pair.stream(before).unwrap();
    let mut result = Ok(());
    let info = allocation_counter::measure(|| result = pair.stream(&[*last]));
    (pair.assert_dropped(result), info.bytes_max)
}

#[test]
fn hostile_11_lengths_of_all_ones() {
    let mut bytes = vec![0xFF; 9];
    bytes.push(0x01);
    bytes.extend([0; 20]);
    let info = allocation_counter::measure(|| {
        assert!(wire::decode::<Vec<u64>>(&bytes).is_err());
        assert!(wire::decode::<Vec<[u64; 32]>>(&bytes).is_err());
        assert!(wire::decode::<String>(&bytes).is_err());
        assert!(wire::decode::<Vec<()>>(&bytes).is_err());
    });
    assert!(info.bytes_max < 64 * 1_024, "{} bytes", info.bytes_max);
    // Nothing of ours is a map, and a game's maps are refused, honest or not.
    let forbidden = DecodeError::Forbidden("maps");
    assert_eq!(
        wire::decode::<HashMap<u64, u64>>(&[1, 1, 1]),
        Err(forbidden.clone())
    );
    assert_eq!(
        wire::decode::<BTreeMap<u64, u64>>(&bytes),
        Err(forbidden.clone())
    );
    // Values without bytes would make a free loop of any length.
    assert_eq!(
        wire::decode::<(Vec<()>, u64)>(&[9, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        Err(DecodeError::Forbidden("lists of values without bytes"))
    );
    // The same to a server.
    let mut pair = careless_pair();
    let (error, bytes_max) = refuse(&mut pair, NUMBERS, &bytes);
    assert!(matches!(error, DecodeError::Truncated { .. }), "{error:?}");
    assert!(bytes_max < 64 * 1_024, "{bytes_max} bytes");
    assert_eq!(refuse(&mut pair, NAMES, &[1, 1, 1]).0, forbidden);
    assert_eq!(refuse(&mut pair, NAMES, &bytes).0, forbidden);
    pair.witness_notices_nothing();
}

#[test]
fn hostile_12_deep_nesting() {
    // Frames, headers and records are flat: reading them calls nothing that calls itself. A game's
    // type may be recursive, and is stopped long before the stack ends.
    assert!(matches!(
        wire::decode::<Nested>(&[1; 32_000]),
        Err(DecodeError::TooDeep)
    ));
    assert!(matches!(
        wire::decode::<Tree>(&[1; 32_000]),
        Err(DecodeError::TooDeep)
    ));
    assert!(wire::decode::<Nested>(&[1, 1, 1, 0]).is_ok());
    let mut pair = careless_pair();
    for kind in [NESTED, TREE] {
        let (error, bytes_max) = refuse(&mut pair, kind, &[1; 32_000]);
        assert_eq!(error, DecodeError::TooDeep);
        assert!(bytes_max < 64 * 1_024, "{bytes_max} bytes");
    }
    pair.witness_notices_nothing();
}

#[test]
fn hostile_13_a_frame_of_tiny_elements() {
    // 64 KiB of empty lists, each of which would take 24 bytes.
    let len = 65_000_u32;
    let mut bytes = Vec::new();
    wire::put_varint(&mut bytes, len.into());
    bytes.resize(bytes.len() + 65_000, 0);
    let mut result = Ok(Vec::new());
    let info = allocation_counter::measure(|| result = wire::decode::<Vec<Vec<u8>>>(&bytes));
    assert!(matches!(result, Err(DecodeError::TooLong { .. })));
    assert!(info.bytes_max < 1 << 20);
    let mut pair = careless_pair();
    let (error, bytes_max) = refuse(&mut pair, LISTS, &bytes);
    assert!(matches!(error, DecodeError::TooLong { .. }), "{error:?}");
    assert!(bytes_max < 1 << 20, "{bytes_max} bytes");
    pair.witness_notices_nothing();
    // As many as are allowed.
    let mut bytes = Vec::new();
    wire::put_varint(&mut bytes, wire::MAX_ELEMENTS.into());
    bytes.resize(
        bytes.len() + usize::try_from(wire::MAX_ELEMENTS).unwrap(),
        0,
    );
    let info = allocation_counter::measure(|| result = wire::decode::<Vec<Vec<u8>>>(&bytes));
    assert!(result.is_ok());
    assert!(info.bytes_max < 1 << 20, "{} bytes", info.bytes_max);
    // Elements are counted over all lists together.
    let half = usize::try_from(wire::MAX_ELEMENTS).unwrap() / 2 + 1;
    let mut bytes = Vec::new();
    for _ in 0..2 {
        wire::put_varint(&mut bytes, u64::try_from(half).unwrap());
        bytes.resize(bytes.len() + half, 0);
    }
    assert!(wire::decode::<(Vec<u8>, Vec<u8>)>(&bytes).is_err());
}

#[test]
fn hostile_15_there_is_no_compression_to_bomb() {
    // Nothing on the wire is compressed, so no input grows by being unpacked: a thousand equal
    // letters take a thousand bytes.
    let mut bytes = Vec::new();
    wire::encode(&Chat("a".repeat(1_000)), &mut bytes).unwrap();
    assert_eq!(bytes.len(), 1_002);
    let mut pair = Pair::watched().live();
    let (kind, payload) = (0, &bytes[..]);
    let whole = frame(&ClientFrame::Message { kind, payload });
    let info = allocation_counter::measure(|| pair.stream(&whole).unwrap());
    assert!(info.bytes_max < 8 * 1_024, "{} bytes", info.bytes_max);
    pair.witness_notices_nothing();
}

#[test]
fn hostile_27_floats_that_are_no_numbers() {
    for bits in [
        f32::NAN.to_bits(),
        f32::INFINITY.to_bits(),
        f32::NEG_INFINITY.to_bits(),
        0x7F80_0001,
    ] {
        let bytes = bits.to_le_bytes();
        assert_eq!(wire::decode::<f32>(&bytes), Err(DecodeError::NonFinite));
        let mut out = Vec::new();
        assert!(wire::encode(&f32::from_bits(bits), &mut out).is_err() && out.is_empty());
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(
            wire::decode::<(u8, f64)>(&[&[1][..], &value.to_le_bytes()].concat()),
            Err(DecodeError::NonFinite)
        );
    }
    for value in [-0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE / 2.0] {
        let back = wire::decode::<f64>(&value.to_le_bytes()).unwrap();
        assert_eq!(
            back.to_bits(),
            value.to_bits(),
            "finite ones pass as they are"
        );
    }
    // The same to a server: what is finite arrives, the rest ends the client.
    let turn = |a: [u8; 4], b: f64| [&a[..], &b.to_le_bytes()].concat();
    let mut pair = careless_pair().live();
    let payload = turn((-0.0_f32).to_le_bytes(), f64::MAX);
    let kind = TURN;
    let payload = &payload;
    pair.stream(&frame(&ClientFrame::Message { kind, payload }))
        .unwrap();
    let taken = pair.server.messages::<Turn>().next();
    assert_eq!(taken, Some((pair.id, Turn(-0.0, f64::MAX))));
    for bits in [f32::NAN.to_bits(), f32::INFINITY.to_bits(), 0x7F80_0001] {
        let (error, _) = refuse(&mut pair, TURN, &turn(bits.to_le_bytes(), 1.0));
        assert_eq!(error, DecodeError::NonFinite);
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let (error, _) = refuse(&mut pair, TURN, &turn(1.0_f32.to_le_bytes(), value));
        assert_eq!(error, DecodeError::NonFinite);
    }
    pair.witness_notices_nothing();
}
