//! The sets: where the entities are, and how far a query reaches among them.

use nebula_math::WorldPosition;

/// Entities, and what is asked about them.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<(u32, WorldPosition)>,
    /// Every entity up to two metres farther along the axes that the set leaves free.
    pub(crate) stepped: Vec<(u32, WorldPosition)>,
    /// Every entity where another one was.
    pub(crate) jumped: Vec<(u32, WorldPosition)>,
    pub(crate) radius_mm: i128,
    /// Indexes of the points around which is asked.
    pub(crate) centers: Vec<usize>,
}

/// A set's name and how it is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Maker {
    pub(crate) name: &'static str,
    pub(crate) make: fn(u32) -> Set,
}

/// Every set; the first is the baseline.
pub(crate) const SETS: &[Maker] = &[
    Maker {
        name: "uniform",
        make: uniform,
    },
    Maker {
        name: "point",
        make: point,
    },
    Maker {
        name: "line",
        make: line,
    },
    Maker {
        name: "plane",
        make: plane,
    },
    Maker {
        name: "powers",
        make: powers,
    },
    Maker {
        name: "clusters",
        make: clusters,
    },
];

/// Side of the cube, the line and the plane: 1,000 km.
const SIDE_BITS: u32 = 30;

/// Steps along every axis.
const ALL: [bool; 3] = [true; 3];

/// SplitMix64.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a coordinate of so many bits around zero.
    fn around(&mut self, bits: u32) -> i128 {
        i128::from(self.word() >> (64 - bits)) - (1 << (bits - 1))
    }
}

fn set(
    name: &'static str,
    n: u32,
    radius_mm: i128,
    free: [bool; 3],
    mut place: impl FnMut(&mut Random, u32) -> WorldPosition,
) -> Set {
    let mut random = Random(u64::from(n));
    let points: Vec<_> = (0..n).map(|id| (id, place(&mut random, id))).collect();
    let stepped = points
        .iter()
        .map(|(id, p)| {
            let mut step =
                |at: i128, free: bool| at.saturating_add(if free { random.around(12) } else { 0 });
            let [x, y, z] = free;
            (
                *id,
                WorldPosition::new(step(p.x, x), step(p.y, y), step(p.z, z)),
            )
        })
        .collect();
    let mut jumped = points.clone();
    for i in (1..jumped.len()).rev() {
        let j = usize::try_from(random.word() % (i as u64 + 1)).expect("an index");
        let (a, b) = (jumped[i].1, jumped[j].1);
        (jumped[i].1, jumped[j].1) = (b, a);
    }
    let centers = (0..200)
        .map(|_| usize::try_from(random.word() % u64::from(n)).expect("an index"))
        .collect();
    Set {
        name,
        points,
        stepped,
        jumped,
        radius_mm,
        centers,
    }
}

/// In a cube; the radius finds some hundred of 200,000.
fn uniform(n: u32) -> Set {
    set("uniform", n, 60_000_000, ALL, |r, _| {
        WorldPosition::new(
            r.around(SIDE_BITS),
            r.around(SIDE_BITS),
            r.around(SIDE_BITS),
        )
    })
}

/// All at one point, on a sector's corner.
fn point(n: u32) -> Set {
    set("point", n, 60_000_000, ALL, |_, _| {
        WorldPosition::new(-(1 << 32), 1 << 32, 0)
    })
}

/// On one line along an axis; others share both remaining coordinates.
fn line(n: u32) -> Set {
    set("line", n, 300_000, [false, true, false], |r, _| {
        WorldPosition::new(-7, r.around(SIDE_BITS), 1 << 40)
    })
}

/// On one plane; others share the remaining coordinate.
fn plane(n: u32) -> Set {
    set("plane", n, 13_000_000, [true, false, true], |r, _| {
        WorldPosition::new(r.around(SIDE_BITS), -1, r.around(SIDE_BITS))
    })
}

/// At plus and minus the powers of two, each axis its own: every level of the tree is occupied.
fn powers(n: u32) -> Set {
    set("powers", n, 1 << 20, ALL, |r, _| {
        let mut axis = || {
            let power = 1_i128 << (r.word() % 127);
            if r.word().is_multiple_of(2) {
                power
            } else {
                -power
            }
        };
        WorldPosition::new(axis(), axis(), axis())
    })
}

/// In two cubes 2^126 apart.
fn clusters(n: u32) -> Set {
    set("clusters", n, 60_000_000, ALL, |r, id| {
        let far = if id.is_multiple_of(2) {
            -(1 << 125)
        } else {
            1 << 125
        };
        WorldPosition::new(
            far + r.around(SIDE_BITS),
            r.around(SIDE_BITS),
            r.around(SIDE_BITS),
        )
    })
}
