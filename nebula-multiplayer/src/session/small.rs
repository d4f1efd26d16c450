//! Messages inside datagrams.

use crate::wire::{DecodeError, Reader, put_bytes, put_varint, varint_len};

/// One unordered or latest-wins message, as it lies in a datagram.
///
/// ```
/// use nebula_multiplayer::session::SmallMessage;
/// use nebula_multiplayer::wire::Reader;
///
/// let message = SmallMessage { kind: 3, id: 0x0201, payload: b"hey" };
/// let mut bytes = Vec::new();
/// message.encode(&mut bytes);
/// assert_eq!(bytes, [3, 0x01, 0x02, 3, b'h', b'e', b'y']);
/// assert_eq!(SmallMessage::decode(&mut Reader::new(&bytes), 1_024).unwrap(), message);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallMessage<'a> {
    /// Number of the message's kind.
    pub kind: u32,
    /// Low 16 bits of the message's own number, by which doubles are told.
    pub id: u16,
    /// The message.
    pub payload: &'a [u8],
}

impl<'a> SmallMessage<'a> {
    /// Appends the message.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.kind.into());
        out.extend_from_slice(&self.id.to_le_bytes());
        put_bytes(out, self.payload);
    }

    /// Returns the next message, of at most `max` bytes.
    ///
    /// # Errors
    /// [`DecodeError`] if it is cut, too long or not canonical.
    pub fn decode(reader: &mut Reader<'a>, max: usize) -> Result<Self, DecodeError> {
        let kind = reader.varint_u32()?;
        let id = reader.u16()?;
        let len = reader.length("a message", max)?;
        Ok(Self {
            kind,
            id,
            payload: reader.bytes(len)?,
        })
    }

    fn len(&self) -> usize {
        let payload = self.payload.len();
        let prefix = varint_len(u64::try_from(payload).unwrap_or(u64::MAX));
        varint_len(self.kind.into())
            .saturating_add(2)
            .saturating_add(prefix)
            .saturating_add(payload)
    }
}

/// Slots that one datagram may ask about.
pub const MAX_REQUESTS: usize = 64;

/// Appends a client's requests for the full state of some slots; of none means of everything.
/// Slots beyond [`MAX_REQUESTS`] are left out.
///
/// ```
/// use nebula_multiplayer::session::{put_requests, read_requests};
/// use nebula_multiplayer::wire::Reader;
///
/// let mut bytes = Vec::new();
/// put_requests(&mut bytes, &[3, 300]);
/// assert_eq!(bytes, [2, 3, 0xAC, 0x02]);
/// assert_eq!(read_requests(&mut Reader::new(&bytes)).unwrap(), [3, 300]);
/// ```
pub fn put_requests(out: &mut Vec<u8>, slots: &[u32]) {
    let count = slots.len().min(MAX_REQUESTS);
    out.push(u8::try_from(count).unwrap_or(0));
    for &slot in slots.iter().take(count) {
        put_varint(out, slot.into());
    }
}

/// Returns a client's requests.
///
/// # Errors
/// [`DecodeError`] if they are cut, more than [`MAX_REQUESTS`], or not canonical.
pub fn read_requests(reader: &mut Reader<'_>) -> Result<Vec<u32>, DecodeError> {
    let count = reader.length("a list of requests", MAX_REQUESTS)?;
    (0..count).map(|_| reader.varint_u32()).collect()
}

/// Reads how many messages follow; the flag promised at least one.
pub(super) fn read_count(reader: &mut Reader<'_>) -> Result<u8, DecodeError> {
    match reader.u8()? {
        0 => Err(DecodeError::NotAllowed("an empty list of messages")),
        count => Ok(count),
    }
}

/// Writes messages while they fit.
pub(super) struct Writer<'o> {
    out: &'o mut Vec<u8>,
    at: usize,
    end: usize,
    count: u8,
    is_cramped: bool,
}

impl<'o> Writer<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>, room: usize) -> Self {
        let at = out.len();
        out.push(0);
        Self {
            end: at.saturating_add(room),
            out,
            at,
            count: 0,
            is_cramped: false,
        }
    }

    /// Writes a message if it fits; returns whether it did.
    pub(super) fn put(&mut self, message: &SmallMessage<'_>) -> bool {
        let fits = self.out.len().saturating_add(message.len()) <= self.end;
        self.is_cramped |= !fits;
        if !fits || self.count == u8::MAX {
            return false;
        }
        message.encode(self.out);
        self.count = self.count.saturating_add(1);
        true
    }

    /// Returns whether there was a message that did not fit.
    pub(super) const fn is_cramped(&self) -> bool {
        self.is_cramped
    }

    /// Sets the count; returns whether there is any message.
    pub(super) fn finish(self) -> bool {
        if self.count == 0 {
            self.out.truncate(self.at);
            return false;
        }
        if let Some(count) = self.out.get_mut(self.at) {
            *count = self.count;
        }
        true
    }
}
