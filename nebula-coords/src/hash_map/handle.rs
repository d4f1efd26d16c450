//! `Handle`: an entity's id together with its row in the map's tables.

use crate::{DenseId, EntityId};

/// What the tree stores for a value.
///
/// It carries the id beside the row, so that answers in ids need no lookup per hit and the tree
/// breaks ties of distance by id by itself. The id is split in two halves to keep the alignment at
/// 4 and the size at 12 bytes; the upper half comes first, so the derived order is the id's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Handle {
    id_high: u32,
    id_low: u32,
    row: u32,
}

impl Handle {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the id is cut in two halves on purpose"
    )]
    #[inline]
    pub(super) const fn new(id: EntityId, row: u32) -> Self {
        Self {
            id_high: (id.0 >> 32) as u32,
            id_low: id.0 as u32,
            row,
        }
    }

    #[inline]
    pub(super) fn id(self) -> EntityId {
        EntityId(u64::from(self.id_high) << 32 | u64::from(self.id_low))
    }

    #[inline]
    pub(super) const fn row(self) -> u32 {
        self.row
    }
}

impl DenseId for Handle {
    #[inline]
    fn dense_index(self) -> u32 {
        self.row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_keep_the_id_and_order_by_it() {
        let ids = [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX - 1, u64::MAX];
        for id in ids {
            assert_eq!(Handle::new(EntityId(id), 7).id(), EntityId(id));
        }
        // Rows fall while ids rise: the id must decide.
        let rows = (0..6_u32).rev();
        let handles: Vec<_> = ids
            .iter()
            .zip(rows)
            .map(|(id, row)| Handle::new(EntityId(*id), row))
            .collect();
        assert!(handles.is_sorted());
        assert_eq!(handles[0].dense_index(), 5);
    }
}
