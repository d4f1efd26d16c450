//! Hostile peers on real sockets, up to the login: rows 4, 5, 17 to 23 and 41 of the hostile input table.
//! In each test a healthy client beside them notices nothing.

mod quic_common;
mod quic_hostile;

use core::time::Duration;
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Instant;

use nebula_multiplayer::ClientId;
use nebula_multiplayer::auth::{OpenLogin, TokenError, TokenKey, TokenLogin};
use nebula_multiplayer::transport::quic::{QuicClientSettings, Trust, close_code};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, VarInt};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;

use quic_common::{Guest, Host, join, pass, settings};
use quic_hostile::{Raw, Witness, code, credentials, quick, token_host, unix_ms};

#[test]
fn hostile_04_promised_bytes_that_never_come_over_a_socket() {
    let mut host = Host::with(quick(), OpenLogin);
    let mut witness = Witness::new(&mut host);
    let raw = Raw::new(&host);
    let mut first = credentials(&[]);
    first.extend(100_u32.to_le_bytes());
    first.extend([1; 99]);
    let (connection, _send, _recv) = raw.say(&first);
    let start = Instant::now();
    witness.until(&mut host, "it is dropped", |_| code(&connection).is_some());
    assert_eq!(code(&connection), Some(4), "no hello in time");
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!(host.server.held(), 1);
    witness.notices_nothing(&mut host);
}

#[test]
fn hostile_05_one_byte_now_and_then_over_a_socket() {
    let mut host = Host::with(quick(), OpenLogin);
    let mut witness = Witness::new(&mut host);
    let raw = Raw::new(&host);
    // Before the login, and after it.
    for (first, expected) in [
        (vec![200], u64::from(close_code::HANDSHAKE)),
        (credentials(&[]), 4),
    ] {
        let (connection, mut send, _recv) = raw.say(&first);
        let drip = raw.runtime.spawn(async move {
            while send.write_all(&[0]).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(150)).await;
            }
        });
        let start = Instant::now();
        // The drip promises four zero bytes as a length at most; stop before it is a frame.
        witness.until(&mut host, "it is dropped", |_| code(&connection).is_some());
        assert!(start.elapsed() < Duration::from_secs(2));
        let code = code(&connection).unwrap();
        // A frame of length zero is dropped even sooner.
        assert!(code == expected || code == 1, "{code}, not {expected}");
        drip.abort();
        witness.notices_nothing(&mut host);
    }
    assert_eq!(host.server.held(), 1);
}

#[test]
fn hostile_17_tokens_that_are_not_good() {
    let (mut host, mut witness, make, key) = token_host();
    let raw = Raw::new(&host);
    let here = "192.0.2.1:4433";
    let good = make(9, 20_000, here).seal(&key, 3).unwrap();
    let flipped = |at: usize, bit: u8| {
        let mut token = good.clone();
        token[at] ^= 1 << bit;
        token
    };
    let other_key = TokenKey::generate().unwrap();
    let bad = [
        Vec::new(),
        b"let me in".to_vec(),
        vec![1; 1_024],
        good[..good.len() - 1].to_vec(),
        [&good[..], &[0]].concat(),
        flipped(0, 0),
        flipped(30, 3),
        make(9, 0, here).seal(&key, 3).unwrap(),
        make(9, 40_000, here).seal(&key, 3).unwrap(),
        make(9, 20_000, "192.0.2.2:4433").seal(&key, 3).unwrap(),
        make(9, 20_000, here).seal(&key, 4).unwrap(),
        make(9, 20_000, here).seal(&other_key, 3).unwrap(),
    ];
    let count = u64::try_from(bad.len()).unwrap();
    for token in bad {
        let (connection, _send, _recv) = raw.say(&credentials(&token));
        witness.until(&mut host, "it is refused", |_| {
            connection.close_reason().is_some()
        });
        let Some(ConnectionError::ApplicationClosed(close)) = connection.close_reason() else {
            panic!("{:?}", connection.close_reason());
        };
        // The same words for all, so that they teach nothing.
        assert_eq!(close.error_code, VarInt::from_u32(close_code::LOGIN));
        assert_eq!(&close.reason[..], b"login refused");
        assert_eq!(host.server.held(), 1, "no session was made");
    }
    assert_eq!(host.net.stats().refused_logins, count);
    witness.notices_nothing(&mut host);

    // Every single bit of a token matters, and a good one is good once.
    let login = TokenLogin::new(key, 3, vec![here.parse().unwrap()]);
    for at in 0..good.len() {
        for bit in 0..8 {
            let result = login.check_at(&flipped(at, bit), unix_ms());
            assert_eq!(result, Err(TokenError::Unreadable), "byte {at}, bit {bit}");
        }
    }
    assert_eq!(login.check_at(&good, unix_ms()), Ok(9));
    assert_eq!(login.check_at(&good, unix_ms()), Err(TokenError::Used));
}

