//! `SpatialHashMap<T>`: the user's values, sector by sector, over the tree.

mod buckets;
mod bulk;
mod change;
mod handle;
mod query;
#[cfg(feature = "serde")]
mod snapshot;
mod validate;

use core::fmt;
use core::hash::BuildHasher;
use std::hash::RandomState;

use nebula_math::WorldPosition;

use self::buckets::{Buckets, Place};
use self::handle::Handle;
use self::lookup::{Entry, Lookup};
use crate::{EntityId, SectorKey, SpatialIndex};

/// The hash map that looks things up: the standard one, or `hashbrown`'s with that feature.
mod lookup {
    #[cfg(feature = "hashbrown")]
    pub(super) use hashbrown::{HashMap as Lookup, hash_map::Entry};
    #[cfg(not(feature = "hashbrown"))]
    pub(super) use std::collections::{HashMap as Lookup, hash_map::Entry};
}

/// Values of the caller, found by id, by sector and by place.
///
/// The values of one sector (a cube of 2^32 mm) lie side by side, so
/// [`query_sector`](Self::query_sector) is a slice. Questions about a radius, a box or the nearest
/// go through a [`SpatialIndex`], exactly and for any radius: their work follows what is near, not
/// how many sectors the radius spans nor how full a sector is.
///
/// # Order
/// Every result comes in an order that follows from the operations that built the map. Hash tables
/// only look up and are never walked, so two maps with different hash keys answer alike.
///
/// # Keys from strangers
/// The default hasher, [`RandomState`], is keyed anew for every map: nobody can choose ids or
/// sectors that collide. Give another one to [`with_hasher`](Self::with_hasher) only if ids and
/// positions are your own.
///
/// # Threads
/// The map has no interior mutability: it is `Send` and `Sync` when `T` and `S` are, so any number
/// of threads may ask at once through `&map`, and changing it needs `&mut map`. Put it in a
/// [`RwLock`](std::sync::RwLock) (or an ECS resource, which is the same) to do both.
///
/// # Complexity
/// | operation | time |
/// |---|---|
/// | `insert`, `remove`, `take`, `update_position`, `update_with` | O(1) in the number of values in the sector; plus the tree's own step |
/// | `get`, `contains`, `query_sector`, `sector_of` | one lookup |
/// | `query_radius`, `query_box`, `query_at`, `query_nearest` | as [`SpatialIndex`], plus one step per hit |
///
/// # Examples
/// ```
/// use nebula_coords::{EntityId, SectorKey, SpatialHashMap};
/// use nebula_math::WorldPosition;
///
/// let mut map = SpatialHashMap::new();
/// map.insert((EntityId(1), WorldPosition::new(-1, 0, 0)));
/// map.insert((EntityId(2), WorldPosition::new(0, 0, 0))); // next door: another sector
/// assert_eq!(map.query_radius(&WorldPosition::ORIGIN, 100).len(), 2);
///
/// let west = SectorKey::from_world(&WorldPosition::new(-1, 0, 0));
/// assert_eq!(map.query_sector(&west), [(EntityId(1), WorldPosition::new(-1, 0, 0))]);
/// assert!(map.update_position(EntityId(1), WorldPosition::new(5, 0, 0)));
/// assert!(map.query_sector(&west).is_empty());
/// ```
#[derive(Clone)]
pub struct SpatialHashMap<T, S = RandomState> {
    /// Where every handle is, as last read from its value; answers all questions about space.
    tree: SpatialIndex<Handle>,
    /// Row of a handle -> where its value lies. Rows in `free_rows` hold stale places.
    places: Vec<Place>,
    /// Rows to use again, last freed first. Rows never leave the map, so reuse within a tick is
    /// invisible.
    free_rows: Vec<u32>,
    /// Id -> row.
    rows: Lookup<EntityId, u32, S>,
    buckets: Buckets<T, S>,
}

impl<T> SpatialHashMap<T> {
    /// Makes an empty map with fresh random hash keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<T, S: Default> Default for SpatialHashMap<T, S> {
    fn default() -> Self {
        Self::from_parts(S::default(), S::default())
    }
}

impl<T, S> SpatialHashMap<T, S> {
    fn from_parts(for_ids: S, for_sectors: S) -> Self {
        Self {
            tree: SpatialIndex::new(),
            places: Vec::new(),
            free_rows: Vec::new(),
            rows: Lookup::with_hasher(for_ids),
            buckets: Buckets::new(for_sectors),
        }
    }

    /// Makes an empty map that looks up with the given hasher.
    ///
    /// A hasher without a secret key is faster, and lets whoever chooses ids or positions make
    /// every lookup slow. It never changes a result.
    ///
    /// ```
    /// use std::hash::{BuildHasherDefault, DefaultHasher};
    ///
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::with_hasher(BuildHasherDefault::<DefaultHasher>::default());
    /// map.insert((EntityId(1), WorldPosition::MIN));
    /// assert!(map.contains(EntityId(1)));
    /// ```
    #[must_use]
    pub fn with_hasher(hasher: S) -> Self
    where
        S: Clone,
    {
        Self::from_parts(hasher.clone(), hasher)
    }

