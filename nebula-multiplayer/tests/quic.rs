//! Servers and clients over real sockets.

#![cfg(feature = "quic")]

mod quic_common;

use core::time::Duration;
use std::net::UdpSocket;

use bevy_ecs::world::World;
use nebula_math::WorldPosition;
use nebula_multiplayer::auth::{ConnectToken, OpenLogin, TokenKey, TokenLogin};
use nebula_multiplayer::input::MoveIntent;
use nebula_multiplayer::interest::InterestArea;
use nebula_multiplayer::transport::quic::{
    self, CertificateSource, LinkError, LinkState, QuicClient, QuicClientSettings, QuicServer,
    QuicSettings, Stop, Trust,
};
use nebula_multiplayer::{Client, ClientId, ClientSettings, Protocol, Server, ServerSettings};

use quic_common::{Guest, Health, Host, Options, join, pass, protocol, settings, step, until};

#[track_caller]
fn appears_changes_and_goes(listen: &'static str) {
    let options = Options {
        listen,
        ..Options::default()
    };
    let mut host = Host::with(options, OpenLogin);
    let mut guest = Guest::new(&host, 1);
    join(&mut host, &mut [&mut guest]);
    let near = host.spawn(-400_000, 7);
    host.spawn(12_742_000_000, 1);
    until(&mut host, &mut [&mut guest], "it appears", |_, guests| {
        guests[0].healths() == [7, 100]
    });
    host.world.get_mut::<Health>(near).unwrap().0 = 8;
    until(&mut host, &mut [&mut guest], "it changes", |_, guests| {
        guests[0].healths() == [8, 100]
    });
    host.world.despawn(near);
    until(&mut host, &mut [&mut guest], "it goes", |_, guests| {
        guests[0].healths() == [100]
    });
}

#[test]
fn entities_appear_change_and_go_over_ipv4() {
    appears_changes_and_goes("127.0.0.1:0");
}

#[test]
fn entities_appear_change_and_go_over_ipv6() {
    appears_changes_and_goes("[::1]:0");
}

#[test]
fn a_radius_that_changes_live_changes_what_is_seen() {
    let mut host = Host::new();
    let mut guest = Guest::new(&host, 1);
    join(&mut host, &mut [&mut guest]);
    host.spawn(-400_001, 4);
    host.spawn(-900_000, 9);
    until(&mut host, &mut [&mut guest], "500 m", |_, guests| {
        guests[0].healths() == [4, 100]
    });
    for (radius, seen) in [
        (1_000.0, &[4, 9, 100][..]),
        (100.0, &[100]),
        (500.0, &[4, 100]),
    ] {
        let area = InterestArea::new(radius).unwrap();
        host.server.set_area(ClientId::new(1), Some(area)).unwrap();
        until(&mut host, &mut [&mut guest], "the radius", |_, guests| {
            guests[0].healths() == seen
        });
    }
}

#[test]
fn a_far_client_gets_no_byte_of_state_while_others_are_busy() {
    let mut host = Host::new();
    host.starts.insert(2, WorldPosition::new(1 << 100, 0, 0));
    let (mut near, mut far) = (Guest::new(&host, 1), Guest::new(&host, 2));
    join(&mut host, &mut [&mut near, &mut far]);
    let things: Vec<_> = (0..50).map(|n| host.spawn(-1_000 * n, 5)).collect();
    pass(
        &mut host,
        &mut [&mut near, &mut far],
        Duration::from_millis(300),
    );
    let (busy, quiet) = (host.state_bytes(1), host.state_bytes(2));
    for round in 0..60 {
        for thing in &things {
            host.world.get_mut::<Health>(*thing).unwrap().0 = 6 + round;
        }
        step(&mut host, &mut [&mut near, &mut far]);
    }
    assert_eq!(host.state_bytes(2), quiet, "not one byte");
    assert!(host.state_bytes(1) > busy + 1_000, "the other was told");
    assert_eq!(far.healths(), [100]);
}

