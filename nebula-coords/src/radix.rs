//! A radix sort of words that carry a key above an index.

/// Bits sorted per pass.
const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Below this many words a comparison sort is faster than clearing and summing the digit counts.
const RADIX_MIN: usize = 600;

/// A key and an index in one number.
pub(crate) trait Word: Copy + Ord + Default {
    /// Puts the key above the index; the caller has checked that both fit.
    fn pack(key: u128, shift: u32, index: usize) -> Self;
    /// Returns the index in the lowest bits.
    fn index(self, bits: u32) -> u32;
    /// Returns what is above the lowest bits; the caller knows that it fits 64.
    fn key(self, shift: u32) -> u64;
    /// Returns `DIGIT_BITS` bits.
    fn digit(self, shift: u32) -> usize;
}

macro_rules! word {
    ($word:ty) => {
        #[expect(
            clippy::cast_possible_truncation,
            trivial_numeric_casts,
            reason = "callers check the width; masks leave the bits that are wanted"
        )]
        impl Word for $word {
            #[inline]
            fn pack(key: u128, shift: u32, index: usize) -> Self {
                (key as Self) << shift | index as Self
            }
            #[inline]
            fn index(self, bits: u32) -> u32 {
                (self & ((1 << bits) - 1)) as u32
            }
            #[inline]
            fn key(self, shift: u32) -> u64 {
                self.unbounded_shr(shift) as u64
            }
            #[inline]
            fn digit(self, shift: u32) -> usize {
                (self >> shift) as usize & (DIGITS - 1)
            }
        }
    };
}

word!(u64);
word!(u128);

/// Returns how many bits the indices of `n` entries take.
pub(crate) const fn index_bits(n: usize) -> u32 {
    usize::BITS - n.saturating_sub(1).leading_zeros()
}

/// Sorts words by their key of `bits` bits above `shift`, and by the index in the bits below; on entry
/// the indices ascend. `spare` is working room.
pub(crate) fn radix_sort<W: Word>(words: &mut Vec<W>, spare: &mut Vec<W>, shift: u32, bits: u32) {
    if words.len() < RADIX_MIN {
        words.sort_unstable();
        return;
    }
    spare.clear();
    spare.resize(words.len(), W::default());
    for shift in (shift..shift + bits).step_by(DIGIT_BITS as usize) {
        let mut starts = [0_usize; DIGITS];
        for word in words.iter() {
            starts[word.digit(shift)] += 1;
        }
        if starts.contains(&words.len()) {
            continue; // Every key has the same digit here.
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += core::mem::replace(start, sum);
        }
        for word in words.iter() {
            let slot = &mut starts[word.digit(shift)];
            spare[*slot] = *word;
            *slot += 1;
        }
        core::mem::swap(words, spare);
    }
}
