//! Messages to and from the server.

use super::{Client, State};
use crate::message::ClientFrame;
use crate::protocol::Channel;
use crate::server::messages::{encode, find};
use crate::session::SendError;

impl Client {
    /// Queues a message for the server. While the link is lost it waits for a resume; a connection
    /// that starts anew drops it.
    ///
    /// # Errors
    /// [`SendError`] if the type is not registered, the value cannot be written, the server would
    /// not take that many, or there is no connection.
    pub fn send<M: 'static>(&mut self, message: &M) -> Result<(), SendError> {
        let (number, kind) = find::<M>(self.protocol.message_of::<M>())?;
        if !kind.sender.is_client() {
            return Err(SendError::WrongSender(kind.name.clone()));
        }
        if !matches!(self.state, State::Live | State::Lost) {
            return Err(SendError::NotConnected);
        }
        let bytes = encode(kind, message)?;
        // The server ignores what exceeds its rate, so it is refused here, where someone can act.
        if kind.channel != Channel::Latest {
            self.messages.refill(self.now);
            if !self.messages.take(1) {
                return Err(SendError::Full);
            }
        }
        self.session.queue(number, kind.channel, bytes, |payload| {
            let mut frame = Vec::new();
            let kind = u32::try_from(number).unwrap_or(u32::MAX);
            ClientFrame::Message { kind, payload }.encode(&mut frame);
            frame
        })
    }

    /// Returns the messages of one type that arrived since the last call, in the order of arrival. Take
    /// every type that the server sends, often: what waits is bounded
    /// ([`inbox_bytes`](super::ClientSettings::inbox_bytes)).
    pub fn messages<M: 'static>(&mut self) -> std::vec::IntoIter<M> {
        let kind = self.protocol.message_of::<M>().map(|(kind, _)| kind);
        let taken = kind.map(|kind| self.inbox.take(kind)).unwrap_or_default();
        taken.into_iter()
    }

    /// Returns how many messages were dropped because nobody took them. Only those of
    /// [`Channel::Latest`] are: of all of them together the newest `inbox_messages` wait, and at least
    /// one of each kind. The others are never dropped; a client that does not take them is
    /// [`Untaken`](crate::server::Disconnect::Untaken).
    ///
    /// ```
    /// use nebula_multiplayer::{Client, ClientSettings, Protocol};
    ///
    /// let client = Client::new(Protocol::new("my game", 1), ClientSettings::default()).unwrap();
    /// assert_eq!(client.lost_messages(), 0);
    /// ```
    #[must_use]
    pub const fn lost_messages(&self) -> u64 {
        self.inbox.lost()
    }
}
