//! A client that is thrown out, and comes back or goes on sending before it has read why.

mod common;

use core::time::Duration;

use common::Pair;
use nebula_multiplayer::message::{ClientFrame, Hello};
use nebula_multiplayer::{Disconnect, Identity, ServerEvent};

/// Connects the account anew while its farewell is under way.
fn come_back(pair: &mut Pair) {
    let again = pair.server.connect(Identity::Account(7), pair.now);
    assert_eq!(again, Ok(pair.id));
}

#[test]
fn a_kick_stands_when_the_client_comes_back_during_its_farewell() {
    let mut pair = Pair::connected();
    let player = pair.spawn_player();
    pair.steps(3);
    pair.server.events().for_each(drop);
    let kicked = Disconnect::Kicked("for cheating".to_owned());

    pair.server.kick(pair.id, "for cheating", pair.now);
    assert_eq!(pair.server.events().next(), None, "it may still read why");
    come_back(&mut pair);
    let gone = ServerEvent::Disconnected {
        client: pair.id,
        reason: kicked.clone(),
    };
    assert_eq!(pair.server.events().collect::<Vec<_>>(), [gone]);
    let ended: Vec<_> = pair.server.take_ended().collect();
    assert_eq!(ended, [(pair.id, kicked)], "its older link is to be closed");
    assert_eq!(pair.server.totals().kicked, 1);
    assert_eq!(pair.server.held(), 1, "the newcomer");
    assert_eq!(
        pair.server.player(pair.id),
        None,
        "it has lost what it had, {player:?} too"
    );

    // What it held is worth nothing: it starts anew, as anyone does.
    pair.client.link_lost(pair.now);
    pair.client.connect(pair.now);
    pair.steps(3);
    let joined = ServerEvent::Connected {
        client: pair.id,
        resumed: false,
    };
    assert_eq!(pair.server.events().collect::<Vec<_>>(), [joined]);
    pair.steps(100);
    assert!(
        pair.server.is_connected(pair.id),
        "the old farewell ends nobody"
    );
    assert_eq!(pair.server.events().next(), None);
}

#[test]
fn a_kicked_client_that_floods_is_still_a_kicked_one() {
    let mut pair = Pair::connected();
    pair.server.events().for_each(drop);
    pair.server.kick(pair.id, "for cheating", pair.now);
    for _ in 0..5_000 {
        assert_eq!(pair.datagram(&[0; 1_000]), Ok(()), "nobody listens");
        assert_eq!(pair.stream(&[0; 1_000]), Ok(()));
    }
    pair.now += Duration::from_secs(1);
    pair.tick();
    let kicked = ServerEvent::Disconnected {
        client: pair.id,
        reason: Disconnect::Kicked("for cheating".to_owned()),
    };
    assert_eq!(pair.server.events().collect::<Vec<_>>(), [kicked]);
    let totals = pair.server.totals();
    assert_eq!((totals.kicked, totals.floods), (1, 0));
}

#[test]
fn a_refusal_is_told_when_the_client_comes_back_during_its_farewell() {
    let mut pair = Pair::new();
    let mut bytes = Vec::new();
    ClientFrame::Hello(Hello {
        wire_version: 1,
        name: "another game",
        version: 1,
        hash: 0,
        parts: Vec::new(),
        resume: None,
    })
    .encode(&mut bytes);
    assert_eq!(pair.stream(&bytes), Ok(()), "it is told why");
    come_back(&mut pair);
    let events: Vec<_> = pair.server.events().collect();
    assert!(
        matches!(
            &events[..],
            [ServerEvent::Disconnected {
                reason: Disconnect::Protocol(_),
                ..
            }]
        ),
        "{events:?}"
    );
    assert_eq!(pair.server.totals().mismatches, 1);
    pair.join();
}
