//! Places at the ends of space, borders that are crossed all the time, and crowds: rows 24 to 26, 28, 30
//! and 31 of the hostile input table on a whole server. In each test a healthy client elsewhere notices
//! nothing.

mod common;
#[path = "oracle/budget.rs"]
mod meter;
#[path = "common/places.rs"]
mod places;

use core::time::Duration;

use bevy_ecs::prelude::*;
use common::{Health, MAX, Pair, settings, watched_protocol};
use meter::Meter;
use nebula_math::WorldPosition;
use nebula_multiplayer::input::{self, MoveIntent, MoveReport, Mover};
use nebula_multiplayer::interest::{InterestArea, InterestConfig};
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::replication::{Replicate, ReplicationSettings};
use nebula_multiplayer::{ClientId, Identity, Server, ServerSettings};
use places::{FAR, HERE};

/// A client that is in, and its player.
fn with_player(mut pair: Pair, at: WorldPosition) -> (Pair, Entity) {
    pair.join();
    let player = pair.world.spawn((Replicate, at, Health(100))).id();
    assert!(pair.server.set_player(pair.id, Some(player)));
    pair.steps(3);
    (pair, player)
}

/// What the client shows, in order.
fn seen(pair: &mut Pair) -> Vec<WorldPosition> {
    let mut query = pair.mirror.query::<&WorldPosition>();
    let mut all: Vec<WorldPosition> = query.iter(&pair.mirror).copied().collect();
    all.sort_unstable_by_key(|at| (at.x, at.y, at.z));
    all
}

#[test]
fn hostile_24_a_player_at_every_mix_of_the_ends_of_space() {
    let ends = [i128::MIN, -1, i128::MAX - 1];
    let mut corners = Vec::new();
    for x in ends {
        for y in ends {
            corners.extend(ends.map(|z| WorldPosition::new(x, y, z)));
        }
    }
    // Two on each axis, of which one may be the very end.
    let around = |at: &WorldPosition| {
        let mut all = Vec::new();
        for x in 0..2 {
            for y in 0..2 {
                for z in 0..2 {
                    all.push(WorldPosition::new(at.x + x, at.y + y, at.z + z));
                }
            }
        }
        all
    };
    let (mut pair, player) = with_player(Pair::watched(), WorldPosition::new(7, 7, 1 << 90));
    for at in corners.iter().flat_map(around) {
        pair.world.spawn((Replicate, at, Health(1)));
    }
    for corner in &corners {
        for at in around(corner) {
            pair.world.entity_mut(player).insert(at);
            pair.steps(2);
            let mut expected = around(corner);
            expected.push(at);
            expected.sort_unstable_by_key(|at| (at.x, at.y, at.z));
            assert_eq!(seen(&mut pair), expected, "from {at:?}");
        }
    }
    pair.witness_notices_nothing();
}

#[test]
fn hostile_25_a_wish_to_step_over_the_edge_of_the_universe() {
    let protocol = input::register(watched_protocol());
    let pair = Pair::watched_over(protocol, settings(Limits::default()));
    let edge = WorldPosition::new(i128::MAX, 0, i128::MIN);
    let (mut pair, player) = with_player(pair, edge);
    let mut mover = Mover::default();
    let mut number = 0;
    let mut wish = |pair: &mut Pair, velocity_mm_s: [i32; 3]| {
        number += 1;
        let intent = MoveIntent {
            number,
            velocity_mm_s,
            millis: 100,
        };
        pair.client.send(&intent).unwrap();
        pair.step();
        pair.steps(4);
        let now = pair.now;
        let report = mover.run(&mut pair.server, &mut pair.world, now, |_, _| 6_000);
        (report, *pair.world.get::<WorldPosition>(player).unwrap())
    };
    let refused = MoveReport {
        refused: 1,
        ..MoveReport::default()
    };
    assert_eq!(wish(&mut pair, [1_000, 0, 0]), (refused, edge));
    assert_eq!(wish(&mut pair, [0, 0, -1_000]), (refused, edge));
    assert_eq!(wish(&mut pair, [i32::MAX; 3]), (refused, edge));
    let (report, at) = wish(&mut pair, [-1_000, 0, 1_000]);
    assert_eq!(report.moved, 1, "back is allowed");
    let back = WorldPosition::new(i128::MAX - 100, 0, i128::MIN + 100);
    assert_eq!(at, back);
    pair.steps(2);
    assert_eq!(seen(&mut pair), [back]);
    pair.witness_notices_nothing();
}

