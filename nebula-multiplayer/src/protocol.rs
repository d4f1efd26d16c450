//! What a game sends: its components and messages, by name and version.
//!
//! Both sides build the same [`Protocol`]. Its hash covers every name, version, channel and
//! sender, so that builds which would misread each other refuse each other instead, and say where
//! they differ.

mod kinds;

use core::any::TypeId;
use core::hash::Hasher;
use std::sync::Arc;

use bevy_ecs::component::Component;
use serde::Serialize;
use serde::de::DeserializeOwned;
use siphasher::sip::SipHasher24;
use thiserror::Error;

use crate::limits::{MAX_ENTRIES, MAX_NAME, WIRE_VERSION};
use crate::replication::{Kind, KindError, Kinds};
use crate::wire::{Codec, check_text};

pub(crate) use kinds::{AnyMessage, MessageKind};
pub use kinds::{Channel, Message, Sender};

/// Everything that a game sends, registered once and the same on both sides.
///
/// The order of registration does not matter: entries are numbered by name.
///
/// ```
/// use nebula_multiplayer::protocol::{Channel, Protocol};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Chat { text: String }
/// #[derive(Serialize, Deserialize)]
/// struct Wave;
///
/// let one = Protocol::new("my game", 3)
///     .message::<Chat>("chat", 1, Channel::Ordered)
///     .message::<Wave>("wave", 1, Channel::Unordered);
/// let two = Protocol::new("my game", 3)
///     .message::<Wave>("wave", 1, Channel::Unordered)
///     .message::<Chat>("chat", 1, Channel::Ordered);
/// assert_eq!(one.hash(), two.hash());
/// assert!(one.check().is_ok());
///
/// let newer = two.clone().message::<u8>("emote", 1, Channel::Latest);
/// assert_ne!(newer.hash(), two.hash());
/// ```
#[derive(Clone, Debug)]
pub struct Protocol {
    name: String,
    version: u32,
    components: Vec<Kind>,
    messages: Vec<Arc<MessageKind>>,
    error: Option<ProtocolError>,
}

impl Protocol {
    /// Returns a protocol of this name and version without entries.
    #[must_use]
    pub fn new(name: &str, version: u32) -> Self {
        let error = bad_name(name);
        Self {
            name: name.into(),
            version,
            components: Vec::new(),
            messages: Vec::new(),
            error,
        }
    }

