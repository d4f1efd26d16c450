//! A client's socket, and the two calls by which a game uses it.

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use quinn::{
    ClientConfig, Connection, ConnectionError, Endpoint, EndpointConfig, RecvStream, SendStream,
    TokioRuntime, TransportErrorCode,
};
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use tracing::Instrument as _;

use super::config::{self, millis};
use super::counters::Counters;
use super::link::{Inbound, Lane, Link, Received, link};
use super::threads::Threads;
use super::{CertificateError, QuicClientSettings, close_code};
use crate::Client;
use crate::auth::MAX_CREDENTIALS;
use crate::limits::LimitError;
use crate::protocol::Protocol;
use crate::server::Disconnect;

/// Why there is no link to the server.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkError {
    /// The server's certificate is not the expected one.
    #[error("the server's certificate is refused: {0}")]
    Certificate(String),
    /// The server speaks another protocol, or another version of it.
    #[error("the server does not speak our protocol and version, {0:?}")]
    Protocol(String),
    /// The server is full, or has enough connections from our address.
    #[error("the server takes no more connections now")]
    Refused,
    /// Nothing was heard.
    #[error("the server does not answer")]
    TimedOut,
    /// The server ended the link.
    #[error("the server closed the link: {reason} (code {code})")]
    Closed {
        /// Its number: of [`Disconnect::code`] or [`close_code`].
        code: u64,
        /// Its words, made printable.
        reason: String,
    },
    /// The server sent something that is not allowed.
    #[error(transparent)]
    Session(Disconnect),
    /// The settings cannot be used.
    #[error(transparent)]
    Settings(CertificateError),
    /// A limit is out of range.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The credentials are too long.
    #[error("credentials have {0} bytes; at most {MAX_CREDENTIALS} are sent")]
    Credentials(usize),
    /// This machine gives us no socket or thread, or the connection failed in some other way.
    #[error("no connection: {0}")]
    Other(String),
}

/// Where a link stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState<'a> {
    /// It is being made.
    Connecting,
    /// It stands. Whether the session does, [`Client::is_connected`] says.
    Up,
    /// There is none, and why. [`QuicClient::reconnect`] tries again.
    Down(&'a LinkError),
}

#[derive(Debug)]
enum State {
    Connecting(oneshot::Receiver<Result<Link, LinkError>>),
    Up(Link),
    Down(LinkError),
}

/// A client's socket, on a thread of its own.
///
/// Dropping it closes the link and waits a moment for that to get out; it may be done anywhere, also
/// inside of another runtime.
///
/// Call [`pump`](Self::pump) before [`Client::tick`] and [`flush`](Self::flush) after it; neither
/// ever waits for the network.
#[derive(Debug)]
pub struct QuicClient {
    endpoint: Endpoint,
    config: ClientConfig,
    settings: QuicClientSettings,
    alpn: String,
    /// `None` if somebody else's runtime is used.
    threads: Option<Threads>,
    handle: Handle,
    state: State,
    counters: Arc<Counters>,
    started: Instant,
    now: Duration,
}

/// Begins a connection to a server of `protocol`. Returns at once; [`QuicClient::state`] says how
/// it goes.
///
/// # Errors
/// [`LinkError`] if the settings cannot be used, or this machine gives us no socket.
pub fn connect(
    protocol: &Protocol,
    settings: &QuicClientSettings,
) -> Result<QuicClient, LinkError> {
    let threads = Threads::start("nebula-link", 1).map_err(other)?;
    let mut client = QuicClient::connect_on(threads.handle(), protocol, settings)?;
    client.threads = Some(threads);
    Ok(client)
}

impl QuicClient {
    /// Does as [`connect`] does on a runtime of yours, so that many clients can share its threads.
    ///
    /// # Errors
    /// [`LinkError`] if the settings cannot be used, or this machine gives us no socket.
    pub fn connect_on(
        handle: &Handle,
        protocol: &Protocol,
        settings: &QuicClientSettings,
    ) -> Result<Self, LinkError> {
        Self::start(handle, protocol, settings, || {
            let socket = UdpSocket::bind(any(settings.server))?;
            Endpoint::new(
                EndpointConfig::default(),
                None,
                socket,
                Arc::new(TokioRuntime),
            )
        })
    }

