//! `DenseId`: ids that lead to a small number.

use core::fmt::Debug;

/// An id that is, or maps to, a small `u32`, so that a table finds it without hashing.
///
/// Two ids with the same `dense_index` share one place: an ECS entity and its later generations,
/// for example. Storing the second evicts the first. Memory follows the spread of the indexes, in
/// pages of 4,096, so count from zero where you can.
///
/// ```
/// use nebula_coords::DenseId;
///
/// #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
/// struct Npc { row: u32, generation: u32 }
///
/// impl DenseId for Npc {
///     fn dense_index(self) -> u32 {
///         self.row
///     }
/// }
/// assert_eq!(Npc { row: 7, generation: 2 }.dense_index(), 7);
/// ```
pub trait DenseId: Copy + Ord + Debug + Send + Sync {
    /// Whether ids with the same index are equal, as numbers are. An index then need not look at the
    /// stored id to tell it from an older generation, which makes moves cheaper. Leave it `false` in
    /// doubt: `true` for ids that do have generations lets a new one stand for an old one.
    const INDEX_IS_ALL: bool = false;

    /// Returns the number that finds this id in a table.
    fn dense_index(self) -> u32;
}

impl DenseId for u32 {
    const INDEX_IS_ALL: bool = true;

    #[inline]
    fn dense_index(self) -> u32 {
        self
    }
}

impl DenseId for u16 {
    const INDEX_IS_ALL: bool = true;

    #[inline]
    fn dense_index(self) -> u32 {
        u32::from(self)
    }
}
