//! `QueryCache`: answers reused within a tick until something crosses their border.

use std::collections::HashMap;

use nebula_math::WorldPosition;

use crate::{Region, SpatialStore};

/// Moves remembered before the cache forgets everything: checking an answer against more of them
/// would cost about as much as asking again.
const MOVES_MAX: usize = 1_024;

/// Answers kept unless [`QueryCache::with_capacity`] says otherwise.
const ANSWERS_MAX: usize = 1_024;

/// An index with a memory: a question asked twice in a tick is answered from the first time, until
/// something near has moved.
///
/// Changes go through the cache, so it cannot miss one. An answer stays valid while nothing crosses the
/// border of its region; a move inside it or elsewhere leaves it alone. Answers come in id order,
/// whether they are fresh or kept.
///
/// A kept answer costs one lookup plus a look at the moves made since it was last confirmed. Memory is
/// bounded by the number of answers kept (1,024 by default; one more forgets all of them).
///
/// ```
/// use nebula_coords::{QueryCache, Region, SpatialGrid};
/// use nebula_math::WorldPosition;
///
/// let mut cache = QueryCache::new(SpatialGrid::default());
/// cache.insert(1_u32, WorldPosition::new(-5_000, 0, 0));
/// let near = Region::ball(WorldPosition::ORIGIN, 10_000);
/// assert_eq!(cache.query(&near), [1]);
/// cache.insert(2, WorldPosition::new(-20_000, 0, 0)); // outside: the answer stays
/// assert_eq!(cache.query(&near), [1]);
/// assert_eq!((cache.hits(), cache.misses()), (1, 1));
/// cache.update(2, WorldPosition::new(-10_000, 0, 0)); // on the border: asked anew
/// assert_eq!(cache.query(&near), [1, 2]);
/// assert_eq!((cache.hits(), cache.misses()), (1, 2));
/// ```
#[derive(Debug)]
pub struct QueryCache<X: SpatialStore> {
    index: X,
    capacity: usize,
    answers: HashMap<Key, Answer<X::Id>>,
    /// Where something was and where it went, in this tick.
    moves: Vec<(Option<WorldPosition>, Option<WorldPosition>)>,
    /// Buffers of forgotten answers.
    spare: Vec<Vec<X::Id>>,
    hits: u64,
    misses: u64,
}

/// A region as plain numbers, to hash it.
type Key = [i128; 8];

#[derive(Debug)]
struct Answer<I> {
    ids: Vec<I>,
    /// The first move not yet compared with this answer.
    seen: usize,
}

impl<X: SpatialStore> QueryCache<X> {
    /// Wraps an index and keeps up to 1,024 answers.
    pub fn new(index: X) -> Self {
        Self::with_capacity(index, ANSWERS_MAX)
    }

    /// Wraps an index and keeps up to `answers` answers, and at least the latest.
    pub fn with_capacity(index: X, answers: usize) -> Self {
        Self {
            index,
            capacity: answers.max(1),
            answers: HashMap::new(),
            moves: Vec::new(),
            spare: Vec::new(),
            hits: 0,
            misses: 0,
        }
    }

    /// Returns the index, for questions that should not be kept.
    pub const fn index(&self) -> &X {
        &self.index
    }

    /// Gives the index back.
    pub fn into_inner(self) -> X {
        self.index
    }

    /// Returns how many questions were answered from memory.
    pub const fn hits(&self) -> u64 {
        self.hits
    }

    /// Returns how many questions the index had to answer.
    pub const fn misses(&self) -> u64 {
        self.misses
    }

    /// Returns how many answers are kept.
    pub fn kept(&self) -> usize {
        self.answers.len()
    }

    /// Returns every id in the region, in id order.
    ///
    /// The answer is borrowed from the cache, so the compiler keeps it from changing while it is read.
    pub fn query(&mut self, region: &Region) -> &[X::Id] {
        let key = key_of(region);
        let now = self.moves.len();
        let valid = self.answers.get_mut(&key).is_some_and(|answer| {
            let same = !self.moves[answer.seen..]
                .iter()
                .any(|step| crosses(region, step));
            answer.seen = now;
            same
        });
        if valid {
            self.hits += 1;
        } else {
            self.misses += 1;
            self.refresh(key, region, now);
        }
        self.answers.get(&key).map_or(&[], |answer| &answer.ids)
    }

