//! A kick over real sockets, of a client whose next link is at the door already.

#![cfg(feature = "quic")]

mod quic_common;

use nebula_multiplayer::{ClientId, Disconnect, ServerEvent};
use quic_common::{Guest, Host, PATIENCE, join, until};

#[test]
fn a_kick_ends_the_older_link_and_not_the_newer_one() {
    let mut host = Host::new();
    let mut old = Guest::new(&host, 7);
    join(&mut host, &mut [&mut old]);
    // The same account comes again, and waits for the next tick.
    let mut new = Guest::new(&host, 7);
    let start = std::time::Instant::now();
    while host.net.stats().accepted < 2 {
        assert!(start.elapsed() < PATIENCE, "it never came");
        std::thread::sleep(core::time::Duration::from_millis(5));
    }
    let id = ClientId::new(7);
    host.server.kick(id, "for cheating", host.net.now());
    host.events.clear();
    join(&mut host, &mut [&mut new]);
    let told = host.events.iter().map(|event| match event {
        ServerEvent::Disconnected {
            reason: Disconnect::Kicked(why),
            ..
        } => why.as_str(),
        ServerEvent::Connected { resumed: false, .. } => "joined",
        _ => "something else",
    });
    assert_eq!(told.collect::<Vec<_>>(), ["for cheating", "joined"]);
    until(
        &mut host,
        &mut [&mut old, &mut new],
        "the older link is closed",
        |_, guests| guests[0].is_down(),
    );
    assert_eq!(
        old.error(),
        "the server closed the link: kicked: for cheating (code 8)"
    );
    assert!(new.client.is_connected() && host.server.is_connected(id));
    assert_eq!(host.net.stats().replaced, 0, "it was not replaced");
}
