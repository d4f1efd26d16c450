//! Bytes from clients.

use core::time::Duration;

use super::peer::Link;
use super::{Disconnect, Server};
use crate::ClientId;
use crate::limits::{LogCap, capped};
use crate::message::{ClientFrame, FrameBuffer};
use crate::protocol::Channel;
use crate::session::{Header, Side, Verdict, read_requests};
use crate::stats::bump;
use crate::wire::{DecodeError, Reader};

/// View hashes in a row that must differ before everything is sent anew.
const DIFFERENCES: u8 = 3;

impl Server {
    /// Takes a datagram of a client.
    ///
    /// One that is over the client's rate, doubled, or older than the window is ignored as if it
    /// had been lost. Cost is that of its bytes; memory stays within the client's caps.
    ///
    /// # Errors
    /// [`Disconnect`] if the bytes are not allowed: the client is then gone, and its link is to be
    /// closed with [`Disconnect::code`].
    pub fn receive(
        &mut self,
        client: ClientId,
        datagram: &[u8],
        now: Duration,
    ) -> Result<(), Disconnect> {
        self.advance(now);
        let result = self.take_datagram(client, datagram);
        self.end_if_bad(client, result)
    }

    /// Takes the next bytes of a client's stream, cut anywhere.
    ///
    /// # Errors
    /// [`Disconnect`] if the bytes are not allowed: the client is then gone, and its link is to be
    /// closed with [`Disconnect::code`].
    pub fn receive_stream(
        &mut self,
        client: ClientId,
        bytes: &[u8],
        now: Duration,
    ) -> Result<(), Disconnect> {
        self.advance(now);
        let result = self.take_stream(client, bytes);
        self.end_if_bad(client, result)
    }

    fn end_if_bad(
        &mut self,
        client: ClientId,
        result: Result<(), Disconnect>,
    ) -> Result<(), Disconnect> {
        if let Err(reason) = &result {
            self.remove(client, reason.clone());
        }
        result
    }

    fn take_datagram(&mut self, client: ClientId, datagram: &[u8]) -> Result<(), Disconnect> {
        let peer = self.clients.get_mut(&client).ok_or(Disconnect::Unknown)?;
        // Whatever one sends that is on its way out, it has been ended already, and why stands.
        if matches!(peer.link, Link::Closing { .. } | Link::Detached { .. }) {
            return Ok(());
        }
        match peer.flood.datagram(datagram.len(), self.now) {
            Verdict::Accept => {}
            Verdict::Ignore => {
                bump(&mut peer.stats.ignored_datagrams);
                let (log, now) = (&mut self.log, self.now);
                capped!(log, now, debug, { %client, }, "a datagram over the rate is ignored");
                return Ok(());
            }
            Verdict::Drop => return Err(Disconnect::Flood),
        }
        // Datagrams may overtake the stream; before the welcome they say nothing yet.
        if !matches!(peer.link, Link::Live) {
            return Ok(());
        }
        peer.stats.note_received(datagram.len());
        if datagram.len() > self.settings.limits.datagram_bytes {
            return Err(too_long(
                datagram.len(),
                self.settings.limits.datagram_bytes,
            ));
        }
        let mut reader = Reader::new(datagram);
        let header = Header::decode(&mut reader, Side::Client)?;
        self.outcome.clear();
        let fresh = peer.session.accept(&header, self.now, &mut self.outcome);
        if !fresh {
            return Ok(());
        }
        peer.older = None;
        peer.stats.note_session(&peer.session, &self.outcome);
        Self::settle(&mut self.replicator, client, &self.outcome);
        let requests = if header.requests {
            Some(read_requests(&mut reader)?)
        } else {
            None
        };
        if header.messages {
            self.take_messages(client, &mut reader)?;
        }
        reader.finish()?;
        self.take_requests(client, &header, requests.as_deref());
        Ok(())
    }

    fn take_messages(
        &mut self,
        client: ClientId,
        reader: &mut Reader<'_>,
    ) -> Result<(), Disconnect> {
        let Some(peer) = self.clients.get_mut(&client) else {
            return Ok(());
        };
        peer.session.owe_ack();
        let (flood, stats, inbox, now) =
            (&mut peer.flood, &mut peer.stats, &mut self.inbox, self.now);
        let protocol = &self.protocol;
        let (mut flooded, dropped) = (false, stats.dropped_messages);
        peer.session
            .read_messages(reader, protocol, Side::Client, |kind, len, value| {
                stats.note_message_in(kind, len);
                // Of a latest-wins kind a datagram has one: the rate of datagrams is limit enough.
                let latest = protocol
                    .message_kind(kind)
                    .is_some_and(|kind| kind.channel == Channel::Latest);
                let verdict = if latest {
                    Verdict::Accept
                } else {
                    flood.message(now)
                };
                flooded |= verdict == Verdict::Drop;
                if verdict != Verdict::Accept || !inbox.push(client, kind, value) {
                    bump(&mut stats.dropped_messages);
                }
            })?;
        if peer.stats.dropped_messages > dropped {
            Self::say_dropped(&mut self.log, client, now);
        }
        if flooded {
            Err(Disconnect::Flood)
        } else {
            Ok(())
        }
    }