    /// Returns the hasher that looks up ids.
    #[must_use]
    pub fn hasher(&self) -> &S {
        self.rows.hasher()
    }

    /// Returns how many values are stored.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether nothing is stored.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns how many sectors hold at least one value.
    ///
    /// ```
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::new();
    /// map.insert((EntityId(1), WorldPosition::new(-1, 0, 0)));
    /// assert_eq!(map.sector_count(), 1);
    /// map.remove(EntityId(1));
    /// assert_eq!(map.sector_count(), 0);
    /// ```
    #[must_use]
    #[inline]
    pub fn sector_count(&self) -> usize {
        self.buckets.occupied()
    }

    /// Returns every occupied sector with its values.
    ///
    /// Sectors come in the order in which they became occupied, except that the last one takes the
    /// place of one that became empty.
    ///
    /// ```
    /// use nebula_coords::{EntityId, SectorIndex, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::new();
    /// map.insert((EntityId(1), WorldPosition::new(-1, 0, 0)));
    /// map.insert((EntityId(2), WorldPosition::new(-2, 0, 0)));
    /// let (key, values) = map.sectors().next().unwrap();
    /// assert_eq!(key.0, SectorIndex::new(-1, 0, 0));
    /// assert_eq!(values.len(), 2);
    /// ```
    pub fn sectors(&self) -> impl Iterator<Item = (SectorKey, &[T])> + '_ {
        self.buckets
            .iter()
            .map(|bucket| (bucket.key(), bucket.values()))
    }

    /// Returns every value, sector by sector as [`sectors`](Self::sectors) has them.
    ///
    /// ```
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let map: SpatialHashMap<_> = (0..3).map(|n| (EntityId(n), WorldPosition::MIN)).collect();
    /// assert_eq!(map.iter().map(|(id, _)| id.0).sum::<u64>(), 3);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &T> + '_ {
        self.buckets.iter().flat_map(|bucket| bucket.values())
    }

    /// Removes everything, and gives all memory but the lookup tables' back.
    pub fn clear(&mut self) {
        self.tree.clear();
        self.places = Vec::new();
        self.free_rows = Vec::new();
        self.rows.clear();
        self.buckets.clear();
    }
}

impl<T, S: BuildHasher> SpatialHashMap<T, S> {
    /// Makes room for `additional` more values.
    pub fn reserve(&mut self, additional: usize) {
        self.tree.reserve(additional);
        self.places.reserve(additional);
        self.rows.reserve(additional);
    }

    /// Returns the value with this id.
    ///
    /// There is no `get_mut`: a position changed through it would go unnoticed. Use
    /// [`update_with`](Self::update_with), which looks again afterwards.
    ///
    /// ```
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::new();
    /// map.insert((EntityId(1), WorldPosition::new(-7, 0, 0)));
    /// assert_eq!(map.get(EntityId(1)).unwrap().1.x, -7);
    /// assert_eq!(map.get(EntityId(2)), None);
    /// ```
    #[must_use]
    pub fn get(&self, id: EntityId) -> Option<&T> {
        let handle = self.handle(id)?;
        Some(self.value(handle))
    }

    /// Returns whether a value with this id is stored.
    #[must_use]
    pub fn contains(&self, id: EntityId) -> bool {
        self.rows.contains_key(&id)
    }

    /// Returns where the map believes the value with this id to be: the position it last read.
    #[must_use]
    pub fn position(&self, id: EntityId) -> Option<WorldPosition> {
        self.tree.get(self.handle(id)?)
    }

    /// Returns the sector in which the value with this id lies.
    ///
    /// ```
    /// use nebula_coords::{EntityId, SectorIndex, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::new();
    /// map.insert((EntityId(1), WorldPosition::new(-1, 0, 1 << 32)));
    /// assert_eq!(map.sector_of(EntityId(1)).unwrap().0, SectorIndex::new(-1, 0, 1));
    /// ```
    #[must_use]
    pub fn sector_of(&self, id: EntityId) -> Option<SectorKey> {
        let handle = self.handle(id)?;
        Some(self.buckets.key(self.place(handle.row())))
    }

    fn handle(&self, id: EntityId) -> Option<Handle> {
        self.rows.get(&id).map(|row| Handle::new(id, *row))
    }
}

impl<T, S> SpatialHashMap<T, S> {
    #[inline]
    fn place(&self, row: u32) -> Place {
        self.places[row as usize]
    }

    #[inline]
    fn value(&self, handle: Handle) -> &T {
        self.buckets.get(self.place(handle.row()))
    }
}

impl<T, S> fmt::Debug for SpatialHashMap<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpatialHashMap")
            .field("len", &self.len())
            .field("sectors", &self.sector_count())
            .finish_non_exhaustive()
    }
}
