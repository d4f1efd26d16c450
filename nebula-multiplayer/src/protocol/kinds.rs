//! Kinds of messages: how each travels, who may send it, how it becomes bytes.

use core::any::{Any, TypeId};
use core::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wire::{Codec, DecodeError};

/// A type that can be sent as a message: anything that serde writes and reads.
pub trait Message: Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Message for T {}

/// How a message travels, and what its receiver may rely on.
///
/// ```
/// use nebula_multiplayer::protocol::Channel;
///
/// // Chat must not overtake itself; a hit marker may; of a steering input only the last counts.
/// let choices = [Channel::Ordered, Channel::Unordered, Channel::Latest];
/// assert_ne!(choices[0], choices[1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Each arrives once, in the order sent, also across a resume; a lost one holds up the rest.
    Ordered,
    /// Each arrives once, in any order; a lost one holds up nothing. At most 1,024 bytes.
    Unordered,
    /// The newest arrives; older ones are dropped and never follow a newer one. At most 1,024 bytes.
    Latest,
}

impl Channel {
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Ordered => 0,
            Self::Unordered => 1,
            Self::Latest => 2,
        }
    }
}

/// Who may send a message; anyone else who does is dropped.
///
/// ```
/// use nebula_multiplayer::protocol::Sender;
///
/// assert!(Sender::Server.is_server() && !Sender::Server.is_client());
/// assert!(Sender::Both.is_server() && Sender::Both.is_client());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// Either side.
    Both,
    /// The server alone.
    Server,
    /// Clients alone.
    Client,
}

impl Sender {
    /// Returns whether the server may send it.
    #[must_use]
    pub const fn is_server(self) -> bool {
        matches!(self, Self::Both | Self::Server)
    }

    /// Returns whether a client may send it.
    #[must_use]
    pub const fn is_client(self) -> bool {
        matches!(self, Self::Both | Self::Client)
    }

    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Both => 0,
            Self::Server => 1,
            Self::Client => 2,
        }
    }
}

/// A decoded message of a type that only the game knows.
pub(crate) type AnyMessage = Box<dyn Any + Send + Sync>;

/// Reads a message of a type that only the game knows.
type Decode = dyn Fn(&[u8]) -> Result<AnyMessage, DecodeError> + Send + Sync;

/// One registered message.
pub(crate) struct MessageKind {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) channel: Channel,
    pub(crate) sender: Sender,
    pub(crate) type_id: TypeId,
    /// The `Codec<M>`, for senders, who know `M`.
    codec: AnyMessage,
    /// The same codec, for receivers, who do not.
    decode: Box<Decode>,
}

impl MessageKind {
    pub(super) fn new<M: Send + Sync + 'static>(
        name: &str,
        version: u32,
        channel: Channel,
        sender: Sender,
        codec: Codec<M>,
    ) -> Self {
        Self {
            name: name.into(),
            version,
            channel,
            sender,
            type_id: TypeId::of::<M>(),
            codec: Box::new(codec),
            decode: Box::new(move |bytes| Ok(Box::new(codec.decode(bytes)?))),
        }
    }

    /// Returns the codec, if this is the kind of `M`.
    pub(crate) fn codec<M: 'static>(&self) -> Option<&Codec<M>> {
        self.codec.downcast_ref()
    }

    /// Returns the message that `bytes` hold.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Result<AnyMessage, DecodeError> {
        (self.decode)(bytes)
    }
}

impl fmt::Debug for MessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageKind")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("channel", &self.channel)
            .field("sender", &self.sender)
            .finish_non_exhaustive()
    }
}
