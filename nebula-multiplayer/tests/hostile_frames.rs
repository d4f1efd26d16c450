//! Bad bytes from a client, by the rows of the hostile input table: framing and decoding. In each test
//! a healthy client beside the bad one notices nothing.

mod common;

use core::time::Duration;

use common::bytes::{Random, datagram, frame, messages, raw_frame, with_message};
use common::{Chat, Hit, MAX, Pair, settings, watched_protocol};
use nebula_multiplayer::Channel;
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::message::{ClientFrame, Hello, ServerFrame};
use nebula_multiplayer::protocol::Sender;
use nebula_multiplayer::replication::{Kinds, Records};
use nebula_multiplayer::session::{Header, Side, read_requests};
use nebula_multiplayer::wire::{self, Codec, DecodeError, Reader};
use serde::{Deserialize, Serialize};

#[test]
fn hostile_01_zero_length_frame() {
    let mut pair = Pair::watched().live();
    let result = pair.stream(&[0, 0, 0, 0]);
    assert_eq!(
        pair.assert_dropped(result),
        DecodeError::NotAllowed("an empty frame")
    );
    pair.witness_notices_nothing();
}

#[test]
fn hostile_02_length_of_four_gigabytes() {
    let cost = |prefix: [u8; 4]| {
        let mut pair = Pair::watched().live();
        let mut result = Ok(());
        let info = allocation_counter::measure(|| result = pair.stream(&prefix));
        let error = pair.assert_dropped(result);
        pair.witness_notices_nothing();
        (error, info)
    };
    let (error, huge) = cost([0xFF; 4]);
    let (len, max) = (u32::MAX.into(), 4_096);
    let what = "a frame";
    assert_eq!(error, DecodeError::TooLong { what, len, max });
    assert!(huge.bytes_total < 1_024, "{} bytes", huge.bytes_total);
    // All that is allocated is what the end of any client takes.
    let (_, empty) = cost([0; 4]);
    assert_eq!(huge.bytes_total, empty.bytes_total);
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
    let mut pair = Pair::watched().live();
    pair.stream(&whole).unwrap();
    assert_eq!(
        pair.server.messages::<Chat>().next(),
        Some((pair.id, Chat(text)))
    );

    let result = pair.stream(&4_097_u32.to_le_bytes());
    let error = pair.assert_dropped(result);
    assert!(matches!(
        error,
        DecodeError::TooLong {
            len: 4_097,
            max: 4_096,
            ..
        }
    ));
    pair.witness_notices_nothing();
}

#[test]
fn hostile_04_promised_bytes_that_never_come() {
    let mut pair = Pair::watched().live();
    pair.stream(&[10, 0, 0, 0, 2, 0, 1]).unwrap();
    let start = pair.now;
    while pair.held() > 0 {
        // Everything else of this client is well: only the frame stalls.
        pair.step();
        assert!(pair.now - start <= Duration::from_millis(5_050));
    }
    let reasons: Vec<_> = pair.server.events().collect();
    assert!(
        format!("{reasons:?}").contains("FrameTimeout"),
        "{reasons:?}"
    );
    pair.witness_notices_nothing();
}

#[test]
fn hostile_05_one_byte_a_second() {
    // Before the hello is whole.
    let mut pair = Pair::watched();
    let hello = pair.hello_bytes();
    for byte in &hello {
        if pair.stream(&[*byte]).is_err() {
            break;
        }
        pair.now += Duration::from_secs(1);
        pair.tick();
    }
    assert_eq!(pair.held(), 0);
    assert!(format!("{:?}", pair.server.events()).contains("HelloTimeout"));
    // And after.
    pair.another_live();
    let long = raw_frame(&[2; 100]);
    let start = pair.now;
    for byte in &long {
        if pair.stream(&[*byte]).is_err() {
            break;
        }
        for _ in 0..20 {
            if pair.held() > 0 {
                pair.step();
            }
        }
    }
    assert_eq!(pair.held(), 0);
    assert!(pair.now - start < Duration::from_secs(7));
    pair.witness_notices_nothing();
}

/// Returns 1 byte to 64 KiB, short ones far more often.
fn garbage(random: &mut Random, out: &mut Vec<u8>) {
    let bits = random.next() % 17;
    let len = 1 + random.next()
        % (1 << if random.next().is_multiple_of(64) {
            bits
        } else {
            bits.min(7)
        });
    out.clear();
    for _ in 0..len.div_ceil(8) {
        out.extend(random.next().to_le_bytes());
    }
    out.truncate(usize::try_from(len).unwrap());
}

#[test]
fn hostile_06_garbage() {
    let mut random = Random(6);
    let mut bytes = Vec::new();
    let kinds = Kinds::default();
    let mut accepted = 0;
    let mut pair = Pair::watched().live();
    for round in 0..100_000_u32 {
        garbage(&mut random, &mut bytes);
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
                pair.another_live();
            }
        }
    }
    assert_eq!(accepted, 0, "no handshake comes out of noise");
    pair.witness_notices_nothing();
}

#[test]
fn hostile_07_valid_bytes_cut_anywhere() {
    let mut pair = Pair::watched();
    let message = with_message(5, 1, 0, &[0xAC, 0x02]);
    let hello = pair.hello_bytes();
    let body = &hello[4..];
    for cut in 0..body.len() {
        assert!(
            ClientFrame::decode(&body[..cut]).is_err(),
            "hello cut at {cut}"
        );
        pair.another();
        let result = pair.stream(&raw_frame(&body[..cut]));
        assert!(result.is_err(), "hello cut at {cut}");
    }
    for cut in 0..message.len() {
        pair.another_live();
        let result = pair.datagram(&message[..cut]);
        pair.assert_dropped(result);
    }
    pair.another_live();
    pair.datagram(&message).unwrap();
    assert_eq!(
        pair.server.messages::<Hit>().next(),
        Some((pair.id, Hit(300)))
    );
    pair.witness_notices_nothing();
}

