//! The server's process.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use bevy_ecs::world::World;
use nebula_multiplayer::auth::OpenLogin;
use nebula_multiplayer::limits::TransportLimits;
use nebula_multiplayer::replication::ReplicationSettings;
use nebula_multiplayer::server::{Server, ServerEvent, ServerSettings};
use nebula_multiplayer::transport::quic::{self, CertificateSource, QuicServer, QuicSettings};
use nebula_multiplayer::transport::sim::Random;
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio::runtime::Handle;

use super::net::{Net, SERVER};
use super::socket::Socket;
use crate::oracle::run::settings;
use crate::oracle::scenario::Scenario;
use crate::oracle::world;

/// A server, its world and its socket: all that is gone when its process ends.
pub(crate) struct Host {
    pub(crate) server: Server,
    pub(crate) world: World,
    pub(crate) net: QuicServer,
    pub(crate) socket: Socket,
    pub(crate) events: Vec<ServerEvent>,
}

impl Host {
    /// Starts a server with a world of its own.
    pub(crate) fn new(
        net: &Arc<Net>,
        random: &mut Random,
        scenario: &mut Scenario,
        replication: ReplicationSettings,
    ) -> Self {
        let settings = ServerSettings {
            secret: random.wide().to_le_bytes(),
            replication,
            ..settings(random, scenario)
        };
        let server = Server::new(world::protocol(), settings).expect("usable settings");
        let listen = QuicSettings {
            listen: SERVER,
            certificate: certificate(),
            limits: limits(),
            ..QuicSettings::default()
        };
        let socket = Socket::open(net, None);
        let seed = seed(random);
        let make = |config| socket.endpoint(seed, Some(config));
        let net = quic::serve_over(&Handle::current(), &server, &listen, OpenLogin, make);
        let mut world = World::new();
        scenario.populate(&mut world);
        Self {
            server,
            world,
            net: net.expect("usable settings"),
            socket,
            events: Vec::new(),
        }
    }

    /// The first half of a tick: what has arrived is received, and the server ticks.
    pub(crate) fn begin(&mut self) {
        let now = self.net.now();
        self.net.pump(&mut self.server, now);
        self.server.tick(&mut self.world, now);
        self.events.extend(self.server.events());
    }

    /// Ends the process at once, in the middle of whatever it does.
    pub(crate) fn kill(self) {
        self.socket.kill();
    }
}

/// Limits that run out soon, as a simulation waits for them often.
pub(crate) fn limits() -> TransportLimits {
    TransportLimits {
        handshake_ms: 3_000,
        idle_ms: 5_000,
        keep_alive_ms: 1_500,
        ..TransportLimits::default()
    }
}

/// Returns 32 random bytes, for an endpoint's own choices.
pub(crate) fn seed(random: &mut Random) -> [u8; 32] {
    let mut seed = [0; 32];
    let (low, high) = seed.split_at_mut(16);
    low.copy_from_slice(&random.wide().to_le_bytes());
    high.copy_from_slice(&random.wide().to_le_bytes());
    seed
}

/// Returns a certificate that is the same in every run, and so are the lengths of its signatures:
/// handshakes take the same number of bytes each time.
fn certificate() -> CertificateSource {
    static FILES: LazyLock<(PathBuf, PathBuf)> = LazyLock::new(|| {
        // PKCS #8 around 32 bytes of an Ed25519 key.
        let mut der = vec![
            0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
        ];
        der.extend([7; 32]);
        let der = PrivatePkcs8KeyDer::from(der);
        let key = KeyPair::from_pkcs8_der_and_sign_algo(&der, &PKCS_ED25519).expect("a key");
        let params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
        let certificate = params.self_signed(&key).expect("a certificate");
        let folder = std::env::temp_dir().join(format!("nebula-sim-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("writable");
        let files = (folder.join("chain.pem"), folder.join("key.pem"));
        std::fs::write(&files.0, certificate.pem()).expect("writable");
        std::fs::write(&files.1, key.serialize_pem()).expect("writable");
        files
    });
    let (chain, key) = FILES.clone();
    CertificateSource::Files { chain, key }
}
