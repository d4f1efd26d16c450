//! A server in a process of its own, which runs out of files, is told to end, is killed, and stands
//! still: rows 44 and 45 of the hostile input table.
#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    reason = "a process tells its parent where it listens"
)]

mod quic_common;

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;
use nebula_multiplayer::auth::OpenLogin;
use nebula_multiplayer::limits::TransportLimits;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::transport::quic::{
    self, QuicClientSettings, QuicSettings, Stop, Trust, Turn,
};
use nebula_multiplayer::{ClientEvent, ClientId, Server, ServerEvent, ServerSettings};

use quic_common::{Guest, Health, PATIENCE, protocol};

/// Things that stay as they are, and things that change in every tick.
const STILL: u16 = 150;
const BUSY: u16 = 100;

/// What those that change are above.
const CHANGING: u16 = 10_000;

/// What a player has.
const PLAYER: u16 = 9_999;

/// The server's process, when the tests below start it as such; otherwise nothing.
#[test]
fn server_process() {
    let Ok(listen) = std::env::var("NEBULA_TEST_LISTEN") else {
        return;
    };
    let server = Server::new(protocol(), ServerSettings::default()).unwrap();
    let settings = QuicSettings {
        listen: listen.parse().unwrap(),
        limits: limits(),
        ..QuicSettings::default()
    };
    let net = quic::serve(&server, &settings, OpenLogin).unwrap();
    let stop = Stop::default();
    stop.on_signals(&net).unwrap();
    let files = std::env::var_os("NEBULA_TEST_EXHAUST").map(|_| use_up_files());
    println!("listening {}", net.local_addr());
    let mut world = World::new();
    for n in 0..STILL + BUSY {
        let at = WorldPosition::new(-i128::from(n), 0, 0);
        let health = if n < STILL { n } else { CHANGING };
        world.spawn((Replicate, at, Health(health)));
    }
    let mut players = BTreeMap::new();
    let report = quic::run(net, server, world, &stop, |turn| game(turn, &mut players));
    drop(files);
    println!("ended after {} ticks", report.ticks);
}

/// Changes what changes, and gives everyone who comes a player until they are gone.
fn game(turn: Turn<'_>, players: &mut BTreeMap<ClientId, Entity>) {
    let mut things = turn.world.query::<&mut Health>();
    for mut health in things.iter_mut(turn.world) {
        if health.0 >= CHANGING {
            health.0 = CHANGING + u16::try_from(turn.tick % 1_000).unwrap();
        }
    }
    for event in turn.server.events() {
        match event {
            ServerEvent::Connected { client, .. } => {
                let player = *players.entry(client).or_insert_with(|| {
                    let at = WorldPosition::new(-1, 0, 0);
                    turn.world.spawn((Replicate, at, Health(PLAYER))).id()
                });
                turn.server.set_player(client, Some(player));
            }
            ServerEvent::Disconnected { client, .. } => {
                if let Some(player) = players.remove(&client) {
                    turn.world.despawn(player);
                }
            }
            _ => {}
        }
    }
}

/// Opens files until there are no more, and tries to listen once more with none left.
fn use_up_files() -> Vec<File> {
    let mut files = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
    }
    let server = Server::new(protocol(), ServerSettings::default()).unwrap();
    let settings = QuicSettings {
        listen: "127.0.0.1:0".parse().unwrap(),
        ..QuicSettings::default()
    };
    let error = quic::serve(&server, &settings, OpenLogin).unwrap_err();
    println!("{} files open, then: {error}", files.len());
    files
}

/// All clients come from one address, and a killed server is noticed soon.
fn limits() -> TransportLimits {
    TransportLimits {
        per_address: 200,
        connects_per_second: 200,
        idle_ms: 8_000,
        keep_alive_ms: 500,
        ..TransportLimits::default()
    }
}

/// A server's process, ended with the test.
struct Process {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    address: SocketAddr,
    said: Vec<String>,
}

impl Process {
    /// Starts one, after what `prelude` says to a shell.
    fn start(listen: &str, prelude: &str, exhaust: bool) -> Self {
        let me = std::env::current_exe().unwrap();
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!("{prelude} exec \"$0\" \"$@\""))
            .arg(me)
            .args(["--exact", "server_process", "--nocapture"])
            .env("NEBULA_TEST_LISTEN", listen)
            .stdout(Stdio::piped());
        if exhaust {
            command.env("NEBULA_TEST_EXHAUST", "1");
        }
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = Vec::new();
        let address = loop {
            let mut line = String::new();
            assert!(out.read_line(&mut line).unwrap() > 0, "it ended: {said:?}");
            if let Some((_, at)) = line.trim().split_once("listening ") {
                break at.parse().unwrap();
            }
            said.push(line);
        };
        Self {
            child,
            out,
            address,
            said,
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(sent.success());
    }

    fn guest(&self, account: u64) -> Guest {
        let settings = QuicClientSettings {
            credentials: OpenLogin::account(account),
            limits: limits(),
            ..QuicClientSettings::new(self.address, Trust::Unverified)
        };
        Guest::with(settings)
    }

