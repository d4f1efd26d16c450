//! What clients see, held against what the server knows.

use bevy_ecs::entity::Entity;
use nebula_math::WorldPosition;

use super::{Badge, Network};

/// An entity as a client has it, or as the server has it for that client.
pub type Sight = (Badge, WorldPosition);

/// How a client's world differs from what the server has for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Entities that the client should have, and has not.
    pub missing: usize,
    /// Entities that the client has, and should not.
    pub extra: usize,
    /// Entities that it has elsewhere than they are.
    pub elsewhere: usize,
}

impl Differences {
    /// Returns how many entities differ.
    #[must_use]
    pub const fn total(&self) -> usize {
        self.missing + self.extra + self.elsewhere
    }
}

impl Network {
    /// Returns what a client has in its own world, by badge.
    #[must_use]
    pub fn sight(&self, client: usize) -> Vec<Sight> {
        let world = &self.net.client(client).world;
        // A query would need the world to itself, and this is asked while drawing.
        let mut seen: Vec<Sight> = world
            .iter_entities()
            .filter_map(|entity| Some((*entity.get::<Badge>()?, *entity.get::<WorldPosition>()?)))
            .collect();
        seen.sort_unstable_by_key(|(badge, _)| *badge);
        seen
    }

    /// Returns what the server has for a client: its view, by badge.
    #[must_use]
    pub fn truth(&self, client: usize) -> Vec<Sight> {
        let (Some(ids), Some(view)) =
            (self.ids(), self.net.server.interest().view(self.id(client)))
        else {
            return Vec::new();
        };
        let world = &self.net.world;
        let mut known: Vec<Sight> = view
            .members()
            .iter()
            .filter_map(|id| {
                let entity = ids.entity(*id)?;
                Some((*world.get(entity)?, *world.get(entity)?))
            })
            .collect();
        known.sort_unstable_by_key(|(badge, _)| *badge);
        known
    }

    /// Returns who is in the set of a client, by badge: exact and never capped.
    #[must_use]
    pub fn set(&self, client: usize) -> Vec<Badge> {
        let (Some(ids), Some(set)) = (self.ids(), self.net.server.interest().set(self.id(client)))
        else {
            return Vec::new();
        };
        let badge = |id| self.net.world.get::<Badge>(ids.entity(id)?).copied();
        let mut members: Vec<Badge> = set.iter().filter_map(badge).collect();
        members.sort_unstable();
        members
    }

    /// Returns how many entities are in the set of a client.
    #[must_use]
    pub fn set_len(&self, client: usize) -> usize {
        let set = self.net.server.interest().set(self.id(client));
        set.map_or(0, |set| set.len())
    }

    /// Returns how many entities a client has in its own world, those that are still arriving included.
    #[must_use]
    pub fn sight_len(&self, client: usize) -> usize {
        self.net.client(client).client.mirrored()
    }

    /// Returns how a client's world differs from the truth. On its way is different, too: over a
    /// link that takes time, a moving world is always a little behind.
    #[must_use]
    pub fn differences(&self, client: usize) -> Differences {
        let (seen, known) = (self.sight(client), self.truth(client));
        let mut found = Differences::default();
        let (mut seen, mut known) = (seen.iter().peekable(), known.iter().peekable());
        loop {
            match (seen.peek(), known.peek()) {
                (Some(has), Some(should)) if has.0 == should.0 => {
                    found.elsewhere += usize::from(has.1 != should.1);
                    seen.next();
                    known.next();
                }
                (Some(has), Some(should)) if has.0 < should.0 => {
                    found.extra += 1;
                    seen.next();
                }
                (Some(_), None) => {
                    found.extra += 1;
                    seen.next();
                }
                (_, Some(_)) => {
                    found.missing += 1;
                    known.next();
                }
                (None, None) => return found,
            }
        }
    }

    /// Lets the world stand still until every client is connected and has the truth, for at most so
    /// many ticks; returns how many it took, or `None`.
    pub fn settle(&mut self, ticks: u32) -> Option<u32> {
        for tick in 0..=ticks {
            let clients = 0..self.playing;
            if clients
                .into_iter()
                .all(|client| self.is_connected(client) && self.differences(client).total() == 0)
            {
                return Some(tick);
            }
            if tick < ticks {
                self.tick();
            }
        }
        None
    }

    /// Returns why an entity is or is not sent to a client, as a sentence.
    #[must_use]
    pub fn explain(&self, client: usize, badge: Badge) -> Option<String> {
        let id = self.ids()?.of(self.entity(badge)?)?;
        let why = self.net.server.interest().explain(self.id(client), id);
        Some(why.to_string())
    }

    /// Returns which clients see an entity.
    #[must_use]
    pub fn viewers(&self, badge: Badge) -> Vec<usize> {
        let id = self.ids().and_then(|ids| ids.of(self.entity(badge)?));
        let Some(id) = id else {
            return Vec::new();
        };
        let viewers = self.net.server.interest().viewers(id);
        (0..self.playing)
            .filter(|client| viewers.contains(&self.id(*client)))
            .collect()
    }

    /// Breaks a client on purpose: its world gets an entity that the server never told it of. For tests
    /// that a difference is noticed.
    pub fn tamper(&mut self, client: usize) {
        let world = &mut self.net.client_mut(client).world;
        world.spawn((Badge(u32::MAX / 2), WorldPosition::ORIGIN));
    }

    fn entity(&self, badge: Badge) -> Option<Entity> {
        let known = usize::try_from(badge.0).ok();
        if let Some((entity, _)) = known.and_then(|badge| self.entities.get(badge)) {
            return Some(*entity);
        }
        let number = usize::try_from(u32::MAX - badge.0).ok()?;
        Some(self.clients.get(number)?.entity)
    }
}