#[test]
fn hostile_08_trailing_bytes() {
    let mut pair = Pair::watched();
    let mut hello = pair.hello_bytes();
    hello.push(0);
    hello[0] += 1;
    let result = pair.stream(&hello);
    assert_eq!(pair.assert_dropped(result), DecodeError::Trailing(1));

    let mut message = with_message(5, 1, 0, &[7]);
    message.push(0);
    pair.another_live();
    let result = pair.datagram(&message);
    assert_eq!(pair.assert_dropped(result), DecodeError::Trailing(1));

    // Inside a message: its own reader must take everything.
    pair.another_live();
    let result = pair.datagram(&with_message(5, 1, 0, &[7, 7]));
    assert_eq!(pair.assert_dropped(result), DecodeError::Trailing(1));
    pair.witness_notices_nothing();
}

#[test]
fn hostile_09_longer_spelling_of_a_number() {
    let mut pair = Pair::watched();
    // Of the message's kind, its length, and a number inside it.
    let kind = [1, 0x81, 0x00, 0, 0, 1, 7];
    let length = [1, 1, 0, 0, 0x81, 0x00, 7];
    let inside = [1, 1, 0, 0, 2, 0x87, 0x00];
    for rest in [kind, length, inside] {
        pair.another_live();
        let result = pair.datagram(&datagram(5, messages(), &rest));
        assert_eq!(
            pair.assert_dropped(result),
            DecodeError::NonCanonical,
            "{rest:?}"
        );
    }
    pair.witness_notices_nothing();
}

#[test]
fn hostile_10_unknown_discriminants_and_versions() {
    let mut pair = Pair::watched();
    for body in [&[0][..], &[4], &[255, 1, 2]] {
        pair.another_live();
        let result = pair.stream(&raw_frame(body));
        let error = pair.assert_dropped(result);
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
    pair.another_live();
    let result = pair.datagram(&[0x80, 0, 0]);
    assert!(matches!(
        pair.assert_dropped(result),
        DecodeError::Unknown {
            what: "datagram flag",
            ..
        }
    ));
    pair.another_live();
    let result = pair.datagram(&with_message(5, 200, 0, &[7]));
    assert!(matches!(
        pair.assert_dropped(result),
        DecodeError::Unknown {
            what: "message kind",
            value: 200
        }
    ));

    // A later version of the framing is told so.
    pair.another();
    let protocol = watched_protocol();
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
    pair.witness_notices_nothing();
}

#[test]
fn hostile_16_things_at_the_wrong_time_or_from_the_wrong_side() {
    // A second hello.
    let mut pair = Pair::watched().live();
    let hello = pair.hello_bytes();
    let result = pair.stream(&hello);
    assert_eq!(
        pair.assert_dropped(result),
        DecodeError::NotAllowed("a second hello")
    );
    // A message before the hello.
    pair.another();
    let result = pair.stream(&frame(&ClientFrame::Message {
        kind: 0,
        payload: &[0],
    }));
    assert_eq!(
        pair.assert_dropped(result),
        DecodeError::NotAllowed("a message before the hello")
    );
    // A datagram before the hello says nothing and gets nothing.
    pair.another();
    pair.datagram(&with_message(5, 1, 0, &[7])).unwrap();
    assert_eq!(pair.server.messages::<Hit>().count(), 0);
    assert!(!pair.server.transmit(pair.id, MAX, &mut Vec::new()));
    // Replication, which only servers send: spawns, updates, despawns.
    pair.another_live();
    let result = pair.datagram(&datagram(
        5,
        Header {
            body: true,
            ..Header::default()
        },
        &[0, 3, 0],
    ));
    assert_eq!(
        pair.assert_dropped(result),
        DecodeError::NotAllowed("replication from a client")
    );
    // A server's datagram.
    pair.another_live();
    let result = pair.datagram(&datagram(
        5,
        Header {
            tick: Some(9),
            ..Header::default()
        },
        &[],
    ));
    assert_eq!(
        pair.assert_dropped(result),
        DecodeError::NotAllowed("a datagram of the other side")
    );
    // The wrong lane for a channel, both ways.
    pair.another_live();
    let result = pair.datagram(&with_message(5, 0, 0, &[0]));
    assert_eq!(
        pair.assert_dropped(result),
        DecodeError::NotAllowed("an ordered message in a datagram")
    );
    pair.another_live();
    let result = pair.stream(&frame(&ClientFrame::Message {
        kind: 1,
        payload: &[7],
    }));
    assert_eq!(
        pair.assert_dropped(result),
        DecodeError::NotAllowed("an unordered message on the stream")
    );
    pair.witness_notices_nothing();
}

/// What only servers say.
#[derive(Serialize, Deserialize)]
struct Verdict(u32);

#[test]
fn hostile_16_a_message_of_the_server_from_a_client() {
    let protocol = watched_protocol().message_with::<Verdict>(
        "verdict",
        1,
        Channel::Unordered,
        Sender::Server,
        Codec::serde(),
    );
    let mut pair = Pair::watched_over(protocol, settings(Limits::default())).live();
    // By its name it comes before the last.
    let result = pair.datagram(&with_message(9, 3, 0, &[7]));
    let error = DecodeError::NotAllowed("a message that only the other side sends");
    assert_eq!(pair.assert_dropped(result), error);
    pair.witness_notices_nothing();
}
