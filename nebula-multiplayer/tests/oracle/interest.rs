//! Reads the server's world with the oracle's own eyes and holds the crate's sets against the rule.

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::Allow;
use nebula_math::WorldPosition;
use nebula_multiplayer::interest::{
    FollowsParent, InterestArea, InterestMargin, Layers, OwnedBy, Reach, Relevance, Rule, Watches,
};
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::server::Server;
use nebula_multiplayer::{ClientId, NetworkId};
use num_bigint::BigUint;

use super::rule::{self, Relevant, Sphere, Thing, Viewer};
use super::scenario::millimetres;
use super::world::Tag;

/// What the oracle remembers between ticks.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    /// Each client's set a tick ago, by id: an entity that was hidden for a while has another.
    before: BTreeMap<ClientId, BTreeSet<NetworkId>>,
    /// The last valid radius and margin of an area, by client and entity.
    valid: BTreeMap<(ClientId, Entity), [Option<u128>; 2]>,
}

type Things = BTreeMap<NetworkId, Thing<NetworkId, ClientId>>;

/// What a client may see, by tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) set: BTreeSet<u64>,
    pub(crate) view: BTreeSet<u64>,
}

impl Sets {
    /// Forgets what a client's set was.
    pub(crate) fn forget(&mut self, client: ClientId) {
        self.before.remove(&client);
        self.valid.retain(|(other, _), _| *other != client);
    }

    /// Returns what each client may see, or what is wrong with the server's sets.
    pub(crate) fn check(
        &mut self,
        server: &Server,
        world: &mut World,
    ) -> Result<BTreeMap<ClientId, Allowed>, String> {
        let (things, tags) = things(world);
        let clients: Vec<ClientId> = server.interest().clients().collect();
        self.before.retain(|client, _| clients.contains(client));
        let mut all = BTreeMap::new();
        for client in clients {
            let viewer = self.viewer(server, world, client);
            let before = self.before.entry(client).or_default();
            let set = rule::set(&viewer, &things, before);
            compare(server, &viewer, &things, &set)?;
            let view = view(server, &viewer, &things, &set)?;
            let by_tag = |ids: &BTreeSet<NetworkId>| ids.iter().map(|id| tags[id]).collect();
            let allowed = Allowed {
                set: by_tag(&set),
                view: by_tag(&view),
            };
            all.insert(client, allowed);
            *before = set;
        }
        Ok(all)
    }

    fn viewer(&mut self, server: &Server, world: &mut World, client: ClientId) -> Viewer<ClientId> {
        // Whoever is disabled is hidden, and sees on.
        let mut watchers = world.query_filtered::<(Entity, &Watches), Allow<Disabled>>();
        let watching = watchers.iter(world).filter(|(_, w)| w.0 == client);
        let mut centers: Vec<Entity> = watching.map(|(entity, _)| entity).collect();
        centers.extend(server.player(client));
        centers.sort();
        centers.dedup();
        self.valid
            .retain(|(other, entity), _| *other != client || centers.contains(entity));
        let settings = server.settings();
        let mut spheres = Vec::new();
        for entity in centers {
            let Some((at, radius, given_margin)) = area(world, entity) else {
                self.valid.remove(&(client, entity));
                continue;
            };
            let last = self.valid.entry((client, entity)).or_default();
            let interest = &settings.interest;
            let radius_mm = keep(&mut last[0], radius, millimetres(interest.area.radius));
            let percent = u128::from(interest.margin_percent);
            let margin = BigUint::from(radius_mm) * percent / 100_u32;
            let default = u128::try_from(margin).unwrap_or(u128::MAX);
            let margin_mm = keep(&mut last[1], given_margin, default);
            spheres.push(Sphere {
                center: at.to_array(),
                radius_mm,
                margin_mm,
            });
        }
        Viewer {
            id: client,
            layers: Layers::default().0,
            spheres,
        }
    }
}

/// Returns where an area is and what its components say, if it is there at all.
fn area(world: &World, entity: Entity) -> Option<(WorldPosition, Option<f64>, Option<f64>)> {
    let entity = world.get_entity(entity).ok()?;
    let at = *entity.get::<WorldPosition>()?;
    let radius = entity.get::<InterestArea>().map(|area| area.radius);
    let margin = entity.get::<InterestMargin>().map(|margin| margin.margin);
    Some((at, radius, margin))
}

/// Returns the value in force: the component's if it is valid, else the last valid one.
fn keep(last: &mut Option<u128>, meters: Option<f64>, default: u128) -> u128 {
    match meters {
        None => *last = None,
        Some(meters) => {
            if let Some(valid) = valid(meters) {
                *last = Some(valid);
            }
        }
    }
    last.unwrap_or(default)
}

