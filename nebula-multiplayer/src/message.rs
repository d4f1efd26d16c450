//! Frames of the stream lane, as values: what tests and tools see of the bytes.
//!
//! The stream carries what must not be lost and must not overtake itself: the handshake, ordered
//! messages and the farewell. A frame is its length (`u32`, low byte first) and a body whose first
//! byte says what it is. `docs/wire-format.md` draws every byte.

#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::as_conversions
)]

mod frame;
mod inbox;

pub use frame::FrameBuffer;
pub(crate) use inbox::Inbox;

use crate::limits::{MAGIC, MAX_ENTRIES, MAX_NAME, MAX_REASON};
use crate::wire::{DecodeError, Reader, put_text, put_varint};

/// Proof of an earlier session, handed out by the server and good for one use.
pub type Ticket = [u8; 16];

/// What a client says on the stream.
///
/// ```
/// use nebula_multiplayer::message::ClientFrame;
///
/// let mut bytes = Vec::new();
/// ClientFrame::Message { kind: 2, payload: b"hi" }.encode(&mut bytes);
/// assert_eq!(bytes, [4, 0, 0, 0, 2, 2, b'h', b'i']);
/// assert_eq!(
///     ClientFrame::decode(&bytes[4..]).unwrap(),
///     ClientFrame::Message { kind: 2, payload: b"hi" }
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientFrame<'a> {
    /// The first frame: which protocol the client speaks, and a session to resume.
    Hello(Hello<'a>),
    /// An ordered message.
    Message {
        /// Number of the message's kind.
        kind: u32,
        /// The message.
        payload: &'a [u8],
    },
    /// The client leaves and will not resume.
    Goodbye,
}

/// The first frame of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello<'a> {
    /// Version of the framing.
    pub wire_version: u16,
    /// Name of the protocol.
    pub name: &'a str,
    /// Version of the protocol.
    pub version: u32,
    /// Hash of the protocol.
    pub hash: u64,
    /// One short hash per entry, by which the server finds the first that differs.
    pub parts: Vec<u32>,
    /// The session to continue, if the client still has one.
    pub resume: Option<Resume>,
}

/// What a client shows to continue its session on a new link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The ticket of the last welcome.
    pub ticket: Ticket,
    /// Newest packet that arrived, and the 32 before it; `None` if none did.
    pub acks: Option<(u16, u32)>,
    /// Ordered messages that arrived since the session began.
    pub ordered: u32,
    /// Hash of what the client holds after those packets.
    pub view_hash: u64,
}

/// What a server says on the stream.
///
/// ```
/// use nebula_multiplayer::message::ServerFrame;
///
/// let mut bytes = Vec::new();
/// ServerFrame::Kick { reason: "bye" }.encode(&mut bytes);
/// assert_eq!(bytes, [5, 0, 0, 0, 3, 3, b'b', b'y', b'e']);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerFrame<'a> {
    /// The client is in.
    Welcome(Welcome),
    /// The client is not let in.
    Refused {
        /// Why, for people.
        reason: &'a str,
    },
    /// The client is thrown out.
    Kick {
        /// Why, for people.
        reason: &'a str,
    },
    /// An ordered message.
    Message {
        /// Number of the message's kind.
        kind: u32,
        /// The message.
        payload: &'a [u8],
    },
}

/// The answer to a hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// The client's number.
    pub client: u64,
    /// The server's tick.
    pub tick: u32,
    /// Ticks a second.
    pub tick_rate: u16,
    /// For a later resume; all zero if this client cannot.
    pub ticket: Ticket,
    /// Whether the earlier session goes on; otherwise everything starts anew.
    pub resumed: bool,
    /// Ordered messages of the client that arrived since the session began.
    pub ordered: u32,
}

const HELLO: u8 = 1;
const CLIENT_MESSAGE: u8 = 2;
const GOODBYE: u8 = 3;

const WELCOME: u8 = 1;
const REFUSED: u8 = 2;
const KICK: u8 = 3;
const SERVER_MESSAGE: u8 = 4;

impl<'a> ClientFrame<'a> {
    /// Appends the frame with its length.
    pub fn encode(&self, out: &mut Vec<u8>) {
        framed(out, |out| match self {
            Self::Hello(hello) => {
                out.push(HELLO);
                hello.write(out);
            }
            Self::Message { kind, payload } => {
                out.push(CLIENT_MESSAGE);
                put_varint(out, (*kind).into());
                out.extend_from_slice(payload);
            }
            Self::Goodbye => out.push(GOODBYE),
        });
    }

    /// Returns the frame whose body is `body`, without the length.
    ///
    /// # Errors
    /// [`DecodeError`] for anything but exactly one frame.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(body);
        let frame = match reader.u8()? {
            HELLO => Self::Hello(Hello::read(&mut reader)?),
            CLIENT_MESSAGE => {
                let kind = reader.varint_u32()?;
                return Ok(Self::Message {
                    kind,
                    payload: reader.rest(),
                });
            }
            GOODBYE => Self::Goodbye,
            value => {
                return Err(DecodeError::Unknown {
                    what: "client frame",
                    value: value.into(),
                });
            }
        };
        reader.finish()?;
        Ok(frame)
    }
}

