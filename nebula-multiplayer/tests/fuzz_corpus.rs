//! Replays the fuzz corpora as plain tests.

#[allow(dead_code, reason = "each test binary uses its own part of the oracle")]
mod oracle;
mod strangers;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use nebula_multiplayer::auth::ConnectToken;
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
fn frame_decode_corpus_is_clean() {
    replay("frame_decode", strangers::frames::frame_decode);
}

#[test]
fn token_parse_corpus_is_clean() {
    replay("token_parse", strangers::tokens::token_parse);
}

#[test]
fn client_messages_corpus_is_clean() {
    replay("client_messages", strangers::conversation::client_messages);
}

#[test]
fn odd_inputs_are_clean() {
    oracle::fuzz::session_ops(&[]);
    let targets = [
        oracle::fuzz::decode,
        strangers::frames::frame_decode,
        strangers::tokens::token_parse,
        strangers::conversation::client_messages,
    ];
    for target in targets {
        target(&[]);
        for byte in 0..=255 {
            target(&[byte; 40]);
        }
    }
}

fn write(target: &str, number: usize, data: &[u8]) {
    let dir = corpus(target);
    std::fs::create_dir_all(&dir).expect("writable");
    std::fs::write(dir.join(format!("seed-{number:03}")), data).expect("writable");
}

/// Writes packets of a real run as the corpora of `decode` and `frame_decode`, tokens as that of
/// `token_parse`, and lists of operations as those of `session_ops` and `client_messages`, if
/// `NEBULA_WRITE_CORPORA` is set: do so when the wire format changes.
#[test]
fn write_corpora() {
    if std::env::var_os("NEBULA_WRITE_CORPORA").is_none() {
        return;
    }
    write_tokens();
    write_conversations();
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
    let streams = [(0, &inputs[0]), (1, &inputs[2])];
    for (from, pieces) in streams {
        for (number, pieces) in pieces.chunks(2).take(16).enumerate() {
            let mut data = vec![from, 40];
            data.extend(pieces.concat());
            data.truncate(3_000);
            write("frame_decode", 100 * usize::from(from) + number, &data);
        }
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

fn write_tokens() {
    let servers = ["192.0.2.1:4433", "[2001:db8::1]:1", "192.0.2.2:4433"];
    let servers: Vec<SocketAddr> = servers.map(|at| at.parse().expect("an address")).to_vec();
    for number in 0..12 {
        let token = ConnectToken {
            client: [1, 42, u64::MAX][number % 3],
            expires_ms: [0, 20_000, 31_000, u64::MAX][number % 4],
            servers: servers[..1 + number % 3].to_vec(),
        };
        let plain = strangers::tokens::written(&token);
        let nonce = [u8::try_from(number).expect("small"); 24];
        let mut inside = vec![1];
        inside.extend(nonce);
        inside.extend(10_000_u16.to_le_bytes());
        inside.extend(&plain);
        write("token_parse", number, &inside);
        // One that is over, with its seal.
        let mut whole = vec![0];
        let over = ConnectToken {
            expires_ms: 9_999,
            ..token
        };
        let plain = strangers::tokens::written(&over);
        whole.extend(strangers::tokens::seal(nonce, &plain));
        write("token_parse", 100 + number, &whole);
    }
}

fn write_conversations() {
    let mut random = Random::new(2);
    for number in 0..40_usize {
        let mut data = vec![u8::try_from(number).expect("small")];
        for _ in 0..24 {
            let [op, len, ..] = random.word().to_le_bytes();
            data.extend([op, len % 12]);
            data.extend((0..2 * usize::from(len % 12)).map(|_| random.word().to_le_bytes()[0] % 5));
        }
        write("client_messages", number, &data);
    }
}
