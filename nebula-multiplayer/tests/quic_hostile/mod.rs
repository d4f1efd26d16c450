//! Hostile peers that speak QUIC on their own, and a healthy client beside them.

#![allow(dead_code, reason = "each test file uses a part of it")]

use core::net::SocketAddr;
use core::time::Duration;
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use bevy_ecs::prelude::*;
use nebula_multiplayer::ClientEvent;
use nebula_multiplayer::auth::{ConnectToken, OpenLogin, TokenKey, TokenLogin};
use nebula_multiplayer::limits::{Limits, TransportLimits};
use nebula_multiplayer::transport::quic::{self, QuicClientSettings};
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, EndpointConfig};
use tokio::runtime::Runtime;

use crate::quic_common::{Guest, Health, Host, Options, join, protocol, settings, until};

/// A healthy client, and a thing near it that changes.
pub(crate) struct Witness {
    pub(crate) guest: Guest,
    pub(crate) thing: Entity,
    pub(crate) value: u16,
}

impl Witness {
    pub(crate) fn new(host: &mut Host) -> Self {
        Self::shown(host, OpenLogin::account(1))
    }

    pub(crate) fn shown(host: &mut Host, credentials: Vec<u8>) -> Self {
        let mut guest = Guest::shown(host, credentials);
        join(host, &mut [&mut guest]);
        let thing = host.spawn(-7, 1_000);
        let mut witness = Self {
            guest,
            thing,
            value: 1_000,
        };
        witness.notices_nothing(host);
        witness
    }

    /// Checks that a change arrives soon, that the witness shows the truth, and that its link never
    /// broke.
    #[track_caller]
    pub(crate) fn notices_nothing(&mut self, host: &mut Host) {
        self.value += 1;
        host.world.get_mut::<Health>(self.thing).unwrap().0 = self.value;
        let (start, value) = (Instant::now(), self.value);
        until(
            host,
            &mut [&mut self.guest],
            "the witness is told",
            |_, guests| guests[0].healths().contains(&value),
        );
        let took = start.elapsed();
        assert!(took < Duration::from_secs(2), "told after {took:?}");
        let shown = "the witness shows what is there";
        until(host, &mut [&mut self.guest], shown, |host, guests| {
            guests[0].healths() == host.healths_near(guests[0].client.id().unwrap())
        });
        let ended = |event: &ClientEvent| matches!(event, ClientEvent::Disconnected { .. });
        assert!(
            !self.guest.events.iter().any(ended),
            "{:?}",
            self.guest.events
        );
        assert!(self.guest.client.is_connected());
        // Nothing of it was thrown away, and nothing had to be sent anew.
        let id = self.guest.client.id().unwrap();
        let stats = host.server.stats(id).unwrap();
        let spoiled = [
            stats.ignored_datagrams,
            stats.dropped_messages,
            stats.refused_messages,
            stats.resyncs,
        ];
        assert_eq!(spoiled, [0; 4], "{stats:?}");
    }

    /// Steps until `done`, the witness with it.
    #[track_caller]
    pub(crate) fn until(
        &mut self,
        host: &mut Host,
        what: &str,
        mut done: impl FnMut(&mut Host) -> bool,
    ) {
        until(host, &mut [&mut self.guest], what, |host, _| done(host));
    }
}

/// Speaks QUIC on its own, from an address of its own.
pub(crate) struct Raw {
    pub(crate) runtime: Runtime,
    pub(crate) endpoint: Endpoint,
    pub(crate) config: ClientConfig,
    pub(crate) server: SocketAddr,
}

impl Raw {
    pub(crate) fn new(host: &Host) -> Self {
        Self::with(&settings(host, Vec::new()))
    }

    pub(crate) fn with(settings: &QuicClientSettings) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let endpoint = {
            let _entered = runtime.enter();
            endpoint("127.0.0.2:0")
        };
        Self {
            runtime,
            endpoint,
            config: quic::client_config(&protocol(), settings).unwrap(),
            server: settings.server,
        }
    }

    pub(crate) fn connect(&self) -> Result<Connection, ConnectionError> {
        self.runtime.block_on(async {
            self.endpoint
                .connect_with(self.config.clone(), self.server, "localhost")
                .unwrap()
                .await
        })
    }

    /// Connects and writes these first bytes to the stream, which stays open.
    pub(crate) fn say(&self, first: &[u8]) -> (Connection, quinn::SendStream, quinn::RecvStream) {
        let connection = self.connect().unwrap();
        let (send, recv) = self.runtime.block_on(async {
            let (mut send, recv) = connection.open_bi().await.unwrap();
            let _ = send.write_all(first).await;
            (send, recv)
        });
        (connection, send, recv)
    }
}

pub(crate) fn endpoint(at: &str) -> Endpoint {
    let socket = UdpSocket::bind(at).unwrap();
    let runtime = Arc::new(quinn::TokioRuntime);
    Endpoint::new(EndpointConfig::default(), None, socket, runtime).unwrap()
}

pub(crate) fn credentials(bytes: &[u8]) -> Vec<u8> {
    let mut first = u16::try_from(bytes.len()).unwrap().to_le_bytes().to_vec();
    first.extend_from_slice(bytes);
    first
}

/// The number with which the server closed a connection.
pub(crate) fn code(connection: &Connection) -> Option<u64> {
    match connection.close_reason()? {
        ConnectionError::ApplicationClosed(close) => Some(close.error_code.into_inner()),
        other => panic!("closed in another way: {other}"),
    }
}

/// Limits short enough for a test, and several clients at one address.
pub(crate) fn quick() -> Options {
    let options = Options::default();
    Options {
        transport: TransportLimits {
            handshake_ms: 600,
            idle_ms: 1_500,
            keep_alive_ms: 300,
            ..options.transport
        },
        limits: Limits {
            hello_timeout: Duration::from_millis(600),
            ..Limits::default()
        },
        ..options
    }
}

pub(crate) fn unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

/// A server that takes tokens, and how to make them.
pub(crate) fn token_host() -> (
    Host,
    Witness,
    impl Fn(u64, u64, &str) -> ConnectToken,
    TokenKey,
) {
    let key = TokenKey::generate().unwrap();
    let here: SocketAddr = "192.0.2.1:4433".parse().unwrap();
    let login = TokenLogin::new(key.clone(), 3, vec![here]);
    let mut host = Host::with(Options::default(), login);
    let make = |client, life: u64, server: &str| ConnectToken {
        client,
        expires_ms: unix_ms() + life,
        servers: vec![server.parse().unwrap()],
    };
    let good = make(1, 20_000, "192.0.2.1:4433").seal(&key, 3).unwrap();
    let witness = Witness::shown(&mut host, good);
    (host, witness, make, key)
}
