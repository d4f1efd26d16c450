//! What is logged about a connection is logged under a span of its own.

mod quic_common;

use core::cell::RefCell;
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use quic_common::{Guest, Host, join, until};

/// What was logged: spans by number with their names and fields, and events with their span.
#[derive(Debug, Default)]
struct Log {
    spans: BTreeMap<u64, (&'static str, Fields)>,
    events: Vec<(Option<u64>, Fields)>,
}

static LOG: Mutex<Log> = Mutex::new(Log {
    spans: BTreeMap::new(),
    events: Vec::new(),
});

fn log() -> MutexGuard<'static, Log> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug, Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

/// Keeps everything that this crate logs.
struct Recorder(AtomicU64);

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("nebula_multiplayer")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        let mut fields = Fields::default();
        span.record(&mut fields);
        log().spans.insert(id, (span.metadata().name(), fields));
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        if let Some((_, fields)) = log().spans.get_mut(&span.into_u64()) {
            values.record(fields);
        }
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let span = ENTERED.with_borrow(|entered| entered.last().copied());
        log().events.push((span, fields));
    }

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.into_u64()));
    }

    fn exit(&self, _span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.pop());
    }
}

/// Returns the numbers and clients of all connections so far.
fn connections() -> Vec<(String, Option<String>)> {
    let log = log();
    let spans = log.spans.values().filter(|(name, _)| *name == "connection");
    let fields = spans.map(|(_, Fields(fields))| {
        let number = fields["number"].clone();
        (number, fields.get("client").cloned())
    });
    fields.collect()
}

#[test]
fn each_connection_has_a_span_with_its_number_and_its_client() {
    tracing::subscriber::set_global_default(Recorder(AtomicU64::new(0))).unwrap();
    let mut host = Host::new();
    let (mut one, mut two) = (Guest::new(&host, 41), Guest::new(&host, 42));
    join(&mut host, &mut [&mut one, &mut two]);
    let mut seen = connections();
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
    let log = log();
    let (span, _) = log
        .events
        .iter()
        .find(|(_, Fields(fields))| {
            fields
                .get("message")
                .is_some_and(|text| text == "a login was refused")
        })
        .expect("it is logged");
    let (name, Fields(fields)) = &log.spans[&span.expect("under a span")];
    assert_eq!((*name, fields["number"].as_str()), ("connection", "3"));
    assert!(!fields.contains_key("client"), "it never was one");
}
