//! `cargo xtask bench replication`: a server's tick against bevy_replicon and naia, on the same game.

mod naia;
mod nebula;
mod replicon;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use nebula_peers::clock::Best;
use nebula_peers::flags::Flags;
use nebula_peers::report::{Case, Goal, Limit, Role, Row};
use nebula_peers::run::run;
use nebula_peers::scene::{Motion, SEEN};

/// Clients; each sees a group of entities of its own.
const CLIENTS: usize = 100;
const ENTITIES: usize = CLIENTS * SEEN;
/// Ticks until everybody is connected and has seen everything.
const JOIN: u64 = 400;

/// What one tick cost the server.
#[derive(Clone, Copy, Default)]
struct Cost {
    cpu: Duration,
    /// Bytes handed to the links, headers of the library included.
    bytes: usize,
}

/// A server with its clients, in one process.
trait Game {
    /// Moves the entities (not timed), lets the server take a tick with the clients' packets in and
    /// its own out (timed), and lets the clients take what came (not timed).
    fn tick(&mut self, motion: Motion) -> Cost;

    /// Returns the positions that client `number` has, sorted.
    fn seen(&mut self, number: usize) -> Vec<[i64; 3]>;
}

fn main() -> ExitCode {
    run("replication", &["R1", "R2", "R3"], |flags, finish| {
        measure(flags)?.into_iter().for_each(finish);
        Ok(())
    })
}

/// What one contender reached.
#[derive(Default)]
struct Figures {
    moving: Best,
    idle: Best,
    bytes: usize,
    updates: usize,
}

fn measure(flags: &Flags) -> Result<Vec<Case>> {
    let rounds = if flags.quick { 4 } else { 12 };
    let mut nebula = nebula::Nebula::new()?;
    let mut replicon = replicon::Replicon::new();
    let mut naia = naia::Naia::new()?;
    let mut games: [(&mut dyn Game, Figures); 3] = [
        (&mut nebula, Figures::default()),
        (&mut replicon, Figures::default()),
        (&mut naia, Figures::default()),
    ];
    for (game, _) in &mut games {
        settle(*game)?;
    }
    // In turns, so that a busy moment of the machine strikes them alike.
    for _ in 0..rounds {
        for (game, figures) in &mut games {
            race(*game, figures);
        }
    }
    for (game, _) in &mut games {
        for _ in 0..40 {
            game.tick(Motion::Still);
        }
    }
    compare(&mut games)?;
    let [ours, replicon, naia] = games.map(|(_, figures)| figures);
    let walk = nebula.counts();
    for _ in 0..20 {
        nebula.tick(Motion::Leap);
    }
    let leap = nebula.counts().since(walk);
    Ok(cases(&ours, &replicon, &naia, walk, leap))
}

/// Lets everyone join, then walk for a while.
fn settle(game: &mut dyn Game) -> Result<()> {
    for _ in 0..JOIN {
        game.tick(Motion::Still);
        if (0..CLIENTS).all(|number| game.seen(number).len() == SEEN) {
            break;
        }
    }
    for number in 0..CLIENTS {
        let seen = game.seen(number).len();
        ensure!(seen == SEEN, "client {number} sees {seen} of {SEEN}");
    }
    for _ in 0..40 {
        game.tick(Motion::Walk);
    }
    Ok(())
}

fn race(game: &mut dyn Game, figures: &mut Figures) {
    for _ in 0..20 {
        let cost = game.tick(Motion::Walk);
        figures.moving.note(cost.cpu);
        figures.bytes += cost.bytes;
        figures.updates += ENTITIES;
    }
    // What was under way is settled first.
    for _ in 0..10 {
        game.tick(Motion::Still);
    }
    for _ in 0..20 {
        figures.idle.note(game.tick(Motion::Still).cpu);
    }
    for _ in 0..4 {
        game.tick(Motion::Walk);
    }
}

/// All clients of all contenders must have ended with the same positions.
fn compare(games: &mut [(&mut dyn Game, Figures)]) -> Result<()> {
    for number in 0..CLIENTS {
        let answers: Vec<Vec<[i64; 3]>> = games
            .iter_mut()
            .map(|(game, _)| game.seen(number))
            .collect();
        ensure!(
            answers.windows(2).all(|pair| pair[0] == pair[1]),
            "client {number} does not see the same with every library"
        );
    }
    Ok(())
}

const NEBULA: &str = "nebula Server";
const REPLICON: &str = "bevy_replicon 0.44";
const NAIA: &str = "naia 0.25";

fn cases(
    ours: &Figures,
    replicon: &Figures,
    naia: &Figures,
    walk: nebula::Counts,
    leap: nebula::Counts,
) -> Vec<Case> {
    let each = |f: &Figures| f.bytes as f64 / f.updates as f64;
    let moving = Case {
        workload: "R1".to_owned(),
        name: "100 clients, 10,000 entities, 100 visible to each, all moving".to_owned(),
        per: "tick".to_owned(),
        goal: Goal {
            times_peer: Some(10.0),
            ..Goal::default()
        },
        rows: vec![
            Row::timed(NEBULA, Role::Ours, ours.moving.ns()),
            Row::timed(REPLICON, Role::Peer, replicon.moving.ns()),
            Row::timed(NAIA, Role::Peer, naia.moving.ns()),
        ],
        notes: vec![
            "server CPU: acknowledgements taken in, changes found in the ECS, packets written; \
             moving the entities and the clients' work are not timed"
                .to_owned(),
            "nebula also finds who sees whom by distance; the peers are told (a visibility filter, \
             a room per client)"
                .to_owned(),
            format!(
                "bytes per update with all headers: nebula {:.1}, bevy_replicon {:.1}, naia {:.1}; \
                 positions are three i128 for nebula, three i64 for the peers",
                each(ours),
                each(replicon),
                each(naia)
            ),
        ],
        ..Case::default()
    };
    let idle = Case {
        workload: "R2".to_owned(),
        name: "the same, nothing moves".to_owned(),
        per: "tick".to_owned(),
        limit: Some(Limit {
            what: "naia 0.25".to_owned(),
            ns: naia.idle.ns(),
        }),
        goal: Goal {
            times_limit: Some(1.0),
            ..Goal::default()
        },
        rows: vec![
            Row::timed(NEBULA, Role::Ours, ours.idle.ns()),
            Row::timed(REPLICON, Role::Peer, replicon.idle.ns()),
            Row::timed(NAIA, Role::Peer, naia.idle.ns()),
        ],
        ..Case::default()
    };
    let bytes = |name: &str, goal: f64, own: f64, note: String| Case {
        workload: "R3".to_owned(),
        name: name.to_owned(),
        goal: Goal {
            bytes: Some(goal),
            ..Goal::default()
        },
        rows: vec![
            Row::sized(NEBULA, Role::Ours, own),
            Row::sized(REPLICON, Role::Peer, each(replicon)),
            Row::sized(NAIA, Role::Peer, each(naia)),
        ],
        notes: vec![
            note,
            "the peers' figure holds their share of packet headers, ours is that of the records"
                .to_owned(),
        ],
        ..Case::default()
    };
    vec![
        moving,
        idle,
        bytes(
            "bytes per position update with its id, as a step",
            6.0,
            walk.each(),
            walk.describe(),
        ),
        bytes(
            "bytes per position update with its id, absolute",
            7.0,
            leap.each(),
            leap.describe(),
        ),
    ]
}
