//! `cargo xtask bench bandwidth`: what a client costs on the wire, beside bevy_replicon over renet.
//!
//! Both run over real sockets, through a relay that counts every datagram.

mod nebula;
mod relay;
mod replicon;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use nebula_peers::flags::Flags;
use nebula_peers::report::{Case, Goal, Role, Row};
use nebula_peers::run::run;
use nebula_peers::scene::{Motion, SEEN, TICK};
use relay::{Bytes, Relay};

/// Clients; each sees a group of entities of its own.
const CLIENTS: usize = 10;
const ENTITIES: usize = CLIENTS * SEEN;
/// How long everybody may take to join and see everything.
const PATIENCE: Duration = Duration::from_secs(30);
/// Until what was under way has arrived.
const SETTLE: Duration = Duration::from_secs(2);

/// A server with its clients, over sockets.
trait Game {
    /// Moves the entities, and lets the server and every client take a tick.
    fn tick(&mut self, motion: Motion) -> Result<()>;

    /// Returns the positions that client `number` has, sorted.
    fn seen(&mut self, number: usize) -> Vec<[i64; 3]>;

    /// Returns what carries its datagrams.
    fn relay(&self) -> &Relay;
}

fn main() -> ExitCode {
    run("bandwidth", &["B1", "B2"], |flags, finish| {
        measure(flags)?.into_iter().for_each(finish);
        Ok(())
    })
}

/// What one contender needed in a second, for one client.
#[derive(Clone, Copy)]
struct Figures {
    walking: Bytes,
    idle: Bytes,
}

fn measure(flags: &Flags) -> Result<Vec<Case>> {
    let seconds = if flags.quick { 5 } else { 20 };
    let mut nebula = nebula::Nebula::new()?;
    let ours = race(&mut nebula, seconds)?;
    let mut replicon = replicon::Replicon::new()?;
    let theirs = race(&mut replicon, seconds)?;
    for number in 0..CLIENTS {
        ensure!(
            nebula.seen(number) == replicon.seen(number),
            "client {number} does not see the same with both libraries"
        );
    }
    Ok(cases(ours, theirs))
}

fn race(game: &mut dyn Game, seconds: u64) -> Result<Figures> {
    let start = Instant::now();
    while !(0..CLIENTS).all(|number| game.seen(number).len() == SEEN) {
        let seen: Vec<usize> = (0..CLIENTS).map(|n| game.seen(n).len()).collect();
        ensure!(start.elapsed() < PATIENCE, "clients see {seen:?} of {SEEN}");
        paced(game, Motion::Still, TICK)?;
    }
    let time = Duration::from_secs(seconds);
    paced(game, Motion::Walk, SETTLE)?;
    let walking = counted(game, Motion::Walk, time)?;
    paced(game, Motion::Still, SETTLE)?;
    let idle = counted(game, Motion::Still, time)?;
    Ok(Figures { walking, idle })
}

/// Takes ticks in real time: a whole number of them, the same for each contender.
fn paced(game: &mut dyn Game, motion: Motion, time: Duration) -> Result<()> {
    let ticks = time.as_millis() / TICK.as_millis();
    let mut due = Instant::now();
    for _ in 0..ticks {
        game.tick(motion)?;
        due = (due + TICK).max(Instant::now());
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    Ok(())
}

/// Returns what the ticks of that time cost each client in a second of game time: on a machine that
/// is too slow for the rate, ticks are late, but no fewer.
fn counted(game: &mut dyn Game, motion: Motion, time: Duration) -> Result<Bytes> {
    let before = game.relay().bytes();
    paced(game, motion, time)?;
    Ok(game.relay().bytes().since(before).per(time, CLIENTS))
}

fn cases(ours: Figures, theirs: Figures) -> Vec<Case> {
    let case = |workload: &str, name: &str, ours: Bytes, theirs: Bytes| Case {
        workload: workload.to_owned(),
        name: format!("bytes a second to each client that sees {SEEN} entities, {name}"),
        goal: Goal {
            bytes: (workload == "B1").then_some((theirs.down / 3.0).round()),
            ..Goal::default()
        },
        rows: vec![
            Row::sized("nebula over QUIC", Role::Ours, ours.down),
            Row::sized("bevy_replicon 0.44 over renet", Role::Peer, theirs.down),
        ],
        notes: vec![
            format!(
                "with IP and UDP headers, encryption, acknowledgements and keep-alives; nebula needs \
                 {:.0} % of the peer's bytes",
                ours.down / theirs.down * 100.0
            ),
            format!(
                "datagrams a second to a client: {:.1} and {:.1}; from a client: {:.1} and {:.1}, \
                 {:.0} and {:.0} bytes a second",
                ours.down_packets,
                theirs.down_packets,
                ours.up_packets,
                theirs.up_packets,
                ours.up,
                theirs.up
            ),
        ],
        ..Case::default()
    };
    vec![
        case(
            "B1",
            "all walking, 20 ticks a second",
            ours.walking,
            theirs.walking,
        ),
        case("B2", "nothing moves", ours.idle, theirs.idle),
    ]
}
