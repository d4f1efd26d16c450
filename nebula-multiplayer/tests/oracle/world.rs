//! The world of a simulation: its components, its protocol, and what is true in it.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;
use nebula_multiplayer::ClientId;
use nebula_multiplayer::interest::OwnedBy;
use nebula_multiplayer::protocol::{Channel, Protocol};
use nebula_multiplayer::replication::{Kind, NetRef, References};
use serde::{Deserialize, Serialize};

use super::leak::SECRET;

/// Names an entity for as long as it lives, on the server and on every client.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[component(summary_tick)]
pub(crate) struct Tag(pub(crate) u64);

/// Random bytes by which the leak oracle recognises an entity.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(summary_tick)]
pub(crate) struct Secret(pub(crate) [u8; SECRET]);

/// A small component that changes often.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(summary_tick)]
pub(crate) struct Health(pub(crate) u32);

/// A component of any length, without the summary tick: its scan is linear.
#[derive(Component, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Title(pub(crate) String);

/// A component for its owner alone.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(summary_tick)]
pub(crate) struct Purse(pub(crate) [u8; SECRET]);

/// A component that never leaves the server: it is not registered.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plot(pub(crate) [u8; SECRET]);

/// A component larger than a packet.
#[derive(Component, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(summary_tick)]
pub(crate) struct Hold(pub(crate) Vec<u8>);

/// A component that names another entity.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(summary_tick)]
pub(crate) struct Aim {
    pub(crate) at: NetRef,
}

impl References for Aim {
    fn each_reference(&mut self, f: &mut dyn FnMut(&mut NetRef)) {
        f(&mut self.at);
    }
}

/// An ordered message, numbered by its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line(pub(crate) u32);

/// An unordered reliable message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ping(pub(crate) u32);

/// A message of which the newest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Steer(pub(crate) u32);

/// Returns the protocol that both sides speak.
pub(crate) fn protocol() -> Protocol {
    Protocol::new("simulation", 1)
        .component(Kind::new::<Tag>("tag"))
        .component(Kind::new::<Secret>("secret"))
        .component(Kind::new::<Health>("health"))
        .component(Kind::new::<Title>("title"))
        .component(Kind::new::<Purse>("purse").owner_only())
        .component(Kind::new::<Hold>("hold").stream())
        .component(Kind::with_references::<Aim>("aim"))
        .message::<Line>("line", 1, Channel::Ordered)
        .message::<Ping>("ping", 1, Channel::Unordered)
        .message::<Steer>("steer", 1, Channel::Latest)
}

/// What the server knows of an entity, or a client believes of it. References are tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) at: Option<[i128; 3]>,
    pub(crate) secret: Option<[u8; SECRET]>,
    pub(crate) health: Option<u32>,
    pub(crate) title: Option<String>,
    pub(crate) purse: Option<[u8; SECRET]>,
    pub(crate) plot: Option<[u8; SECRET]>,
    pub(crate) hold: Option<Vec<u8>>,
    /// Whether it aims, and at whom.
    pub(crate) aim: Option<Option<u64>>,
    /// Whose it is; only the server knows.
    pub(crate) owner: Option<ClientId>,
}

/// Two entities of one world have this tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doubled(pub(crate) u64);

impl From<Doubled> for String {
    fn from(doubled: Doubled) -> Self {
        format!("two entities have the tag {}", doubled.0)
    }
}

/// Returns everything that has a tag; an error if two entities share one.
pub(crate) fn states(world: &mut World) -> Result<BTreeMap<u64, (Entity, State)>, Doubled> {
    let mut query = world.query::<(Entity, &Tag)>();
    let tagged: Vec<(Entity, u64)> = query.iter(world).map(|(e, tag)| (e, tag.0)).collect();
    let mut states = BTreeMap::new();
    for (entity, tag) in tagged {
        let state = state(world, entity);
        if states.insert(tag, (entity, state)).is_some() {
            return Err(Doubled(tag));
        }
    }
    Ok(states)
}

fn state(world: &World, entity: Entity) -> State {
    let entity = world.entity(entity);
    let tag_of = |entity: Entity| world.get::<Tag>(entity).map(|tag| tag.0);
    State {
        at: entity.get::<WorldPosition>().map(|at| at.to_array()),
        secret: entity.get::<Secret>().map(|secret| secret.0),
        health: entity.get::<Health>().map(|health| health.0),
        title: entity.get::<Title>().map(|title| title.0.clone()),
        purse: entity.get::<Purse>().map(|purse| purse.0),
        plot: entity.get::<Plot>().map(|plot| plot.0),
        hold: entity.get::<Hold>().map(|hold| hold.0.clone()),
        aim: entity.get::<Aim>().map(|aim| aim.at.0.and_then(tag_of)),
        owner: entity.get::<OwnedBy>().map(|owned| owned.0),
    }
}
