//! How old what a client shows may be, on a link without faults.

use nebula_multiplayer::ClientId;

use super::client;
use super::run::Simulation;
use super::world::State;

/// Ticks that the longest delay takes there and back, and some for building packets.
const DELAY: u64 = 12;

/// Ticks in which everything arrives when the budget is plenty: one second.
const PLENTY: u64 = 20;

/// Ticks between two questions of a client for the same entity that the server answers.
const ASKING: u64 = 20;

impl Simulation {
    /// Notes who is out of the views as they are in the middle of a tick.
    pub(super) fn note_exits(&mut self) {
        for number in 0..self.followers.len() {
            let id = self.net.client(number).last_id();
            if let Some(allowed) = id.and_then(|id| self.allowed.get(&id)) {
                let viewed = &mut self.followers[number].viewed;
                viewed.retain(|tag, _| allowed.view.contains(tag));
            }
        }
    }

    /// Notes since when each entity has been in a client's view. To be called in every tick: one that
    /// was out of it for a single tick starts anew.
    pub(super) fn note_view(&mut self, number: usize, id: ClientId) {
        let now = self.history.now();
        let Some(allowed) = self.allowed.get(&id) else {
            return;
        };
        let follower = &mut self.followers[number];
        follower.viewed.retain(|tag, _| allowed.view.contains(tag));
        for tag in &allowed.view {
            follower.viewed.entry(*tag).or_insert(now);
        }
    }

    /// Checks that nothing that a client shows is older than the stated bound, that nothing is missing
    /// that has been in its view for longer, and that nothing is there that has been out for longer.
    pub(super) fn check_age(&mut self, number: usize, id: ClientId) -> Result<(), String> {
        let now = self.history.now();
        let Some(allowed) = self.allowed.get(&id) else {
            return Ok(());
        };
        let bound = self.bound();
        let follower = &self.followers[number];
        let Some(from) = follower.healthy_from else {
            return Ok(());
        };
        if now < from + bound {
            return Ok(());
        }
        let oldest = now - bound;
        for (tag, since) in &follower.viewed {
            if *since >= oldest {
                continue;
            }
            let Some((_, state)) = follower.shown.get(tag) else {
                return Err(format!(
                    "{id} lacks entity {tag}, in its view since tick {since}"
                ));
            };
            self.report.aged += 1;
            let tick = client::provenance(&self.history, id, *tag, state)?;
            if tick < oldest {
                return Err(format!(
                    "{id} shows entity {tag} as of tick {tick}, older than {bound} ticks"
                ));
            }
        }
        let mut gone = follower
            .shown
            .keys()
            .filter(|tag| !allowed.view.contains(tag));
        let lingering = gone.find(|tag| self.history.out_since(id, **tag) < oldest);
        match lingering {
            Some(tag) => Err(format!("{id} still shows entity {tag} after {bound} ticks")),
            None => Ok(()),
        }
    }

    /// Returns how many ticks a change may wait: a second if the budget is plenty, otherwise what
    /// replication states for all that a client could be due.
    fn bound(&self) -> u64 {
        let limits = &self.net.server.settings().limits;
        let extra = self.governed() + self.asking();
        if limits.bytes_out_per_second > 100_000 && limits.burst_bytes > 30_000 {
            return DELAY + PLENTY + extra;
        }
        let size = |state: &State| {
            let hold = state.hold.as_ref().map_or(0, Vec::len);
            let title = state.title.as_ref().map_or(0, String::len);
            (200 + hold + title) as u64
        };
        let pending: u64 = self.truth.values().map(size).sum();
        // Half of the budget at most goes into overhead and messages.
        let per_tick = u64::from(limits.bytes_out_per_second.min(20 * limits.burst_bytes)) / 20 / 2;
        DELAY + 2 + 10 * pending / per_tick + extra
    }

    /// Returns how many ticks the governor takes to let all entities appear, twice over: some return
    /// meanwhile, and the nearest go first.
    fn governed(&self) -> u64 {
        let most = self.net.server.settings().replication.spawns_per_tick;
        2 * (self.truth.len() / most) as u64
    }

    /// Returns how many ticks an entity takes more of which the server thinks in vain that the client
    /// remembers it.
    fn asking(&self) -> u64 {
        let settings = self.net.server.settings().replication;
        let remembers = self.net.client_settings.mirror.kept >= settings.kept_max;
        if remembers || settings.grace_ticks == 0 {
            0
        } else {
            DELAY + ASKING
        }
    }
}
