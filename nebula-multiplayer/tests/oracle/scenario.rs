//! A world that lives by a seed: crowds, borders, teleports, the ends of space, and every kind of
//! change that a server's game makes.

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;
use nebula_multiplayer::interest::{
    FollowsParent, InterestArea, InterestMargin, Layers, OwnedBy, Reach, Relevance, Rule, Watches,
};
use nebula_multiplayer::replication::{NetRef, Replicate};
use nebula_multiplayer::transport::sim::Random;
use nebula_multiplayer::{ClientId, NetworkId};

use super::leak::{SECRET, Secrets};
use super::world::{Aim, Health, Hold, Plot, Purse, Secret, Tag, Title};

/// What a secret tells about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) tag: u64,
    pub(crate) audience: Audience,
}

/// Who may see a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Whoever has the entity in its set.
    Set,
    /// Of those, the owner.
    Owner,
    /// Nobody.
    Nobody,
}

/// How an entity moves.
#[derive(Clone, Copy, Debug)]
enum Habit {
    Still,
    Walk,
    Border,
    Teleport,
}

#[derive(Clone, Copy, Debug)]
struct Actor {
    entity: Entity,
    tag: u64,
    habit: Habit,
    disabled: bool,
    /// Players are not despawned at random.
    player: bool,
}

/// The game: it changes the server's world a little every tick.
#[derive(Debug)]
pub(crate) struct Scenario {
    random: Random,
    /// Where things happen; clients and entities gather around them.
    homes: Vec<[i128; 3]>,
    /// The radius of clients in metres: eighths, so that millimetres are exact.
    radius_m: f64,
    radius_mm: u128,
    actors: Vec<Actor>,
    next_tag: u64,
    most: usize,
    clients: Vec<ClientId>,
    pub(crate) secrets: Secrets<About>,
}

/// Radii from a step to most of space. An eighth of each is a whole number of millimetres.
const RADII_M: [f64; 8] = [
    1.0,
    10.0,
    100.0,
    500.0,
    500.0,
    50_000.0,
    1_099_511_627_776.0,
    // 2^116 metres: twice that is nearly the widest radius there is.
    8.307_674_973_655_724e34,
];

