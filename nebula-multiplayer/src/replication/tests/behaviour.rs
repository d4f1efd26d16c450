//! One claim each, on a perfect link.

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;

use super::{Aims, Crew, Harness, Health, Label, Ledger, Map, Purse, Secret};
use crate::ClientId;
use crate::interest::OwnedBy;
use crate::mirror::MirrorEvent;
use crate::replication::{DespawnReason, NetRef, Replicate, ReplicationSettings};

const FAR: WorldPosition = WorldPosition::new(i128::MIN + 70_000, -1, i128::MAX - 70_000);

pub(super) fn near(by: i128) -> WorldPosition {
    WorldPosition::new(FAR.x + by, FAR.y - by, FAR.z)
}

pub(super) fn one() -> Harness {
    let mut harness = Harness::new(1, 1);
    harness.look(0, FAR, 5_000);
    harness
}

#[test]
fn an_entity_appears_changes_and_leaves() {
    let mut h = one();
    let e = h
        .world
        .spawn((Replicate, near(5), Health(7), Secret([9; 16])))
        .id();
    h.steps(3);
    h.check_equal();
    assert_eq!(h.clients[0].mirror.len(), 1);
    h.world.get_mut::<Health>(e).unwrap().0 = 8;
    *h.world.get_mut::<WorldPosition>(e).unwrap() = near(-6);
    h.steps(2);
    h.check_equal();
    *h.world.get_mut::<WorldPosition>(e).unwrap() = near(50_000);
    h.steps(3);
    h.check_equal();
    let [
        MirrorEvent::Spawned(a),
        MirrorEvent::Despawned { entity, reason },
    ] = h.clients[0].events[..]
    else {
        panic!("{:?}", h.clients[0].events)
    };
    assert_eq!((a, reason), (entity, DespawnReason::Left));
}

