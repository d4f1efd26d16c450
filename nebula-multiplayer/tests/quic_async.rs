//! Servers and clients that begin, fail and end inside of somebody else's runtime, where tokio lets
//! nobody wait for the end of another one.

#![cfg(feature = "quic")]

mod quic_common;

use core::future::Future;
use std::path::PathBuf;

use nebula_multiplayer::auth::OpenLogin;
use nebula_multiplayer::limits::TransportLimits;
use nebula_multiplayer::transport::quic::{
    self, CertificateSource, QuicClientSettings, QuicSettings, ServeError, Stop, Trust,
};
use nebula_multiplayer::{Server, ServerSettings};
use quic_common::{Guest, Host, join, protocol, until};

/// Runs a test in a runtime of each kind.
fn inside<F: Future<Output = ()>>(test: impl Fn() -> F) {
    let one = tokio::runtime::Builder::new_current_thread().build();
    one.unwrap().block_on(test());
    let many = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build();
    many.unwrap().block_on(test());
}

#[test]
fn a_client_and_a_server_may_be_dropped() {
    inside(async || {
        let mut host = Host::new();
        let (mut one, mut two) = (Guest::new(&host, 1), Guest::new(&host, 2));
        join(&mut host, &mut [&mut one, &mut two]);
        drop(one);
        two.link.leave(&mut two.client);
        drop(two);
        // Both are known to be gone, so the last words got out.
        until(&mut host, &mut [], "they are gone", |host, _| {
            host.server.clients().count() == 0
        });
        drop(host);
    });
}

#[test]
fn a_client_that_never_got_through_may_be_dropped() {
    inside(async || {
        let nobody = "127.0.0.1:9".parse().unwrap();
        let settings = QuicClientSettings::new(nobody, Trust::Unverified);
        drop(quic::connect(&protocol(), &settings).unwrap());
    });
}

#[test]
fn a_server_may_shut_down_and_run_to_its_end() {
    inside(async || {
        let host = Host::new();
        let Host {
            net, mut server, ..
        } = host;
        net.shutdown(&mut server, "over and out");

        let Host {
            net, server, world, ..
        } = Host::new();
        let stop = Stop::default();
        stop.on_signals(&net).unwrap();
        stop.stop();
        quic::run(net, server, world, &stop, |_| {});
    });
}

#[test]
fn errors_at_the_start_are_errors() {
    inside(async || {
        let server = Server::new(protocol(), ServerSettings::default()).unwrap();
        let listen = QuicSettings {
            listen: "127.0.0.1:0".parse().unwrap(),
            ..QuicSettings::default()
        };
        let bad_limits = TransportLimits {
            streams: 0,
            ..TransportLimits::default()
        };
        let nowhere = || PathBuf::from("/no/such/file.pem");
        let bad = QuicSettings {
            limits: bad_limits.clone(),
            ..listen.clone()
        };
        let error = quic::serve(&server, &bad, OpenLogin).err();
        assert!(matches!(error, Some(ServeError::Limit(_))), "{error:?}");
        let bad = QuicSettings {
            certificate: CertificateSource::Files {
                chain: nowhere(),
                key: nowhere(),
            },
            ..listen
        };
        let error = quic::serve(&server, &bad, OpenLogin).err();
        assert!(
            matches!(error, Some(ServeError::Certificate(_))),
            "{error:?}"
        );

        let here = "127.0.0.1:9".parse().unwrap();
        let good = || QuicClientSettings::new(here, Trust::Unverified);
        let bad = [
            QuicClientSettings {
                limits: bad_limits,
                ..good()
            },
            QuicClientSettings {
                trust: Trust::Roots(nowhere()),
                ..good()
            },
            QuicClientSettings {
                credentials: vec![0; 2_000],
                ..good()
            },
        ];
        for settings in bad {
            assert!(quic::connect(&protocol(), &settings).is_err());
        }
    });
}

#[test]
fn too_long_credentials_end_the_next_attempt() {
    let mut host = Host::new();
    let mut guest = Guest::new(&host, 1);
    join(&mut host, &mut [&mut guest]);
    guest.link.set_credentials(vec![0; 1_025]);
    guest.link.reconnect();
    until(&mut host, &mut [&mut guest], "it fails", |_, guests| {
        guests[0].is_down()
    });
    assert_eq!(
        guest.error(),
        "credentials have 1025 bytes; at most 1024 are sent"
    );
}
