//! Bad bytes from a client, by the rows of the hostile input table: framing and decoding.

mod common;

use core::time::Duration;
use std::collections::{BTreeMap, HashMap};

use common::{Chat, Hit, MAX, Pair, protocol};
use nebula_multiplayer::message::{ClientFrame, Hello, ServerFrame};
use nebula_multiplayer::protocol::Sender;
use nebula_multiplayer::replication::{Kinds, Records};
use nebula_multiplayer::session::{Header, Side, SmallMessage, read_requests};
use nebula_multiplayer::wire::{self, Codec, DecodeError, Reader};
use nebula_multiplayer::{Channel, Disconnect, Identity, Protocol, Server, ServerSettings};
use serde::{Deserialize, Serialize};

/// Returns the bytes of a frame.
fn frame(frame: &ClientFrame<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes);
    bytes
}

/// Returns a frame around a body that need not make sense.
fn raw_frame(body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
    bytes.extend(body);
    bytes
}

/// Returns a client's datagram with a number and what follows the header.
fn datagram(sequence: u16, header: Header, rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Header { sequence, ..header }.encode(&mut bytes);
    bytes.extend(rest);
    bytes
}

/// Returns a datagram with one small message.
fn with_message(sequence: u16, kind: u32, id: u16, payload: &[u8]) -> Vec<u8> {
    let mut rest = vec![1];
    SmallMessage { kind, id, payload }.encode(&mut rest);
    datagram(
        sequence,
        Header {
            messages: true,
            ..Header::default()
        },
        &rest,
    )
}

/// The connection is dropped for bad bytes, nothing stays of it, and others do not notice.
#[track_caller]
fn assert_dropped(pair: &mut Pair, result: Result<(), Disconnect>) -> DecodeError {
    let Err(Disconnect::Bad(error)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(pair.server.held(), 0, "nothing is kept");
    assert_eq!(pair.datagram(&[0, 0, 0]), Err(Disconnect::Unknown));
    error
}

#[test]
fn hostile_01_zero_length_frame() {
    let mut pair = Pair::connected();
    let result = pair.stream(&[0, 0, 0, 0]);
    assert_eq!(
        assert_dropped(&mut pair, result),
        DecodeError::NotAllowed("an empty frame")
    );
}

#[test]
fn hostile_02_length_of_four_gigabytes() {
    let mut pair = Pair::connected();
    let mut result = Ok(());
    let info = allocation_counter::measure(|| result = pair.stream(&[0xFF; 4]));
    let error = assert_dropped(&mut pair, result);
    assert_eq!(
        error,
        DecodeError::TooLong {
            what: "a frame",
            len: u32::MAX.into(),
            max: 4_096
        }
    );
    assert!(
        info.bytes_total < 1_024,
        "{} bytes were allocated",
        info.bytes_total
    );
}

#[test]
fn hostile_03_frame_at_and_over_the_cap() {
    let text = "x".repeat(4_096 - 4);
    let mut payload = Vec::new();
    wire::encode(&Chat(text.clone()), &mut payload).unwrap();
    let whole = frame(&ClientFrame::Message {
        kind: 0,
        payload: &payload,
    });
    assert_eq!(whole.len(), 4 + 4_096);
    let mut pair = Pair::connected();
    pair.stream(&whole).unwrap();
    assert_eq!(
        pair.server.messages::<Chat>().next(),
        Some((pair.id, Chat(text)))
    );

    let result = pair.stream(&4_097_u32.to_le_bytes());
    let error = assert_dropped(&mut pair, result);
    assert!(matches!(
        error,
        DecodeError::TooLong {
            len: 4_097,
            max: 4_096,
            ..
        }
    ));
}

#[test]
fn hostile_04_promised_bytes_that_never_come() {
    let mut pair = Pair::connected();
    pair.stream(&[10, 0, 0, 0, 2, 0, 1]).unwrap();
    let start = pair.now;
    while pair.server.held() > 0 {
        // Everything else of this client is well: only the frame stalls.
        pair.step();
        assert!(pair.now - start <= Duration::from_millis(5_050));
    }
    let reasons: Vec<_> = pair.server.events().collect();
    assert!(
        format!("{reasons:?}").contains("FrameTimeout"),
        "{reasons:?}"
    );
}

#[test]
fn hostile_05_one_byte_a_second() {
    // Before the hello is whole.
    let mut pair = Pair::new();
    let hello = Pair::hello();
    for byte in &hello {
        if pair.stream(&[*byte]).is_err() {
            break;
        }
        pair.now += Duration::from_secs(1);
        pair.server.tick(&mut pair.world, pair.now);
    }
    assert_eq!(pair.server.held(), 0);
    assert!(format!("{:?}", pair.server.events()).contains("HelloTimeout"));
    // And after.
    let mut pair = Pair::connected();
    let long = raw_frame(&[2; 100]);
    let start = pair.now;
    for byte in &long {
        if pair.stream(&[*byte]).is_err() {
            break;
        }
        for _ in 0..20 {
            if pair.server.held() > 0 {
                pair.step();
            }
        }
    }
    assert_eq!(pair.server.held(), 0);
    assert!(pair.now - start < Duration::from_secs(7));
}

/// A small generator, so that a failing round is found again by its number.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns 1 byte to 64 KiB, short ones far more often.
    fn garbage(&mut self, out: &mut Vec<u8>) {
        let bits = self.next() % 17;
        let len = 1 + self.next()
            % (1 << if self.next().is_multiple_of(64) {
                bits
            } else {
                bits.min(7)
            });
        out.clear();
        for _ in 0..len.div_ceil(8) {
            out.extend(self.next().to_le_bytes());
        }
        out.truncate(usize::try_from(len).unwrap());
    }
}

