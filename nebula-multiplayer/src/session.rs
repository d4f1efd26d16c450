//! One connection's packets: numbers, acknowledgements, loss, round trips, and small messages.
//!
//! A session knows neither sockets nor clocks and is the same on both sides. Packets are numbered
//! with 64 bits inside and 16 on the wire. A packet counts as lost when three newer ones were
//! acknowledged, or after twice the round trip and no less than 200 ms; what it carried is then
//! sent again if it still matters. Nothing here grows without a cap: [`Limits`] names each.

#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::as_conversions
)]

mod budget;
mod flood;
mod header;
mod history;
mod input;
mod latest;
mod ordered;
mod received;
mod rtt;
mod small;
mod unordered;

pub use budget::Bucket;
pub(crate) use flood::{Flood, Verdict};
pub(crate) use header::widen;
pub use header::{Acks, Header, Side};
pub(crate) use history::Outcome;
pub use input::{InputVerdict, InputWindow};
pub use small::{MAX_REQUESTS, SmallMessage, put_requests, read_requests};

use core::time::Duration;

use thiserror::Error;

use crate::limits::Limits;
use crate::message::Resume;
use crate::protocol::{AnyMessage, Channel, Protocol};
use crate::wire::{DecodeError, EncodeError, Reader};

use history::{History, Item, Sent};
use latest::{LatestIn, LatestOut};
use ordered::Ordered;
use received::Received;
use rtt::RoundTrip;
use unordered::{UnorderedIn, UnorderedOut};

/// Why a message was not taken for sending.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The type is not in the protocol.
    #[error("message type {0} is not registered; add it to the protocol on both sides")]
    NotRegistered(&'static str),
    /// The protocol gives this message to the other side.
    #[error("message {0:?} may not be sent from this side")]
    WrongSender(String),
    /// The value cannot be written.
    #[error("message cannot be written")]
    Encode(#[from] EncodeError),
    /// Longer than its channel carries.
    #[error("message of {len} bytes is too long; its channel carries {max}")]
    TooLong {
        /// Bytes of the message.
        len: usize,
        /// Bytes that fit.
        max: usize,
    },
    /// Too much waits already.
    #[error("too many messages wait for this peer; send fewer or wait")]
    Full,
    /// There is no such peer, or it is not connected.
    #[error("not connected")]
    NotConnected,
}

/// The state of one connection, kept across a resume.
#[derive(Debug)]
pub(crate) struct Session {
    keep_alive: Duration,
    message_bytes: usize,
    next: u64,
    history: History,
    received: Received,
    rtt: RoundTrip,
    unordered_out: UnorderedOut,
    unordered_in: UnorderedIn,
    latest_out: LatestOut,
    latest_in: LatestIn,
    pub(crate) ordered: Ordered,
    /// State that is sent once and again on loss.
    echo: Repeated,
    confirm: Repeated,
    last_sent: Option<Duration>,
    last_received: Duration,
    /// Since when something waits for an acknowledgement and none came.
    unacked_since: Option<Duration>,
}

/// A small value that the peer should know: sent when it changes, and again when that was lost.
#[derive(Clone, Copy, Debug, Default)]
struct Repeated {
    value: u32,
    dirty: bool,
}

impl Repeated {
    fn set(&mut self, value: u32) {
        if self.value != value {
            *self = Self { value, dirty: true };
        }
    }

    fn lost(&mut self, value: u32) {
        // An older value does not matter any more.
        self.dirty |= self.value == value;
    }
}

/// What one datagram is about to carry.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) packet: u64,
    /// Whether a message waits that found no room.
    pub(crate) is_cramped: bool,
    items: Vec<Item>,
    /// Offset of the flags in the output.
    start: usize,
    due: bool,
    acks: bool,
}

