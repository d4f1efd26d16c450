//! A server's replicator and clients' mirrors over a bad link, without sessions.

mod behaviour;
mod budget;
mod kept;
mod slots;
mod twice;
mod world;

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;
use serde::{Deserialize, Serialize};

use super::replicator::Replicator;
use super::viewer::{Phase, Slot};
use super::{Kind, Kinds, NetRef, NetworkIds, References, Replicate, ReplicationSettings};
use crate::interest::{Area, ClientFacts, Facts, Interest, OwnedBy};
use crate::mirror::{Mirror, MirrorEvent, MirrorLimits};
use crate::{ClientId, Tick};

#[derive(Component, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(summary_tick)]
pub(super) struct Health(pub(super) u16);

#[derive(Component, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Label(pub(super) String);

#[derive(Component, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Purse(pub(super) u32);

#[derive(Component, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Map(pub(super) Vec<u8>);

/// For owners alone, and in fragments.
#[derive(Component, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ledger(pub(super) Vec<u8>);

#[derive(Component, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Aims(pub(super) NetRef, pub(super) u8);

#[derive(Component, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Crew(pub(super) Vec<NetRef>, pub(super) Vec<u8>);

impl References for Crew {
    fn each_reference(&mut self, f: &mut dyn FnMut(&mut NetRef)) {
        self.0.iter_mut().for_each(f);
    }
}

/// Not registered.
#[derive(Component, Clone, Debug, PartialEq, Eq)]
pub(super) struct Secret(pub(super) [u8; 16]);

impl References for Aims {
    fn each_reference(&mut self, f: &mut dyn FnMut(&mut NetRef)) {
        f(&mut self.0);
    }
}

pub(super) fn kinds() -> Kinds {
    Kinds::new([
        Kind::new::<Health>("health"),
        Kind::new::<Label>("label"),
        Kind::new::<Purse>("purse").owner_only(),
        Kind::new::<Map>("map").stream(),
        Kind::new::<Ledger>("ledger").owner_only().stream(),
        Kind::with_references::<Aims>("aims"),
        Kind::with_references::<Crew>("crew"),
    ])
    .expect("names and types differ")
}

/// Numbers that repeat.
pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(super) fn step(&mut self, most: i128) -> i128 {
        i128::from(self.below(u64::try_from(2 * most + 1).unwrap())) - most
    }
}

/// A packet or an acknowledgement under way.
struct Flying {
    arrives: u32,
    packet: u64,
    tick: Tick,
    body: Vec<u8>,
}

pub(super) struct Viewing {
    pub(super) id: ClientId,
    pub(super) mirror: Mirror,
    pub(super) world: World,
    pub(super) events: Vec<MirrorEvent>,
    flying: Vec<Flying>,
    acks: Vec<(u32, u64)>,
    unacked: Vec<(u64, u32)>,
    next: u64,
    pub(super) bytes: usize,
    /// How often it asked for the whole of something.
    pub(super) asked: usize,
}

pub(super) struct Net {
    pub(super) rng: Rng,
    pub(super) loss_percent: u64,
    pub(super) delay: u64,
    pub(super) room: usize,
    pub(super) packets: usize,
}

pub(super) struct Harness {
    pub(super) world: World,
    pub(super) interest: Interest,
    pub(super) replicator: Replicator,
    pub(super) clients: Vec<Viewing>,
    pub(super) tick: u32,
    pub(super) net: Net,
    /// A running hash of all bodies.
    pub(super) said: u64,
}

impl Harness {
    pub(super) fn new(seed: u64, clients: u64) -> Self {
        Self::with(seed, clients, ReplicationSettings::default())
    }

