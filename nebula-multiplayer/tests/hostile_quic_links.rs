//! Hostile peers on real sockets, after the login: rows 29, 37, 40, 42, 44 and 45 of the hostile
//! input table. In each test a healthy client beside them notices nothing.

mod quic_common;
mod quic_hostile;

use core::net::SocketAddr;
use core::time::Duration;
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Instant;

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;
use nebula_multiplayer::auth::{Login, LoginFuture, OpenLogin, TokenError, TokenLogin};
use nebula_multiplayer::input::MoveIntent;
use nebula_multiplayer::transport::quic::{self, QuicSettings};
use nebula_multiplayer::{
    Client, ClientId, ClientSettings, Identity, Protocol, Server, ServerSettings,
};
use quinn::VarInt;

use quic_common::{Chat, Guest, Host, Options, SPEED_MM_S, join, pass, protocol, until};
use quic_hostile::{Raw, Witness, credentials, quick, token_host, unix_ms};

#[test]
fn hostile_29_a_player_that_wants_to_be_everywhere() {
    let mut host = Host::new();
    let mut witness = Witness::new(&mut host);
    host.starts.insert(2, WorldPosition::new(1 << 90, 0, 0));
    let mut cheat = Guest::new(&host, 2);
    join(&mut host, &mut [&mut witness.guest, &mut cheat]);
    let player = host.player(2);
    let start = Instant::now();
    for number in 0..60 {
        // 2,147 km a second for a minute, in one step; and numbers that repeat or run ahead.
        for number in [number, number / 2, number + 1_000_000] {
            let wish = MoveIntent {
                number,
                velocity_mm_s: [i32::MIN, i32::MAX, 0],
                millis: u16::MAX,
            };
            // Its own queue may be full, as an honest client's may.
            let _ = cheat.client.send(&wish);
        }
        quic_common::step(&mut host, &mut [&mut witness.guest, &mut cheat]);
    }
    pass(
        &mut host,
        &mut [&mut witness.guest, &mut cheat],
        Duration::from_millis(100),
    );
    let at = *host.world.get::<WorldPosition>(player).unwrap();
    let moved = at.x.abs_diff(1 << 90).max(at.y.unsigned_abs());
    assert!(moved > 0, "what is allowed is granted");
    // As far as it could have come in that time, and half a second that it may save up.
    let allowed = u128::from(SPEED_MM_S) * (start.elapsed().as_millis() + 500) / 1_000;
    assert!(moved <= allowed, "{moved} mm, with {allowed} allowed");
    assert!(
        host.moves.limited > 0 && host.moves.refused >= 60,
        "{:?}",
        host.moves
    );
    // Where it is and what it sees is the server's affair; there is no message for either.
    assert_eq!(cheat.healths(), [100]);
    witness.notices_nothing(&mut host);
}

#[test]
fn hostile_37_a_client_that_reads_nothing_over_a_socket() {
    let mut options = Options::default();
    options.limits.stall_resync = Duration::from_millis(300);
    options.limits.stall_drop = Duration::from_millis(900);
    let mut host = Host::with(options, OpenLogin);
    let mut witness = Witness::new(&mut host);
    let mut deaf = Guest::new(&host, 2);
    join(&mut host, &mut [&mut witness.guest, &mut deaf]);
    let id = ClientId::new(2);
    let chat = Chat("x".repeat(4_000));
    let start = Instant::now();
    witness.until(&mut host, "it is dropped", |host| {
        // It goes on sending, and never looks at what arrives.
        let now = deaf.link.now();
        deaf.client.tick(&mut deaf.mirror, now);
        deaf.link.flush(&mut deaf.client);
        // Full after a while, which is an error and not a longer queue.
        let _ = host.server.send(id, &chat);
        host.server.stats(id).is_none()
    });
    assert!(start.elapsed() < Duration::from_secs(4));
    assert_eq!(host.net.stats().slow_readers, 1);
    assert!(
        host.longest < Duration::from_millis(500),
        "a step took {:?}",
        host.longest
    );
    witness.notices_nothing(&mut host);
}

