//! Hostile clients: each does one kind of harm over and over, until told to stop.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;

use anyhow::Result;
use bevy_ecs::world::World;
use nebula_multiplayer::transport::quic::{self, QuicClient};
use nebula_multiplayer::{Client, ClientSettings};
use quinn::{ClientConfig, Connection, Endpoint, EndpointConfig, TokioRuntime, TransportConfig};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use crate::game::{FIRST_HOSTILE, Random, protocol, token};
use crate::line::{Line, Order, orders, say};
use crate::swarm::{Way, one_thread};

/// The kinds of harm; each hostile client has the next one.
const KINDS: [Kind; 7] = [
    Kind::Garbage,
    Kind::Flood,
    Kind::FallsSilent,
    Kind::NeverReads,
    Kind::SlowStream,
    Kind::ComesAndGoes,
    Kind::BadToken,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Bytes without a meaning, in datagrams and on the stream, after a good login.
    Garbage,
    /// Two thousand large datagrams a second.
    Flood,
    /// Joins as a healthy one does, then never says a word again.
    FallsSilent,
    /// Says hello, but reads neither its stream nor a datagram, and gives the
    /// server no credit for a single byte of the stream.
    NeverReads,
    /// Shows its token one byte at a time.
    SlowStream,
    /// Joins and is gone without a word.
    ComesAndGoes,
    /// Shows a token that is none.
    BadToken,
}

/// One hostile client.
struct Villain {
    kind: Kind,
    way: Way,
    account: u64,
    config: ClientConfig,
    stop: Arc<AtomicBool>,
    deeds: Arc<AtomicU64>,
}

/// Runs `count` hostile clients until told to quit.
pub(crate) fn hostile(way: &Way, count: usize) -> Result<()> {
    let orders = orders();
    let runtime = one_thread()?;
    let stop = Arc::new(AtomicBool::new(false));
    let config = quic::client_config(&protocol(), &way.settings(Vec::new()))?;
    let mut tasks = Vec::new();
    let deeds: Vec<Arc<AtomicU64>> = KINDS.iter().map(|_| Arc::default()).collect();
    for (index, account) in (0..count).zip(FIRST_HOSTILE..) {
        let kind = index % KINDS.len();
        let villain = Villain {
            kind: KINDS[kind],
            way: way.clone(),
            account,
            config: config.clone(),
            stop: Arc::clone(&stop),
            deeds: Arc::clone(&deeds[kind]),
        };
        tasks.push(runtime.spawn(villain.run()));
    }
    say(&Line::Done)?;
    while !matches!(orders.recv(), Ok(Order::Quit) | Err(_)) {}
    stop.store(true, Ordering::Relaxed);
    runtime.block_on(async {
        for task in tasks {
            let _ = timeout(Duration::from_secs(2), task).await;
        }
    });
    let names = KINDS.iter().map(|kind| format!("{kind:?}"));
    let deeds = deeds.iter().map(|count| count.load(Ordering::Relaxed));
    say(&Line::Hostile {
        deeds: names.zip(deeds).collect(),
    })
}

