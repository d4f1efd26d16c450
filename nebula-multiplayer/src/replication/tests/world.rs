//! Whole worlds under loss and reordering.

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;

use super::{Aims, Harness, Health, Label, Ledger, Map, Purse, Rng, Secret};
use crate::ClientId;
use crate::interest::{Facts, OwnedBy};
use crate::mirror::MirrorEvent;
use crate::replication::{DespawnReason, NetRef, NetworkIds, Replicate, ReplicationSettings};

/// One random change of the world.
fn mutate(h: &mut Harness, all: &mut Vec<Entity>, rng: &mut Rng, home: WorldPosition) {
    let spread = |rng: &mut Rng| {
        let far = if rng.below(4) == 0 { 60_000 } else { 4_000 };
        WorldPosition::new(
            home.x.saturating_add(rng.step(far)),
            home.y.saturating_add(rng.step(far)),
            home.z.saturating_add(rng.step(far)),
        )
    };
    let pick = |rng: &mut Rng, all: &[Entity]| {
        let at = usize::try_from(rng.below(all.len().max(1) as u64)).unwrap();
        all.get(at).copied()
    };
    let choice = rng.below(20);
    if all.len() < 10 || choice == 0 && all.len() < 80 {
        let e = h
            .world
            .spawn((Replicate, spread(rng), Secret([1; 16])))
            .id();
        all.push(e);
        return;
    }
    let Some(e) = pick(rng, all) else { return };
    let to = spread(rng);
    let other = pick(rng, all);
    let size = usize::try_from(rng.below(3_000)).unwrap();
    let byte = u8::try_from(rng.below(250)).unwrap();
    let client = ClientId::new(1 + rng.below(2));
    let small = |rng: &mut Rng| rng.step(90);
    let mut entity = h.world.entity_mut(e);
    match choice {
        1 => {
            entity.despawn();
            all.retain(|other| *other != e);
        }
        2 => drop(entity.insert(to)),
        3 => drop(entity.insert(Health(size.try_into().unwrap()))),
        4 => drop(entity.insert(Label("l".repeat(size / 10)))),
        5 => drop(entity.remove::<Label>()),
        6 => drop(entity.insert(Purse(size.try_into().unwrap()))),
        7 => drop(entity.insert(OwnedBy(client))),
        8 => drop(entity.remove::<(OwnedBy, Purse)>()),
        9 => drop(entity.insert(Map(vec![byte; size]))),
        10 => drop(entity.remove::<Map>()),
        11 => drop(entity.insert(Aims(NetRef(other), byte))),
        12 => drop(entity.remove::<Aims>()),
        13 => drop(entity.remove::<WorldPosition>()),
        14 => drop(entity.insert(Ledger(vec![byte; size]))),
        _ => {
            for e in all.iter() {
                let by = [small(rng), small(rng), small(rng)];
                if let Some(mut at) = h.world.get_mut::<WorldPosition>(*e) {
                    at.x = at.x.saturating_add(by[0]);
                    at.y = at.y.saturating_add(by[1]);
                    at.z = at.z.saturating_add(by[2]);
                }
            }
        }
    }
}

/// Goes on with another world, as whoever watches it for the interest does.
fn go_on_in(h: &mut Harness, mut world: World) {
    NetworkIds::maintain(&mut world);
    core::mem::swap(&mut h.world, &mut world);
    let [old, new] = [&world, &h.world].map(|world| {
        let all = world.resource::<NetworkIds>().by_entity().iter();
        all.flatten().map(|(_, id)| *id).collect::<Vec<_>>()
    });
    let gone = old.iter().filter(|id| !new.contains(id));
    for id in gone {
        h.interest.remove(*id);
    }
    for id in new.iter().filter(|id| !old.contains(id)) {
        h.interest.insert(*id, Facts::default());
    }
}

