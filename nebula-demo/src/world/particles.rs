//! Particles of different sizes in a box: who touches whom, by sort and sweep and by asking everyone.

use core::ops::ControlFlow;
use std::time::{Duration, Instant};

use nebula_coords::{PairScratch, Particle, SortedIndex};
use nebula_math::WorldPosition;

use super::cast::{Cast, Extra};
use super::ground::Ground;
use super::walker::{Home, Route, Walker};
use crate::rng::Rng;

/// Half of a side of the box.
const HALF_MM: i64 = 100_000;
/// The fastest particle, per axis and tick.
const SPEED_MM: i64 = 150;
/// The width of a cell of the index: any is right, this one is fast.
const CELL_MM: i128 = 4_096;
/// The twin asks this often when it is not switched on: 12 million pairs take their time.
const TWIN_EVERY: u64 = 50;

/// One particle: where, how fast and how large.
#[derive(Clone, Copy, Debug)]
struct Body {
    spot: (i64, i64),
    velocity: (i64, i64),
    radius_mm: i64,
}

/// Particles that bounce off the walls of a box and off each other.
///
/// ```
/// use nebula_demo::world::{Cast, Particles};
///
/// let mut particles = Particles::new(7, 300);
/// particles.set_brute_force(true);
/// particles.step();
/// assert!(particles.extra().unwrap().identical);
/// ```
#[derive(Debug)]
pub struct Particles {
    seed: u64,
    ground: Ground,
    bodies: Vec<Body>,
    places: Vec<WorldPosition>,
    index: SortedIndex<u32>,
    scratch: PairScratch,
    contacts: Vec<(u32, u32)>,
    players: Vec<Walker>,
    player_places: Vec<WorldPosition>,
    tick: u64,
    twin: bool,
    twin_time: Option<Duration>,
    sweep_time: Duration,
    identical: bool,
}

impl Particles {
    /// The middle of the box.
    pub const MIDDLE: WorldPosition = WorldPosition::new(-(1 << 100), 1 << 99, 0);

    /// Makes so many particles at tick 0.
    #[must_use]
    pub fn new(seed: u64, particles: u32) -> Self {
        let ground = Ground::plane(Self::MIDDLE);
        let mut all = Self {
            seed,
            ground,
            bodies: Vec::new(),
            places: Vec::new(),
            index: SortedIndex::new(CELL_MM).expect("a power of two"),
            scratch: PairScratch::default(),
            contacts: Vec::new(),
            players: Vec::new(),
            player_places: Vec::new(),
            tick: 0,
            twin: false,
            twin_time: None,
            sweep_time: Duration::ZERO,
            identical: true,
        };
        all.set_players(2);
        all.set_entities(particles);
        all
    }

    /// Lets those that touch bounce: each pair swaps its velocities, as equal masses do.
    fn bounce(&mut self) {
        for &(a, b) in &self.contacts {
            let (a, b) = (slot(a), slot(b));
            let (one, other) = (self.bodies[a], self.bodies[b]);
            let apart = (other.spot.0 - one.spot.0, other.spot.1 - one.spot.1);
            let toward = (
                other.velocity.0 - one.velocity.0,
                other.velocity.1 - one.velocity.1,
            );
            // Only if they come closer: a pair that parts already is left alone.
            if apart.0 * toward.0 + apart.1 * toward.1 < 0 {
                self.bodies[a].velocity = other.velocity;
                self.bodies[b].velocity = one.velocity;
            }
        }
    }

    /// Finds every pair that touches, by the sweep and, when it is time, by asking everyone.
    fn find_contacts(&mut self) {
        let places = &self.places;
        self.index.update_all(|id, at, _| *at = places[slot(id)]);
        let contacts = &mut self.contacts;
        contacts.clear();
        let start = Instant::now();
        let _ = self.index.visit_pairs(&mut self.scratch, |a, b| {
            contacts.push((a.min(b), a.max(b)));
            ControlFlow::Continue(())
        });
        self.sweep_time = start.elapsed();
        contacts.sort_unstable();
        self.twin_time = None;
        if self.twin || self.tick.is_multiple_of(TWIN_EVERY) {
            let start = Instant::now();
            let truth = self.ask_everyone();
            self.twin_time = Some(start.elapsed());
            self.identical &= truth == self.contacts;
        }
    }

