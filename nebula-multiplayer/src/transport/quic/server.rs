//! The server's sockets, and the two calls by which a game uses them.

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::BTreeMap;
use std::io;
use std::net::UdpSocket;
use std::sync::{Arc, Mutex};

use quinn::{Endpoint, EndpointConfig, TokioRuntime, VarInt};
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::config::{self, millis};
use super::counters::{Counters, note};
use super::link::{Inbound, Lane, Link, Received};
use super::threads::Threads;
use super::welcome::{Arrival, Shared, accept};
use super::{CertificateError, Fingerprint, Gate, QuicSettings, TransportStats, close_code};
use crate::auth::Login;
use crate::limits::LimitError;
use crate::server::{ConnectError, Disconnect};
use crate::{ClientId, Server};

/// Newcomers that wait for the next tick.
const ARRIVALS: usize = 256;

/// Why a server cannot start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Another program listens there.
    #[error("UDP address {0} is in use by another program; stop it, or choose another port")]
    InUse(SocketAddr),
    /// The address cannot be listened at.
    #[error("cannot listen at UDP address {address}: {error}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
    /// The certificate cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// A limit is out of range.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The number of threads is out of range.
    #[error("threads is {0}; give at least 1 and at most 64")]
    Threads(u16),
    /// The system gives us no threads.
    #[error("cannot start threads: {0}")]
    Runtime(io::Error),
}

/// The sockets of a server, on threads of their own.
///
/// Call [`pump`](Self::pump) before a tick and [`flush`](Self::flush) after it; neither ever waits
/// for the network. [`run`](super::run) does it for you. Dropping it ends all connections, as
/// [`shutdown`](Self::shutdown) does, with the same wait and a reason of ours; on a runtime of somebody
/// else it waits for nothing, and that runtime says it.
#[derive(Debug)]
pub struct QuicServer {
    shared: Arc<Shared>,
    endpoint: Endpoint,
    /// `None` if somebody else's runtime is used.
    threads: Option<Threads>,
    handle: Handle,
    arrivals: mpsc::Receiver<Arrival>,
    links: BTreeMap<ClientId, Link>,
    fingerprint: Fingerprint,
    address: SocketAddr,
    now: Duration,
}

/// Starts to listen for clients of `server`, which [`QuicServer::pump`] then connects.
///
/// # Errors
/// [`ServeError`] if the address is taken or not ours, or the settings are wrong; it says which.
pub fn serve(
    server: &Server,
    settings: &QuicSettings,
    login: impl Login,
) -> Result<QuicServer, ServeError> {
    if !(1..=64).contains(&settings.threads) {
        return Err(ServeError::Threads(settings.threads));
    }
    let socket = UdpSocket::bind(settings.listen).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ServeError::InUse(settings.listen),
        _ => ServeError::Bind {
            address: settings.listen,
            error,
        },
    })?;
    let threads = Threads::start("nebula-net", settings.threads).map_err(ServeError::Runtime)?;
    let bind_error = |error| ServeError::Bind {
        address: settings.listen,
        error,
    };
    let make = |config| {
        Endpoint::new(
            EndpointConfig::default(),
            Some(config),
            socket,
            Arc::new(TokioRuntime),
        )
        .map_err(bind_error)
    };
    let handle = threads.handle().clone();
    let mut net = QuicServer::start(server, settings, Arc::new(login), handle, make)?;
    net.threads = Some(threads);
    Ok(net)
}

