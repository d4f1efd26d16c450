//! Text from a client that should not be shown: rows 14 and 43 of the hostile input table. A healthy
//! client beside it notices nothing.

mod common;

use core::time::Duration;

use common::Pair;
use common::bytes::{Random, frame};
use nebula_multiplayer::message::{ClientFrame, Hello};
use nebula_multiplayer::wire::{DecodeError, printable};

#[test]
fn hostile_14_names_that_are_not_plain_text() {
    let mut pair = Pair::watched();
    let long = "x".repeat(65);
    let huge = "x".repeat(4_000);
    let names = [
        "a\nb",
        "a\0b",
        "\u{1b}[31m",
        "a\u{200B}b",
        "\u{202E}b",
        "\u{FEFF}",
        long.as_str(),
        huge.as_str(),
    ];
    for name in names {
        let hello = Hello {
            wire_version: 1,
            name,
            version: 1,
            hash: 0,
            parts: Vec::new(),
            resume: None,
        };
        pair.another();
        let result = pair.stream(&frame(&ClientFrame::Hello(hello)));
        let error = pair.assert_dropped(result);
        assert!(
            matches!(
                error,
                DecodeError::BadText { .. } | DecodeError::TooLong { max: 64, .. }
            ),
            "{error:?}"
        );
    }
    // Not UTF-8.
    let mut hello = pair.hello_bytes();
    hello[12] = 0xFF;
    pair.another();
    let result = pair.stream(&hello);
    assert_eq!(
        pair.assert_dropped(result),
        DecodeError::BadText {
            what: "a protocol name"
        }
    );
    // One that looks like a path is a name like any other, and names nothing: it is compared only.
    let path = "../../etc/passwd";
    let hello = Hello {
        wire_version: 1,
        name: path,
        version: 1,
        hash: 0,
        parts: Vec::new(),
        resume: None,
    };
    pair.another();
    pair.stream(&frame(&ClientFrame::Hello(hello))).unwrap();
    assert!(!pair.server.is_connected(pair.id));
    pair.witness_notices_nothing();
}

#[test]
fn hostile_43_nothing_a_client_sends_forges_a_line_in_a_log() {
    let mut pair = Pair::watched();
    let whole = pair.hello_bytes();
    let mut random = Random(43);
    let mut seen = 0;
    for _ in 0..2_000 {
        let mut hello = whole.clone();
        // Disturb the name and what follows it.
        for _ in 0..3 {
            let at = 11 + usize::try_from(random.next() % 10).unwrap();
            hello[at] = u8::try_from(random.next() % 256).unwrap();
        }
        pair.another();
        pair.server.events().count();
        let text = match pair.stream(&hello) {
            Err(error) => error.to_string(),
            Ok(()) => {
                pair.now += Duration::from_secs(2);
                pair.tick();
                format!("{:?}", pair.server.events().collect::<Vec<_>>())
            }
        };
        seen += 1;
        assert!(
            text.len() < 1_024 && !text.chars().any(char::is_control),
            "{text:?}"
        );
    }
    assert_eq!(seen, 2_000);
    assert_eq!(
        printable(&"\n".repeat(70_000), 256).len(),
        2 * 256 + "…".len()
    );
    pair.witness_notices_nothing();
}
