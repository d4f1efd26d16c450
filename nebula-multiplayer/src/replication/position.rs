//! Positions in few bytes: a cell that the client knows, and a place or a step inside.
//!
//! ```text
//! i128 per axis = region (upper 88 bits) | cell (24 bits, 2^16 mm) | place in the cell (16 bits)
//!                 3 varints, seldom        9 bytes, seldom            6 bytes, absolute
//! ```
//!
//! A step against a position that the client acknowledged takes 3, 4 or 5 bytes. All of it is exact:
//! every `i128` comes back as it was.

#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::as_conversions
)]

use nebula_math::WorldPosition;

use crate::wire::{DecodeError, Reader};

/// Bits of the place inside a cell, 1 mm each: a cell is 2^16 mm, some 65 m.
const PLACE_BITS: u32 = 16;
/// Bits up to the edge of a region: 2^40 mm, some 1.1 million kilometres.
const REGION_BITS: u32 = 40;
/// Bits of a region's number.
const REGION_NUMBER_BITS: u32 = 128 - REGION_BITS;

/// The bytes of an absolute position inside a known cell.
pub(crate) const PLACE_BYTES: usize = 6;
/// The bytes of a cell inside a known region.
pub(crate) const CELL_BYTES: usize = 9;

/// A cube of 2^40 mm, by number.
pub(crate) type Region = [i128; 3];

/// A cube of 2^16 mm inside its region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) region: Region,
    /// 24 bits each.
    pub(crate) inside: [u32; 3],
}

impl Cell {
    /// Returns the cell that a position lies in.
    pub(crate) fn of(at: &WorldPosition) -> Self {
        let axes = at.to_array();
        Self {
            // An arithmetic shift rounds down, so cells left of zero are as large as the others.
            region: axes.map(|axis| axis >> REGION_BITS),
            inside: axes.map(|axis| low_u32(axis >> PLACE_BITS) & 0x00FF_FFFF),
        }
    }

    /// Returns the position at a place inside this cell.
    pub(crate) fn place(&self, place: [u16; 3]) -> WorldPosition {
        let [rx, ry, rz] = self.region;
        let [cx, cy, cz] = self.inside;
        let [px, py, pz] = place;
        let axis = |region: i128, cell: u32, place: u16| {
            (region << REGION_BITS) | (i128::from(cell) << PLACE_BITS) | i128::from(place)
        };
        WorldPosition::new(axis(rx, cx, px), axis(ry, cy, py), axis(rz, cz, pz))
    }

    /// Returns the bytes of the cell inside its region.
    pub(crate) fn bytes(&self) -> [u8; CELL_BYTES] {
        let [x, y, z] = self.inside.map(u32::to_le_bytes);
        let ([x0, x1, x2, _], [y0, y1, y2, _], [z0, z1, z2, _]) = (x, y, z);
        [x0, x1, x2, y0, y1, y2, z0, z1, z2]
    }

    /// Reads the cell inside a region.
    pub(crate) fn read(region: Region, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let [x0, x1, x2, y0, y1, y2, z0, z1, z2] = reader.array()?;
        let axis = |a, b, c| u32::from_le_bytes([a, b, c, 0]);
        Ok(Self {
            region,
            inside: [axis(x0, x1, x2), axis(y0, y1, y2), axis(z0, z1, z2)],
        })
    }
}

/// Returns whether two positions lie in the same cell.
#[inline]
pub(crate) fn share_cell(a: &WorldPosition, b: &WorldPosition) -> bool {
    let [x, y, z] = b.to_array();
    let differing = (a.x ^ x) | (a.y ^ y) | (a.z ^ z);
    differing >> PLACE_BITS == 0
}

/// Returns the place of a position inside its cell.
pub(crate) fn place_of(at: &WorldPosition) -> [u16; 3] {
    at.to_array().map(|axis| {
        let [a, b, ..] = axis.to_le_bytes();
        u16::from_le_bytes([a, b])
    })
}

/// Returns the bytes of a place.
pub(crate) fn place_bytes(place: [u16; 3]) -> [u8; PLACE_BYTES] {
    let [[x0, x1], [y0, y1], [z0, z1]] = place.map(u16::to_le_bytes);
    [x0, x1, y0, y1, z0, z1]
}

/// Reads a place.
pub(crate) fn read_place(reader: &mut Reader<'_>) -> Result<[u16; 3], DecodeError> {
    Ok([reader.u16()?, reader.u16()?, reader.u16()?])
}

