//! The slow twin of `Interest`: all pairs, big integers, no index; and random worlds to compare with.

use std::collections::{BTreeMap, BTreeSet};

use nebula_math::WorldPosition;
use nebula_multiplayer::interest::{
    Area, ClientFacts, Facts, Interest, Layers, MAX_FOLLOW_DEPTH, Rule,
};
use nebula_multiplayer::{ClientId, NetworkId};
use num_bigint::{BigInt, BigUint};

/// Numbers by seed (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }
}

/// Places where things gather: the origin, sector edges, a far point, the ends of the universe.
const HOMES: [i128; 8] = [
    0,
    1 << 32,
    -(1 << 32),
    (1 << 64) + 7,
    -(1 << 100),
    i128::MIN,
    i128::MAX,
    i128::MAX - (1 << 70),
];

pub(crate) fn coordinate(random: &mut Random, home: i128) -> i128 {
    let step = i128::from(random.below(41)) - 20;
    let scale = random.pick(&[1, 1, 1, 5, 1_000, 1 << 31]);
    home.saturating_add(step * scale)
}

pub(crate) fn position(random: &mut Random) -> WorldPosition {
    // Few homes, so that things meet.
    let home = random.pick(&HOMES);
    let other = random.pick(&[home, home, 0]);
    WorldPosition::new(
        coordinate(random, home),
        coordinate(random, other),
        coordinate(random, 0),
    )
}

pub(crate) fn length(random: &mut Random) -> u128 {
    match random.below(12) {
        0 => 0,
        1 => 1 << 33,
        2 => 1 << 66,
        3 => random.pick(&[1 << 126, 1 << 127, u128::MAX - 1, u128::MAX]),
        4 => 20_000,
        _ => u128::from(random.below(40)),
    }
}

pub(crate) fn layers(random: &mut Random) -> Layers {
    match random.below(8) {
        0 => Layers::only(3),
        1 => Layers::default().with(3),
        2 => Layers::NONE,
        _ => Layers::default(),
    }
}

pub(crate) fn facts(random: &mut Random, ids: &[NetworkId], clients: u64) -> Facts {
    Facts {
        position: (random.below(8) > 0).then(|| position(random)),
        reach_mm: if random.below(3) == 0 {
            length(random)
        } else {
            0
        },
        rule: random.pick(&[
            Rule::Near,
            Rule::Near,
            Rule::Near,
            Rule::Near,
            Rule::Near,
            Rule::Always,
            Rule::Never,
        ]),
        layers: layers(random),
        owner: (random.below(6) == 0).then(|| ClientId::new(random.below(clients))),
        follows: (random.below(5) == 0).then(|| random.pick(ids)),
    }
}

pub(crate) fn areas(random: &mut Random) -> Vec<Area> {
    let count = random.pick(&[0, 1, 1, 1, 2, 3]);
    let mut areas: Vec<Area> = Vec::new();
    for _ in 0..count {
        let center = match areas.first() {
            // Overlapping areas: what both hold must be found once.
            Some(first) if random.below(2) == 0 => first.center,
            _ => position(random),
        };
        let margin = if random.below(2) == 0 {
            0
        } else {
            length(random)
        };
        areas.push(Area::new(center, length(random)).with_margin(margin));
    }
    areas
}

#[derive(Default)]
pub(crate) struct Twin {
    pub(crate) entities: BTreeMap<NetworkId, Facts>,
    pub(crate) clients: BTreeMap<ClientId, TwinClient>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct TwinClient {
    pub(crate) facts: ClientFacts,
    pub(crate) areas: Vec<Area>,
    pub(crate) set: BTreeSet<NetworkId>,
    pub(crate) view: BTreeSet<NetworkId>,
}

fn distance_squared(a: &WorldPosition, b: &WorldPosition) -> BigUint {
    let axis = |x: i128, y: i128| {
        let d = BigInt::from(x) - BigInt::from(y);
        d.magnitude() * d.magnitude()
    };
    axis(a.x, b.x) + axis(a.y, b.y) + axis(a.z, b.z)
}

impl Twin {
    /// The rule, word by word.
    fn is_member(&self, id: ClientId, client: &TwinClient, entity: NetworkId) -> bool {
        let facts = &self.entities[&entity];
        let near = |area: &Area, margin: bool| {
            let Some(at) = facts.position else {
                return false;
            };
            if facts.follows.is_some() {
                return false;
            }
            let mut limit = BigUint::from(area.radius_mm) + facts.reach_mm;
            if margin {
                limit += area.margin_mm;
            }
            distance_squared(&at, &area.center) <= &limit * &limit
        };
        facts.rule != Rule::Never
            && facts.layers.intersects(client.facts.layers)
            && (facts.rule == Rule::Always
                || facts.owner == Some(id)
                || client.areas.iter().any(|area| near(area, false))
                || (client.set.contains(&entity)
                    && client.areas.iter().any(|area| near(area, true))))
    }

