//! Nodes: a cube split 4 x 4 x 4, as eight octants of eight fine slots each.
//!
//! Slots are numbered octant first, so an octant is one byte of a 64-bit mask. An octant holds
//! either one leaf of its own size (a *coarse* leaf, to which all its slots lead) or up to eight
//! children of half that size, one per fine slot. That gives leaves every size a power of two
//! allows, while the tree is only as deep as one of fourth powers.

use super::cube::{Cube, Key, room_for};
use super::simd;

/// What hangs in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Empty,
    Leaf(u32),
    Node(u32),
}

/// A link in 32 bits: the highest bit tells leaves from nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Packed(u32);

const LEAF: u32 = 1 << 31;

impl Packed {
    const EMPTY: Self = Self(u32::MAX);

    #[inline]
    fn new(link: Link) -> Self {
        match link {
            Link::Empty => Self::EMPTY,
            Link::Leaf(leaf) => Self(leaf | LEAF),
            Link::Node(node) => Self(node),
        }
    }

    #[inline]
    fn link(self) -> Link {
        if self == Self::EMPTY {
            Link::Empty
        } else if self.0 & LEAF != 0 {
            Link::Leaf(self.0 & !LEAF)
        } else {
            Link::Node(self.0)
        }
    }
}

/// Where a node or leaf hangs: in a slot of a node, or at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Root,
    /// The child fills or lies in a fine slot.
    Fine(u32, u8),
    /// A leaf that fills a whole octant.
    Coarse(u32, u8),
}

/// The fields stand in the order of their lines in memory: on the way down a node costs a line of links
/// and the last one.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Node {
    links: [Packed; 64],
    pub(super) cube: Cube,
    pub(super) place: Place,
    /// How many points are below this node.
    pub(super) count: u32,
    /// The fine slots in use.
    fine: u64,
    /// The octants that are coarse leaves.
    coarse: u8,
    /// By how many bits a point below may stray out of its leaf's cube; never less than it does.
    pub(super) stray: u8,
    /// The level of the cube.
    pub(super) level: u8,
}

// What `fetch` says of lines: a place in use begins with its links.
const _: () = assert!(size_of::<Option<Node>>() == size_of::<Node>());

/// Lets the processor fetch what a way down through a node reads: its shape, and the line of links for a key,
/// by a guess at the level, as the line would else wait for the shape.
#[inline]
pub(super) fn fetch(place: &Option<Node>, level: u8, key: &Key) {
    let links = usize::from(slot_at(level, key)) * size_of::<Packed>();
    simd::prefetch_at(place, links);
    simd::prefetch_at(place, core::mem::offset_of!(Node, cube));
    simd::prefetch_at(place, size_of::<Node>() - 1);
}

impl Node {
    pub(super) fn new(cube: Cube, place: Place, count: u32) -> Self {
        debug_assert!(
            cube.level >= 2 && cube.level.is_multiple_of(2),
            "nodes have even levels"
        );
        Self {
            links: [Packed::EMPTY; 64],
            cube,
            place,
            count,
            fine: 0,
            coarse: 0,
            stray: 0,
            level: cube.level,
        }
    }

    /// Returns the fine slot that a key of this cube falls into.
    #[inline]
    pub(super) fn slot_of(&self, key: &Key) -> u8 {
        slot_at(self.level, key)
    }

    /// Returns the cube of a fine slot.
    pub(super) fn slot_cube(&self, slot: u8) -> Cube {
        let (high, low) = (self.cube.level - 1, self.cube.level - 2);
        let mut origin = self.cube.origin;
        for (axis, v) in origin.iter_mut().enumerate() {
            *v |= u128::from(slot >> (3 + axis) & 1) << high | u128::from(slot >> axis & 1) << low;
        }
        Cube { origin, level: low }
    }

    /// Returns the cube of an octant.
    pub(super) fn octant_cube(&self, oct: u8) -> Cube {
        Cube {
            level: self.cube.level - 1,
            ..self.slot_cube(oct << 3)
        }
    }

    #[inline]
    pub(super) fn is_coarse(&self, oct: u8) -> bool {
        self.coarse >> oct & 1 == 1
    }