#[test]
fn hostile_06_garbage() {
    let mut random = Random(6);
    let mut bytes = Vec::new();
    let kinds = Kinds::default();
    let mut accepted = 0;
    let mut pair = Pair::connected();
    for round in 0..100_000_u32 {
        random.garbage(&mut bytes);
        accepted += usize::from(matches!(
            ClientFrame::decode(&bytes),
            Ok(ClientFrame::Hello(_))
        ));
        accepted += usize::from(matches!(
            ServerFrame::decode(&bytes),
            Ok(ServerFrame::Welcome(_))
        ));
        let _ = Header::decode(&mut Reader::new(&bytes), Side::Client);
        let _ = Header::decode(&mut Reader::new(&bytes), Side::Server);
        let _ = read_requests(&mut Reader::new(&bytes));
        let _ = wire::decode::<(String, Vec<Vec<u8>>, Option<f32>)>(&bytes);
        if let Ok(records) = Records::new(&kinds, &bytes) {
            for record in records {
                if record.is_err() {
                    break;
                }
            }
        }
        // A live session too, made anew whenever it ends.
        if round % 50 == 0 {
            let datagram = bytes.get(..bytes.len().min(MAX)).unwrap_or_default();
            let ended = pair.datagram(datagram).is_err() || pair.stream(&bytes).is_err();
            if ended {
                pair = Pair::connected();
            }
        }
    }
    assert_eq!(accepted, 0, "no handshake comes out of noise");
}

#[test]
fn hostile_07_valid_bytes_cut_anywhere() {
    let message = with_message(5, 1, 0, &[0xAC, 0x02]);
    let hello = Pair::hello();
    let body = &hello[4..];
    for cut in 0..body.len() {
        assert!(
            ClientFrame::decode(&body[..cut]).is_err(),
            "hello cut at {cut}"
        );
        let mut pair = Pair::new();
        let result = pair.stream(&raw_frame(&body[..cut]));
        assert!(result.is_err(), "hello cut at {cut}");
    }
    for cut in 0..message.len() {
        let mut pair = Pair::connected();
        let result = pair.datagram(&message[..cut]);
        assert_dropped(&mut pair, result);
    }
    let mut pair = Pair::connected();
    pair.datagram(&message).unwrap();
    assert_eq!(
        pair.server.messages::<Hit>().next(),
        Some((pair.id, Hit(300)))
    );
}

#[test]
fn hostile_08_trailing_bytes() {
    let mut hello = Pair::hello();
    hello.push(0);
    hello[0] += 1;
    let mut pair = Pair::new();
    let result = pair.stream(&hello);
    assert_eq!(assert_dropped(&mut pair, result), DecodeError::Trailing(1));

    let mut message = with_message(5, 1, 0, &[7]);
    message.push(0);
    let mut pair = Pair::connected();
    let result = pair.datagram(&message);
    assert_eq!(assert_dropped(&mut pair, result), DecodeError::Trailing(1));

    // Inside a message: its own reader must take everything.
    let mut pair = Pair::connected();
    let result = pair.datagram(&with_message(5, 1, 0, &[7, 7]));
    assert_eq!(assert_dropped(&mut pair, result), DecodeError::Trailing(1));
}

#[test]
fn hostile_09_longer_spelling_of_a_number() {
    // Of the message's kind, its length, and a number inside it.
    let kind = [1, 0x81, 0x00, 0, 0, 1, 7];
    let length = [1, 1, 0, 0, 0x81, 0x00, 7];
    let inside = [1, 1, 0, 0, 2, 0x87, 0x00];
    for rest in [kind, length, inside] {
        let mut pair = Pair::connected();
        let result = pair.datagram(&datagram(
            5,
            Header {
                messages: true,
                ..Header::default()
            },
            &rest,
        ));
        assert_eq!(
            assert_dropped(&mut pair, result),
            DecodeError::NonCanonical,
            "{rest:?}"
        );
    }
}