#[test]
fn a_session_resumes_over_a_new_link() {
    let mut host = Host::new();
    let mut guest = Guest::new(&host, 1);
    join(&mut host, &mut [&mut guest]);
    let things: Vec<_> = (0..200_u16)
        .map(|n| host.spawn(-i128::from(n), n))
        .collect();
    until(&mut host, &mut [&mut guest], "all appear", |_, guests| {
        guests[0].client.mirrored() == 201
    });
    pass(&mut host, &mut [&mut guest], Duration::from_millis(200));
    let before = host.state_bytes(1);
    guest.link.change_network().unwrap();
    host.world.get_mut::<Health>(things[3]).unwrap().0 = 999;
    guest.link.reconnect();
    until(&mut host, &mut [&mut guest], "it is back", |_, guests| {
        guests[0].client.is_connected() && guests[0].healths().contains(&999)
    });
    assert_eq!(host.last_connected(1), Some(true), "resumed");
    let sent = host.state_bytes(1) - before;
    assert!(
        sent < 500,
        "{sent} bytes for one change, not for 200 entities"
    );
    assert_eq!(host.server.held(), 1);
}

#[test]
fn a_client_that_was_killed_joins_anew() {
    let mut host = Host::new();
    let mut guest = Guest::new(&host, 1);
    join(&mut host, &mut [&mut guest]);
    host.spawn(-5, 7);
    until(&mut host, &mut [&mut guest], "it appears", |_, guests| {
        guests[0].healths() == [7, 100]
    });
    // Nothing that it says while dying gets out.
    guest.link.change_network().unwrap();
    drop(guest);
    let mut again = Guest::new(&host, 1);
    join(&mut host, &mut [&mut again]);
    until(&mut host, &mut [&mut again], "all is back", |_, guests| {
        guests[0].healths() == [7, 100]
    });
    assert_eq!(host.last_connected(1), Some(false), "with full state");
    assert_eq!(again.client.id(), Some(ClientId::new(1)), "the same client");
    assert_eq!((host.server.held(), host.players.len()), (1, 1));
}

#[test]
fn whoever_leaves_and_is_gone_at_once_is_not_waited_for() {
    let mut host = Host::new();
    let mut guests: Vec<_> = (1..=6).map(|who| Guest::new(&host, who)).collect();
    join(&mut host, &mut guests.iter_mut().collect::<Vec<_>>());
    for mut guest in guests {
        Stop::default().on_client_signals(&guest.link).unwrap();
        guest.link.leave(&mut guest.client);
    }
    let start = std::time::Instant::now();
    until(&mut host, &mut [], "all are gone", |host, _| {
        host.server.held() == 0
    });
    // A client that did not say goodbye is kept for ten seconds at least.
    assert!(start.elapsed() < Duration::from_secs(5), "they were heard");
}

#[test]
fn clients_come_back_to_a_server_that_was_restarted() {
    let mut host = Host::new();
    let address = host.net.local_addr();
    let mut guest = Guest::with(QuicClientSettings {
        trust: Trust::Unverified,
        ..settings(&host, OpenLogin::account(1))
    });
    join(&mut host, &mut [&mut guest]);
    host.spawn(-5, 7);
    until(&mut host, &mut [&mut guest], "it appears", |_, guests| {
        guests[0].healths() == [7, 100]
    });
    let Host {
        net, mut server, ..
    } = host;
    QuicServer::shutdown(net, &mut server, "maintenance");
    assert_eq!(
        lost(&mut guest),
        "the server closed the link: maintenance (code 32)"
    );
    let LinkState::Down(error) = guest.link.state() else {
        panic!("it is down");
    };
    assert!(!error.is_final());

    let listen = Box::leak(address.to_string().into_boxed_str());
    let options = Options {
        listen,
        ..Options::default()
    };
    let mut host = Host::with(options, OpenLogin);
    host.spawn(-5, 8);
    guest.link.reconnect();
    until(&mut host, &mut [&mut guest], "it is back", |_, guests| {
        guests[0].healths() == [8, 100]
    });
    assert_eq!(host.last_connected(1), Some(false));
}

