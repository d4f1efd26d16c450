//! Bytes that a client sends, honest or not.

use nebula_multiplayer::message::ClientFrame;
use nebula_multiplayer::session::{Header, SmallMessage, put_requests};

/// Returns the bytes of a frame.
pub(crate) fn frame(frame: &ClientFrame<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes);
    bytes
}

/// Returns a frame around a body that need not make sense.
pub(crate) fn raw_frame(body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
    bytes.extend(body);
    bytes
}

/// Returns a client's datagram with a number and what follows the header.
pub(crate) fn datagram(sequence: u16, header: Header, rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Header { sequence, ..header }.encode(&mut bytes);
    bytes.extend(rest);
    bytes
}

/// The header of a datagram with messages.
pub(crate) fn messages() -> Header {
    Header {
        messages: true,
        ..Header::default()
    }
}

/// Returns one small message, as it follows the header.
pub(crate) fn small(kind: u32, id: u16, payload: &[u8]) -> Vec<u8> {
    let mut rest = vec![1];
    SmallMessage { kind, id, payload }.encode(&mut rest);
    rest
}

/// Returns a datagram with one small message.
pub(crate) fn with_message(sequence: u16, kind: u32, id: u16, payload: &[u8]) -> Vec<u8> {
    datagram(sequence, messages(), &small(kind, id, payload))
}

/// Returns a datagram that asks for the full state of slots.
pub(crate) fn requests(sequence: u16, slots: &[u32]) -> Vec<u8> {
    let mut rest = Vec::new();
    put_requests(&mut rest, slots);
    let header = Header {
        requests: true,
        ..Header::default()
    };
    datagram(sequence, header, &rest)
}

/// A small generator, so that a failing round is found again by its number.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
