//! What a client finds when it comes back to its session.

use core::time::Duration;

use nebula_multiplayer::protocol::{Channel, Protocol};
use nebula_multiplayer::server::ServerSettings;
use nebula_multiplayer::session::InputVerdict;
use nebula_multiplayer::testing::{TestNet, TestPair};
use nebula_multiplayer::transport::sim::Faults;

#[test]
fn inputs_go_on_however_many_were_numbered_while_the_link_was_gone() {
    let mut pair = TestPair::new(&Protocol::new("game", 1));
    pair.run_ms(200);
    let id = pair.client(0).id().expect("connected");
    let accept = |pair: &mut TestPair, number| pair.server.accept_input(id, number).unwrap();
    assert_eq!(accept(&mut pair, 1), InputVerdict::Fresh);
    assert_eq!(accept(&mut pair, 5_000), InputVerdict::TooNew);
    pair.cut(0);
    pair.run_ms(500);
    pair.reconnect(0);
    pair.run_ms(500);
    assert!(pair.the_client().is_connected());
    assert_eq!(pair.server.totals().resumed, 1);
    // One that waited for the link comes first.
    assert_eq!(accept(&mut pair, 2), InputVerdict::Fresh);
    assert_eq!(accept(&mut pair, 5_000), InputVerdict::Fresh);
    assert_eq!(accept(&mut pair, 5_001), InputVerdict::Fresh);
    assert_eq!(accept(&mut pair, 5_000), InputVerdict::Repeated);
    assert_eq!(accept(&mut pair, 2), InputVerdict::TooOld);
    assert_eq!(accept(&mut pair, 9_000), InputVerdict::TooNew, "only once");
}

#[test]
fn the_clients_clock_does_not_go_back_over_a_slower_link() {
    let mut net = TestNet::new(&Protocol::new("game", 1), ServerSettings::default(), 1);
    let over = |latency| Faults {
        latency: Duration::from_millis(latency),
        ..Faults::NONE
    };
    net.faults = over(10);
    let number = net.join();
    let mut last = None;
    let mut look = |net: &mut TestNet| {
        net.step();
        let now = net.now();
        let time = net.client_mut(number).client.server_time(now);
        let micros = time.map(|time| (time.tick.get(), time.fraction));
        assert!(last <= micros, "{last:?}, then {micros:?}");
        last = micros;
    };
    (0..40).for_each(|_| look(&mut net));
    net.cut(number);
    (0..10).for_each(|_| look(&mut net));
    net.faults = over(400);
    net.reconnect(number);
    (0..100).for_each(|_| look(&mut net));
    assert_eq!(net.server.totals().resumed, 1);
    assert!(net.client(number).client.is_connected());
}

#[test]
fn all_that_was_said_in_a_long_time_away_arrives() {
    let protocol = Protocol::new("game", 1)
        .message::<u32>("line", 1, Channel::Ordered)
        .message::<i32>("ping", 1, Channel::Unordered);
    let mut pair = TestPair::new(&protocol);
    pair.run_ms(200);
    pair.cut(0);
    let (mut lines, mut pings) = (0, 0);
    // Twenty seconds of a hundred messages a second, which is less than the server takes.
    for _ in 0..400 {
        for _ in 0..5 {
            if pings < 250 {
                pair.the_client().send(&pings).expect("room");
                pings += 1;
            } else {
                pair.the_client().send(&lines).expect("room");
                lines += 1;
            }
        }
        pair.step();
    }
    pair.reconnect(0);
    let (mut heard, mut pinged) = (Vec::new(), Vec::new());
    for _ in 0..600 {
        pair.step();
        heard.extend(pair.server.messages::<u32>().map(|(_, line)| line));
        pinged.extend(pair.server.messages::<i32>().map(|(_, ping)| ping));
    }
    assert_eq!(pair.server.totals().resumed, 1);
    assert_eq!(pair.server.totals().dropped_messages, 0);
    assert!(heard.into_iter().eq(0..lines));
    pinged.sort_unstable();
    assert!(pinged.into_iter().eq(0..pings));
}
