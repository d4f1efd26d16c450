//! Large components in fragments.

use super::body::Body;
use super::ids::table_index;
use super::record::{FORM_UPDATE, op};
use super::store::{Encoded, Shared};
use super::viewer::{Phase, Sent, Viewer};
use crate::Tick;
use crate::wire::put_varint;

/// Bytes of one fragment: several share a packet with other things.
pub(crate) const FRAGMENT: usize = 256;

/// A large component on its way to one client.
#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) kind: usize,
    /// The tick of the value.
    pub(crate) changed: Tick,
    /// The tick in which it was first sent, which is newer than any removal that went before.
    pub(crate) version: Tick,
    /// Which fragments are due.
    pub(crate) due: Vec<bool>,
    /// Which are acknowledged.
    pub(crate) done: Vec<bool>,
}

impl Sending {
    fn new(kind: usize, encoded: &Encoded, version: Tick) -> Self {
        // An empty component is one empty fragment.
        let count = encoded.bytes.len().div_ceil(FRAGMENT).max(1);
        Self {
            kind,
            changed: encoded.tick,
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

impl Viewer {
    /// Writes the fragments of a large component that are due, as many as fit, or its removal.
    pub(super) fn write_stream(
        &mut self,
        shared: &Shared,
        body: &mut Body<'_>,
        slot: u32,
        kind: usize,
        packet: u64,
    ) {
        let bit = 1_u64 << kind;
        let state = &mut self.slots[table_index(slot)];
        let store = shared.store(state.store);
        if store.has & state.allowed & bit == 0 {
            let mark = body.mark();
            body.head(slot, FORM_UPDATE);
            put_varint(body.out, bit);
            body.out.push(0);
            if body.keep(mark) {
                state.dirty &= !bit;
                state.streams.retain(|sending| sending.kind != kind);
                state.progress(kind).sent = packet + 1;
                body.sent.push(Sent {
                    slot,
                    life: state.life,
                    bits: bit,
                    cell: false,
                    notice: false,
                    list: 0,
                });
            }
            return;
        }
        let encoded = store.encoded(kind);
        state
            .streams
            .retain(|sending| sending.kind != kind || sending.changed == encoded.tick);
        let at = state
            .streams
            .iter()
            .position(|sending| sending.kind == kind);
        let at = at.unwrap_or_else(|| {
            state.streams.push(Sending::new(kind, encoded, shared.tick));
            state.streams.len() - 1
        });
        let life = state.life;
        let sending = &mut state.streams[at];
        let version = sending.version;
        let mut all = true;
        for (number, due) in sending.due.iter_mut().enumerate() {
            if !*due {
                continue;
            }
            let offset = number * FRAGMENT;
            let end = encoded.bytes.len().min(offset + FRAGMENT);
            let bytes = &encoded.bytes[offset..end];
            let mark = body.mark();
            body.control(slot, op::FRAGMENT);
            body.out.push(u8::try_from(kind).unwrap_or(0));
            body.out.extend_from_slice(&version.get().to_le_bytes());
            let put = |out: &mut Vec<u8>, value: usize| {
                put_varint(out, u64::try_from(value).unwrap_or(u64::MAX));
            };
            put(body.out, encoded.bytes.len());
            put(body.out, offset);
            put(body.out, bytes.len());
            body.out.extend_from_slice(bytes);
            if !body.keep(mark) {
                all = false;
                break;
            }
            *due = false;
            self.stats.kind_bytes[kind] += u64::try_from(bytes.len()).unwrap_or(0);
            body.pieces.push(Piece {
                slot,
                life,
                kind,
                version,
                at: number,
            });
        }
        if all {
            state.dirty &= !bit;
        }
    }
}