impl Scenario {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let radius_m = RADII_M[random.index(RADII_M.len())];
        let homes = (0..=random.below(2)).map(|_| home(&mut random)).collect();
        Self {
            homes,
            radius_m,
            radius_mm: millimetres(radius_m),
            actors: Vec::new(),
            next_tag: 1,
            most: 10 + random.index(60),
            clients: Vec::new(),
            secrets: Secrets::new(),
            random,
        }
    }

    /// Returns the radius that clients have unless told otherwise, in metres.
    pub(crate) fn radius_m(&self) -> f64 {
        self.radius_m
    }

    /// Keeps the world small: three entities to begin with, six at most.
    pub(crate) fn keep_small(&mut self) {
        self.most = 6;
    }

    /// Lets tags begin where those of an earlier world ended, so that no two are the same.
    pub(crate) fn follow_after(&mut self, earlier: &Self) {
        self.next_tag = earlier.next_tag;
    }

    /// Fills the world for a start.
    pub(crate) fn populate(&mut self, world: &mut World) {
        for _ in 0..self.most / 2 {
            self.spawn(world);
        }
    }

    /// Makes the entity that a client plays.
    pub(crate) fn join(&mut self, world: &mut World, client: ClientId) -> Entity {
        if !self.clients.contains(&client) {
            self.clients.push(client);
        }
        let entity = self.spawn(world);
        if let Some(actor) = self.actors.last_mut() {
            actor.player = true;
            actor.habit = Habit::Walk;
        }
        let at = self.place();
        let mut player = world.entity_mut(entity);
        player.remove::<(Relevance, FollowsParent, ChildOf, Layers)>();
        player.insert(at);
        if self.random.chance(7_000) {
            player.insert(OwnedBy(client));
        }
        entity
    }

    /// Ends what a client played.
    pub(crate) fn leave(&mut self, world: &mut World, client: ClientId, player: Entity) {
        self.clients.retain(|other| *other != client);
        world.despawn(player);
        self.bury(world);
    }

    /// Returns some entity that is replicated, with its id.
    pub(crate) fn anyone(&mut self, world: &World) -> Option<(Entity, NetworkId)> {
        let actor = self.actors.get(self.random.index(self.actors.len()))?;
        Some((actor.entity, *world.get::<NetworkId>(actor.entity)?))
    }

    /// Lets one tick of the game pass.
    pub(crate) fn tick(&mut self, world: &mut World) {
        // Quiet ticks happen: nothing at all changes in one of eight.
        if self.random.chance(1_250) {
            return;
        }
        for at in 0..self.actors.len() {
            if self.random.chance(4_000) {
                self.act(world, self.actors[at]);
            }
        }
        for _ in 0..self.random.below(4) {
            self.happen(world);
        }
    }

    fn act(&mut self, world: &mut World, actor: Actor) {
        let Some(at) = world.get::<WorldPosition>(actor.entity).copied() else {
            return;
        };
        let to = match actor.habit {
            Habit::Still => return,
            Habit::Walk => {
                let step = self.radius_mm / 20 + 2;
                at.to_array().map(|axis| self.near(axis, step))
            }
            Habit::Border if self.random.chance(5_000) => self.border(world),
            Habit::Teleport if self.random.chance(2_000) => self.place().to_array(),
            Habit::Border | Habit::Teleport => return,
        };
        world
            .entity_mut(actor.entity)
            .insert(WorldPosition::from_array(to));
    }

    /// One event of the game.
    fn happen(&mut self, world: &mut World) {
        if self.random.chance(1_500) && self.actors.len() < self.most {
            self.spawn(world);
            return;
        }
        if self.actors.is_empty() {
            return;
        }
        let at = self.random.index(self.actors.len());
        let actor = self.actors[at];
        let entity = actor.entity;
        match self.random.below(20) {
            0 if !actor.player || self.random.chance(1_000) => {
                world.despawn(entity);
                self.bury(world);
            }
            1 => self.toggle(world, at),
            2..=5 => self.renew_secret(world, actor),
            6 | 7 => self.put(world, entity, |random| Health(low(random))),
            8 => drop(world.entity_mut(entity).remove::<Health>()),
            9 => {
                let length = self.random.index(40);
                world.entity_mut(entity).insert(Title("é".repeat(length)));
            }
            10 => drop(world.entity_mut(entity).remove::<Title>()),
            11 => self.aim(world, entity),
            12 => drop(world.entity_mut(entity).remove::<Aim>()),
            13 => self.rule(world, actor),
            14 => self.layer(world, entity),
            15 => self.own(world, entity),
            16 => self.area(world, entity),
            17 => self.reach(world, entity),
            18 => self.follow(world, entity),
            _ => self.hold(world, actor),
        }
    }

    /// Forgets who is gone: children go with their parents.
    fn bury(&mut self, world: &World) {
        self.actors
            .retain(|actor| world.get_entity(actor.entity).is_ok());
    }

    fn put<C: Component>(&mut self, world: &mut World, entity: Entity, make: fn(&mut Random) -> C) {
        let value = make(&mut self.random);
        world.entity_mut(entity).insert(value);
    }

    fn toggle(&mut self, world: &mut World, at: usize) {
        let actor = &mut self.actors[at];
        actor.disabled = !actor.disabled;
        let mut entity = world.entity_mut(actor.entity);
        if actor.disabled {
            entity.insert(Disabled);
        } else {
            entity.remove::<Disabled>();
        }
    }

    fn renew_secret(&mut self, world: &mut World, actor: Actor) {
        let secret = self.secret(actor.tag, Audience::Set);
        world.entity_mut(actor.entity).insert(Secret(secret));
        if self.random.chance(3_000) {
            let purse = self.secret(actor.tag, Audience::Owner);
            world.entity_mut(actor.entity).insert(Purse(purse));
        }
        if self.random.chance(3_000) {
            let plot = self.secret(actor.tag, Audience::Nobody);
            world.entity_mut(actor.entity).insert(Plot(plot));
        }
    }

    fn aim(&mut self, world: &mut World, entity: Entity) {
        let target = self.actors[self.random.index(self.actors.len())].entity;
        let target = self.random.chance(8_500).then_some(target);
        world.entity_mut(entity).insert(Aim { at: NetRef(target) });
    }

    fn rule(&mut self, world: &mut World, actor: Actor) {
        let rule = match self.random.below(5) {
            0 => Rule::Always,
            1 => Rule::Never,
            _ => Rule::Near,
        };
        world.entity_mut(actor.entity).insert(Relevance(rule));
    }

    fn layer(&mut self, world: &mut World, entity: Entity) {
        let layers = match self.random.below(4) {
            0 => Layers::only(3),
            1 => Layers::NONE,
            2 => Layers::ALL,
            _ => Layers::default(),
        };
        world.entity_mut(entity).insert(layers);
    }

    fn own(&mut self, world: &mut World, entity: Entity) {
        let mut entity = world.entity_mut(entity);
        if self.clients.is_empty() || self.random.chance(3_000) {
            entity.remove::<OwnedBy>();
        } else {
            entity.insert(OwnedBy(self.clients[self.random.index(self.clients.len())]));
        }
    }

    /// Changes how far a client sees, now and then to something invalid, which must change nothing.
    fn area(&mut self, world: &mut World, entity: Entity) {
        let watcher = (!self.clients.is_empty() && self.random.chance(3_000))
            .then(|| self.clients[self.random.index(self.clients.len())]);
        let radius = match self.random.below(8) {
            0 => 0.0,
            1 => self.radius_m * 2.0,
            2 => self.radius_m / 2.0,
            3 => f64::NAN,
            4 => -1.0,
            _ => self.radius_m,
        };
        let margin = [0.0, self.radius_m / 8.0, f64::INFINITY][self.random.index(3)];
        let mut entity = world.entity_mut(entity);
        match watcher {
            Some(client) => drop(entity.insert(Watches(client))),
            None => drop(entity.remove::<Watches>()),
        }
        match self.random.below(3) {
            0 => drop(entity.remove::<InterestArea>()),
            _ => drop(entity.insert(InterestArea { radius })),
        }
        match self.random.below(3) {
            0 => drop(entity.insert(InterestMargin { margin })),
            1 => drop(entity.remove::<InterestMargin>()),
            _ => {}
        }
    }

    fn reach(&mut self, world: &mut World, entity: Entity) {
        let meters = match self.random.below(6) {
            0 => self.radius_m / 4.0,
            1 => self.radius_m * 8.0,
            2 => 1e36,
            3 => 0.125,
            4 => f64::NEG_INFINITY,
            _ => 0.0,
        };
        world.entity_mut(entity).insert(Reach { meters });
    }

    fn follow(&mut self, world: &mut World, entity: Entity) {
        let parent = self.actors[self.random.index(self.actors.len())].entity;
        let mut child = world.entity_mut(entity);
        if self.random.chance(3_000) {
            child.remove::<FollowsParent>();
            return;
        }
        child.insert(FollowsParent);
        // Only older entities become parents, so that chains never close.
        if parent < entity {
            child.insert(ChildOf(parent));
        } else {
            child.remove::<ChildOf>();
        }
    }

    /// A component larger than a packet, with a secret at its end.
    fn hold(&mut self, world: &mut World, actor: Actor) {
        if self.random.chance(4_000) {
            world.entity_mut(actor.entity).remove::<Hold>();
            return;
        }
        let secret = self.secret(actor.tag, Audience::Set);
        let mut bytes = vec![0x11; self.random.index(3_000)];
        bytes.extend_from_slice(&secret);
        world.entity_mut(actor.entity).insert(Hold(bytes));
    }

    fn spawn(&mut self, world: &mut World) -> Entity {
        let tag = self.next_tag;
        self.next_tag += 1;
        let secret = Secret(self.secret(tag, Audience::Set));
        let plot = Plot(self.secret(tag, Audience::Nobody));
        let mut entity = world.spawn((Replicate, Tag(tag), secret, plot));
        if self.random.chance(9_000) {
            let at = self.place();
            entity.insert(at);
        }
        if self.random.chance(5_000) {
            entity.insert(Health(low(&mut self.random)));
        }
        if self.random.chance(3_000) {
            let purse = Purse(self.secret(tag, Audience::Owner));
            entity.insert(purse);
        }
        let habit = match self.random.below(8) {
            0 => Habit::Still,
            1 | 2 => Habit::Border,
            3 => Habit::Teleport,
            _ => Habit::Walk,
        };
        let entity = entity.id();
        self.actors.push(Actor {
            entity,
            tag,
            habit,
            disabled: false,
            player: false,
        });
        entity
    }

    fn secret(&mut self, tag: u64, audience: Audience) -> [u8; SECRET] {
        let secret = self.random.wide().to_le_bytes();
        self.secrets.add(secret, About { tag, audience });
        secret
    }

    /// Returns a place around one of the homes, in one of four far from all of them.
    fn place(&mut self) -> WorldPosition {
        let home = self.homes[self.random.index(self.homes.len())];
        let spread = match self.random.below(4) {
            0 => self.radius_mm.saturating_mul(8),
            1 => 1,
            _ => self.radius_mm + self.radius_mm / 4,
        };
        WorldPosition::from_array(home.map(|axis| self.near(axis, spread)))
    }

    /// Returns a place at the very edge of what a client sees: on it, or one millimetre beyond.
    fn border(&mut self, world: &mut World) -> [i128; 3] {
        let players: Vec<Entity> = self.players().collect();
        let Some(player) = players.get(self.random.index(players.len())) else {
            return self.place().to_array();
        };
        let Some(at) = world.get::<WorldPosition>(*player) else {
            return self.place().to_array();
        };
        let margin = self.radius_mm / 10;
        let beyond = u128::from(self.random.below(2));
        let away = match self.random.below(3) {
            0 => self.radius_mm / 2,
            1 => self.radius_mm + beyond,
            _ => self.radius_mm + margin + beyond,
        };
        let mut to = at.to_array();
        let axis = self.random.index(3);
        to[axis] = if self.random.chance(5_000) {
            to[axis].saturating_add_unsigned(away)
        } else {
            to[axis].saturating_sub_unsigned(away)
        };
        to
    }

    fn players(&self) -> impl Iterator<Item = Entity> {
        self.actors
            .iter()
            .filter(|actor| actor.player)
            .map(|actor| actor.entity)
    }

    /// Returns a coordinate at most `spread` away, inside of space.
    fn near(&mut self, axis: i128, spread: u128) -> i128 {
        let away = self.random.wide() % (spread.saturating_add(1));
        if self.random.chance(5_000) {
            axis.saturating_add_unsigned(away)
        } else {
            axis.saturating_sub_unsigned(away)
        }
    }
}

/// Returns a place where coordinates are interesting: zero, ends of space, edges of sectors, powers.
fn home(random: &mut Random) -> [i128; 3] {
    [0; 3].map(|_: i128| match random.below(6) {
        0 => 0,
        1 => i128::MAX - i128::from(random.below(1_000)),
        2 => i128::MIN + i128::from(random.below(1_000)),
        3 => (i128::from(random.below(1 << 40)) << 32) - i128::from(random.below(3)),
        4 => (1_i128 << random.below(127)) - i128::from(random.below(3)),
        _ => i128::from_le_bytes(random.wide().to_le_bytes()),
    })
}

/// Returns exact millimetres of metres that are eighths or large whole numbers.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "eighths of metres are whole millimetres, and none is negative"
)]
pub(crate) fn millimetres(meters: f64) -> u128 {
    (meters * 8.0) as u128 * 125
}

fn low(random: &mut Random) -> u32 {
    let [a, b, c, d, ..] = random.word().to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}
