//! Who may try to connect: counts of connections and handshakes, by address and in all.

use core::net::{IpAddr, Ipv6Addr};
use core::time::Duration;
use std::collections::HashMap;

use crate::limits::TransportLimits;
use crate::session::Bucket;

/// Handshakes at once from one address whose owner is not proven, over or not; beyond it the address
/// must be shown to be the sender's own.
const UNPROVEN: u32 = 2;

/// How many seconds of a rate may be used at once.
const BURST: u32 = 4;

/// Between two looks at all addresses for some that can be forgotten. A first packet may come from
/// anyone, and must not cost as much as there are addresses.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Why no hands are shaken over a first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Ask the sender to show that the address is its own; nothing is kept of it.
    Retry,
    /// The server is full.
    Full,
    /// This address has enough connections, or makes them too fast.
    Address,
}

/// Decides who may try to connect. Knows neither sockets nor clocks.
///
/// Only addresses that are proven count against an address's cap and its rate, so that forged packets
/// cannot use up a victim's places: a forger never gets past the proof. Handshakes with those that are
/// not proven have rates of their own, of an address and in all, whatever becomes of them; beyond
/// those the answer is a question for the proof, which an honest sender gives.
///
/// ```
/// use core::time::Duration;
/// use nebula_multiplayer::limits::TransportLimits;
/// use nebula_multiplayer::transport::quic::{Gate, Verdict};
///
/// let mut gate = Gate::new(TransportLimits { per_address: 2, ..TransportLimits::default() });
/// let ip = "192.0.2.1".parse().unwrap();
/// for _ in 0..2 {
///     assert_eq!(gate.judge(ip, false, Duration::ZERO), Ok(()));
///     let mut pass = gate.enter(ip, false, Duration::ZERO)?;
///     assert!(gate.prove(&mut pass, Duration::ZERO));
///     gate.finish(&mut pass);
/// }
/// assert_eq!(gate.taken(), (2, 0), "two connections, no handshake");
/// assert_eq!(gate.judge(ip, false, Duration::ZERO), Err(Verdict::Retry), "two at once are enough");
/// assert_eq!(gate.enter(ip, true, Duration::ZERO).err(), Some(Verdict::Address), "two are in");
/// # Ok::<(), Verdict>(())
/// ```
#[derive(Debug)]
pub struct Gate {
    limits: TransportLimits,
    total: u32,
    handshaking: u32,
    /// Handshakes with addresses that are not proven.
    unproven: Bucket,
    // Strangers choose these keys, so the hasher is keyed; its order is never looked at.
    addresses: HashMap<IpAddr, Entry>,
    /// When all of them were last looked at.
    looked: Option<Duration>,
}

