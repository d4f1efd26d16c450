//! The body at hand: records are appended, and taken back when they do not fit.

use nebula_math::WorldPosition;

use super::position::{self, Cell, Region};
use super::record::{FORM_CONTROL, region};
use super::stream::Piece;
use super::viewer::Sent;
use crate::Tick;
use crate::wire::put_varint;

/// The body at hand.
pub(super) struct Body<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The slot of the record before.
    pub(super) slot: u32,
    pub(super) region: Option<Region>,
    pub(super) baseline: Option<Tick>,
    pub(super) sent: Vec<Sent>,
    pub(super) pieces: Vec<Piece>,
}

/// Where to return to when a record does not fit.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) len: usize,
    pub(super) slot: u32,
    pub(super) region: Option<Region>,
}

impl Body<'_> {
    pub(super) fn head(&mut self, slot: u32, form: u64) {
        put_varint(self.out, u64::from(slot - self.slot) << 2 | form);
        self.slot = slot;
    }

    pub(super) fn control(&mut self, slot: u32, operation: u8) {
        self.head(slot, FORM_CONTROL);
        self.out.push(operation);
    }

    /// Appends the cell that a position lies in.
    pub(super) fn cell(&mut self, at: &WorldPosition) {
        let cell = Cell::of(at);
        if self.region == Some(cell.region) {
            self.out.push(region::SAME);
        } else {
            self.out.push(region::GIVEN);
            position::put_region(self.out, cell.region);
            self.region = Some(cell.region);
        }
        self.out.extend_from_slice(&cell.bytes());
    }

    /// Appends the place of a position inside its cell.
    pub(super) fn place(&mut self, at: &WorldPosition) {
        let place = position::place_bytes(position::place_of(at));
        self.out.extend_from_slice(&place);
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            len: self.out.len(),
            slot: self.slot,
            region: self.region,
        }
    }

    /// Takes back what was written since the mark if it is too much; returns whether it fits.
    pub(super) fn keep(&mut self, mark: Mark) -> bool {
        let fits = self.out.len() <= self.end;
        if !fits {
            self.out.truncate(mark.len);
            self.slot = mark.slot;
            self.region = mark.region;
        }
        fits
    }

    pub(super) fn is_empty(&self) -> bool {
        self.out.len() == self.start + 1
    }

    pub(super) fn left(&self) -> usize {
        self.end.saturating_sub(self.out.len())
    }
}
