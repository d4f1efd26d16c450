//! Text from a client that should not be shown: rows 14 and 43 of the hostile input table.

mod common;

use core::time::Duration;

use common::Pair;
use nebula_multiplayer::Disconnect;
use nebula_multiplayer::message::{ClientFrame, Hello};
use nebula_multiplayer::wire::{DecodeError, printable};

/// Returns the bytes of a frame.
fn frame(frame: &ClientFrame<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.encode(&mut bytes);
    bytes
}

/// The connection is dropped for bad bytes, nothing stays of it, and others do not notice.
#[track_caller]
fn assert_dropped(pair: &mut Pair, result: Result<(), Disconnect>) -> DecodeError {
    let Err(Disconnect::Bad(error)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(pair.server.held(), 0, "nothing is kept");
    assert_eq!(pair.datagram(&[0, 0, 0]), Err(Disconnect::Unknown));
    error
}

/// A small generator, so that a failing round is found again by its number.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[test]
fn hostile_14_names_that_are_not_plain_text() {
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
        let mut pair = Pair::new();
        let result = pair.stream(&frame(&ClientFrame::Hello(hello)));
        let error = assert_dropped(&mut pair, result);
        assert!(
            matches!(
                error,
                DecodeError::BadText { .. } | DecodeError::TooLong { max: 64, .. }
            ),
            "{error:?}"
        );
    }
    // Not UTF-8.
    let mut hello = Pair::hello();
    hello[12] = 0xFF;
    let mut pair = Pair::new();
    let result = pair.stream(&hello);
    assert_eq!(
        assert_dropped(&mut pair, result),
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
    let mut pair = Pair::new();
    pair.stream(&frame(&ClientFrame::Hello(hello))).unwrap();
    assert!(!pair.server.is_connected(pair.id));
}

#[test]
fn hostile_43_nothing_a_client_sends_forges_a_line_in_a_log() {
    let mut random = Random(43);
    let mut seen = 0;
    for _ in 0..2_000 {
        let mut hello = Pair::hello();
        // Disturb the name and what follows it.
        for _ in 0..3 {
            let at = 11 + usize::try_from(random.next() % 10).unwrap();
            hello[at] = u8::try_from(random.next() % 256).unwrap();
        }
        let mut pair = Pair::new();
        let text = match pair.stream(&hello) {
            Err(error) => error.to_string(),
            Ok(()) => {
                pair.server
                    .tick(&mut pair.world, pair.now + Duration::from_secs(2));
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
}