    pub(super) fn with(seed: u64, clients: u64, settings: ReplicationSettings) -> Self {
        let mut replicator = Replicator::new(kinds(), settings);
        let mut interest = Interest::new();
        let clients = (1..=clients).map(|number| {
            let id = ClientId::new(number);
            replicator.add_client(id);
            interest.add_client(id, ClientFacts::default());
            Viewing {
                id,
                mirror: Mirror::new(kinds(), MirrorLimits::default()),
                world: World::new(),
                events: Vec::new(),
                flying: Vec::new(),
                acks: Vec::new(),
                unacked: Vec::new(),
                next: 1,
                bytes: 0,
                asked: 0,
            }
        });
        Self {
            clients: clients.collect(),
            world: World::new(),
            interest,
            replicator,
            // Ticks wrap soon.
            tick: u32::MAX - 40,
            net: Net {
                rng: Rng(seed),
                loss_percent: 0,
                delay: 1,
                room: 1_000,
                packets: 64,
            },
            said: 0,
        }
    }

    pub(super) fn look(&mut self, client: usize, at: WorldPosition, radius_mm: u128) {
        let id = self.clients[client].id;
        self.interest.set_areas(id, &[Area::new(at, radius_mm)]);
    }

    /// Tells the interest what the world holds.
    fn feed(&mut self) {
        NetworkIds::maintain(&mut self.world);
        let ids = self.world.resource::<NetworkIds>();
        for removed in &ids.changes().removed {
            self.interest.remove(removed.id);
        }
        let added: Vec<_> = ids.changes().added.clone();
        for (id, _) in &added {
            self.interest.insert(*id, Facts::default());
        }
        let mut rows = self.world.query::<(
            Entity,
            &crate::NetworkId,
            Option<&WorldPosition>,
            Option<&OwnedBy>,
        )>();
        for (_, id, at, owner) in rows.iter(&self.world) {
            let facts = Facts {
                position: at.copied(),
                owner: owner.map(|owner| owner.0),
                ..Facts::default()
            };
            if self.interest.facts(*id) != Some(facts) {
                self.interest.set_facts(*id, facts);
            }
        }
        self.interest.update();
    }

    pub(super) fn step(&mut self) {
        self.tick = self.tick.wrapping_add(1);
        self.feed();
        self.replicator
            .tick(&mut self.world, &self.interest, Tick::new(self.tick));
        for client in 0..self.clients.len() {
            self.send(client);
            self.deliver(client);
        }
    }