impl Villain {
    async fn run(self) {
        let mut random = Random(self.account);
        while self.goes_on() {
            // The server may well close the door on it: that is the point, and it comes again.
            let _ = match self.kind {
                Kind::FallsSilent => self.join(Duration::from_secs(15)).await,
                Kind::ComesAndGoes => self.join(Duration::ZERO).await,
                _ => self.speak(&mut random).await,
            };
            sleep(Duration::from_millis(500)).await;
        }
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn deed(&self) {
        self.deeds.fetch_add(1, Ordering::Relaxed);
    }

    /// Joins with Nebula's own client, then falls silent for a while.
    async fn join(&self, silent: Duration) -> Result<()> {
        let settings = self.way.settings(token(self.account, self.way.server)?);
        let mut link = QuicClient::connect_on(&Handle::current(), &protocol(), &settings)?;
        let mut client = Client::new(protocol(), ClientSettings::default())?;
        let mut mirror = World::new();
        for _ in 0..100 {
            let now = link.now();
            link.pump(&mut client, now);
            client.tick(&mut mirror, now);
            link.flush(&mut client);
            if client.own_entity().is_some() {
                self.deed();
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
        let end = tokio::time::Instant::now() + silent;
        while self.goes_on() && tokio::time::Instant::now() < end {
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    /// Speaks QUIC on its own until the connection ends.
    async fn speak(&self, random: &mut Random) -> Result<()> {
        // An address of its own, as strangers have.
        let last = u8::try_from(self.account % 200)? + 2;
        let socket = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, last), 0))?;
        let config = EndpointConfig::default();
        let endpoint = Endpoint::new(config, None, socket, Arc::new(TokioRuntime))?;
        let mut config = self.config.clone();
        if self.kind == Kind::NeverReads {
            config.transport_config(Arc::new(without_credit()));
        }
        let connecting = endpoint.connect_with(config, self.way.server, "localhost")?;
        let connection = connecting.await?;
        let result = match self.kind {
            Kind::SlowStream => self.trickle(&connection).await,
            Kind::BadToken => self.lie(&connection, random).await,
            Kind::NeverReads => self.shut_its_ears(&connection).await,
            Kind::Flood => {
                self.pour(&connection, random, 1_000, Duration::from_micros(500))
                    .await
            }
            _ => {
                self.pour(&connection, random, 60, Duration::from_millis(20))
                    .await
            }
        };
        connection.close(0_u32.into(), b"");
        let _ = timeout(Duration::from_millis(200), endpoint.wait_idle()).await;
        result
    }

    /// Sends random datagrams, one each `pause`; garbage also goes on the stream.
    async fn pour(
        &self,
        connection: &Connection,
        random: &mut Random,
        size: usize,
        pause: Duration,
    ) -> Result<()> {
        let (mut send, _recv) = connection.open_bi().await?;
        let mut first = credentials(&token(self.account, self.way.server)?)?;
        if self.kind == Kind::Garbage {
            first.extend(noise(random, size));
        }
        send.write_all(&first).await?;
        // A timer wakes once a millisecond at most, so several go out at once.
        let burst = Duration::from_millis(1).as_nanos() / pause.as_nanos();
        while self.goes_on() && connection.close_reason().is_none() {
            for _ in 0..burst.max(1) {
                connection.send_datagram(noise(random, size).into())?;
                self.deed();
            }
            sleep(pause.max(Duration::from_millis(1))).await;
        }
        Ok(())
    }

    /// Joins, and never reads what it is sent, until the server has enough of it.
    async fn shut_its_ears(&self, connection: &Connection) -> Result<()> {
        // Kept, since dropping it would tell the server that nobody listens.
        let (mut send, _recv) = connection.open_bi().await?;
        let mut first = credentials(&token(self.account, self.way.server)?)?;
        let mut client = Client::new(protocol(), ClientSettings::default())?;
        client.connect(Duration::ZERO);
        client.transmit_stream(usize::MAX, &mut first);
        send.write_all(&first).await?;
        self.deed();
        while self.goes_on() && connection.close_reason().is_none() {
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    /// Shows a good token, so slowly that its time runs out.
    async fn trickle(&self, connection: &Connection) -> Result<()> {
        let (mut send, _recv) = connection.open_bi().await?;
        for byte in credentials(&token(self.account, self.way.server)?)? {
            if !self.goes_on() {
                break;
            }
            send.write_all(&[byte]).await?;
            self.deed();
            sleep(Duration::from_millis(500)).await;
        }
        Ok(())
    }

    /// Shows a token that was changed, or one that never was any.
    async fn lie(&self, connection: &Connection, random: &mut Random) -> Result<()> {
        let (mut send, mut recv) = connection.open_bi().await?;
        let mut shown = token(self.account, self.way.server)?;
        if random.bits().is_multiple_of(2) {
            shown = noise(random, shown.len());
        } else if let Some(byte) = shown.last_mut() {
            *byte ^= 1;
        }
        send.write_all(&credentials(&shown)?).await?;
        self.deed();
        // Ends with the connection.
        let _ = recv.read_to_end(16).await;
        Ok(())
    }
}

/// A peer that lets the other side send no byte of a stream, and stays in touch.
fn without_credit() -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .receive_window(0_u32.into())
        .stream_receive_window(0_u32.into())
        .keep_alive_interval(Some(Duration::from_secs(1)));
    config
}

/// The first bytes of the stream: a length and what the login asks for.
fn credentials(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut first = u16::try_from(bytes.len())?.to_le_bytes().to_vec();
    first.extend_from_slice(bytes);
    Ok(first)
}

fn noise(random: &mut Random, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend_from_slice(&random.bits().to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}