/// Steps a client without its server until its link is down; returns why.
fn lost(guest: &mut Guest) -> String {
    while !guest.is_down() {
        guest.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    guest.error()
}

#[test]
fn clients_of_a_server_that_is_dropped_are_told() {
    let mut options = Options::default();
    options.transport.per_address = 100;
    let mut host = Host::with(options, OpenLogin);
    let runtime = one_thread();
    // So many that a server which does not wait gets no word out to the last of them.
    let mut guests: Vec<_> = (1..=100)
        .map(|who| {
            let settings = settings(&host, OpenLogin::account(who));
            Guest::over(QuicClient::connect_on(runtime.handle(), &protocol(), &settings).unwrap())
        })
        .collect();
    join(&mut host, &mut guests.iter_mut().collect::<Vec<_>>());
    drop(host);
    // Otherwise they would wait for twelve seconds, and then know of a silence only.
    for mut guest in guests {
        assert_eq!(
            lost(&mut guest),
            "the server closed the link: the server ends (code 32)"
        );
    }
}

/// A runtime for clients to share.
fn one_thread() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().unwrap()
}

/// Steps a client until its link is down; returns why.
#[track_caller]
fn refused(host: &mut Host, settings: QuicClientSettings) -> LinkError {
    let mut guest = Guest::with(settings);
    until(host, &mut [&mut guest], "it is refused", |_, guests| {
        guests[0].is_down()
    });
    match guest.link.state() {
        LinkState::Down(error) => error.clone(),
        state => panic!("{state:?}"),
    }
}

#[test]
fn another_certificate_than_the_pinned_one_is_refused() {
    let (mut host, other) = (Host::new(), Host::new());
    let wrong = QuicClientSettings {
        trust: Trust::Pinned(other.net.fingerprint()),
        ..settings(&host, Vec::new())
    };
    let error = refused(&mut host, wrong);
    assert!(matches!(error, LinkError::Certificate(_)), "{error}");
    let text = error.to_string();
    let (shown, expected) = (host.net.fingerprint(), other.net.fingerprint());
    assert!(
        text.contains(&format!(
            "its fingerprint is {shown}, and {expected} was expected"
        )),
        "{text}"
    );
    assert_eq!(host.server.held(), 0);
}

#[test]
fn certificates_come_from_files_and_are_checked_against_roots() {
    let folder = std::env::temp_dir().join(format!("nebula-quic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let made = rcgen::generate_simple_self_signed(["game.example".to_owned()]).unwrap();
    let (chain, key) = (folder.join("chain.pem"), folder.join("key.pem"));
    std::fs::write(&chain, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();

    let server = Server::new(protocol(), ServerSettings::default()).unwrap();
    let files = |chain: &std::path::Path| QuicSettings {
        listen: "127.0.0.1:0".parse().unwrap(),
        certificate: CertificateSource::Files {
            chain: chain.to_owned(),
            key: key.clone(),
        },
        ..QuicSettings::default()
    };
    let net = quic::serve(&server, &files(&chain), OpenLogin).unwrap();
    let mut host = Host::new();
    (host.server, host.net) = (server, net);
    let good = QuicClientSettings {
        name: "game.example".to_owned(),
        trust: Trust::Roots(chain.clone()),
        ..settings(&host, OpenLogin::account(1))
    };
    let mut guest = Guest::with(good.clone());
    join(&mut host, &mut [&mut guest]);
    let named = QuicClientSettings {
        name: "other.example".to_owned(),
        ..good.clone()
    };
    let error = refused(&mut host, named);
    assert!(matches!(error, LinkError::Certificate(_)), "{error}");

    let missing = folder.join("missing.pem");
    let server = Server::new(protocol(), ServerSettings::default()).unwrap();
    let error = quic::serve(&server, &files(&missing), OpenLogin).unwrap_err();
    assert!(error.to_string().contains("missing.pem"), "{error}");
    let roots = QuicClientSettings {
        trust: Trust::Roots(missing),
        ..good
    };
    let error = quic::connect(&protocol(), &roots).unwrap_err();
    assert!(
        error.to_string().contains("cannot read root certificates"),
        "{error}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn nobody_connects_unverified_to_another_machine() {
    let elsewhere = "192.0.2.1:4433".parse().unwrap();
    let settings = QuicClientSettings::new(elsewhere, Trust::Unverified);
    let error = quic::connect(&protocol(), &settings).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("192.0.2.1:4433 is not on this machine"),
        "{error}"
    );
}

#[test]
fn a_port_in_use_is_named() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap();
    let server = Server::new(protocol(), ServerSettings::default()).unwrap();
    let settings = QuicSettings {
        listen,
        ..QuicSettings::default()
    };
    let error = quic::serve(&server, &settings, OpenLogin).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "UDP address {listen} is in use by another program; stop it, or choose another port"
        )
    );
}

