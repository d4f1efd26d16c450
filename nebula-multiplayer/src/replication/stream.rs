//! Large components in fragments.

use super::ids::table_index;
use super::viewer::{Phase, Viewer};
use crate::Tick;

/// Bytes of one fragment: several share a packet with other things.
pub(crate) const FRAGMENT: usize = 256;

/// A large component on its way to one client.
#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) kind: usize,
    /// The tick of the value.
    pub(crate) version: Tick,
    /// Which fragments are due.
    pub(crate) due: Vec<bool>,
    /// Which are acknowledged.
    pub(crate) done: Vec<bool>,
}

impl Sending {
    pub(crate) fn new(kind: usize, version: Tick, bytes: usize) -> Self {
        // An empty component is one empty fragment.
        let count = bytes.div_ceil(FRAGMENT).max(1);
        Self {
            kind,
            version,
            due: vec![true; count],
            done: vec![false; count],
        }
    }
}

/// A fragment that a packet carried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) slot: u32,
    pub(crate) life: u32,
    pub(crate) kind: usize,
    pub(crate) version: Tick,
    pub(crate) at: usize,
}

fn find<'a>(viewer: &'a mut Viewer, piece: &Piece) -> Option<&'a mut Sending> {
    let state = viewer.slots.get_mut(table_index(piece.slot))?;
    if state.life != piece.life || state.phase != Phase::Live {
        return None;
    }
    state
        .streams
        .iter_mut()
        .find(|sending| sending.kind == piece.kind && sending.version == piece.version)
}

pub(crate) fn acked(viewer: &mut Viewer, piece: &Piece) {
    if let Some(sending) = find(viewer, piece)
        && let (Some(done), Some(due)) = (
            sending.done.get_mut(piece.at),
            sending.due.get_mut(piece.at),
        )
    {
        *done = true;
        *due = false;
    }
}

pub(crate) fn lost(viewer: &mut Viewer, piece: &Piece, tick: Tick) {
    let Some(sending) = find(viewer, piece) else {
        return;
    };
    if sending.done.get(piece.at) == Some(&false) {
        if let Some(due) = sending.due.get_mut(piece.at) {
            *due = true;
        }
        viewer.mark(piece.slot, 1 << piece.kind, tick);
    }
}
