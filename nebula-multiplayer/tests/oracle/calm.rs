//! The end of a wild time: links heal, the world rests, and every client must show the truth.

use core::time::Duration;
use std::collections::BTreeMap;

use nebula_multiplayer::transport::sim::Faults;

use super::client;
use super::run::Simulation;
use super::world::State;

/// Ticks in which a late change reaches everyone: two seconds.
const SETTLING: u32 = 40;

/// What is not as it must be.
pub(crate) enum Wrong {
    /// A client has no session.
    Link(String),
    /// A client has one, and shows something else than the truth.
    World(String),
}

/// Judges, tick by tick, whether all comes right in time and then stays so.
pub(crate) struct Rest {
    /// For how many ticks in a row everything must be well, and is.
    quiet: u32,
    well_for: u32,
    /// Packets of the wild time are under way still, and may tell of what is over already.
    settling: u32,
}

impl Rest {
    pub(crate) fn new(quiet: u32) -> Self {
        Self {
            quiet,
            well_for: 0,
            settling: SETTLING,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.well_for >= self.quiet
    }

    /// Takes in a tick: whether the truth changed in it, whether it is late, and what is wrong.
    pub(crate) fn tick(
        &mut self,
        changed: bool,
        late: bool,
        wrong: Option<Wrong>,
    ) -> Result<(), String> {
        if changed {
            // Someone timed out or came back, and a player with it; that takes its time.
            self.well_for = 0;
            self.settling = SETTLING;
        }
        self.settling = self.settling.saturating_sub(1);
        match wrong {
            None => self.well_for += 1,
            // A kick or a timeout may be under way still; whoever comes back starts over.
            Some(Wrong::Link(_)) if !late => self.well_for = 0,
            Some(Wrong::World(_)) if !late && (self.well_for == 0 || self.settling > 0) => {
                self.well_for = 0;
            }
            Some(Wrong::Link(wrong) | Wrong::World(wrong)) => {
                let state = if self.well_for > 0 {
                    "after all was well"
                } else {
                    "after the links healed"
                };
                return Err(format!("{state}: {wrong}"));
            }
        }
        Ok(())
    }
}

/// Returns how long everything may take on healthy links: ten seconds for timeouts and two of quiet,
/// and four times what the budget needs for the full state of everyone.
pub(crate) fn patience(truth: &BTreeMap<u64, State>, bytes_per_second: u32) -> Duration {
    let state = |state: &State| {
        let hold = state.hold.as_ref().map_or(0, Vec::len);
        let title = state.title.as_ref().map_or(0, String::len);
        (200 + hold + title) as u64
    };
    let bytes: u64 = truth.values().map(state).sum();
    Duration::from_secs(12) + Duration::from_millis(4 * 1_000 * bytes / u64::from(bytes_per_second))
}

impl Simulation {
    /// Heals every link, lets the world rest, and waits until every client shows the truth: two
    /// seconds, and as long as the budget needs for all of it.
    pub(crate) fn calm(&mut self) -> Result<(), String> {
        self.wild = false;
        self.net.faults = Faults::NONE;
        for number in 0..self.followers.len() {
            self.net.heal(number);
            if !self.sealed {
                // Nobody notices a damaged value that makes sense: begin anew.
                self.net.crash(number, true);
            }
        }
        let rate = self.net.server.settings().limits.bytes_out_per_second;
        let patience = patience(&self.truth, rate);
        let end = self.net.now() + patience;
        let mut rest = Rest::new(self.quiet);
        while !rest.is_over() {
            self.relink();
            let before = (self.truth.clone(), self.allowed.clone());
            self.tick()?;
            let changed = (&self.truth, &self.allowed) != (&before.0, &before.1);
            let late = self.net.now() > end;
            let wrong = self.wrong();
            rest.tick(changed, late, wrong).map_err(|error| {
                let resyncs = self.resyncs();
                format!("{error} (patience {patience:?}); resyncs {resyncs:?}")
            })?;
        }
        Ok(())
    }

    /// Returns how often each client's view had to be sent anew.
    fn resyncs(&self) -> Vec<Option<u64>> {
        let ids = (0..self.net.len()).map(|number| self.net.client(number).last_id());
        ids.map(|id| Some(self.net.server.stats(id?)?.resyncs))
            .collect()
    }

    /// Gives a new link to everyone who has none.
    fn relink(&mut self) {
        for number in 0..self.followers.len() {
            let client = self.net.client(number);
            if !client.client.is_connected() && client.id().is_none() {
                self.net.reconnect(number);
            }
        }
    }

    /// Returns the first thing that is not yet as it must be.
    fn wrong(&mut self) -> Option<Wrong> {
        for number in 0..self.followers.len() {
            let Some(id) = self.net.client(number).id() else {
                return Some(Wrong::Link(format!("client {number} has no link")));
            };
            if !self.net.client(number).client.is_connected() {
                return Some(Wrong::Link(format!("{id} is not connected")));
            }
            let Some(allowed) = self.allowed.get(&id) else {
                return Some(Wrong::Link(format!("{id} has no set")));
            };
            let expected = client::expected(&self.truth, &allowed.view, id);
            let world = &mut self.net.client_mut(number).world;
            if let Some(difference) = client::shown_wrongly(&expected, world) {
                return Some(Wrong::World(format!("{id}: {difference}")));
            }
            let follower = &self.followers[number];
            if let Some(missing) = follower.down.missing().or(follower.up.missing())
                && self.sealed
            {
                return Some(Wrong::World(format!("{id}: {missing}")));
            }
        }
        None
    }
}