#[test]
fn another_version_of_the_protocol_is_refused_before_anything_is_said() {
    let mut host = Host::new();
    let newer = Protocol::new("test", 2);
    let mut link = quic::connect(&newer, &settings(&host, Vec::new())).unwrap();
    let mut client = Client::new(newer, ClientSettings::default()).unwrap();
    until(&mut host, &mut [], "it is refused", |_, _| {
        link.pump(&mut client, link.now());
        matches!(link.state(), LinkState::Down(_))
    });
    let LinkState::Down(error) = link.state() else {
        panic!("it is down");
    };
    assert_eq!(
        error.to_string(),
        "the server does not speak our protocol and version, \"nebula/1/test/2\""
    );
}

#[test]
fn a_connect_token_says_who_a_client_is() {
    let key = TokenKey::generate().unwrap();
    let public = "192.0.2.1:4433".parse().unwrap();
    let login = TokenLogin::new(key.clone(), 3, vec![public]);
    let mut host = Host::with(Options::default(), login);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let token = ConnectToken {
        client: 42,
        expires_ms: u64::try_from(now.unwrap().as_millis()).unwrap() + 25_000,
        servers: vec![public],
    };
    let [first, second] = [(); 2].map(|()| token.seal(&key, 3).unwrap());
    let mut guest = Guest::shown(&host, first);
    join(&mut host, &mut [&mut guest]);
    assert_eq!(guest.client.id(), Some(ClientId::new(42)));

    // It is good once, so whoever comes back needs another.
    guest.link.change_network().unwrap();
    guest.link.set_credentials(second);
    guest.link.reconnect();
    until(&mut host, &mut [&mut guest], "it is back", |host, _| {
        host.last_connected(42) == Some(true)
    });
    guest.link.change_network().unwrap();
    guest.link.reconnect();
    until(
        &mut host,
        &mut [&mut guest],
        "it is refused",
        |_, guests| guests[0].is_down(),
    );
    let LinkState::Down(error) = guest.link.state() else {
        panic!("it is down");
    };
    assert!(error.is_final());
    assert_eq!(
        error.to_string(),
        "the server closed the link: login refused (code 34)"
    );
}

