//! Which clients may be near a position: a coarse grid over the clients' areas.
//!
//! An area lies in the cells that its outer sphere touches, at a level where that is at most eight.
//! A moved entity then costs one lookup per level in use, which is one or two.

use core::hash::{BuildHasher, Hasher};
use std::collections::HashMap;
use std::hash::RandomState;

use nebula_math::WorldPosition;

use super::Area;

/// The smallest cells have 2^16 mm, about 66 m.
const SMALLEST: u32 = 16;
/// With cells of 2^127 mm the universe has eight.
const LARGEST: u32 = 127;

/// The cells of one area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cells {
    level: u32,
    low: [i128; 3],
    high: [i128; 3],
}

impl Cells {
    pub(super) fn of(area: &Area) -> Self {
        let outer = area.radius_mm.saturating_add(area.margin_mm);
        let bits = u128::BITS - outer.leading_zeros();
        // A cell is at least as wide as the sphere, which thus touches two at most along an axis.
        Self::around(&area.center, outer, (bits + 1).clamp(SMALLEST, LARGEST))
    }

    fn around(center: &WorldPosition, reach: u128, level: u32) -> Self {
        let center = center.to_array();
        Self {
            level,
            low: center.map(|c| c.saturating_sub_unsigned(reach) >> level),
            high: center.map(|c| c.saturating_add_unsigned(reach) >> level),
        }
    }

    /// Returns whether there are few enough cells to look at each.
    fn are_few(&self) -> bool {
        (0..3).all(|axis| self.high[axis].abs_diff(self.low[axis]) <= 2)
    }

    fn each(&self, mut f: impl FnMut(Key)) {
        for x in self.low[0]..=self.high[0] {
            for y in self.low[1]..=self.high[1] {
                for z in self.low[2]..=self.high[2] {
                    f(Key {
                        level: self.level,
                        x,
                        y,
                        z,
                    });
                }
            }
        }
    }
}

/// The cell `at` of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    level: u32,
    x: i128,
    y: i128,
    z: i128,
}

impl Key {
    /// Returns the cell of a position.
    fn of(at: &WorldPosition, level: u32) -> Self {
        let [x, y, z] = at.to_array().map(|c| c >> level);
        Self { level, x, y, z }
    }
}

/// Makes hashers with a secret that differs from run to run; it shows in no result.
#[derive(Debug)]
struct Secret([u64; 2]);

impl Default for Secret {
    fn default() -> Self {
        let source = RandomState::new();
        // Odd numbers, so that a product loses nothing.
        Self([source.hash_one(1) | 1, source.hash_one(2) | 1])
    }
}

impl BuildHasher for Secret {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded {
            secret: self.0,
            state: self.0[0],
        }
    }
}

/// Multiplies with the secret and folds the product, 64 bits at a time: a fifth of the time of
/// `SipHash` for 52 bytes, and as little to be guessed by who chooses positions.
struct Folded {
    secret: [u64; 2],
    state: u64,
}

impl Folded {
    #[inline]
    fn word(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.secret[1]);
        let [high, low] = halves(product);
        self.state = (high ^ low).wrapping_add(self.secret[0]);
    }
}

impl Hasher for Folded {
    #[inline]
    fn finish(&self) -> u64 {
        self.state
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.word(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.word(u64::from(number));
    }

    #[inline]
    fn write_i128(&mut self, number: i128) {
        let [high, low] = halves(number.cast_unsigned());
        self.word(low);
        self.word(high);
    }
}

/// Returns the upper and the lower 64 bits.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the rest is in the other half"
)]
const fn halves(wide: u128) -> [u64; 2] {
    [(wide >> 64) as u64, wide as u64]
}

/// The areas of all clients, by cell. Positions are the players' doing, so the keys are hashed with a
/// secret; the map is only asked, never walked.
#[derive(Debug, Default)]
pub(super) struct AreaGrid {
    cells: HashMap<Key, Cell, Secret>,
    /// Levels in use, with the number of areas on each.
    levels: Vec<(u32, usize)>,
}

/// Clients with an area here; a client is named once for each of its areas.
#[derive(Debug, Default)]
struct Cell {
    clients: Vec<u32>,
    /// The last round in which all of them were found to be waiting for a look already.
    done: Option<u64>,
}

impl AreaGrid {
    pub(super) fn insert(&mut self, client: u32, cells: &Cells) {
        match self
            .levels
            .iter_mut()
            .find(|(level, _)| *level == cells.level)
        {
            Some((_, count)) => *count += 1,
            None => self.levels.push((cells.level, 1)),
        }
        cells.each(|key| {
            let cell = self.cells.entry(key).or_default();
            cell.clients.push(client);
            cell.done = None;
        });
    }

    pub(super) fn remove(&mut self, client: u32, cells: &Cells) {
        if let Some(at) = self
            .levels
            .iter()
            .position(|(level, _)| *level == cells.level)
        {
            self.levels[at].1 -= 1;
            if self.levels[at].1 == 0 {
                self.levels.swap_remove(at);
            }
        }
        cells.each(|key| {
            let Some(cell) = self.cells.get_mut(&key) else {
                return;
            };
            if let Some(at) = cell.clients.iter().position(|other| *other == client) {
                cell.clients.swap_remove(at);
            }
            if cell.clients.is_empty() {
                self.cells.remove(&key);
            }
        });
        // Room that a crowd of clients once needed is given back.
        if self.cells.len() < self.cells.capacity() / 8 {
            self.cells.shrink_to(2 * self.cells.len());
        }
    }

