//! From a first packet to a peer whose name is known. No session exists before.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quinn::{Connection, Endpoint, Incoming, RecvStream, SendStream, VarInt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;
use tracing::field::Empty;

use super::close_code;
use super::config::millis;
use super::counters::{Counters, note};
use super::gate::{Gate, Pass, Verdict};
use super::link::{Carrier, Link, link};
use crate::auth::{Login, MAX_CREDENTIALS};
use crate::limits::TransportLimits;
use crate::server::Identity;

/// What all connections of a server share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) limits: TransportLimits,
    pub(super) login: Arc<dyn Login>,
    pub(super) counters: Arc<Counters>,
    pub(super) gate: Mutex<Gate>,
    pub(super) started: Instant,
}

impl Shared {
    pub(super) fn gate(&self) -> MutexGuard<'_, Gate> {
        // A panic elsewhere leaves only counts behind that are one too high or low.
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }
}

/// A peer that was let in.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) link: Link,
    pub(super) identity: Identity,
}

/// A place behind the gate, given back when dropped.
struct Seat {
    shared: Arc<Shared>,
    pass: Option<Pass>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(pass) = self.pass.take() {
            self.shared.gate().leave(pass);
        }
    }
}

/// Takes first packets until the endpoint closes. The cheapest checks come first; what a stranger
/// can make us do or keep here does not grow with what it sends.
pub(super) async fn accept(
    endpoint: Endpoint,
    shared: Arc<Shared>,
    arrivals: mpsc::Sender<Arrival>,
) {
    let mut number = 0_u64;
    while let Some(incoming) = endpoint.accept().await {
        let (from, proven) = (
            incoming.remote_address().ip(),
            incoming.remote_address_validated(),
        );
        let entered = shared.gate().enter(from, proven, shared.now());
        let counters = &shared.counters;
        match entered {
            Ok(pass) => {
                let seat = Seat {
                    pass: Some(pass),
                    shared: Arc::clone(&shared),
                };
                number = number.saturating_add(1);
                // The client's number is known when a session has it.
                let span = tracing::info_span!("connection", number, client = Empty);
                let greeting = greet(incoming, seat, arrivals.clone(), span.clone());
                let greeting = tokio::spawn(greeting.instrument(span.clone()));
                let shared = Arc::clone(&shared);
                let watch = async move {
                    if greeting.await.is_err_and(|error| error.is_panic()) {
                        let counters = &shared.counters;
                        note!(
                            counters,
                            panics,
                            error,
                            {},
                            "a login panicked; its connection ends"
                        );
                    }
                };
                tokio::spawn(watch.instrument(span));
            }
            Err(Verdict::Retry) => {
                note!(counters, retried, debug, { %from, }, "an address must be proven first");
                // Cannot fail for one that is not proven.
                let _ = incoming.retry();
            }
            Err(Verdict::Full) => {
                note!(counters, refused_full, debug, { %from, }, "no place is left");
                incoming.refuse();
            }
            Err(Verdict::Address) => {
                note!(counters, refused_address, debug, { %from, }, "an address has enough connections");
                incoming.refuse();
            }
        }
    }
}

/// Shakes hands, asks who it is, and carries the connection from then on.
async fn greet(
    incoming: Incoming,
    mut seat: Seat,
    arrivals: mpsc::Sender<Arrival>,
    span: tracing::Span,
) {
    let shared = Arc::clone(&seat.shared);
    let counters = &shared.counters;
    let from = incoming.remote_address();
    let wait = millis(shared.limits.handshake_ms);
    let deadline = Instant::now().checked_add(wait);
    let deadline = deadline.unwrap_or_else(Instant::now);
    let Ok(connecting) = incoming.accept() else {
        note!(counters, failed_handshakes, debug, { %from, }, "a first packet is no good");
        return;
    };
    let connection = match timeout_at(deadline, connecting).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => {
            // It may be in the words of a stranger.
            let error = crate::wire::printable(&error.to_string(), crate::limits::MAX_REASON);
            note!(counters, failed_handshakes, debug, { %from, %error, }, "a handshake failed");
            return;
        }
        Err(_) => {
            note!(counters, slow_handshakes, debug, { %from, }, "a handshake took too long");
            return;
        }
    };
    let close = |code, reason: &str| connection.close(VarInt::from_u32(code), reason.as_bytes());
    // The handshake is over, so the address is the peer's own.
    let now = shared.now();
    let stays = seat
        .pass
        .as_mut()
        .is_some_and(|pass| shared.gate().prove(pass, now));
    if !stays {
        note!(counters, refused_address, debug, { %from, }, "an address has enough connections");
        return close(close_code::ADDRESS, "too many connections");
    }
    let mut early = JoinSet::new();
    early.spawn(discard(connection.clone()));
    let asked = timeout_at(deadline, credentials(&connection)).await;
    let (send, recv, credentials) = match asked {
        Ok(Some(all)) => all,
        Ok(None) => {
            note!(counters, failed_handshakes, debug, { %from, }, "credentials are no good");
            return close(close_code::LOGIN, "bad credentials");
        }
        Err(_) => {
            note!(counters, slow_handshakes, debug, { %from, }, "credentials took too long");
            return close(close_code::HANDSHAKE, "the handshake took too long");
        }
    };
    let identity = match timeout_at(deadline, shared.login.check(&credentials, from)).await {
        Ok(Ok(identity)) => identity,
        Ok(Err(error)) => {
            note!(counters, refused_logins, debug, { %from, %error, }, "a login was refused");
            // The same words whatever is wrong, so that guessing teaches nothing.
            return close(close_code::LOGIN, "login refused");
        }
        Err(_) => {
            note!(counters, slow_handshakes, debug, { %from, }, "a login took too long");
            return close(close_code::HANDSHAKE, "the handshake took too long");
        }
    };
    let (link, carrier) = link(&connection, &shared.limits, true, span);
    let arrival = Arrival { link, identity };
    if !matches!(
        timeout_at(deadline, arrivals.send(arrival)).await,
        Ok(Ok(()))
    ) {
        note!(counters, slow_handshakes, debug, { %from, }, "the game takes no newcomers");
        return close(close_code::FULL, "the server is busy");
    }
    counters.accepted.add();
    if let Some(pass) = seat.pass.as_mut() {
        shared.gate().finish(pass);
    }
    drop(early);
    Carrier::carry(carrier, send, recv, Arc::clone(counters)).await;
    drop(seat);
}

/// Throws away the datagrams of a peer that is not let in yet, which say nothing. One byte that waits
/// to be read keeps all of the packets in memory that the system handed over together with its own.
async fn discard(connection: Connection) {
    while connection.read_datagram().await.is_ok() {}
}

/// Returns the one stream and what its first bytes say: a length (`u16`, low byte first) and as
/// many bytes of credentials. `None` if that is not what comes.
async fn credentials(connection: &Connection) -> Option<(SendStream, RecvStream, Vec<u8>)> {
    let (send, mut recv) = connection.accept_bi().await.ok()?;
    let mut length = [0; 2];
    recv.read_exact(&mut length).await.ok()?;
    let length = usize::from(u16::from_le_bytes(length));
    if length > MAX_CREDENTIALS {
        return None;
    }
    let mut bytes = vec![0; length];
    recv.read_exact(&mut bytes).await.ok()?;
    Some((send, recv, bytes))
}
