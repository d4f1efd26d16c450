//! Component kinds, references, and the ids of replicated entities.

use bevy_ecs::prelude::*;
use nebula_multiplayer::replication::{
    Kind, KindError, Kinds, NetRef, NetworkIds, Records, References, Replicate, ReplicationStats,
};
use nebula_multiplayer::{NetworkId, Protocol};
use serde::{Deserialize, Serialize};

#[derive(Component, Clone, Serialize, Deserialize)]
#[component(summary_tick)]
struct Aims {
    at: NetRef,
    next: NetRef,
}

impl References for Aims {
    fn each_reference(&mut self, f: &mut dyn FnMut(&mut NetRef)) {
        f(&mut self.at);
        f(&mut self.next);
    }
}

#[derive(Component, Clone, Serialize, Deserialize)]
#[component(summary_tick)]
struct Shape(Vec<u8>);

#[test]
fn a_kind_says_what_it_is() {
    let aims = Kind::with_references::<Aims>("aims");
    assert!(aims.has_references() && !aims.is_stream());
    let shape = Kind::new::<Shape>("shape").stream();
    assert!(shape.is_stream() && !shape.has_references());
    assert!(shape.max_bytes() > aims.max_bytes());
}

#[test]
fn kinds_are_numbered_by_name_behind_the_position() {
    let list = [
        Kind::new::<Shape>("shape"),
        Kind::with_references::<Aims>("aims"),
    ];
    let kinds = Kinds::new(list).expect("different names");
    assert_eq!((kinds.len(), kinds.is_empty()), (3, false));
    let names: Vec<_> = kinds.iter().map(|(n, kind)| (n, kind.name())).collect();
    assert_eq!(names, [(1, "aims"), (2, "shape")]);
    assert_eq!(kinds.name(0), Some("position"));
    assert!(kinds.get(0).is_none() && kinds.get(3).is_none());
    assert_eq!(kinds.get(2).map(Kind::name), Some("shape"));
}

#[test]
fn a_stream_of_references_is_refused() {
    let error = Kinds::new([Kind::with_references::<Aims>("aims").stream()]).unwrap_err();
    assert_eq!(error, KindError::StreamOfReferences("aims".into()));
}

#[test]
fn whether_there_are_references_is_part_of_the_protocol() {
    let with = Protocol::new("game", 1).component(Kind::with_references::<Aims>("aims"));
    let without = Protocol::new("game", 1).component(Kind::new::<Aims>("aims"));
    assert_ne!(with.hash(), without.hash());
}

#[test]
fn references_come_in_a_fixed_order() {
    let mut world = World::new();
    let (a, b) = (world.spawn_empty().id(), world.spawn_empty().id());
    let mut aims = Aims {
        at: NetRef(Some(a)),
        next: NetRef(Some(b)),
    };
    let mut seen = Vec::new();
    References::each_reference(&mut aims, &mut |reference| seen.push(reference.0));
    assert_eq!(seen, [Some(a), Some(b)]);
}

#[test]
fn an_index_is_reused_a_tick_later_with_another_generation() {
    let mut world = World::new();
    let rock = world.spawn(Replicate).id();
    NetworkIds::maintain(&mut world);
    let ids = world.resource::<NetworkIds>();
    let first = ids.of(rock).expect("it is marked");
    assert_eq!((ids.len(), ids.is_empty()), (1, false));
    assert_eq!(ids.entity(first), Some(rock));

    world.despawn(rock);
    let tree = world.spawn(Replicate).id();
    NetworkIds::maintain(&mut world);
    let ids = world.resource::<NetworkIds>();
    let tree_id = ids.of(tree).expect("it is marked");
    assert_ne!(tree_id.index(), first.index(), "the index rests for a tick");
    let removed: Vec<NetworkId> = ids.changes().removed.iter().map(|r| r.id).collect();
    assert_eq!(removed, [first]);

    NetworkIds::maintain(&mut world);
    let bush = world.spawn(Replicate).id();
    NetworkIds::maintain(&mut world);
    let third = world.resource::<NetworkIds>().of(bush).expect("marked");
    assert_eq!(third.index(), first.index());
    assert_eq!(third.generation(), first.generation() + 1);
}

#[test]
fn a_body_begins_with_the_age_of_its_baseline() {
    let kinds = Kinds::default();
    let records = Records::new(&kinds, &[3]).expect("one byte");
    assert_eq!(records.baseline_age(), 3);
    assert!(Records::new(&kinds, &[]).is_err());
}

#[test]
fn statistics_of_nobody_have_no_kinds() {
    assert_eq!(ReplicationStats::default().kinds(), 0);
}