#[test]
fn hostile_26_nothing_from_far_away_is_ever_shown() {
    let (mut pair, _) = with_player(Pair::watched(), HERE);
    for at in FAR {
        pair.world.spawn((Replicate, at, Health(1)));
    }
    // The last is a little less than 2^64 millimetres.
    for radius in [0.0, 500.0, 1.8e16] {
        let area = InterestArea::new(radius).unwrap();
        assert_eq!(pair.server.set_area(pair.id, Some(area)), Ok(true));
        pair.steps(5);
        assert_eq!(seen(&mut pair), [HERE], "within {radius} m");
    }
    let state = pair.server.replication_stats(pair.id).unwrap();
    assert_eq!(state.spawns, 1, "nothing else was ever sent");
    pair.witness_notices_nothing();
}

#[test]
fn hostile_28_radii_that_are_no_radii_change_nothing_for_anyone() {
    let here = WorldPosition::new(-1, 0, 5);
    let (mut pair, player) = with_player(Pair::watched(), here);
    let near = WorldPosition::new(-2, 0, 5);
    pair.world.spawn((Replicate, near, Health(1)));
    pair.steps(3);
    for radius in [f64::NAN, -1.0, f64::INFINITY, f64::NEG_INFINITY, 1e40] {
        let bad = InterestArea { radius };
        // On the player of a client, and for the client itself.
        pair.world.entity_mut(player).insert(bad);
        let error = pair.server.set_area(pair.id, Some(bad)).unwrap_err();
        let (error, named) = (
            error.to_string(),
            [format!("{radius}"), format!("{radius:e}")],
        );
        assert!(named.iter().any(|name| error.contains(name)), "{error}");
        pair.server.interest_issues();
        pair.steps(2);
        assert_eq!(pair.server.interest_issues().len(), 1, "{radius} is told");
        let areas = pair.server.interest().areas(pair.id).unwrap();
        assert_eq!(areas[0].radius_mm, 500_000, "{radius}");
        assert_eq!(seen(&mut pair), [near, here]);
    }
    pair.witness_notices_nothing();
}

/// Things at a border, and a client that crosses it in every tick.
struct Border {
    pair: Pair,
    player: Entity,
    meter: Meter,
}

const THINGS: u16 = 200;

/// Three bytes, as it is written.
const HEALTH: u16 = 20_000;

impl Border {
    fn new(margin_percent: u32, grace_ticks: u32, bytes_out_per_second: u32) -> Self {
        let limits = Limits {
            bytes_out_per_second,
            burst_bytes: bytes_out_per_second / 4,
            ..Limits::default()
        };
        let settings = ServerSettings {
            interest: InterestConfig::with_margin_percent(margin_percent),
            replication: ReplicationSettings {
                grace_ticks,
                ..ReplicationSettings::default()
            },
            ..settings(limits.clone())
        };
        let pair = Pair::watched_over(watched_protocol(), settings);
        // On a sector's edge.
        let (mut pair, player) = with_player(pair, WorldPosition::new((1 << 32) - 500_000, 0, 0));
        for _ in 0..THINGS {
            let at = WorldPosition::new(1 << 32, 0, 0);
            pair.world.spawn((Replicate, at, Health(HEALTH)));
        }
        let meter = Meter::new(&limits, pair.now);
        Self {
            pair,
            player,
            meter,
        }
    }

    /// Crosses the border so many times, one tick each. A client that does not answer acknowledges
    /// nothing of what it is sent.
    fn cross(&mut self, ticks: i128, answers: bool) {
        for tick in 0..ticks {
            let x = (1 << 32) - 500_000 - tick % 2;
            let at = WorldPosition::new(x, 0, 0);
            self.pair.world.entity_mut(self.player).insert(at);
            let now = self.pair.now + Duration::from_millis(50);
            let meter = &mut self.meter;
            let down = |bytes: &[u8]| {
                meter.send(bytes.len(), now).unwrap();
                true
            };
            self.pair.step_with(down, |_| answers);
        }
    }

    /// Returns how many of the things were sent in full.
    fn full(&self) -> u64 {
        let state = self.pair.server.replication_stats(self.pair.id).unwrap();
        // Those of its player took one byte.
        (state.kind_bytes[1] - 1) / 3
    }
}

