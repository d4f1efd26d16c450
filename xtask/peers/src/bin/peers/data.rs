//! The seeded worlds that every contender gets.

use nebula_math::WorldPosition;
use nebula_peers::random::Random;

/// An id and where it is.
pub(crate) type Entry = (u32, WorldPosition);

/// 6,371 km.
const PLANET_RADIUS_MM: f64 = 6_371e6;
const CITIES: usize = 200;
/// 1 km.
const CITY_SIGMA_MM: f64 = 1e6;

/// Returns `n` entities on a planet: 70 % in 200 Gaussian cities of sigma 1 km, 30 % uniform. Ids are
/// in random order of place.
pub(crate) fn planet(n: usize) -> Vec<Entry> {
    let mut random = Random(0x9137);
    let cities: Vec<City> = (0..CITIES).map(|_| City::somewhere(&mut random)).collect();
    entries(n, |_| {
        let direction = if random.unit() < 0.7 {
            cities[random.below(CITIES)].inhabitant(&mut random)
        } else {
            random.direction()
        };
        on_the_ground(direction)
    })
}

/// A town: its direction from the planet's middle, and two axes along the ground.
struct City {
    up: [f64; 3],
    east: [f64; 3],
    north: [f64; 3],
}

impl City {
    fn somewhere(random: &mut Random) -> Self {
        let up = random.direction();
        // Any axis far from `up` will do for a first tangent.
        let helper = if up[2].abs() < 0.9 {
            [0.0, 0.0, 1.0]
        } else {
            [1.0, 0.0, 0.0]
        };
        let east = normalized(cross(helper, up));
        Self {
            up,
            east,
            north: cross(up, east),
        }
    }

    fn inhabitant(&self, random: &mut Random) -> [f64; 3] {
        let sigma = CITY_SIGMA_MM / PLANET_RADIUS_MM;
        let (e, n) = (random.normal() * sigma, random.normal() * sigma);
        normalized([0, 1, 2].map(|i| self.up[i] + e * self.east[i] + n * self.north[i]))
    }
}

fn on_the_ground(direction: [f64; 3]) -> WorldPosition {
    let [x, y, z] = direction.map(|c| rounded(c * PLANET_RADIUS_MM));
    WorldPosition::new(x, y, z)
}

/// Returns `n` entities within 100 m of one spot of the ground.
pub(crate) fn crowd(n: usize) -> Vec<Entry> {
    let mut random = Random(0xC0D);
    let middle = on_the_ground(random.direction());
    entries(n, |_| {
        loop {
            let at = nudged(middle, 100_000, &mut random);
            if middle.is_within(&at, 100_000) {
                return at;
            }
        }
    })
}

/// Returns `n` entities spread over a cube of 2^100 mm, each in a sector of its own.
pub(crate) fn universe(n: usize) -> Vec<Entry> {
    let mut random = Random(0x100);
    let mut coordinate = move || {
        let wide = u128::from(random.bits()) << 64 | u128::from(random.bits());
        i128::try_from(wide >> 28).expect("100 bits") - (1 << 99)
    };
    entries(n, |_| {
        WorldPosition::new(coordinate(), coordinate(), coordinate())
    })
}

/// A sphere of [`particles`]: its middle and its radius, in millimetres.
pub(crate) type Sphere = (WorldPosition, i64);

/// Returns spheres with radii of 0.2 m to 1 m that fill about half of a square or a third of a cube.
pub(crate) fn particles(n: usize, flat: bool) -> Vec<Sphere> {
    let mut random = Random(0xBA11);
    let side = if flat {
        (n as f64).sqrt() * 2_200.0
    } else {
        (n as f64).cbrt() * 1_900.0
    };
    let half = i64::try_from(rounded(side / 2.0)).expect("a small world");
    (0..n)
        .map(|_| {
            let z = if flat { 0 } else { random.around(half) };
            let (x, y) = (random.around(half), random.around(half));
            let radius = 200 + i64::try_from(random.below(801)).expect("small");
            (WorldPosition::new(x.into(), y.into(), z.into()), radius)
        })
        .collect()
}