impl Draft {
    /// Returns how many messages of which each counts it carries.
    pub(crate) fn unordered(&self) -> u64 {
        let unordered = |item: &&Item| matches!(item, Item::Unordered(_));
        let count = self.items.iter().filter(unordered).count();
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

impl Session {
    pub(crate) fn new(
        limits: &Limits,
        protocol: &Protocol,
        frame_bytes: usize,
        now: Duration,
    ) -> Self {
        Self {
            keep_alive: limits.keep_alive,
            message_bytes: limits.message_bytes,
            next: 0,
            history: History::new(limits.history_packets),
            received: Received::default(),
            rtt: RoundTrip::default(),
            unordered_out: UnorderedOut::new(limits.unordered_in_flight),
            unordered_in: UnorderedIn::default(),
            latest_out: LatestOut::new(protocol.message_kinds()),
            latest_in: LatestIn::new(protocol.message_kinds()),
            ordered: Ordered::new(limits.stream_queue_bytes, frame_bytes),
            echo: Repeated::default(),
            confirm: Repeated::default(),
            last_sent: None,
            last_received: now,
            unacked_since: None,
        }
    }

    /// Returns the smoothed round trip, once one was measured.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// Returns the least round trip of late.
    pub(crate) fn min_rtt(&self) -> Option<Duration> {
        self.rtt.least()
    }

    /// Returns how many packets wait for their fate.
    pub(crate) fn in_flight(&self) -> usize {
        self.history.len()
    }

    /// Returns when the peer was last heard.
    pub(crate) const fn last_received(&self) -> Duration {
        self.last_received
    }

    /// Returns since when acknowledgements are missing.
    pub(crate) const fn unacked_since(&self) -> Option<Duration> {
        self.unacked_since
    }

    /// Notes that the peer was heard on the stream.
    pub(crate) fn heard(&mut self, now: Duration) {
        self.last_received = self.last_received.max(now);
    }

    /// Forgets timers that ran while there was no link.
    pub(crate) fn restart_timers(&mut self, now: Duration) {
        self.last_received = now;
        self.unacked_since = self.unacked_since.map(|_| now);
        self.last_sent = None;
    }

    /// Sets the number of the last processed input, told to the client.
    pub(crate) fn set_echo(&mut self, number: u32) {
        self.echo.set(number);
    }

    /// Takes a message for sending.
    pub(crate) fn queue(
        &mut self,
        kind: usize,
        channel: Channel,
        bytes: Vec<u8>,
        frame: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<(), SendError> {
        if channel == Channel::Ordered {
            return self.ordered.queue(bytes.len(), || frame(&bytes));
        }
        if bytes.len() > self.message_bytes {
            return Err(SendError::TooLong {
                len: bytes.len(),
                max: self.message_bytes,
            });
        }
        if channel == Channel::Latest {
            self.latest_out.set(kind, bytes);
            return Ok(());
        }
        self.unordered_out.queue(kind, bytes)
    }

    /// Takes the head of a datagram. Returns whether the packet is new; an old or doubled one is
    /// to be ignored. Packets whose fate is now known are added to `outcome`.
    pub(crate) fn accept(&mut self, header: &Header, now: Duration, outcome: &mut Outcome) -> bool {
        if !self.received.note(header.sequence, now) {
            return false;
        }
        self.heard(now);
        if let Some(acks) = header.acks {
            let delay = Duration::from_millis(acks.delay_ms.into());
            self.acked(acks.newest, acks.before, Some(delay), now, outcome);
        }
        if let Some(count) = header.ordered {
            self.ordered.confirmed(count);
        }
        true
    }

    /// Returns whether the packet that was just accepted is the newest of all.
    pub(crate) fn is_newest(&self, header: &Header) -> bool {
        self.received
            .newest()
            .is_some_and(|newest| newest & 0xFFFF == u64::from(header.sequence))
    }

    /// Notes that something in the last packet deserves an acknowledgement.
    pub(crate) const fn owe_ack(&mut self) {
        self.received.owed = true;
    }

    /// Takes the acknowledgements of a resuming client.
    pub(crate) fn resume(&mut self, resume: &Resume, now: Duration, outcome: &mut Outcome) {
        if let Some((newest, before)) = resume.acks {
            self.acked(newest, before, None, now, outcome);
        }
        self.rejoin(resume.ordered, now, outcome);
    }

    /// Carries on over a new link, after the peer said how many ordered messages it has.
    pub(crate) fn rejoin(&mut self, ordered: u32, now: Duration, outcome: &mut Outcome) {
        // Whatever was under way went down with the old link.
        while let Some(sent) = self.history.give_up_oldest() {
            self.lost(&sent, outcome);
        }
        self.ordered.restart(ordered);
        self.restart_timers(now);
        self.unacked_since = None;
    }

    /// Returns what a resuming client shows: its acknowledgements and its count of ordered messages.
    pub(crate) fn proof(&self) -> (Option<(u16, u32)>, u32) {
        (self.received.acks(), self.ordered.arrived())
    }

    fn acked(
        &mut self,
        newest: u16,
        before: u32,
        delay: Option<Duration>,
        now: Duration,
        outcome: &mut Outcome,
    ) {
        let newest = widen(newest, self.next);
        let mut progress = false;
        let history = &mut self.history;
        let rtt = &mut self.rtt;
        let (unordered, latest) = (&mut self.unordered_out, &mut self.latest_out);
        history.acked(newest, before, |sent| {
            progress |= sent.eliciting;
            if sent.packet == newest
                && let Some(delay) = delay
            {
                rtt.sample(now.saturating_sub(sent.at).saturating_sub(delay));
            }
            for item in &sent.items {
                match *item {
                    Item::Unordered(id) => unordered.acked(id),
                    Item::Latest { kind, number } => latest.acked(kind, number),
                    Item::Echo(_) | Item::Confirm(_) => {}
                }
            }
            outcome.acked.push(sent.packet);
        });
        // On a link that has become slower every packet is given up before its acknowledgement comes:
        // the late ones say how slow it is, or nothing ever would.
        if let (Some(at), Some(delay)) = (self.history.given_up(newest), delay) {
            rtt.sample(now.saturating_sub(at).saturating_sub(delay));
        }
        while let Some(sent) = self.history.next_overtaken() {
            self.lost(&sent, outcome);
        }
        if progress {
            self.unacked_since = self.history.any_eliciting().then_some(now);
        }
    }

    /// Gives up packets that were not acknowledged in time.
    pub(crate) fn expire(&mut self, now: Duration, outcome: &mut Outcome) {
        let timeout = self.rtt.loss_timeout();
        while let Some(sent) = self.history.next_expired(now, timeout) {
            self.history.remember(&sent);
            self.lost(&sent, outcome);
        }
    }

    fn lost(&mut self, sent: &Sent, outcome: &mut Outcome) {
        for item in &sent.items {
            match *item {
                Item::Unordered(id) => self.unordered_out.lost(id),
                Item::Latest { kind, number } => self.latest_out.lost(kind, number),
                Item::Echo(value) => self.echo.lost(value),
                Item::Confirm(value) => self.confirm.lost(value),
            }
        }
        outcome.lost.push(sent.packet);
    }

    /// Returns whether a datagram should be sent even if nothing replicated waits.
    pub(crate) fn wants_to_send(&self, now: Duration) -> bool {
        self.received.owed
            || self.confirm.dirty
            || self.ordered.arrived() != self.confirm.value
            || self.echo.dirty
            || self.unordered_out.wants_to_send()
            || self.latest_out.wants_to_send()
            || self.keep_alive_due(now)
    }

    fn keep_alive_due(&self, now: Duration) -> bool {
        self.last_sent
            .is_none_or(|last| now.saturating_sub(last) >= self.keep_alive)
    }

    /// Begins a datagram: the header and as many messages as fit into `room` bytes, at most `unordered`
    /// of those of which each counts.
    pub(crate) fn begin(
        &mut self,
        mut header: Header,
        requests: Option<&[u32]>,
        room: usize,
        unordered: u64,
        now: Duration,
        out: &mut Vec<u8>,
    ) -> Draft {
        self.confirm.set(self.ordered.arrived());
        let mut draft = Draft {
            packet: self.next,
            start: out.len(),
            due: self.keep_alive_due(now),
            ..Draft::default()
        };
        header.sequence = low16(self.next);
        header.acks = self.received.header(now);
        draft.acks = self.received.owed;
        if self.confirm.dirty {
            header.ordered = Some(low16(self.confirm.value.into()));
            draft.items.push(Item::Confirm(self.confirm.value));
        }
        if header.tick.is_some() && self.echo.dirty {
            header.echo = Some(self.echo.value);
            draft.items.push(Item::Echo(self.echo.value));
        }
        header.requests = requests.is_some();
        header.encode(out);
        if let Some(slots) = requests {
            put_requests(out, slots);
        }
        let used = out.len().saturating_sub(draft.start);
        let mut writer = small::Writer::new(out, room.saturating_sub(used));
        self.unordered_out
            .write(unordered, &mut writer, &mut draft.items);
        self.latest_out.write(&mut writer, &mut draft.items);
        draft.is_cramped = writer.is_cramped();
        if writer.finish() {
            set_flag(out, draft.start, header::MESSAGES);
        }
        draft
    }

    /// Ends a datagram. Returns `false`, with the bytes taken back, if it would say nothing.
    pub(crate) fn end(
        &mut self,
        draft: Draft,
        body: bool,
        extra: bool,
        now: Duration,
        out: &mut Vec<u8>,
    ) -> bool {
        if body {
            set_flag(out, draft.start, header::BODY);
        }
        let eliciting = body || extra || !draft.items.is_empty();
        if !(eliciting || draft.acks || draft.due) {
            out.truncate(draft.start);
            return false;
        }
        for item in &draft.items {
            match item {
                Item::Echo(_) => self.echo.dirty = false,
                Item::Confirm(_) => self.confirm.dirty = false,
                Item::Unordered(_) | Item::Latest { .. } => {}
            }
        }
        self.received.owed = false;
        self.next = self.next.saturating_add(1);
        self.last_sent = Some(now);
        if eliciting {
            self.unacked_since.get_or_insert(now);
        }
        self.history.push(Sent {
            packet: draft.packet,
            at: now,
            eliciting,
            items: draft.items,
            newer: 0,
        });
        true
    }

    /// Gives up the oldest packets if more are remembered than allowed.
    pub(crate) fn trim(&mut self, outcome: &mut Outcome) {
        while let Some(sent) = self.history.next_surplus() {
            self.lost(&sent, outcome);
        }
    }

    /// Reads the messages of a datagram and hands on those that are new.
    pub(crate) fn read_messages(
        &mut self,
        reader: &mut Reader<'_>,
        protocol: &Protocol,
        from: Side,
        mut each: impl FnMut(usize, usize, AnyMessage),
    ) -> Result<(), DecodeError> {
        self.latest_in.begin_datagram();
        for _ in 0..small::read_count(reader)? {
            let message = SmallMessage::decode(reader, self.message_bytes)?;
            let (number, kind) = find_kind(protocol, message.kind, from)?;
            // Decoded before it is judged: bad bytes are refused even in a message that is old.
            let value = kind.decode(message.payload)?;
            let fresh = match kind.channel {
                Channel::Unordered => self.unordered_in.note(message.id)?,
                Channel::Latest => self.latest_in.note(number, message.id)?,
                Channel::Ordered => {
                    return Err(DecodeError::NotAllowed("an ordered message in a datagram"));
                }
            };
            if fresh {
                each(number, message.payload.len(), value);
            }
        }
        Ok(())
    }

    /// Reads an ordered message.
    pub(crate) fn read_ordered(
        &mut self,
        kind: u32,
        payload: &[u8],
        protocol: &Protocol,
        from: Side,
    ) -> Result<(usize, AnyMessage), DecodeError> {
        let (number, kind) = find_kind(protocol, kind, from)?;
        if kind.channel != Channel::Ordered {
            return Err(DecodeError::NotAllowed(
                "an unordered message on the stream",
            ));
        }
        let value = kind.decode(payload)?;
        self.ordered.arrive();
        Ok((number, value))
    }
}

/// Returns the kind with this number, if `from` may send it.
fn find_kind(
    protocol: &Protocol,
    number: u32,
    from: Side,
) -> Result<(usize, &crate::protocol::MessageKind), DecodeError> {
    let unknown = DecodeError::Unknown {
        what: "message kind",
        value: number.into(),
    };
    let number = usize::try_from(number).map_err(|_| unknown.clone())?;
    let kind = protocol.message_kind(number).ok_or(unknown)?;
    let allowed = match from {
        Side::Server => kind.sender.is_server(),
        Side::Client => kind.sender.is_client(),
    };
    if !allowed {
        return Err(DecodeError::NotAllowed(
            "a message that only the other side sends",
        ));
    }
    Ok((number, kind))
}

fn set_flag(out: &mut [u8], at: usize, flag: u8) {
    if let Some(flags) = out.get_mut(at) {
        *flags |= flag;
    }
}

/// Returns the low 16 bits.
pub(crate) fn low16(number: u64) -> u16 {
    u16::try_from(number & 0xFFFF).unwrap_or(0)
}
