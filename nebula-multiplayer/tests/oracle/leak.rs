//! Looks for secrets in bytes that leave the server.
//!
//! Every entity carries 16 random bytes that change now and then. Whoever finds them in a packet
//! knows whom the packet tells about, without understanding a single record of it.

use std::collections::HashMap;

/// How many bytes a secret has.
pub(crate) const SECRET: usize = 16;

/// Every secret there ever was, with whom and what it tells about.
#[derive(Clone, Debug)]
pub(crate) struct Secrets<T> {
    about: HashMap<[u8; SECRET], T>,
    /// A bit for each pair of first bytes that occurs, so that most offsets cost one lookup.
    starts: Vec<u64>,
}

impl<T: Copy> Secrets<T> {
    pub(crate) fn new() -> Self {
        Self {
            about: HashMap::new(),
            starts: vec![0; (1 << 16) / 64],
        }
    }

    pub(crate) fn add(&mut self, secret: [u8; SECRET], about: T) {
        let start = usize::from(u16::from_le_bytes([secret[0], secret[1]]));
        self.starts[start / 64] |= 1 << (start % 64);
        self.about.insert(secret, about);
    }

    /// Returns what the bytes tell about, at whatever offset, aligned or not.
    pub(crate) fn find(&self, bytes: &[u8]) -> Vec<T> {
        let windows = bytes.windows(SECRET).filter(|window| {
            let start = usize::from(u16::from_le_bytes([window[0], window[1]]));
            self.starts[start / 64] & 1 << (start % 64) != 0
        });
        let found = windows.filter_map(|window| self.about.get(window).copied());
        found.collect()
    }
}

/// The bytes of a stream, of which the last are kept: a secret may span two pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail(Vec<u8>);

impl Tail {
    /// Returns the new bytes with as many earlier ones as could begin a secret.
    pub(crate) fn join(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut joined = core::mem::take(&mut self.0);
        joined.extend_from_slice(bytes);
        self.0 = joined[joined.len().saturating_sub(SECRET - 1)..].to_vec();
        joined
    }
}

#[test]
fn a_secret_is_found_at_every_offset_and_across_pieces() {
    let secret = *b"sixteen bytes !!";
    let mut secrets = Secrets::new();
    secrets.add(secret, 7);
    for offset in 0..40 {
        let mut packet = vec![0x55; offset];
        packet.extend_from_slice(&secret);
        packet.push(1);
        assert_eq!(secrets.find(&packet), [7]);
        for cut in 0..packet.len() {
            let mut tail = Tail::default();
            let (one, two) = packet.split_at(cut);
            let found = [secrets.find(&tail.join(one)), secrets.find(&tail.join(two))].concat();
            assert!(!found.is_empty(), "offset {offset}, cut {cut}");
        }
    }
    assert!(secrets.find(&secret[1..]).is_empty());
}