    pub(super) fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.step();
        }
    }

    fn send(&mut self, client: usize) {
        let viewing = &mut self.clients[client];
        let mut body = Vec::new();
        for _ in 0..self.net.packets {
            body.clear();
            let packet = viewing.next;
            if !self
                .replicator
                .write(&self.interest, viewing.id, packet, self.net.room, &mut body)
            {
                break;
            }
            assert!(
                body.len() <= self.net.room,
                "a body of {} bytes",
                body.len()
            );
            viewing.next += 1;
            viewing.bytes += body.len();
            for byte in &body {
                self.said = (self.said ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
            }
            viewing.unacked.push((packet, self.tick));
            if self.net.rng.below(100) >= self.net.loss_percent {
                let delay = u32::try_from(self.net.rng.below(self.net.delay)).unwrap();
                viewing.flying.push(Flying {
                    arrives: self.tick.wrapping_add(delay),
                    packet,
                    tick: Tick::new(self.tick),
                    body: body.clone(),
                });
            }
        }
    }

    fn deliver(&mut self, client: usize) {
        let now = self.tick;
        let viewing = &mut self.clients[client];
        let due = |at: u32| now.wrapping_sub(at) < 1 << 31;
        let mut at = 0;
        while at < viewing.flying.len() {
            if due(viewing.flying[at].arrives) {
                let packet = viewing.flying.swap_remove(at);
                viewing
                    .mirror
                    .read(packet.tick, &packet.body)
                    .unwrap_or_else(|error| panic!("{error}: {:?}", packet.body));
                let delay = u32::try_from(self.net.rng.below(self.net.delay)).unwrap();
                viewing.acks.push((now.wrapping_add(delay), packet.packet));
            } else {
                at += 1;
            }
        }
        viewing
            .mirror
            .apply(&mut viewing.world, &mut viewing.events);
        let mut at = 0;
        while at < viewing.acks.len() {
            if due(viewing.acks[at].0) {
                let (_, packet) = viewing.acks.swap_remove(at);
                viewing.unacked.retain(|(sent, _)| *sent != packet);
                self.replicator.acked(viewing.id, packet);
            } else {
                at += 1;
            }
        }
        let patience = 6;
        let id = viewing.id;
        viewing.unacked.retain(|(packet, sent)| {
            let lost = now.wrapping_sub(*sent) > patience;
            if lost {
                self.replicator.lost(id, *packet);
            }
            !lost
        });
        let lacking: Vec<u32> = viewing.mirror.needs_full().collect();
        viewing.asked += lacking.len();
        self.replicator.request_full(id, &lacking);
    }

    /// Mends the link and lets everything settle.
    pub(super) fn settle(&mut self) {
        self.net.loss_percent = 0;
        self.net.delay = 1;
        self.steps(60);
    }

    /// Checks that each client's world equals the truth, as far as it may see it.
    #[track_caller]
    pub(super) fn check_equal(&mut self) {
        for viewing in &mut self.clients {
            let members = self.interest.view(viewing.id).unwrap().members().to_vec();
            let viewer = self.replicator.viewer(viewing.id).unwrap();
            let leaves = |slot: &&Slot| matches!(slot.phase, Phase::Leaving(_));
            assert_eq!(viewer.leaving, viewer.slots.iter().filter(leaves).count());
            let ids = self.world.resource::<NetworkIds>();
            let slot = |id| self.replicator.slot_of(viewing.id, id);
            let mirrored = |entity: Entity| {
                let id = ids.of(entity)?;
                members.contains(&id).then_some(())?;
                viewing.mirror.entity_of(slot(id)?)
            };
            for id in &members {
                let truth = self.world.entity(ids.entity(*id).unwrap());
                let entity = slot(*id).and_then(|slot| viewing.mirror.entity_of(slot));
                let entity = entity.unwrap_or_else(|| {
                    panic!(
                        "{id} is not there: {} {:?}",
                        self.replicator.describe(viewing.id, *id),
                        slot(*id).map(|slot| viewing.mirror.describe(slot))
                    )
                });
                let copy = viewing.world.entity(entity);
                let debug = self.replicator.describe(viewing.id, *id);
                assert_eq!(
                    copy.get::<WorldPosition>(),
                    truth.get::<WorldPosition>(),
                    "{debug}"
                );
                assert_eq!(copy.get::<Health>(), truth.get::<Health>(), "{id}");
                assert_eq!(copy.get::<Label>(), truth.get::<Label>(), "{id}");
                assert_eq!(copy.get::<Map>(), truth.get::<Map>(), "{id}");
                let mine = truth.get::<OwnedBy>() == Some(&OwnedBy(viewing.id));
                let purse = truth.get::<Purse>().filter(|_| mine);
                assert_eq!(copy.get::<Purse>(), purse, "{id}");
                let ledger = truth.get::<Ledger>().filter(|_| mine);
                assert_eq!(copy.get::<Ledger>(), ledger, "{id}");
                let aims = truth
                    .get::<Aims>()
                    .map(|aims| Aims(NetRef(aims.0.0.and_then(mirrored)), aims.1));
                assert_eq!(copy.get::<Aims>(), aims.as_ref(), "{id}");
                assert!(!copy.contains::<Secret>());
            }
            let mut all = viewing.world.query::<&crate::mirror::Mirrored>();
            assert_eq!(all.iter(&viewing.world).count(), members.len());
            if viewing.mirror.view_hash() != self.replicator.view_hash(viewing.id) {
                for slot in 0..200 {
                    let (a, b) = (
                        viewing.mirror.versions(slot),
                        self.replicator.versions(viewing.id, slot),
                    );
                    if a != b {
                        eprintln!("slot {slot}: client {a:?} server {b:?}");
                        eprintln!("{}", viewing.mirror.describe(slot));
                        eprintln!("{}", self.replicator.describe_slot(viewing.id, slot));
                    }
                }
            }
            assert_eq!(
                viewing.mirror.view_hash(),
                self.replicator.view_hash(viewing.id),
                "view hashes"
            );
        }
    }

    pub(super) fn spawn_at(&mut self, at: WorldPosition) -> Entity {
        self.world.spawn((Replicate, at)).id()
    }
}
