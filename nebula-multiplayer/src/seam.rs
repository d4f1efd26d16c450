//! Where replication plugs in. Until the replicator lands, nothing is replicated: no state is
//! written, and a body from a server is refused.

use core::time::Duration;

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;

use crate::interest::{ClientFacts, Interest};
use crate::limits::Limits;
use crate::replication::Kinds;
use crate::server::ServerSettings;
use crate::session::Outcome;
use crate::wire::DecodeError;
use crate::{ClientId, Tick};

#[derive(Debug)]
pub(crate) struct Replicator;

impl Replicator {
    pub(crate) fn new(_: Kinds, _: &Limits) -> Self {
        Self
    }
    pub(crate) fn add_client(
        &mut self,
        client: ClientId,
        interest: &mut Interest,
        settings: &ServerSettings,
    ) {
        let max_visible = settings.limits.max_visible;
        interest.add_client(
            client,
            ClientFacts {
                max_visible,
                ..ClientFacts::default()
            },
        );
    }
    pub(crate) fn remove_client(&mut self, _: ClientId) {}
    pub(crate) fn set_player(&mut self, _: ClientId, _: Option<Entity>) {}
    pub(crate) fn reset_client(&mut self, _: ClientId) {}
    pub(crate) fn tick(&mut self, _: &mut World, interest: &mut Interest, _: Tick, _: Duration) {
        interest.update();
    }
    pub(crate) fn settle(&mut self, _: ClientId, _: &Outcome) {}
    pub(crate) fn view_hash(&self, _: ClientId) -> u64 {
        0
    }
    pub(crate) fn own_slot(&self, _: ClientId) -> Option<u32> {
        None
    }
    pub(crate) fn wants_to_send(&self, _: ClientId) -> bool {
        false
    }
    pub(crate) fn write(&mut self, _: ClientId, _: u64, _: usize, _: &mut Vec<u8>) -> bool {
        false
    }
}

#[derive(Debug)]
pub(crate) struct Mirror;

impl Mirror {
    pub(crate) fn new(_: Kinds, _: &Limits) -> Self {
        Self
    }
    pub(crate) fn read(&mut self, _: Tick, body: &[u8]) -> Result<(), DecodeError> {
        Err(DecodeError::Trailing(body.len()))
    }
    pub(crate) fn apply(&mut self, _: &mut World) {}
    pub(crate) fn reset(&mut self) {}
    pub(crate) fn view_hash(&self) -> u64 {
        0
    }
    pub(crate) fn entity_of(&self, _: u32) -> Option<Entity> {
        None
    }
    pub(crate) fn wants_resync(&self) -> bool {
        false
    }
    pub(crate) fn resync_sent(&mut self) {}
}
