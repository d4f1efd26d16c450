//! What players want: movement as a numbered wish, which the server grants within limits.
//!
//! A client sends a [`MoveIntent`]: a velocity and for how long, never a place. The server's
//! [`Mover`] takes each number once, grants no more time than has passed and no more speed than a
//! hook allows, and moves the player. The newest number is echoed, so that a client that predicts
//! its own movement knows up to where the server agrees.

#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::as_conversions
)]

use core::time::Duration;
use std::collections::BTreeMap;

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use nebula_math::{IVec3_128, WorldPosition};
use serde::{Deserialize, Serialize};

use crate::protocol::{Channel, Protocol, Sender};
use crate::session::{Bucket, InputVerdict};
use crate::wire::Codec;
use crate::{ClientId, Server};

/// The longest time that one intent may ask for, in milliseconds.
const MOST_MS: u16 = 250;

/// Milliseconds of movement that a client may save up, for intents that arrive in a bunch.
const SAVED_MS: u32 = 500;

/// A wish to move: so fast, for so long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveIntent {
    /// Counts up by one per intent, and may wrap.
    pub number: u32,
    /// Velocity in millimetres a second, along each axis.
    pub velocity_mm_s: [i32; 3],
    /// For how many milliseconds; no more than 250 are granted.
    pub millis: u16,
}

/// Adds [`MoveIntent`] to a protocol: from clients alone, unordered.
///
/// ```
/// use nebula_multiplayer::{Protocol, input};
///
/// let protocol = input::register(Protocol::new("my game", 1));
/// assert!(protocol.check().is_ok());
/// ```
#[must_use]
pub fn register(protocol: Protocol) -> Protocol {
    let codec = Codec::<MoveIntent>::serde();
    protocol.message_with("nebula.move", 1, Channel::Unordered, Sender::Client, codec)
}

/// What became of the intents of one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveReport {
    /// Intents that moved their player as they asked.
    pub moved: u64,
    /// Intents that asked for more speed or time than is allowed, and got what is.
    pub limited: u64,
    /// Intents that were not taken: old, doubled, without a player, or over the edge of space.
    pub refused: u64,
}

/// Grants movement to players.
///
/// ```
/// use core::time::Duration;
/// use bevy_ecs::world::World;
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::input::{self, MoveIntent, Mover};
/// use nebula_multiplayer::{ClientId, Identity, Protocol, Server, ServerSettings};
///
/// let protocol = input::register(Protocol::new("my game", 1));
/// let mut server = Server::new(protocol, ServerSettings::default()).unwrap();
/// let mut world = World::new();
/// let player = world.spawn(WorldPosition::new(-1, 0, 0)).id();
/// let client = server.connect(Identity::Account(1), Duration::ZERO).unwrap();
/// server.set_player(client, Some(player));
///
/// let mut mover = Mover::default();
/// let now = Duration::from_secs(1);
/// // Ten times as fast as allowed.
/// let intent = MoveIntent { number: 1, velocity_mm_s: [60_000, 0, 0], millis: 100 };
/// let report = mover.grant(&mut server, &mut world, client, &intent, now, |_, _| 6_000);
/// assert_eq!(report.limited, 1);
/// assert_eq!(world.get::<WorldPosition>(player), Some(&WorldPosition::new(598, 0, 0)));
/// ```
#[derive(Debug, Default)]
pub struct Mover {
    /// The time that each client has left. Of clients that the server knows.
    time: BTreeMap<ClientId, Bucket>,
}

impl Mover {
    /// Grants every [`MoveIntent`] that arrived since the last call. Call it once per tick, before
    /// [`Server::tick`].
    ///
    /// `speed_limit` says how fast a player may be now, in millimetres a second.
    pub fn run(
        &mut self,
        server: &mut Server,
        world: &mut World,
        now: Duration,
        mut speed_limit: impl FnMut(&World, Entity) -> u32,
    ) -> MoveReport {
        self.time
            .retain(|client, _| server.stats(*client).is_some());
        let mut report = MoveReport::default();
        for (client, intent) in server.messages::<MoveIntent>() {
            let one = self.grant(server, world, client, &intent, now, &mut speed_limit);
            report.moved = report.moved.saturating_add(one.moved);
            report.limited = report.limited.saturating_add(one.limited);
            report.refused = report.refused.saturating_add(one.refused);
        }
        report
    }