    /// Compares view hashes and answers requests for full state; everything anew at most once in
    /// a while.
    fn take_requests(&mut self, client: ClientId, header: &Header, requests: Option<&[u32]>) {
        let Some(peer) = self.clients.get_mut(&client) else {
            return;
        };
        if header.view_hash.is_some() || requests.is_some() {
            peer.session.owe_ack();
        }
        if let Some(slots) = requests {
            // Slots that are not there, or not this client's, are passed over in silence.
            self.replicator.request_full(client, slots);
        }
        let every = self.settings.limits.view_hash_every;
        let since = |last: Duration| self.now.saturating_sub(last);
        // An older datagram speaks of an older state. To look at a hash costs as much as all that the
        // client sees: one that comes much sooner than it should is not looked at.
        let is_due = peer
            .hashed
            .is_none_or(|last| since(last).saturating_mul(2) >= every);
        if let Some(hash) = header.view_hash
            && is_due
            && peer.session.is_newest(header)
        {
            peer.hashed = Some(self.now);
            if !self.replicator.is_in_transit(client) {
                let differs = hash != self.replicator.view_hash(client);
                peer.differences = if differs {
                    peer.differences.saturating_add(1)
                } else {
                    0
                };
            }
        }
        // A packet that was given up may have arrived all the same, and differs until its resend is
        // acknowledged: only what stays different is a difference.
        let differs = peer.differences >= DIFFERENCES;
        if !(differs || requests.is_some_and(<[u32]>::is_empty)) {
            return;
        }
        if peer.resynced.is_some_and(|last| since(last) < every) {
            return;
        }
        peer.resynced = Some(self.now);
        peer.differences = 0;
        bump(&mut peer.stats.resyncs);
        self.replicator.reset_client(client);
        capped!(self.log, self.now, debug, { %client, differs, }, "everything is sent anew");
    }

    fn say_dropped(log: &mut LogCap, client: ClientId, now: Duration) {
        capped!(log, now, debug, { %client, }, "a message over the rate, or that nobody took, is dropped");
    }

    fn take_stream(&mut self, client: ClientId, bytes: &[u8]) -> Result<(), Disconnect> {
        let peer = self.clients.get_mut(&client).ok_or(Disconnect::Unknown)?;
        if matches!(peer.link, Link::Closing { .. } | Link::Detached { .. }) || bytes.is_empty() {
            return Ok(());
        }
        // Stream bytes cannot be ignored, what follows them would be misread; but messages can.
        let verdict = peer.flood.stream(bytes.len(), self.now);
        if verdict == Verdict::Drop {
            return Err(Disconnect::Flood);
        }
        peer.over_rate = verdict == Verdict::Ignore;
        peer.stats.note_received(bytes.len());
        peer.session.heard(self.now);
        let mut frames = core::mem::replace(&mut peer.frames, FrameBuffer::new(0));
        let mut ended = false;
        let result = frames.feed::<Disconnect>(bytes, |body| {
            ended = true;
            self.take_frame(client, body)
        });
        if let Some(peer) = self.clients.get_mut(&client) {
            // A frame that ended makes the one that follows it a new one: a busy stream is cut in the
            // middle of a frame each time.
            let since = peer.partial_since.filter(|_| !ended);
            peer.partial_since = frames.is_partial().then(|| since.unwrap_or(self.now));
            peer.frames = frames;
        }
        result
    }

    fn take_frame(&mut self, client: ClientId, body: &[u8]) -> Result<(), Disconnect> {
        let frame = ClientFrame::decode(body)?;
        let peer = self.clients.get_mut(&client).ok_or(Disconnect::Unknown)?;
        match (&peer.link, frame) {
            (Link::Closing { .. }, _) => Ok(()),
            (Link::Connecting { .. }, ClientFrame::Hello(hello)) => {
                self.hello(client, &hello);
                Ok(())
            }
            (Link::Connecting { .. }, _) => {
                Err(DecodeError::NotAllowed("a message before the hello").into())
            }
            (_, ClientFrame::Hello(_)) => Err(DecodeError::NotAllowed("a second hello").into()),
            (_, ClientFrame::Goodbye) => Err(Disconnect::Left),
            (_, ClientFrame::Message { kind, payload }) => {
                let (kind, value) =
                    peer.session
                        .read_ordered(kind, payload, &self.protocol, Side::Client)?;
                peer.stats.note_message_in(kind, payload.len());
                let verdict = peer.flood.message(self.now);
                if verdict == Verdict::Drop {
                    return Err(Disconnect::Flood);
                }
                let ignored = peer.over_rate || verdict == Verdict::Ignore;
                if ignored || !self.inbox.push(client, kind, value) {
                    bump(&mut peer.stats.dropped_messages);
                    Self::say_dropped(&mut self.log, client, self.now);
                }
                Ok(())
            }
        }
    }
}

fn too_long(len: usize, max: usize) -> Disconnect {
    let wide = |value| u64::try_from(value).unwrap_or(u64::MAX);
    DecodeError::TooLong {
        what: "a datagram",
        len: wide(len),
        max: wide(max),
    }
    .into()
}