#[test]
fn hostile_37_a_client_that_takes_no_last_words_loses_its_place() {
    let mut host = Host::new();
    let mut witness = Witness::new(&mut host);
    let mut raw = Raw::new(&host);
    // It gives the server's stream no room at all, and stays awake.
    let mut transport = quinn::TransportConfig::default();
    transport
        .stream_receive_window(0_u32.into())
        .keep_alive_interval(Some(Duration::from_millis(200)));
    raw.config.transport_config(Arc::new(transport));
    let mut first = credentials(&OpenLogin::account(2));
    let mut stranger =
        Client::new(Protocol::new("another game", 9), ClientSettings::default()).unwrap();
    stranger.connect(Duration::ZERO);
    assert!(stranger.transmit_stream(4_096, &mut first));
    let (connection, _send, _recv) = raw.say(&first);
    witness.until(&mut host, "it is there", |host| {
        host.net.connections().0 == 2
    });
    let start = Instant::now();
    witness.until(&mut host, "its place is free", |host| {
        host.net.connections().0 == 1
    });
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(connection.close_reason().is_some());
    witness.notices_nothing(&mut host);
}

#[test]
fn hostile_40_connections_that_end_in_each_state_leave_nothing() {
    let mut options = quick();
    options.limits.idle_timeout = Duration::from_millis(1_500);
    options.limits.keep_alive = Duration::from_millis(100);
    options.limits.resume_window = Duration::from_millis(100);
    let mut host = Host::with(options, OpenLogin);
    let mut witness = Witness::new(&mut host);
    let mut hello = credentials(&[]);
    hello.extend([40, 0, 0, 0, 1, b'N']);
    for first in [&b""[..], &[5], &[2, 0, 1], &credentials(&[]), &hello] {
        for silent in [false, true] {
            let raw = Raw::new(&host);
            let (connection, send, recv) = raw.say(first);
            pass(
                &mut host,
                &mut [&mut witness.guest],
                Duration::from_millis(30),
            );
            if silent {
                let _entered = raw.runtime.enter();
                let nowhere = UdpSocket::bind("127.0.0.2:0").unwrap();
                raw.endpoint.rebind(nowhere).unwrap();
            } else {
                connection.close(VarInt::from_u32(0), b"bye");
            }
            drop((send, recv, connection, raw));
            keep_alive(&mut host, &mut witness);
        }
    }
    // In the middle of a burst of spawns, with a link that dies and one that is closed.
    for silent in [false, true] {
        let mut guest = Guest::new(&host, 2);
        join(&mut host, &mut [&mut witness.guest, &mut guest]);
        let things: Vec<Entity> = (0..2_000).map(|n| host.spawn(-n, 3)).collect();
        quic_common::step(&mut host, &mut [&mut witness.guest, &mut guest]);
        if silent {
            guest.link.change_network().unwrap();
        }
        drop(guest);
        for thing in things {
            host.world.despawn(thing);
        }
    }
    witness.until(&mut host, "nothing is left", |host| {
        host.net.connections() == (1, 0) && host.server.held() == 1
    });
    assert_eq!(host.net.stats().panics, 0);
    witness.notices_nothing(&mut host);
}

fn keep_alive(host: &mut Host, witness: &mut Witness) {
    pass(host, &mut [&mut witness.guest], Duration::from_millis(20));
}

#[test]
fn hostile_42_a_second_link_of_a_live_account() {
    let mut host = Host::new();
    let mut witness = Witness::new(&mut host);
    let mut first = Guest::new(&host, 2);
    join(&mut host, &mut [&mut witness.guest, &mut first]);
    let mut second = Guest::new(&host, 2);
    join(
        &mut host,
        &mut [&mut witness.guest, &mut first, &mut second],
    );
    let guests = &mut [&mut witness.guest, &mut first, &mut second];
    until(&mut host, guests, "the first is told", |_, guests| {
        guests[1].is_down()
    });
    assert_eq!(
        first.error(),
        "the server closed the link: the same account came over a newer link (code 33)"
    );
    assert_eq!(
        (host.server.held(), host.players.len()),
        (2, 2),
        "one entity each"
    );
    assert_eq!(host.net.stats().replaced, 1);
    witness.notices_nothing(&mut host);
}