    /// (rule, distance, depth, id) of every member.
    fn ranked(&self, id: ClientId, client: &TwinClient) -> Vec<(u8, BigUint, u8, NetworkId)> {
        let mut ranks: BTreeMap<NetworkId, (u8, BigUint, u8)> = BTreeMap::new();
        for &entity in self.entities.keys() {
            if self.is_member(id, client, entity) {
                let facts = &self.entities[&entity];
                let rule = match facts.rule {
                    _ if facts.owner == Some(id) => 0,
                    Rule::Always => 1,
                    _ => 2,
                };
                let far = facts.position.and_then(|at| {
                    client
                        .areas
                        .iter()
                        .map(|area| distance_squared(&at, &area.center))
                        .min()
                });
                ranks.insert(entity, (rule, far.unwrap_or_default(), 0));
            }
        }
        for _ in 0..MAX_FOLLOW_DEPTH {
            let mut more = BTreeMap::new();
            for (&entity, facts) in &self.entities {
                let Some(parent) = facts.follows else {
                    continue;
                };
                let may = facts.rule == Rule::Near && facts.layers.intersects(client.facts.layers);
                if may
                    && !ranks.contains_key(&entity)
                    && let Some((rule, far, depth)) = ranks.get(&parent)
                {
                    more.insert(entity, (*rule, far.clone(), depth + 1));
                }
            }
            ranks.extend(more);
        }
        let mut ranked: Vec<_> = ranks
            .into_iter()
            .map(|(id, (r, d, n))| (r, d, n, id))
            .collect();
        ranked.sort();
        ranked
    }

    pub(crate) fn update(&mut self) {
        let mut clients = core::mem::take(&mut self.clients);
        for (id, client) in &mut clients {
            let ranked = self.ranked(*id, client);
            client.set = ranked.iter().map(|(.., id)| *id).collect();
            client.view = ranked
                .iter()
                .take(client.facts.max_visible)
                .map(|(.., id)| *id)
                .collect();
        }
        self.clients = clients;
    }
}

/// One random step on both.
pub(crate) fn step(
    random: &mut Random,
    interest: &mut Interest,
    twin: &mut Twin,
    entities: u64,
    clients: u64,
) {
    let id = NetworkId::new(
        u32::try_from(random.below(entities)).unwrap(),
        u32::try_from(random.below(3)).unwrap(),
    );
    let client = ClientId::new(random.below(clients));
    match random.below(20) {
        0..6 => {
            let ids: Vec<_> = twin.entities.keys().copied().chain([id]).collect();
            let facts = facts(random, &ids, clients);
            interest.insert(id, facts);
            twin.entities
                .retain(|other, _| other.index() != id.index() || *other == id);
            twin.entities.insert(id, facts);
        }
        6..8 => {
            assert_eq!(interest.remove(id), twin.entities.remove(&id).is_some());
        }
        8..14 => {
            let ids: Vec<_> = twin.entities.keys().copied().chain([id]).collect();
            let moves: Vec<_> = (0..random.below(6))
                .map(|_| {
                    let id = random.pick(&ids);
                    let from = twin.entities.get(&id).and_then(|facts| facts.position);
                    // Short steps, over borders and back, besides long ones.
                    let to = match from {
                        Some(at) if random.below(3) > 0 => {
                            WorldPosition::new(coordinate(random, at.x), at.y, at.z)
                        }
                        _ => position(random),
                    };
                    (id, to)
                })
                .collect();
            let mut unknown = 0;
            for (id, to) in &moves {
                match twin.entities.get_mut(id) {
                    Some(facts) => facts.position = Some(*to),
                    None => unknown += 1,
                }
            }
            assert_eq!(interest.move_batch(&moves), unknown);
        }
        14..16 => {
            let facts = ClientFacts {
                layers: layers(random),
                max_visible: usize::try_from(random.pick(&[1, 3, 8, 4_096])).unwrap(),
            };
            assert_eq!(
                interest.add_client(client, facts),
                !twin.clients.contains_key(&client)
            );
            twin.clients.entry(client).or_default().facts = facts;
        }
        16..19 => {
            let areas = match (twin.clients.get(&client), random.below(2)) {
                (Some(known), 0) if !known.areas.is_empty() => {
                    // The same areas, moved or resized a little.
                    let mut areas = known.areas.clone();
                    areas[0].center.x = coordinate(random, areas[0].center.x);
                    areas[0].radius_mm = areas[0]
                        .radius_mm
                        .saturating_add(u128::from(random.below(3)));
                    areas
                }
                _ => areas(random),
            };
            assert_eq!(
                interest.set_areas(client, &areas),
                twin.clients.contains_key(&client)
            );
            if let Some(known) = twin.clients.get_mut(&client) {
                known.areas = areas;
            }
        }
        _ => {
            let rare = random.below(4) == 0;
            if rare {
                assert_eq!(
                    interest.remove_client(client),
                    twin.clients.remove(&client).is_some()
                );
            }
        }
    }
}