#[test]
fn hostile_18_one_token_from_two_addresses() {
    let (mut host, mut witness, make, key) = token_host();
    let token = make(9, 20_000, "192.0.2.1:4433").seal(&key, 3).unwrap();
    let (one, two) = (Raw::new(&host), Raw::new(&host));
    let all = [&one, &two].map(|raw| raw.say(&credentials(&token)).0);
    witness.until(&mut host, "one is refused", |host| {
        host.net.stats().refused_logins == 1 && host.server.held() == 2
    });
    witness.until(&mut host, "it hears of it", |_| {
        all.iter().any(|connection| code(connection).is_some())
    });
    let refused = all.iter().filter(|connection| code(connection).is_some());
    assert_eq!(refused.count(), 1);
    witness.notices_nothing(&mut host);
}

/// Connection attempts of row 19, from one address and from many: 10,000 of each.
const MANY: usize = 10_000;

/// Returns so many first packets of clients, each of another connection.
fn first_packets(raw: &Raw, count: usize) -> Vec<Vec<u8>> {
    let trap = UdpSocket::bind("127.0.0.1:0").unwrap();
    trap.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let at = trap.local_addr().unwrap();
    let mut packets: Vec<Vec<u8>> = Vec::new();
    let mut known = BTreeSet::new();
    let mut buffer = [0; 2_048];
    let _entered = raw.runtime.enter();
    while packets.len() < count {
        let config = raw.config.clone();
        let attempt = raw.endpoint.connect_with(config, at, "localhost").unwrap();
        loop {
            let (len, _) = trap.recv_from(&mut buffer).unwrap();
            let packet = &buffer[..len];
            // The connection that a first packet wants: a length and as many bytes. Those that got
            // no answer come again, and those that are given up say so.
            if known.insert(packet[6..6 + usize::from(packet[5])].to_vec()) {
                packets.push(packet.to_vec());
                break;
            }
        }
        drop(attempt);
    }
    packets
}

/// Sends first packets, some at a time: no faster than the system's own buffer holds them. Returns how
/// many connections there were at most.
fn flood(
    host: &mut Host,
    witness: &mut Witness,
    packets: &[Vec<u8>],
    mut socket: impl FnMut(usize) -> UdpSocket,
) -> u32 {
    let to = host.net.local_addr();
    let mut most = 0;
    for (n, packet) in packets.iter().enumerate() {
        socket(n).send_to(packet, to).unwrap();
        if n % 20 == 0 {
            quic_common::step(host, &mut [&mut witness.guest]);
        }
        most = most.max(host.net.connections().0);
    }
    let guests = &mut [&mut witness.guest];
    pass(host, guests, Duration::from_millis(200));
    most.max(host.net.connections().0)
}

#[test]
fn hostile_19_half_handshakes_from_one_address() {
    let mut host = Host::with(quick(), OpenLogin);
    let packets = first_packets(&Raw::new(&host), MANY);
    let mut witness = Witness::new(&mut host);
    let socket = UdpSocket::bind("127.0.0.3:0").unwrap();
    let most = flood(&mut host, &mut witness, &packets, |_| {
        socket.try_clone().unwrap()
    });
    assert!(
        most <= 1 + 2,
        "two half handshakes of an address, and no more: {most}"
    );
    // Some may be lost on their way; each of the others was asked to prove its address.
    let retried = usize::try_from(host.net.stats().retried).unwrap();
    assert!(retried >= MANY / 2, "{:?}", host.net.stats());
    witness.notices_nothing(&mut host);
    witness.until(&mut host, "they are given up", |host| {
        host.net.connections() == (1, 0)
    });
}

