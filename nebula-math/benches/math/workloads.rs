//! Points near a centre, points far from it, and points at the ends of `i128`.

use nebula_math::{IVec3_128, U384, WorldPosition};

use crate::formulas::{FORMULAS, Scene, exact, stored, to_float, wrapping};

/// Too many for a processor to learn by heart which of them are out of reach, as it does with some
/// hundreds that come around again; few enough for the cache beside the core.
const POINTS: usize = 16_384;

#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    scene: Scene,
}

impl Workload {
    /// Enough runs for a time far above the resolution of the clock.
    pub(crate) const ROUNDS: u32 = 12;

    pub(crate) fn scene(&self) -> &Scene {
        &self.scene
    }

    /// How many answers a round gives: pairs are one fewer than points.
    pub(crate) fn tests(&self) -> usize {
        self.scene.points.len() - usize::from(self.scene.pairs)
    }

    #[expect(clippy::cast_precision_loss, reason = "a few hundred thousand tests")]
    pub(crate) fn tests_per_run(&self) -> f64 {
        f64::from(Self::ROUNDS) * self.tests() as f64
    }

    /// Counts the answers of each formula that differ from wide arithmetic.
    ///
    /// # Panics
    /// When the exact formula differs, or the wrapping one where nothing can wrap.
    pub(crate) fn wrong_answers(&self) -> [usize; FORMULAS.len()] {
        let Scene {
            center,
            radius,
            points,
            float_center,
            float_points,
            pairs,
        } = &self.scene;
        let mut wrong = [0; FORMULAS.len()];
        for i in usize::from(*pairs)..points.len() {
            let (from, float_from) = if *pairs {
                (&points[i - 1], &float_points[i - 1])
            } else {
                (center, float_center)
            };
            let truth = from.distance_squared(&points[i]) <= U384::square(radius.unsigned_abs());
            let answers = [
                exact(from, &points[i], *radius),
                wrapping(from, &points[i], *radius),
                to_float(from, &points[i], *radius),
                stored(float_from, &float_points[i], to_f64(*radius)),
            ];
            for (wrong, answer) in wrong.iter_mut().zip(answers) {
                *wrong += usize::from(answer != truth);
            }
        }
        assert_eq!(wrong[0], 0, "{}: the exact formula is wrong", self.name);
        if self.name != "extreme" {
            assert_eq!(wrong[1], 0, "{}: nothing can wrap here", self.name);
        }
        wrong
    }
}

/// Every workload, in the order of the table.
pub(crate) fn all() -> [Workload; 6] {
    let at = WorldPosition::new(-7 << 40, 3 << 50, -1 << 45);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut around = |reach: i128| {
        let mut axis = || random.next().rem_euclid(2 * reach + 1) - reach;
        at + IVec3_128::new(axis(), axis(), axis())
    };
    // Half of these are in reach: the cube around the sphere.
    let near = (0..POINTS).map(|_| around(500_000)).collect();
    // As near, but both ends change from test to test, so that nothing can be computed once.
    let pairs = (0..POINTS).map(|_| around(300_000)).collect();
    // One in six inside the cube, the rest beside it on any axis: what a query of cells looks at.
    let mixed = (0..POINTS).map(|_| around(900_000)).collect();
    // All out of reach, as neighbours in the next cells are, and as everything else is.
    let beyond = (0..POINTS)
        .map(|_| next_door(at, around(500_000)))
        .collect();
    let far = (0..POINTS)
        .map(|_| outside(at, around(1_000_000_000_000)))
        .collect();
    let extreme = (0..POINTS).map(|i| ends(&mut random, i)).collect();
    [
        workload("near", at, 500_000, near),
        workload("pairs", at, 500_000, pairs),
        workload("mixed", at, 500_000, mixed),
        workload("next", at, 500_000, beyond),
        workload("far", at, 500_000, far),
        workload(
            "extreme",
            WorldPosition::new(i128::MIN, -1, 0),
            i128::MAX / 2,
            extreme,
        ),
    ]
}

/// The same point one diameter further along one axis, which puts it out of reach.
fn next_door(at: WorldPosition, p: WorldPosition) -> WorldPosition {
    match (p.x ^ p.y) & 3 {
        0 => WorldPosition::new(at.x + 500_001 + (p.x - at.x).abs(), p.y, p.z),
        1 => WorldPosition::new(p.x, at.y - 500_001 - (p.y - at.y).abs(), p.z),
        2 => WorldPosition::new(p.x, p.y, at.z + 500_001 + (p.z - at.z).abs()),
        _ => WorldPosition::new(at.x - 500_001 - (p.x - at.x).abs(), p.y, p.z),
    }
}

fn outside(at: WorldPosition, p: WorldPosition) -> WorldPosition {
    if at.is_within(&p, 500_000) {
        p + IVec3_128::splat(1_000_000)
    } else {
        p
    }
}

/// Points anywhere, at the ends, and a multiple of 2^64 away, where squares wrap to small numbers.
fn ends(random: &mut Random, i: usize) -> WorldPosition {
    let mut axis = || match random.next().rem_euclid(4) {
        0 => i128::MIN + random.next().rem_euclid(1_000),
        1 => i128::MAX - random.next().rem_euclid(1_000),
        2 => random.next() >> 64 << 64,
        _ => random.next(),
    };
    let p = WorldPosition::new(axis(), axis(), axis());
    if i.is_multiple_of(2) {
        // Near enough on every axis that only wide squares can tell.
        WorldPosition::new(i128::MIN + (p.x >> 2).abs(), p.y >> 2, p.z >> 2)
    } else {
        p
    }
}

fn workload(
    name: &'static str,
    center: WorldPosition,
    radius: i128,
    points: Vec<WorldPosition>,
) -> Workload {
    let float = |p: &WorldPosition| p.to_array().map(to_f64);
    Workload {
        name,
        scene: Scene {
            center,
            radius,
            float_center: float(&center),
            float_points: points.iter().map(float).collect(),
            points,
            pairs: name == "pairs",
        },
    }
}

#[expect(clippy::cast_precision_loss, reason = "that is what a float loses")]
fn to_f64(value: i128) -> f64 {
    value as f64
}

/// SplitMix64, twice per value.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> i128 {
        let mut half = || {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            u128::from(z ^ (z >> 31))
        };
        (half() << 64 | half()).cast_signed()
    }
}
