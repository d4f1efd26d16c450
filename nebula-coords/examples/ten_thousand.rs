//! Ten thousand ships around a planet: who is near, checked against asking every ship.
//!
//! `cargo run --release -p nebula-coords --example ten_thousand [seed]`

#![expect(clippy::print_stdout, reason = "an example shows its results")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use nebula_coords::{EntityId, SpatialEntity, SpatialEntityMut, SpatialHashMap};
use nebula_math::WorldPosition;

const SHIPS: u64 = 10_000;
/// Ships lie within 8,600 km of the centre on each axis: four sectors wide.
const REACH_MM: u64 = 1 << 33;

struct Ship {
    id: EntityId,
    at: WorldPosition,
}

impl SpatialEntity for Ship {
    fn entity_id(&self) -> EntityId {
        self.id
    }

    fn world_position(&self) -> &WorldPosition {
        &self.at
    }
}

impl SpatialEntityMut for Ship {
    fn set_world_position(&mut self, new_pos: WorldPosition) {
        self.at = new_pos;
    }
}

fn main() {
    let seed = std::env::args().nth(1).map_or(7, |seed| {
        seed.parse().expect("the seed is a whole number, such as 7")
    });
    let mut random = Random(seed);
    let mut map = SpatialHashMap::new();
    let start = Instant::now();
    for id in 0..SHIPS {
        let at = random.position();
        map.insert(Ship {
            id: EntityId(id),
            at,
        });
    }
    println!(
        "{} ships in {} sectors, inserted in {:.1?} (seed {seed})",
        map.len(),
        map.sector_count(),
        start.elapsed()
    );

    let center = random.position();
    println!(
        "\n{:>12}  {:>6}  {:>10}  {:>10}",
        "radius", "near", "map", "ask all"
    );
    for km in [100, 500, 1_000, 5_000, 50_000] {
        compare(&map, &center, km);
    }

    let nearest = map.query_nearest(&center, 3, i128::MAX);
    let ids: Vec<_> = nearest.iter().map(|ship| ship.id.to_string()).collect();
    println!("\nnearest three: ships {}", ids.join(", "));

    // One of them jumps to the far corner of the universe, and the question stays exact.
    let jumper = nearest[0].id;
    map.update_position(jumper, WorldPosition::MAX);
    let alone = map.query_radius(&WorldPosition::MAX, i128::MAX);
    assert_eq!(alone.len(), 1);
    assert!(
        map.query_nearest(&center, 3, i128::MAX)
            .iter()
            .all(|ship| ship.id != jumper)
    );
    map.validate().expect("the map is sound");
    println!("ship {jumper} jumped to the corner of the universe and is alone there");
}

/// Asks the map and then every ship, compares, and prints a row.
fn compare(map: &SpatialHashMap<Ship>, center: &WorldPosition, radius_km: i128) {
    let radius_mm = radius_km * 1_000_000;
    let (near, by_map) = best_of(|| map.query_radius(center, radius_mm));
    let (all, by_all) = best_of(|| {
        let ships = map.iter();
        ships
            .filter(|ship| ship.at.is_within(center, radius_mm))
            .collect::<Vec<_>>()
    });
    assert_eq!(
        sorted(&near),
        sorted(&all),
        "the map and asking every ship must agree"
    );
    let found = near.len();
    println!("{radius_km:>9} km  {found:>6}  {by_map:>10.1?}  {by_all:>10.1?}");
}

/// Returns the answer and the shortest of twenty runs.
fn best_of<R>(mut ask: impl FnMut() -> R) -> (R, Duration) {
    let mut best = Duration::MAX;
    for _ in 0..19 {
        let start = Instant::now();
        black_box(ask());
        best = best.min(start.elapsed());
    }
    let start = Instant::now();
    let answer = ask();
    (answer, best.min(start.elapsed()))
}

fn sorted(ships: &[&Ship]) -> Vec<EntityId> {
    let mut ids: Vec<_> = ships.iter().map(|ship| ship.id).collect();
    ids.sort_unstable();
    ids
}

/// A small random generator (splitmix64): the same seed gives the same universe.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn coordinate(&mut self) -> i128 {
        i128::from(self.next() % (2 * REACH_MM)) - i128::from(REACH_MM)
    }

    fn position(&mut self) -> WorldPosition {
        WorldPosition::new(self.coordinate(), self.coordinate(), self.coordinate())
    }
}
