//! Bytes as a stream of frames.

use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::message::{ClientFrame, FrameBuffer, ServerFrame};
use nebula_multiplayer::wire::DecodeError;

use super::within;

/// What a frame decoder may hold for a server, which has not yet seen who it is; and for a client,
/// whose frames are sixteen times as long. A buffer that grows holds its old self for a moment.
const SERVER_HOLDS: u64 = 32 << 10;
const CLIENT_HOLDS: u64 = 256 << 10;

/// Reads the bytes as frames: the first says from whom, the second how the rest is cut into pieces.
///
/// # Panics
/// When too much memory is held, when it matters how a stream is cut, or when a frame that was read
/// is written in another way.
pub(crate) fn frame_decode(data: &[u8]) {
    let [from, piece, rest @ ..] = data else {
        return;
    };
    let limits = Limits::default();
    let from_client = from % 2 == 0;
    let (max, most) = if from_client {
        (limits.frame_in_bytes, SERVER_HOLDS)
    } else {
        (limits.frame_out_bytes, CLIENT_HOLDS)
    };
    let read = |bytes: &[u8], piece: usize| {
        let mut frames = FrameBuffer::new(max);
        let (mut seen, mut hash) = (0_u32, 0_u64);
        let result = bytes.chunks(piece).try_for_each(|chunk| {
            frames.feed(chunk, |body| {
                seen += 1;
                hash = hash.rotate_left(7) ^ body.len() as u64;
                check(body, from_client)
            })
        });
        (seen, hash, result)
    };
    let pieces = within(most, || read(rest, 1 + usize::from(*piece)));
    let whole = within(most, || read(rest, usize::MAX));
    assert_eq!(pieces, whole, "cut into pieces of {}", *piece);
}

fn check(body: &[u8], from_client: bool) -> Result<(), DecodeError> {
    let mut again = Vec::new();
    if from_client {
        ClientFrame::decode(body)?.encode(&mut again);
    } else {
        ServerFrame::decode(body)?.encode(&mut again);
    }
    assert_eq!(again.get(4..), Some(body), "there is one way to write it");
    Ok(())
}
