//! A network of one server and its clients: UDP by a seed and in virtual time.

use core::net::{Ipv4Addr, SocketAddr};
use core::task::Waker;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nebula_multiplayer::transport::sim::{FaultCounts, Faults, Random, SimPipe};
use nebula_multiplayer::transport::{Lane, Link, Pipe};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Where the server listens, whichever process it is by now.
pub(crate) const SERVER: SocketAddr =
    SocketAddr::new(core::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4_433);

/// Datagrams that wait in a socket to be read; more are lost, as in a real one.
const INBOX: usize = 256;

/// The network. Sockets are known by numbers, which are never used again.
#[derive(Debug)]
pub(crate) struct Net {
    inner: Mutex<Inner>,
    /// Something was sent, so the next arrival may be another.
    news: Notify,
    start: Instant,
}

#[derive(Debug)]
struct Inner {
    random: Random,
    /// One for each client, between it and the server.
    links: Vec<Link<SimPipe>>,
    sockets: BTreeMap<usize, Bound>,
    /// Datagrams of handshakes, as they were sent.
    handshakes: BTreeSet<Vec<u8>>,
    next: usize,
    next_port: u16,
    overflows: u64,
    hash: u64,
}

/// A socket as the network sees it.
#[derive(Debug)]
struct Bound {
    address: SocketAddr,
    /// Whether its process stands still: nothing is read, and nothing is taken.
    frozen: bool,
    inbox: VecDeque<(SocketAddr, Vec<u8>)>,
    waiting: Vec<Waker>,
}

impl Bound {
    fn wake(&mut self) {
        for waker in self.waiting.drain(..) {
            waker.wake();
        }
    }
}

/// What became of something that a socket was asked.
#[derive(Debug)]
pub(super) enum Asked<T> {
    Done(T),
    /// Nothing to do now; the waker was kept.
    Later,
}

impl Net {
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self {
            inner: Mutex::new(Inner {
                random: Random::new(seed),
                links: Vec::new(),
                sockets: BTreeMap::new(),
                handshakes: BTreeSet::new(),
                next: 0,
                next_port: 5_000,
                overflows: 0,
                hash: 0,
            }),
            news: Notify::new(),
            start: Instant::now(),
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Lays a line to the next client.
    pub(crate) fn add_line(&self, faults: Faults) {
        let mut inner = self.inner();
        let seed = inner.random.word();
        inner.links.push(Link {
            to_server: SimPipe::new(seed, faults),
            to_client: SimPipe::new(!seed, faults),
        });
    }

    /// Does something to both directions of a client's line.
    pub(crate) fn each_way(&self, number: usize, mut f: impl FnMut(&mut SimPipe, Duration)) {
        let now = self.now();
        let mut inner = self.inner();
        let link = &mut inner.links[number];
        f(&mut link.to_server, now);
        f(&mut link.to_client, now);
        drop(inner);
        self.news.notify_one();
    }

    /// Opens the server's socket, or one of a client at a port that nobody had before.
    pub(super) fn open(&self, client: Option<usize>) -> usize {
        let mut inner = self.inner();
        let address = match client {
            None => SERVER,
            Some(number) => inner.fresh_address(number),
        };
        let socket = inner.next;
        inner.next += 1;
        let bound = Bound {
            address,
            frozen: false,
            inbox: VecDeque::new(),
            waiting: Vec::new(),
        };
        inner.sockets.insert(socket, bound);
        socket
    }

    /// Closes a socket, as the end of its process does: nothing more gets out of it.
    pub(super) fn close(&self, socket: usize) {
        self.inner().sockets.remove(&socket);
    }

    pub(super) fn address(&self, socket: usize) -> Option<SocketAddr> {
        self.inner().sockets.get(&socket).map(|bound| bound.address)
    }

    /// Gives a client's socket another address, as a router does that forgot it.
    pub(super) fn readdress(&self, socket: usize, number: usize) {
        let mut inner = self.inner();
        let address = inner.fresh_address(number);
        if let Some(bound) = inner.sockets.get_mut(&socket) {
            bound.address = address;
        }
    }

    /// Lets the process of a socket stand still, or go on.
    pub(super) fn freeze(&self, socket: usize, frozen: bool) {
        if let Some(bound) = self.inner().sockets.get_mut(&socket) {
            bound.frozen = frozen;
            bound.wake();
        }
    }

    /// Sends a datagram. What a closed socket sends goes nowhere.
    pub(super) fn send(&self, socket: usize, to: SocketAddr, bytes: &[u8]) -> Asked<()> {
        let now = self.now();
        let mut inner = self.inner();
        let Some(bound) = inner.sockets.get(&socket) else {
            return Asked::Done(());
        };
        if bound.frozen {
            return Asked::Later;
        }
        let from = bound.address;
        inner.note(from, bytes.len(), now);
        if is_handshake(bytes) {
            inner.handshakes.insert(bytes.to_vec());
        }
        if from == SERVER {
            // To an address that is somebody's no more it is lost.
            let known = inner.sockets.values().any(|bound| bound.address == to);
            if let Some(number) = client_at(to).filter(|_| known) {
                inner.links[number]
                    .to_client
                    .send(Lane::Datagram, bytes, now);
            }
        } else if let Some(number) = client_at(from) {
            inner.links[number]
                .to_server
                .send(Lane::Datagram, bytes, now);
        }
        drop(inner);
        self.news.notify_one();
        Asked::Done(())
    }

    /// Waits until a socket's process goes on.
    pub(super) fn writable(&self, socket: usize, waker: &Waker) -> Asked<()> {
        match self.inner().sockets.get_mut(&socket) {
            Some(bound) if bound.frozen => {
                bound.waiting.push(waker.clone());
                Asked::Later
            }
            _ => Asked::Done(()),
        }
    }

    /// Takes a datagram out of a socket.
    pub(super) fn receive(&self, socket: usize, waker: &Waker) -> Asked<(SocketAddr, Vec<u8>)> {
        let mut inner = self.inner();
        let Some(bound) = inner.sockets.get_mut(&socket) else {
            return Asked::Later;
        };
        if !bound.frozen
            && let Some(datagram) = bound.inbox.pop_front()
        {
            return Asked::Done(datagram);
        }
        bound.waiting.push(waker.clone());
        Asked::Later
    }

    /// Carries datagrams to their sockets, for as long as the network is there.
    pub(crate) async fn carry(self: Arc<Self>) {
        loop {
            let now = self.now();
            let next = {
                let mut inner = self.inner();
                inner.deliver(now);
                let pipes = inner.links.iter();
                let pipes = pipes.flat_map(|link| [&link.to_server, &link.to_client]);
                pipes.filter_map(SimPipe::next_arrival).min()
            };
            let news = self.news.notified();
            match next {
                Some(at) => drop(timeout_at(self.start + at, news).await),
                None => news.await,
            }
        }
    }

    /// Returns what the lines did so far, and how many datagrams full sockets lost.
    pub(crate) fn counts(&self) -> (FaultCounts, u64) {
        let inner = self.inner();
        let mut total = FaultCounts::default();
        for link in &inner.links {
            total += *link.to_server.counts();
            total += *link.to_client.counts();
        }
        (total, inner.overflows)
    }

    /// Returns a hash over who sent how much when, in order.
    pub(crate) fn hash(&self) -> u64 {
        self.inner().hash
    }
}

impl Inner {
    fn fresh_address(&mut self, number: usize) -> SocketAddr {
        self.next_port += 1;
        let host = u8::try_from(number).expect("few clients");
        SocketAddr::from((Ipv4Addr::new(10, 0, 1, host), self.next_port))
    }

