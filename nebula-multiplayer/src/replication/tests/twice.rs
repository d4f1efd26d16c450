//! Bodies of one tick, some written before an acknowledgement came and some after.

use nebula_math::WorldPosition;

use super::{Aims, Flying, Harness};
use crate::Tick;
use crate::replication::{NetRef, Replicate};

/// A tick whose bodies are sent by hand.
fn tick(h: &mut Harness) {
    h.tick = h.tick.wrapping_add(1);
    h.feed();
    let tick = Tick::new(h.tick);
    h.replicator.tick(&mut h.world, &h.interest, tick);
}

fn send(h: &mut Harness) -> Vec<Flying> {
    h.send(0);
    h.clients[0].unacked.clear();
    h.clients[0].flying.drain(..).collect()
}

fn read(h: &mut Harness, packets: &[Flying]) {
    for packet in packets {
        let mirror = &mut h.clients[0].mirror;
        mirror.read(packet.tick, &packet.body).expect("honest");
    }
}

fn acknowledge(h: &mut Harness, packets: &[Flying]) {
    for packet in packets {
        h.replicator.acked(h.clients[0].id, packet.packet);
    }
}

#[test]
fn a_reference_that_becomes_known_within_a_tick_bears_reordering() {
    let mut h = Harness::new(1, 1);
    let at = |x| WorldPosition::new(x, 0, i128::MIN);
    h.look(0, at(0), 50_000);
    let holder = h
        .world
        .spawn((Replicate, at(0), Aims(NetRef(None), 4)))
        .id();
    h.steps(4);
    let target = h.spawn_at(at(10));
    tick(&mut h);
    let spawn = send(&mut h);
    read(&mut h, &spawn);

    h.world
        .entity_mut(holder)
        .insert(Aims(NetRef(Some(target)), 5));
    tick(&mut h);
    let before = send(&mut h);
    acknowledge(&mut h, &spawn);
    let after = send(&mut h);
    // What was written last arrives first.
    read(&mut h, &after);
    read(&mut h, &before);
    acknowledge(&mut h, &after);
    acknowledge(&mut h, &before);
    h.steps(3);
    h.check_equal();
}
