//! An id with a generation.

use nebula_coords::DenseId;

/// An id with a generation, as an ECS hands them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entity {
    pub(crate) row: u32,
    pub(crate) generation: u32,
}

impl DenseId for Entity {
    fn dense_index(self) -> u32 {
        self.row
    }
}
