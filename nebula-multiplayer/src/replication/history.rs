//! Where an entity was in the last ticks, in few bytes.

use core::num::NonZeroU8;

use crate::Tick;

/// Ticks that a step may reach back: 0.8 s at 20 ticks a second.
pub(crate) const HISTORY: usize = LEN.get() as usize;

const LEN: NonZeroU8 = NonZeroU8::new(16).expect("not 0");

/// A position that holds from a tick on.
#[derive(Clone, Copy, Debug)]
struct Entry {
    tick: Tick,
    low: [u32; 3],
}

/// The last positions of an entity, 32 bits an axis, by the tick in which each began.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct History {
    /// Where the newest is.
    newest: u8,
    /// Never 0, by which an absent one is known.
    len: NonZeroU8,
    entries: [Entry; HISTORY],
}

impl History {
    /// Starts with a position that holds from `tick`.
    pub(crate) fn new(tick: Tick, low: [u32; 3]) -> Self {
        Self {
            newest: 0,
            len: NonZeroU8::MIN,
            entries: [Entry { tick, low }; HISTORY],
        }
    }

    /// Adds a position that holds from `tick`; a second one of the same tick replaces the first.
    #[inline]
    pub(crate) fn push(&mut self, tick: Tick, low: [u32; 3]) {
        if self.entry(0).tick != tick {
            self.newest = (self.newest + 1) % LEN.get();
            self.len = self.len.saturating_add(1).min(LEN);
        }
        self.entries[usize::from(self.newest)] = Entry { tick, low };
    }

    /// Returns the position that held at `tick`, if it is remembered.
    #[inline]
    pub(crate) fn at(&self, tick: Tick) -> Option<[u32; 3]> {
        let mut entries = (0..self.len.get()).map(|back| self.entry(back));
        let entry = entries.find(|entry| !entry.tick.is_newer_than(tick))?;
        Some(entry.low)
    }

    #[inline]
    fn entry(&self, back: u8) -> &Entry {
        &self.entries[usize::from((self.newest + LEN.get() - back) % LEN.get())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_of_a_tick_holds_until_the_next_one() {
        let start = u32::MAX - 3;
        let tick = |by: u32| Tick::new(start.wrapping_add(by));
        let mut history = History::new(tick(1), [1; 3]);
        for by in [2, 3, 7] {
            history.push(tick(by), [by; 3]);
        }
        let at = |by| history.at(tick(by)).map(|[x, ..]| x);
        assert_eq!((at(0), at(1), at(2)), (None, Some(1), Some(2)));
        assert_eq!((at(6), at(7), at(90)), (Some(3), Some(7), Some(7)));
    }

    #[test]
    fn the_oldest_give_way() {
        let mut history = History::new(Tick::new(0), [0; 3]);
        for by in 1..40 {
            history.push(Tick::new(by), [by; 3]);
        }
        assert_eq!(history.at(Tick::new(23)), None);
        assert_eq!(history.at(Tick::new(24)), Some([24; 3]));
    }

    #[test]
    fn a_second_position_of_a_tick_replaces_the_first() {
        let mut history = History::new(Tick::new(5), [1; 3]);
        history.push(Tick::new(5), [2; 3]);
        assert_eq!(history.at(Tick::new(5)), Some([2; 3]));
        assert_eq!(history.at(Tick::new(4)), None);
    }
}