impl<'a> Hello<'a> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&self.wire_version.to_le_bytes());
        put_text(out, self.name);
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&self.hash.to_le_bytes());
        put_varint(out, u64::try_from(self.parts.len()).unwrap_or(u64::MAX));
        for part in &self.parts {
            out.extend_from_slice(&part.to_le_bytes());
        }
        let Some(resume) = &self.resume else {
            out.push(0);
            return;
        };
        out.push(1);
        out.extend_from_slice(&resume.ticket);
        match resume.acks {
            None => out.push(0),
            Some((newest, before)) => {
                out.push(1);
                out.extend_from_slice(&newest.to_le_bytes());
                out.extend_from_slice(&before.to_le_bytes());
            }
        }
        out.extend_from_slice(&resume.ordered.to_le_bytes());
        out.extend_from_slice(&resume.view_hash.to_le_bytes());
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        if reader.array()? != MAGIC {
            return Err(DecodeError::NotAllowed(
                "a peer of another kind: the magic bytes are missing",
            ));
        }
        let wire_version = reader.u16()?;
        let name = reader.text("a protocol name", MAX_NAME)?;
        let version = reader.u32()?;
        let hash = reader.u64()?;
        let count = reader.length("the list of entries", MAX_ENTRIES)?;
        let parts = (0..count).map(|_| reader.u32()).collect::<Result<_, _>>()?;
        let resume = if read_flag(reader)? {
            let ticket = reader.array()?;
            let acks = if read_flag(reader)? {
                Some((reader.u16()?, reader.u32()?))
            } else {
                None
            };
            Some(Resume {
                ticket,
                acks,
                ordered: reader.u32()?,
                view_hash: reader.u64()?,
            })
        } else {
            None
        };
        Ok(Self {
            wire_version,
            name,
            version,
            hash,
            parts,
            resume,
        })
    }
}

impl<'a> ServerFrame<'a> {
    /// Appends the frame with its length. A reason is cut at [`MAX_REASON`] bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        framed(out, |out| match self {
            Self::Welcome(welcome) => {
                out.push(WELCOME);
                put_varint(out, welcome.client);
                out.extend_from_slice(&welcome.tick.to_le_bytes());
                out.extend_from_slice(&welcome.tick_rate.to_le_bytes());
                out.extend_from_slice(&welcome.ticket);
                out.push(welcome.resumed.into());
                out.extend_from_slice(&welcome.ordered.to_le_bytes());
            }
            Self::Refused { reason } => {
                out.push(REFUSED);
                put_text(out, shortened(reason));
            }
            Self::Kick { reason } => {
                out.push(KICK);
                put_text(out, shortened(reason));
            }
            Self::Message { kind, payload } => {
                out.push(SERVER_MESSAGE);
                put_varint(out, (*kind).into());
                out.extend_from_slice(payload);
            }
        });
    }

    /// Returns the frame whose body is `body`, without the length.
    ///
    /// # Errors
    /// [`DecodeError`] for anything but exactly one frame.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(body);
        let frame = match reader.u8()? {
            WELCOME => Self::Welcome(Welcome {
                client: reader.varint()?,
                tick: reader.u32()?,
                tick_rate: reader.u16()?,
                ticket: reader.array()?,
                resumed: read_flag(&mut reader)?,
                ordered: reader.u32()?,
            }),
            REFUSED => Self::Refused {
                reason: reader.text("a reason", MAX_REASON)?,
            },
            KICK => Self::Kick {
                reason: reader.text("a reason", MAX_REASON)?,
            },
            SERVER_MESSAGE => {
                let kind = reader.varint_u32()?;
                return Ok(Self::Message {
                    kind,
                    payload: reader.rest(),
                });
            }
            value => {
                return Err(DecodeError::Unknown {
                    what: "server frame",
                    value: value.into(),
                });
            }
        };
        reader.finish()?;
        Ok(frame)
    }
}

fn read_flag(reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
    match reader.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        value => Err(DecodeError::Unknown {
            what: "flag",
            value: value.into(),
        }),
    }
}

/// Writes a frame's body behind its length.
fn framed(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let from = out.len();
    body(out);
    let len = u32::try_from(out.len().saturating_sub(from)).unwrap_or(u32::MAX);
    if let Some(prefix) = out.get_mut(start..from) {
        prefix.copy_from_slice(&len.to_le_bytes());
    }
}

/// Returns as much of `reason` as a frame may carry, cut between characters.
fn shortened(reason: &str) -> &str {
    reason
        .get(..reason.floor_char_boundary(MAX_REASON))
        .unwrap_or_default()
}