    /// Returns whether nothing at all hangs in an octant.
    #[inline]
    pub(super) fn octant_is_empty(&self, oct: u8) -> bool {
        !self.is_coarse(oct) && self.octant_slots(oct) == 0
    }

    #[inline]
    fn octant_slots(&self, oct: u8) -> u64 {
        self.fine >> (oct * 8) & 0xff
    }

    /// Returns the child that would hold a key falling into a slot.
    #[inline]
    pub(super) fn child(&self, slot: u8) -> Link {
        self.links[usize::from(slot)].link()
    }

    pub(super) fn set_fine(&mut self, slot: u8, link: Link) {
        debug_assert!(!self.is_coarse(slot >> 3), "an octant is coarse or fine");
        let bit = 1 << slot;
        self.fine = if link == Link::Empty {
            self.fine & !bit
        } else {
            self.fine | bit
        };
        self.links[usize::from(slot)] = Packed::new(link);
    }

    pub(super) fn set_coarse(&mut self, oct: u8, leaf: Option<u32>) {
        debug_assert!(self.octant_slots(oct) == 0, "an octant is coarse or fine");
        let bit = 1 << oct;
        self.coarse = if leaf.is_none() {
            self.coarse & !bit
        } else {
            self.coarse | bit
        };
        let link = Packed::new(leaf.map_or(Link::Empty, Link::Leaf));
        self.links[usize::from(oct) << 3..][..8].fill(link);
    }

    /// Returns the children in slot order, coarse leaves once, restricted to those that `mask` of
    /// fine slots touches.
    #[inline]
    pub(super) fn children_in(&self, mask: u64) -> Children<'_> {
        // A byte of the mask that is not zero touches its octant: fold each byte onto its lowest bit.
        let mut octants = mask | mask >> 4;
        octants |= octants >> 2;
        octants |= octants >> 1;
        Children {
            node: self,
            left: self.fine & mask | spread(self.coarse) & octants,
        }
    }

    pub(super) fn children(&self) -> Children<'_> {
        self.children_in(u64::MAX)
    }

    /// Returns the children of one octant.
    pub(super) fn octant_children(&self, oct: u8) -> Children<'_> {
        self.children_in(0xff << (oct * 8))
    }
}

/// Returns the fine slot of a node of some level that a key of its cube falls into.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "two bits of each axis choose a slot"
)]
pub(super) fn slot_at(level: u8, key: &Key) -> u8 {
    // Levels are even, so both bits are in the same half of a key.
    let shift = level - 2;
    let place = |axis: usize| {
        let half = if shift < 64 {
            key[axis] as u64
        } else {
            (key[axis] >> 64) as u64
        };
        (half >> (shift & 63)) as u8 & 3
    };
    let [x, y, z] = [place(0), place(1), place(2)];
    let fine = x & 1 | (y & 1) << 1 | (z & 1) << 2;
    fine | (x & 2) << 2 | (y & 2) << 3 | (z & 2) << 4
}

/// Moves bit `i` of a byte to bit `8 * i`.
#[inline]
fn spread(byte: u8) -> u64 {
    let mut bits = u64::from(byte);
    bits = (bits | bits << 28) & 0x0000_000f_0000_000f;
    bits = (bits | bits << 14) & 0x0003_0003_0003_0003;
    (bits | bits << 7) & 0x0101_0101_0101_0101
}

pub(super) struct Children<'a> {
    node: &'a Node,
    left: u64,
}

impl Iterator for Children<'_> {
    type Item = (u8, Link);

    #[inline]
    fn next(&mut self) -> Option<(u8, Link)> {
        if self.left == 0 {
            return None;
        }
        let slot = self.left.trailing_zeros();
        self.left &= self.left - 1;
        let link = self.node.links[slot as usize].link();
        Some((u8::try_from(slot).expect("a slot is below 64"), link))
    }
}