    /// Starts on a given runtime, with an endpoint made by `make`.
    pub(super) fn start(
        handle: &Handle,
        protocol: &Protocol,
        settings: &QuicClientSettings,
        make: impl FnOnce() -> io::Result<Endpoint>,
    ) -> Result<Self, LinkError> {
        settings.limits.validate()?;
        check_credentials(&settings.credentials)?;
        let config = config::client(protocol, settings.server, &settings.trust, &settings.limits)
            .map_err(LinkError::Settings)?;
        let entered = handle.enter();
        let endpoint = make().map_err(other)?;
        let started = Instant::now();
        drop(entered);
        let lines = settings.limits.log_lines_per_second;
        let mut client = Self {
            endpoint,
            config,
            settings: settings.clone(),
            alpn: String::from_utf8_lossy(&config::alpn(protocol)).into_owned(),
            threads: None,
            handle: handle.clone(),
            state: State::Down(LinkError::TimedOut),
            counters: Arc::new(Counters::new(lines, started)),
            started,
            now: Duration::ZERO,
        };
        client.reconnect();
        Ok(client)
    }

    /// Begins again over a new link; an old one is let go. It shows the same credentials again: a login
    /// that takes each of them once, as [`TokenLogin`](crate::auth::TokenLogin) does, needs new ones
    /// ([`set_credentials`](Self::set_credentials)) before.
    pub fn reconnect(&mut self) {
        if let State::Up(link) =
            core::mem::replace(&mut self.state, State::Down(LinkError::Refused))
        {
            link.abort(0, "");
        }
        let (sender, receiver) = oneshot::channel();
        let attempt = Attempt {
            endpoint: self.endpoint.clone(),
            config: self.config.clone(),
            settings: self.settings.clone(),
            alpn: self.alpn.clone(),
            counters: Arc::clone(&self.counters),
        };
        let span = tracing::info_span!("link", server = %self.settings.server);
        self.handle.spawn(attempt.run(sender).instrument(span));
        self.state = State::Connecting(receiver);
    }

    /// Changes what the next [`reconnect`](Self::reconnect) shows to the login: a new token, say. Too
    /// many bytes end that attempt with [`LinkError::Credentials`].
    pub fn set_credentials(&mut self, credentials: Vec<u8>) {
        self.settings.credentials = credentials;
    }

    /// Hands over what arrived since the last call. When the link comes up it begins the session;
    /// when it goes it says so to the client, which keeps everything for a resume.
    pub fn pump(&mut self, client: &mut Client, now: Duration) {
        self.now = self.now.max(now);
        if let State::Connecting(receiver) = &mut self.state {
            match receiver.try_recv() {
                Ok(Ok(link)) => {
                    // Only a client that knows of its loss asks to resume.
                    client.link_lost(now);
                    client.connect(now);
                    self.state = State::Up(link);
                }
                Ok(Err(error)) => self.state = State::Down(error),
                Err(oneshot::error::TryRecvError::Empty) => {}
                Err(oneshot::error::TryRecvError::Closed) => {
                    self.state = State::Down(other("the attempt was given up"));
                }
            }
        }
        let State::Up(link) = &mut self.state else {
            return;
        };
        if client.is_lost() {
            // The session heard nothing for too long over a link that stands: another one may do.
            self.go_down(LinkError::TimedOut);
            return;
        }
        for _ in 0..self.settings.limits.inbound_queue {
            let result = match link.receive() {
                Received::Some(Inbound::Datagram(bytes)) => client.receive(&bytes, now),
                Received::Some(Inbound::Stream(bytes)) => client.receive_stream(&bytes, now),
                Received::None => break,
                Received::Over => {
                    let reason = link.connection.close_reason();
                    self.go_down(reason.map_or(LinkError::TimedOut, |why| self.explain(&why)));
                    client.link_lost(now);
                    break;
                }
            };
            if let Err(reason) = result {
                self.go_down(LinkError::Session(reason));
                break;
            }
        }
    }

    fn go_down(&mut self, error: LinkError) {
        let code = match &error {
            LinkError::Session(reason) => reason.code(),
            _ => 0,
        };
        if let State::Up(link) = core::mem::replace(&mut self.state, State::Down(error)) {
            link.abort(code, "");
        }
    }

