//! A client of which nothing is heard: its link may have been cut without a word to either side.

mod common;

use core::time::Duration;

use bevy_ecs::entity::Entity;
use common::{Health, MAX, Pair};
use nebula_math::WorldPosition;
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::server::ConnectError;
use nebula_multiplayer::{ClientId, Disconnect, Identity, ServerEvent};

/// Lets time pass in which the server hears nothing, and nothing that it sends arrives.
fn silence(pair: &mut Pair, time: Duration) {
    let end = pair.now + time;
    let mut lost = Vec::new();
    while pair.now < end {
        pair.now += Duration::from_millis(50);
        pair.server.tick(&mut pair.world, pair.now);
        while pair.server.transmit(pair.id, MAX, &mut lost) {}
        while pair.server.transmit_stream(pair.id, MAX, &mut lost) {}
        lost.clear();
    }
}

/// A client that plays, and has acknowledged all there is.
fn playing(limits: Limits) -> (Pair, Entity) {
    let mut pair = Pair::with(limits);
    pair.join();
    let player = pair.spawn_player();
    pair.steps(10);
    pair.server.events().for_each(drop);
    (pair, player)
}

/// The link ended for a reason, and the session is still there.
#[track_caller]
fn assert_cut(pair: &mut Pair, reason: Disconnect) {
    let ended: Vec<_> = pair.server.take_ended().collect();
    assert_eq!(ended, [(pair.id, reason)], "the link is to be closed");
    assert_eq!((pair.server.held(), pair.server.clients().count()), (1, 0));
}

/// The game was told that the link is lost, and nothing else.
#[track_caller]
fn assert_told_once(pair: &mut Pair) {
    let lost = ServerEvent::LinkLost { client: pair.id };
    assert_eq!(pair.server.events().collect::<Vec<_>>(), [lost]);
}

/// The client comes back, after almost as long as it may, and goes on where it was.
#[track_caller]
fn assert_comes_back(pair: &mut Pair, player: Entity) {
    silence(pair, Duration::from_secs(29));
    let client = pair.id;
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
fn a_silent_client_loses_its_link_and_may_come_back() {
    let (mut pair, player) = playing(Limits::default());
    silence(&mut pair, Duration::from_secs(10));
    assert_cut(&mut pair, Disconnect::Idle);
    assert_eq!(pair.server.totals().idle, 1);
    assert_told_once(&mut pair);
    assert_comes_back(&mut pair, player);
}

#[test]
fn a_client_that_is_cut_off_in_the_middle_of_a_frame_may_come_back() {
    let (mut pair, player) = playing(Limits::default());
    pair.stream(&[200, 0]).unwrap();
    silence(&mut pair, Duration::from_secs(5));
    assert_cut(&mut pair, Disconnect::FrameTimeout);
    assert_eq!(pair.server.totals().frame_timeouts, 1);
    assert_told_once(&mut pair);
    assert_comes_back(&mut pair, player);
}

#[test]
fn a_client_that_is_cut_off_while_it_comes_back_may_try_again() {
    let (mut pair, player) = playing(Limits::default());
    // The link before is not known to be lost, and the hello on the new one never comes.
    let again = pair.server.connect(Identity::Account(7), pair.now);
    assert_eq!(again, Ok(pair.id));
    silence(&mut pair, Duration::from_secs(5));
    assert_cut(&mut pair, Disconnect::HelloTimeout);
    assert_eq!(pair.server.totals().hello_timeouts, 1);
    assert_told_once(&mut pair);
    assert_comes_back(&mut pair, player);
}

#[test]
fn a_silent_client_is_not_taken_for_one_that_never_acknowledges() {
    let (mut pair, player) = playing(Limits {
        idle_timeout: Duration::from_secs(11),
        ..Limits::default()
    });
    pair.world.get_mut::<Health>(player).unwrap().0 = 1;
    silence(&mut pair, Duration::from_millis(10_100));
    assert_cut(&mut pair, Disconnect::NeverAcks);
    assert_eq!(pair.server.totals().never_acks, 1);
    assert_told_once(&mut pair);
    assert_comes_back(&mut pair, player);
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

/// State arrives, and the link is cut before the server can know: it gives the packet up.
#[test]
fn a_client_that_has_more_than_it_could_say_may_come_back() {
    let (mut pair, player) = playing(Limits::default());
    let at = WorldPosition::new(-5, 0, i128::MAX);
    pair.world.spawn((Replicate, at, Health(3)));
    pair.step_with(|_| true, |_| false);
    silence(&mut pair, Duration::from_secs(10));
    assert_cut(&mut pair, Disconnect::Idle);
    assert_told_once(&mut pair);
    pair.world.get_mut::<Health>(player).unwrap().0 = 50;
    assert_comes_back(&mut pair, player);
    pair.steps(10);
    let mut rows = pair.mirror.query::<&Health>();
    let mut seen: Vec<_> = rows.iter(&pair.mirror).map(|health| health.0).collect();
    seen.sort_unstable();
    assert_eq!(seen, [3, 50]);
    assert_eq!(pair.server.totals().resyncs, 1, "all of it came anew");
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
            reason: Disconnect::GaveWay,
        };
        assert_eq!(pair.server.events().collect::<Vec<_>>(), [gone]);
        assert_eq!(pair.server.held(), 3);
    }
    // Nobody waits any more, and nobody who is here gives way.
    let full = pair.server.connect(Identity::Account(12), pair.now);
    assert_eq!(full, Err(ConnectError::Full(3)));
    assert!(pair.server.is_connected(pair.id));
    let totals = pair.server.totals();
    assert_eq!((totals.gave_way, totals.expired), (2, 0));
}

/// Nobody knows who a stranger is, and one may come as many.
#[test]
fn who_may_come_back_does_not_give_way_to_a_stranger() {
    let (mut pair, player) = playing(Limits {
        clients: 1,
        ..Limits::default()
    });
    pair.server.disconnect(pair.id, pair.now);
    let stranger = pair.server.connect(Identity::Anonymous, pair.now);
    assert_eq!(stranger, Err(ConnectError::Full(1)));
    let totals = pair.server.totals();
    assert_eq!((totals.refused_full, totals.gave_way), (1, 0));
    assert_told_once(&mut pair);
    assert_comes_back(&mut pair, player);
}
