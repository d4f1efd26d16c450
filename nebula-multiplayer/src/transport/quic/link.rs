//! One connection: tasks that carry its bytes, and the end that the game holds.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use quinn::{Connection, RecvStream, SendStream, VarInt};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::{TryRecvError, TrySendError};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::close_code;
use super::config::millis;
use super::counters::{Counters, note};
use crate::limits::{Limits, MAX_DATAGRAM, TransportLimits};
use crate::session::{Flood, Verdict};

/// Bytes of the stream that are read at once.
const CHUNK: usize = 4_096;

/// Something that a peer sent.
#[derive(Debug)]
pub(super) enum Inbound {
    Datagram(Bytes),
    Stream(Bytes),
}

/// The end of a connection that the game holds. Nothing here waits.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) connection: Connection,
    inbound: mpsc::Receiver<Inbound>,
    outbound: mpsc::Sender<Bytes>,
    /// Why we close it, for the task that carries it.
    farewell: Arc<OnceLock<(u32, String)>>,
    /// Bytes of the stream that wait for the network.
    unsent: Arc<AtomicUsize>,
    /// Datagrams that are written and not yet handed over.
    ready: Vec<Bytes>,
    /// Since when the network takes no datagram.
    stalled: Option<Duration>,
    /// Under which everything about it is logged.
    pub(super) span: tracing::Span,
    #[cfg(feature = "testing")]
    pub(super) fault: Arc<tokio::sync::Notify>,
}

/// What [`Link::receive`] found.
#[derive(Debug)]
pub(super) enum Received {
    Some(Inbound),
    None,
    /// The connection is over, and everything it brought was handed over.
    Over,
}

impl Link {
    pub(super) fn receive(&mut self) -> Received {
        match self.inbound.try_recv() {
            Ok(inbound) => Received::Some(inbound),
            Err(TryRecvError::Empty) => Received::None,
            Err(TryRecvError::Disconnected) => Received::Over,
        }
    }

    /// Hands pieces of the stream to the network while it takes them, and writes datagrams while no
    /// more than a few of them wait. `next` appends one, or returns `false`.
    pub(super) fn write(
        &mut self,
        limits: &TransportLimits,
        now: Duration,
        mut next: impl FnMut(Lane, usize, &mut Vec<u8>) -> bool,
    ) {
        let mut bytes = Vec::new();
        while let Ok(permit) = self.outbound.try_reserve() {
            bytes.clear();
            if !next(Lane::Stream, MAX_DATAGRAM, &mut bytes) {
                break;
            }
            self.unsent.fetch_add(bytes.len(), Ordering::Relaxed);
            permit.send(Bytes::copy_from_slice(&bytes));
        }
        let Some(max) = self.connection.max_datagram_size() else {
            return;
        };
        let max = max.min(MAX_DATAGRAM);
        let size = |value: u32| usize::try_from(value).unwrap_or(usize::MAX);
        let kept = size(limits.datagram_buffer).saturating_sub(size(limits.datagram_ahead));
        let space = self.connection.datagram_send_buffer_space();
        let mut room = space.saturating_sub(kept);
        while room >= max {
            bytes.clear();
            if !next(Lane::Datagram, max, &mut bytes) {
                break;
            }
            room = room.saturating_sub(bytes.len());
            self.ready.push(Bytes::copy_from_slice(&bytes));
        }
        let blocked = room < max && self.ready.is_empty();
        self.stalled = blocked.then(|| self.stalled.unwrap_or(now));
    }

    /// Hands the written datagrams to the network.
    pub(super) fn hand_over(&mut self, counters: &Counters) {
        for bytes in self.ready.drain(..) {
            if self.connection.send_datagram(bytes).is_ok() {
                counters.datagrams_out.add();
            }
        }
    }

    /// Returns for how long the network took no datagram, though one was due or may have been.
    pub(super) fn stalled_for(&self, now: Duration) -> Duration {
        let since = self.stalled;
        since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }

    /// Returns how many bytes of the stream wait for the network.
    pub(super) fn unsent(&self) -> usize {
        self.unsent.load(Ordering::Relaxed)
    }

    /// Ends the connection after what the stream was given is sent, or soon.
    pub(super) fn close(self, code: u32, reason: &str) {
        // The first reason stands.
        let _ = self.farewell.set((code, reason.to_owned()));
    }

