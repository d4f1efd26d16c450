//! A client of which nothing is heard: its link may have been cut without a word to either side.

mod common;

use core::time::Duration;

use common::Pair;
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::server::ConnectError;
use nebula_multiplayer::{ClientId, Disconnect, Identity, ServerEvent};

/// Lets time pass in which the server hears nothing.
fn silence(pair: &mut Pair, time: Duration) {
    let end = pair.now + time;
    while pair.now < end {
        pair.now += Duration::from_millis(50);
        pair.server.tick(&mut pair.world, pair.now);
    }
}

#[test]
fn a_silent_client_loses_its_link_and_may_come_back() {
    let mut pair = Pair::connected();
    let player = pair.spawn_player();
    pair.steps(3);
    pair.server.events().for_each(drop);

    silence(&mut pair, Duration::from_secs(10));
    let client = pair.id;
    let lost = ServerEvent::LinkLost { client };
    assert_eq!(pair.server.events().collect::<Vec<_>>(), [lost]);
    let ended: Vec<_> = pair.server.take_ended().collect();
    assert_eq!(
        ended,
        [(client, Disconnect::Idle)],
        "the link is to be closed"
    );
    assert_eq!(pair.server.totals().idle, 1);

    // It comes back much later than that.
    silence(&mut pair, Duration::from_secs(29));
    let again = pair.server.connect(Identity::Account(7), pair.now);
    assert_eq!(again, Ok(client));
    pair.client.link_lost(pair.now);
    pair.client.connect(pair.now);
    pair.steps(3);
    let resumed = ServerEvent::Connected {
        client,
        resumed: true,
    };
    assert_eq!(pair.server.events().collect::<Vec<_>>(), [resumed]);
    assert_eq!(pair.server.player(client), Some(player));
}

#[test]
fn a_silent_client_that_does_not_come_back_is_gone_in_the_end() {
    let mut pair = Pair::connected();
    pair.server.events().for_each(drop);
    silence(&mut pair, Duration::from_secs(39));
    assert_eq!(pair.server.held(), 1);
    silence(&mut pair, Duration::from_secs(1));
    assert_eq!(pair.server.held(), 0);
    let expired = ServerEvent::Disconnected {
        client: pair.id,
        reason: Disconnect::Expired,
    };
    assert_eq!(pair.server.events().last(), Some(expired));
}

/// One without an account has nothing to come back to.
#[test]
fn a_silent_stranger_is_gone_at_once() {
    let mut pair = Pair::new();
    let id = pair.server.connect(Identity::Anonymous, pair.now).unwrap();
    let hello = Pair::hello();
    pair.server.receive_stream(id, &hello, pair.now).unwrap();
    assert!(pair.server.is_connected(id));
    pair.server.events().for_each(drop);
    pair.now += Duration::from_secs(10);
    pair.server.tick(&mut pair.world, pair.now);
    let idle = ServerEvent::Disconnected {
        client: id,
        reason: Disconnect::Idle,
    };
    assert!(pair.server.events().any(|event| event == idle));
}

#[test]
fn who_is_here_goes_before_who_may_come_back() {
    let mut pair = Pair::with(Limits {
        clients: 3,
        ..Limits::default()
    });
    pair.join();
    let hello = Pair::hello();
    for account in [8, 9] {
        let identity = Identity::Account(account);
        let id = pair.server.connect(identity, pair.now).unwrap();
        pair.server.receive_stream(id, &hello, pair.now).unwrap();
        pair.server.disconnect(id, pair.now);
        pair.step();
    }
    pair.server.events().for_each(drop);
    // All three places are taken: two by sessions that wait. The one that waits longest gives way.
    for (newcomer, gone) in [(10, 8), (11, 9)] {
        let identity = Identity::Account(newcomer);
        assert!(pair.server.connect(identity, pair.now).is_ok());
        let gone = ServerEvent::Disconnected {
            client: ClientId::new(gone),
            reason: Disconnect::Expired,
        };
        assert_eq!(pair.server.events().collect::<Vec<_>>(), [gone]);
        assert_eq!(pair.server.held(), 3);
    }
    // Nobody waits any more, and nobody who is here gives way.
    let full = pair.server.connect(Identity::Account(12), pair.now);
    assert_eq!(full, Err(ConnectError::Full(3)));
    assert!(pair.server.is_connected(pair.id));
}
