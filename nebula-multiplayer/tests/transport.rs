//! What a link does to bytes: nothing at all in memory, and exactly what the seed says in the
//! simulator.

use core::time::Duration;

use nebula_multiplayer::transport::memory::MemoryPipe;
use nebula_multiplayer::transport::sim::{FaultCounts, Faults, Random, SimPipe};
use nebula_multiplayer::transport::{Lane, Pipe};

const MS: Duration = Duration::from_millis(1);

fn bad() -> Faults {
    Faults {
        latency: 30 * MS,
        jitter: 20 * MS,
        drop: 1_000,
        duplicate: 500,
        reorder: 1_000,
        corrupt: 500,
        sealed: false,
        pause: 200,
        pause_max: 300 * MS,
        bandwidth: Some(200_000),
    }
}

/// Sends numbered datagrams and stream bytes for 10 virtual seconds, and returns what arrived.
fn carry(pipe: &mut impl Pipe, sent_stream: &mut Vec<u8>) -> Vec<(Duration, Lane, Vec<u8>)> {
    let mut arrived = Vec::new();
    for step in 0_u32..1_000 {
        let now = 20 * MS * step;
        if step < 500 {
            pipe.send(Lane::Datagram, &step.to_le_bytes().repeat(10), now);
            let text = format!("<{step}>");
            pipe.send(Lane::Stream, text.as_bytes(), now);
            sent_stream.extend_from_slice(text.as_bytes());
        }
        while let Some((lane, bytes)) = pipe.receive(now) {
            arrived.push((now, lane, bytes));
        }
    }
    arrived
}

fn stream_of(arrived: &[(Duration, Lane, Vec<u8>)]) -> Vec<u8> {
    let stream = arrived.iter().filter(|(_, lane, _)| *lane == Lane::Stream);
    stream.flat_map(|(_, _, bytes)| bytes.clone()).collect()
}

#[test]
fn a_perfect_link_changes_nothing() {
    let mut pipes: [Box<dyn Pipe>; 2] = [
        Box::new(MemoryPipe::default()),
        Box::new(SimPipe::new(1, Faults::NONE)),
    ];
    for pipe in &mut pipes {
        for step in 0_u32..100 {
            let now = MS * step;
            pipe.send(Lane::Datagram, &step.to_le_bytes(), now);
            let got = pipe.receive(now);
            assert_eq!(got, Some((Lane::Datagram, step.to_le_bytes().to_vec())));
            assert_eq!(pipe.receive(now), None);
        }
    }
}

#[test]
fn the_stream_is_complete_and_in_order_on_a_bad_link() {
    for seed in 0..20 {
        let mut pipe = SimPipe::new(seed, bad());
        pipe.partition(2_000 * MS);
        let mut sent = Vec::new();
        let arrived = carry(&mut pipe, &mut sent);
        assert_eq!(stream_of(&arrived), sent, "seed {seed}");
    }
}

#[test]
fn equal_seeds_give_equal_arrivals() {
    let run = |seed| {
        let mut pipe = SimPipe::new(seed, bad());
        let arrived = carry(&mut pipe, &mut Vec::new());
        (arrived, *pipe.counts())
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5).0, run(6).0);
}

#[test]
fn every_fault_strikes_and_is_counted() {
    let mut pipe = SimPipe::new(9, bad());
    let arrived = carry(&mut pipe, &mut Vec::new());
    let counts = *pipe.counts();
    assert_eq!(counts.datagrams, 500);
    let struck = [
        counts.drops,
        counts.duplicates,
        counts.reorders,
        counts.corruptions,
        counts.pauses,
    ];
    assert!(struck.iter().all(|count| *count > 0), "{counts:?}");
    let datagrams = arrived
        .iter()
        .filter(|(_, lane, _)| *lane == Lane::Datagram);
    let datagrams = u64::try_from(datagrams.count()).expect("small");
    assert_eq!(datagrams, 500 - counts.drops + counts.duplicates);
}

