//! The replicator: from the world to every client's due list, once a tick.

use std::collections::BTreeMap;

use bevy_ecs::change_detection::{DetectChangesMut, Ref};
use bevy_ecs::entity::Entity;
use bevy_ecs::lifecycle::Remove;
use bevy_ecs::observer::{Observer, On};
use bevy_ecs::query::With;
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Query, ResMut, SystemState};
use bevy_ecs::world::{EntityRef, World, WorldId};
use nebula_math::WorldPosition;

use super::ids::{NetworkIds, Replicate, table_index};
use super::record::DespawnReason;
use super::registry::Kinds;
use super::scan::{Scan, Scanner, each_changed};
use super::settings::ReplicationSettings;
use super::stats::ReplicationStats;
use super::store::Shared;
use super::subscribers::Subscriber;
use super::viewer::{News, Viewer};
use crate::interest::{Interest, OwnedBy};
use crate::{ClientId, NetworkId, Tick};

/// Replicated entities that lost a component, the position or their owner.
#[derive(Resource, Debug, Default)]
struct Losses(Vec<Entity>);

type Positions = Query<'static, 'static, (Entity, Ref<'static, WorldPosition>), With<Replicate>>;

/// What is bound to one world: queries remember when they last ran.
struct Eyes {
    world: WorldId,
    positions: SystemState<Positions>,
    owners: Box<dyn Scan>,
    kinds: Vec<Box<dyn Scan>>,
}

/// Server-side replication for all clients.
pub(crate) struct Replicator {
    pub(super) shared: Shared,
    pub(super) viewers: Vec<Option<Viewer>>,
    pub(super) by_client: BTreeMap<ClientId, u32>,
    free: Vec<u32>,
    settings: ReplicationSettings,
    eyes: Option<Eyes>,
    pub(super) news: News,
    changed: Vec<Entity>,
    moved: Vec<(u32, WorldPosition)>,
    /// Who sees them, while marks are made.
    pub(super) told: Vec<Subscriber>,
    /// Memory that each viewer in turn puts those in order with that wait.
    nearest: super::admit::Nearest,
    /// Rows looked at in the last tick.
    scanned: usize,
    /// The changes of ids that were taken in.
    ids_round: u64,
    /// How often the interest had been brought up to date at the last tick.
    rounds: u64,
}

impl core::fmt::Debug for Replicator {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Replicator")
            .field("clients", &self.by_client.len())
            .field("stores", &self.shared.stores.len())
            .finish_non_exhaustive()
    }
}

impl Replicator {
    /// Returns a replicator without clients.
    pub(crate) fn new(kinds: Kinds, settings: ReplicationSettings) -> Self {
        for (_, kind) in kinds.iter() {
            if !kind.erased.has_summary_tick() {
                tracing::warn!(
                    kind = kind.name(),
                    component = kind.erased.type_name(),
                    "looking for changes visits every entity; add #[component(summary_tick)]"
                );
            }
        }
        Self {
            shared: Shared::new(kinds),
            viewers: Vec::new(),
            by_client: BTreeMap::new(),
            free: Vec::new(),
            settings,
            eyes: None,
            news: News::default(),
            changed: Vec::new(),
            moved: Vec::new(),
            told: Vec::new(),
            nearest: Vec::new(),
            scanned: 0,
            ids_round: 0,
            rounds: 0,
        }
    }

