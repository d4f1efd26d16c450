//! Where an entity was in the last ticks, in few bytes.

use crate::Tick;

/// Ticks that a step may reach back: 0.8 s at 20 ticks a second.
pub(crate) const HISTORY: usize = LEN as usize;

const LEN: u8 = 16;

/// A position that holds from a tick on.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tick: Tick,
    low: [u32; 3],
}

/// The last positions of an entity, 32 bits an axis, by the tick in which each began.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// Where the newest is.
    newest: u8,
    len: u8,
    entries: [Entry; HISTORY],
}

impl History {
    /// Adds a position that holds from `tick`; a second one of the same tick replaces the first.
    #[inline]
    pub(crate) fn push(&mut self, tick: Tick, low: [u32; 3]) {
        if self.len == 0 || self.entry(0).tick != tick {
            self.newest = (self.newest + 1) % LEN;
            self.len = (self.len + 1).min(LEN);
        }
        self.entries[usize::from(self.newest)] = Entry { tick, low };
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Returns the position that held at `tick`, if it is remembered.
    #[inline]
    pub(crate) fn at(&self, tick: Tick) -> Option<[u32; 3]> {
        let mut entries = (0..self.len).map(|back| self.entry(back));
        let entry = entries.find(|entry| !entry.tick.is_newer_than(tick))?;
        Some(entry.low)
    }

    #[inline]
    fn entry(&self, back: u8) -> &Entry {
        &self.entries[usize::from((self.newest + LEN - back) % LEN)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_of_a_tick_holds_until_the_next_one() {
        let mut history = History::default();
        let start = u32::MAX - 3;
        let tick = |by: u32| Tick::new(start.wrapping_add(by));
        assert_eq!(history.at(tick(0)), None);
        for by in [0, 2, 3, 7] {
            history.push(tick(by), [by; 3]);
        }
        let at = |by| history.at(tick(by)).map(|[x, ..]| x);
        assert_eq!((at(0), at(1), at(2)), (Some(0), Some(0), Some(2)));
        assert_eq!((at(6), at(7), at(90)), (Some(3), Some(7), Some(7)));
    }

    #[test]
    fn the_oldest_give_way() {
        let mut history = History::default();
        for by in 0..40 {
            history.push(Tick::new(by), [by; 3]);
        }
        assert_eq!(history.at(Tick::new(23)), None);
        assert_eq!(history.at(Tick::new(24)), Some([24; 3]));
        history.clear();
        assert_eq!(history.at(Tick::new(39)), None);
    }
}
