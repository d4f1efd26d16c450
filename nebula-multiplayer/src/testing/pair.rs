//! One server and one client.

use core::ops::{Deref, DerefMut};

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;

use super::TestNet;
use crate::client::Client;
use crate::protocol::Protocol;
use crate::server::ServerSettings;

/// A [`TestNet`] with a single client, number 0, that is connecting already.
///
/// ```
/// use nebula_multiplayer::protocol::Protocol;
/// use nebula_multiplayer::testing::TestPair;
///
/// let mut pair = TestPair::new(&Protocol::new("game", 1));
/// pair.run_ms(100);
/// assert!(pair.the_client().is_connected());
/// pair.cut(0);
/// assert!(!pair.the_client().is_connected());
/// ```
#[derive(Debug)]
pub struct TestPair {
    net: TestNet,
}

impl TestPair {
    /// Returns a server with default settings and a client, over a perfect link.
    ///
    /// # Panics
    /// When the protocol cannot be used.
    #[must_use]
    pub fn new(protocol: &Protocol) -> Self {
        Self::with(protocol, ServerSettings::default(), 0)
    }

    /// Returns a server with these settings and a client; the seed decides every fault.
    ///
    /// # Panics
    /// When the protocol or the settings cannot be used.
    #[must_use]
    pub fn with(protocol: &Protocol, settings: ServerSettings, seed: u64) -> Self {
        let mut net = TestNet::new(protocol, settings, seed);
        net.join();
        Self { net }
    }

    /// Returns the client.
    pub fn the_client(&mut self) -> &mut Client {
        &mut self.net.client_mut(0).client
    }

    /// Returns the client's world.
    pub fn client_world(&mut self) -> &mut World {
        &mut self.net.client_mut(0).world
    }

    /// Sets the entity that the client plays.
    pub fn play(&mut self, entity: Entity) {
        self.net.set_player(0, Some(entity));
    }
}

impl Deref for TestPair {
    type Target = TestNet;

    fn deref(&self) -> &TestNet {
        &self.net
    }
}

impl DerefMut for TestPair {
    fn deref_mut(&mut self) -> &mut TestNet {
        &mut self.net
    }
}
