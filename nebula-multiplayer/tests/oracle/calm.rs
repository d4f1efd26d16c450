//! The end of a wild time: links heal, the world rests, and every client must show the truth.

use core::time::Duration;

use nebula_multiplayer::transport::sim::Faults;

use super::client;
use super::run::Simulation;
use super::world::{self, State};

/// Ticks in which a late change reaches everyone: two seconds.
const SETTLING: u32 = 40;

/// What is not as it must be.
enum Wrong {
    /// A client has no session.
    Link(String),
    /// A client has one, and shows something else than the truth.
    World(String),
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
        let patience = self.patience();
        let end = self.net.now() + patience;
        // Packets of the wild time are under way still, and may tell of what is over already.
        let (mut well_for, mut settling) = (0, SETTLING);
        while well_for < self.quiet {
            self.relink();
            let before = (self.truth.clone(), self.allowed.clone());
            self.tick()?;
            if (&self.truth, &self.allowed) != (&before.0, &before.1) {
                // Someone timed out or came back, and a player with it; that takes its time.
                well_for = 0;
                settling = SETTLING;
            }
            settling = settling.saturating_sub(1);
            let late = self.net.now() > end;
            match self.wrong() {
                None => well_for += 1,
                // A kick or a timeout may be under way still; whoever comes back starts over.
                Some(Wrong::Link(_)) if !late => well_for = 0,
                Some(Wrong::World(_)) if !late && (well_for == 0 || settling > 0) => well_for = 0,
                Some(Wrong::Link(wrong) | Wrong::World(wrong)) => {
                    let state = if well_for > 0 {
                        "after all was well"
                    } else {
                        "after the links healed"
                    };
                    let resyncs = self.resyncs();
                    return Err(format!(
                        "{state} (patience {patience:?}): {wrong}; resyncs {resyncs:?}"
                    ));
                }
            }
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

    /// Returns how long everything may take on healthy links: ten seconds for timeouts and two of
    /// quiet, and four times what the budget needs for the full state of everyone.
    fn patience(&self) -> Duration {
        let state = |state: &State| {
            let hold = state.hold.as_ref().map_or(0, Vec::len);
            let title = state.title.as_ref().map_or(0, String::len);
            (200 + hold + title) as u64
        };
        let bytes: u64 = self.truth.values().map(state).sum();
        let rate = u64::from(self.net.server.settings().limits.bytes_out_per_second);
        Duration::from_secs(12) + Duration::from_millis(4 * 1_000 * bytes / rate)
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
            let shown = match world::states(&mut self.net.client_mut(number).world) {
                Ok(shown) => shown,
                Err(error) => return Some(Wrong::World(error.into())),
            };
            if let Some(difference) = client::difference(&expected, &shown) {
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
