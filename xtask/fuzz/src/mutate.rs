//! Inputs by random mutation: what the plain driver has in place of coverage guidance.

/// Makes inputs out of a corpus, the same ones for the same seed.
#[derive(Clone, Debug)]
pub struct Mutator {
    corpus: Vec<Vec<u8>>,
    state: u64,
    max_len: usize,
}

impl Mutator {
    /// Starts from a corpus, which may be empty.
    #[must_use]
    pub fn new(corpus: Vec<Vec<u8>>, seed: u64, max_len: usize) -> Self {
        Self {
            corpus,
            state: seed,
            max_len,
        }
    }

    /// Returns the next input: fresh bytes one time in four, else a corpus entry with a few changes.
    pub fn input(&mut self) -> Vec<u8> {
        if self.corpus.is_empty() || self.below(4) == 0 {
            let len = self.below(self.max_len + 1);
            return (0..len).map(|_| self.byte()).collect();
        }
        let one = self.below(self.corpus.len());
        let mut data = self.corpus[one].clone();
        for _ in 0..=self.below(8) {
            self.change(&mut data);
        }
        data.truncate(self.max_len);
        data
    }

    fn change(&mut self, data: &mut Vec<u8>) {
        let at = self.below(data.len() + 1);
        match self.below(7) {
            0 if at < data.len() => data[at] ^= 1 << self.below(8),
            1 if at < data.len() => data[at] = self.byte(),
            2 => {
                let byte = self.byte();
                data.insert(at, byte);
            }
            3 => {
                let end = (at + 1 + self.below(16)).min(data.len());
                data.drain(at..end);
            }
            4 => {
                // Runs of 0 and 255 reach the ends of every range.
                let fill = if self.below(2) == 0 { 0 } else { 255 };
                let end = (at + 1 + self.below(16)).min(data.len());
                data[at..end].fill(fill);
            }
            5 => {
                let other = self.below(self.corpus.len());
                let from = self.below(self.corpus[other].len() + 1);
                data.truncate(at);
                data.extend_from_slice(&self.corpus[other][from..]);
            }
            _ => {
                let more = self.below(24);
                data.extend((0..more).map(|_| self.byte()));
            }
        }
    }

    fn byte(&mut self) -> u8 {
        self.word().to_le_bytes()[0]
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.word() % n as u64).expect("below a usize")
    }

    fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Returns a short name for an input (FNV-1a), to file it under.
#[must_use]
pub fn fingerprint(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
