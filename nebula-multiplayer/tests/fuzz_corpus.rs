//! Replays the fuzz corpora as plain tests.

#[allow(dead_code, reason = "each test binary uses its own part of the oracle")]
mod oracle;

use std::path::{Path, PathBuf};

use nebula_multiplayer::transport::Lane;
use nebula_multiplayer::transport::sim::Random;
use oracle::run::Simulation;

/// Prints which input failed.
struct Failed<'a>(&'a Path);

impl Drop for Failed<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed on {}", self.0.display());
        }
    }
}

fn corpus(target: &str) -> PathBuf {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../xtask/fuzz");
    fuzz.join("corpus").join(target)
}

fn replay(target: &str, run: fn(&[u8])) {
    let dir = corpus(target);
    if !dir.is_dir() {
        eprintln!("not run: a packaged crate has no corpus");
        return;
    }
    let entries = std::fs::read_dir(&dir).expect("readable");
    let mut files: Vec<_> = entries.map(|e| e.expect("readable").path()).collect();
    files.sort();
    assert!(
        files.len() >= 20,
        "{} inputs in {}",
        files.len(),
        dir.display()
    );
    for file in &files {
        let _failed = Failed(file);
        run(&std::fs::read(file).expect("readable"));
    }
}

#[test]
fn decode_corpus_is_clean() {
    replay("decode", oracle::fuzz::decode);
}

#[test]
fn session_ops_corpus_is_clean() {
    replay("session_ops", oracle::fuzz::session_ops);
}

#[test]
fn odd_inputs_are_clean() {
    oracle::fuzz::decode(&[]);
    oracle::fuzz::session_ops(&[]);
    for byte in 0..=255 {
        oracle::fuzz::decode(&[byte; 40]);
    }
}

/// Writes packets of a real run as the corpus of `decode`, and lists of operations as that of
/// `session_ops`, if `NEBULA_WRITE_CORPORA` is set: do so when the wire format changes.
#[test]
fn write_corpora() {
    if std::env::var_os("NEBULA_WRITE_CORPORA").is_none() {
        return;
    }
    let write = |target: &str, number: usize, data: &[u8]| {
        let dir = corpus(target);
        std::fs::create_dir_all(&dir).expect("writable");
        std::fs::write(dir.join(format!("seed-{number:03}")), data).expect("writable");
    };
    let mut random = Random::new(1);
    for number in 0..40 {
        let mut ops: Vec<u8> = random.word().to_le_bytes()[..2].to_vec();
        ops.extend((0..40).map(|_| random.word().to_le_bytes()[0]));
        write("session_ops", number, &ops);
    }
    // By whom they are for: three packets make one input.
    let mut inputs: [Vec<Vec<u8>>; 4] = Default::default();
    let mut simulation = Simulation::new(3);
    for _ in 0..120 {
        simulation.scenario.tick(&mut simulation.net.world);
        simulation.chat();
        simulation.watch_tick(&mut |sent| {
            let list = match (sent.to_server, sent.lane) {
                (true, Lane::Stream) => 0,
                (true, Lane::Datagram) => 1,
                (false, Lane::Stream) => 2,
                (false, Lane::Datagram) => 3,
            };
            inputs[list].push(sent.bytes.to_vec());
        });
    }
    let selectors = [[2, 3], [4, 4], [5, 6], [7, 7]];
    let mut number = 0;
    for (list, selectors) in inputs.iter().zip(selectors) {
        for packets in list.chunks(3).take(24) {
            let mut data = vec![selectors[number % 2]];
            for packet in packets {
                let len = u16::try_from(packet.len().min(1_399)).expect("small");
                data.extend_from_slice(&len.to_le_bytes());
                data.extend_from_slice(&packet[..usize::from(len)]);
            }
            write("decode", number, &data);
            number += 1;
        }
    }
}
