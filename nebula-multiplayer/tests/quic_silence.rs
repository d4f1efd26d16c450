//! A client that stands still for longer than its server waits.

#![cfg(feature = "quic")]

mod quic_common;

use core::time::Duration;

use nebula_multiplayer::auth::OpenLogin;
use quic_common::{Guest, Host, Options, join, until};

#[test]
fn a_client_that_stood_still_for_too_long_resumes() {
    let mut options = Options::default();
    options.limits.idle_timeout = Duration::from_secs(2);
    options.limits.keep_alive = Duration::from_millis(50);
    let mut host = Host::with(options, OpenLogin);
    let mut guest = Guest::new(&host, 7);
    join(&mut host, &mut [&mut guest]);
    let player = host.player(7);
    // Only the server goes on.
    until(&mut host, &mut [], "its link is let go", |host, _| {
        host.server.clients().count() == 0
    });
    until(
        &mut host,
        &mut [&mut guest],
        "it learns of it",
        |_, guests| guests[0].is_down(),
    );
    assert_eq!(
        guest.error(),
        "the server closed the link: nothing was heard for too long (code 5)"
    );
    guest.link.reconnect();
    until(&mut host, &mut [&mut guest], "it is back", |_, guests| {
        guests[0].client.is_connected()
    });
    assert_eq!(host.last_connected(7), Some(true), "it resumed");
    assert_eq!(host.player(7), player);
}
