//! `EntityPositions`: the position service that interaction, collision and the like share.

use core::ops::ControlFlow;

use super::{Tile, TilePosition, TileRange};

/// Who stands where on tile maps: one service for every system that asks. Object safe.
///
/// [`TileIndex`](super::TileIndex) is the real one; a test can stand in a list of its own. Answers
/// borrow from the service or go into the caller's buffer, so a second question never changes the
/// answer to the first.
///
/// ```
/// use core::ops::ControlFlow;
/// use nebula_coords::{Elevation, EntityPositions, Tile, TilePosition, TileRange};
///
/// /// A stand-in: one guard on one tile.
/// struct Guard(TilePosition);
///
/// impl EntityPositions for Guard {
///     type Id = char;
///     type Map = str;
///     fn query_at(&self, _: &str, at: TilePosition) -> &[char] {
///         if at == self.0 { &['g'] } else { &[] }
///     }
///     fn query_at_any_elevation(&self, _: &str, tile: Tile) -> &[char] {
///         if tile == self.0.tile { &['g'] } else { &[] }
///     }
///     fn visit_range(
///         &self,
///         _: &str,
///         range: &TileRange,
///         f: &mut dyn FnMut(&[char]) -> ControlFlow<()>,
///     ) -> ControlFlow<()> {
///         if range.contains(self.0.tile) { f(&['g']) } else { ControlFlow::Continue(()) }
///     }
/// }
///
/// let guard = Guard(TilePosition::new(-1, 0, Elevation::GROUND));
/// let mut found = Vec::new();
/// guard.query_adjacent("castle", TilePosition::new(0, 0, Elevation::GROUND), &mut found);
/// assert_eq!(found, ['g']);
/// ```
pub trait EntityPositions {
    /// The caller's name for a thing.
    type Id: Copy + Eq;
    /// The caller's name for a map. Maps are independent of each other.
    type Map: ?Sized;

    /// Returns everything exactly on a tile and floor.
    fn query_at(&self, map: &Self::Map, at: TilePosition) -> &[Self::Id];

    /// Returns everything on a tile, lowest floor first.
    fn query_at_any_elevation(&self, map: &Self::Map, tile: Tile) -> &[Self::Id];

    /// Hands everything in range to `f`, each once, in slices, until `f` breaks.
    fn visit_range(
        &self,
        map: &Self::Map,
        range: &TileRange,
        f: &mut dyn FnMut(&[Self::Id]) -> ControlFlow<()>,
    ) -> ControlFlow<()>;

    /// Replaces the contents of `out` by everything in range, in visiting order.
    fn query_range(&self, map: &Self::Map, range: &TileRange, out: &mut Vec<Self::Id>) {
        out.clear();
        let _ = self.visit_range(map, range, &mut |ids| {
            out.extend_from_slice(ids);
            ControlFlow::Continue(())
        });
    }

    /// Replaces the contents of `out` by everything exactly one step along an axis away, on the
    /// same floor: what can be talked to, picked up or pushed from here.
    fn query_adjacent(&self, map: &Self::Map, at: TilePosition, out: &mut Vec<Self::Id>) {
        out.clear();
        let Tile { x, y } = at.tile;
        // In the order of tiles. A step off the end of the map finds nothing.
        let around = [
            (x.checked_sub(1), Some(y)),
            (Some(x), y.checked_sub(1)),
            (Some(x), y.checked_add(1)),
            (x.checked_add(1), Some(y)),
        ];
        for step in around {
            if let (Some(x), Some(y)) = step {
                out.extend_from_slice(self.query_at(map, TilePosition::new(x, y, at.elevation)));
            }
        }
    }

    /// Returns whether something other than `mover` stands in the way at a place.
    ///
    /// `collider_of` tells how a thing collides; `None` means that it never does.
    fn is_blocked(
        &self,
        map: &Self::Map,
        at: TilePosition,
        mover: Self::Id,
        collider_of: &dyn Fn(Self::Id) -> Option<Collider>,
    ) -> bool {
        self.query_at(map, at)
            .iter()
            .any(|id| *id != mover && collider_of(*id).is_some_and(Collider::blocks))
    }
}

/// How a thing on a tile stands in the way of others.
///
/// ```
/// use nebula_coords::Collider;
///
/// assert!(Collider { solid: true, pass_through: false }.blocks());
/// assert!(!Collider { solid: true, pass_through: true }.blocks()); // an open door
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Collider {
    /// It has a body.
    pub solid: bool,
    /// Others may walk through that body.
    pub pass_through: bool,
}

impl Collider {
    /// Returns whether it stops others: solid, and not to be passed through.
    #[must_use]
    pub const fn blocks(self) -> bool {
        self.solid && !self.pass_through
    }
}
