//! Bringing the sets up to date: only the clients that need it, on as many threads as there are.

use super::client::Client;
use super::entities::Entities;
use super::{Interest, UpdateReport};

/// Below this many clients, threads cost more than they save.
#[cfg(feature = "rayon")]
const WORTH_IT: usize = 8;

impl Interest {
    /// Brings every set and view up to date, and returns what it took.
    ///
    /// Looked at are the clients whose areas or facts changed, and those near which something changed
    /// since the last update; when nothing did, nothing is. With the feature `rayon` they are looked
    /// at in parallel, with the same outcome for any number of threads.
    ///
    /// ```
    /// use nebula_math::WorldPosition;
    /// use nebula_multiplayer::interest::{Area, ClientFacts, Facts, Interest};
    /// use nebula_multiplayer::{ClientId, NetworkId};
    ///
    /// let mut interest = Interest::new();
    /// for (client, x) in [(1, 0), (2, i128::MIN)] {
    ///     interest.add_client(ClientId::new(client), ClientFacts::default());
    ///     let area = Area::new(WorldPosition::new(x, 0, 0), 500_000);
    ///     interest.set_areas(ClientId::new(client), &[area]);
    /// }
    /// assert_eq!(interest.update().examined, 2, "both are new");
    /// assert_eq!(interest.update().examined, 0);
    ///
    /// interest.insert(NetworkId::new(0, 0), Facts::at(WorldPosition::new(-500_000, 0, 0)));
    /// let report = interest.update();
    /// assert_eq!((report.examined, report.entered), (1, 1), "nothing changed near client 2");
    /// ```
    pub fn update(&mut self) -> UpdateReport {
        self.settle();
        let Self {
            entities, clients, ..
        } = self;
        clients.round += 1;
        let mut work: Vec<(u32, Box<Client>)> = Vec::with_capacity(clients.waiting.len());
        for slot in clients.waiting.drain(..) {
            clients.is_waiting[slot as usize] = false;
            // A client may have left while it waited.
            if let Some(client) = clients.all[slot as usize].take() {
                work.push((slot, client));
            }
        }
        // Neighbours one after the other find in the caches what they share.
        work.sort_by_key(|(_, client)| client.whereabouts());
        examine_all(entities, &mut work);

        let mut report = UpdateReport {
            examined: work.len(),
            ..UpdateReport::default()
        };
        for (slot, client) in work {
            if client.has_changed() {
                report.changed += 1;
                report.entered += client.transitions.entered.len();
                report.exited += client.transitions.exited.len();
                self.changed.push(client.id);
                for id in &client.transitions.entered {
                    entities.count_seen(*id, true);
                }
                for id in &client.transitions.exited {
                    entities.count_seen(*id, false);
                }
            }
            clients.all[slot as usize] = Some(client);
        }
        self.changed.sort_unstable();
        report
    }

    /// Ends the time in which the changes of the last update are new.
    fn settle(&mut self) {
        for id in self.changed.drain(..) {
            if let Some(slot) = self.clients.slots.get(&id)
                && let Some(client) = &mut self.clients.all[*slot as usize]
            {
                client.settle();
            }
        }
    }
}

fn examine_all(entities: &Entities, work: &mut [(u32, Box<Client>)]) {
    #[cfg(feature = "rayon")]
    if work.len() >= WORTH_IT {
        use rayon::prelude::*;
        work.par_iter_mut()
            .for_each(|(_, client)| client.examine(entities));
        return;
    }
    for (_, client) in work {
        client.examine(entities);
    }
}
