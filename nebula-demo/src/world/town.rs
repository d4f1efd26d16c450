//! A town of tiles with floors: who may step where, and who is within reach.

use nebula_coords::{
    Collider, Elevation, EntityPositions, Tile, TileIndex, TilePosition, TileRange,
};
use nebula_math::WorldPosition;

use super::cast::{Cast, Extra};
use super::ground::Ground;
use crate::rng::Rng;

/// The side of a tile: a metre.
pub const TILE_MM: i64 = 1_000;
/// How high a floor is.
const FLOOR_MM: i128 = 3_000;
/// Half a side of the town, in tiles.
const HALF: i32 = 40;
/// How far someone hears: in steps along the axes.
const EARSHOT: i32 = 12;
/// Ticks between two steps of one person.
const PACE: u64 = 5;
/// The only map.
const TOWN: &str = "town";

/// One who lives here.
#[derive(Clone, Debug)]
struct Person {
    /// Where to, if nothing stands in the way.
    heading: (i32, i32),
    rng: Rng,
}

/// People on tiles and floors, who block each other and talk to those beside them.
///
/// ```
/// use nebula_demo::world::{Cast, Town};
///
/// let mut town = Town::new(7, 200);
/// for _ in 0..20 {
///     town.step();
/// }
/// let extra = town.extra().unwrap();
/// assert!(extra.identical, "{}", extra.words);
/// ```
#[derive(Debug)]
pub struct Town {
    seed: u64,
    ground: Ground,
    index: TileIndex<u32, &'static str>,
    people: Vec<Person>,
    places: Vec<WorldPosition>,
    /// Players stand on tiles of their own and walk through everyone.
    players: Vec<(Tile, Person, (i32, i32))>,
    player_places: Vec<WorldPosition>,
    tick: u64,
    stopped: u64,
    talking: usize,
    heard: usize,
    identical: bool,
}

impl Town {
    /// The middle of the town.
    pub const MIDDLE: WorldPosition = WorldPosition::new(1 << 60, 1 << 61, -(1 << 62));

    /// Makes a town with so many people at tick 0; no more than it has tiles for.
    #[must_use]
    pub fn new(seed: u64, people: u32) -> Self {
        let mut town = Self {
            seed,
            ground: Ground::plane(Self::MIDDLE),
            index: TileIndex::new(),
            people: Vec::new(),
            places: Vec::new(),
            players: Vec::new(),
            player_places: Vec::new(),
            tick: 0,
            stopped: 0,
            talking: 0,
            heard: 0,
            identical: true,
        };
        town.set_players(2);
        town.set_entities(people);
        town
    }

    fn place(&self, at: TilePosition) -> WorldPosition {
        let middle = |tile: i32| i64::from(tile) * TILE_MM + TILE_MM / 2;
        let level = self.ground.at(middle(at.tile.x), middle(at.tile.y));
        let up = i128::from(at.elevation.number()) * FLOOR_MM;
        WorldPosition::new(level.x, level.y, level.z.saturating_add(up))
    }

    /// The movement system: one step ahead, or a turn where someone stands.
    fn walk(&mut self, id: u32) {
        let Some((_, from)) = self.index.get(id) else {
            return;
        };
        let person = &mut self.people[slot(id)];
        let to = ahead(from.tile, person.heading).at(from.elevation);
        let solid = |_| {
            Some(Collider {
                solid: true,
                pass_through: false,
            })
        };
        let blocked = !inside(to.tile) || self.index.is_blocked(&TOWN, to, id, &solid);
        if blocked {
            self.stopped += 1;
            person.heading = direction(&mut person.rng);
            return;
        }
        self.index.update(id, to);
        self.places[slot(id)] = self.place(to);
    }

    fn walk_players(&mut self) {
        for number in 0..self.players.len() {
            let (tile, person, steered) = &mut self.players[number];
            let heading = if *steered == (0, 0) {
                person.heading
            } else {
                *steered
            };
            let to = ahead(*tile, heading);
            if inside(to) {
                *tile = to;
            } else {
                person.heading = direction(&mut person.rng);
            }
        }
        self.place_players();
    }

    fn place_players(&mut self) {
        let count = self.player_places.len();
        let tiles = self.players.iter().take(count);
        self.player_places = tiles
            .map(|(tile, ..)| self.place(tile.at(Elevation::GROUND)))
            .collect();
    }