/// Returns entries with ids from 0 in order.
fn entries(n: usize, mut at: impl FnMut(u32) -> WorldPosition) -> Vec<Entry> {
    let n = u32::try_from(n).expect("fewer than 2^32 entities");
    (0..n).map(|id| (id, at(id))).collect()
}

/// Returns the positions of some entities, in random order.
pub(crate) fn centers(entries: &[Entry], n: usize, seed: u64) -> Vec<WorldPosition> {
    let mut random = Random(seed);
    (0..n)
        .map(|_| entries[random.below(entries.len())].1)
        .collect()
}

/// Returns positions up to `reach` from some entities on each axis.
pub(crate) fn centers_beside(
    entries: &[Entry],
    n: usize,
    reach: i64,
    seed: u64,
) -> Vec<WorldPosition> {
    let mut random = Random(seed);
    (0..n)
        .map(|_| {
            let at = entries[random.below(entries.len())].1;
            nudged(at, reach, &mut random)
        })
        .collect()
}

/// Moves a share of the entities by up to `reach` on each axis, and returns the moves in the order of
/// ids, as a game that walks its entities finds them.
pub(crate) fn steps(entries: &mut [Entry], share: f64, reach: i64, seed: u64) -> Vec<Entry> {
    let mut random = Random(seed);
    let mut order: Vec<usize> = (0..entries.len()).collect();
    random.shuffle(&mut order);
    let movers = (entries.len() as f64 * share).round();
    order.truncate(usize::try_from(rounded(movers)).expect("at most all"));
    order.sort_unstable();
    for at in &order {
        entries[*at].1 = nudged(entries[*at].1, reach, &mut random);
    }
    order.into_iter().map(|at| entries[at]).collect()
}

/// Returns a place up to `reach` away on each axis.
pub(crate) fn nudged(at: WorldPosition, reach: i64, random: &mut Random) -> WorldPosition {
    let mut by = || i128::from(random.around(reach));
    WorldPosition::new(at.x + by(), at.y + by(), at.z + by())
}

/// Returns the largest coordinate, sign aside.
pub(crate) fn reach(entries: &[Entry]) -> i128 {
    let coordinates = entries.iter().flat_map(|(_, at)| at.to_array());
    coordinates.map(i128::saturating_abs).max().unwrap_or(0)
}

fn rounded(value: f64) -> i128 {
    value.round() as i128
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn normalized(v: [f64; 3]) -> [f64; 3] {
    let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
    v.map(|c| c / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planet_is_the_same_every_time_and_round() {
        let planet_a = planet(2_000);
        assert_eq!(planet_a, planet(2_000));
        for (_, at) in &planet_a {
            let [x, y, z] = at.to_array().map(|c| c as f64);
            let height = (x * x + y * y + z * z).sqrt() - PLANET_RADIUS_MM;
            assert!(height.abs() < 2.0, "{height} mm above the ground");
        }
    }

    #[test]
    fn a_share_moves_and_the_list_follows() {
        let before = planet(1_000);
        let mut after = before.clone();
        let moves = steps(&mut after, 0.1, 5_000, 3);
        assert_eq!(moves.len(), 100);
        for (id, to) in &moves {
            assert_eq!(after[*id as usize].1, *to);
        }
        let moved = before.iter().zip(&after).filter(|(a, b)| a != b).count();
        assert!(moved <= 100, "{moved}");
    }

    #[test]
    fn the_universe_is_wide() {
        let far = universe(1_000);
        assert!(far.iter().any(|(_, at)| at.x.unsigned_abs() > 1 << 98));
        assert!(far.iter().all(|(_, at)| at.x.unsigned_abs() <= 1 << 99));
    }
}