#[test]
fn hostile_30_crossing_a_border_in_each_tick_sends_nothing_in_full_again() {
    let plenty = 1 << 20;
    let things = u64::from(THINGS);
    // With a margin they stay in view.
    let mut border = Border::new(10, 200, plenty);
    border.cross(200, true);
    let state = border.pair.server.replication_stats(border.pair.id);
    assert_eq!(state.unwrap().spawns, things + 1);
    border.pair.witness_notices_nothing();
    // Without one they leave and enter in turn: ten seconds, and each was sent in full once.
    let mut border = Border::new(0, 200, plenty);
    border.cross(200, true);
    let state = border.pair.server.replication_stats(border.pair.id);
    assert!(state.unwrap().spawns > 50 * things, "{state:?}");
    assert_eq!(border.full(), things);
    border.pair.witness_notices_nothing();
}

#[test]
fn hostile_30_crossing_a_border_in_each_tick_stays_within_the_bytes() {
    // Without a margin, remembered or not, answered or not: more is due than may be sent in every tick
    // in which the things are in view, and the meter in `cross` sees every datagram.
    for (grace_ticks, answers) in [(0, true), (200, true), (200, false)] {
        let mut border = Border::new(0, grace_ticks, 8_192);
        // After ten seconds without an answer it would be dropped.
        border.cross(190, answers);
        let stats = border.pair.server.stats(border.pair.id).unwrap();
        assert!(stats.starved >= 190 / 2, "more is due: {stats:?}");
        // It stops, and all is as it should be.
        border.cross(1, true);
        border.pair.steps(60);
        assert_eq!(seen(&mut border.pair).len(), usize::from(THINGS) + 1);
        border.pair.witness_notices_nothing();
    }
}

/// One of many that join at the same place, and never answer.
struct Face {
    id: ClientId,
    meter: Meter,
    sent: usize,
}

impl Face {
    fn join(pair: &mut Pair, hello: &[u8], at: WorldPosition, limits: &Limits) -> Self {
        let now = pair.now;
        let id = pair.server.connect(Identity::Anonymous, now).unwrap();
        pair.server.receive_stream(id, hello, now).unwrap();
        let player = pair.world.spawn((Replicate, at, Health(100))).id();
        assert!(pair.server.set_player(id, Some(player)));
        let meter = Meter::new(limits, now);
        Self { id, meter, sent: 0 }
    }

    fn take(&mut self, server: &mut Server, now: Duration) {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let any = server.transmit_stream(self.id, MAX, &mut bytes)
                || server.transmit(self.id, MAX, &mut bytes);
            if !any {
                break;
            }
            self.meter.send(bytes.len(), now).unwrap();
            self.sent += bytes.len();
        }
    }
}

#[test]
fn hostile_31_a_crowd_at_one_point_stays_within_the_bytes() {
    let (clients, things) = (20, 5_000);
    let limits = Limits::default();
    let mut pair = Pair::watched_with(limits.clone());
    pair.server.disconnect(pair.id, pair.now);
    let spot = WorldPosition::new(i128::MIN, -1, i128::MAX);
    let crowd: Vec<Entity> = (0..things)
        .map(|_| pair.world.spawn((Replicate, spot, Health(1))).id())
        .collect();
    let hello = pair.hello_bytes();
    let mut faces: Vec<Face> = (0..clients)
        .map(|_| Face::join(&mut pair, &hello, spot, &limits))
        .collect();
    for tick in 0..60 {
        // All of them change all the time.
        for id in &crowd {
            pair.world.get_mut::<Health>(*id).unwrap().0 = 1_000 + tick;
        }
        pair.now += Duration::from_millis(50);
        pair.tick();
        for face in &mut faces {
            face.take(&mut pair.server, pair.now);
        }
    }
    let rate = usize::try_from(limits.bytes_out_per_second).unwrap();
    for face in &faces {
        let set = pair.server.interest().set(face.id).unwrap();
        assert_eq!(set.len(), things + clients, "the set is exact");
        let view = pair.server.interest().view(face.id).unwrap();
        assert_eq!(view.members().len(), limits.max_visible);
        assert!(face.sent > rate, "the budget is used: {} bytes", face.sent);
    }
    pair.witness_notices_nothing();
}