#[test]
fn hostile_19_half_handshakes_from_many_addresses() {
    let mut options = quick();
    options.transport.connections = 200;
    let mut host = Host::with(options, OpenLogin);
    let packets = first_packets(&Raw::new(&host), MANY);
    let mut witness = Witness::new(&mut host);
    let most = flood(&mut host, &mut witness, &packets, |n| {
        UdpSocket::bind(format!("127.1.{}.{}:0", n / 250, 1 + n % 250)).unwrap()
    });
    // 12 % of 200, and then one that was let in at the limit.
    assert!(most <= 1 + 25, "{most} connections");
    assert!(host.net.stats().retried > 0, "{:?}", host.net.stats());
    witness.notices_nothing(&mut host);
    witness.until(&mut host, "they are given up", |host| {
        host.net.connections() == (1, 0)
    });
}

#[test]
fn hostile_20_first_packets_from_forged_addresses() {
    let mut options = quick();
    options.transport.connections = 100;
    let mut host = Host::with(options, OpenLogin);
    let mut witness = Witness::new(&mut host);
    let raw = Raw::new(&host);
    let (mut sent, mut back) = (0, 0);
    let mut sockets = Vec::new();
    for (n, packet) in first_packets(&raw, 60).iter().enumerate() {
        let socket = UdpSocket::bind(format!("127.0.1.{}:0", n + 1)).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket.send_to(packet, host.net.local_addr()).unwrap();
        sent += packet.len();
        std::thread::sleep(Duration::from_millis(1));
        sockets.push(socket);
    }
    pass(
        &mut host,
        &mut [&mut witness.guest],
        Duration::from_millis(400),
    );
    // The witness is in; 13 % of 100 may shake hands before addresses must be proven.
    let handshaking = host.net.connections().1;
    assert!(handshaking <= 13, "{handshaking} shake hands");
    assert!(host.net.stats().retried >= 40, "{:?}", host.net.stats());
    let mut buffer = [0; 2_048];
    for socket in &sockets {
        while let Ok(len) = socket.recv(&mut buffer) {
            back += len;
        }
    }
    assert!(back <= 3 * sent, "{back} bytes for {sent}");
    witness.notices_nothing(&mut host);
}

#[test]
fn hostile_21_streams_without_end() {
    let mut host = Host::with(quick(), OpenLogin);
    let mut witness = Witness::new(&mut host);
    let raw = Raw::new(&host);
    let (connection, mut send, mut recv) = raw.say(&credentials(&[]));
    raw.runtime.block_on(async {
        let wait = Duration::from_millis(100);
        assert!(
            tokio::time::timeout(wait, connection.open_bi())
                .await
                .is_err(),
            "one is enough"
        );
        assert!(
            tokio::time::timeout(wait, connection.open_uni())
                .await
                .is_err(),
            "none of these"
        );
        // A storm of resets: the one stream is gone, and no credit comes for another.
        let _ = send.reset(VarInt::from_u32(1));
        let _ = recv.stop(VarInt::from_u32(1));
    });
    witness.until(&mut host, "it is closed", |_| {
        connection.close_reason().is_some()
    });
    witness.notices_nothing(&mut host);
}

/// Returns what a client is told that keeps tickets, and sends early data where it may.
fn eager(server: &Connection) -> ClientConfig {
    let shown = server.peer_identity().unwrap();
    let shown = shown.downcast::<Vec<CertificateDer<'static>>>().unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(shown[0].clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"nebula/1/test/1".to_vec()];
    tls.enable_early_data = true;
    ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()))
}

#[test]
fn hostile_21_early_data_that_could_be_replayed() {
    let mut host = Host::with(quick(), OpenLogin);
    let mut witness = Witness::new(&mut host);
    let mut raw = Raw::new(&host);
    raw.config = eager(&raw.connect().unwrap());
    // A ticket would come right behind the handshake.
    let first = raw.connect().unwrap();
    let guests = &mut [&mut witness.guest];
    pass(&mut host, guests, Duration::from_millis(200));
    first.close(VarInt::from_u32(0), b"bye");
    let again = {
        let _entered = raw.runtime.enter();
        let config = raw.config.clone();
        let again = raw.endpoint.connect_with(config, raw.server, "localhost");
        again.unwrap().into_0rtt()
    };
    let Err(again) = again else {
        panic!("early data is sent");
    };
    assert!(raw.runtime.block_on(again).is_ok(), "a whole handshake is");
    witness.notices_nothing(&mut host);
}