    /// Stores `id` at a position and returns where it was before.
    pub fn insert(&mut self, id: X::Id, at: WorldPosition) -> Option<WorldPosition> {
        let len = self.index.len();
        let before = self.index.insert(id, at);
        if before.is_none() && self.index.len() != len + 1 {
            // The new id took the place of another one, whose position nobody told us.
            self.next_tick();
        } else {
            self.note(before, Some(at));
        }
        before
    }

    /// Moves `id`, and returns whether it was stored; an unknown id changes nothing.
    pub fn update(&mut self, id: X::Id, to: WorldPosition) -> bool {
        let before = self.index.position(id);
        let known = self.index.update(id, to);
        if known {
            self.note(before, Some(to));
        }
        known
    }

    /// Moves many ids, one after the other, and returns how many of the entries named a stored id; unknown
    /// ones change nothing.
    ///
    /// More moves than the cache remembers (1,024) make it forget every answer once, at the start: then the
    /// moves themselves are not remembered.
    ///
    /// ```
    /// use nebula_coords::{QueryCache, Region, SpatialGrid};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut cache = QueryCache::new(SpatialGrid::default());
    /// cache.insert(1_u32, WorldPosition::new(-5, 0, 0));
    /// let near = Region::ball(WorldPosition::ORIGIN, 10);
    /// assert_eq!(cache.query(&near), [1]);
    /// let away = WorldPosition::new(-11, 0, 0);
    /// assert_eq!(cache.update_batch(&[(1, away), (7, away)]), 1);
    /// assert_eq!(cache.query(&near), []);
    /// ```
    pub fn update_batch(&mut self, moves: &[(X::Id, WorldPosition)]) -> usize {
        if moves.len() > MOVES_MAX {
            self.next_tick();
        }
        let known = moves.iter().filter(|(id, to)| self.update(*id, *to));
        known.count()
    }

    /// Removes `id` and returns where it was.
    pub fn remove(&mut self, id: X::Id) -> Option<WorldPosition> {
        let before = self.index.remove(id);
        if before.is_some() {
            self.note(before, None);
        }
        before
    }

    /// Removes everything, answers too.
    pub fn clear(&mut self) {
        self.index.clear();
        self.next_tick();
    }

    /// Forgets every answer; call it once per tick.
    ///
    /// Answers would stay right for longer. Forgetting them keeps questions that nobody asks any more
    /// from piling up.
    pub fn next_tick(&mut self) {
        self.moves.clear();
        #[expect(
            clippy::iter_over_hash_type,
            reason = "only empty buffers are kept, and their order shows nowhere"
        )]
        for (_, mut answer) in self.answers.drain() {
            answer.ids.clear();
            self.spare.push(answer.ids);
        }
        self.spare.truncate(self.capacity);
    }

    /// Remembers a change.
    fn note(&mut self, from: Option<WorldPosition>, to: Option<WorldPosition>) {
        if self.answers.is_empty() || from == to {
            return;
        }
        if self.moves.len() >= MOVES_MAX {
            self.next_tick();
        } else {
            self.moves.push((from, to));
        }
    }

    /// Asks the index and keeps the answer.
    fn refresh(&mut self, key: Key, region: &Region, now: usize) {
        if self.answers.len() >= self.capacity && !self.answers.contains_key(&key) {
            self.next_tick();
        }
        let seen = now.min(self.moves.len());
        let spare = &mut self.spare;
        let answer = self.answers.entry(key).or_insert_with(|| Answer {
            ids: spare.pop().unwrap_or_default(),
            seen,
        });
        self.index.collect(region, &mut answer.ids);
        answer.ids.sort_unstable();
    }
}

/// Returns whether a change added something to the region or took something away.
fn crosses(region: &Region, (from, to): &(Option<WorldPosition>, Option<WorldPosition>)) -> bool {
    let inside = |p: &Option<WorldPosition>| p.is_some_and(|p| region.contains(&p));
    inside(from) != inside(to)
}

fn key_of(region: &Region) -> Key {
    match *region {
        Region::Ball {
            center: c,
            radius_mm,
            metric,
        } => [c.x, c.y, c.z, 0, 0, 0, radius_mm, metric as i128],
        Region::Box(aabb) => {
            let (a, b) = (aabb.min(), aabb.max());
            [a.x, a.y, a.z, b.x, b.y, b.z, 0, -1]
        }
        Region::Swept {
            from: a,
            to: b,
            radius_mm,
        } => [a.x, a.y, a.z, b.x, b.y, b.z, radius_mm, -2],
    }
}