    /// Ends the connection at once.
    pub(super) fn abort(self, code: u32, reason: &str) {
        self.connection
            .close(VarInt::from_u32(code), reason.as_bytes());
    }
}

pub(super) use crate::transport::Lane;

/// The other end of a link: what its task needs.
#[derive(Debug)]
pub(super) struct Carrier {
    connection: Connection,
    inbound: mpsc::Sender<Inbound>,
    outbound: mpsc::Receiver<Bytes>,
    farewell: Arc<OnceLock<(u32, String)>>,
    unsent: Arc<AtomicUsize>,
    linger: Duration,
    flood: Option<Flood>,
    span: tracing::Span,
    #[cfg(feature = "testing")]
    fault: Arc<tokio::sync::Notify>,
}

/// Returns both ends of a link. A server limits what its peers send; a client does not.
pub(super) fn link(
    connection: &Connection,
    limits: &TransportLimits,
    limit_rates: bool,
    span: tracing::Span,
) -> (Link, Carrier) {
    let size = |value: u32| usize::try_from(value).unwrap_or(usize::MAX);
    let (inbound, from_peer) = mpsc::channel(size(limits.inbound_queue));
    let (to_peer, outbound) = mpsc::channel(size(limits.outbound_queue));
    let farewell = Arc::new(OnceLock::new());
    let unsent = Arc::new(AtomicUsize::new(0));
    #[cfg(feature = "testing")]
    let fault = Arc::new(tokio::sync::Notify::new());
    let rates = Limits {
        datagrams_per_second: limits.datagrams_per_second,
        bytes_in_per_second: limits.bytes_in_per_second,
        flood_factor: limits.flood_factor,
        ..Limits::default()
    };
    let link = Link {
        connection: connection.clone(),
        inbound: from_peer,
        outbound: to_peer,
        farewell: Arc::clone(&farewell),
        unsent: Arc::clone(&unsent),
        ready: Vec::new(),
        stalled: None,
        span: span.clone(),
        #[cfg(feature = "testing")]
        fault: Arc::clone(&fault),
    };
    let carrier = Carrier {
        connection: connection.clone(),
        inbound,
        outbound,
        farewell,
        unsent,
        linger: millis(limits.close_ms),
        flood: limit_rates.then(|| Flood::new(&rates, Duration::ZERO)),
        span,
        #[cfg(feature = "testing")]
        fault,
    };
    (link, carrier)
}

/// How one of a link's tasks ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The game listens no more. What it said last may still be on its way.
    Unheard,
    /// The connection is over.
    Over,
    /// Far too much was sent.
    Flood,
}

impl Carrier {
    /// Carries bytes until one side ends the connection. A panic in one of its tasks ends it too.
    pub(super) async fn carry(self, send: SendStream, recv: RecvStream, counters: Arc<Counters>) {
        let Self {
            connection,
            inbound,
            outbound,
            farewell,
            unsent,
            linger,
            flood,
            span,
            #[cfg(feature = "testing")]
            fault,
        } = self;
        let flood = Arc::new(std::sync::Mutex::new(flood));
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        let rates = Rates {
            flood: Arc::clone(&flood),
            start,
        };
        let datagrams = read_datagrams(
            connection.clone(),
            inbound.clone(),
            rates,
            Arc::clone(&counters),
        );
        tasks.spawn(datagrams.instrument(span.clone()));
        tasks.spawn(part(inbound.clone(), linger).instrument(span.clone()));
        let rates = Rates { flood, start };
        let stream = read_stream(connection.clone(), recv, inbound, rates, linger);
        tasks.spawn(stream.instrument(span.clone()));
        let out = write_stream(send, outbound, unsent, linger);
        tasks.spawn(out.instrument(span.clone()));
        #[cfg(feature = "testing")]
        tasks.spawn(break_down(fault).instrument(span));
        let mut reason = None;
        while let Some(end) = tasks.join_next().await {
            match end {
                Ok(End::Unheard) => continue,
                Ok(End::Over) => {}
                Ok(End::Flood) => {
                    note!(counters, floods, debug, {}, "a peer sent far too much");
                    reason = Some((close_code::FLOOD, "far too much was sent"));
                }
                Err(error) if error.is_panic() => {
                    note!(
                        counters,
                        panics,
                        error,
                        {},
                        "the task of a connection panicked; it ends"
                    );
                    reason = Some((close_code::INTERNAL, "our own fault"));
                }
                Err(_) => {}
            }
            break;
        }
        let (code, text) = match (&reason, farewell.get()) {
            (Some((code, text)), _) => (*code, *text),
            (None, Some((code, text))) => (*code, text.as_str()),
            (None, None) => (0, ""),
        };
        // A connection that the peer closed keeps the peer's reason.
        if connection.close_reason().is_none() {
            connection.close(VarInt::from_u32(code), text.as_bytes());
        }
    }
}

