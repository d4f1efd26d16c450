//! Sessions from end to end, without a socket: handshake, messages, loss, resume, farewell.

mod common;

use core::time::Duration;

use common::{Chat, Health, Hit, Pair, Steer, protocol};
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::session::{InputVerdict, SendError};
use nebula_multiplayer::{
    Channel, Client, ClientEvent, ClientSettings, Disconnect, Identity, Protocol, Server,
    ServerEvent, ServerSettings,
};

fn chat(text: &str) -> Chat {
    Chat(text.into())
}

#[test]
fn a_client_joins_and_sees_its_own_entity() {
    let mut pair = Pair::connected();
    pair.spawn_player();
    pair.steps(4);
    let own = pair
        .client
        .own_entity()
        .expect("the own entity is mirrored");
    assert_eq!(pair.mirror.get::<Health>(own), Some(&Health(100)));
    let events: Vec<_> = pair.client.events().collect();
    assert!(events.contains(&ClientEvent::Connected {
        client: pair.id,
        resumed: false
    }));
    assert!(events.contains(&ClientEvent::YourEntity(Some(own))));
    assert_eq!(pair.client.id(), Some(pair.id));
}

#[test]
fn messages_of_every_channel_arrive_both_ways() {
    let mut pair = Pair::connected();
    for number in 0..3 {
        pair.client.send(&chat(&format!("up {number}"))).unwrap();
        pair.client.send(&Hit(number)).unwrap();
        pair.client.send(&Steer(number)).unwrap();
        pair.server
            .send(pair.id, &chat(&format!("down {number}")))
            .unwrap();
        pair.server.send(pair.id, &Hit(100 + number)).unwrap();
        pair.server.send(pair.id, &Steer(100 + number)).unwrap();
    }
    pair.steps(2);
    let texts: Vec<_> = pair
        .server
        .messages::<Chat>()
        .map(|(_, chat)| chat.0)
        .collect();
    assert_eq!(texts, ["up 0", "up 1", "up 2"]);
    assert_eq!(
        pair.server
            .messages::<Hit>()
            .map(|(_, hit)| hit.0)
            .collect::<Vec<_>>(),
        [0, 1, 2]
    );
    assert_eq!(
        pair.server.messages::<Steer>().collect::<Vec<_>>(),
        [(pair.id, Steer(2))],
        "only the newest"
    );
    let texts: Vec<_> = pair.client.messages::<Chat>().map(|chat| chat.0).collect();
    assert_eq!(texts, ["down 0", "down 1", "down 2"]);
    assert_eq!(
        pair.client
            .messages::<Hit>()
            .map(|hit| hit.0)
            .collect::<Vec<_>>(),
        [100, 101, 102]
    );
    assert_eq!(
        pair.client.messages::<Steer>().collect::<Vec<_>>(),
        [Steer(102)]
    );
    assert_eq!(pair.server.messages::<Chat>().count(), 0, "taken once");
}

#[test]
fn lost_unordered_messages_arrive_once_and_latest_ones_never_go_back() {
    for seed in 0..20_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut lossy = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % 10 < 6
        };
        let mut pair = Pair::connected();
        let (mut hits, mut steers) = (Vec::new(), Vec::new());
        for number in 0..60 {
            pair.client.send(&Hit(number)).unwrap();
            pair.client.send(&Steer(number)).unwrap();
            let (one, two) = (lossy(), lossy());
            pair.step_with(|_| one, |_| two);
            hits.extend(pair.server.messages::<Hit>().map(|(_, hit)| hit.0));
            steers.extend(pair.server.messages::<Steer>().map(|(_, steer)| steer.0));
        }
        for _ in 0..40 {
            pair.step();
            hits.extend(pair.server.messages::<Hit>().map(|(_, hit)| hit.0));
            steers.extend(pair.server.messages::<Steer>().map(|(_, steer)| steer.0));
        }
        hits.sort_unstable();
        assert_eq!(hits, (0..60).collect::<Vec<_>>(), "seed {seed}: each once");
        assert!(steers.is_sorted_by(|a, b| a < b), "seed {seed}: {steers:?}");
        assert_eq!(
            steers.last(),
            Some(&59),
            "seed {seed}: the last one always arrives"
        );
    }
}

