//! Who finds overlapping pairs: a step moves every sphere, then all pairs that touch are listed.

mod peers;

use std::ops::ControlFlow;

use nebula_coords::{PairScratch, Particle, SortedIndex};
use nebula_math::WorldPosition;
use nebula_peers::report::Role;

use crate::data::Sphere;

/// The largest radius of [`particles`](crate::data::particles).
pub(crate) const RADIUS_MAX_MM: i64 = 1_000;

/// A way to find overlapping pairs.
pub(crate) trait Pairs {
    /// Its name in tables.
    fn name(&self) -> &'static str;

    /// Whose it is.
    fn role(&self) -> Role {
        Role::Peer
    }

    /// Takes the spheres in its own types: the first time to store them, later to move them. No clock
    /// runs.
    fn load(&mut self, spheres: &[Sphere]);

    /// Moves the spheres to where they were loaded, and lists every pair that touches, each once.
    fn step(&mut self, out: &mut Vec<(u32, u32)>);

    /// Returns how much of the work a step does.
    fn share(&self) -> f64 {
        1.0
    }
}

/// Makes every way to find pairs on a plane or in space.
pub(crate) fn all(flat: bool) -> Vec<Box<dyn Pairs>> {
    let kiddo: Box<dyn Pairs> = if flat {
        Box::new(peers::Near::<2>::default())
    } else {
        Box::new(peers::Near::<3>::default())
    };
    vec![
        Box::new(Sweep::default()),
        kiddo,
        Box::new(peers::Rectangles::default()),
        Box::new(peers::Refit::default()),
        Box::new(peers::Grid::default()),
        Box::new(peers::Brute::default()),
    ]
}

/// Nebula's own: `SortedIndex`.
#[derive(Debug, Default)]
struct Sweep {
    index: Option<SortedIndex<u32>>,
    scratch: PairScratch,
    positions: Vec<WorldPosition>,
}

impl Pairs for Sweep {
    fn name(&self) -> &'static str {
        "Nebula SortedIndex"
    }

    fn role(&self) -> Role {
        Role::Ours
    }

    fn load(&mut self, spheres: &[Sphere]) {
        self.positions = spheres.iter().map(|(at, _)| *at).collect();
        if self.index.is_none() {
            let particle = |(id, (at, radius)): (u32, &Sphere)| Particle {
                id,
                position: *at,
                radius_mm: i128::from(*radius),
            };
            let particles: Vec<_> = (0..).zip(spheres).map(particle).collect();
            let cell_mm = i128::from(RADIUS_MAX_MM) * 2;
            self.index = Some(SortedIndex::from_particles(cell_mm, &particles).expect("positive"));
        }
    }

    fn step(&mut self, out: &mut Vec<(u32, u32)>) {
        let Some(index) = &mut self.index else { return };
        let positions = &self.positions;
        index.update_all(|id, at, _| *at = positions[id as usize]);
        let _ = index.visit_pairs(&mut self.scratch, |a, b| {
            out.push((a, b));
            ControlFlow::Continue(())
        });
    }
}