    /// Asks about every client with an area that may reach a position from `reach` millimetres
    /// farther than its own size; returns `false`, having asked nothing, if that is too wide for
    /// the grid.
    ///
    /// `ask` returns whether the client waits for a look now. Cells of which all clients do are
    /// skipped for the rest of the round.
    pub(super) fn visit(
        &mut self,
        at: &WorldPosition,
        reach: u128,
        round: u64,
        mut ask: impl FnMut(u32) -> bool,
    ) -> bool {
        let few = |(level, _): &(u32, usize)| Cells::around(at, reach, *level).are_few();
        if reach > 0 && !self.levels.iter().all(few) {
            return false;
        }
        for at_level in 0..self.levels.len() {
            let (level, _) = self.levels[at_level];
            if reach == 0 {
                self.visit_cell(&Key::of(at, level), round, &mut ask);
            } else {
                let cells = Cells::around(at, reach, level);
                cells.each(|key| self.visit_cell(&key, round, &mut ask));
            }
        }
        true
    }

    #[inline]
    fn visit_cell(&mut self, key: &Key, round: u64, ask: &mut impl FnMut(u32) -> bool) {
        let Some(cell) = self.cells.get_mut(key) else {
            return;
        };
        if cell.done != Some(round) {
            // Every client is asked, also after one that need not look.
            let mut waiting = true;
            for client in &cell.clients {
                waiting &= ask(*client);
            }
            if waiting {
                cell.done = Some(round);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(grid: &mut AreaGrid, at: WorldPosition, reach: u128) -> Vec<u32> {
        let mut found = Vec::new();
        assert!(grid.visit(&at, reach, 1, |client| {
            found.push(client);
            false
        }));
        found
    }

    #[test]
    fn every_point_of_a_sphere_finds_it_at_the_ends_of_the_universe() {
        for center in [
            WorldPosition::MIN,
            WorldPosition::MAX,
            WorldPosition::new(-1, 0, 1 << 32),
        ] {
            for radius in [0, 1, 65_535, 65_536, 1 << 64, 1 << 126, u128::MAX] {
                let area = Area::new(center, radius);
                let mut grid = AreaGrid::default();
                grid.insert(7, &Cells::of(&area));
                let far = center.x.saturating_add_unsigned(radius);
                let near = center.x.saturating_sub_unsigned(radius);
                for x in [far, near, center.x] {
                    let at = WorldPosition::new(x, center.y, center.z);
                    assert_eq!(visited(&mut grid, at, 0), [7], "{area:?} {at:?}");
                }
                grid.remove(7, &Cells::of(&area));
                assert!(grid.cells.is_empty() && grid.levels.is_empty());
            }
        }
    }

    std::thread_local! {
        static COMPARED: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
    }

    /// A key that counts how often a table has to compare it.
    #[derive(Clone, Copy, Eq)]
    struct Counted(Key);

    impl PartialEq for Counted {
        fn eq(&self, other: &Self) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }

    impl core::hash::Hash for Counted {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    /// Returns how many comparisons it takes to insert the keys and find them again.
    fn work(secret: Secret, keys: &[Key]) -> u64 {
        COMPARED.set(0);
        let mut table = HashMap::with_hasher(secret);
        for key in keys {
            table.insert(Counted(*key), ());
        }
        for key in keys {
            assert!(table.contains_key(&Counted(*key)));
        }
        COMPARED.get()
    }

    #[test]
    fn hostile_32_cells_that_collide_where_the_secret_is_known() {
        // With this secret a word is added by `(state ^ word) + 1`: the upper half of `x` can undo
        // whatever the lower half did.
        let known = || Secret([1, 1]);
        let after = |state: u64, word: u64| (state ^ word).wrapping_add(1);
        let crafted: Vec<Key> = (0..4_000_u64)
            .map(|low| {
                let undone = after(after(1, 16), low) ^ 0x1234_5678;
                let x = (u128::from(undone) << 64 | u128::from(low)).cast_signed();
                Key {
                    level: 16,
                    x,
                    y: 0,
                    z: 0,
                }
            })
            .collect();
        let plain: Vec<Key> = (0..4_000)
            .map(|x| Key {
                level: 16,
                x: x * 977 - 1_000_000,
                y: x,
                z: -x,
            })
            .collect();
        let (crafted_work, plain_work) = (
            work(Secret::default(), &crafted),
            work(Secret::default(), &plain),
        );
        assert!(
            crafted_work <= 3 * plain_work,
            "{crafted_work} comparisons against {plain_work}"
        );
        // The keys are as bad as can be for who knows the secret, so it is the secret that helps.
        assert!(work(known(), &crafted) > 100 * plain_work);
    }

    #[test]
    fn a_cell_whose_clients_all_wait_is_skipped() {
        let mut grid = AreaGrid::default();
        let area = Area::new(WorldPosition::new(-5, 0, 0), 3);
        grid.insert(1, &Cells::of(&area));
        grid.insert(2, &Cells::of(&area));
        let mut asked = 0;
        for _ in 0..3 {
            grid.visit(&area.center, 0, 9, |_| {
                asked += 1;
                true
            });
        }
        assert_eq!(asked, 2, "the first visit asks both, the others none");
        assert!(
            !grid.visit(&area.center, 1 << 40, 10, |_| true),
            "too wide for 2^16 mm cells"
        );
    }
}