/// Returns the fine slots of a cube whose children can hold points in a box of keys. The box must
/// touch the cube with room for strays.
#[inline]
pub(super) fn slots_touched(cube: &Cube, stray: u8, low: &Key, high: &Key) -> u64 {
    let shift = cube.level - 2;
    let slack = room_for(stray);
    let mut mask = u64::MAX;
    for axis in 0..3 {
        let origin = cube.origin[axis];
        let (mut low, mut high) = (low[axis], high[axis]);
        if stray != 0 {
            low = low.saturating_sub(slack);
            high = high.saturating_add(slack);
        }
        mask &= RANGES[axis][place_of(low, origin, shift)][place_of(high, origin, shift)];
    }
    mask
}

/// Returns the place from a node's corner on that a coordinate is in, or the nearest one.
#[inline]
fn place_of(at: u128, origin: u128, shift: u8) -> usize {
    if let Some(shift) = shift.checked_sub(64) {
        let steps = ((at >> 64) as u64).saturating_sub((origin >> 64) as u64) >> shift;
        steps.min(3) as usize
    } else {
        (at.saturating_sub(origin) >> shift).min(3) as usize
    }
}

/// `RANGES[axis][a][b]`: the slots whose place along an axis is in `a..=b`.
const RANGES: [[[u64; 4]; 4]; 3] = ranges();

/// `PLACES[axis][set]`: the slots whose place along an axis is in a set of bits.
pub(super) static PLACES: [[u64; 16]; 3] = places();

const fn places() -> [[u64; 16]; 3] {
    let mut table = [[0; 16]; 3];
    let mut set = 0;
    while set < 16 {
        let mut place = 0;
        while place < 4 {
            if set >> place & 1 == 1 {
                let mut axis = 0;
                while axis < 3 {
                    table[axis][set] |= RANGES[axis][place][place];
                    axis += 1;
                }
            }
            place += 1;
        }
        set += 1;
    }
    table
}

const fn ranges() -> [[[u64; 4]; 4]; 3] {
    let mut table = [[[0; 4]; 4]; 3];
    let mut slot = 0;
    while slot < 64 {
        let mut axis = 0;
        while axis < 3 {
            let at = (slot >> (3 + axis) & 1) << 1 | slot >> axis & 1;
            let mut a = 0;
            while a <= at {
                let mut b = at;
                while b < 4 {
                    table[axis][a][b] |= 1 << slot;
                    b += 1;
                }
                a += 1;
            }
            axis += 1;
        }
        slot += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_and_its_cube_agree() {
        let node = Node::new(Cube::around(&[1 << 90; 3], 8), Place::Root, 0);
        for slot in 0..64 {
            let cube = node.slot_cube(slot);
            assert_eq!(node.slot_of(&cube.origin), slot);
            assert_eq!(node.slot_of(&cube.last()), slot);
            assert!(node.octant_cube(slot >> 3).contains(&cube.origin));
        }
    }

    #[test]
    fn touched_slots_are_those_whose_cube_meets_the_box() {
        let node = Node::new(Cube::around(&[64; 3], 6), Place::Root, 0);
        for (a, b) in [(64, 127), (70, 70), (79, 80), (100, 127), (64, 111)] {
            let (low, high) = ([a, 64, a], [b, 127, b]);
            let mask = slots_touched(&node.cube, 0, &low, &high);
            for slot in 0..64 {
                let cube = node.slot_cube(slot);
                let meets = (0..3).all(|k| cube.origin[k] <= high[k] && low[k] <= cube.last()[k]);
                assert_eq!(mask >> slot & 1 == 1, meets, "slot {slot} of {a}..={b}");
            }
        }
    }

    #[test]
    fn children_come_in_slot_order_and_coarse_ones_once() {
        let mut node = Node::new(Cube::around(&[0; 3], 4), Place::Root, 0);
        node.set_fine(63, Link::Node(5));
        node.set_coarse(2, Some(9));
        node.set_fine(1, Link::Leaf(3));
        let all: Vec<_> = node.children().collect();
        assert_eq!(
            all,
            [(1, Link::Leaf(3)), (16, Link::Leaf(9)), (63, Link::Node(5))]
        );
        assert_eq!(
            node.children_in(1 << 20).collect::<Vec<_>>(),
            [(16, Link::Leaf(9))]
        );
        assert_eq!(node.child(21), Link::Leaf(9));
    }
}