/// Appends the number of a region: three signed varints, 3 bytes near the origin, 39 at most.
pub(crate) fn put_region(out: &mut Vec<u8>, region: Region) {
    for axis in region {
        // Zigzag: small numbers of either sign are short.
        let mut rest = (axis.wrapping_shl(1) ^ (axis >> 127)).cast_unsigned();
        loop {
            let [low, ..] = rest.to_le_bytes();
            rest >>= 7;
            if rest == 0 {
                out.push(low & 0x7F);
                break;
            }
            out.push(low | 0x80);
        }
    }
}

/// Reads the number of a region.
pub(crate) fn read_region(reader: &mut Reader<'_>) -> Result<Region, DecodeError> {
    let mut axis = || -> Result<i128, DecodeError> {
        let zigzag = reader.varint_bits(REGION_NUMBER_BITS)?;
        let half = (zigzag >> 1).cast_signed();
        Ok(if zigzag & 1 == 0 { half } else { !half })
    };
    Ok([axis()?, axis()?, axis()?])
}

/// Returns the low 32 bits of each axis, which tell two positions less than 2^31 mm apart from
/// each other.
pub(crate) fn low_bits(at: &WorldPosition) -> [u32; 3] {
    at.to_array().map(low_u32)
}

/// The widths of a step: bits per axis and bytes in all, two bits of which say the width.
const WIDTHS: [(u32, usize); 3] = [(7, 3), (10, 4), (12, 5)];

/// A step that was written: up to five bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    bytes: [u8; 8],
    len: u8,
}

impl Step {
    /// Returns the step from `from` to `to`, both as [`low_bits`]; `None` if an axis needs more than
    /// 12 bits (-2,048 to 2,047 mm).
    #[inline]
    pub(crate) fn between(from: [u32; 3], to: [u32; 3]) -> Option<Self> {
        let [fx, fy, fz] = from;
        let [tx, ty, tz] = to;
        let by = |from: u32, to: u32| to.wrapping_sub(from).cast_signed();
        let (x, y, z) = (by(fx, tx), by(fy, ty), by(fz, tz));
        // Folds the sign away: the largest of three says which width fits.
        let fold = |step: i32| (step ^ (step >> 31)).cast_unsigned();
        let span = fold(x) | fold(y) | fold(z);
        // The tag, the mask of 7, 10 or 12 bits, and where the second and the third axis begin.
        let (tag, mask, second, third, len) = match span {
            0..0x40 => (0, 0x7F_u64, 9, 16, 3),
            0x40..0x200 => (1, 0x3FF, 12, 22, 4),
            0x200..0x800 => (2, 0xFFF, 14, 26, 5),
            _ => return None,
        };
        let field = |step: i32| u64::from(step.cast_unsigned()) & mask;
        let packed = tag | field(x) << 2 | field(y) << second | field(z) << third;
        Some(Self {
            bytes: packed.to_le_bytes(),
            len,
        })
    }

    /// Appends the step.
    #[inline]
    pub(crate) fn put(self, out: &mut Vec<u8>) {
        out.extend(self.bytes.iter().take(usize::from(self.len)));
    }

    /// Returns how many bytes it takes.
    #[cfg(test)]
    pub(crate) fn len(self) -> usize {
        usize::from(self.len)
    }
}

/// Reads a step: millimetres along each axis.
pub(crate) fn read_step(reader: &mut Reader<'_>) -> Result<[i16; 3], DecodeError> {
    let first = reader.u8()?;
    let (bits, len) = WIDTHS
        .get(usize::from(first & 3))
        .copied()
        .ok_or(DecodeError::Unknown {
            what: "width of a step",
            value: 3,
        })?;
    let mut bytes = [0; 8];
    let mut target = bytes.iter_mut();
    if let Some(byte) = target.next() {
        *byte = first;
    }
    let rest = reader.bytes(len.saturating_sub(1))?;
    for (byte, read) in target.zip(rest) {
        *byte = *read;
    }
    let mut packed = u64::from_le_bytes(bytes) >> 2;
    let mut axis = || {
        // Up to the top and back: the sign fills the bits above.
        let shift = 64_u32.saturating_sub(bits);
        let value = packed.wrapping_shl(shift).cast_signed() >> shift;
        packed >>= bits;
        i16::try_from(value).unwrap_or(0)
    };
    let step = [axis(), axis(), axis()];
    if packed != 0 {
        return Err(DecodeError::NonCanonical);
    }
    Ok(step)
}

/// Returns the position a step away.
pub(crate) fn step_from(
    base: &WorldPosition,
    step: [i16; 3],
) -> Result<WorldPosition, DecodeError> {
    let [x, y, z] = step;
    let add = |axis: i128, step: i16| {
        axis.checked_add(i128::from(step))
            .ok_or(DecodeError::OutOfRange {
                what: "a step over the edge of the universe",
            })
    };
    Ok(WorldPosition::new(
        add(base.x, x)?,
        add(base.y, y)?,
        add(base.z, z)?,
    ))
}