#[test]
fn hostile_22_datagrams_too_many_and_too_long() {
    let mut host = Host::with(quick(), OpenLogin);
    let mut witness = Witness::new(&mut host);
    let raw = Raw::new(&host);
    let (connection, _send, _recv) = raw.say(&credentials(&[]));
    let longest = connection.max_datagram_size().unwrap();
    assert!(
        connection
            .send_datagram(vec![0; longest + 1].into())
            .is_err()
    );
    let flood = connection.clone();
    let flood = raw.runtime.spawn(async move {
        for n in 0..100_000_usize {
            // Empty ones count like any other.
            if flood
                .send_datagram_wait(vec![0; n % 2].into())
                .await
                .is_err()
            {
                break;
            }
        }
    });
    witness.until(&mut host, "it is dropped", |_| code(&connection).is_some());
    assert_eq!(code(&connection), Some(u64::from(close_code::FLOOD)));
    assert_eq!(host.net.stats().floods, 1);
    flood.abort();
    witness.notices_nothing(&mut host);
}

#[test]
fn hostile_23_an_address_that_changes_with_every_packet() {
    let mut host = Host::with(quick(), OpenLogin);
    let mut witness = Witness::new(&mut host);
    let mut mover = Guest::new(&host, 2);
    join(&mut host, &mut [&mut witness.guest, &mut mover]);
    let id = ClientId::new(2);
    let address = host.net.address_of(id).unwrap();
    for _ in 0..50 {
        mover.link.change_network().unwrap();
        quic_common::step(&mut host, &mut [&mut witness.guest, &mut mover]);
        assert!(
            host.net.address_of(id).is_none_or(|now| now == address),
            "it does not follow"
        );
    }
    witness.notices_nothing(&mut host);
    witness.until(&mut host, "the link is given up", |host| {
        host.net.connections() == (1, 0)
    });
}

#[test]
fn hostile_19_connections_that_say_nothing() {
    let mut options = quick();
    options.transport.per_address = 8;
    let mut host = Host::with(options, OpenLogin);
    let mut witness = Witness::new(&mut host);
    let raw = Raw::new(&host);
    let mut open = Vec::new();
    let mut refused = 0;
    for _ in 0..30 {
        match raw.connect() {
            Ok(connection) => open.push(connection),
            Err(_) => refused += 1,
        }
    }
    assert!(
        host.net.connections().0 <= 1 + 8,
        "{:?}",
        host.net.connections()
    );
    open.retain(|connection| connection.close_reason().is_none());
    assert!(open.len() <= 8, "{} are open", open.len());
    assert!(refused > 0 || host.net.stats().refused_address > 0);
    witness.notices_nothing(&mut host);
    witness.until(&mut host, "they are given up", |host| {
        host.net.connections() == (1, 0)
    });
    let all_closed = |_: &mut Host| {
        open.iter()
            .all(|connection| connection.close_reason().is_some())
    };
    witness.until(&mut host, "they are told", all_closed);
}

#[test]
fn hostile_41_handshakes_that_are_closed_at_once() {
    let mut options = quick();
    options.transport.connects_per_second = 4;
    let mut host = Host::with(options, OpenLogin);
    let mut witness = Witness::new(&mut host);
    // It wants another certificate, so it goes as soon as the server has signed.
    let raw = Raw::with(&QuicClientSettings {
        trust: Trust::Pinned(Host::new().net.fingerprint()),
        ..settings(&host, Vec::new())
    });
    let (start, attempts) = (Instant::now(), 600);
    for n in 0..attempts {
        raw.connect().unwrap_err();
        if n % 20 == 0 {
            quic_common::step(&mut host, &mut [&mut witness.guest]);
        }
    }
    witness.until(&mut host, "nothing is left", |host| {
        host.net.connections() == (1, 0)
    });
    // Two at once and four a second without a proof of the address, sixteen and four with it.
    let allowed = 2 + 16 + (4 + 4) * (start.elapsed().as_secs() + 1);
    let stats = host.net.stats();
    assert!(stats.failed_handshakes <= allowed, "{stats:?}");
    let others = attempts - stats.failed_handshakes - stats.slow_handshakes;
    assert!(stats.retried >= others, "all others must prove: {stats:?}");
    assert!(
        stats.refused_address >= others,
        "and are too fast: {stats:?}"
    );
    witness.notices_nothing(&mut host);
}
