//! Records: what the body of a datagram says, entity by entity.
//!
//! ```text
//! body    = age of the baseline tick (1 byte, 0: none) record*
//! record  = varint(slots further << 2 | form) payload           sorted by slot
//! form 0  = position in the known cell: 6 bytes
//! form 1  = step from the position of the baseline tick: 3, 4 or 5 bytes
//! form 2  = update: varint(kinds), then for each kind varint(0: removed | 1 + length) bytes
//! form 3  = control: an operation byte, see `op`
//! ```

#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::as_conversions
)]

use nebula_math::WorldPosition;

use super::position::{self, Cell, Region};
use super::registry::{Kinds, MAX_STREAM_BYTES};
use crate::wire::{DecodeError, Reader};

pub(crate) const FORM_PLACE: u64 = 0;
pub(crate) const FORM_STEP: u64 = 1;
pub(crate) const FORM_UPDATE: u64 = 2;
pub(crate) const FORM_CONTROL: u64 = 3;

/// The operations of a control record.
pub(crate) mod op {
    pub(crate) const SPAWN: u8 = 0;
    pub(crate) const LEAVE: u8 = 1;
    pub(crate) const CELL: u8 = 2;
    pub(crate) const FRAGMENT: u8 = 3;
    pub(crate) const YOURS: u8 = 4;
    pub(crate) const NOTHING_YOURS: u8 = 5;
    pub(crate) const RESET: u8 = 6;
}

/// The flags of a spawn record.
pub(crate) mod flag {
    /// The entity has a position, which follows.
    pub(crate) const POSITION: u8 = 1;
    /// What the client kept of the entity still holds, where it is not overwritten.
    pub(crate) const KEPT: u8 = 2;
    /// The entity has a position, which this part leaves out.
    pub(crate) const POSITION_ELSEWHERE: u8 = 4;
}

/// How a cell names its region.
pub(crate) mod region {
    /// The region of the cell before it in this packet.
    pub(crate) const SAME: u8 = 0;
    /// The region's number follows.
    pub(crate) const GIVEN: u8 = 1;
}

/// Slots that a client may name, and a record may point to.
pub(crate) const MAX_SLOTS: u32 = 1 << 16;

/// Why an entity is no longer shown. It says nothing more on purpose: a third word would tell
/// a client of things that hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DespawnReason {
    /// It is out of the client's interest.
    Left,
    /// It is gone from the server's world.
    Destroyed,
}

/// One record of a body, decoded: the view that tests and tools take of packets.
///
/// Component payloads are left as bytes; for kinds with references they begin with the slots.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// An entity appears, or a part of one: its full state may span several packets.
    SpawnEntity {
        /// The client's id for it.
        slot: u32,
        /// Tells one appearance in a slot from the one before.
        generation: u8,
        /// Whether what the client kept from before still holds where nothing is said.
        kept: bool,
        /// Whether the entity has a position.
        has_position: bool,
        /// Bits of the kinds that the entity has, without the position.
        has: u64,
        /// Its position, if this part carries it.
        position: Option<WorldPosition>,
        /// The components of this part: number of the kind, and bytes.
        components: Vec<(usize, &'a [u8])>,
    },
    /// Components that changed; `None` for one that was removed. Kind 0 is the position.
    EntityUpdate {
        /// The client's id for the entity.
        slot: u32,
        /// Number of the kind, and bytes.
        components: Vec<(usize, Option<&'a [u8]>)>,
    },
    /// A position inside the entity's known cell.
    Place {
        /// The client's id for the entity.
        slot: u32,
        /// Millimetres from the corner of the cell.
        place: [u16; 3],
    },
    /// A position as a step from where the entity was at the baseline tick.
    Step {
        /// The client's id for the entity.
        slot: u32,
        /// Millimetres along each axis.
        step: [i16; 3],
    },
    /// The cell that places of this entity are in from now on.
    Cell {
        /// The client's id for the entity.
        slot: u32,
        /// The corner of the cell with the smallest coordinates.
        corner: WorldPosition,
    },
    /// A piece of a component that is declared `stream`.
    Fragment {
        /// The client's id for the entity.
        slot: u32,
        /// Number of the kind.
        kind: usize,
        /// The tick in which the value was first sent, which tells its pieces from those of another.
        version: u32,
        /// Bytes of the whole component.
        total: usize,
        /// Where the piece belongs.
        offset: usize,
        /// The piece.
        bytes: &'a [u8],
    },
    /// An entity disappears.
    DespawnEntity {
        /// The client's id for it.
        slot: u32,
        /// Why.
        reason: DespawnReason,
    },
    /// This entity is the client's own; `None`: it has none.
    Yours {
        /// The client's id for it.
        slot: Option<u32>,
    },
    /// Forget every entity whose spawn is older than this tick.
    Reset {
        /// The tick.
        tick: u32,
    },
}

/// Reads the records of a body one after the other.
#[derive(Debug)]
pub struct Records<'a> {
    reader: Reader<'a>,
    kinds: &'a Kinds,
    slot: u32,
    region: Option<Region>,
    baseline_age: u8,
    failed: bool,
}