    /// Adds a client that knows nothing.
    pub(crate) fn add_client(&mut self, client: ClientId) {
        if self.by_client.contains_key(&client) {
            return;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.viewers.push(None);
            u32::try_from(self.viewers.len() - 1).expect("fewer than 2^32 clients")
        });
        let kinds = self.shared.kinds.len();
        let viewer = Viewer::new(client, number, kinds, self.settings);
        self.viewers[table_index(number)] = Some(viewer);
        self.by_client.insert(client, number);
    }

    /// Removes a client and everything kept for it.
    pub(crate) fn remove_client(&mut self, client: ClientId) {
        let Some(number) = self.by_client.remove(&client) else {
            return;
        };
        let Some(viewer) = self.viewers[table_index(number)].take() else {
            return;
        };
        for slot in viewer.by_id.values() {
            let store = viewer.slots[table_index(*slot)].store;
            let subscriber = Subscriber {
                viewer: number,
                slot: *slot,
            };
            self.shared.unsubscribe(store, subscriber);
        }
        self.news.known.retain(|(viewer, _)| *viewer != number);
        self.free.push(number);
        self.shared.shrink();
        self.moved.shrink_to(self.shared.stores.len());
        self.told.shrink_to(self.shared.stores.len());
        self.nearest = Vec::new();
        if self.by_client.is_empty() {
            (self.viewers, self.free) = (Vec::new(), Vec::new());
            self.changed = Vec::new();
            self.news = News::default();
        }
    }

    /// Says which entity is the client's own.
    pub(crate) fn set_own(&mut self, client: ClientId, own: Option<NetworkId>) {
        if let Some(viewer) = self.viewer_mut(client)
            && viewer.own != own
        {
            viewer.own = own;
            viewer.own_signal.due = true;
        }
    }

    /// Takes in a tick: changes of the world, then who sees what. The interest is up to date.
    pub(crate) fn tick(&mut self, world: &mut World, interest: &Interest, tick: Tick) {
        self.shared.tick = tick;
        let another = self.watch(world);
        self.settle_known();
        self.take_ids(world);
        if another {
            self.adopt_all(world);
        }
        self.collect(world);
        self.follow_views(world, interest);
        for viewer in self.viewers.iter_mut().flatten() {
            viewer.admit(&self.shared, tick, &mut self.nearest);
        }
        self.expire(tick);
    }

    /// Appends one body for a client; see [`Viewer::write`].
    pub(crate) fn write(
        &mut self,
        interest: &Interest,
        client: ClientId,
        packet: u64,
        room: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(number) = self.by_client.get(&client) else {
            return false;
        };
        let Some(viewer) = &mut self.viewers[table_index(*number)] else {
            return false;
        };
        viewer.write(&self.shared, interest.view(client), packet, room, out)
    }

    /// Returns the shared state and the viewers in the order of their client ids, to write bodies
    /// for many clients at once.
    pub(crate) fn split(&mut self) -> (&Shared, Vec<&mut Viewer>) {
        let mut viewers: Vec<&mut Viewer> = self.viewers.iter_mut().flatten().collect();
        viewers.sort_unstable_by_key(|viewer| viewer.client);
        (&self.shared, viewers)
    }

    /// Has everything sent to a client anew.
    pub(crate) fn reset_client(&mut self, client: ClientId) {
        // From the next tick on: packets of this one may be under way already.
        let tick = self.shared.tick.next();
        let Some(&number) = self.by_client.get(&client) else {
            return;
        };
        let mut freed = Vec::new();
        if let Some(viewer) = &mut self.viewers[table_index(number)] {
            viewer.reset(tick, &mut freed);
        }
        self.unsubscribe(number, &freed);
    }

    /// The client lacks what it should have kept of these slots.
    pub(crate) fn request_full(&mut self, client: ClientId, slots: &[u32]) {
        let tick = self.shared.tick;
        if let Some(viewer) = self.viewer_mut(client) {
            for slot in slots {
                viewer.request_full(*slot, tick);
            }
        }
    }

    /// Returns the hash of what the acknowledgements so far prove delivered.
    pub(crate) fn view_hash(&self, client: ClientId) -> u64 {
        self.viewer(client).map_or(0, |viewer| viewer.hash)
    }

    /// Returns the slot that a client knows an entity by.
    #[cfg(test)]
    pub(crate) fn slot_of(&self, client: ClientId, id: NetworkId) -> Option<u32> {
        self.viewer(client)?.by_id.get(&id).copied()
    }

    #[cfg(test)]
    pub(crate) fn versions(&self, client: ClientId, slot: u32) -> Vec<(usize, Tick)> {
        let slots = &self.viewer(client).expect("a client").slots;
        slots
            .get(table_index(slot))
            .map_or(Vec::new(), super::viewer::Slot::versions)
    }

    #[cfg(test)]
    pub(crate) fn describe_slot(&self, client: ClientId, slot: u32) -> String {
        format!(
            "{:?}",
            self.viewer(client)
                .expect("a client")
                .slots
                .get(table_index(slot))
        )
    }

    /// Returns what is known of an entity, for the message of a failed test.
    #[cfg(test)]
    pub(crate) fn describe(&self, client: ClientId, id: NetworkId) -> String {
        let Some(viewer) = self.viewer(client) else {
            return "no such client".into();
        };
        let slot = viewer
            .by_id
            .get(&id)
            .map(|slot| &viewer.slots[table_index(*slot)]);
        format!("{slot:?}")
    }

    /// Returns whether something is due for a client.
    pub(crate) fn wants_to_send(&self, client: ClientId) -> bool {
        self.viewer(client).is_some_and(Viewer::wants_to_send)
    }

    /// Returns what was sent to a client.
    pub(crate) fn stats(&self, client: ClientId) -> Option<&ReplicationStats> {
        self.viewer(client).map(|viewer| &viewer.stats)
    }

    /// Returns how many changes of components could not be sent.
    pub(crate) const fn unsendable(&self) -> u64 {
        self.shared.unsendable
    }

    /// Returns which component could not be sent, and why, if one could not since the last call.
    pub(crate) const fn take_complaint(&mut self) -> Option<String> {
        self.shared.complaint.take()
    }

    /// Returns how many rows the last tick looked at while it searched for changes.
    #[cfg(test)]
    pub(crate) fn scanned(&self) -> usize {
        self.scanned
    }

    /// Returns for how many entities encoded state is kept.
    #[cfg(test)]
    pub(crate) fn stored(&self) -> usize {
        self.shared.stored()
    }

    /// Returns for how many entities memory is kept.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.shared.stores.capacity()
    }

    /// Lets everything pass the gate, to show that a leak is caught.
    #[cfg(feature = "testing")]
    pub(crate) fn break_gate(&mut self, client: ClientId) {
        if let Some(viewer) = self.viewer_mut(client) {
            viewer.gate.broken = true;
        }
    }

    pub(super) fn viewer(&self, client: ClientId) -> Option<&Viewer> {
        let number = self.by_client.get(&client)?;
        self.viewers.get(table_index(*number))?.as_ref()
    }

    pub(super) fn viewer_mut(&mut self, client: ClientId) -> Option<&mut Viewer> {
        let number = self.by_client.get(&client)?;
        self.viewers.get_mut(table_index(*number))?.as_mut()
    }

    /// Sets up queries and observers when the world is new; returns whether there was another before.
    fn watch(&mut self, world: &mut World) -> bool {
        let before = self.eyes.as_ref().map(|eyes| eyes.world);
        if before == Some(world.id()) {
            return false;
        }
        // Ids of another world mean nothing here.
        self.shared.set_ids(&[]);
        self.ids_round = 0;
        let kinds = self.shared.kinds.clone();
        let mut losses = Observer::new(|on: On<Remove<()>>, losses: Option<ResMut<Losses>>| {
            if let Some(mut losses) = losses {
                losses.bypass_change_detection().0.push(on.entity);
            }
        })
        .with_component(world.register_component::<WorldPosition>())
        .with_component(world.register_component::<OwnedBy>());
        for (_, kind) in kinds.iter() {
            losses = losses.with_component(kind.erased.register(world));
        }
        world.init_resource::<Losses>();
        world.spawn(losses);
        self.eyes = Some(Eyes {
            world: world.id(),
            positions: SystemState::new(world),
            owners: Box::new(Scanner::<OwnedBy>::new(world)),
            kinds: kinds
                .iter()
                .map(|(_, kind)| kind.erased.scanner(world))
                .collect(),
        });
        before.is_some()
    }

    /// Learns ids.
    fn take_ids(&mut self, world: &World) {
        if let Some(ids) = world.get_resource::<NetworkIds>() {
            if ids.is_next(&mut self.ids_round) {
                self.shared.note_ids(ids.changes());
            } else {
                self.shared.set_ids(ids.by_entity());
            }
        }
    }

    /// Finds what changed and marks it for everyone who sees it.
    fn collect(&mut self, world: &mut World) {
        let Some(mut eyes) = self.eyes.take() else {
            return;
        };
        self.scanned = 0;
        self.collect_positions(world, &mut eyes);
        for (number, scan) in (1..).zip(&mut eyes.kinds) {
            self.changed.clear();
            self.scanned += scan.changed(world, &mut self.changed);
            self.refresh_changed(world, 1 << number);
        }
        self.changed.clear();
        self.scanned += eyes.owners.changed(world, &mut self.changed);
        if let Some(mut losses) = world.get_resource_mut::<Losses>() {
            self.changed.append(&mut losses.bypass_change_detection().0);
        }
        self.refresh_changed(world, u64::MAX);
        self.eyes = Some(eyes);
    }

    fn collect_positions(&mut self, world: &World, eyes: &mut Eyes) {
        let Ok(rows) = eyes.positions.get(world) else {
            return;
        };
        let mut moved = core::mem::take(&mut self.moved);
        moved.clear();
        let shared = &self.shared;
        self.scanned += each_changed(&rows, |entity, at| {
            if let Some(place) = shared.find_entity(entity) {
                moved.push((place, *at));
            }
        });
        self.mark_moved(&moved);
        self.moved = moved;
    }

    /// Encodes kinds of the changed entities anew, if anybody sees them.
    fn refresh_changed(&mut self, world: &World, mask: u64) {
        let changed = core::mem::take(&mut self.changed);
        for &entity in &changed {
            let Some(place) = self.shared.find_entity(entity) else {
                continue;
            };
            if let Ok(entity) = world.get_entity(entity) {
                self.refresh(place, entity, mask);
            }
        }
        self.changed = changed;
    }

    /// Encodes kinds of an entity anew and marks those that changed.
    pub(super) fn refresh(&mut self, place: u32, entity: EntityRef<'_>, mask: u64) {
        let (has, owner) = (self.shared.store(place).has, self.shared.store(place).owner);
        let bits = self.shared.refresh(place, entity, mask);
        let listed = self.shared.store(place).has != has;
        if bits != 0 || listed {
            self.mark_all(place, bits, listed);
        }
        if self.shared.store(place).owner != owner {
            self.change_owner(place);
        }
    }

    fn change_owner(&mut self, place: u32) {
        let tick = self.shared.tick;
        let store = self.shared.store(place);
        let owner_only = self.shared.kinds.owner_only();
        for subscriber in store.subscribers.iter() {
            if let Some(viewer) = &mut self.viewers[table_index(subscriber.viewer)] {
                let allowed = allowed(owner_only, store.owner == Some(viewer.client));
                viewer.set_allowed(subscriber.slot, allowed, tick);
            }
        }
    }

    /// Follows who came into and went out of each client's view.
    fn follow_views(&mut self, world: &World, interest: &Interest) {
        let ids = world.get_resource::<NetworkIds>();
        let clients: Vec<(ClientId, u32)> = self
            .by_client
            .iter()
            .map(|(client, number)| (*client, *number))
            .collect();
        // Somebody may have brought the interest up to date between ticks: what came and went then
        // is told no more, and in a full view the numbers may even be the same.
        let missed = interest.rounds() != self.rounds.wrapping_add(1);
        self.rounds = interest.rounds();
        for (client, number) in clients {
            let Some(view) = interest.view(client) else {
                continue;
            };
            for (id, _) in view.exited() {
                self.exit(world, number, *id);
            }
            for id in view.entered() {
                if let Some(entity) = ids.and_then(|ids| ids.entity(*id)) {
                    self.enter(world, number, *id, entity);
                }
            }
            let viewer = self.viewers[table_index(number)].as_mut();
            let Some(viewer) = viewer else { continue };
            viewer.areas.clear();
            let areas = interest.areas(client).unwrap_or_default();
            viewer.areas.extend_from_slice(areas);
            if missed || viewer.shown != view.members().len() {
                self.reconcile(world, number, view.members());
            }
        }
    }

    /// Compares everything that a client is shown with what it should be.
    fn reconcile(&mut self, world: &World, number: u32, members: &[NetworkId]) {
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let Some(viewer) = &self.viewers[table_index(number)] else {
            return;
        };
        let shown: Vec<NetworkId> = viewer
            .by_id
            .iter()
            .filter(|(_, slot)| viewer.slots[table_index(**slot)].is_shown())
            .map(|(id, _)| *id)
            .collect();
        let ids = world.get_resource::<NetworkIds>();
        for id in shown {
            if sorted.binary_search(&id).is_err() {
                self.exit(world, number, id);
            }
        }
        for id in sorted {
            if let Some(entity) = ids.and_then(|ids| ids.entity(id)) {
                self.enter(world, number, id, entity);
            }
        }
    }

    fn exit(&mut self, world: &World, number: u32, id: NetworkId) {
        let tick = self.shared.tick;
        let Some(viewer) = &mut self.viewers[table_index(number)] else {
            return;
        };
        let Some(&slot) = viewer.by_id.get(&id) else {
            return;
        };
        let entity = self.shared.store(viewer.slot(slot).store).entity;
        // Whoever is hidden, by `Disabled` or by a rule, has merely left.
        let lives = world.get_entity(entity);
        let reason = if lives.is_ok_and(|entity| entity.contains::<Replicate>()) {
            DespawnReason::Left
        } else {
            DespawnReason::Destroyed
        };
        let freed = viewer.exit(id, reason, tick);
        self.mark_holders(number, slot);
        if let Some(slot) = freed {
            self.unsubscribe(number, &[slot]);
        }
    }

    fn enter(&mut self, world: &World, number: u32, id: NetworkId, entity: Entity) {
        let Some(viewer) = &mut self.viewers[table_index(number)] else {
            return;
        };
        let Some((slot, new)) = viewer.enter(id) else {
            return;
        };
        if new {
            let subscriber = Subscriber {
                viewer: number,
                slot,
            };
            let place = self.shared.subscribe(world, id, entity, subscriber);
            viewer.slot(slot).store = place;
        }
        let (client, place) = (viewer.client, viewer.slot(slot).store);
        if self.shared.store(place).entity != entity {
            self.adopt(world, place, entity);
        }
        let owned = self.shared.store(place).owner == Some(client);
        if let Some(viewer) = &mut self.viewers[table_index(number)] {
            viewer.slot(slot).allowed = allowed(self.shared.kinds.owner_only(), owned);
        }
    }

    fn expire(&mut self, tick: Tick) {
        let mut freed = Vec::new();
        for number in 0..u32::try_from(self.viewers.len()).unwrap_or(0) {
            if let Some(viewer) = &mut self.viewers[table_index(number)] {
                viewer.expire(tick, &mut freed);
            }
            if !freed.is_empty() {
                self.unsubscribe(number, &freed);
                freed.clear();
            }
        }
    }

    pub(super) fn unsubscribe(&mut self, number: u32, slots: &[u32]) {
        for &slot in slots {
            let Some(viewer) = &self.viewers[table_index(number)] else {
                return;
            };
            let store = viewer.slots[table_index(slot)].store;
            let subscriber = Subscriber {
                viewer: number,
                slot,
            };
            self.shared.unsubscribe(store, subscriber);
        }
    }
}

/// Returns the bits of the kinds that somebody may get.
fn allowed(owner_only: u64, owned: bool) -> u64 {
    if owned { u64::MAX } else { !owner_only }
}
