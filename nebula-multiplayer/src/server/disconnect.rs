//! Why a connection ends.

use thiserror::Error;

use crate::wire::DecodeError;

/// Why a connection ended.
///
/// ```
/// use nebula_multiplayer::server::Disconnect;
///
/// assert_eq!(Disconnect::Idle.code(), 5);
/// assert_eq!(Disconnect::Idle.to_string(), "nothing was heard for too long");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Disconnect {
    /// The peer sent something that is not allowed.
    #[error("bad message: {0}")]
    Bad(#[from] DecodeError),
    /// The two sides speak different protocols. The text says where they differ.
    #[error("{0}")]
    Protocol(String),
    /// The peer sent far more than its rate.
    #[error("far too much was sent")]
    Flood,
    /// No whole hello came in time.
    #[error("no hello came in time")]
    HelloTimeout,
    /// Nothing came for too long.
    #[error("nothing was heard for too long")]
    Idle,
    /// Packets arrive, but none is acknowledged.
    #[error("nothing was acknowledged for too long")]
    NeverAcks,
    /// A frame was begun and not ended in time.
    #[error("a frame was not ended in time")]
    FrameTimeout,
    /// The server threw the client out.
    #[error("kicked: {0}")]
    Kicked(String),
    /// The server did not let the client in.
    #[error("refused: {0}")]
    Refused(String),
    /// The client left.
    #[error("left")]
    Left,
    /// The link is gone and there is nothing to resume.
    #[error("the link is gone")]
    LinkLost,
    /// The link was gone for too long.
    #[error("did not come back in time")]
    Expired,
    /// The link was gone, and the server was full when another client came.
    #[error("gave way to another while its link was gone")]
    GaveWay,
    /// The client did not read its stream for too long.
    #[error("what was sent was not read for too long")]
    Stalled,
    /// The client did not take its messages: there was no room for one that must not be lost.
    #[error("the messages that arrived were not taken")]
    Untaken,
    /// There is no such client.
    #[error("no such client")]
    Unknown,
}

impl Disconnect {
    /// Returns the number that a transport closes the link with.
    #[must_use]
    pub const fn code(&self) -> u32 {
        match self {
            Self::Left => 0,
            Self::Bad(_) => 1,
            Self::Protocol(_) => 2,
            Self::Flood => 3,
            Self::HelloTimeout => 4,
            Self::Idle => 5,
            Self::NeverAcks => 6,
            Self::FrameTimeout => 7,
            Self::Kicked(_) => 8,
            Self::Refused(_) => 9,
            Self::LinkLost => 10,
            Self::Expired => 11,
            Self::Unknown => 12,
            Self::Stalled => 13,
            Self::Untaken => 14,
            Self::GaveWay => 15,
        }
    }

    /// Returns a word for the kind of reason, by which lines of the log are capped.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Bad(_) => "bad message",
            Self::Protocol(_) => "protocol",
            Self::Flood => "flood",
            Self::HelloTimeout => "no hello",
            Self::Idle => "idle",
            Self::NeverAcks => "never acks",
            Self::FrameTimeout => "half a frame",
            Self::Kicked(_) => "kicked",
            Self::Refused(_) => "refused",
            Self::LinkLost => "link lost",
            Self::Expired => "expired",
            Self::Unknown => "unknown",
            Self::Stalled => "stalled",
            Self::Untaken => "untaken",
            Self::GaveWay => "gave way",
        }
    }
}