#[derive(Debug)]
struct Entry {
    proven: u32,
    unproven: u32,
    rate: Bucket,
    /// Handshakes before the address is proven. Those that a forger began are not the address's fault,
    /// so they have a rate of their own.
    unproven_rate: Bucket,
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
        let calm = calm(&limits);
        Self {
            limits,
            total: 0,
            handshaking: 0,
            unproven: Bucket::new((calm / BURST).max(1), calm, Duration::ZERO),
            addresses: HashMap::new(),
            looked: None,
        }
    }

    /// Says whether to shake hands over a first packet. `proven` says whether its sender has shown that
    /// the address is its own. Takes nothing.
    ///
    /// # Errors
    /// [`Verdict`], if not.
    pub fn judge(&mut self, from: IpAddr, proven: bool, now: Duration) -> Result<(), Verdict> {
        let limits = &self.limits;
        if self.total >= limits.connections {
            return Err(Verdict::Full);
        }
        let mut entry = self.addresses.get_mut(&key(from));
        if !proven {
            self.unproven.refill(now);
            let under_pressure = self.handshaking >= calm(limits) || self.unproven.available() == 0;
            let suspect = entry.as_mut().is_some_and(|entry| {
                entry.unproven_rate.refill(now);
                entry.unproven >= UNPROVEN || entry.unproven_rate.available() == 0
            });
            if under_pressure || suspect {
                return Err(Verdict::Retry);
            }
        }
        let Some(entry) = entry else {
            return if self.has_room(now) {
                Ok(())
            } else {
                Err(Verdict::Address)
            };
        };
        entry.rate.refill(now);
        if entry.proven >= limits.per_address || entry.rate.available() == 0 {
            return Err(if proven {
                Verdict::Address
            } else {
                Verdict::Retry
            });
        }
        Ok(())
    }

    /// Takes a place for a handshake, if [`judge`](Self::judge) has nothing against it now: whoever else
    /// comes between a verdict and an entrance, nobody is one too many.
    ///
    /// # Errors
    /// [`Verdict`], and then nothing is taken.
    pub fn enter(&mut self, from: IpAddr, proven: bool, now: Duration) -> Result<Pass, Verdict> {
        self.judge(from, proven, now)?;
        self.total = self.total.saturating_add(1);
        self.handshaking = self.handshaking.saturating_add(1);
        let key = key(from);
        let rate = self.limits.connects_per_second;
        let entry = self.addresses.entry(key).or_insert_with(|| Entry {
            proven: 0,
            unproven: 0,
            rate: Bucket::new(rate, rate.saturating_mul(BURST), now),
            unproven_rate: Bucket::new(rate, UNPROVEN, now),
        });
        entry.unproven = entry.unproven.saturating_add(1);
        let mut pass = Pass {
            key,
            proven: false,
            handshaking: true,
        };
        if proven {
            // Judged just now with the same counts.
            self.prove(&mut pass, now);
        } else {
            // Never given back: the signature is made, whether the handshake comes to an end or not.
            entry.unproven_rate.take(1);
            self.unproven.take(1);
        }
        Ok(pass)
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
    /// further interest: without a connection, and with their whole rates.
    fn has_room(&mut self, now: Duration) -> bool {
        let max = usize::try_from(self.limits.addresses).unwrap_or(usize::MAX);
        if self.addresses.len() < max {
            return true;
        }
        let soon = |last| now.saturating_sub(last) < LOOK_EVERY;
        if self.looked.is_some_and(soon) {
            return false;
        }
        self.looked = Some(now);
        let brim = self.limits.connects_per_second.saturating_mul(BURST);
        self.addresses.retain(|_, entry| {
            entry.rate.refill(now);
            entry.unproven_rate.refill(now);
            let quiet = entry.proven == 0 && entry.unproven == 0;
            let rested = entry.rate.available() >= u64::from(brim)
                && entry.unproven_rate.available() >= u64::from(UNPROVEN);
            !(quiet && rested)
        });
        self.addresses.len() < max
    }
}