    fn deliver(&mut self, now: Duration) {
        for number in 0..self.links.len() {
            let client = self.sockets.iter().rev();
            let client = client.map(|(socket, bound)| (*socket, bound.address));
            let client = client
                .into_iter()
                .find(|(_, address)| client_at(*address) == Some(number));
            let server = self.socket_at(SERVER);
            while let Some((_, bytes)) = self.links[number].to_server.receive(now) {
                if let (Some(to), Some((_, from))) = (server, client) {
                    self.arrive(to, from, bytes);
                }
            }
            while let Some((_, bytes)) = self.links[number].to_client.receive(now) {
                if let Some((to, _)) = client {
                    self.arrive(to, SERVER, bytes);
                }
            }
        }
    }

    fn socket_at(&self, address: SocketAddr) -> Option<usize> {
        let mut sockets = self.sockets.iter();
        let found = sockets.find(|(_, bound)| bound.address == address);
        found.map(|(socket, _)| *socket)
    }

    fn arrive(&mut self, socket: usize, from: SocketAddr, bytes: Vec<u8>) {
        // Whether a damaged one looks like a first packet is up to its keys, which no run repeats.
        if is_handshake(&bytes) && !self.handshakes.contains(&bytes) {
            return;
        }
        let Some(bound) = self.sockets.get_mut(&socket) else {
            return;
        };
        if bound.inbox.len() >= INBOX {
            self.overflows += 1;
            return;
        }
        bound.inbox.push_back((from, bytes));
        bound.wake();
    }

    /// Folds a datagram into the hash. Its bytes are sealed with keys that no run repeats.
    fn note(&mut self, from: SocketAddr, len: usize, now: Duration) {
        let [a, b] = from.port().to_le_bytes();
        let time = now.as_nanos().to_le_bytes();
        let words = [u8::from(from == SERVER), a, b];
        for byte in words.into_iter().chain(time).chain(len.to_le_bytes()) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Returns whether a datagram begins with the long header of QUIC's handshakes.
fn is_handshake(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|flags| flags & 0x80 != 0)
}

/// Returns the number of the client whose address it is.
fn client_at(address: SocketAddr) -> Option<usize> {
    match address {
        SocketAddr::V4(address) => match address.ip().octets() {
            [10, 0, 1, number] => Some(number.into()),
            _ => None,
        },
        SocketAddr::V6(_) => None,
    }
}