    /// The interaction system: who has someone beside them, and whom the first player hears.
    fn meet(&mut self) {
        let mut found = Vec::new();
        self.talking = 0;
        for id in (0_u32..).take(self.people.len()) {
            if let Some((_, at)) = self.index.get(id) {
                self.index.query_adjacent(&TOWN, at, &mut found);
                self.talking += usize::from(found.iter().any(|other| *other != id));
            }
        }
        let Some((center, ..)) = self.players.first() else {
            return;
        };
        let range = TileRange::manhattan(*center, EARSHOT, Elevation::GROUND);
        self.index.query_range(&TOWN, &range, &mut found);
        found.sort_unstable();
        self.heard = found.len();
        self.identical &= found == self.ask_everyone(&range);
    }

    /// The slow twin of a range query.
    fn ask_everyone(&self, range: &TileRange) -> Vec<u32> {
        let everyone = (0_u32..).take(self.people.len());
        everyone
            .filter(|id| {
                self.index.get(*id).is_some_and(|(_, at)| {
                    Some(at.elevation) == range.elevation
                        && at.tile.manhattan_distance(range.center) <= EARSHOT.unsigned_abs().into()
                })
            })
            .collect()
    }

    /// Finds someone new a free tile; every third lives upstairs.
    fn settle(&mut self, id: u32) -> bool {
        let mut rng = Rng::for_member(self.seed, id);
        let floor = if id % 3 == 2 {
            1 + i64::from(id % 4)
        } else {
            0
        };
        let elevation = Elevation::new(floor).unwrap_or_default();
        for _ in 0..100 {
            let mut axis = || i32::try_from(rng.between((-HALF).into(), HALF.into())).unwrap_or(0);
            let at = TilePosition::new(axis(), axis(), elevation);
            if self.index.query_at(&TOWN, at).is_empty() {
                self.index.insert(id, &TOWN, at);
                self.places.push(self.place(at));
                let heading = direction(&mut rng);
                self.people.push(Person { heading, rng });
                return true;
            }
        }
        false // The town is full.
    }
}

impl Cast for Town {
    fn step(&mut self) {
        self.tick += 1;
        for id in (0_u32..).take(self.people.len()) {
            // Not all in the same tick: the town would twitch.
            if (self.tick + u64::from(id)).is_multiple_of(PACE) {
                self.walk(id);
            }
        }
        if self.tick.is_multiple_of(PACE) {
            self.walk_players();
        }
        self.meet();
    }

    fn places(&self) -> &[WorldPosition] {
        &self.places
    }

    fn players(&self) -> &[WorldPosition] {
        &self.player_places
    }

    fn set_entities(&mut self, entities: u32) {
        let known = u32::try_from(self.people.len()).expect("as many as there are tiles");
        for id in entities..known {
            self.index.remove(id);
        }
        self.people.truncate(slot(entities));
        self.places.truncate(slot(entities));
        for id in known..entities {
            if !self.settle(id) {
                break;
            }
        }
    }

    fn set_players(&mut self, players: usize) {
        for number in self.players.len()..players {
            let mut rng = Rng::for_member(!self.seed, u32::try_from(number).unwrap_or(u32::MAX));
            let heading = direction(&mut rng);
            self.players
                .push((Tile::default(), Person { heading, rng }, (0, 0)));
        }
        self.player_places = vec![WorldPosition::ORIGIN; players];
        self.place_players();
    }

    fn steer(&mut self, player: usize, east: i64, north: i64) {
        if let Some((.., steered)) = self.players.get_mut(player) {
            let sign = |v: i64| i32::try_from(v.signum()).unwrap_or(0);
            *steered = (sign(east), sign(north));
        }
    }

    fn extra(&self) -> Option<Extra> {
        Some(Extra {
            words: format!(
                "{} have someone beside them, {} steps were stopped, {} within {EARSHOT} tiles of the first player",
                self.talking, self.stopped, self.heard
            ),
            cost: String::new(),
            identical: self.identical,
        })
    }

    fn floor(&self, id: u32) -> Option<u8> {
        Some(self.index.get(id)?.1.elevation.number())
    }
}

fn ahead(tile: Tile, heading: (i32, i32)) -> Tile {
    Tile::new(
        tile.x.saturating_add(heading.0),
        tile.y.saturating_add(heading.1),
    )
}

fn inside(tile: Tile) -> bool {
    tile.x.abs() <= HALF && tile.y.abs() <= HALF
}

fn direction(rng: &mut Rng) -> (i32, i32) {
    match rng.below(4) {
        0 => (1, 0),
        1 => (-1, 0),
        2 => (0, 1),
        _ => (0, -1),
    }
}

fn slot(id: u32) -> usize {
    usize::try_from(id).expect("a u32 fits usize")
}
