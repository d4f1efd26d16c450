//! I1: a tick of 1,000 clients over 1,000,000 entities, of which 5 % move.

use std::collections::HashSet;

use anyhow::{Result, ensure};
use kiddo::{ImmutableKdTree, SquaredEuclidean};
use nebula_math::WorldPosition;
use nebula_multiplayer::interest::{Area, ClientFacts, Facts, Interest};
use nebula_multiplayer::{ClientId, NetworkId};
use nebula_peers::clock::{Best, cpu};
use nebula_peers::report::{Case, Goal, Role, Row};

use crate::data::{self, Entry};
use crate::{CLIENTS, RADIUS_MM};

const ENTITIES: usize = 1_000_000;
/// 5 % move, by up to 5 m along each axis.
const SHARE: f64 = 0.05;
const STEP_MM: i64 = 5_000;
const IN_A_ROW: u64 = 3;

/// Of each client: how many it sees, who entered and who left, sorted.
type Answers = Vec<(usize, Vec<u32>, Vec<u32>)>;

pub(crate) fn run(quick: bool) -> Result<Vec<Case>> {
    let mut entities = data::planet(ENTITIES);
    // Client n stands at entity n; ids are in random order of place.
    let mut ours = Ours::new(&entities);
    let mut peer = Peer::new(&entities);
    let (mut our_best, mut peer_best) = (Best::default(), Best::default());
    let (mut visible, mut changes, mut examined) = (0, 0, 0);
    // Each runs a few ticks in a row, as a server does, before it is the other's turn.
    for round in 0..if quick { 2 } else { 5 } {
        let mut answers = Vec::new();
        let ticks: Vec<_> = (0..IN_A_ROW)
            .map(|tick| data::steps(&mut entities, SHARE, STEP_MM, 77 + round * IN_A_ROW + tick))
            .collect();
        for moves in &ticks {
            let moves: Vec<_> = moves.iter().map(|(id, at)| (*id, floats(at))).collect();
            peer_best.note(cpu(|| peer.tick(&moves)));
            answers.push(peer.answers());
        }
        for (moves, answers) in ticks.iter().zip(&answers) {
            let moves: Vec<_> = moves
                .iter()
                .map(|(id, at)| (NetworkId::new(*id, 0), *at))
                .collect();
            our_best.note(cpu(|| ours.tick(&moves)));
            examined = ours.examined;
            (visible, changes) = compare(&ours, answers)?;
        }
    }
    Ok(vec![Case {
        workload: "I1".to_owned(),
        name: "1,000 clients, 1,000,000 entities, 5 % move".to_owned(),
        per: "tick".to_owned(),
        goal: Goal {
            times_peer: Some(10.0),
            ..Goal::default()
        },
        rows: vec![
            Row::timed("nebula Interest", Role::Ours, our_best.ns()),
            Row::timed(
                "kiddo rebuilt, two HashSet differences",
                Role::Peer,
                peer_best.ns(),
            ),
        ],
        notes: vec![format!(
            "in the last tick {examined} clients were looked at, {visible} pairs visible, {changes} entered or left; every client's transitions were equal in every tick"
        )],
        ..Case::default()
    }])
}

struct Ours {
    interest: Interest,
    examined: usize,
}

impl Ours {
    fn new(entities: &[Entry]) -> Self {
        let mut interest = Interest::new();
        for (id, at) in entities {
            interest.insert(NetworkId::new(*id, 0), Facts::at(*at));
        }
        for (number, (_, at)) in (0..).zip(&entities[..CLIENTS]) {
            let client = ClientId::new(number);
            interest.add_client(client, ClientFacts::default());
            interest.set_areas(client, &[Area::new(*at, RADIUS_MM)]);
        }
        interest.update();
        Self {
            interest,
            examined: 0,
        }
    }

    fn tick(&mut self, moves: &[(NetworkId, WorldPosition)]) {
        self.interest.move_batch(moves);
        for (id, at) in moves
            .iter()
            .take_while(|(id, _)| (id.index() as usize) < CLIENTS)
        {
            let client = ClientId::new(id.index().into());
            self.interest
                .set_areas(client, &[Area::new(*at, RADIUS_MM)]);
        }
        self.examined = self.interest.update().examined;
    }
}

/// The plain way: positions as floats, a tree built anew, a hash set per client and tick.
struct Peer {
    positions: Vec<[f64; 3]>,
    clients: Vec<Sets>,
}

#[derive(Default)]
struct Sets {
    current: HashSet<u32>,
    previous: HashSet<u32>,
    entered: Vec<u32>,
    exited: Vec<u32>,
}

impl Peer {
    fn new(entities: &[Entry]) -> Self {
        let mut peer = Self {
            positions: entities.iter().map(|(_, at)| floats(at)).collect(),
            clients: (0..CLIENTS).map(|_| Sets::default()).collect(),
        };
        peer.tick(&[]);
        peer
    }

    fn answers(&self) -> Answers {
        let sorted = |ids: &[u32]| {
            let mut ids = ids.to_vec();
            ids.sort_unstable();
            ids
        };
        let clients = self.clients.iter();
        clients
            .map(|c| (c.current.len(), sorted(&c.entered), sorted(&c.exited)))
            .collect()
    }

    fn tick(&mut self, moves: &[(u32, [f64; 3])]) {
        for (id, at) in moves {
            self.positions[*id as usize] = *at;
        }
        let tree: ImmutableKdTree<f64, 3> = ImmutableKdTree::builder()
            .with_serial_construction()
            .build_from_slice(&self.positions)
            .expect("fewer than 2^32 points");
        // Squares of whole millimetres are exact here, so the half decides nothing but the boundary.
        let radius = RADIUS_MM as f64;
        let limit = radius * radius + 0.5;
        for (client, center) in self.clients.iter_mut().zip(&self.positions) {
            std::mem::swap(&mut client.current, &mut client.previous);
            client.current.clear();
            let current = &mut client.current;
            tree.query(center)
                .within::<SquaredEuclidean<f64>>(limit)
                .unsorted()
                .visit(|hit| {
                    current.insert(hit.item);
                });
            client.entered = client
                .current
                .difference(&client.previous)
                .copied()
                .collect();
            client.exited = client
                .previous
                .difference(&client.current)
                .copied()
                .collect();
        }
    }
}

/// Compares all transitions, and returns how many pairs are visible and how many changed.
fn compare(ours: &Ours, answers: &Answers) -> Result<(usize, usize)> {
    let (mut visible, mut changes) = (0, 0);
    for (number, (len, entered, exited)) in (0..).zip(answers) {
        let client = ClientId::new(number);
        let set = ours.interest.set(client).expect("added");
        let transitions = ours.interest.transitions(client).expect("added");
        let indexes = |ids: &[NetworkId]| ids.iter().map(|id| id.index()).collect::<Vec<_>>();
        ensure!(set.len() == *len, "{client}: sets differ");
        ensure!(
            indexes(&transitions.entered) == *entered,
            "{client}: entered differ"
        );
        ensure!(
            indexes(&transitions.exited) == *exited,
            "{client}: exited differ"
        );
        visible += set.len();
        changes += transitions.entered.len() + transitions.exited.len();
    }
    Ok((visible, changes))
}

fn floats(at: &WorldPosition) -> [f64; 3] {
    at.to_array().map(|c| c as f64)
}
