//! A stream that is cut anywhere, at any pace.

mod common;

use core::time::Duration;

use common::{Chat, Pair};
use nebula_multiplayer::message::ClientFrame;

/// The bytes of whole messages, one after the other.
fn messages(count: usize, len: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..count {
        // A text is its length, in seven bits a byte, and its bytes.
        let mut payload = vec![
            u8::try_from(len % 128 + 128).unwrap(),
            u8::try_from(len / 128).unwrap(),
        ];
        payload.resize(2 + len, b'a');
        let payload = &payload;
        ClientFrame::Message { kind: 0, payload }.encode(&mut bytes);
    }
    bytes
}

/// A stream of 20 kB a second, each piece of which ends in the middle of a frame.
#[test]
fn a_busy_stream_is_not_taken_for_a_frame_that_never_ends() {
    let mut pair = Pair::connected();
    let mut stream = messages(150, 1_400);
    let mut pieces = stream.split_off(500).into_iter();
    pair.stream(&stream).unwrap();
    let mut heard = 0;
    // Ten seconds: twice as long as one frame may take.
    for _ in 0..200 {
        let piece: Vec<u8> = pieces.by_ref().take(1_000).collect();
        assert_eq!(piece.len(), 1_000);
        pair.stream(&piece).unwrap();
        pair.step();
        heard += pair.server.messages::<Chat>().count();
    }
    assert!(heard > 130, "{heard} messages");
    assert_eq!(pair.server.totals().frame_timeouts, 0);
}

#[test]
fn a_frame_that_trickles_in_has_five_seconds() {
    let mut pair = Pair::connected();
    let bytes = messages(2, 1_400);
    let (first, second) = bytes.split_at(bytes.len() / 2);
    pair.stream(first).unwrap();
    pair.steps(20);
    // One byte each tick keeps nobody in.
    let start = pair.now;
    for &byte in second {
        if pair.stream(&[byte]).is_err() {
            break;
        }
        pair.now += Duration::from_millis(50);
        pair.server.tick(&mut pair.world, pair.now);
        if pair.server.held() == 0 {
            break;
        }
    }
    assert_eq!(pair.server.totals().frame_timeouts, 1);
    let took = pair.now - start;
    let limit = Duration::from_secs(5);
    assert!(took >= limit && took <= limit + Duration::from_millis(100));
}
