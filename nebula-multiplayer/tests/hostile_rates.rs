//! Too much of everything: rows 37 and 38 of the hostile input table, and what a client may cost. A
//! healthy client beside the bad one notices nothing.

mod common;

use core::time::Duration;

use bevy_ecs::prelude::*;
use common::bytes::{frame, messages};
use common::raw::Raw;
use common::{Chat, Health, Hit, MAX, Pair, Steer};
use nebula_multiplayer::Disconnect;
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::message::ClientFrame;
use nebula_multiplayer::server::ServerEvent;
use nebula_multiplayer::session::{Header, SmallMessage};
use nebula_multiplayer::wire::{self, DecodeError};

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
    raw.pair.witness_notices_nothing();
}

/// A pair whose stream to the client is a link that takes so many bytes a tick.
struct SlowReader {
    pair: Pair,
    player: Entity,
    held: Vec<u8>,
}

impl SlowReader {
    fn new() -> Self {
        let mut pair = Pair::watched().live();
        let player = pair.spawn_player();
        pair.steps(10);
        let held = Vec::new();
        Self { pair, player, held }
    }

    /// One tick; returns how many bytes of state went out.
    fn step(&mut self, rate: usize) -> u64 {
        let pair = &mut self.pair;
        pair.now += Duration::from_millis(50);
        let mut bytes = Vec::new();
        while pair.client.transmit(MAX, &mut bytes) {
            let _ = pair.datagram(&bytes);
            bytes.clear();
        }
        let before = pair.server.stats(pair.id).map(|s| s.state_bytes_sent);
        pair.tick();
        while pair.server.transmit_stream(pair.id, MAX, &mut self.held) {}
        let taken = self.held.len().min(rate);
        let read: Vec<u8> = self.held.drain(..taken).collect();
        pair.client.receive_stream(&read, pair.now).unwrap();
        pair.server.note_unsent(pair.id, self.held.len(), pair.now);
        while pair.server.transmit(pair.id, MAX, &mut bytes) {
            pair.client.receive(&bytes, pair.now).unwrap();
            bytes.clear();
        }
        pair.client.tick(&mut pair.mirror, pair.now);
        let after = pair.server.stats(pair.id).map(|s| s.state_bytes_sent);
        after
            .zip(before)
            .map_or(0, |(after, before)| after - before)
    }

    fn shout(&mut self, bytes: usize) {
        let text = Chat("x".repeat(bytes));
        self.pair.server.send(self.pair.id, &text).unwrap();
    }

    /// Changes what the client sees, so that there is state to send.
    fn hurt(&mut self, health: u16) {
        self.pair.world.get_mut::<Health>(self.player).unwrap().0 = health;
    }

    fn mirrored(&mut self) -> Vec<u16> {
        let mut rows = self.pair.mirror.query::<&Health>();
        rows.iter(&self.pair.mirror).map(|row| row.0).collect()
    }
}

#[test]
fn hostile_37_two_seconds_without_reading_end_in_a_resync() {
    let mut slow = SlowReader::new();
    assert_eq!(slow.mirrored(), [100]);
    slow.shout(2_000);
    let mut state = 0;
    for tick in 0..70 {
        slow.hurt(tick);
        let bytes = slow.step(0);
        if tick > 45 {
            assert!(slow.pair.server.is_stalled(slow.pair.id), "tick {tick}");
            assert_eq!(bytes, 0, "no state for one who does not read");
        }
        state += bytes;
    }
    assert!(state > 0, "before that it got what it sees");
    assert_eq!(slow.pair.server.stats(slow.pair.id).unwrap().resyncs, 1);
    assert_ne!(slow.mirrored(), [69]);
    // It reads again: everything comes anew, and it is as if nothing had been.
    for _ in 0..20 {
        slow.step(usize::MAX);
    }
    assert!(!slow.pair.server.is_stalled(slow.pair.id));
    assert_eq!(slow.mirrored(), [69]);
    assert_eq!(slow.pair.client.messages::<Chat>().count(), 1);
    slow.pair.witness_notices_nothing();
}

#[test]
fn hostile_37_five_seconds_without_reading_end_the_client() {
    // Nothing; a byte a second; a byte each tick, which is twenty a second. The last two are enough to
    // look alive, and too slow to be served.
    let rates: [fn(usize) -> usize; 3] = [|_| 0, |tick| usize::from(tick % 20 == 0), |_| 1];
    for rate in rates {
        let mut slow = SlowReader::new();
        slow.shout(2_000);
        let mut ticks = 0;
        while slow.pair.server.is_connected(slow.pair.id) {
            slow.step(rate(ticks));
            ticks += 1;
            assert!(ticks < 110, "dropped after five seconds");
        }
        assert!(ticks >= 99, "not before: {ticks} ticks");
        let events: Vec<_> = slow.pair.server.events().collect();
        let reason = Disconnect::Stalled;
        let client = slow.pair.id;
        assert!(
            events.contains(&ServerEvent::Disconnected { client, reason }),
            "{events:?}"
        );
        assert_eq!(slow.pair.held(), 0, "and nothing is kept of it");
        slow.pair.witness_notices_nothing();
    }
}

