//! The server guide explains every setting, and none that is not there; and no guide leaves players
//! behind.

#![cfg(feature = "quic")]

use std::collections::BTreeSet;

use nebula_multiplayer::ServerSettings;
use nebula_multiplayer::limits::{Limits, TransportLimits};
use nebula_multiplayer::transport::quic::QuicSettings;
use serde::Serialize;

fn guide() -> String {
    page("server-guide.md")
}

fn page(name: &str) -> String {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/");
    std::fs::read_to_string(format!("{docs}{name}")).expect("the guides are beside the crate")
}

/// Returns the names in the first column of the table with this head.
fn explained(guide: &str, head: &str) -> BTreeSet<String> {
    let head = format!("| {head} | ");
    let rows = guide.lines().skip_while(|line| !line.starts_with(&head));
    let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
    let firsts = rows.filter_map(|row| row.split('|').nth(1));
    let names = firsts.flat_map(|first| first.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

/// Checks that the table explains exactly the fields of a struct.
#[track_caller]
fn every_field_is_explained<T: Serialize + Default>(head: &str) {
    let fields = serde_json::to_value(T::default()).unwrap();
    let fields: BTreeSet<String> = fields.as_object().unwrap().keys().cloned().collect();
    assert!(!fields.is_empty());
    assert_eq!(explained(&guide(), head), fields, "table {head}");
}

#[test]
fn every_setting_of_a_server_is_in_the_guide() {
    every_field_is_explained::<Limits>("Limits");
    every_field_is_explained::<TransportLimits>("TransportLimits");
    every_field_is_explained::<QuicSettings>("QuicSettings");
    every_field_is_explained::<ServerSettings>("ServerSettings");
}

#[test]
fn examples_that_give_players_keep_them_for_who_is_back_and_take_them_from_who_is_gone() {
    for name in ["server-guide.md", "guide.md"] {
        let page = page(name);
        let examples = page.split("```rust").skip(1);
        let examples = examples.filter_map(|rest| rest.split("```").next());
        let giving: Vec<&str> = examples
            .filter(|code| code.contains("ServerEvent::Connected"))
            .collect();
        assert!(!giving.is_empty(), "{name}");
        for code in giving {
            for words in ["players.entry(client)", "players.remove(&client)"] {
                assert!(code.contains(words), "{name} without {words}");
            }
        }
    }
}

#[test]
fn a_table_ends_with_its_last_row() {
    let text =
        "| A | b |\n| - | - |\n| `one`, `two` | `no` |\n\n| C | d |\n| - | - |\n| `three` | |\n";
    assert_eq!(Vec::from_iter(explained(text, "A")), ["one", "two"]);
    assert_eq!(Vec::from_iter(explained(text, "C")), ["three"]);
    assert!(explained(text, "E").is_empty());
}