impl QuicServer {
    /// Starts on a given runtime, with an endpoint made by `make`.
    pub(super) fn start(
        server: &Server,
        settings: &QuicSettings,
        login: Arc<dyn Login>,
        handle: Handle,
        make: impl FnOnce(quinn::ServerConfig) -> Result<Endpoint, ServeError>,
    ) -> Result<Self, ServeError> {
        settings.limits.validate()?;
        let (config, fingerprint) =
            config::server(server.protocol(), &settings.certificate, &settings.limits)?;
        let entered = handle.enter();
        let endpoint = make(config)?;
        let address = endpoint.local_addr().map_err(|error| ServeError::Bind {
            address: settings.listen,
            error,
        })?;
        if login.is_open() {
            tracing::warn!(
                %address,
                "open login: everyone is believed to be who they say they are; for development only"
            );
        }
        tracing::info!(%address, %fingerprint, "listening");
        let started = Instant::now();
        let lines = settings.limits.log_lines_per_second;
        let shared = Arc::new(Shared {
            limits: settings.limits.clone(),
            login,
            counters: Arc::new(Counters::new(lines, started)),
            gate: Mutex::new(Gate::new(settings.limits.clone())),
            started,
        });
        let (sender, arrivals) = mpsc::channel(ARRIVALS);
        handle.spawn(accept(endpoint.clone(), Arc::clone(&shared), sender));
        drop(entered);
        Ok(Self {
            shared,
            endpoint,
            threads: None,
            handle,
            arrivals,
            links: BTreeMap::new(),
            fingerprint,
            address,
            now: Duration::ZERO,
        })
    }

    /// Hands over what arrived since the last call: newcomers, bytes, and links that are gone.
    ///
    /// Takes no more from one client than its queue holds, so that one cannot keep a tick busy.
    pub fn pump(&mut self, server: &mut Server, now: Duration) {
        self.now = self.now.max(now);
        self.close_ended(server);
        let most = self.shared.limits.inbound_queue;
        let mut over = Vec::new();
        for (&client, link) in &mut self.links {
            for _ in 0..most {
                let result = match link.receive() {
                    Received::Some(Inbound::Datagram(bytes)) => server.receive(client, &bytes, now),
                    Received::Some(Inbound::Stream(bytes)) => {
                        server.receive_stream(client, &bytes, now)
                    }
                    Received::None => break,
                    Received::Over => {
                        over.push((client, None));
                        break;
                    }
                };
                if let Err(reason) = result {
                    over.push((client, Some(reason)));
                    break;
                }
            }
        }
        for (client, reason) in over {
            let link = self.links.remove(&client);
            match (link, reason) {
                (Some(link), Some(reason)) => link.abort(reason.code(), &reason.to_string()),
                _ => server.disconnect(client, now),
            }
        }
        self.close_ended(server);
        // No more than wait now, however fast others come.
        for _ in 0..ARRIVALS {
            let Ok(arrival) = self.arrivals.try_recv() else {
                break;
            };
            self.admit(server, arrival);
        }
    }

    fn admit(&mut self, server: &mut Server, arrival: Arrival) {
        let Arrival { link, identity } = arrival;
        let connected = server.connect(identity, self.now);
        // One who was being thrown out is gone by that, and its older link must go before a newer one
        // has its place.
        self.close_ended(server);
        let counters = &self.shared.counters;
        match connected {
            Ok(client) => {
                link.span.record("client", client.get());
                if let Some(old) = self.links.insert(client, link) {
                    note!(counters, replaced, debug, { %client, }, "a newer link replaces an older one");
                    old.abort(
                        close_code::REPLACED,
                        "the same account came over a newer link",
                    );
                }
            }
            Err(error @ ConnectError::Full(_)) => {
                counters.refused_full.add();
                link.abort(close_code::FULL, &error.to_string());
            }
            Err(error @ ConnectError::BadAccount(_)) => {
                counters.refused_logins.add();
                link.abort(close_code::LOGIN, &error.to_string());
            }
        }
    }

