//! Range queries on tiles: work bounded by the range and by what is stored, whichever is less.

use core::cell::RefCell;
use core::hash::Hash;
use core::ops::ControlFlow;

use super::{Column, MapTiles, Tile, TileIndex, TileRange};

thread_local! {
    /// The tiles that a wide range found: kept from call to call, so that asking allocates nothing once warm.
    static FOUND: RefCell<Vec<(Tile, u32)>> = const { RefCell::new(Vec::new()) };
}

impl<I: Copy + Eq + Hash, M: Clone + Eq + Hash> TileIndex<I, M> {
    /// Hands everything in range to `f`, each once, in slices, until `f` breaks.
    ///
    /// Slices come by tile (x, then y), then floor; ids of one floor in the order that the
    /// operations on the index left them in. A small range looks each of its tiles up. A range of
    /// more than twice as many tiles as are occupied goes through the occupied ones instead and
    /// sorts them, in a list that the thread keeps; so any range ends, however wide, and once that list is
    /// long enough nothing is allocated.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use nebula_coords::{Elevation, Tile, TileIndex, TilePosition, TileRange};
    ///
    /// let mut index = TileIndex::new();
    /// index.insert("cat", &7, TilePosition::new(-2, 0, Elevation::GROUND));
    /// let mut seen = 0;
    /// let range = TileRange::manhattan(Tile::new(0, 0), i32::MAX, Elevation::GROUND);
    /// let _ = index.visit_range(&7, &range, &mut |ids| {
    ///     seen += ids.len();
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(seen, 1);
    /// ```
    pub fn visit_range(
        &self,
        map: &M,
        range: &TileRange,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (Some(map), Ok(reach)) = (self.map(map), u32::try_from(range.range)) else {
            return ControlFlow::Continue(());
        };
        let side = 2 * u64::from(reach) + 1;
        let looked_up_cheaply = 2 * map.occupied.len() as u64 + 64;
        if side.saturating_mul(side) <= looked_up_cheaply {
            self.visit_tiles(map, range, reach, f)
        } else {
            self.visit_occupied(map, range, f)
        }
    }

    /// Replaces the contents of `out` by everything in range, in the order of
    /// [`visit_range`](Self::visit_range).
    pub fn query_range(&self, map: &M, range: &TileRange, out: &mut Vec<I>) {
        out.clear();
        let _ = self.visit_range(map, range, &mut |ids| {
            out.extend_from_slice(ids);
            ControlFlow::Continue(())
        });
    }

    /// Looks up every tile of a small range.
    fn visit_tiles(
        &self,
        map: &MapTiles<M>,
        range: &TileRange,
        reach: u32,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Tile { x: cx, y: cy } = range.center;
        for x in cx.saturating_sub_unsigned(reach)..=cx.saturating_add_unsigned(reach) {
            let half = TileRange::half_height(range.metric, reach, x.abs_diff(cx));
            let half = half.expect("x is within reach");
            for y in cy.saturating_sub_unsigned(half)..=cy.saturating_add_unsigned(half) {
                if let Some(column) = map.tiles.get(&Tile::new(x, y)) {
                    self.show(*column, range, f)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Goes through every occupied tile, for ranges wider than what is stored.
    fn visit_occupied(
        &self,
        map: &MapTiles<M>,
        range: &TileRange,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // Taken, not borrowed: whoever asks again from within `f` gets a list of their own.
        let mut found = FOUND.take();
        found.clear();
        let tiles = map
            .occupied
            .iter()
            .map(|column| (self.column(*column).tile, *column));
        found.extend(tiles.filter(|(tile, _)| range.contains(*tile)));
        found.sort_unstable();
        let shown = found
            .iter()
            .try_for_each(|(_, column)| self.show(*column, range, f));
        FOUND.set(found);
        shown
    }

    fn show(
        &self,
        column: u32,
        range: &TileRange,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let column: &Column<I> = self.column(column);
        let ids = match range.elevation {
            Some(elevation) => column.floor(elevation),
            None => column.all(),
        };
        if ids.is_empty() {
            ControlFlow::Continue(())
        } else {
            f(ids)
        }
    }
}