fn low_u32(axis: i128) -> u32 {
    let [a, b, c, d, ..] = axis.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

    use nebula_math::WorldPosition;
    use proptest::prelude::*;

    use super::*;

    /// Coordinates where something could go wrong: ends, powers of two and their neighbours.
    fn axis() -> impl Strategy<Value = i128> {
        prop_oneof![
            Just(i128::MIN),
            Just(i128::MAX),
            (0_u32..127, -2_i128..=2, any::<bool>()).prop_map(|(bit, by, minus)| {
                let power = (1_i128 << bit).saturating_add(by);
                if minus { power.wrapping_neg() } else { power }
            }),
            any::<i128>(),
            (-5_000_i128..5_000),
        ]
    }

    fn point() -> impl Strategy<Value = WorldPosition> {
        [axis(), axis(), axis()].prop_map(WorldPosition::from_array)
    }

    fn through_cell(at: WorldPosition) -> WorldPosition {
        let mut bytes = Vec::new();
        let cell = Cell::of(&at);
        put_region(&mut bytes, cell.region);
        assert!(bytes.len() <= 39);
        bytes.extend_from_slice(&cell.bytes());
        bytes.extend_from_slice(&place_bytes(place_of(&at)));
        let mut reader = Reader::new(&bytes);
        let region = read_region(&mut reader).unwrap();
        let read = Cell::read(region, &mut reader).unwrap();
        assert_eq!(read, cell);
        let place = read_place(&mut reader).unwrap();
        reader.finish().unwrap();
        read.place(place)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_096))]

        #[test]
        fn every_position_survives_its_cell(at in point()) {
            prop_assert_eq!(through_cell(at), at);
        }

        #[test]
        fn a_cell_is_shared_or_not(at in point(), other in point(), by in [-70_000_i128..70_000, -9..9, -9..9]) {
            let [x, y, z] = by;
            let near = WorldPosition::new(
                at.x.saturating_add(x),
                at.y.saturating_add(y),
                at.z.saturating_add(z),
            );
            for other in [other, near, at] {
                prop_assert_eq!(share_cell(&at, &other), Cell::of(&at) == Cell::of(&other));
            }
        }

        #[test]
        fn a_step_is_exact_or_refused(at in point(), by in [-2_100_i128..2_100, -600..600, -70..70]) {
            let [x, y, z] = by;
            let to = (at.x.checked_add(x), at.y.checked_add(y), at.z.checked_add(z));
            let (Some(x1), Some(y1), Some(z1)) = to else { return Ok(()) };
            let to = WorldPosition::new(x1, y1, z1);
            let fits = by.iter().all(|axis| (-2_048..2_048).contains(axis));
            let step = Step::between(low_bits(&at), low_bits(&to));
            prop_assert_eq!(step.is_some(), fits);
            if let Some(step) = step {
                let mut bytes = Vec::new();
                step.put(&mut bytes);
                prop_assert!((3..=5).contains(&bytes.len()));
                let mut reader = Reader::new(&bytes);
                let read = read_step(&mut reader).unwrap();
                reader.finish().unwrap();
                prop_assert_eq!(step_from(&at, read).unwrap(), to);
            }
        }

        #[test]
        fn any_bytes_are_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = read_region(&mut Reader::new(&bytes));
            let _ = read_place(&mut Reader::new(&bytes));
            if let Ok(step) = read_step(&mut Reader::new(&bytes)) {
                let _ = step_from(&WorldPosition::MAX, step);
                let _ = step_from(&WorldPosition::MIN, step);
            }
        }
    }

    #[test]
    fn steps_take_three_four_and_five_bytes() {
        let at = |x, y, z| low_bits(&WorldPosition::new(x, y, z));
        let len = |to| Step::between(at(0, 0, 0), to).map(Step::len);
        assert_eq!(len(at(-64, 63, 0)), Some(3));
        assert_eq!(len(at(0, 64, 0)), Some(4));
        assert_eq!(len(at(-512, 511, -65)), Some(4));
        assert_eq!(len(at(-2_048, 2_047, 512)), Some(5));
        assert_eq!(len(at(0, 0, 2_048)), None);
        assert_eq!(len(at(0, -2_049, 0)), None);
    }

    #[test]
    fn a_step_over_the_edge_is_refused() {
        assert!(step_from(&WorldPosition::MAX, [1, 0, 0]).is_err());
        assert!(step_from(&WorldPosition::MIN, [0, 0, -1]).is_err());
        assert!(step_from(&WorldPosition::MAX, [-1, 0, 0]).is_ok());
    }
}