    /// Hands everything that is due to the network, as far as it takes it now. The rest stays
    /// marked in the server, and goes out later as it is then.
    ///
    /// A client that does not read its stream gets a fresh start once it does, and is dropped if that
    /// takes too long ([`Server::note_unsent`]); so is one for which the network takes no datagrams.
    pub fn flush(&mut self, server: &mut Server) {
        self.close_ended(server);
        let (limits, counters) = (&self.shared.limits, &self.shared.counters);
        let mut slow = Vec::new();
        for (&client, link) in &mut self.links {
            link.write(limits, self.now, |lane, max, bytes| match lane {
                Lane::Stream => server.transmit_stream(client, max, bytes),
                Lane::Datagram => server.transmit(client, max, bytes),
            });
            server.note_unsent(client, link.unsent(), self.now);
            if link.stalled_for(self.now) >= millis(limits.stall_drop_ms) {
                slow.push(client);
            }
        }
        // Each of these wakes the threads of the network, which then want the caches for themselves.
        for link in self.links.values_mut() {
            link.hand_over(counters);
        }
        for client in slow {
            if let Some(link) = self.links.remove(&client) {
                link.span.in_scope(|| {
                    note!(counters, slow_readers, debug, { %client, }, "the network takes nothing for a client; dropped");
                });
                link.abort(close_code::SLOW, "nothing is taken");
            }
            server.disconnect(client, self.now);
        }
    }

    /// Closes the links of clients that the server gave up.
    fn close_ended(&mut self, server: &mut Server) {
        for (client, reason) in server.take_ended() {
            if reason == Disconnect::Stalled {
                self.shared.counters.slow_readers.add();
            }
            if let Some(link) = self.links.remove(&client) {
                let text = reason.to_string();
                match reason {
                    // They are told why on the stream, which may take a moment.
                    Disconnect::Kicked(_) | Disconnect::Refused(_) | Disconnect::Protocol(_) => {
                        link.close(reason.code(), &text);
                    }
                    _ => link.abort(reason.code(), &text),
                }
            }
        }
    }

    /// Ends all connections with a reason that clients can read, and waits until it is sent or for
    /// [`close_ms`](crate::limits::TransportLimits::close_ms). They may come back to a server that
    /// is started anew.
    pub fn shutdown(mut self, server: &mut Server, reason: &str) {
        let reason = crate::wire::printable(reason, crate::limits::MAX_REASON);
        self.endpoint
            .close(VarInt::from_u32(close_code::SHUTDOWN), reason.as_bytes());
        for client in core::mem::take(&mut self.links).into_keys() {
            server.disconnect(client, self.now);
        }
        self.wait_and_stop();
    }

    /// Waits until the last words are out, and stops our threads. A runtime that ends drops its tasks,
    /// and with them what they have not sent.
    fn wait_and_stop(&mut self) {
        if let Some(threads) = self.threads.take() {
            threads.wait_idle(&self.endpoint, millis(self.shared.limits.close_ms));
        }
    }

    /// Returns the time since the start, by a clock that never goes back.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.shared.started.elapsed()
    }

    /// Returns the address that is listened at.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns the fingerprint of the server's certificate, for clients that pin it.
    #[must_use]
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns what was counted since the start.
    #[must_use]
    pub fn stats(&self) -> TransportStats {
        self.shared.counters.read()
    }

    /// Returns how many connections there are in any state, and how many of them still shake hands.
    #[must_use]
    pub fn connections(&self) -> (u32, u32) {
        self.shared.gate().taken()
    }

    /// Returns the address of a client, if it has a link.
    #[must_use]
    pub fn address_of(&self, client: ClientId) -> Option<SocketAddr> {
        let link = self.links.get(&client)?;
        Some(link.connection.remote_address())
    }

    /// Lets one of the tasks of a client's link panic, as a bug in it would. Returns whether there is
    /// such a link.
    #[cfg(feature = "testing")]
    pub fn break_link_for_tests(&self, client: ClientId) -> bool {
        let link = self.links.get(&client);
        link.inspect(|link| link.fault.notify_one()).is_some()
    }

    /// Returns what waits for a signal or another task of the server's runtime.
    pub(super) const fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for QuicServer {
    fn drop(&mut self) {
        self.endpoint
            .close(VarInt::from_u32(close_code::SHUTDOWN), b"the server ends");
        self.wait_and_stop();
    }
}
