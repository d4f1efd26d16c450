//! Lines of the log that strangers cause over sockets, and how many: row 43 of the hostile input table.

mod common;
mod log_common;
mod quic_common;
mod quic_hostile;

use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use common::Pair;
use log_common::Recorder;
use nebula_multiplayer::Identity;
use nebula_multiplayer::limits::{Limits, LogCap};
use quic_common::{Guest, Host};
use quic_hostile::{Raw, Witness};
use quinn::crypto::rustls::QuicClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn hostile_43_lines_of_a_kind_are_capped_whatever_the_times() {
    let mut cap = LogCap::new(5);
    let mut written = 0;
    let mut told = 0;
    for step in 0..100_000_u32 {
        // Ten seconds, and a clock that now and then goes back.
        let now = Duration::from_micros(u64::from(step) * 100);
        let now = if step % 7 == 0 { now / 2 } else { now };
        if let Some(suppressed) = cap.admit("a bad thing", now) {
            written += 1;
            told += suppressed;
        }
    }
    assert!((50..=60).contains(&written), "{written} lines in 10 s");
    assert_eq!(written + cap.suppressed(), 100_000, "each is counted");
    let after = cap.admit("a bad thing", Duration::from_secs(20)).unwrap();
    assert_eq!(told + after, cap.suppressed(), "and said by the next line");
}

/// Many clients do bad things to the server for a while; a healthy one is beside them.
#[test]
fn hostile_43_a_swarm_of_bad_clients_fills_no_log() {
    let recorder = Recorder::default();
    tracing::subscriber::with_default(recorder.clone(), || {
        let mut pair = Pair::with(Limits {
            log_lines_per_second: 3,
            ..Limits::default()
        });
        pair.join();
        let thing = pair.spawn_player();
        for round in 0..200 {
            // 200 a second for ten seconds, of two kinds.
            for _ in 0..10 {
                let (now, server) = (pair.now, &mut pair.server);
                let bad = server.connect(Identity::Anonymous, now).unwrap();
                server.receive_stream(bad, &[0; 8], now).unwrap_err();
                let flood = server.connect(Identity::Anonymous, now).unwrap();
                while server.receive(flood, &[0; 1_000], now).is_ok() {}
            }
            pair.world.get_mut::<common::Health>(thing).unwrap().0 = round;
            pair.step();
        }
        let health = |pair: &mut Pair| {
            let mut query = pair.mirror.query::<&common::Health>();
            query.single(&pair.mirror).unwrap().0
        };
        pair.steps(3);
        assert_eq!(health(&mut pair), 199, "the healthy one noticed nothing");
        let totals = pair.server.totals();
        assert_eq!((totals.bad_messages, totals.floods), (2_000, 2_000));
        let log = recorder.log();
        // Six at once, and three a second for ten seconds.
        for reason in ["bad message", "far too much"] {
            let gone = log.lines("client gone");
            let lines = gone.filter(|(_, fields)| fields.0["reason"].contains(reason));
            let lines = lines.count();
            assert!((30..=37).contains(&lines), "{lines} of {reason}");
        }
        let ignored = log.lines("a datagram over the rate is ignored").count();
        assert!((30..=37).contains(&ignored), "{ignored}");
        let written = u64::try_from(log.events.len()).unwrap();
        assert!(written <= 37 * 3, "{written} in all");
        let all = totals.bad_messages + totals.floods + totals.ignored_datagrams;
        assert!(
            written + totals.suppressed_lines >= all,
            "{written} written, {} left out, of {all}",
            totals.suppressed_lines
        );
    });
}

/// Refuses every certificate, and says why in words that would look like another line of the log.
#[derive(Debug)]
struct Forger(Arc<CryptoProvider>);

impl ServerCertVerifier for Forger {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Err(rustls::Error::General(format!(
            "{FORGED}{}",
            "x".repeat(600)
        )))
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

const FORGED: &str = "\n\u{1b}[31m2026-01-01 ERROR all is lost";

/// Shakes hands as the forger does, until it gives up.
fn forge(host: &Host) {
    let mut raw = Raw::new(host);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Forger(provider)))
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"nebula/1/test/1".to_vec()];
    let tls = QuicClientConfig::try_from(tls).unwrap();
    raw.config = quinn::ClientConfig::new(Arc::new(tls));
    raw.connect().unwrap_err();
}

#[test]
fn hostile_43_strangers_without_a_login_fill_no_log() {
    let recorder = Recorder::default();
    // The server's own threads log too.
    tracing::subscriber::set_global_default(recorder.clone()).unwrap();
    let start = Instant::now();
    let mut host = Host::new();
    let mut witness = Witness::new(&mut host);
    let mut guests: Vec<Guest> = (0..60)
        .map(|_| Guest::shown(&host, vec![1, 2, 3]))
        .collect();
    witness.until(&mut host, "all are refused", |_| {
        guests.iter_mut().for_each(Guest::step);
        guests.iter().all(Guest::is_down)
    });
    let stats = host.net.stats();
    let most = 2 * 10 + 10 * (start.elapsed() + SECOND).as_secs();
    let count = |text| u64::try_from(recorder.log().lines(text).count()).unwrap();
    let lines = count("a login was refused");
    assert_eq!(stats.refused_logins, 60);
    assert!(
        (20..=most).contains(&lines),
        "{lines} lines, at most {most}"
    );
    // So many at once from one address must prove it.
    let retries = count("an address must be proven first");
    assert_eq!(
        (60 - lines) + (stats.retried - retries),
        stats.suppressed_lines,
        "the others are counted"
    );

    // What a stranger says when it gives up is shown as one line.
    forge(&host);
    witness.until(&mut host, "it is logged", |_| {
        recorder.log().lines("a handshake failed").count() > 0
    });
    let log = recorder.log();
    let (_, fields) = log.lines("a handshake failed").next().unwrap();
    let error = &fields.0["error"];
    assert!(
        error.contains("all is lost"),
        "the forger was heard: {error:?}"
    );
    assert!(!error.chars().any(char::is_control), "{error:?}");
    assert!(error.chars().count() < 300, "{error}");
    drop(log);
    witness.notices_nothing(&mut host);
}