    /// The slow twin: every pair, one after the other.
    fn ask_everyone(&self) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let numbered = || (0_u32..).zip(&self.bodies);
        for (a, one) in numbered() {
            for (b, other) in numbered().skip(slot(a) + 1) {
                let (dx, dy) = (one.spot.0 - other.spot.0, one.spot.1 - other.spot.1);
                let reach = one.radius_mm + other.radius_mm;
                if dx * dx + dy * dy <= reach * reach {
                    found.push((a, b));
                }
            }
        }
        found
    }
}

impl Cast for Particles {
    fn step(&mut self) {
        self.tick += 1;
        self.bounce();
        for (body, place) in self.bodies.iter_mut().zip(&mut self.places) {
            for (v, speed) in [
                (&mut body.spot.0, &mut body.velocity.0),
                (&mut body.spot.1, &mut body.velocity.1),
            ] {
                *v += *speed;
                if v.abs() > HALF_MM {
                    *speed = -*speed;
                    *v = (*v).clamp(-HALF_MM, HALF_MM);
                }
            }
            *place = self.ground.at(body.spot.0, body.spot.1);
        }
        for (player, place) in self.players.iter_mut().zip(&mut self.player_places) {
            player.step();
            *place = player.position();
        }
        self.find_contacts();
    }

    fn places(&self) -> &[WorldPosition] {
        &self.places
    }

    fn players(&self) -> &[WorldPosition] {
        &self.player_places
    }

    fn set_entities(&mut self, entities: u32) {
        let known = u32::try_from(self.bodies.len()).expect("as many as were asked for");
        self.bodies.truncate(slot(entities));
        self.places.truncate(slot(entities));
        for id in entities..known {
            self.index.remove(id);
        }
        for id in known..entities {
            let mut rng = Rng::for_member(self.seed, id);
            let mut within = |limit: i64| rng.between(-limit, limit);
            let body = Body {
                spot: (within(HALF_MM), within(HALF_MM)),
                velocity: (within(SPEED_MM), within(SPEED_MM)),
                // Most are small, some are large: 0.3 m to 2.3 m.
                radius_mm: 300 + within(1_000).pow(2) * within(1_000).abs() / 500_000,
            };
            let place = self.ground.at(body.spot.0, body.spot.1);
            self.index.insert_particle(Particle {
                id,
                position: place,
                radius_mm: body.radius_mm.into(),
            });
            self.bodies.push(body);
            self.places.push(place);
        }
        self.find_contacts();
    }

    fn set_players(&mut self, players: usize) {
        for number in self.players.len()..players {
            let rng = Rng::for_member(!self.seed, u32::try_from(number).unwrap_or(u32::MAX));
            let home = Route::Wander(Home::around_the_middle(HALF_MM / 2));
            let speed = super::PLAYER_SPEED_MM;
            self.players
                .push(Walker::new(self.ground, home, (speed, speed), rng));
        }
        self.player_places = self.players.iter().map(Walker::position).collect();
        self.player_places.truncate(players);
    }

    fn steer(&mut self, player: usize, east: i64, north: i64) {
        if let Some(player) = self.players.get_mut(player) {
            player.steer(east, north);
        }
    }

    fn extra(&self) -> Option<Extra> {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let sweep = ms(self.sweep_time);
        Some(Extra {
            words: format!("{} pairs touch", self.contacts.len()),
            cost: match self.twin_time {
                Some(time) => format!("sweep {sweep:.2} ms, brute force {:.1} ms", ms(time)),
                None => format!("sweep {sweep:.2} ms"),
            },
            identical: self.identical,
        })
    }

    fn set_brute_force(&mut self, on: bool) {
        self.twin = on;
    }

    fn size_mm(&self, id: u32) -> Option<i128> {
        self.bodies.get(slot(id)).map(|body| body.radius_mm.into())
    }
}

fn slot(id: u32) -> usize {
    usize::try_from(id).expect("a u32 fits usize")
}
