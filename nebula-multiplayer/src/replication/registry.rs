//! Component kinds: what may be replicated, under which name, and how it becomes bytes.
//!
//! A kind has a **given name and a version**, never the type's path, so that moving a type between
//! modules does not change the protocol. Kinds are numbered by name, so that a server and a client may
//! register them in different orders. [`WorldPosition`](nebula_math::WorldPosition) is built in as
//! kind 0 and has a codec of its own; a component that is not registered never leaves the server.

use core::fmt;
use std::sync::Arc;

use bevy_ecs::component::Component;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::erased::{Erased, Plain, Referring};
use super::reference::References;
use crate::wire::Codec;

/// Component kinds of one protocol, the position included: one bit each in a `u64`.
pub const MAX_KINDS: usize = 64;

/// Bytes of an encoded component that is not declared [`stream`](Kind::stream).
pub const MAX_COMPONENT_BYTES: usize = 1_024;

/// Bytes of an encoded component that is declared [`stream`](Kind::stream).
pub const MAX_STREAM_BYTES: usize = 64 * 1_024;

/// One kind of component that servers send: its name, version, audience and codec.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_multiplayer::replication::Kind;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Component, Serialize, Deserialize)]
/// #[component(summary_tick)]
/// struct Health(u16);
///
/// let kind = Kind::new::<Health>("health").version(2).owner_only();
/// assert_eq!((kind.name(), kind.version_number()), ("health", 2));
/// assert!(kind.is_owner_only());
/// ```
#[derive(Clone)]
pub struct Kind {
    name: Arc<str>,
    version: u32,
    owner_only: bool,
    stream: bool,
    pub(crate) erased: Arc<dyn Erased>,
}

impl Kind {
    /// Returns a kind whose components travel as postcard, version 1, for everyone who sees the entity.
    #[must_use]
    pub fn new<C: Component + Serialize + DeserializeOwned>(name: &str) -> Self {
        Self::with_codec::<C>(name, Codec::serde())
    }

    /// Returns a kind whose components are written and read by a codec of your own.
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use nebula_multiplayer::replication::Kind;
    /// use nebula_multiplayer::wire::Codec;
    ///
    /// #[derive(Component)]
    /// struct Heading(u16);
    ///
    /// let codec = Codec::<Heading>::new(
    ///     |heading, out| Ok(out.extend_from_slice(&heading.0.to_le_bytes())),
    ///     |reader| Ok(Heading(reader.u16()?)),
    /// );
    /// assert_eq!(Kind::with_codec("heading", codec).name(), "heading");
    /// ```
    #[must_use]
    pub fn with_codec<C: Component>(name: &str, codec: Codec<C>) -> Self {
        Self::of(name, Arc::new(Plain::<C>::new(codec)))
    }

    /// Returns a kind whose components name other entities; see [`References`].
    #[must_use]
    pub fn with_references<C>(name: &str) -> Self
    where
        C: Component + References + Clone + Serialize + DeserializeOwned,
    {
        Self::of(name, Arc::new(Referring::<C>::new()))
    }

    fn of(name: &str, erased: Arc<dyn Erased>) -> Self {
        Self {
            name: name.into(),
            version: 1,
            owner_only: false,
            stream: false,
            erased,
        }
    }

    /// Sets the version, which is part of the protocol hash. Raise it when the bytes change meaning.
    #[must_use]
    pub fn version(mut self, version: u32) -> Self {
        self.version = version;
        self
    }

    /// Sends this kind to the entity's owner alone.
    #[must_use]
    pub fn owner_only(mut self) -> Self {
        self.owner_only = true;
        self
    }

    /// Allows up to [`MAX_STREAM_BYTES`], sent in fragments; the client gets the component when its last
    /// fragment arrives, which may be after the entity appeared.
    ///
    /// A `Vec<u8>` is a list to serde, which may have [`MAX_ELEMENTS`](crate::wire::MAX_ELEMENTS); longer
    /// ones need serde's `serialize_bytes` or a codec. A component with references cannot be a stream.
    #[must_use]
    pub fn stream(mut self) -> Self {
        self.stream = true;
        self
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version.
    #[must_use]
    pub fn version_number(&self) -> u32 {
        self.version
    }

    /// Returns whether only the entity's owner gets it.
    #[must_use]
    pub fn is_owner_only(&self) -> bool {
        self.owner_only
    }

    /// Returns whether it travels in fragments.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.stream
    }