    fn explain(&self, error: &ConnectionError) -> LinkError {
        explain(error, &self.alpn)
    }

    /// Hands what is due to the network, as far as it takes it now.
    pub fn flush(&mut self, client: &mut Client) {
        if let State::Up(link) = &mut self.state {
            let limits = &self.settings.limits;
            link.write(limits, self.now, |lane, max, bytes| match lane {
                Lane::Stream => client.transmit_stream(max, bytes),
                Lane::Datagram => client.transmit(max, bytes),
            });
            link.hand_over(&self.counters);
        }
    }

    /// Leaves for good: says goodbye and lets go of the link.
    pub fn leave(&mut self, client: &mut Client) {
        client.disconnect(self.now);
        self.flush(client);
        let left = State::Down(LinkError::Session(Disconnect::Left));
        if let State::Up(link) = core::mem::replace(&mut self.state, left) {
            link.close(Disconnect::Left.code(), "left");
        }
    }

    /// Moves to a new socket, as a device does that changes networks. The link is dead from then
    /// on, and neither side is told: the server hears nothing more, and answers elsewhere.
    /// [`reconnect`](Self::reconnect) makes a new one, over which the session resumes.
    ///
    /// # Errors
    /// If the system gives us no socket; then nothing changes.
    pub fn change_network(&self) -> io::Result<()> {
        let socket = UdpSocket::bind(any(self.settings.server))?;
        let _entered = self.handle.enter();
        self.endpoint.rebind(socket)
    }

    /// Returns where the link stands.
    #[must_use]
    pub const fn state(&self) -> LinkState<'_> {
        match &self.state {
            State::Connecting(_) => LinkState::Connecting,
            State::Up(_) => LinkState::Up,
            State::Down(error) => LinkState::Down(error),
        }
    }

    /// Returns the time since the start, by a clock that never goes back.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns what waits for a signal.
    pub(super) const fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for QuicClient {
    fn drop(&mut self) {
        let left = matches!(
            &self.state,
            State::Down(LinkError::Session(Disconnect::Left))
        );
        // Whoever left has said goodbye, and the link ends by itself once that is out.
        if !left {
            self.endpoint.close(0_u32.into(), b"left");
        }
        // A runtime that ends drops its tasks, so the end is waited for before.
        if let Some(threads) = &self.threads {
            let wait = if left {
                self.settings.limits.close_ms.into()
            } else {
                20 // Long enough for the closing to get out, and to be unnoticed.
            };
            threads.wait_idle(&self.endpoint, Duration::from_millis(wait));
        }
    }
}