#[test]
fn another_world_takes_the_place_of_the_first() {
    let at = |by: i128| WorldPosition::new(by, -by, 0);
    let mut h = Harness::new(8, 2);
    h.look(0, at(0), 5_000);
    h.look(1, at(0), 5_000);
    let a = h.world.spawn((Replicate, at(1), Label("a".into()))).id();
    h.world
        .spawn((Replicate, at(2), Aims(NetRef(Some(a)), 3), Health(1)));
    let owned = (OwnedBy(ClientId::new(1)), Purse(7), Health(4));
    h.world.spawn((Replicate, at(3), owned));
    let gone = h.world.spawn((Replicate, at(4), Map(vec![1; 900]))).id();
    h.spawn_at(at(5));
    h.steps(8);
    h.check_equal();
    let gone = *h.world.get::<crate::NetworkId>(gone).unwrap();

    let mut second = World::new();
    second.spawn((Replicate, at(-9), Health(1)));
    let x = second.spawn((Replicate, at(2))).id();
    second
        .entity_mut(x)
        .insert((Aims(NetRef(Some(x)), 3), Purse(1)));
    second.spawn((Replicate, at(3), OwnedBy(ClientId::new(2)), Purse(7)));
    go_on_in(&mut h, second);
    h.net.loss_percent = 100;
    h.steps(2);
    // Another gets the id of one whose leave has not arrived yet.
    let late = h.world.spawn((Replicate, at(70), Health(9))).id();
    h.step();
    assert_eq!(h.world.get::<crate::NetworkId>(late), Some(&gone));
    h.settle();
    h.check_equal();
    assert_eq!(h.clients[0].mirror.len(), 4);
    let left = h.clients[0].events.iter().filter_map(|event| match event {
        MirrorEvent::Despawned { reason, .. } => Some(*reason),
        _ => None,
    });
    assert_eq!(left.collect::<Vec<_>>(), [DespawnReason::Destroyed]);
    // The new world is followed from then on.
    h.world.get_mut::<Health>(late).unwrap().0 = 10;
    h.world.despawn(x);
    h.settle();
    h.check_equal();
    assert_eq!(h.clients[1].mirror.len(), 3);
}

fn run(seed: u64, home: WorldPosition, room: usize, packets: usize) -> u64 {
    let mut rng = Rng(seed ^ 0xABCD);
    let settings = ReplicationSettings {
        grace_ticks: 20,
        spawns_per_tick: 16,
        kept_max: 8,
    };
    let mut h = Harness::with(seed, 2, settings);
    h.net.loss_percent = 25;
    h.net.delay = 5;
    h.net.room = room;
    h.net.packets = packets;
    let mut all = Vec::new();
    for round in 0..6 {
        for _ in 0..50 {
            for _ in 0..rng.below(5) {
                mutate(&mut h, &mut all, &mut rng, home);
            }
            if rng.below(10) == 0 {
                let at = WorldPosition::new(home.x.saturating_add(rng.step(6_000)), home.y, home.z);
                h.look(0, at, 5_000);
                h.look(1, home, 3_000 + u128::from(rng.below(5_000)));
            }
            h.step();
        }
        let (loss, delay) = (h.net.loss_percent, h.net.delay);
        h.settle();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| h.check_equal()));
        if let Err(panic) = caught {
            eprintln!("seed {seed}, round {round}");
            std::panic::resume_unwind(panic);
        }
        (h.net.loss_percent, h.net.delay) = (loss, delay);
    }
    h.said
}

#[test]
fn worlds_are_equal_after_loss_and_reordering() {
    for seed in 0..12 {
        run(seed, WorldPosition::new(-7, 0, 1 << 40), 900, 64);
    }
}

#[test]
fn worlds_are_equal_at_the_ends_of_the_universe() {
    for seed in 0..4 {
        run(seed, WorldPosition::MIN, 900, 64);
        run(seed, WorldPosition::MAX, 900, 64);
    }
}

#[test]
fn worlds_are_equal_with_small_packets() {
    for seed in 0..4 {
        run(seed, WorldPosition::new(1 << 100, -1, 0), 400, 6);
    }
}

#[test]
fn the_same_seed_says_the_same_bytes() {
    let home = WorldPosition::new(0, i128::MIN, -1);
    assert_eq!(run(5, home, 500, 8), run(5, home, 500, 8));
    assert_ne!(run(5, home, 500, 8), run(6, home, 500, 8));
}
