//! Who sees an entity.

/// Nobody: no client has this number.
const NOBODY: Subscriber = Subscriber {
    viewer: u32::MAX,
    slot: 0,
};

/// Somebody who sees an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subscriber {
    pub(crate) viewer: u32,
    pub(crate) slot: u32,
}

/// All who see an entity. The first stands here and not elsewhere in memory: most have no second.
#[derive(Debug)]
pub(crate) struct Subscribers {
    first: Subscriber,
    others: Vec<Subscriber>,
}

impl Default for Subscribers {
    fn default() -> Self {
        Self {
            first: NOBODY,
            others: Vec::new(),
        }
    }
}

impl Subscribers {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == NOBODY
    }

    pub(crate) fn push(&mut self, subscriber: Subscriber) {
        if self.is_empty() {
            self.first = subscriber;
        } else {
            self.others.push(subscriber);
        }
    }

    /// Takes a subscriber out, if it is there. It looks at no more than one entry of eight bytes for each
    /// client that sees the entity: a thousand of them are a few hundred nanoseconds, and whatever found
    /// them by number would take more memory for everyone.
    pub(crate) fn remove(&mut self, subscriber: Subscriber) {
        if self.first == subscriber {
            self.first = self.others.pop().unwrap_or(NOBODY);
        } else if let Some(at) = self.others.iter().position(|other| *other == subscriber) {
            self.others.swap_remove(at);
        }
    }

    /// Returns for how many memory is kept.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.others.capacity()
    }

    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Subscriber> + '_ {
        let first = (!self.is_empty()).then_some(self.first);
        first.into_iter().chain(self.others.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_taken_out_is_gone_and_nobody_else() {
        let [a, b, c] = [1, 2, 3].map(|viewer| Subscriber { viewer, slot: 7 });
        let left = |out: &[Subscriber]| {
            let mut all = Subscribers::default();
            [a, b, c].into_iter().for_each(|one| all.push(one));
            out.iter().for_each(|one| all.remove(*one));
            let mut left: Vec<u32> = all.iter().map(|one| one.viewer).collect();
            left.sort_unstable();
            assert_eq!(all.is_empty(), left.is_empty());
            left
        };
        assert_eq!(left(&[]), [1, 2, 3]);
        assert_eq!(left(&[a]), [2, 3]);
        assert_eq!(left(&[b, b]), [1, 3]);
        assert_eq!(left(&[a, c]), [2]);
        assert_eq!(left(&[c, a, b]), [0_u32; 0]);
        let other = Subscriber { viewer: 1, slot: 8 };
        assert_eq!(left(&[other]), [1, 2, 3]);
    }
}