/// Waits until the game lets go of the link, and then as long as its last words may take: a peer that
/// takes none of them does not keep its place.
async fn part(inbound: mpsc::Sender<Inbound>, linger: Duration) -> End {
    inbound.closed().await;
    tokio::time::sleep(linger).await;
    End::Over
}

/// Panics when a test says so: as a bug in any of a link's tasks would.
#[cfg(feature = "testing")]
async fn break_down(fault: Arc<tokio::sync::Notify>) -> End {
    fault.notified().await;
    panic!("a test asked for it")
}

/// What one peer may send, for both of its lanes.
struct Rates {
    flood: Arc<std::sync::Mutex<Option<Flood>>>,
    start: Instant,
}

impl Rates {
    fn judge(&self, verdict: impl FnOnce(&mut Flood, Duration) -> Verdict) -> Verdict {
        let now = self.start.elapsed();
        let mut flood = self
            .flood
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        flood
            .as_mut()
            .map_or(Verdict::Accept, |flood| verdict(flood, now))
    }
}

/// Returns a copy: what waits for a tick would else keep its packet in memory, and all others that the
/// system handed over in one piece with it, up to 64 KiB.
fn copied(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

async fn read_datagrams(
    connection: Connection,
    inbound: mpsc::Sender<Inbound>,
    rates: Rates,
    counters: Arc<Counters>,
) -> End {
    while let Ok(bytes) = connection.read_datagram().await {
        match rates.judge(|flood, now| flood.datagram(bytes.len(), now)) {
            Verdict::Accept => {}
            Verdict::Ignore => {
                note!(
                    counters,
                    datagrams_over_rate,
                    debug,
                    {},
                    "a datagram over the rate is dropped"
                );
                continue;
            }
            Verdict::Drop => return End::Flood,
        }
        match inbound.try_send(Inbound::Datagram(copied(&bytes))) {
            Ok(()) => counters.datagrams_in.add(),
            // Datagrams may be lost; whoever sends more than we look at loses the rest.
            Err(TrySendError::Full(_)) => {
                note!(
                    counters,
                    datagrams_over_queue,
                    debug,
                    {},
                    "a datagram over the queue is dropped"
                );
            }
            Err(TrySendError::Closed(_)) => return End::Unheard,
        }
    }
    End::Over
}

async fn read_stream(
    connection: Connection,
    mut recv: RecvStream,
    inbound: mpsc::Sender<Inbound>,
    rates: Rates,
    linger: Duration,
) -> End {
    while let Ok(Some(chunk)) = recv.read_chunk(CHUNK, true).await {
        if rates.judge(|flood, now| flood.stream(chunk.bytes.len(), now)) == Verdict::Drop {
            return End::Flood;
        }
        // Waits for the game, and so lets the peer wait: nothing more is read meanwhile.
        let bytes = copied(&chunk.bytes);
        if inbound.send(Inbound::Stream(bytes)).await.is_err() {
            return End::Unheard;
        }
    }
    // A peer that ends its stream closes the connection next, and says why.
    let _ = tokio::time::timeout(linger, connection.closed()).await;
    End::Over
}

async fn write_stream(
    mut send: SendStream,
    mut outbound: mpsc::Receiver<Bytes>,
    unsent: Arc<AtomicUsize>,
    linger: Duration,
) -> End {
    while let Some(bytes) = outbound.recv().await {
        let len = bytes.len();
        if send.write_chunk(bytes).await.is_err() {
            return End::Over;
        }
        unsent.fetch_sub(len, Ordering::Relaxed);
    }
    // The game let go of the link: give the last words a moment to arrive.
    let _ = send.finish();
    let _ = tokio::time::timeout(linger, send.stopped()).await;
    End::Over
}
