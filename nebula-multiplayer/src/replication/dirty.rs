//! A set of slots that is read in order.

use super::ids::table_index;

/// The slots with something due. Reading it in order costs one word per 64 slots.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    words: Vec<u64>,
    count: usize,
}

impl Dirty {
    #[inline]
    pub(crate) fn set(&mut self, slot: u32) {
        let word = table_index(slot / 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let bit = 1 << (slot % 64);
        self.count += usize::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    #[inline]
    pub(crate) fn clear(&mut self, slot: u32) {
        if let Some(word) = self.words.get_mut(table_index(slot / 64)) {
            let bit = 1 << (slot % 64);
            self.count -= usize::from(*word & bit != 0);
            *word &= !bit;
        }
    }

    pub(crate) fn clear_all(&mut self) {
        self.words.fill(0);
        self.count = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the slots, lowest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let words = (0_u32..).zip(self.words.iter());
        words.flat_map(|(at, word)| {
            super::record::bits(*word).map(move |bit| at * 64 + u32::try_from(bit).unwrap_or(0))
        })
    }
}