impl<'a> Records<'a> {
    /// Returns the records of a body.
    ///
    /// # Errors
    /// When there is not even the first byte.
    pub fn new(kinds: &'a Kinds, body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(body);
        let baseline_age = reader.u8()?;
        Ok(Self {
            reader,
            kinds,
            slot: 0,
            region: None,
            baseline_age,
            failed: false,
        })
    }

    /// Returns how many ticks ago the baseline of the steps was, 0 if there is none.
    #[must_use]
    pub fn baseline_age(&self) -> u8 {
        self.baseline_age
    }

    fn read(&mut self) -> Result<Record<'a>, DecodeError> {
        let head = self.reader.varint()?;
        let further = u32::try_from(head >> 2).ok();
        let slot = further.and_then(|by| self.slot.checked_add(by));
        let Some(slot) = slot.filter(|slot| *slot < MAX_SLOTS) else {
            return Err(DecodeError::OutOfRange { what: "a slot" });
        };
        self.slot = slot;
        match head & 3 {
            FORM_PLACE => Ok(Record::Place {
                slot,
                place: position::read_place(&mut self.reader)?,
            }),
            FORM_STEP => {
                if self.baseline_age == 0 {
                    return Err(DecodeError::NotAllowed("a step without a baseline"));
                }
                Ok(Record::Step {
                    slot,
                    step: position::read_step(&mut self.reader)?,
                })
            }
            FORM_UPDATE => self.update(slot),
            _ => self.control(slot),
        }
    }

    fn update(&mut self, slot: u32) -> Result<Record<'a>, DecodeError> {
        let mask = self.mask()?;
        if mask == 0 {
            return Err(DecodeError::NotAllowed("an update of nothing"));
        }
        let mut components = Vec::new();
        for kind in bits(mask) {
            let bytes = self.payload(kind)?;
            if kind == 0 && bytes.is_some() {
                return Err(DecodeError::NotAllowed("a position as a component"));
            }
            components.push((kind, bytes));
        }
        Ok(Record::EntityUpdate { slot, components })
    }

    fn control(&mut self, slot: u32) -> Result<Record<'a>, DecodeError> {
        match self.reader.u8()? {
            op::SPAWN => self.spawn(slot),
            op::LEAVE => {
                let reason = match self.reader.u8()? {
                    0 => DespawnReason::Left,
                    1 => DespawnReason::Destroyed,
                    other => return Err(unknown("reason", other)),
                };
                Ok(Record::DespawnEntity { slot, reason })
            }
            op::CELL => Ok(Record::Cell {
                slot,
                corner: self.cell()?.place([0; 3]),
            }),
            op::FRAGMENT => self.fragment(slot),
            op::YOURS => {
                let slot = self.reader.varint_u32()?;
                if slot >= MAX_SLOTS {
                    return Err(DecodeError::OutOfRange { what: "a slot" });
                }
                Ok(Record::Yours { slot: Some(slot) })
            }
            op::NOTHING_YOURS => Ok(Record::Yours { slot: None }),
            op::RESET => Ok(Record::Reset {
                tick: self.reader.u32()?,
            }),
            other => Err(unknown("operation", other)),
        }
    }

    fn spawn(&mut self, slot: u32) -> Result<Record<'a>, DecodeError> {
        let flags = self.reader.u8()?;
        if flags & !(flag::POSITION | flag::KEPT | flag::POSITION_ELSEWHERE) != 0 {
            return Err(unknown("flags of a spawn", flags));
        }
        let generation = self.reader.u8()?;
        let position = if flags & flag::POSITION == 0 {
            None
        } else {
            let cell = self.cell()?;
            Some(cell.place(position::read_place(&mut self.reader)?))
        };
        let has = self.mask()?;
        let sent = self.mask()?;
        if has & 1 != 0 || sent & !has != 0 || sent & self.kinds.streams() != 0 {
            return Err(DecodeError::NotAllowed("components that a spawn has not"));
        }
        let mut components = Vec::new();
        for kind in bits(sent) {
            let bytes = self.payload(kind)?;
            let bytes = bytes.ok_or(DecodeError::NotAllowed("a removal in a spawn"))?;
            components.push((kind, bytes));
        }
        Ok(Record::SpawnEntity {
            slot,
            generation,
            kept: flags & flag::KEPT != 0,
            has_position: flags & (flag::POSITION | flag::POSITION_ELSEWHERE) != 0,
            has,
            position,
            components,
        })
    }

    fn fragment(&mut self, slot: u32) -> Result<Record<'a>, DecodeError> {
        let kind = usize::from(self.reader.u8()?);
        let known = self.kinds.get(kind).is_some_and(|kind| kind.is_stream());
        if !known {
            return Err(DecodeError::NotAllowed("a fragment of that kind"));
        }
        let version = self.reader.u32()?;
        let total = usize::try_from(self.reader.varint()?).unwrap_or(usize::MAX);
        let offset = usize::try_from(self.reader.varint()?).unwrap_or(usize::MAX);
        let len = self.reader.length("a fragment", MAX_STREAM_BYTES)?;
        let end = offset.checked_add(len);
        if total > MAX_STREAM_BYTES || end.is_none_or(|end| end > total) {
            return Err(DecodeError::OutOfRange { what: "a fragment" });
        }
        Ok(Record::Fragment {
            slot,
            kind,
            version,
            total,
            offset,
            bytes: self.reader.bytes(len)?,
        })
    }

    fn cell(&mut self) -> Result<Cell, DecodeError> {
        let region = match self.reader.u8()? {
            region::SAME => self
                .region
                .ok_or(DecodeError::NotAllowed("a cell without a region"))?,
            region::GIVEN => position::read_region(&mut self.reader)?,
            other => return Err(unknown("region", other)),
        };
        self.region = Some(region);
        Cell::read(region, &mut self.reader)
    }

    /// Reads bits of known kinds.
    fn mask(&mut self) -> Result<u64, DecodeError> {
        let mask = self.reader.varint()?;
        match bits(mask).last() {
            Some(highest) if highest >= self.kinds.len() => Err(DecodeError::Unknown {
                what: "component kind",
                value: u64::try_from(highest).unwrap_or(u64::MAX),
            }),
            _ => Ok(mask),
        }
    }

    fn payload(&mut self, kind: usize) -> Result<Option<&'a [u8]>, DecodeError> {
        let max = self.kinds.get(kind).map_or(0, payload_cap);
        let Some(len) = self.reader.varint()?.checked_sub(1) else {
            return Ok(None);
        };
        let fits = usize::try_from(len).ok().filter(|len| *len <= max);
        let len = fits.ok_or(DecodeError::TooLong {
            what: "a component",
            len,
            max: u64::try_from(max).unwrap_or(u64::MAX),
        })?;
        Ok(Some(self.reader.bytes(len)?))
    }
}

/// The references of a component come on top of its own bytes.
fn payload_cap(kind: &super::Kind) -> usize {
    let references = super::MAX_REFERENCES.saturating_mul(3).saturating_add(1);
    super::MAX_COMPONENT_BYTES.saturating_add(if kind.erased.has_references() {
        references
    } else {
        0
    })
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.reader.is_empty() {
            return None;
        }
        let record = self.read();
        self.failed = record.is_err();
        Some(record)
    }
}

fn unknown(what: &'static str, value: u8) -> DecodeError {
    DecodeError::Unknown {
        what,
        value: value.into(),
    }
}

/// Returns the numbers of the bits that are set, lowest first.
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = usize::try_from(mask.trailing_zeros()).ok()?;
        if mask == 0 {
            return None;
        }
        mask &= mask.wrapping_sub(1);
        Some(bit)
    })
}
