//! A list with holes: a place stays valid until it is freed, and the last one freed is reused first.

#[derive(Clone, Debug)]
pub(super) struct Arena<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Arena<T> {
    pub(super) const fn new() -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn insert(&mut self, item: T) -> u32 {
        if let Some(at) = self.free.pop() {
            self.items[at as usize] = Some(item);
            return at;
        }
        let at = u32::try_from(self.items.len()).expect("fewer places than ids");
        self.items.push(Some(item));
        at
    }

    pub(super) fn remove(&mut self, at: u32) -> T {
        self.free.push(at);
        self.items[at as usize]
            .take()
            .expect("a freed place is not freed again")
    }

    #[inline]
    pub(super) fn get(&self, at: u32) -> &T {
        self.items[at as usize]
            .as_ref()
            .expect("links lead to places in use")
    }

    /// Returns a place without a look into it.
    #[inline]
    pub(super) fn place(&self, at: u32) -> &Option<T> {
        &self.items[at as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, at: u32) -> &mut T {
        self.items[at as usize]
            .as_mut()
            .expect("links lead to places in use")
    }

    /// Returns whether something is at a place.
    pub(super) fn is_used(&self, at: u32) -> bool {
        self.items[at as usize].is_some()
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
    }

    pub(super) fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().flatten()
    }

    /// Returns all places, holes included, to be worked on apart from each other.
    #[cfg(feature = "rayon")]
    pub(super) fn places_mut(&mut self) -> &mut [Option<T>] {
        &mut self.items
    }

    /// Returns the bytes the list itself takes, holes included.
    pub(super) fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<Option<T>>() + self.free.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_place_freed_is_reused_first() {
        let mut arena = Arena::new();
        let [a, b, c] = ['a', 'b', 'c'].map(|item| arena.insert(item));
        assert_eq!((arena.remove(a), arena.remove(c)), ('a', 'c'));
        assert_eq!((arena.insert('d'), arena.insert('e')), (c, a));
        assert_eq!((*arena.get(b), arena.len()), ('b', 3));
        assert_eq!(arena.iter().copied().collect::<String>(), "ebd");
    }
}
