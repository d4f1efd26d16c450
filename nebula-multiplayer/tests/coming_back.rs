//! What a client finds when it comes back to its session.

use core::time::Duration;

use nebula_multiplayer::protocol::Protocol;
use nebula_multiplayer::server::ServerSettings;
use nebula_multiplayer::testing::TestNet;
use nebula_multiplayer::transport::sim::Faults;

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