#[test]
fn hostile_37_a_client_that_claims_to_read_is_judged_by_its_link() {
    // It confirms every message, and its link still holds the bytes.
    let limits = Limits {
        bytes_out_per_second: 1 << 24,
        burst_bytes: 1 << 24,
        ..Limits::default()
    };
    let mut raw = Raw::with(limits);
    let mut held = 0;
    let mut confirmed = 0_u16;
    for _ in 0..20 {
        for _ in 0..40 {
            confirmed += 1;
            let text = Chat("x".repeat(1_000));
            raw.pair.server.send(raw.pair.id, &text).unwrap();
        }
        raw.pair.now += Duration::from_millis(50);
        raw.pair.tick();
        let mut bytes = Vec::new();
        while raw
            .pair
            .server
            .transmit_stream(raw.pair.id, MAX, &mut bytes)
        {
            held += bytes.len();
            bytes.clear();
            raw.pair.server.note_unsent(raw.pair.id, held, raw.pair.now);
        }
        let header = Header {
            ordered: Some(confirmed),
            ..Header::default()
        };
        let _ = raw.send(header, &[]);
        if held >= 256 * 1_024 {
            break;
        }
    }
    assert_eq!(held, 256 * 1_024, "the link is never given more to hold");
    raw.tick();
    assert!(raw.pair.server.is_stalled(raw.pair.id));
    raw.pair.witness_notices_nothing();
}

#[test]
fn a_client_that_is_cut_off_is_not_taken_for_one_that_does_not_read() {
    let mut slow = SlowReader::new();
    slow.shout(2_000);
    let now = slow.pair.now;
    // Nothing is heard of it for nine seconds, and its link holds everything.
    for tick in 1..=180 {
        let now = now + Duration::from_millis(50 * tick);
        slow.pair.now = now;
        slow.pair.tick();
        slow.pair
            .server
            .transmit_stream(slow.pair.id, MAX, &mut slow.held);
        slow.pair
            .server
            .note_unsent(slow.pair.id, slow.held.len(), now);
    }
    assert!(slow.pair.server.is_connected(slow.pair.id));
    for _ in 0..20 {
        slow.step(usize::MAX);
    }
    assert_eq!(slow.pair.client.messages::<Chat>().count(), 1);
    assert_eq!(slow.mirrored(), [100]);
}

#[test]
fn hostile_38_ten_thousand_messages_a_second() {
    let mut raw = Raw::new();
    let mut sent = 0_u32;
    let result = loop {
        sent += 1;
        if sent.is_multiple_of(500) {
            raw.tick();
        }
        if let Err(reason) = raw.send_message(1, 0, &[7]) {
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
    raw.pair.witness_notices_nothing();
}

#[test]
fn hostile_38_latest_messages_by_the_thousand() {
    const STEER: u32 = 2;
    // Two hundred in a datagram, each newer than the one before, or one number over and over.
    let numbers: [fn(u16) -> u16; 2] = [|n| n, |_| 0];
    for number in numbers {
        let mut raw = Raw::new();
        let mut rest = vec![200];
        for n in 0..200 {
            SmallMessage {
                kind: STEER,
                id: number(n),
                payload: &[7],
            }
            .encode(&mut rest);
        }
        let result = raw.send(messages(), &rest);
        let error = raw.pair.assert_dropped(result);
        let text = "two messages of a latest-wins kind in a datagram";
        assert_eq!(error, DecodeError::NotAllowed(text));
        assert_eq!(raw.pair.server.messages::<Steer>().count(), 0);
        raw.pair.witness_notices_nothing();
    }
    // One in each datagram is as many as datagrams may come.
    let mut raw = Raw::new();
    for id in 0..1_000 {
        raw.send_message(STEER, id, &[7]).unwrap();
    }
    let stats = raw.pair.server.stats(raw.pair.id).unwrap();
    let ignored = usize::try_from(stats.ignored_datagrams).unwrap();
    assert!(ignored > 700, "{ignored} of 1,000 were over the rate");
    let taken = raw.pair.server.messages::<Steer>().count();
    assert_eq!(taken, 1_000 - ignored);
    // And an honest client has no more, however often it says something new.
    let mut pair = Pair::watched().live();
    for n in 0..1_000 {
        pair.client.send(&Steer(n)).unwrap();
    }
    pair.step();
    let taken: Vec<_> = pair.server.messages::<Steer>().collect();
    assert_eq!(taken, [(pair.id, Steer(999))]);
    pair.witness_notices_nothing();
}

#[test]
fn hostile_38_sixty_large_messages_a_second() {
    let mut payload = Vec::new();
    wire::encode(&Chat("x".repeat(4_000)), &mut payload).unwrap();
    let frame = frame(&ClientFrame::Message {
        kind: 0,
        payload: &payload,
    });
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
    raw.pair.witness_notices_nothing();
}

#[test]
fn hostile_38_messages_that_nobody_takes_are_capped() {
    let mut raw = Raw::new();
    for round in 0..400_u16 {
        raw.send_message(1, round, &[7]).unwrap();
        raw.tick();
    }
    let stats = raw.pair.server.stats(raw.pair.id).unwrap();
    assert_eq!(stats.dropped_messages, 400 - 256);
    assert_eq!(raw.pair.server.messages::<Hit>().count(), 256);
    raw.pair.witness_notices_nothing();
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
            // One of which the latest counts, and 39 that must all arrive.
            let mut rest = vec![40];
            for number in 0..40 {
                let latest = number == 39;
                let id = if latest { round } else { round * 39 + number };
                let id = u16::try_from(id % 65_536).unwrap();
                let kind = if latest { 2 } else { 1 };
                SmallMessage {
                    kind,
                    id,
                    payload: &[7],
                }
                .encode(&mut rest);
            }
            if raw.send(messages(), &rest).is_err() {
                break;
            }
            if round.is_multiple_of(4) {
                raw.tick();
            }
        }
    });
    assert!(info.bytes_max < 4 << 20, "{} bytes", info.bytes_max);
}
