//! Carries datagrams between clients and their server, and counts them.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;

/// Bytes of the headers of IPv4 and UDP.
const HEADERS: u64 = 28;

/// What went over the wire, headers included: to clients, and from them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bytes {
    pub(crate) down: f64,
    pub(crate) down_packets: f64,
    pub(crate) up: f64,
    pub(crate) up_packets: f64,
}

impl Bytes {
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            down: self.down - before.down,
            down_packets: self.down_packets - before.down_packets,
            up: self.up - before.up,
            up_packets: self.up_packets - before.up_packets,
        }
    }

    /// Returns it for each second and client.
    pub(crate) fn per(self, time: Duration, clients: usize) -> Self {
        let share = time.as_secs_f64() * clients as f64;
        Self {
            down: self.down / share,
            down_packets: self.down_packets / share,
            up: self.up / share,
            up_packets: self.up_packets / share,
        }
    }
}

#[derive(Debug, Default)]
struct Counters {
    down: AtomicU64,
    down_packets: AtomicU64,
    up: AtomicU64,
    up_packets: AtomicU64,
}

/// Sockets to which clients speak as if each were the server. Nothing is carried before
/// [`Doors::open`].
pub(crate) struct Doors(Vec<UdpSocket>);

impl Doors {
    pub(crate) fn new(clients: usize) -> Result<Self> {
        let doors: io::Result<Vec<UdpSocket>> = (0..clients).map(|_| socket()).collect();
        Ok(Self(doors?))
    }

    /// Returns where client `number` finds its server.
    pub(crate) fn addresses(&self) -> Result<Vec<SocketAddr>> {
        let addresses: io::Result<Vec<_>> = self.0.iter().map(UdpSocket::local_addr).collect();
        Ok(addresses?)
    }

    /// Carries datagrams to a server and back from now on.
    pub(crate) fn open(self, server: SocketAddr) -> Result<Relay> {
        let mut lines = Vec::new();
        for door in self.0 {
            let back = socket()?;
            back.connect(server)?;
            lines.push(Line {
                door,
                back,
                client: None,
            });
        }
        let (counters, stop) = (Arc::<Counters>::default(), Arc::<AtomicBool>::default());
        let (counting, stopped) = (Arc::clone(&counters), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Relaxed) {
                for line in &mut lines {
                    line.carry(&counting);
                }
                std::thread::sleep(Duration::from_micros(500));
            }
        });
        Ok(Relay {
            counters,
            stop,
            thread: Some(thread),
        })
    }
}

fn socket() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// One client's way.
struct Line {
    door: UdpSocket,
    back: UdpSocket,
    /// Where the client last spoke from.
    client: Option<SocketAddr>,
}

impl Line {
    fn carry(&mut self, counters: &Counters) {
        let mut bytes = [0; 2_048];
        while let Ok((len, from)) = self.door.recv_from(&mut bytes) {
            self.client = Some(from);
            // What does not fit is lost, as on any network.
            let _ = self.back.send(&bytes[..len]);
            counters.up.fetch_add(len as u64 + HEADERS, Relaxed);
            counters.up_packets.fetch_add(1, Relaxed);
        }
        while let Ok(len) = self.back.recv(&mut bytes) {
            if let Some(client) = self.client {
                let _ = self.door.send_to(&bytes[..len], client);
            }
            counters.down.fetch_add(len as u64 + HEADERS, Relaxed);
            counters.down_packets.fetch_add(1, Relaxed);
        }
    }
}

/// The running relay; ends when dropped.
pub(crate) struct Relay {
    counters: Arc<Counters>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Returns what was carried since the start.
    pub(crate) fn bytes(&self) -> Bytes {
        let read = |counter: &AtomicU64| counter.load(Relaxed) as f64;
        Bytes {
            down: read(&self.counters.down),
            down_packets: read(&self.counters.down_packets),
            up: read(&self.counters.up),
            up_packets: read(&self.counters.up_packets),
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_carried_and_counted_with_their_headers() {
        let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let doors = Doors::new(1).expect("a port");
        let door = doors.addresses().expect("bound")[0];
        let relay = doors
            .open(server.local_addr().expect("bound"))
            .expect("open");
        let mut bytes = [0; 16];
        client.send_to(b"hello", door).expect("sent");
        let (len, from) = server.recv_from(&mut bytes).expect("carried");
        assert_eq!(&bytes[..len], b"hello");
        server.send_to(b"ho", from).expect("sent");
        assert_eq!(client.recv_from(&mut bytes).expect("carried").0, 2);
        // Counted just after it was sent.
        while relay.bytes().down_packets < 1.0 {
            std::thread::yield_now();
        }
        let (up, down) = (relay.bytes().up, relay.bytes().down);
        assert_eq!((up, down), (33.0, 30.0));
    }
}
