//! What all processes agree on: the protocol, the size of the world, and who may come in.

use core::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use bevy_ecs::component::Component;
use nebula_multiplayer::auth::{ConnectToken, TokenKey};
use nebula_multiplayer::{Protocol, input};
use serde::{Deserialize, Serialize};

/// Ticks a second, of the server and of every client.
pub(crate) const TICK_RATE: u16 = 20;

/// How far a client sees.
pub(crate) const RADIUS_MM: i128 = 50_000;

/// Beyond the radius, what was seen stays seen for so much longer.
pub(crate) const MARGIN_PERCENT: u32 = 10;

/// How many entities are within that radius, on average.
pub(crate) const VISIBLE: usize = 100;

/// How fast players and all other entities are.
pub(crate) const SPEED_MM_S: i32 = 5_000;

/// The protocol number of connect tokens.
pub(crate) const TOKEN_PROTOCOL: u64 = 1;

/// Tags of players begin here, those of probes beyond; all others are below.
pub(crate) const FIRST_PLAYER: u32 = 1 << 30;
pub(crate) const FIRST_PROBE: u32 = 2 << 30;

/// Accounts of hostile clients begin here.
pub(crate) const FIRST_HOSTILE: u64 = 1 << 20;

/// Which entity it is, on both sides.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(summary_tick)]
pub(crate) struct Tag(pub(crate) u32);

/// A value that changes now and then.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(summary_tick)]
pub(crate) struct Health(pub(crate) u16);

/// Spawned beside one player, to see how long it takes to appear there.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(summary_tick)]
pub(crate) struct Probe {
    /// Whose probe it is; others may see it by chance.
    pub(crate) account: u64,
    /// When it was spawned, in Unix microseconds: both processes read the same clock.
    pub(crate) at_us: u64,
}

pub(crate) fn protocol() -> Protocol {
    input::register(Protocol::new("nebula load", 1))
        .replicate::<Tag>("tag", 1)
        .replicate::<Health>("health", 1)
        .replicate::<Probe>("probe", 1)
}

/// Returns half the side of a square in which `entities` are as dense as [`VISIBLE`] says.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "the size of a world need not be exact"
)]
pub(crate) fn half_side_mm(entities: usize) -> i128 {
    let circle = core::f64::consts::PI * (RADIUS_MM as f64).powi(2);
    let area = circle * entities as f64 / VISIBLE as f64;
    (area.sqrt() / 2.0).ceil() as i128
}

/// The key of connect tokens. Nobody but this machine can reach a server that runs for minutes.
pub(crate) fn token_key() -> TokenKey {
    TokenKey::from_bytes(
        *b"a key for measurements on loopback"
            .first_chunk()
            .expect("long enough"),
    )
}

/// Returns a connect token that is good for a few seconds.
pub(crate) fn token(account: u64, server: SocketAddr) -> Result<Vec<u8>> {
    let token = ConnectToken {
        client: account,
        expires_ms: unix_us() / 1_000 + 20_000,
        servers: vec![server],
    };
    Ok(token.seal(&token_key(), TOKEN_PROTOCOL)?)
}

/// Returns the time by the clock that all processes share, in microseconds.
pub(crate) fn unix_us() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_micros()).unwrap_or(u64::MAX))
}

/// A small generator of numbers (SplitMix64) whose state is its seed.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number from `-reach` to `reach`.
    pub(crate) fn around(&mut self, reach: i128) -> i128 {
        i128::from(self.bits()) % (2 * reach + 1) - reach
    }

    /// Returns a velocity on the ground, in millimetres a second along each axis.
    pub(crate) fn velocity(&mut self) -> [i32; 2] {
        let one = |bits: u64| i32::try_from(bits % 7_001).unwrap_or(0) - 3_500;
        [one(self.bits()), one(self.bits())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_of_sight_holds_as_many_as_asked() {
        for entities in [500, 50_000] {
            let side = 2.0 * half_side_mm(entities) as f64;
            let circle = core::f64::consts::PI * (RADIUS_MM as f64).powi(2);
            let visible = entities as f64 * circle / (side * side);
            assert!((visible - VISIBLE as f64).abs() < 0.1, "{visible}");
        }
    }

    #[test]
    fn velocities_are_within_the_limit() {
        let mut random = Random(1);
        for _ in 0..10_000 {
            let [x, y] = random.velocity().map(i64::from);
            assert!(x * x + y * y <= i64::from(SPEED_MM_S).pow(2), "{x} {y}");
        }
    }
}