#[test]
fn hostile_10_unknown_discriminants_and_versions() {
    for body in [&[0][..], &[4], &[255, 1, 2]] {
        let mut pair = Pair::connected();
        let result = pair.stream(&raw_frame(body));
        let error = assert_dropped(&mut pair, result);
        assert!(
            matches!(
                error,
                DecodeError::Unknown {
                    what: "client frame",
                    ..
                }
            ),
            "{error:?}"
        );
    }
    let mut pair = Pair::connected();
    let result = pair.datagram(&[0x80, 0, 0]);
    assert!(matches!(
        assert_dropped(&mut pair, result),
        DecodeError::Unknown {
            what: "datagram flag",
            ..
        }
    ));
    let mut pair = Pair::connected();
    let result = pair.datagram(&with_message(5, 200, 0, &[7]));
    assert!(matches!(
        assert_dropped(&mut pair, result),
        DecodeError::Unknown {
            what: "message kind",
            value: 200
        }
    ));

    // A later version of the framing is told so.
    let mut pair = Pair::new();
    let protocol = protocol();
    let hello = Hello {
        wire_version: 2,
        name: protocol.name(),
        version: 1,
        hash: protocol.hash(),
        parts: Vec::new(),
        resume: None,
    };
    pair.stream(&frame(&ClientFrame::Hello(hello))).unwrap();
    let mut answer = Vec::new();
    pair.server.transmit_stream(pair.id, 1_000, &mut answer);
    let Ok(ServerFrame::Refused { reason }) = ServerFrame::decode(&answer[4..]) else {
        panic!("{answer:?}");
    };
    assert!(
        reason.contains("server version 1, client version 2"),
        "{reason}"
    );
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
    assert_eq!(wire::decode::<BTreeMap<u64, u64>>(&bytes), Err(forbidden));
    // Values without bytes would make a free loop of any length.
    assert_eq!(
        wire::decode::<(Vec<()>, u64)>(&[9, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        Err(DecodeError::Forbidden("lists of values without bytes"))
    );
}

#[derive(Debug, Serialize, Deserialize)]
struct Nested(Option<Box<Self>>);

#[derive(Debug, Serialize, Deserialize)]
struct Tree(Vec<Self>);

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
}

#[test]
fn hostile_16_things_at_the_wrong_time_or_from_the_wrong_side() {
    // A second hello.
    let mut pair = Pair::connected();
    let result = pair.stream(&Pair::hello());
    assert_eq!(
        assert_dropped(&mut pair, result),
        DecodeError::NotAllowed("a second hello")
    );
    // A message before the hello.
    let mut pair = Pair::new();
    let result = pair.stream(&frame(&ClientFrame::Message {
        kind: 0,
        payload: &[0],
    }));
    assert_eq!(
        assert_dropped(&mut pair, result),
        DecodeError::NotAllowed("a message before the hello")
    );
    // A datagram before the hello says nothing and gets nothing.
    let mut pair = Pair::new();
    pair.datagram(&with_message(5, 1, 0, &[7])).unwrap();
    assert_eq!(pair.server.messages::<Hit>().count(), 0);
    assert!(!pair.server.transmit(pair.id, MAX, &mut Vec::new()));
    // Replication, which only servers send: spawns, updates, despawns.
    let mut pair = Pair::connected();
    let result = pair.datagram(&datagram(
        5,
        Header {
            body: true,
            ..Header::default()
        },
        &[0, 3, 0],
    ));
    assert_eq!(
        assert_dropped(&mut pair, result),
        DecodeError::NotAllowed("replication from a client")
    );
    // A server's datagram.
    let mut pair = Pair::connected();
    let result = pair.datagram(&datagram(
        5,
        Header {
            tick: Some(9),
            ..Header::default()
        },
        &[],
    ));
    assert_eq!(
        assert_dropped(&mut pair, result),
        DecodeError::NotAllowed("a datagram of the other side")
    );
    // The wrong lane for a channel, both ways.
    let mut pair = Pair::connected();
    let result = pair.datagram(&with_message(5, 0, 0, &[0]));
    assert_eq!(
        assert_dropped(&mut pair, result),
        DecodeError::NotAllowed("an ordered message in a datagram")
    );
    let mut pair = Pair::connected();
    let result = pair.stream(&frame(&ClientFrame::Message {
        kind: 1,
        payload: &[7],
    }));
    assert_eq!(
        assert_dropped(&mut pair, result),
        DecodeError::NotAllowed("an unordered message on the stream")
    );
}

#[test]
fn hostile_16_a_message_of_the_server_from_a_client() {
    let protocol = Protocol::new("test", 1).message_with::<Hit>(
        "verdict",
        1,
        Channel::Unordered,
        Sender::Server,
        Codec::serde(),
    );
    let mut server = Server::new(protocol.clone(), ServerSettings::default()).unwrap();
    let id = server
        .connect(Identity::Account(1), Duration::ZERO)
        .unwrap();
    let parts = Vec::new();
    let hello = Hello {
        wire_version: 1,
        name: "test",
        version: 1,
        hash: protocol.hash(),
        parts,
        resume: None,
    };
    server
        .receive_stream(id, &frame(&ClientFrame::Hello(hello)), Duration::ZERO)
        .unwrap();
    assert!(server.is_connected(id));
    let result = server.receive(id, &with_message(0, 0, 0, &[7]), Duration::ZERO);
    let error = DecodeError::NotAllowed("a message that only the other side sends");
    assert_eq!(result, Err(Disconnect::Bad(error)));
}
