//! Who is near, and who came or went a moment ago.

use crate::world::TICKS_PER_SECOND;

/// For how many ticks a change stays visible: one second.
const FLASH_TICKS: u64 = TICKS_PER_SECOND as u64;

/// How an entity stands to the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Outside the radius.
    Far,
    /// Within the radius.
    Near,
    /// Within the radius since a moment ago.
    Entered,
    /// Outside the radius since a moment ago.
    Exited,
}

/// The state of every entity by id, from one answer of the index to the next.
///
/// ```
/// use nebula_demo::marks::{Mark, Marks};
///
/// let mut marks = Marks::default();
/// marks.update(1, 3, &[0]); // the first answer is no news
/// marks.update(2, 3, &[1]);
/// let now: Vec<_> = marks.all(2).collect();
/// assert_eq!(now, [Mark::Exited, Mark::Entered, Mark::Far]);
/// let later: Vec<_> = marks.all(99).collect();
/// assert_eq!(later, [Mark::Far, Mark::Near, Mark::Far]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Per id: whether it is near, and the tick of its last change (0 for never).
    states: Vec<(bool, u64)>,
}

impl Marks {
    /// Takes the answer of one tick: how many entities there are, and the ids of those near, ascending.
    ///
    /// New entities are no news, so neither the first answer nor a larger world flashes.
    pub fn update(&mut self, tick: u64, entities: usize, near: &[u32]) {
        let known = self.states.len().min(entities);
        self.states.resize(entities, (false, 0));
        let mut near = near
            .iter()
            .filter_map(|id| usize::try_from(*id).ok())
            .peekable();
        for (id, state) in self.states.iter_mut().enumerate() {
            let is_near = near.next_if_eq(&id).is_some();
            if is_near != state.0 {
                *state = (is_near, if id < known { tick } else { 0 });
            }
        }
    }

    /// Returns the state of every entity in id order, as seen at this tick.
    pub fn all(&self, tick: u64) -> impl Iterator<Item = Mark> + '_ {
        self.states.iter().map(move |(near, changed)| {
            let fresh = *changed > 0 && tick.saturating_sub(*changed) < FLASH_TICKS;
            match (near, fresh) {
                (true, false) => Mark::Near,
                (true, true) => Mark::Entered,
                (false, false) => Mark::Far,
                (false, true) => Mark::Exited,
            }
        })
    }
}
