//! Too much of everything: rows 37 and 38 of the hostile input table, and what a client may cost.

mod common;

use core::time::Duration;

use common::{Chat, Hit, MAX, Pair};
use nebula_multiplayer::Disconnect;
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::message::ClientFrame;
use nebula_multiplayer::session::{Header, SmallMessage};
use nebula_multiplayer::wire;

fn datagram(sequence: u16, header: Header, rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Header { sequence, ..header }.encode(&mut bytes);
    bytes.extend(rest);
    bytes
}

/// A server with one live client whose bytes the test makes by hand.
struct Raw {
    pair: Pair,
    sequence: u16,
}

impl Raw {
    fn new() -> Self {
        Self::with(Limits::default())
    }

    fn with(limits: Limits) -> Self {
        let mut pair = Pair::with(limits);
        pair.stream(&Pair::hello()).unwrap();
        assert!(pair.server.is_connected(pair.id));
        Self { pair, sequence: 0 }
    }

    fn send(&mut self, header: Header, rest: &[u8]) -> Result<(), Disconnect> {
        self.sequence = self.sequence.wrapping_add(1);
        self.pair.datagram(&datagram(self.sequence, header, rest))
    }

    /// One server tick; returns how many bytes went to the client.
    fn tick(&mut self) -> usize {
        self.pair.now += Duration::from_millis(50);
        self.pair.server.tick(&mut self.pair.world, self.pair.now);
        let mut bytes = Vec::new();
        while self.pair.server.transmit(self.pair.id, MAX, &mut bytes) {}
        while self
            .pair
            .server
            .transmit_stream(self.pair.id, MAX, &mut bytes)
        {}
        bytes.len()
    }
}

#[test]
fn hostile_37_a_client_that_never_reads_its_stream() {
    let mut raw = Raw::new();
    let mut refused = 0;
    for _ in 0..1_000 {
        if raw
            .pair
            .server
            .send(raw.pair.id, &Chat("x".repeat(1_000)))
            .is_err()
        {
            refused += 1;
        }
    }
    assert!(
        refused > 700,
        "the queue is capped at 256 KiB: {refused} of 1,000 refused"
    );
    let stats = raw.pair.server.stats(raw.pair.id).unwrap();
    assert_eq!(stats.refused_messages, refused);
}

#[test]
fn hostile_38_ten_thousand_messages_a_second() {
    let mut raw = Raw::new();
    let mut sent = 0_u32;
    let result = loop {
        let mut rest = vec![1];
        SmallMessage {
            kind: 1,
            id: 0,
            payload: &[7],
        }
        .encode(&mut rest);
        sent += 1;
        if sent.is_multiple_of(500) {
            raw.tick();
        }
        if let Err(reason) = raw.send(
            Header {
                messages: true,
                ..Header::default()
            },
            &rest,
        ) {
            break reason;
        }
        assert!(sent < 20_000, "dropped before long");
    };
    assert_eq!(result, Disconnect::Flood);
    // Of what came before that, no more than the rate and its burst was taken.
    assert!(
        raw.pair.server.messages::<Hit>().count() == 0,
        "and nothing is kept of a dropped client"
    );
}

#[test]
fn hostile_38_sixty_large_messages_a_second() {
    let mut payload = Vec::new();
    wire::encode(&Chat("x".repeat(4_000)), &mut payload).unwrap();
    let mut frame = Vec::new();
    ClientFrame::Message {
        kind: 0,
        payload: &payload,
    }
    .encode(&mut frame);
    let mut raw = Raw::new();
    let mut taken = 0;
    for _ in 0..200 {
        // Three each twentieth of a second: sixty a second, for ten seconds.
        for _ in 0..3 {
            raw.pair.stream(&frame).unwrap();
        }
        raw.tick();
        raw.send(Header::default(), &[]).unwrap();
        taken += raw.pair.server.messages::<Chat>().count();
    }
    // 64 KiB a second for 10 s and a burst of 128 KiB are 196 messages of 4 KiB.
    assert!((150..=200).contains(&taken), "{taken} of 600 were taken");
    let stats = raw.pair.server.stats(raw.pair.id).unwrap();
    assert_eq!(stats.dropped_messages, 600 - u64::try_from(taken).unwrap());
    assert!(
        raw.pair.server.is_connected(raw.pair.id),
        "over the rate, but not ten times"
    );
}

#[test]
fn hostile_38_messages_that_nobody_takes_are_capped() {
    let mut raw = Raw::new();
    for round in 0..400_u16 {
        let mut rest = vec![1];
        SmallMessage {
            kind: 1,
            id: round,
            payload: &[7],
        }
        .encode(&mut rest);
        raw.send(
            Header {
                messages: true,
                ..Header::default()
            },
            &rest,
        )
        .unwrap();
        raw.tick();
    }
    let stats = raw.pair.server.stats(raw.pair.id).unwrap();
    assert_eq!(stats.dropped_messages, 400 - 256);
    assert_eq!(raw.pair.server.messages::<Hit>().count(), 256);
}

#[test]
fn a_client_costs_no_more_than_its_caps() {
    // P1: before the hello less than 1 MiB, and in all less than 4 MiB, whatever a client sends.
    let mut pair = Pair::new();
    let info = allocation_counter::measure(|| {
        pair.stream(&[0xFF, 0x0F, 0, 0]).unwrap();
        pair.stream(&[1; 4_000]).unwrap();
    });
    assert!(
        info.bytes_max < 64 * 1_024,
        "{} bytes before the hello",
        info.bytes_max
    );

    let mut raw = Raw::new();
    let info = allocation_counter::measure(|| {
        for round in 0..3_000_u32 {
            let mut rest = vec![40];
            for number in 0..40 {
                let id = u16::try_from((round * 40 + number) % 65_536).unwrap();
                let kind = 1 + number % 2;
                SmallMessage {
                    kind,
                    id,
                    payload: &[7],
                }
                .encode(&mut rest);
            }
            if raw
                .send(
                    Header {
                        messages: true,
                        ..Header::default()
                    },
                    &rest,
                )
                .is_err()
            {
                break;
            }
            if round.is_multiple_of(4) {
                raw.tick();
            }
        }
    });
    assert!(info.bytes_max < 4 << 20, "{} bytes", info.bytes_max);
}
