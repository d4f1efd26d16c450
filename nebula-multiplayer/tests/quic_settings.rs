//! Settings of the transport from a file: errors name their field, and limits fit each other.

#![cfg(feature = "quic")]

use nebula_multiplayer::Protocol;
use nebula_multiplayer::limits::TransportLimits;
use nebula_multiplayer::transport::quic::{
    self, Fingerprint, QuicClientSettings, QuicSettings, Trust,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Breaks each field of a struct in turn, and reads it.
#[track_caller]
fn every_field_is_named<T: Serialize + DeserializeOwned>(good: &T, fields: usize) {
    let whole = serde_json::to_value(good).unwrap();
    let names: Vec<String> = whole.as_object().unwrap().keys().cloned().collect();
    assert_eq!(names.len(), fields, "{names:?}");
    assert!(serde_json::from_value::<T>(whole.clone()).is_ok());
    let problem = |changed: Value| {
        let error = serde_json::from_value::<T>(changed).err();
        error.expect("it is broken").to_string()
    };
    for name in names {
        let mut broken = whole.clone();
        broken[&name] = json!(7.5);
        let error = problem(broken);
        assert!(error.starts_with(&format!("{name}: ")), "{error}");
    }
    let mut more = whole.clone();
    more["nonsense"] = json!(1);
    let error = problem(more);
    assert!(error.starts_with("unknown field `nonsense`"), "{error}");
    assert!(serde_json::from_value::<T>(json!([1])).is_err());
}

fn client_settings() -> QuicClientSettings {
    let trust = Trust::Pinned(Fingerprint::of(b"a certificate"));
    QuicClientSettings {
        credentials: vec![1, 2, 3],
        ..QuicClientSettings::new("192.0.2.1:4433".parse().unwrap(), trust)
    }
}

#[test]
fn errors_name_the_field() {
    every_field_is_named(&QuicSettings::default(), 4);
    every_field_is_named(&client_settings(), 5);
}

#[test]
fn what_has_no_default_must_be_there() {
    let whole = serde_json::to_value(client_settings()).unwrap();
    let read = serde_json::from_value::<QuicClientSettings>;
    assert_eq!(read(whole.clone()).unwrap(), client_settings());
    for name in ["server", "trust"] {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(name);
        let error = read(less).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("missing field `{name}`")),
            "{error}"
        );
    }
    for name in ["name", "credentials", "limits"] {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(name);
        assert!(read(less).is_ok(), "{name}");
    }
    let error = read(json!({ "limits": { "streams": -1 } }))
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("limits: streams: "), "{error}");
}

#[test]
fn a_client_that_would_be_taken_for_dead_is_not_started() {
    let limits = |idle_ms, keep_alive_ms| TransportLimits {
        idle_ms,
        keep_alive_ms,
        ..TransportLimits::default()
    };
    assert_eq!(limits(2_000, 1_999).validate(), Ok(()));
    let settings = QuicClientSettings {
        limits: limits(2_000, 2_000),
        ..QuicClientSettings::new("127.0.0.1:9".parse().unwrap(), Trust::Unverified)
    };
    let error = quic::connect(&Protocol::new("test", 1), &settings).unwrap_err();
    assert_eq!(
        error.to_string(),
        "limit keep_alive_ms is 2000; give at least 100 and at most 1999"
    );
}

#[test]
fn credentials_are_not_shown() {
    let settings = QuicClientSettings {
        credentials: vec![171; 16],
        ..client_settings()
    };
    let text = format!("{settings:?}");
    assert!(text.contains("credentials: 16 bytes"), "{text}");
    let here = "127.0.0.1:9".parse().unwrap();
    let settings = QuicClientSettings {
        credentials: settings.credentials,
        ..QuicClientSettings::new(here, Trust::Unverified)
    };
    let link = quic::connect(&Protocol::new("test", 1), &settings).unwrap();
    for text in [text, format!("{link:?}")] {
        assert!(
            !text.contains("171, 171") && !text.contains("abab"),
            "{text}"
        );
    }
}
