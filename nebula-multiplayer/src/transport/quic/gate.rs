//! Who may try to connect: counts of connections and handshakes, by address and in all.

use core::net::{IpAddr, Ipv6Addr};
use core::time::Duration;
use std::collections::HashMap;

use crate::limits::TransportLimits;
use crate::session::Bucket;

/// Handshakes from one address whose owner is not proven; beyond it the address must be shown to be
/// the sender's own.
const UNPROVEN: u32 = 2;

/// How many seconds of an address's rate may be used at once.
const BURST: u32 = 4;

/// What to do with a first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Shake hands.
    Accept,
    /// Ask the sender to show that the address is its own; nothing is kept of it.
    Retry,
    /// The server is full.
    Full,
    /// This address has enough connections, or makes them too fast.
    Address,
}

/// Decides who may try to connect. Knows neither sockets nor clocks.
///
/// Only addresses that are proven count against an address's cap, so that forged packets cannot
/// use up a victim's places: a forger never gets past the proof.
///
/// ```
/// use core::time::Duration;
/// use nebula_multiplayer::limits::TransportLimits;
/// use nebula_multiplayer::transport::quic::{Gate, Verdict};
///
/// let mut gate = Gate::new(TransportLimits { per_address: 2, ..TransportLimits::default() });
/// let ip = "192.0.2.1".parse().unwrap();
/// for _ in 0..2 {
///     assert_eq!(gate.judge(ip, false, Duration::ZERO), Verdict::Accept);
///     let mut pass = gate.enter(ip, false, Duration::ZERO);
///     assert!(gate.prove(&mut pass, Duration::ZERO));
///     gate.finish(&mut pass);
/// }
/// assert_eq!(gate.taken(), (2, 0), "two connections, no handshake");
/// assert_eq!(gate.judge(ip, true, Duration::ZERO), Verdict::Address, "two are in");
/// ```
#[derive(Debug)]
pub struct Gate {
    limits: TransportLimits,
    total: u32,
    handshaking: u32,
    // Strangers choose these keys, so the hasher is keyed; its order is never looked at.
    addresses: HashMap<IpAddr, Entry>,
}

#[derive(Debug)]
struct Entry {
    proven: u32,
    unproven: u32,
    rate: Bucket,
}

/// One connection's place. Give it back with [`Gate::leave`].
#[derive(Debug)]
pub struct Pass {
    key: IpAddr,
    proven: bool,
    handshaking: bool,
}

impl Gate {
    /// Returns a gate through which nobody went.
    #[must_use]
    pub fn new(limits: TransportLimits) -> Self {
        Self {
            limits,
            total: 0,
            handshaking: 0,
            addresses: HashMap::new(),
        }
    }

    /// Returns what to do with a first packet. `proven` says whether its sender has shown that the
    /// address is its own. Changes nothing but rates.
    pub fn judge(&mut self, from: IpAddr, proven: bool, now: Duration) -> Verdict {
        let limits = &self.limits;
        if self.total >= limits.connections {
            return Verdict::Full;
        }
        // Percent of the connections, rounded down, but one handshake is always in order.
        let calm = u64::from(limits.connections).saturating_mul(limits.retry_percent.into());
        let under_pressure = u64::from(self.handshaking).saturating_mul(100) > calm;
        let entry = self.addresses.get_mut(&key(from));
        if !proven {
            let suspect = entry.as_ref().is_some_and(|e| e.unproven >= UNPROVEN);
            if under_pressure || suspect {
                return Verdict::Retry;
            }
        }
        let Some(entry) = entry else {
            return if self.has_room(now) {
                Verdict::Accept
            } else {
                Verdict::Address
            };
        };
        entry.rate.refill(now);
        if entry.proven >= limits.per_address || entry.rate.available() == 0 {
            return if proven {
                Verdict::Address
            } else {
                Verdict::Retry
            };
        }
        Verdict::Accept
    }

    /// Takes a place for a handshake that was accepted.
    pub fn enter(&mut self, from: IpAddr, proven: bool, now: Duration) -> Pass {
        self.total = self.total.saturating_add(1);
        self.handshaking = self.handshaking.saturating_add(1);
        let key = key(from);
        let rate = self.limits.connects_per_second;
        let entry = self.addresses.entry(key).or_insert_with(|| Entry {
            proven: 0,
            unproven: 0,
            rate: Bucket::new(rate, rate.saturating_mul(BURST), now),
        });
        entry.unproven = entry.unproven.saturating_add(1);
        let mut pass = Pass {
            key,
            proven: false,
            handshaking: true,
        };
        if proven {
            // Judged a moment ago with the same counts.
            self.prove(&mut pass, now);
        }
        pass
    }

