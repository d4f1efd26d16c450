//! A subscriber that keeps what this crate logs.

#![allow(dead_code, reason = "each test file uses a part of it")]

use core::cell::RefCell;
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// What was logged: spans by number with their names and fields, and events with their span.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) spans: BTreeMap<u64, (&'static str, Fields)>,
    pub(crate) events: Vec<(Option<u64>, Fields)>,
}

impl Log {
    /// Returns the events with this text.
    pub(crate) fn lines(&self, text: &str) -> impl Iterator<Item = &(Option<u64>, Fields)> {
        let is_it = move |fields: &Fields| fields.0.get("message").is_some_and(|it| it == text);
        self.events.iter().filter(move |(_, fields)| is_it(fields))
    }
}

thread_local! {
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug, Default)]
pub(crate) struct Fields(pub(crate) BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

/// Keeps everything that this crate logs.
#[derive(Clone, Default)]
pub(crate) struct Recorder {
    log: Arc<Mutex<Log>>,
    spans: Arc<AtomicU64>,
}

impl Recorder {
    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("nebula_multiplayer")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.spans.fetch_add(1, Ordering::Relaxed) + 1;
        let mut fields = Fields::default();
        span.record(&mut fields);
        let name = span.metadata().name();
        self.log().spans.insert(id, (name, fields));
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        if let Some((_, fields)) = self.log().spans.get_mut(&span.into_u64()) {
            values.record(fields);
        }
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let span = ENTERED.with_borrow(|entered| entered.last().copied());
        self.log().events.push((span, fields));
    }

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.into_u64()));
    }

    fn exit(&self, _span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.pop());
    }
}