/// Returns the address of a socket that can reach `server`.
fn any(server: SocketAddr) -> SocketAddr {
    match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

fn check_credentials(credentials: &[u8]) -> Result<(), LinkError> {
    if credentials.len() > MAX_CREDENTIALS {
        return Err(LinkError::Credentials(credentials.len()));
    }
    Ok(())
}

fn other(error: impl ToString) -> LinkError {
    LinkError::Other(error.to_string())
}

/// One attempt to make a link.
struct Attempt {
    endpoint: Endpoint,
    config: ClientConfig,
    settings: QuicClientSettings,
    alpn: String,
    counters: Arc<Counters>,
}

impl Attempt {
    async fn run(self, result: oneshot::Sender<Result<Link, LinkError>>) {
        let wait = millis(self.settings.limits.handshake_ms);
        let made = timeout(wait, self.make()).await;
        let (connection, send, recv) = match made.unwrap_or(Err(LinkError::TimedOut)) {
            Ok(made) => made,
            Err(error) => {
                // Nobody may listen any more.
                let _ = result.send(Err(error));
                return;
            }
        };
        let span = tracing::Span::current();
        let (link, carrier) = link(&connection, &self.settings.limits, false, span);
        if result.send(Ok(link)).is_ok() {
            carrier.carry(send, recv, self.counters).await;
        }
    }

    async fn make(&self) -> Result<(Connection, SendStream, RecvStream), LinkError> {
        let explain = |error: ConnectionError| explain(&error, &self.alpn);
        let settings = &self.settings;
        // They may have been changed since the start.
        check_credentials(&settings.credentials)?;
        let connection = self
            .endpoint
            .connect_with(self.config.clone(), settings.server, &settings.name)
            .map_err(other)?
            .await
            .map_err(explain)?;
        let (mut send, recv) = connection.open_bi().await.map_err(explain)?;
        let length = u16::try_from(settings.credentials.len()).unwrap_or(u16::MAX);
        let mut first = length.to_le_bytes().to_vec();
        first.extend_from_slice(&settings.credentials);
        if send.write_all(&first).await.is_err() {
            let reason = connection.close_reason();
            return Err(reason.map_or(LinkError::TimedOut, explain));
        }
        Ok((connection, send, recv))
    }
}

/// Says in our words why a connection is over.
fn explain(error: &ConnectionError, alpn: &str) -> LinkError {
    let by_code = |code: TransportErrorCode, reason: &str| {
        let code = u64::from(code);
        match code {
            // TLS alerts: 42 to 48 are about certificates, 120 is "no such protocol".
            0x12A..=0x130 => LinkError::Certificate(shown(unwrapped(reason))),
            0x178 => LinkError::Protocol(alpn.to_owned()),
            0x2 => LinkError::Refused,
            _ => LinkError::Other(format!("{} (QUIC error {code:#x})", shown(reason))),
        }
    };
    match error {
        ConnectionError::TransportError(error) => by_code(error.code, &error.reason),
        ConnectionError::ConnectionClosed(close) => {
            by_code(close.error_code, &String::from_utf8_lossy(&close.reason))
        }
        ConnectionError::ApplicationClosed(close) => LinkError::Closed {
            code: close.error_code.into_inner(),
            reason: shown(&String::from_utf8_lossy(&close.reason)),
        },
        ConnectionError::TimedOut => LinkError::TimedOut,
        error => other(error),
    }
}

/// Returns our own words without what TLS wraps them in.
fn unwrapped(reason: &str) -> &str {
    let ours = reason.split_once("OtherError(");
    ours.map_or(reason, |(_, ours)| ours.trim_end_matches(')'))
}

/// Returns what a peer says, in its own words or in its certificate, as text that can be shown.
fn shown(text: &str) -> String {
    crate::wire::printable(text, crate::limits::MAX_REASON)
}

/// Returns whether a server that closed a link with a code may let the same client in later: it ends,
/// is full, was or thought the client too slow or silent, or had a failure of its own.
fn may_try_again(code: u64) -> bool {
    let passing = [
        Disconnect::HelloTimeout,
        Disconnect::Idle,
        Disconnect::NeverAcks,
        Disconnect::FrameTimeout,
        Disconnect::LinkLost,
        Disconnect::Expired,
        Disconnect::Stalled,
    ];
    let ours = [
        close_code::SHUTDOWN,
        close_code::FULL,
        close_code::ADDRESS,
        close_code::HANDSHAKE,
        close_code::SLOW,
        close_code::INTERNAL,
    ];
    let mut codes = passing.iter().map(Disconnect::code).chain(ours);
    codes.any(|known| u64::from(known) == code)
}

impl LinkError {
    /// Returns whether trying again with the same settings is pointless.
    ///
    /// It knows nothing of the login: a connect token is good for one attempt that reached it, also if
    /// the link failed later, for a reason that passes. Set a new one
    /// ([`QuicClient::set_credentials`]) before each attempt.
    ///
    /// ```
    /// use nebula_multiplayer::transport::quic::{LinkError, close_code};
    ///
    /// let refused = LinkError::Certificate("expired".into());
    /// assert!(LinkError::is_final(&refused));
    /// assert!(!LinkError::is_final(&LinkError::TimedOut));
    ///
    /// let closed = |code: u32| LinkError::Closed { code: code.into(), reason: String::new() };
    /// assert!(closed(close_code::LOGIN).is_final());
    /// assert!(!closed(close_code::INTERNAL).is_final(), "the server's own trouble passes");
    /// ```
    #[must_use]
    pub fn is_final(&self) -> bool {
        match self {
            Self::Refused | Self::TimedOut | Self::Other(_) => false,
            Self::Closed { code, .. } => !may_try_again(*code),
            _ => true,
        }
    }
}