#[test]
fn hostile_44_a_port_that_is_taken() {
    let mut host = Host::new();
    let mut witness = Witness::new(&mut host);
    let server = Server::new(protocol(), ServerSettings::default()).unwrap();
    let listen = host.net.local_addr();
    let settings = QuicSettings {
        listen,
        ..QuicSettings::default()
    };
    let error = quic::serve(&server, &settings, OpenLogin).unwrap_err();
    assert!(
        error.to_string().contains("is in use by another program"),
        "{error}"
    );
    witness.notices_nothing(&mut host);
}

#[test]
fn hostile_45_an_end_under_load_and_clocks_that_jump() {
    let (mut host, mut witness, make, key) = token_host();
    // The wall clock judges tokens only; sessions do not see it.
    let token = make(5, 20_000, "192.0.2.1:4433").seal(&key, 3).unwrap();
    let login = TokenLogin::new(key, 3, vec!["192.0.2.1:4433".parse().unwrap()]);
    let hour = 3_600_000;
    assert_eq!(
        login.check_at(&token, unix_ms() + hour),
        Err(TokenError::Expired)
    );
    assert_eq!(
        login.check_at(&token, unix_ms() - hour),
        Err(TokenError::Expired)
    );
    assert_eq!(login.check_at(&token, unix_ms()), Ok(5));
    // Time that is handed in and runs backwards stands still.
    host.net.pump(&mut host.server, Duration::ZERO);
    witness.notices_nothing(&mut host);

    for n in 0..500 {
        host.spawn(-n, 3);
    }
    quic_common::step(&mut host, &mut [&mut witness.guest]);
    let Host {
        net, mut server, ..
    } = host;
    let start = Instant::now();
    net.shutdown(&mut server, "over and out");
    assert!(start.elapsed() < Duration::from_secs(2));
    let patience = Instant::now();
    while !witness.guest.is_down() && patience.elapsed() < quic_common::PATIENCE {
        witness.guest.step();
    }
    assert_eq!(
        witness.guest.error(),
        "the server closed the link: over and out (code 32)"
    );
}

/// Lets everyone in, but panics at a word.
#[derive(Debug)]
struct Fragile;

impl Login for Fragile {
    fn check<'a>(&'a self, credentials: &'a [u8], _from: SocketAddr) -> LoginFuture<'a> {
        assert!(credentials != b"boom", "a bug in somebody's login");
        Box::pin(core::future::ready(Ok(Identity::Account(1))))
    }
}

#[test]
fn a_panic_in_a_login_ends_one_connection() {
    let mut host = Host::with(quick(), Fragile);
    let mut witness = Witness::shown(&mut host, Vec::new());
    let raw = Raw::new(&host);
    let (connection, _send, _recv) = raw.say(&credentials(b"boom"));
    witness.until(&mut host, "it ends", |host| {
        connection.close_reason().is_some() && host.net.stats().panics == 1
    });
    witness.notices_nothing(&mut host);
    witness.until(&mut host, "its place is free", |host| {
        host.net.connections() == (1, 0)
    });
}

#[test]
fn a_panic_in_the_task_of_a_link_ends_that_client_only() {
    let mut host = Host::new();
    let mut witness = Witness::new(&mut host);
    let mut unlucky = Guest::new(&host, 2);
    join(&mut host, &mut [&mut witness.guest, &mut unlucky]);
    assert!(host.net.break_link_for_tests(ClientId::new(2)));
    assert!(!host.net.break_link_for_tests(ClientId::new(3)));
    let guests = &mut [&mut witness.guest, &mut unlucky];
    until(&mut host, guests, "it is told", |_, guests| {
        guests[1].is_down()
    });
    assert_eq!(
        unlucky.error(),
        "the server closed the link: our own fault (code 39)"
    );
    witness.until(&mut host, "its place is free", |host| {
        host.net.connections() == (1, 0) && host.net.stats().panics == 1
    });
    witness.notices_nothing(&mut host);
    // It may come back, and goes on where it was.
    unlucky.link.reconnect();
    let guests = &mut [&mut witness.guest, &mut unlucky];
    until(&mut host, guests, "it is back", |_, guests| {
        guests[1].client.is_connected()
    });
    assert_eq!(host.last_connected(2), Some(true));
    witness.notices_nothing(&mut host);
}
