//! The head of a datagram: numbers, acknowledgements and small pieces of state.

use crate::wire::{DecodeError, Reader, put_varint, varint_len};

/// Which side sent a datagram; the fields differ a little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The server.
    Server,
    /// A client.
    Client,
}

/// Packets that arrived, as their receiver tells their sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acks {
    /// Low 16 bits of the newest packet's number.
    pub newest: u16,
    /// Bit `n` is set when packet `newest - 1 - n` arrived.
    pub before: u32,
    /// Milliseconds between the arrival of `newest` and this datagram.
    pub delay_ms: u32,
}

/// The head of a datagram; messages and the replication body follow.
///
/// ```
/// use nebula_multiplayer::session::{Header, Side};
/// use nebula_multiplayer::wire::Reader;
///
/// let header = Header { sequence: 0x0102, tick: Some(7), ..Header::default() };
/// let mut bytes = Vec::new();
/// header.encode(&mut bytes);
/// assert_eq!(bytes, [0b0100_0000, 0x02, 0x01, 7, 0, 0, 0]);
/// let mut reader = Reader::new(&bytes);
/// assert_eq!(Header::decode(&mut reader, Side::Server).unwrap(), header);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Low 16 bits of the packet's number.
    pub sequence: u16,
    /// The server's tick; always there from a server, never from a client.
    pub tick: Option<u32>,
    /// Packets that arrived.
    pub acks: Option<Acks>,
    /// Low 16 bits of the count of ordered messages that arrived.
    pub ordered: Option<u16>,
    /// From a server: number of the last input that was processed.
    pub echo: Option<u32>,
    /// From a client: hash of what it holds after the packets it acknowledges here.
    pub view_hash: Option<u64>,
    /// From a client: whether requests for full state follow.
    pub requests: bool,
    /// Whether messages follow.
    pub messages: bool,
    /// From a server: whether a replication body follows, to the end.
    pub body: bool,
}

const ACKS: u8 = 1;
const ORDERED: u8 = 1 << 1;
const ECHO_OR_HASH: u8 = 1 << 2;
pub(super) const REQUESTS: u8 = 1 << 3;
pub(super) const MESSAGES: u8 = 1 << 4;
pub(super) const BODY: u8 = 1 << 5;
const FROM_SERVER: u8 = 1 << 6;
const RESERVED: u8 = 1 << 7;

impl Header {
    /// Appends the header.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let flags = [
            (self.acks.is_some(), ACKS),
            (self.ordered.is_some(), ORDERED),
            (
                self.echo.is_some() || self.view_hash.is_some(),
                ECHO_OR_HASH,
            ),
            (self.requests, REQUESTS),
            (self.messages, MESSAGES),
            (self.body, BODY),
            (self.tick.is_some(), FROM_SERVER),
        ];
        out.push(
            flags
                .iter()
                .filter(|flag| flag.0)
                .fold(0, |all, flag| all | flag.1),
        );
        out.extend_from_slice(&self.sequence.to_le_bytes());
        if let Some(tick) = self.tick {
            out.extend_from_slice(&tick.to_le_bytes());
        }
        if let Some(acks) = self.acks {
            out.extend_from_slice(&acks.newest.to_le_bytes());
            out.extend_from_slice(&acks.before.to_le_bytes());
            put_varint(out, acks.delay_ms.into());
        }
        if let Some(ordered) = self.ordered {
            out.extend_from_slice(&ordered.to_le_bytes());
        }
        if let Some(echo) = self.echo {
            put_varint(out, echo.into());
        }
        if let Some(hash) = self.view_hash {
            out.extend_from_slice(&hash.to_le_bytes());
        }
    }

    /// Returns how many bytes [`encode`](Self::encode) writes.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        let parts = [
            3,
            self.tick.map_or(0, |_| 4),
            self.acks
                .map_or(0, |acks| varint_len(acks.delay_ms.into()).saturating_add(6)),
            self.ordered.map_or(0, |_| 2),
            self.echo.map_or(0, |echo| varint_len(echo.into())),
            self.view_hash.map_or(0, |_| 8),
        ];
        parts.iter().fold(0, |all, &part| all.saturating_add(part))
    }

    /// Reads the header of a datagram that `from` sent; messages and body are left in the reader.
    ///
    /// # Errors
    /// [`DecodeError`] for a cut or malformed header, and for fields that this side may not send.
    pub fn decode(reader: &mut Reader<'_>, from: Side) -> Result<Self, DecodeError> {
        let flags = reader.u8()?;
        let has = |flag| flags & flag != 0;
        if has(RESERVED) {
            return Err(DecodeError::Unknown {
                what: "datagram flag",
                value: flags.into(),
            });
        }
        let server = from == Side::Server;
        if has(FROM_SERVER) != server {
            return Err(DecodeError::NotAllowed("a datagram of the other side"));
        }
        if has(REQUESTS) && server {
            return Err(DecodeError::NotAllowed("requests from a server"));
        }
        if has(BODY) && !server {
            return Err(DecodeError::NotAllowed("replication from a client"));
        }
        let sequence = reader.u16()?;
        let tick = if server { Some(reader.u32()?) } else { None };
        let acks = if has(ACKS) {
            Some(Acks {
                newest: reader.u16()?,
                before: reader.u32()?,
                delay_ms: reader.varint_u32()?,
            })
        } else {
            None
        };
        let ordered = if has(ORDERED) {
            Some(reader.u16()?)
        } else {
            None
        };
        let echo = if has(ECHO_OR_HASH) && server {
            Some(reader.varint_u32()?)
        } else {
            None
        };
        let view_hash = if has(ECHO_OR_HASH) && !server {
            Some(reader.u64()?)
        } else {
            None
        };
        Ok(Self {
            sequence,
            tick,
            acks,
            ordered,
            echo,
            view_hash,
            requests: has(REQUESTS),
            messages: has(MESSAGES),
            body: has(BODY),
        })
    }
}

/// Returns the number nearest to `near` whose low 16 bits are `low`.
pub(crate) fn widen(low: u16, near: u64) -> u64 {
    let base = near & !0xFFFF;
    let candidate = base | u64::from(low);
    let span = 1_u64 << 16;
    let half = 1_u64 << 15;
    if candidate > near.saturating_add(half) {
        candidate.checked_sub(span).unwrap_or(candidate)
    } else if candidate.saturating_add(half) < near {
        candidate.saturating_add(span)
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_widen_to_the_nearest() {
        for near in [
            0,
            1,
            100,
            0x7FFF,
            0x8000,
            0xFFFF,
            0x1_0000,
            0x1_8000,
            0x12_3456_789A,
        ] {
            for offset in -0x7FFF_i64..=0x7FFF {
                let Some(number) = u64::checked_add_signed(near, offset) else {
                    continue;
                };
                let low = u16::try_from(number & 0xFFFF).unwrap();
                assert_eq!(widen(low, near), number, "near {near}");
            }
        }
    }
}
