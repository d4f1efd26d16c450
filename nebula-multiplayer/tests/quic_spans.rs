//! What is logged about a connection is logged under a span of its own, and the open mode says what it is.

mod log_common;
mod quic_common;

use log_common::{Fields, Log, Recorder};
use quic_common::{Guest, Host, join, until};

/// Returns the numbers and clients of all connections so far.
fn connections(log: &Log) -> Vec<(String, Option<String>)> {
    let spans = log.spans.values().filter(|(name, _)| *name == "connection");
    let fields = spans.map(|(_, Fields(fields))| {
        let number = fields["number"].clone();
        (number, fields.get("client").cloned())
    });
    fields.collect()
}

#[test]
fn each_connection_has_a_span_with_its_number_and_its_client() {
    let recorder = Recorder::default();
    tracing::subscriber::set_global_default(recorder.clone()).unwrap();
    let mut host = Host::new();
    let open = "open login: everyone is believed to be who they say they are; for development only";
    assert_eq!(
        recorder.log().lines(open).count(),
        1,
        "the open mode says so"
    );
    let (mut one, mut two) = (Guest::new(&host, 41), Guest::new(&host, 42));
    join(&mut host, &mut [&mut one, &mut two]);
    let mut seen = connections(&recorder.log());
    seen.sort();
    assert_eq!(seen.len(), 2);
    let (numbers, mut clients): (Vec<_>, Vec<_>) = seen.into_iter().unzip();
    clients.sort();
    assert_eq!(numbers, ["1", "2"]);
    assert_eq!(clients, [Some("41".to_owned()), Some("42".to_owned())]);

    // What happens to a connection is told under its span.
    let mut refused = Guest::shown(&host, vec![1, 2, 3]);
    until(
        &mut host,
        &mut [&mut refused],
        "it is refused",
        |_, guests| guests[0].is_down(),
    );
    let log = recorder.log();
    let (span, _) = log
        .lines("a login was refused")
        .next()
        .expect("it is logged");
    let (name, Fields(fields)) = &log.spans[&span.expect("under a span")];
    assert_eq!((*name, fields["number"].as_str()), ("connection", "3"));
    assert!(!fields.contains_key("client"), "it never was one");
}
