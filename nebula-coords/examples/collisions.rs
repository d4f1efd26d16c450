//! A box of particles of different sizes: contacts are found, resolved, and compared with brute force.
//!
//! Run with `cargo run --release -p nebula-coords --example collisions`.
#![expect(clippy::print_stdout, reason = "an example that prints a page")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use nebula_coords::{CellSizeError, PairScratch, Particle, SortedIndex};
use nebula_math::WorldPosition;

const PARTICLES: u32 = 5_000;
/// The box spans a corner where x and y change sign: an index must not care.
const HALF_MM: i128 = 100_000;
const STEPS: usize = 24;

/// SplitMix64: the same picture on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> i128 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        i128::from((z ^ (z >> 31)) % n)
    }
}

fn main() -> Result<(), CellSizeError> {
    let mut random = Random(2);
    let mut place = || random.below(200_000) - HALF_MM;
    let mut particles: Vec<_> = (0..PARTICLES)
        .map(|id| Particle {
            id,
            position: WorldPosition::new(place(), place(), 0),
            radius_mm: 0,
        })
        .collect();
    for particle in &mut particles {
        // Most are small, some are large: 0.3 m to 2.3 m.
        let size = random.below(1_000);
        particle.radius_mm = 300 + size * size * size / 500_000;
    }
    // The seed asks for cells of at least the largest radius. Here any size is right; this one is fast.
    let mut index = SortedIndex::from_particles(4_096, &particles)?;

    println!("{PARTICLES} particles in a box of 200 m, radii 0.3 m to 2.3 m\n");
    println!("step  contacts  deepest   indexed   brute force, as exact");
    let mut scratch = PairScratch::default();
    for step in 0..STEPS {
        let (contacts, indexed) = timed(|| find(&index, &mut scratch));
        let show = step % 4 == 0 || step == STEPS - 1;
        if show {
            let (truth, brute) = timed(|| brute_force(&index));
            assert_eq!(contacts, truth, "the sweep and brute force differ");
            println!(
                "{step:>4}  {:>8}  {:>4} mm  {:>6.2} ms  {:>8.2} ms, {:.0} times as long",
                contacts.len(),
                deepest(&index, &contacts),
                indexed.as_secs_f64() * 1_000.0,
                brute.as_secs_f64() * 1_000.0,
                brute.as_secs_f64() / indexed.as_secs_f64(),
            );
        }
        resolve(&mut index, &contacts);
    }
    println!("\nEvery list of contacts above equals the brute-force list, pair by pair.");
    draw(&index);
    Ok(())
}

/// Returns every contact, in id order.
fn find(index: &SortedIndex<u32>, scratch: &mut PairScratch) -> Vec<(u32, u32)> {
    let mut contacts = Vec::new();
    let _ = index.visit_pairs(scratch, |a, b| {
        contacts.push((a, b));
        ControlFlow::Continue(())
    });
    contacts.sort_unstable();
    contacts
}

fn brute_force(index: &SortedIndex<u32>) -> Vec<(u32, u32)> {
    let mut contacts = Vec::new();
    let _ = index.visit_pairs_brute_force(|a, b| {
        contacts.push((a, b));
        ControlFlow::Continue(())
    });
    contacts.sort_unstable();
    contacts
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// Pushes particles in contact apart. Pushes are gathered first and applied together at the end, so the
/// array stays in order while it is read; `update_all` sorts it again.
fn resolve(index: &mut SortedIndex<u32>, contacts: &[(u32, u32)]) {
    let by_id = by_id(index);
    let mut pushes: BTreeMap<u32, (i128, i128)> = BTreeMap::new();
    for (a, b) in contacts {
        let (x, y) = push(&by_id[a], &by_id[b]);
        let at = pushes.entry(*a).or_default();
        *at = (at.0 - x, at.1 - y);
        let at = pushes.entry(*b).or_default();
        *at = (at.0 + x, at.1 + y);
    }
    index.update_all(|id, at, radius_mm| {
        if let Some((x, y)) = pushes.get(&id) {
            let wall = HALF_MM - radius_mm;
            at.x = (at.x + x).clamp(-wall, wall);
            at.y = (at.y + y).clamp(-wall, wall);
        }
    });
}

fn by_id(index: &SortedIndex<u32>) -> BTreeMap<u32, Particle<u32>> {
    index.iter().map(|p| (p.id, p)).collect()
}

/// Returns by how much `b` moves away from `a`: a little over half of the overlap.
fn push(a: &Particle<u32>, b: &Particle<u32>) -> (i128, i128) {
    let (x, y) = (b.position.x - a.position.x, b.position.y - a.position.y);
    let distance = (x * x + y * y).isqrt();
    if distance == 0 {
        // In one place: any direction will do.
        return (a.radius_mm, 0);
    }
    let overlap = a.radius_mm + b.radius_mm - distance;
    let along = overlap / 2 + 1;
    (x * along / distance, y * along / distance)
}

/// Returns the deepest overlap in millimetres.
fn deepest(index: &SortedIndex<u32>, contacts: &[(u32, u32)]) -> i128 {
    let by_id = by_id(index);
    let depth = |(a, b): &(u32, u32)| {
        let (a, b) = (&by_id[a], &by_id[b]);
        let (x, y) = (b.position.x - a.position.x, b.position.y - a.position.y);
        a.radius_mm + b.radius_mm - (x * x + y * y).isqrt()
    };
    contacts.iter().map(depth).max().unwrap_or(0)
}

/// Draws what lies around the origin, and marks what a pointer at the origin would touch.
fn draw(index: &SortedIndex<u32>) {
    let mut touched = Vec::new();
    index.query_touching(&WorldPosition::ORIGIN, 3_000, &mut touched);
    println!("\nAround the origin (one sign is 0.5 m; # touches a pointer of 3 m radius):\n");
    let mut near = Vec::new();
    for row in (-10..10).rev() {
        let line: String = (-30..30)
            .map(|column| {
                let at = WorldPosition::new(column * 500 + 250, row * 1_000 + 500, 0);
                index.query_touching(&at, 0, &mut near);
                match near.first() {
                    Some(id) if touched.contains(id) => '#',
                    Some(_) => 'o',
                    None => '.',
                }
            })
            .collect();
        println!("    {line}");
    }
}