    /// Adds a component that every client is told of that sees its entity, written by serde.
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use nebula_multiplayer::Protocol;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Component, Serialize, Deserialize)]
    /// #[component(summary_tick)]
    /// struct Health(u16);
    ///
    /// let protocol = Protocol::new("my game", 1).replicate::<Health>("health", 1);
    /// assert!(protocol.check().is_ok());
    /// ```
    #[must_use]
    pub fn replicate<C: Component + Serialize + DeserializeOwned>(
        self,
        name: &str,
        version: u32,
    ) -> Self {
        self.component(Kind::new::<C>(name).version(version))
    }

    /// Adds a component with choices of its own: a codec, owners only, long values, references.
    #[must_use]
    pub fn component(mut self, kind: Kind) -> Self {
        if let Some(error) = bad_name(kind.name()) {
            self.error.get_or_insert(error);
        }
        let at = self
            .components
            .partition_point(|other| other.name() < kind.name());
        self.components.insert(at, kind);
        self
    }

    /// Adds a message that either side may send, written by serde.
    #[must_use]
    pub fn message<M: Message>(self, name: &str, version: u32, channel: Channel) -> Self {
        self.message_with::<M>(name, version, channel, Sender::Both, Codec::serde())
    }

    /// Adds a message with a sender and a codec of its own.
    ///
    /// A client that sends a message of [`Sender::Server`] is dropped.
    ///
    /// ```
    /// use nebula_multiplayer::protocol::{Channel, Protocol, Sender};
    /// use nebula_multiplayer::wire::Codec;
    ///
    /// struct Countdown(u8);
    /// let codec = Codec::new(|c: &Countdown, out| Ok(out.push(c.0)), |r| Ok(Countdown(r.u8()?)));
    /// let protocol = Protocol::new("my game", 1)
    ///     .message_with("countdown", 1, Channel::Latest, Sender::Server, codec);
    /// assert!(protocol.check().is_ok());
    /// ```
    #[must_use]
    pub fn message_with<M: Send + Sync + 'static>(
        mut self,
        name: &str,
        version: u32,
        channel: Channel,
        sender: Sender,
        codec: Codec<M>,
    ) -> Self {
        let kind = MessageKind::new(name, version, channel, sender, codec);
        if let Some(error) = bad_name(name) {
            self.error.get_or_insert(error);
        }
        let at = self
            .messages
            .partition_point(|other| other.name.as_str() < name);
        if self
            .messages
            .get(at)
            .is_some_and(|other| other.name == name)
        {
            self.error
                .get_or_insert(ProtocolError::NameTaken(name.into()));
        } else if self
            .messages
            .iter()
            .any(|other| other.type_id == kind.type_id)
        {
            self.error
                .get_or_insert(ProtocolError::TypeTaken(name.into()));
        } else if self.messages.len() >= MAX_ENTRIES {
            self.error.get_or_insert(ProtocolError::TooMany);
        } else {
            self.messages.insert(at, Arc::new(kind));
        }
        self
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Returns the hash of everything registered: equal hashes read each other.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let mut hasher = SipHasher24::new_with_keys(0x4E45_4255_4C41_0001, WIRE_VERSION.into());
        put_str(&mut hasher, &self.name);
        hasher.write(&self.version.to_le_bytes());
        hasher.write(
            &u64::try_from(self.components.len())
                .unwrap_or(u64::MAX)
                .to_le_bytes(),
        );
        for part in self.parts() {
            hasher.write(&part.to_le_bytes());
        }
        hasher.finish()
    }

    /// Checks that every entry can be used.
    ///
    /// # Errors
    /// The first thing that went wrong while entries were added.
    pub fn check(&self) -> Result<(), ProtocolError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        self.kinds()?;
        Ok(())
    }

    /// Returns the component kinds by number.
    pub(crate) fn kinds(&self) -> Result<Kinds, KindError> {
        Kinds::new(self.components.iter().cloned())
    }

    /// Returns one short hash per entry, in the order of their numbers, by which two sides find
    /// where they differ.
    pub(crate) fn parts(&self) -> Vec<u32> {
        self.entries().map(|(_, part)| part).collect()
    }

    /// Returns the sentence that says where this protocol differs from a peer's.
    pub(crate) fn difference(&self, name: &str, version: u32, hash: u64, parts: &[u32]) -> String {
        let ours = format!(
            "{} version {} hash {:016x}",
            self.name,
            self.version,
            self.hash()
        );
        let theirs = format!("{name} version {version} hash {hash:016x}");
        let first = self
            .entries()
            .zip(parts.iter().map(Some).chain(core::iter::repeat(None)))
            .find(|((_, mine), other)| other.is_none_or(|&other| other != *mine));
        let hint = match first {
            _ if name != self.name || version != self.version => String::new(),
            Some(((entry, _), _)) => format!("; the first difference is at {entry}"),
            None if parts.len() > self.entries().count() => {
                "; the client has entries that the server lacks".into()
            }
            None => String::new(),
        };
        format!("protocols differ: server {ours}, client {theirs}{hint}")
    }

    /// Returns each entry's description and short hash, in the order of their numbers.
    fn entries(&self) -> impl Iterator<Item = (String, u32)> {
        let components = self.components.iter().map(|kind| {
            let mut hasher = SipHasher24::new_with_keys(1, WIRE_VERSION.into());
            put_str(&mut hasher, kind.name());
            hasher.write(&kind.version_number().to_le_bytes());
            hasher.write(&[kind.is_owner_only().into(), kind.is_stream().into()]);
            if kind.has_references() {
                hasher.write(b"references");
            }
            let what = format!(
                "component {} version {}",
                kind.name(),
                kind.version_number()
            );
            (what, low_half(hasher.finish()))
        });
        let messages = self.messages.iter().map(|kind| {
            let mut hasher = SipHasher24::new_with_keys(2, WIRE_VERSION.into());
            put_str(&mut hasher, &kind.name);
            hasher.write(&kind.version.to_le_bytes());
            hasher.write(&[kind.channel.number(), kind.sender.number()]);
            (
                format!("message {} version {}", kind.name, kind.version),
                low_half(hasher.finish()),
            )
        });
        components.chain(messages)
    }

    /// Returns the number and kind of message `M`.
    pub(crate) fn message_of<M: 'static>(&self) -> Option<(usize, &MessageKind)> {
        let wanted = TypeId::of::<M>();
        self.messages
            .iter()
            .map(AsRef::as_ref)
            .enumerate()
            .find(|(_, kind)| kind.type_id == wanted)
    }

    /// Returns the kind of the message with this number.
    pub(crate) fn message_kind(&self, number: usize) -> Option<&MessageKind> {
        self.messages.get(number).map(AsRef::as_ref)
    }

    /// Returns how many kinds of messages there are.
    pub(crate) fn message_kinds(&self) -> usize {
        self.messages.len()
    }
}