#[test]
fn other_builds_are_refused_with_the_first_difference() {
    let other = Protocol::new("test", 1)
        .replicate::<Health>("health", 2)
        .message::<Chat>("chat", 1, Channel::Ordered)
        .message::<Hit>("hit", 1, Channel::Unordered)
        .message::<Steer>("steer", 1, Channel::Latest);
    let (theirs, ours) = (other.hash(), protocol().hash());
    let mut pair = Pair::new();
    pair.client = Client::new(other, ClientSettings::default()).unwrap();
    pair.client.connect(pair.now);
    pair.steps(3);
    let events: Vec<_> = pair.client.events().collect();
    let [
        ClientEvent::Disconnected {
            reason: Disconnect::Refused(text),
        },
    ] = events.as_slice()
    else {
        panic!("{events:?}");
    };
    assert!(text.contains("component health version 1"), "{text}");
    assert!(
        text.contains(&format!("{ours:016x}")) && text.contains(&format!("{theirs:016x}")),
        "{text}"
    );
    assert_eq!(pair.server.held(), 0, "nothing is kept of it");
    let events: Vec<_> = pair.server.events().collect();
    assert!(
        matches!(
            events.as_slice(),
            [ServerEvent::Disconnected {
                reason: Disconnect::Protocol(_),
                ..
            }]
        ),
        "{events:?}"
    );
}

#[test]
fn a_kick_says_why_and_frees_everything() {
    let mut pair = Pair::connected();
    pair.spawn_player();
    pair.steps(3);
    pair.server.events().count();
    pair.client.events().count();
    pair.server
        .kick(pair.id, "cheating\nis \u{1b}[31mbad", pair.now);
    pair.steps(3);
    let events: Vec<_> = pair.client.events().collect();
    let reason = "cheating\\nis \\u{1b}[31mbad";
    assert_eq!(
        events,
        [ClientEvent::Disconnected {
            reason: Disconnect::Kicked(reason.into())
        }]
    );
    assert_eq!(
        pair.server.events().collect::<Vec<_>>(),
        [ServerEvent::Disconnected {
            client: pair.id,
            reason: Disconnect::Kicked(reason.into())
        }]
    );
    assert_eq!(pair.server.held(), 0);
    assert!(pair.server.interest().set(pair.id).is_none());
}

/// Cuts the link and makes a new one.
fn reconnect(pair: &mut Pair, gap: Duration) {
    pair.server.disconnect(pair.id, pair.now);
    pair.client.link_lost(pair.now);
    pair.now += gap;
    pair.server.tick(&mut pair.world, pair.now);
    assert_eq!(
        pair.server.connect(Identity::Account(7), pair.now),
        Ok(pair.id)
    );
    pair.client.connect(pair.now);
    pair.steps(3);
}

#[test]
fn a_resume_goes_on_where_it_stopped() {
    let mut pair = Pair::connected();
    let player = pair.spawn_player();
    pair.steps(5);
    let own = pair.client.own_entity().unwrap();
    pair.client.events().count();
    // Sent into a link that is already dead, in both directions.
    pair.server.send(pair.id, &chat("kept")).unwrap();
    pair.client.send(&chat("also kept")).unwrap();
    let mut lost = Vec::new();
    pair.server.transmit_stream(pair.id, 7, &mut lost);
    pair.client.transmit_stream(usize::MAX, &mut lost);
    pair.world.get_mut::<Health>(player).unwrap().0 = 42;
    reconnect(&mut pair, Duration::from_secs(5));
    let events: Vec<_> = pair.client.events().collect();
    assert_eq!(
        events,
        [ClientEvent::Connected {
            client: pair.id,
            resumed: true
        }],
        "nothing is spawned again"
    );
    assert_eq!(pair.client.own_entity(), Some(own));
    assert_eq!(pair.mirror.get::<Health>(own), Some(&Health(42)));
    assert_eq!(
        pair.client.messages::<Chat>().collect::<Vec<_>>(),
        [chat("kept")]
    );
    assert_eq!(
        pair.server.messages::<Chat>().collect::<Vec<_>>(),
        [(pair.id, chat("also kept"))]
    );
}

