//! Messages to and from clients.

use super::Server;
use super::peer::Link;
use crate::ClientId;
use crate::limits::capped;
use crate::message::ServerFrame;
use crate::protocol::MessageKind;
use crate::session::SendError;
use crate::stats::bump;

impl Server {
    /// Queues a message for one client.
    ///
    /// A client that is away gets it when it resumes; one that starts anew does not.
    ///
    /// # Errors
    /// [`SendError`] if the type is not registered, the value cannot be written, or the client is
    /// not there or has too much waiting.
    pub fn send<M: 'static>(&mut self, client: ClientId, message: &M) -> Result<(), SendError> {
        let (kind, bytes) = self.encode(message)?;
        self.queue(client, kind, bytes)
    }

    /// Queues a message for every client that has a link, encoded once; returns for how many.
    ///
    /// A client whose queue is full is passed over and counted in its statistics.
    ///
    /// # Errors
    /// [`SendError`] if the type is not registered or the value cannot be written.
    pub fn broadcast<M: 'static>(&mut self, message: &M) -> Result<usize, SendError> {
        let (kind, bytes) = self.encode(message)?;
        let clients: Vec<ClientId> = self.clients().collect();
        let mut count = 0_usize;
        for client in clients {
            match self.queue(client, kind, bytes.clone()) {
                Ok(()) => count = count.saturating_add(1),
                Err(SendError::Full) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    /// Returns the messages of one type that arrived since the last call, in the order of arrival.
    ///
    /// # Panics
    /// Never; a type that is not registered has no messages.
    pub fn messages<M: 'static>(&mut self) -> std::vec::IntoIter<(ClientId, M)> {
        let kind = self.protocol.message_of::<M>().map(|(kind, _)| kind);
        kind.map(|kind| self.inbox.take(kind))
            .unwrap_or_default()
            .into_iter()
    }

    fn encode<M: 'static>(&self, message: &M) -> Result<(usize, Vec<u8>), SendError> {
        let (number, kind) = find::<M>(self.protocol.message_of::<M>())?;
        if !kind.sender.is_server() {
            return Err(SendError::WrongSender(kind.name.clone()));
        }
        Ok((number, encode(kind, message)?))
    }

    fn queue(&mut self, client: ClientId, kind: usize, bytes: Vec<u8>) -> Result<(), SendError> {
        let peer = self.clients.get_mut(&client).filter(|peer| peer.joined);
        // One that is back and has not said hello yet is as good as away.
        let peer = peer.filter(|peer| !matches!(peer.link, Link::Closing { .. }));
        let peer = peer.ok_or(SendError::NotConnected)?;
        let channel = self
            .protocol
            .message_kind(kind)
            .ok_or(SendError::NotConnected)?
            .channel;
        let len = bytes.len();
        let result = peer.session.queue(kind, channel, bytes, |payload| {
            let mut frame = Vec::new();
            let kind = u32::try_from(kind).unwrap_or(u32::MAX);
            ServerFrame::Message { kind, payload }.encode(&mut frame);
            frame
        });
        match &result {
            Ok(()) => peer.stats.note_message_out(kind, len),
            Err(error) => {
                bump(&mut peer.stats.refused_messages);
                capped!(self.log, self.now, debug, { %client, %error, }, "a message is not taken");
            }
        }
        result
    }
}

/// Returns the kind, or the error that names the type.
pub(crate) fn find<M>(
    found: Option<(usize, &MessageKind)>,
) -> Result<(usize, &MessageKind), SendError> {
    found.ok_or(SendError::NotRegistered(core::any::type_name::<M>()))
}

/// Returns the bytes of a message.
pub(crate) fn encode<M: 'static>(kind: &MessageKind, message: &M) -> Result<Vec<u8>, SendError> {
    let codec = kind
        .codec::<M>()
        .ok_or(SendError::NotRegistered(core::any::type_name::<M>()))?;
    let mut bytes = Vec::new();
    codec.encode(message, &mut bytes)?;
    Ok(bytes)
}