fn low_half(hash: u64) -> u32 {
    u32::try_from(hash & u64::from(u32::MAX)).unwrap_or(0)
}

/// Feeds text with its length, so that two texts in a row cannot pass for two others.
fn put_str(hasher: &mut SipHasher24, text: &str) {
    hasher.write(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
    hasher.write(text.as_bytes());
}

fn bad_name(name: &str) -> Option<ProtocolError> {
    let bad = name.is_empty() || name.len() > MAX_NAME || check_text("a name", name).is_err();
    bad.then(|| ProtocolError::BadName(crate::wire::printable(name, MAX_NAME)))
}

/// Why a protocol cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// Empty, longer than 64 bytes, or with characters that do not show.
    #[error("name {0:?} is not usable; give 1 to {MAX_NAME} bytes of visible text")]
    BadName(String),
    /// Two messages have one name.
    #[error("a message named {0:?} is registered twice; give each a name of its own")]
    NameTaken(String),
    /// One type is registered as two messages.
    #[error("the type of message {0:?} is registered already; wrap it in a type of its own")]
    TypeTaken(String),
    /// The components do not go together.
    #[error(transparent)]
    Kinds(#[from] KindError),
    /// Too many entries.
    #[error("more than {MAX_ENTRIES} entries; put several messages into one enum")]
    TooMany,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Protocol {
        Protocol::new("game", 1)
            .message::<u8>("a", 1, Channel::Ordered)
            .message::<u16>("b", 1, Channel::Latest)
    }

    #[test]
    fn the_hash_covers_names_versions_channels_and_senders() {
        let others = [
            Protocol::new("gamf", 1)
                .message::<u8>("a", 1, Channel::Ordered)
                .message::<u16>("b", 1, Channel::Latest),
            Protocol::new("game", 2)
                .message::<u8>("a", 1, Channel::Ordered)
                .message::<u16>("b", 1, Channel::Latest),
            Protocol::new("game", 1)
                .message::<u8>("a", 2, Channel::Ordered)
                .message::<u16>("b", 1, Channel::Latest),
            Protocol::new("game", 1)
                .message::<u8>("a", 1, Channel::Unordered)
                .message::<u16>("b", 1, Channel::Latest),
            Protocol::new("game", 1)
                .message::<u8>("a", 1, Channel::Ordered)
                .message::<u16>("c", 1, Channel::Latest),
            Protocol::new("game", 1)
                .message::<u8>("a", 1, Channel::Ordered)
                .message_with::<u16>("b", 1, Channel::Latest, Sender::Server, Codec::serde()),
        ];
        for other in others {
            assert_ne!(other.hash(), base().hash(), "{other:?}");
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let other = Protocol::new("game", 1)
            .message::<u8>("a", 1, Channel::Ordered)
            .message::<u16>("b", 7, Channel::Latest);
        let text = base().difference(other.name(), other.version(), other.hash(), &other.parts());
        assert!(text.contains("message b version 1"), "{text}");
        assert!(text.contains(&format!("{:016x}", other.hash())), "{text}");
    }

    #[test]
    fn bad_entries_are_reported_by_name() {
        assert!(matches!(
            Protocol::new("", 1).check(),
            Err(ProtocolError::BadName(_))
        ));
        assert!(matches!(
            Protocol::new("a\nb", 1).check(),
            Err(ProtocolError::BadName(_))
        ));
        assert_eq!(
            base().message::<u32>("a", 1, Channel::Latest).check(),
            Err(ProtocolError::NameTaken("a".into()))
        );
        assert_eq!(
            base().message::<u8>("z", 1, Channel::Latest).check(),
            Err(ProtocolError::TypeTaken("z".into()))
        );
    }
}
