//! How every entity stands to one client: in, entering, leaving or out.

use crate::world::TICKS_PER_SECOND;

/// For how many ticks a change stays visible: one second.
const FLASH_TICKS: u64 = TICKS_PER_SECOND as u64;

/// How an entity stands to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Not in the set.
    Far,
    /// In the set, within the radius.
    Near,
    /// In the set since a moment ago.
    Entered,
    /// In the margin, or out of the set since a moment ago.
    Leaving,
}

/// The state of every entity by id, from one tick to the next.
///
/// ```
/// use nebula_demo::marks::{Mark, Marks};
///
/// let mut marks = Marks::default();
/// marks.update(1, 3, &[0], &[0]); // the first answer is no news
/// marks.update(2, 3, &[1, 2], &[1]);
/// let now: Vec<_> = marks.all(2).collect();
/// assert_eq!(now, [Mark::Leaving, Mark::Entered, Mark::Entered]);
/// let later: Vec<_> = marks.all(99).collect();
/// assert_eq!(later, [Mark::Far, Mark::Near, Mark::Leaving]); // the last is in the margin
/// ```
#[derive(Clone, Debug, Default)]
pub struct Marks {
    states: Vec<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    member: bool,
    near: bool,
    /// The tick in which it came into the set or left it; 0 for never.
    changed: u64,
}

impl Marks {
    /// Takes the sets of one tick: how many entities there are, the ids in the client's set, and the
    /// ids within the radius, both ascending.
    ///
    /// New entities are no news, so neither the first answer nor a larger world flashes.
    pub fn update(&mut self, tick: u64, entities: usize, members: &[u32], near: &[u32]) {
        let known = self.states.len().min(entities);
        self.states.resize(entities, State::default());
        let index = |id: &u32| usize::try_from(*id).ok();
        let mut members = members.iter().filter_map(index).peekable();
        let mut near = near.iter().filter_map(index).peekable();
        for (id, state) in self.states.iter_mut().enumerate() {
            let member = members.next_if_eq(&id).is_some();
            state.near = near.next_if_eq(&id).is_some();
            if member != state.member {
                state.member = member;
                state.changed = if id < known { tick } else { 0 };
            }
        }
    }

    /// Forgets everything: another client is looked at.
    pub fn clear(&mut self) {
        self.states.clear();
    }

    /// Returns the state of every entity in id order, as seen at this tick.
    pub fn all(&self, tick: u64) -> impl Iterator<Item = Mark> + '_ {
        self.states.iter().map(move |state| {
            let fresh = state.changed > 0 && tick.saturating_sub(state.changed) < FLASH_TICKS;
            match (state.member, fresh) {
                (true, true) => Mark::Entered,
                (true, false) if state.near => Mark::Near,
                (false, false) => Mark::Far,
                (true, false) | (false, true) => Mark::Leaving,
            }
        })
    }
}
