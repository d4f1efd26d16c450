//! Bytes from the server.

use core::time::Duration;

use super::inbox::Full;
use super::{Client, ClientEvent, Held, State};
use crate::message::{FrameBuffer, ServerFrame, Welcome};
use crate::server::Disconnect;
use crate::session::{Header, Session, Side};
use crate::wire::{DecodeError, Reader};
use crate::{ClientId, Tick};

impl Client {
    /// Takes a datagram of the server. What it says of entities shows at the next
    /// [`tick`](Self::tick).
    ///
    /// # Errors
    /// [`Disconnect`] if the bytes are not allowed: the connection is then over.
    pub fn receive(&mut self, datagram: &[u8], now: Duration) -> Result<(), Disconnect> {
        self.advance(now);
        let result = self.take_datagram(datagram);
        self.end_if_bad(result)
    }

    /// Takes the next bytes of the server's stream, cut anywhere.
    ///
    /// # Errors
    /// [`Disconnect`] if the bytes are not allowed, or say that the connection is over.
    pub fn receive_stream(&mut self, bytes: &[u8], now: Duration) -> Result<(), Disconnect> {
        self.advance(now);
        let result = self.take_stream(bytes);
        self.end_if_bad(result)
    }

    fn end_if_bad(&mut self, result: Result<(), Disconnect>) -> Result<(), Disconnect> {
        if let Err(reason) = &result {
            self.close(reason.clone());
        }
        result
    }

    fn take_datagram(&mut self, datagram: &[u8]) -> Result<(), Disconnect> {
        // Before the welcome, a datagram that overtook it cannot be placed: as if it was lost.
        if !matches!(self.state, State::Live) {
            return Ok(());
        }
        let max = self.settings.limits.datagram_bytes;
        if datagram.len() > max {
            let wide = |len| u64::try_from(len).unwrap_or(u64::MAX);
            return Err(DecodeError::TooLong {
                what: "a datagram",
                len: wide(datagram.len()),
                max: wide(max),
            }
            .into());
        }
        let mut reader = Reader::new(datagram);
        let header = Header::decode(&mut reader, Side::Server)?;
        self.outcome.clear();
        if !self.session.accept(&header, self.now, &mut self.outcome) {
            return Ok(());
        }
        let tick = Tick::new(header.tick.unwrap_or_default());
        self.clock.sample(tick, self.now);
        self.take_fields(&header);
        if header.messages {
            let inbox = &mut self.inbox;
            let mut room = Ok(());
            self.session.read_messages(
                &mut reader,
                &self.protocol,
                Side::Server,
                |kind, len, value| {
                    room = inbox.push(kind, len, value).and(room);
                },
            )?;
            room?;
        }
        if header.body {
            self.mirror.read(tick, reader.rest())?;
        } else {
            reader.finish()?;
        }
        if header.body || header.messages {
            self.session.owe_ack();
        }
        Ok(())
    }

    /// Takes the small pieces of state in a header; an older packet does not undo a newer one.
    fn take_fields(&mut self, header: &Header) {
        if let Some(echo) = header.echo {
            self.session.owe_ack();
            let newer = self.echo.is_none_or(|old| echo.wrapping_sub(old) < 1 << 31);
            if newer {
                self.echo = Some(echo);
            }
        }
        if header.ordered.is_some() {
            self.session.owe_ack();
        }
    }

    fn take_stream(&mut self, bytes: &[u8]) -> Result<(), Disconnect> {
        if !matches!(self.state, State::Live | State::Connecting { .. }) {
            return Ok(());
        }
        self.session.heard(self.now);
        let mut frames = core::mem::replace(&mut self.frames, FrameBuffer::new(0));
        let result = frames.feed::<Disconnect>(bytes, |body| self.take_frame(body));
        self.frames = frames;
        result
    }

    fn take_frame(&mut self, body: &[u8]) -> Result<(), Disconnect> {
        let frame = ServerFrame::decode(body)?;
        match (&self.state, frame) {
            (_, ServerFrame::Kick { reason }) => Err(Disconnect::Kicked(reason.into())),
            (State::Connecting { .. }, ServerFrame::Welcome(welcome)) => self.welcome(&welcome),
            (State::Connecting { .. }, ServerFrame::Refused { reason }) => {
                Err(Disconnect::Refused(reason.into()))
            }
            (State::Live, ServerFrame::Message { kind, payload }) => {
                let (kind, value) =
                    self.session
                        .read_ordered(kind, payload, &self.protocol, Side::Server)?;
                Ok(self.inbox.push(kind, payload.len(), value)?)
            }
            _ => Err(DecodeError::NotAllowed("a frame that does not belong here").into()),
        }
    }

    fn welcome(&mut self, welcome: &Welcome) -> Result<(), Disconnect> {
        if welcome.tick_rate == 0 {
            return Err(DecodeError::OutOfRange {
                what: "a tick rate",
            }
            .into());
        }
        if welcome.resumed && self.ticket.is_none() {
            return Err(DecodeError::NotAllowed("a resume that was not asked for").into());
        }
        if welcome.resumed {
            self.outcome.clear();
            self.session
                .rejoin(welcome.ordered, self.now, &mut self.outcome);
        } else {
            let limits = &self.settings.limits;
            self.session = Session::new(limits, &self.protocol, limits.frame_in_bytes, self.now);
            self.mirror.start_over();
            self.echo = None;
        }
        let (tick, rate) = (Tick::new(welcome.tick), welcome.tick_rate);
        if welcome.resumed {
            self.clock.resume(tick, rate, self.now);
        } else {
            self.clock.start(tick, rate, self.now);
        }
        self.ticket = (welcome.ticket != [0; 16]).then_some(Held(welcome.ticket));
        let client = ClientId::new(welcome.client);
        self.id = Some(client);
        self.session.ordered.open();
        self.state = State::Live;
        self.push_event(ClientEvent::Connected {
            client,
            resumed: welcome.resumed,
        });
        Ok(())
    }
}

/// It counts as arrived already, so the server would never send it again.
impl From<Full> for Disconnect {
    fn from(Full: Full) -> Self {
        Self::Untaken
    }
}
