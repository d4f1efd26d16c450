//! Where random choices come from: a seeded generator, or the bytes of a fuzz input.

/// A stream of choices. The same stream gives the same operations on every machine.
pub(crate) trait Source {
    /// Returns the next 64 bits.
    fn word(&mut self) -> u64;

    /// Returns whether there is nothing left to read.
    fn is_done(&self) -> bool;

    /// Returns a choice below `n`, which must not be zero.
    fn below(&mut self, n: u64) -> u64 {
        self.word() % n
    }

    /// Returns a choice below `n` as a list index.
    fn index(&mut self, n: usize) -> usize {
        usize::try_from(self.below(n as u64)).expect("below a usize")
    }

    /// Returns one of the values.
    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.index(values.len())]
    }

    /// Returns 128 bits.
    fn wide(&mut self) -> i128 {
        (i128::from(self.word()) << 64) | i128::from(self.word())
    }
}

/// SplitMix64: tiny, and the same everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Seeded(pub u64);

impl Source for Seeded {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn is_done(&self) -> bool {
        false
    }
}

/// The bytes of a fuzz input; past their end every choice is zero.
#[derive(Clone, Debug)]
pub(crate) struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u64 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                u64::from(*first)
            }
            None => 0,
        }
    }
}

impl Source for Bytes<'_> {
    fn word(&mut self) -> u64 {
        (0..8).fold(0, |word, i| word | (self.byte() << (8 * i)))
    }

    fn is_done(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads only as many bytes as the choice needs, so that a mutation of one byte changes one
    /// choice.
    fn below(&mut self, n: u64) -> u64 {
        let mut value = self.byte();
        let mut reach = 256;
        while reach < n {
            value = (value << 8) | self.byte();
            reach = reach.saturating_mul(256);
        }
        value % n
    }
}