    /// Notes that the sender owns its address. Returns whether it may stay: with the connections
    /// that were proven meanwhile it may be one too many.
    pub fn prove(&mut self, pass: &mut Pass, now: Duration) -> bool {
        let Some(entry) = self.addresses.get_mut(&pass.key) else {
            return false;
        };
        if pass.proven {
            return true;
        }
        pass.proven = true;
        entry.unproven = entry.unproven.saturating_sub(1);
        entry.proven = entry.proven.saturating_add(1);
        entry.rate.refill(now);
        entry.rate.take(1) && entry.proven <= self.limits.per_address
    }

    /// Notes that a handshake is over and its connection goes on.
    pub const fn finish(&mut self, pass: &mut Pass) {
        if pass.handshaking {
            pass.handshaking = false;
            self.handshaking = self.handshaking.saturating_sub(1);
        }
    }

    /// Gives a place back.
    pub fn leave(&mut self, mut pass: Pass) {
        self.finish(&mut pass);
        self.total = self.total.saturating_sub(1);
        if let Some(entry) = self.addresses.get_mut(&pass.key) {
            let count = if pass.proven {
                &mut entry.proven
            } else {
                &mut entry.unproven
            };
            *count = count.saturating_sub(1);
        }
    }

    /// Returns how many places are taken, and how many of them by handshakes.
    #[must_use]
    pub const fn taken(&self) -> (u32, u32) {
        (self.total, self.handshaking)
    }

    /// Returns how many addresses are remembered.
    #[must_use]
    pub fn addresses(&self) -> usize {
        self.addresses.len()
    }

    /// Makes room for one more address, if there is none, by forgetting those that are of no
    /// further interest: without a connection, and with their whole rate.
    fn has_room(&mut self, now: Duration) -> bool {
        let max = usize::try_from(self.limits.addresses).unwrap_or(usize::MAX);
        if self.addresses.len() < max {
            return true;
        }
        let brim = self.limits.connects_per_second.saturating_mul(BURST);
        self.addresses.retain(|_, entry| {
            entry.rate.refill(now);
            let quiet = entry.proven == 0 && entry.unproven == 0;
            !(quiet && entry.rate.available() >= u64::from(brim))
        });
        self.addresses.len() < max
    }
}

/// Returns what one peer has one of: its address, or its network of 2^64 IPv6 addresses.
fn key(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 64))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    fn ip(n: u32) -> IpAddr {
        IpAddr::from(n.to_be_bytes())
    }

    fn gate(connections: u32) -> Gate {
        Gate::new(TransportLimits {
            connections,
            ..TransportLimits::default()
        })
    }

    #[test]
    fn addresses_must_be_proven_above_twelve_percent() {
        let mut gate = gate(100);
        for n in 0..13 {
            assert_eq!(gate.judge(ip(n), false, NOW), Verdict::Accept, "{n}");
            gate.enter(ip(n), false, NOW);
        }
        assert_eq!(gate.judge(ip(99), false, NOW), Verdict::Retry);
        assert_eq!(gate.judge(ip(99), true, NOW), Verdict::Accept);
    }

    #[test]
    fn forged_packets_do_not_use_up_the_places_of_their_victim() {
        let mut gate = gate(1_000);
        let victim = ip(7);
        let mut forged = 0;
        while gate.judge(victim, false, NOW) == Verdict::Accept {
            gate.enter(victim, false, NOW);
            forged += 1;
        }
        assert_eq!(
            forged, UNPROVEN,
            "then they must prove, which a forger cannot"
        );
        assert_eq!(gate.judge(victim, true, NOW), Verdict::Accept);
    }

    #[test]
    fn what_is_given_back_is_counted_no_more() {
        let mut gate = gate(4);
        let passes: Vec<Pass> = (0..4).map(|n| gate.enter(ip(n), true, NOW)).collect();
        assert_eq!(gate.judge(ip(9), true, NOW), Verdict::Full);
        for pass in passes {
            gate.leave(pass);
        }
        assert_eq!(gate.taken(), (0, 0));
        assert_eq!(gate.judge(ip(9), true, NOW), Verdict::Accept);
    }

    #[test]
    fn one_network_of_ipv6_is_one_peer_and_mapped_ipv4_is_ipv4() {
        let at = |text: &str| text.parse::<IpAddr>().map(key).ok();
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
    }

    #[test]
    fn connecting_over_and_over_runs_into_the_rate_and_the_table_stays_small() {
        let mut gate = Gate::new(TransportLimits {
            addresses: 16,
            ..TransportLimits::default()
        });
        let mut accepted = 0;
        for _ in 0..1_000 {
            if gate.judge(ip(1), true, NOW) == Verdict::Accept {
                let pass = gate.enter(ip(1), true, NOW);
                gate.leave(pass);
                accepted += 1;
            }
        }
        assert_eq!(accepted, 16, "four a second, four seconds at once");
        for n in 0..1_000 {
            let now = Duration::from_secs(n.into());
            if gate.judge(ip(n), true, now) == Verdict::Accept {
                let pass = gate.enter(ip(n), true, now);
                gate.leave(pass);
            }
            assert!(gate.addresses() <= 16);
        }
    }
}