    /// Returns how much time of a processor it has used.
    fn cpu(&self) -> Duration {
        let stat = format!("/proc/{}/stat", self.child.id());
        let stat = std::fs::read_to_string(stat).unwrap();
        let after = stat.rsplit_once(") ").unwrap().1;
        let fields: Vec<&str> = after.split(' ').collect();
        let ticks = |n: usize| fields[n].parse::<u64>().unwrap();
        // User and system time, in hundredths of a second.
        Duration::from_millis(10 * (ticks(11) + ticks(12)))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a client shows all that stays, some value of all that changes, and its own player.
fn is_whole(guest: &mut Guest) -> bool {
    let healths = guest.healths();
    let still = usize::from(STILL);
    guest.client.is_connected()
        && guest.client.own_entity().is_some()
        && healths.len() > still + usize::from(BUSY)
        && healths[..still].iter().copied().eq(0..STILL)
        && healths[still] == PLAYER
        && healths.last().is_some_and(|last| *last >= CHANGING)
}

fn newest(guest: &mut Guest) -> u16 {
    guest.healths().last().copied().unwrap_or(0)
}

#[track_caller]
fn until(guests: &mut [&mut Guest], what: &str, mut done: impl FnMut(&mut Guest) -> bool) {
    let start = Instant::now();
    while !guests.iter_mut().all(|guest| done(guest)) {
        let errors: Vec<String> = guests.iter().map(|guest| guest.error()).collect();
        assert!(
            start.elapsed() < PATIENCE,
            "in vain until {what}: {errors:?}"
        );
        for guest in guests.iter_mut() {
            guest.step();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Checks that something new reaches the clients within two seconds, as every witness asks for.
#[track_caller]
fn are_told(guests: &mut [&mut Guest]) {
    for guest in guests {
        let (before, start) = (newest(guest), Instant::now());
        until(&mut [guest], "something new", |guest| {
            newest(guest) != before
        });
        assert!(start.elapsed() < Duration::from_secs(2));
    }
}

#[test]
fn hostile_44_a_server_without_a_file_left() {
    let mut process = Process::start("127.0.0.1:0", "ulimit -n 64;", true);
    let said = process.said.concat();
    assert!(said.contains("files open, then: cannot"), "{said}");
    let mut witness = process.guest(1);
    until(&mut [&mut witness], "all is there", is_whole);
    // More clients than files: a client costs none.
    let mut crowd: Vec<Guest> = (2..42).map(|account| process.guest(account)).collect();
    let mut all: Vec<&mut Guest> = crowd.iter_mut().collect();
    all.push(&mut witness);
    until(&mut all, "all are in", |guest| guest.client.is_connected());
    are_told(&mut [&mut witness]);
    for guest in &mut crowd {
        guest.link.leave(&mut guest.client);
    }
    drop(crowd);
    until(&mut [&mut witness], "the others are gone", |guest| {
        let healths = guest.healths();
        healths.iter().filter(|health| **health == PLAYER).count() == 1
    });
    let (used, start) = (process.cpu(), Instant::now());
    while start.elapsed() < Duration::from_secs(1) {
        witness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    let used = process.cpu() - used;
    assert!(
        used < Duration::from_millis(700),
        "busy for {used:?} of 1 s"
    );
    are_told(&mut [&mut witness]);
    assert!(process.child.try_wait().unwrap().is_none(), "it still runs");
}

#[test]
fn hostile_45_a_server_that_is_told_to_end() {
    let mut process = Process::start("127.0.0.1:0", "", false);
    let (mut one, mut two) = (process.guest(1), process.guest(2));
    until(&mut [&mut one, &mut two], "all is there", is_whole);
    process.signal("-TERM");
    until(&mut [&mut one, &mut two], "they are told", |guest| {
        guest.is_down()
    });
    for guest in [&one, &two] {
        assert_eq!(
            guest.error(),
            "the server closed the link: the server ends (code 32)"
        );
    }
    assert!(process.child.wait().unwrap().success(), "a clean end");
    let mut rest = String::new();
    while process.out.read_line(&mut rest).unwrap() > 0 {}
    assert!(rest.contains("ended after"), "{rest}");
}

#[test]
fn hostile_45_a_server_that_is_killed_and_started_again() {
    let mut process = Process::start("127.0.0.1:0", "", false);
    let (mut one, mut two) = (process.guest(1), process.guest(2));
    until(&mut [&mut one, &mut two], "all is there", is_whole);
    let listen = process.address.to_string();
    process.signal("-KILL");
    process.child.wait().unwrap();
    let process = Process::start(&listen, "", false);
    assert_eq!(process.address.to_string(), listen);
    // One finds out by itself, the other is told to look.
    two.link.reconnect();
    until(&mut [&mut one, &mut two], "all is back", |guest| {
        if guest.is_down() {
            guest.link.reconnect();
        }
        let joined = |event: &&ClientEvent| matches!(event, ClientEvent::Connected { .. });
        guest.events.iter().filter(joined).count() == 2 && is_whole(guest)
    });
    are_told(&mut [&mut one, &mut two]);
}

#[test]
fn hostile_45_a_server_that_stands_still_for_five_seconds() {
    let process = Process::start("127.0.0.1:0", "", false);
    let (mut one, mut two) = (process.guest(1), process.guest(2));
    until(&mut [&mut one, &mut two], "all is there", is_whole);
    process.signal("-STOP");
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        one.step();
        two.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    process.signal("-CONT");
    are_told(&mut [&mut one, &mut two]);
    until(&mut [&mut one, &mut two], "all is there", is_whole);
    for guest in [&one, &two] {
        let left = |event: &ClientEvent| matches!(event, ClientEvent::Disconnected { .. });
        let left = guest.events.iter().any(left);
        assert!(!left, "the session went on: {:?}", guest.events);
    }
}