/// Returns how many handshakes at once are in order without a proof: percent of the connections,
/// rounded down, and one more, so that there is always one.
fn calm(limits: &TransportLimits) -> u32 {
    let percent = u64::from(limits.connections).saturating_mul(limits.retry_percent.into());
    u32::try_from((percent / 100).saturating_add(1)).unwrap_or(u32::MAX)
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
            assert!(gate.enter(ip(n), false, NOW).is_ok(), "{n}");
        }
        assert_eq!(gate.judge(ip(99), false, NOW), Err(Verdict::Retry));
        assert_eq!(gate.judge(ip(99), true, NOW), Ok(()));
    }

    #[test]
    fn forged_packets_do_not_use_up_the_places_of_their_victim() {
        let mut gate = gate(1_000);
        let victim = ip(7);
        let mut forged = 0;
        while gate.enter(victim, false, NOW).is_ok() {
            forged += 1;
        }
        assert_eq!(
            forged, UNPROVEN,
            "then they must prove, which a forger cannot"
        );
        assert_eq!(gate.judge(victim, true, NOW), Ok(()));
    }

    #[test]
    fn what_is_given_back_is_counted_no_more() {
        let mut gate = gate(4);
        let passes: Vec<Pass> = (0..4)
            .map(|n| gate.enter(ip(n), true, NOW).unwrap())
            .collect();
        assert_eq!(gate.judge(ip(9), true, NOW), Err(Verdict::Full));
        for pass in passes {
            gate.leave(pass);
        }
        assert_eq!(gate.taken(), (0, 0));
        assert_eq!(gate.judge(ip(9), true, NOW), Ok(()));
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
            if let Ok(pass) = gate.enter(ip(1), true, NOW) {
                gate.leave(pass);
                accepted += 1;
            }
        }
        assert_eq!(accepted, 16, "four a second, four seconds at once");
        for n in 0..1_000 {
            let now = Duration::from_secs(n.into());
            if let Ok(pass) = gate.enter(ip(n), true, now) {
                gate.leave(pass);
            }
            assert!(gate.addresses() <= 16);
        }
    }

    /// Begins so many handshakes at one instant and closes each at once. Returns how many were begun;
    /// the others were asked for a proof.
    fn closed_at_once(
        gate: &mut Gate,
        count: u32,
        from: impl Fn(u32) -> IpAddr,
        now: Duration,
    ) -> u32 {
        let mut begun = 0;
        for n in 0..count {
            match gate.enter(from(n), false, now) {
                Ok(pass) => {
                    gate.leave(pass);
                    begun = u32::saturating_add(begun, 1);
                }
                Err(verdict) => assert_eq!(verdict, Verdict::Retry, "{n}"),
            }
        }
        begun
    }

    #[test]
    fn handshakes_of_one_address_that_are_closed_at_once_run_into_a_rate() {
        let mut gate = gate(4_096);
        let begun = closed_at_once(&mut gate, 1_000, |_| ip(7), NOW);
        assert_eq!(begun, UNPROVEN);
        let later = Duration::from_millis(250);
        let begun = closed_at_once(&mut gate, 1_000, |_| ip(7), later);
        assert_eq!(begun, 1, "four a second");
        // They may have been forged: who proves the address has all of its rate.
        for n in 0..4 * BURST {
            let pass = gate.enter(ip(7), true, later);
            gate.leave(pass.unwrap_or_else(|verdict| panic!("{n}: {verdict:?}")));
        }
        assert_eq!(gate.judge(ip(7), true, later), Err(Verdict::Address));
        assert_eq!(gate.judge(ip(8), false, later), Ok(()));
    }

    #[test]
    fn handshakes_of_many_addresses_that_are_closed_at_once_run_into_a_rate() {
        let mut gate = gate(1_000);
        let begun = closed_at_once(&mut gate, 1_000, ip, NOW);
        assert_eq!(begun, 121, "12 percent and one");
        let later = Duration::from_secs(1);
        let begun = closed_at_once(&mut gate, 1_000, |n| ip(n + 5_000), later);
        assert_eq!(begun, 30, "a quarter of it a second");
        assert_eq!(gate.judge(ip(9_999), true, later), Ok(()));
    }

    #[test]
    fn no_forgetting_gives_an_address_its_rate_back() {
        let mut gate = Gate::new(TransportLimits {
            addresses: 16,
            ..TransportLimits::default()
        });
        for n in 0..16 {
            assert_eq!(closed_at_once(&mut gate, 9, |_| ip(n), NOW), UNPROVEN);
        }
        let soon = Duration::from_millis(100);
        assert_eq!(
            gate.judge(ip(99), false, soon),
            Err(Verdict::Address),
            "no room"
        );
        assert_eq!(
            gate.judge(ip(0), false, soon),
            Err(Verdict::Retry),
            "remembered"
        );
        let rested = Duration::from_millis(500);
        assert_eq!(gate.judge(ip(99), false, rested), Ok(()));
    }

    #[test]
    fn a_full_table_is_not_looked_through_for_each_newcomer() {
        let mut gate = Gate::new(TransportLimits {
            addresses: 16,
            ..TransportLimits::default()
        });
        for n in 0..16 {
            assert_eq!(closed_at_once(&mut gate, 9, |_| ip(n), NOW), UNPROVEN);
        }
        let at = Duration::from_millis;
        let no_room = Err(Verdict::Address);
        assert_eq!(gate.judge(ip(99), false, at(400)), no_room);
        // All have rested since, but it is too soon to look again.
        assert_eq!(gate.judge(ip(99), false, at(600)), no_room);
        assert_eq!(gate.judge(ip(99), false, at(650)), Ok(()));
    }

    #[test]
    fn who_is_proven_between_a_verdict_and_an_entrance_makes_nobody_one_too_many() {
        let mut gate = Gate::new(TransportLimits {
            per_address: 1,
            ..TransportLimits::default()
        });
        let mut first = gate.enter(ip(1), false, NOW).unwrap();
        assert_eq!(gate.judge(ip(1), true, NOW), Ok(()));
        assert!(gate.prove(&mut first, NOW));
        assert_eq!(gate.enter(ip(1), true, NOW).err(), Some(Verdict::Address));
        assert_eq!(gate.taken(), (1, 1));
    }
}
