//! Settings from a file: everything can be written and read back, and errors name their field.

use core::time::Duration;

use nebula_multiplayer::limits::{Limits, TransportLimits};
use nebula_multiplayer::{Protocol, Server, ServerSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Breaks each field of a struct in turn, and reads it.
#[track_caller]
fn every_field_is_named<T: Serialize + DeserializeOwned + Default>(fields: usize) {
    let whole = serde_json::to_value(T::default()).unwrap();
    let names: Vec<String> = whole.as_object().unwrap().keys().cloned().collect();
    assert_eq!(names.len(), fields, "{names:?}");
    for name in names {
        let read = |value: Value| serde_json::from_value::<T>(json!({ name.clone(): value }));
        assert!(read(whole[&name].clone()).is_ok(), "{name} alone");
        let error = read(json!("wrong")).err().unwrap().to_string();
        assert!(error.starts_with(&format!("{name}: ")), "{error}");
    }
    let error = serde_json::from_value::<T>(json!({ "nonsense": 1 })).err();
    let error = error.unwrap().to_string();
    assert!(error.starts_with("unknown field `nonsense`"), "{error}");
    assert!(serde_json::from_value::<T>(json!([1])).is_err());
}

#[test]
fn errors_name_the_field() {
    every_field_is_named::<Limits>(27);
    every_field_is_named::<TransportLimits>(25);
    every_field_is_named::<ServerSettings>(4);
}

#[test]
fn errors_name_the_way_to_the_field() {
    let read = |text: &str| serde_json::from_str::<ServerSettings>(text);
    let problem = |text: &str| read(text).err().unwrap().to_string();
    assert!(problem(r#"{"limits":{"burst_bytes":-5}}"#).starts_with("limits: burst_bytes: "));
    assert!(
        problem(r#"{"interest":{"area":{"radius":-5}}}"#)
            .starts_with("interest: area: -5.0 metres")
    );
    assert!(
        problem(r#"{"replication":{"grace_tics":5}}"#)
            .starts_with("replication: unknown field `grace_tics`, expected one of")
    );
    assert!(
        problem(r#"{"secret":"00"}"#).starts_with("unknown field `secret`"),
        "not from a file"
    );
}

#[test]
fn what_is_written_is_read_back() {
    let limits = Limits {
        clients: 7,
        resume_window: Duration::from_millis(1_234),
        ..Limits::default()
    };
    let text = serde_json::to_string(&limits).unwrap();
    assert!(text.contains(r#""resume_window":1234"#), "{text}");
    assert_eq!(serde_json::from_str::<Limits>(&text).unwrap(), limits);
    let settings = ServerSettings {
        tick_rate: 30,
        limits,
        ..ServerSettings::default()
    };
    let text = serde_json::to_string(&settings).unwrap();
    assert!(!text.contains("secret"), "{text}");
    let again: ServerSettings = serde_json::from_str(&text).unwrap();
    assert_eq!((again.tick_rate, again.limits), (30, settings.limits));
    assert_eq!(again.replication, settings.replication);
    assert_eq!(again.interest, settings.interest);
    assert_ne!(again.secret, settings.secret, "each has its own");
}

/// A value of the right type but out of range is read, and then refused by name.
#[test]
fn values_out_of_range_are_named_when_checked() {
    let settings: ServerSettings =
        serde_json::from_str(r#"{"limits":{"idle_timeout":5}}"#).unwrap();
    assert_eq!(
        settings.validate().unwrap_err().to_string(),
        "limit idle_timeout is 5; give at least 100 and at most 86400000"
    );
    for (text, problem) in [
        (
            r#"{"replication":{"spawns_per_tick":0}}"#,
            "limit replication.spawns_per_tick is 0; give at least 1 and at most 65536",
        ),
        (
            r#"{"replication":{"kept_max":100000}}"#,
            "limit replication.kept_max is 100000; give at least 0 and at most 65536",
        ),
        (
            r#"{"interest":{"max_visible":0}}"#,
            "limit interest.max_visible is 0; give at least 1 and at most 65536",
        ),
        (
            r#"{"limits":{"keep_alive":10000}}"#,
            "limit keep_alive is 10000; give at least 10 and at most 9999",
        ),
    ] {
        let settings: ServerSettings = serde_json::from_str(text).unwrap();
        assert_eq!(settings.validate().unwrap_err().to_string(), problem);
    }
}

/// What is printed for people to see holds no secret.
#[test]
fn secrets_are_not_shown() {
    let settings = ServerSettings {
        secret: [171; 16],
        ..ServerSettings::default()
    };
    let server = Server::new(Protocol::new("test", 1), settings.clone()).unwrap();
    for text in [format!("{settings:?}"), format!("{server:?}")] {
        assert!(!text.contains("171, 171"), "{text}");
        assert!(text.contains("tick_rate: 20"), "{text}");
    }
}