#[test]
fn damage_is_what_differs_from_what_was_sent() {
    let faults = Faults {
        corrupt: 10_000,
        sealed: false,
        ..Faults::NONE
    };
    let mut pipe = SimPipe::new(3, faults);
    let sent = [0xA5; 64];
    let mut differing = 0;
    for step in 0..200 {
        pipe.send(Lane::Datagram, &sent, MS * step);
        let (_, bytes) = pipe.receive(MS * step).expect("nothing is dropped");
        differing += u32::from(bytes != sent);
    }
    assert_eq!(pipe.counts().corruptions, 200);
    // Two flips of one bit cancel out now and then.
    assert!(differing > 180, "{differing}");
}

#[test]
fn a_sealed_link_drops_what_is_damaged() {
    let faults = Faults {
        corrupt: 10_000,
        ..Faults::NONE
    };
    let mut pipe = SimPipe::new(3, faults);
    pipe.send(Lane::Datagram, &[0xA5; 64], MS);
    assert_eq!(pipe.receive(MS), None);
    assert_eq!(pipe.counts().corruptions, 1);
}

#[test]
fn a_cut_takes_all_that_is_under_way() {
    let faults = Faults {
        latency: 50 * MS,
        ..Faults::NONE
    };
    let mut pipe = SimPipe::new(4, faults);
    pipe.send(Lane::Datagram, b"one", MS);
    pipe.send(Lane::Stream, b"two", MS);
    assert!(pipe.in_flight() >= 2);
    pipe.cut();
    assert_eq!(pipe.in_flight(), 0);
    assert_eq!(pipe.receive(1_000 * MS), None);
    pipe.send(Lane::Datagram, b"of a new connection", 1_000 * MS);
    assert!(pipe.receive(1_050 * MS).is_some());
    let cut_once = FaultCounts {
        cuts: 1,
        datagrams: 2,
        stream_bytes: 3,
        ..FaultCounts::default()
    };
    assert_eq!(*pipe.counts(), cut_once);
}

#[test]
fn a_pause_lets_everything_arrive_at_once() {
    let mut pipe = SimPipe::new(4, Faults::NONE);
    pipe.pause(100 * MS);
    for step in 0..5 {
        pipe.send(Lane::Datagram, &[step], 10 * MS);
    }
    assert_eq!(pipe.receive(99 * MS), None);
    for step in 0..5 {
        assert_eq!(pipe.receive(100 * MS), Some((Lane::Datagram, vec![step])));
    }
}

#[test]
fn a_healed_link_is_perfect_but_for_its_latency() {
    let mut pipe = SimPipe::new(4, bad());
    pipe.partition(10_000 * MS);
    pipe.pause(10_000 * MS);
    pipe.heal(100 * MS);
    assert_eq!(pipe.faults().drop, 0);
    pipe.send(Lane::Datagram, b"now", 100 * MS);
    let got = pipe.receive(130 * MS);
    assert_eq!(got, Some((Lane::Datagram, b"now".to_vec())));
    pipe.set_faults(bad());
    assert_eq!(*pipe.faults(), bad());
}

#[test]
fn a_narrow_link_delays_and_then_drops() {
    let faults = Faults {
        bandwidth: Some(1_000),
        ..Faults::NONE
    };
    let mut pipe = SimPipe::new(4, faults);
    for _ in 0..10 {
        pipe.send(Lane::Datagram, &[0; 500], Duration::ZERO);
    }
    assert_eq!(pipe.counts().drops, 6, "2 seconds hold four of them");
    assert_eq!(pipe.receive(499 * MS), None);
    assert!(pipe.receive(500 * MS).is_some());
    assert_eq!(pipe.receive(999 * MS), None);
}

#[test]
fn random_numbers_do_not_change_between_versions() {
    let mut random = Random::new(1);
    assert_eq!(random.word(), 0x910a_2dec_8902_5cc1);
    assert_eq!(random.index(0), 0);
    assert!(random.index(3) < 3);
    assert_ne!(random.wide(), random.wide());
}