#[test]
fn messages_are_taken_for_one_that_is_back_and_has_not_said_hello() {
    let mut pair = Pair::connected();
    pair.server.disconnect(pair.id, pair.now);
    pair.client.link_lost(pair.now);
    pair.server.send(pair.id, &chat("away")).unwrap();
    let back = pair.server.connect(Identity::Account(7), pair.now);
    assert_eq!(back, Ok(pair.id));
    pair.server.send(pair.id, &chat("at the door")).unwrap();
    pair.server.send(pair.id, &Hit(1)).unwrap();
    pair.client.connect(pair.now);
    pair.steps(3);
    let said: Vec<_> = pair.client.messages::<Chat>().map(|chat| chat.0).collect();
    assert_eq!(said, ["away", "at the door"]);
    assert_eq!(pair.client.messages::<Hit>().collect::<Vec<_>>(), [Hit(1)]);
    // Whoever was never in has no session to keep them for.
    let stranger = pair.server.connect(Identity::Account(8), pair.now).unwrap();
    let refused = pair.server.send(stranger, &Hit(2));
    assert_eq!(refused, Err(SendError::NotConnected));
}

#[test]
fn ordered_messages_that_arrived_are_not_repeated_by_a_resume() {
    let mut pair = Pair::connected();
    for round in 0..4 {
        for number in 0..3 {
            pair.server
                .send(pair.id, &chat(&format!("{round}.{number}")))
                .unwrap();
            pair.client
                .send(&chat(&format!("{round}.{number}")))
                .unwrap();
        }
        pair.steps(round);
        reconnect(&mut pair, Duration::from_millis(10));
    }
    pair.steps(4);
    let expected: Vec<_> = (0..4)
        .flat_map(|round| (0..3).map(move |n| format!("{round}.{n}")))
        .collect();
    assert_eq!(
        pair.client
            .messages::<Chat>()
            .map(|chat| chat.0)
            .collect::<Vec<_>>(),
        expected
    );
    assert_eq!(
        pair.server
            .messages::<Chat>()
            .map(|(_, chat)| chat.0)
            .collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn a_session_that_waited_too_long_starts_anew() {
    let mut pair = Pair::connected();
    pair.spawn_player();
    pair.steps(5);
    pair.client.events().count();
    reconnect(&mut pair, Limits::default().resume_window);
    pair.steps(3);
    let events: Vec<_> = pair.client.events().collect();
    assert!(
        events.contains(&ClientEvent::Connected {
            client: pair.id,
            resumed: false
        }),
        "{events:?}"
    );
    let despawned = events
        .iter()
        .filter(|event| matches!(event, ClientEvent::Despawned { .. }))
        .count();
    assert_eq!(despawned, 1, "what was mirrored is gone: {events:?}");
}

#[test]
fn a_restarted_server_takes_its_client_back_from_the_start() {
    let mut pair = Pair::connected();
    pair.spawn_player();
    pair.steps(5);
    pair.client.events().count();
    pair.client.link_lost(pair.now);
    let settings = ServerSettings {
        secret: [8; 16],
        ..ServerSettings::default()
    };
    pair.server = Server::new(protocol(), settings).unwrap();
    assert_eq!(
        pair.server.connect(Identity::Account(7), pair.now),
        Ok(pair.id),
        "the same number"
    );
    pair.client.connect(pair.now);
    pair.steps(3);
    assert!(pair.client.events().any(|event| event
        == ClientEvent::Connected {
            client: pair.id,
            resumed: false
        }));
}

#[test]
fn a_ticket_works_once_and_only_for_its_owner() {
    let mut pair = Pair::connected();
    pair.steps(2);
    pair.client.link_lost(pair.now);
    pair.client.connect(pair.now);
    let mut hello = Vec::new();
    pair.client.transmit_stream(usize::MAX, &mut hello);
    let other = pair.server.connect(Identity::Account(8), pair.now).unwrap();
    pair.server.events().count();
    pair.server.receive_stream(other, &hello, pair.now).unwrap();
    assert_eq!(
        pair.server.events().last(),
        Some(ServerEvent::Connected {
            client: other,
            resumed: false
        })
    );
    pair.server.connect(Identity::Account(7), pair.now).unwrap();
    pair.server
        .receive_stream(pair.id, &hello, pair.now)
        .unwrap();
    assert_eq!(
        pair.server.events().last(),
        Some(ServerEvent::Connected {
            client: pair.id,
            resumed: true
        })
    );
    // Its owner speaks, so the next ticket has arrived and this one is spent.
    let mut welcome = Vec::new();
    pair.server.transmit_stream(pair.id, 1_000, &mut welcome);
    pair.client.receive_stream(&welcome, pair.now).unwrap();
    pair.steps(2);
    pair.server.events().count();
    pair.server.connect(Identity::Account(7), pair.now).unwrap();
    pair.server
        .receive_stream(pair.id, &hello, pair.now)
        .unwrap();
    assert_eq!(
        pair.server.events().last(),
        Some(ServerEvent::Connected {
            client: pair.id,
            resumed: false
        })
    );
}

#[test]
fn inputs_are_echoed_once_each() {
    let mut pair = Pair::connected();
    assert_eq!(
        pair.server.accept_input(pair.id, 41),
        Some(InputVerdict::Fresh)
    );
    assert_eq!(
        pair.server.accept_input(pair.id, 42),
        Some(InputVerdict::Fresh)
    );
    assert_eq!(
        pair.server.accept_input(pair.id, 42),
        Some(InputVerdict::Repeated)
    );
    pair.steps(2);
    assert_eq!(pair.client.last_echo(), Some(42));
    // A lost echo is sent again.
    pair.server.accept_input(pair.id, 43);
    pair.step_with(|_| false, |_| true);
    assert_eq!(pair.client.last_echo(), Some(42));
    pair.steps(8);
    assert_eq!(pair.client.last_echo(), Some(43));
}

#[test]
fn the_clients_clock_follows_the_servers_ticks() {
    let mut pair = Pair::connected();
    let mut last = None;
    for _ in 0..100 {
        pair.step();
        let time = pair.client.server_time(pair.now).unwrap();
        let off = time.tick.since(pair.server.current_tick()).cast_signed();
        assert!(
            (-1..=1).contains(&off),
            "{time:?} against {:?}",
            pair.server.current_tick()
        );
        assert!(
            last.is_none_or(|last| time.tick == last || time.tick.is_newer_than(last)),
            "never back"
        );
        last = Some(time.tick);
    }
    assert!(pair.client.round_trip().is_some());
}

#[test]
fn the_budget_is_never_exceeded() {
    let limits = Limits {
        bytes_out_per_second: 4_000,
        burst_bytes: 2_000,
        ..Limits::default()
    };
    let mut pair = Pair::with(limits);
    pair.join();
    let start = pair.now;
    for number in 0..200_u32 {
        let _ = pair.server.send(pair.id, &chat(&"x".repeat(900)));
        let _ = pair.server.send(pair.id, &Hit(number));
        pair.step();
        let sent = pair.server.stats(pair.id).unwrap().wire_bytes_sent;
        let elapsed = u64::try_from((pair.now - start).as_millis()).unwrap() + 150;
        assert!(
            sent <= 2_000 + 4_000 * elapsed / 1_000,
            "{sent} bytes after {elapsed} ms"
        );
    }
    let stats = pair.server.stats(pair.id).unwrap();
    let average = stats.average_bytes_per_second(pair.now);
    assert!(
        (3_500..=4_300).contains(&average),
        "{average} bytes a second: the budget is used"
    );
    assert!(stats.peak_bytes_per_second <= 6_000);
}

#[test]
fn a_goodbye_frees_everything_at_once() {
    let mut pair = Pair::connected();
    pair.client.disconnect(pair.now);
    let mut bytes = Vec::new();
    pair.client.transmit_stream(100, &mut bytes);
    assert_eq!(pair.stream(&bytes), Err(Disconnect::Left));
    assert_eq!(pair.server.held(), 0);
    assert!(!pair.client.is_connected());
}