#[test]
fn a_destroyed_entity_says_so_and_a_disabled_one_does_not() {
    let mut h = one();
    let [a, b] = [1, 2].map(|by| h.spawn_at(near(by)));
    h.steps(3);
    h.world.despawn(a);
    h.world.entity_mut(b).insert(Disabled);
    h.steps(3);
    let reasons: Vec<_> = h.clients[0]
        .events
        .iter()
        .filter_map(|event| match event {
            MirrorEvent::Despawned { reason, .. } => Some(*reason),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, [DespawnReason::Destroyed, DespawnReason::Left]);
    h.world.entity_mut(b).remove::<Disabled>();
    h.steps(3);
    h.check_equal();
    assert_eq!(h.clients[0].mirror.len(), 1);
}

#[test]
fn components_come_and_go_while_visible() {
    let mut h = one();
    let e = h.spawn_at(near(0));
    h.steps(3);
    h.world.entity_mut(e).insert((Health(1), Label("a".into())));
    h.steps(2);
    h.check_equal();
    h.world.entity_mut(e).remove::<Health>();
    h.steps(2);
    h.check_equal();
    h.world.entity_mut(e).remove::<Label>().insert(Health(3));
    h.steps(2);
    h.check_equal();
}

#[test]
fn an_equal_value_is_not_sent() {
    let mut h = one();
    let e = h.world.spawn((Replicate, near(0), Health(7))).id();
    h.steps(4);
    let before = h.clients[0].bytes;
    h.world.get_mut::<Health>(e).unwrap().0 = 7;
    *h.world.get_mut::<WorldPosition>(e).unwrap() = near(0);
    h.steps(2);
    assert_eq!(h.clients[0].bytes, before);
}

#[test]
fn only_the_owner_gets_what_is_his() {
    let mut h = Harness::new(1, 2);
    h.look(0, FAR, 5_000);
    h.look(1, FAR, 5_000);
    let [first, second] = [1, 2].map(ClientId::new);
    let e = h
        .world
        .spawn((Replicate, near(0), Purse(5), OwnedBy(first)))
        .id();
    h.steps(3);
    h.check_equal();
    let mut purses = h.clients[0].world.query::<&Purse>();
    assert_eq!(purses.iter(&h.clients[0].world).count(), 1);
    // It changes hands.
    h.world.entity_mut(e).insert(OwnedBy(second));
    h.steps(3);
    h.check_equal();
    let mut purses = h.clients[0].world.query::<&Purse>();
    assert_eq!(purses.iter(&h.clients[0].world).count(), 0);
    h.world.entity_mut(e).remove::<OwnedBy>();
    h.steps(3);
    h.check_equal();
}

#[test]
fn a_large_component_comes_back_with_its_owner() {
    let mut h = Harness::new(1, 2);
    h.look(0, FAR, 5_000);
    h.look(1, FAR, 5_000);
    let ledger = Ledger(vec![3; 3_000]);
    let e = h.world.spawn((Replicate, near(0), ledger)).id();
    for owner in [1, 2, 1, 2] {
        h.world.entity_mut(e).insert(OwnedBy(ClientId::new(owner)));
        h.steps(8);
        h.check_equal();
    }
    // The second loses it while it does not look, and gets it again when it does.
    h.look(1, near(90_000), 5_000);
    h.world.entity_mut(e).remove::<OwnedBy>();
    h.steps(4);
    h.look(1, FAR, 5_000);
    h.steps(8);
    h.check_equal();
    h.world.entity_mut(e).insert(OwnedBy(ClientId::new(2)));
    h.steps(8);
    h.check_equal();
}

#[test]
fn references_follow_who_is_seen() {
    let mut h = one();
    let target = h.spawn_at(near(90_000));
    let holder = h
        .world
        .spawn((Replicate, near(0), Aims(NetRef(Some(target)), 4)))
        .id();
    h.steps(4);
    h.check_equal();
    let aims = |h: &mut Harness| {
        let mut rows = h.clients[0].world.query::<&Aims>();
        rows.single(&h.clients[0].world).unwrap().clone()
    };
    assert_eq!(aims(&mut h), Aims(NetRef(None), 4), "unseen");
    *h.world.get_mut::<WorldPosition>(target).unwrap() = near(10);
    h.steps(5);
    h.check_equal();
    assert!(aims(&mut h).0.0.is_some(), "sent again when it appears");
    *h.world.get_mut::<WorldPosition>(target).unwrap() = near(90_000);
    h.steps(5);
    h.check_equal();
    assert_eq!(aims(&mut h).0.0, None, "and when it leaves");
    h.world.get_mut::<Aims>(holder).unwrap().0 = NetRef(Some(holder));
    h.steps(3);
    h.check_equal();
}

#[test]
fn who_was_referred_to_is_forgotten() {
    let mut h = one();
    let holder = h.spawn_at(near(0));
    for _ in 0..20 {
        let target = h.spawn_at(near(10));
        h.world
            .entity_mut(holder)
            .insert(Aims(NetRef(Some(target)), 4));
        h.steps(2);
        h.world.despawn(target);
    }
    assert_eq!(h.replicator.shared.referred(), 1);
    h.world.entity_mut(holder).remove::<Aims>();
    h.steps(2);
    assert_eq!(h.replicator.shared.referred(), 0);
}

#[test]
fn a_component_whose_references_do_not_fit_beside_it_is_not_sent() {
    let mut h = one();
    let all: Vec<_> = (0..64).map(|_| h.spawn_at(near(10))).collect();
    let list: Vec<_> = all.iter().map(|entity| NetRef(Some(*entity))).collect();
    let holder = h.spawn_at(near(0));
    let fits = Crew(list.clone(), vec![1; 700]);
    h.world.entity_mut(holder).insert(fits.clone());
    h.steps(8);
    let crew = |h: &mut Harness| {
        let mut rows = h.clients[0].world.query::<&Crew>();
        rows.single(&h.clients[0].world).unwrap().1.len()
    };
    assert_eq!(crew(&mut h), 700);
    // 64 bytes of places for the references, 192 of slots.
    h.world.entity_mut(holder).insert(Crew(list, vec![1; 800]));
    h.steps(8);
    assert_eq!(crew(&mut h), 700, "the last value stands");
    h.world.entity_mut(holder).insert(Health(9));
    h.steps(4);
    let mut rows = h.clients[0].world.query::<&Health>();
    let health = rows.single(&h.clients[0].world);
    assert_eq!(health.ok(), Some(&Health(9)), "and holds up nothing else");
}

#[test]
fn a_large_component_streams() {
    let mut h = one();
    let bytes: Vec<u8> = (0..12_000_u32)
        .map(|n| u8::try_from(n % 251).unwrap())
        .collect();
    let e = h.world.spawn((Replicate, near(0), Map(bytes))).id();
    h.net.packets = 4;
    h.steps(20);
    h.check_equal();
    h.world.get_mut::<Map>(e).unwrap().0[11_000] = 255;
    h.steps(20);
    h.check_equal();
    h.world.entity_mut(e).remove::<Map>();
    h.steps(3);
    h.check_equal();
}

#[test]
fn a_component_over_the_cap_is_not_sent() {
    let mut h = one();
    let e = h
        .world
        .spawn((Replicate, near(0), Label("short".into())))
        .id();
    h.steps(3);
    h.world.get_mut::<Label>(e).unwrap().0 = "x".repeat(1_025);
    let before = h.clients[0].bytes;
    h.steps(3);
    assert_eq!(h.clients[0].bytes, before, "the last value stands");
    h.world.get_mut::<Label>(e).unwrap().0 = "y".repeat(1_000);
    h.net.room = 1_100;
    h.steps(3);
    h.check_equal();
}

#[test]
fn a_spawn_may_span_packets_and_appears_once_complete() {
    let mut h = one();
    let big = |c: &str| Label(c.repeat(600));
    let e = (
        Replicate,
        near(0),
        big("a"),
        Health(3),
        Aims(NetRef(None), 1),
        Map(vec![7; 700]),
    );
    h.world.spawn(e);
    h.net.room = 700;
    h.net.packets = 1;
    h.steps(2);
    assert!(h.clients[0].events.is_empty() || h.clients[0].events.len() == 1);
    h.steps(12);
    h.check_equal();
    assert_eq!(h.clients[0].events.len(), 1);
}

#[test]
fn a_freed_index_rests_for_a_tick() {
    use crate::replication::NetworkIds;
    let mut world = World::new();
    let spawn = |world: &mut World| world.spawn(Replicate).id();
    let a = spawn(&mut world);
    NetworkIds::maintain(&mut world);
    let first = world.resource::<NetworkIds>().of(a).unwrap();
    world.despawn(a);
    let b = spawn(&mut world);
    NetworkIds::maintain(&mut world);
    let second = world.resource::<NetworkIds>().of(b).unwrap();
    assert_ne!(first.index(), second.index(), "freed in this tick");
    let c = spawn(&mut world);
    NetworkIds::maintain(&mut world);
    let third = world.resource::<NetworkIds>().of(c).unwrap();
    assert_eq!(first.index(), third.index());
    assert_ne!(first.generation(), third.generation());
    assert_eq!(world.resource::<NetworkIds>().entity(first), None);
    assert_eq!(world.get::<crate::NetworkId>(c), Some(&third));
}

#[test]
fn who_returns_soon_is_sent_as_a_difference() {
    let mut h = one();
    let e = h
        .world
        .spawn((Replicate, near(0), Label("x".repeat(300)), Health(1)))
        .id();
    h.steps(4);
    let (out, home) = (near(90_000), near(3));
    let spawned = h.clients[0].bytes;
    *h.world.get_mut::<WorldPosition>(e).unwrap() = out;
    h.steps(4);
    assert_eq!(h.clients[0].mirror.len(), 0);
    h.world.get_mut::<Health>(e).unwrap().0 = 2;
    *h.world.get_mut::<WorldPosition>(e).unwrap() = home;
    h.steps(4);
    h.check_equal();
    assert!(h.clients[0].bytes - spawned < 200, "the label was kept");
    assert_eq!(h.clients[0].events.len(), 3, "spawned, gone, spawned");
}

#[test]
fn who_returns_late_is_sent_in_full() {
    let settings = ReplicationSettings {
        grace_ticks: 5,
        ..ReplicationSettings::default()
    };
    let mut h = Harness::with(1, 1, settings);
    h.look(0, FAR, 5_000);
    let e = h
        .world
        .spawn((Replicate, near(0), Label("x".repeat(300))))
        .id();
    h.steps(4);
    *h.world.get_mut::<WorldPosition>(e).unwrap() = near(90_000);
    h.steps(12);
    assert_eq!(h.replicator.stored(), 0, "nothing is kept for nobody");
    let before = h.clients[0].bytes;
    *h.world.get_mut::<WorldPosition>(e).unwrap() = near(0);
    h.steps(4);
    h.check_equal();
    assert!(h.clients[0].bytes - before > 300);
}

#[test]
fn memory_of_a_client_that_is_gone_is_given_back() {
    let mut h = Harness::new(1, 2);
    h.look(0, FAR, 5_000);
    h.look(1, FAR, 1);
    let seen = h.world.spawn((Replicate, near(0), Health(1))).id();
    h.steps(2);
    for mm in 1..=500 {
        h.world.spawn((Replicate, near(mm * 5 + 5), Health(1)));
    }
    h.steps(20);
    assert_eq!(h.replicator.stored(), 501);
    let gone = h.clients.remove(0);
    h.interest.remove_client(gone.id);
    h.replicator.remove_client(gone.id);
    assert_eq!(h.replicator.stored(), 1);
    assert!(h.replicator.kept() <= 16, "{}", h.replicator.kept());
    h.world.get_mut::<Health>(seen).unwrap().0 = 2;
    h.steps(4);
    h.check_equal();
}

#[test]
fn a_client_without_kept_state_asks() {
    let mut h = one();
    h.clients[0].mirror = crate::mirror::Mirror::new(
        super::kinds(),
        crate::mirror::MirrorLimits {
            kept: 0,
            ..crate::mirror::MirrorLimits::default()
        },
    );
    let e = h
        .world
        .spawn((Replicate, near(0), Label("x".repeat(300))))
        .id();
    h.spawn_at(near(1));
    h.steps(4);
    *h.world.get_mut::<WorldPosition>(e).unwrap() = near(90_000);
    h.steps(4);
    *h.world.get_mut::<WorldPosition>(e).unwrap() = near(0);
    h.steps(12);
    h.check_equal();
}

#[test]
fn a_reset_sends_everything_anew() {
    let mut h = one();
    for by in 0..20 {
        h.world.spawn((Replicate, near(by), Health(1)));
    }
    h.steps(4);
    let id = h.clients[0].id;
    h.replicator.reset_client(id);
    h.steps(6);
    h.check_equal();
}

#[test]
fn an_idle_tick_writes_and_visits_nothing() {
    let mut h = one();
    for by in 0..50 {
        h.world.spawn((Replicate, near(by), Health(1)));
    }
    h.steps(6);
    h.step();
    assert!(!h.replicator.wants_to_send(h.clients[0].id));
    assert_eq!(h.replicator.scanned(), 0, "no row without a linear kind");
}

#[test]
fn what_was_hidden_after_it_was_queued_is_stopped() {
    let mut h = one();
    let e = h.world.spawn((Replicate, near(0), Health(1))).id();
    h.steps(4);
    h.world.get_mut::<Health>(e).unwrap().0 = 2;
    h.tick = h.tick.wrapping_add(1);
    h.feed();
    h.replicator
        .tick(&mut h.world, &h.interest, crate::Tick::new(h.tick));
    // The game hides it between the tick and the transmission.
    let id = *h.world.get::<crate::NetworkId>(e).unwrap();
    let facts = crate::interest::Facts {
        rule: crate::interest::Rule::Never,
        ..h.interest.facts(id).unwrap()
    };
    h.interest.set_facts(id, facts);
    h.interest.update();
    let client = h.clients[0].id;
    let mut body = Vec::new();
    assert!(
        !h.replicator
            .write(&h.interest, client, 900, 1_000, &mut body)
    );
    assert_eq!(h.replicator.stats(client).unwrap().stopped, 1);
    #[cfg(feature = "testing")]
    {
        h.replicator.break_gate(client);
        assert!(
            h.replicator
                .write(&h.interest, client, 901, 1_000, &mut body)
        );
    }
}
