//! Tables with an entry for every `u32`.

use super::simd;

/// Where an id is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) leaf: u32,
    pub(super) slot: u32,
}

impl Spot {
    pub(super) const VACANT: Self = Self {
        leaf: u32::MAX,
        slot: u32::MAX,
    };

    /// Stands for an id between leaves: which entry of a batch says where it goes.
    pub(super) const fn leaving(entry: u32) -> Self {
        Self {
            leaf: u32::MAX,
            slot: entry,
        }
    }
}

pub(super) const PAGE_BITS: u32 = 12;
const PAGE: usize = 1 << PAGE_BITS;

/// A table with an entry for every `u32`, in pages that exist once they are written. The largest
/// index costs a directory of 8 MiB, not a whole table.
#[derive(Clone, Debug)]
pub(super) struct Paged<T> {
    pages: Vec<Option<Box<[T; PAGE]>>>,
    vacant: T,
}

impl<T: Copy + PartialEq> Paged<T> {
    pub(super) const fn new(vacant: T) -> Self {
        Self {
            pages: Vec::new(),
            vacant,
        }
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> T {
        match self.pages.get((index >> PAGE_BITS) as usize) {
            Some(Some(page)) => page[index as usize % PAGE],
            _ => self.vacant,
        }
    }

    /// Lets the processor fetch an entry.
    #[inline]
    pub(super) fn fetch(&self, index: u32) {
        if let Some(Some(page)) = self.pages.get((index >> PAGE_BITS) as usize) {
            simd::prefetch(&page[index as usize % PAGE]);
        }
    }

    #[inline]
    pub(super) fn set(&mut self, index: u32, value: T) {
        *self.entry(index) = value;
    }

    #[inline]
    pub(super) fn entry(&mut self, index: u32) -> &mut T {
        let at = (index >> PAGE_BITS) as usize;
        if at >= self.pages.len() {
            self.grow(at + 1);
        }
        let vacant = self.vacant;
        let page = self.pages[at].get_or_insert_with(|| new_page(vacant));
        &mut page[index as usize % PAGE]
    }

    #[cold]
    fn grow(&mut self, pages: usize) {
        self.pages.resize_with(pages, || None);
    }

    /// Returns how many entries are not vacant.
    pub(super) fn used(&self) -> usize {
        let pages = self.pages.iter().flatten();
        pages
            .map(|page| page.iter().filter(|entry| **entry != self.vacant).count())
            .sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.pages.capacity() * size_of::<Option<Box<[T; PAGE]>>>()
            + self.pages.iter().flatten().count() * size_of::<[T; PAGE]>()
    }
}

/// Makes a page in place: by way of the stack, every caller would have to look for so much room there on
/// each call, whether it needs a page or not.
#[cold]
#[inline(never)]
fn new_page<T: Copy>(vacant: T) -> Box<[T; PAGE]> {
    let page = vec![vacant; PAGE].into_boxed_slice();
    page.try_into()
        .unwrap_or_else(|_| unreachable!("a page has its length"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_index_is_as_good_as_any() {
        let mut table = Paged::new(Spot::VACANT);
        let spot = Spot { leaf: 1, slot: 2 };
        table.set(u32::MAX, spot);
        assert_eq!((table.get(u32::MAX), table.get(0)), (spot, Spot::VACANT));
        assert_eq!(table.used(), 1);
        assert!(table.bytes() < 20 << 20);
    }
}