    /// Returns whether its components name other entities.
    #[must_use]
    pub fn has_references(&self) -> bool {
        self.erased.has_references()
    }

    /// Returns how many bytes an encoded component may have.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        if self.stream {
            MAX_STREAM_BYTES
        } else {
            MAX_COMPONENT_BYTES
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("owner_only", &self.owner_only)
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}

/// Why a list of kinds makes no protocol.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KindError {
    /// Two kinds share a name.
    #[error("two component kinds are named {0:?}; give each a name of its own")]
    DuplicateName(String),
    /// One component type was registered twice.
    #[error("component {0} is registered twice, as {1:?} and {2:?}; register it once")]
    DuplicateType(&'static str, String, String),
    /// The position is built in.
    #[error("positions are replicated without being registered; remove {0:?}")]
    Position(String),
    /// More kinds than bits.
    #[error("{0} component kinds are registered; at most 63 fit beside the position")]
    TooMany(usize),
    /// References differ from client to client, fragments do not.
    #[error(
        "{0:?} is a stream and holds references; put the references into a component of their own"
    )]
    StreamOfReferences(String),
}

/// The kinds of one protocol, numbered by name from 1; 0 is the position.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    list: Arc<[Kind]>,
    owner_only: u64,
    streams: u64,
}

impl Kinds {
    /// Returns the kinds in the order of their names.
    ///
    /// # Errors
    /// When names or types repeat, the position is among them, or there are more than 63.
    pub fn new(kinds: impl IntoIterator<Item = Kind>) -> Result<Self, KindError> {
        let mut list: Vec<Kind> = kinds.into_iter().collect();
        list.sort_by(|a, b| a.name.cmp(&b.name));
        if list.len() >= MAX_KINDS {
            return Err(KindError::TooMany(list.len()));
        }
        for (at, kind) in list.iter().enumerate() {
            let name = || kind.name.to_string();
            if kind.erased.is_position() {
                return Err(KindError::Position(name()));
            }
            if kind.is_stream() && kind.has_references() {
                return Err(KindError::StreamOfReferences(name()));
            }
            for other in list.iter().skip(at + 1) {
                if other.name == kind.name {
                    return Err(KindError::DuplicateName(name()));
                }
                if other.erased.type_id() == kind.erased.type_id() {
                    let type_name = kind.erased.type_name();
                    return Err(KindError::DuplicateType(
                        type_name,
                        name(),
                        other.name.to_string(),
                    ));
                }
            }
        }
        let mask = |test: fn(&Kind) -> bool| {
            let bits = (1..).zip(&list).filter(|(_, kind)| test(kind));
            bits.fold(0, |mask, (bit, _)| mask | 1_u64 << bit)
        };
        Ok(Self {
            owner_only: mask(Kind::is_owner_only),
            streams: mask(Kind::is_stream),
            list: list.into(),
        })
    }

    /// Returns the kind with a number, `None` for the position and for unknown numbers.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<&Kind> {
        self.list.get(number.checked_sub(1)?)
    }

    /// Returns the kinds with their numbers, without the position.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Kind)> {
        (1..).zip(self.list.iter())
    }

    /// Returns how many kinds there are, the position included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len() + 1
    }

    /// Returns `false`: the position is always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the name of the kind with a number.
    #[must_use]
    pub fn name(&self, number: usize) -> Option<&str> {
        if number == 0 {
            return Some("position");
        }
        self.get(number).map(Kind::name)
    }

    /// Returns the bits of the kinds that only owners get.
    pub(crate) fn owner_only(&self) -> u64 {
        self.owner_only
    }

    /// Returns the bits of the kinds that travel in fragments.
    pub(crate) fn streams(&self) -> u64 {
        self.streams
    }
}