#[test]
fn a_wish_to_move_moves_the_player_and_is_echoed() {
    let mut host = Host::new();
    let mut guest = Guest::new(&host, 1);
    join(&mut host, &mut [&mut guest]);
    let wish = MoveIntent {
        number: 41,
        velocity_mm_s: [-3_000, 0, 4_000],
        millis: 100,
    };
    guest.client.send(&wish).unwrap();
    until(
        &mut host,
        &mut [&mut guest],
        "it is granted",
        |_, guests| guests[0].client.last_echo() == Some(41),
    );
    let at = host.world.get::<WorldPosition>(host.player(1));
    assert_eq!(at, Some(&WorldPosition::new(-301, 0, 400)));
    assert_eq!(
        (host.moves.moved, host.moves.limited, host.moves.refused),
        (1, 0, 0)
    );
    until(&mut host, &mut [&mut guest], "it is seen", |_, guests| {
        let own = guests[0].client.own_entity().unwrap();
        guests[0].mirror.get::<WorldPosition>(own) == Some(&WorldPosition::new(-301, 0, 400))
    });
}

#[test]
fn clients_share_a_runtime_and_come_back_with_other_credentials() {
    let mut host = Host::new();
    let runtime = one_thread();
    let first = settings(&host, OpenLogin::account(1));
    let link = QuicClient::connect_on(runtime.handle(), &protocol(), &first).unwrap();
    let mut guest = Guest::over(link);
    join(&mut host, &mut [&mut guest]);
    guest.link.set_credentials(OpenLogin::account(2));
    guest.link.reconnect();
    until(
        &mut host,
        &mut [&mut guest],
        "it is another",
        |_, guests| {
            guests[0].client.is_connected() && guests[0].client.id() == Some(ClientId::new(2))
        },
    );
    assert_eq!(host.last_connected(2), Some(false));
}

#[test]
fn a_client_that_leaves_is_gone_at_once() {
    let mut host = Host::new();
    let mut guest = Guest::new(&host, 1);
    join(&mut host, &mut [&mut guest]);
    guest.link.leave(&mut guest.client);
    until(&mut host, &mut [], "it is gone", |host, _| {
        host.server.held() == 0 && host.net.connections() == (0, 0)
    });
}

#[test]
fn a_kicked_client_learns_why() {
    let mut host = Host::new();
    let mut guest = Guest::new(&host, 1);
    join(&mut host, &mut [&mut guest]);
    let now = host.net.now();
    host.server.kick(ClientId::new(1), "no cheating", now);
    until(&mut host, &mut [&mut guest], "it is out", |_, guests| {
        guests[0].is_down()
    });
    let told = format!("{:?} {}", guest.events, guest.error());
    assert!(told.contains("no cheating"), "{told}");
}

#[test]
fn ticks_that_a_slow_game_leaves_out_are_counted() {
    let fast = ServerSettings {
        tick_rate: 50,
        ..ServerSettings::default()
    };
    let server = Server::new(protocol(), fast).unwrap();
    let settings = QuicSettings {
        listen: "127.0.0.1:0".parse().unwrap(),
        ..QuicSettings::default()
    };
    let net = quic::serve(&server, &settings, OpenLogin).unwrap();
    let stop = Stop::default();
    let report = quic::run(net, server, World::new(), &stop, |turn| {
        // Each is late by half a period, so every other one is lost.
        std::thread::sleep(Duration::from_millis(30));
        if turn.tick >= 19 {
            stop.stop();
        }
    });
    assert_eq!(report.ticks, 20);
    assert!(report.overruns >= 8, "{} left out", report.overruns);
}

#[test]
fn a_session_that_hears_nothing_over_a_link_that_stands_takes_another() {
    let mut host = Host::new();
    let mut guest = Guest::new(&host, 1);
    join(&mut host, &mut [&mut guest]);
    // The server's game stands still; its sockets do not, so QUIC sees nothing wrong.
    let idle = ClientSettings::default().limits.idle_timeout;
    let overdue = guest.link.now() + idle;
    guest.client.tick(&mut guest.mirror, overdue);
    guest.link.pump(&mut guest.client, overdue);
    assert!(matches!(
        guest.link.state(),
        LinkState::Down(LinkError::TimedOut)
    ));
    guest.link.reconnect();
    until(&mut host, &mut [&mut guest], "it is back", |_, guests| {
        guests[0].healths() == [100] && !guests[0].is_down()
    });
}
