//! What the hardware needs at least, measured in the same run: a copy of the hits, one dependent miss,
//! a stream read.

use std::hint::black_box;
use std::time::Duration;

use nebula_peers::clock;
use nebula_peers::random::Random;

/// What an entity cannot do without: three 4-byte offsets and a 4-byte id.
pub(crate) const BYTES_PER_ENTITY: usize = 16;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u32; 16]);

/// Memory as large as the least that an index of `n` entities must hold.
pub(crate) struct Limits {
    /// A ring through every line in random order.
    lines: Vec<Line>,
    ids: Vec<u32>,
    /// Where the hits of a query begin; random, as queries are.
    starts: Vec<usize>,
    out: Vec<u32>,
}

impl Limits {
    pub(crate) fn new(n: usize) -> Self {
        let count = (n * BYTES_PER_ENTITY / 64).max(16);
        let mut random = Random(0x11);
        let mut order: Vec<usize> = (0..count).collect();
        random.shuffle(&mut order);
        let mut lines = vec![Line([0; 16]); count];
        for (i, at) in order.iter().enumerate() {
            let next = order[(i + 1) % count];
            lines[*at].0[0] = u32::try_from(next).expect("fewer than 2^32 lines");
        }
        Self {
            lines,
            ids: (0..u32::try_from(n).expect("fewer than 2^32 ids")).collect(),
            starts: (0..1_024).map(|_| random.below(n)).collect(),
            out: Vec::new(),
        }
    }

    /// Copies that many ids for each query into a list.
    pub(crate) fn copy(&mut self, hits: &[usize]) -> Duration {
        let Self {
            ids, starts, out, ..
        } = self;
        clock::cpu(|| {
            for (hits, start) in hits.iter().zip(starts.iter().cycle()) {
                let last = ids.len() - hits;
                let start = (*start).min(last);
                out.extend_from_slice(&ids[start..start + hits]);
                black_box(&mut *out).clear();
            }
        })
    }

    /// Follows that many references, each known only when the one before has arrived.
    pub(crate) fn misses(&self, count: usize) -> Duration {
        clock::cpu(|| {
            let mut at = 0_usize;
            for _ in 0..count {
                at = self.lines[at].0[0] as usize;
            }
            black_box(at)
        })
    }

    /// Reads all entities once, in order; scale it to the number that is to be read.
    pub(crate) fn stream(&self) -> Duration {
        clock::cpu(|| {
            let mut sum = [0_u32; 16];
            for line in &self.lines {
                for (sum, word) in sum.iter_mut().zip(line.0) {
                    *sum = sum.wrapping_add(word);
                }
            }
            black_box(sum)
        })
    }
}