fn valid(meters: f64) -> Option<u128> {
    // 2^127 millimetres.
    let fits = meters.is_finite() && (0.0..1.701_411_834_604_692_3e35).contains(&meters);
    fits.then(|| millimetres(meters))
}

fn things(world: &mut World) -> (Things, BTreeMap<NetworkId, u64>) {
    let mut query = world.query_filtered::<(EntityRef, &NetworkId, &Tag), With<Replicate>>();
    let mut things = Things::new();
    let mut tags = BTreeMap::new();
    for (entity, id, tag) in query.iter(world) {
        let relevant = match entity.get::<Relevance>().map(|r| r.0).unwrap_or_default() {
            Rule::Near => Relevant::Near,
            Rule::Always => Relevant::Always,
            Rule::Never => Relevant::Never,
        };
        let reach = entity.get::<Reach>().and_then(|reach| valid(reach.meters));
        let parent = entity.get::<ChildOf>().map(|child| child.parent());
        let parent = parent.and_then(|parent| world.get::<NetworkId>(parent).copied());
        let thing = Thing {
            at: entity.get::<WorldPosition>().map(|at| at.to_array()),
            reach_mm: reach.unwrap_or(0),
            relevant,
            layers: entity.get::<Layers>().copied().unwrap_or_default().0,
            owner: entity.get::<OwnedBy>().map(|owned| owned.0),
            follows: entity.contains::<FollowsParent>().then_some(parent),
        };
        things.insert(*id, thing);
        tags.insert(*id, tag.0);
    }
    (things, tags)
}

fn compare(
    server: &Server,
    viewer: &Viewer<ClientId>,
    things: &Things,
    right: &BTreeSet<NetworkId>,
) -> Result<(), String> {
    let client = viewer.id;
    let interest = server.interest();
    let Some(set) = interest.set(client) else {
        return Err(format!("{client} has no set"));
    };
    let theirs: BTreeSet<NetworkId> = set.iter().collect();
    let differing: Vec<String> = theirs
        .symmetric_difference(right)
        .map(|id| {
            let what = if right.contains(id) {
                "missing"
            } else {
                "too much"
            };
            let why = interest.explain(client, *id);
            format!(
                "{id} is {what} ({:?}); the server says: {why}",
                things.get(id)
            )
        })
        .collect();
    if differing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the set of {viewer:?} breaks the rule: {}",
        differing.join("; ")
    ))
}

/// Returns the client's view after checking that it is the first members of the set by rank.
fn view(
    server: &Server,
    viewer: &Viewer<ClientId>,
    things: &Things,
    set: &BTreeSet<NetworkId>,
) -> Result<BTreeSet<NetworkId>, String> {
    let client = viewer.id;
    let Some(view) = server.interest().view(client) else {
        return Err(format!("{client} has no view"));
    };
    let theirs: BTreeSet<NetworkId> = view.members().iter().copied().collect();
    let most = server.settings().limits.max_visible;
    let mut ranked: Vec<_> = set
        .iter()
        .map(|id| {
            let (class, apart, depth) = rank(viewer, things, *id);
            (class, apart, depth, *id)
        })
        .collect();
    ranked.sort();
    let right: BTreeSet<NetworkId> = ranked.iter().take(most).map(|rank| rank.3).collect();
    if theirs == right {
        return Ok(right);
    }
    let differing: Vec<String> = theirs
        .symmetric_difference(&right)
        .map(|id| {
            let why = server.interest().explain(client, *id);
            format!(
                "{id} ({:?}), of which the server says: {why}",
                things.get(id)
            )
        })
        .collect();
    Err(format!(
        "the view of {viewer:?} is not the first {most} of its set: has {theirs:?}, should have {right:?}; they differ in {}",
        differing.join("; ")
    ))
}

/// Returns where an entity stands: own before always before near, then by distance. Who is there for
/// its parent's sake stands right behind it.
fn rank(viewer: &Viewer<ClientId>, things: &Things, id: NetworkId) -> (u8, BigUint, u32) {
    let thing = &things[&id];
    let class = match (thing.owner == Some(viewer.id), thing.relevant) {
        (true, _) => 0,
        (_, Relevant::Always) => 1,
        _ => 2,
    };
    match thing.follows {
        Some(Some(parent)) if class == 2 => {
            let (class, apart, depth) = rank(viewer, things, parent);
            (class, apart, depth + 1)
        }
        // Of a follower without a parent the position plays no part.
        Some(None) => (class, BigUint::default(), 0),
        _ => (class, rule::nearest(viewer, thing).unwrap_or_default(), 0),
    }
}