    /// Grants one intent of a client, and says what became of it.
    pub fn grant(
        &mut self,
        server: &mut Server,
        world: &mut World,
        client: ClientId,
        intent: &MoveIntent,
        now: Duration,
        mut speed_limit: impl FnMut(&World, Entity) -> u32,
    ) -> MoveReport {
        let refused = MoveReport {
            refused: 1,
            ..MoveReport::default()
        };
        if server.accept_input(client, intent.number) != Some(InputVerdict::Fresh) {
            return refused;
        }
        let Some(player) = server.player(client) else {
            return refused;
        };
        let Some(at) = world.get::<WorldPosition>(player).copied() else {
            return refused;
        };
        let millis = self.time_for(client, intent.millis, now);
        let velocity = limited(intent.velocity_mm_s, speed_limit(world, player));
        let step = velocity.map(|v| i128::from(v).saturating_mul(millis.into()) / 1_000);
        let [x, y, z] = step;
        let Some(to) = at.checked_add(IVec3_128::new(x, y, z)) else {
            return refused;
        };
        if let Some(mut position) = world.get_mut::<WorldPosition>(player)
            && *position != to
        {
            *position = to;
        }
        let as_asked = millis == intent.millis && velocity == intent.velocity_mm_s;
        MoveReport {
            moved: as_asked.into(),
            limited: (!as_asked).into(),
            refused: 0,
        }
    }

    /// Returns how much of the time that is asked for a client has left, and takes it: as many
    /// milliseconds as have passed, and a little that was saved up.
    fn time_for(&mut self, client: ClientId, asked: u16, now: Duration) -> u16 {
        let bucket = self
            .time
            .entry(client)
            .or_insert_with(|| Bucket::new(1_000, SAVED_MS, now));
        bucket.refill(now);
        let left = u16::try_from(bucket.available()).unwrap_or(u16::MAX);
        let granted = asked.min(MOST_MS).min(left);
        bucket.take(granted.into());
        granted
    }
}

/// Returns a velocity of the same direction that is no faster than `most`, rounded towards zero.
fn limited(velocity: [i32; 3], most: u32) -> [i32; 3] {
    let square = |v: u64| u128::from(v).saturating_mul(v.into());
    let squares = velocity.map(|v| square(v.unsigned_abs().into()));
    let sum = squares.iter().fold(0_u128, |a, b| a.saturating_add(*b));
    if sum <= square(most.into()) {
        return velocity;
    }
    // The root is rounded up, so that the result is never too fast.
    let length = sum.isqrt().saturating_add(1);
    velocity.map(|v| {
        let scaled = i128::from(v).saturating_mul(most.into());
        let length = i128::try_from(length).unwrap_or(i128::MAX);
        let scaled = scaled.checked_div(length).unwrap_or(0);
        i32::try_from(scaled).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_ever_faster_than_the_limit() {
        let ends = [i32::MIN, -1_000_001, -1, 0, 1, 999_999, i32::MAX];
        for x in ends {
            for y in ends {
                for most in [0, 1, 6_000, u32::MAX] {
                    let [a, b, c] = limited([x, y, i32::MIN], most);
                    let sum: i128 = [a, b, c]
                        .map(|v| i128::from(v) * i128::from(v))
                        .iter()
                        .sum();
                    assert!(sum <= i128::from(most) * i128::from(most), "{x} {y} {most}");
                }
            }
        }
        assert_eq!(
            limited([3_000, -4_000, 0], 5_000),
            [3_000, -4_000, 0],
            "at the limit"
        );
    }
}
