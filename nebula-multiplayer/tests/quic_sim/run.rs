//! One simulation: a server and its clients by a seed, checked every tick.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::entity::Entity;
use nebula_multiplayer::ClientId;
use nebula_multiplayer::replication::ReplicationSettings;
use nebula_multiplayer::server::{Disconnect, ServerEvent};
use nebula_multiplayer::transport::sim::{FaultCounts, Random, SimPipe};
use tokio::time::sleep;

use super::chaos;
use super::guest::{Guest, Joining, id};
use super::host::Host;
use super::net::Net;
use super::socket::Socket;
use crate::oracle::calm::{Rest, Wrong, patience};
use crate::oracle::chaos::faults;
use crate::oracle::client;
use crate::oracle::interest::{Allowed, Sets};
use crate::oracle::messages;
use crate::oracle::run::replication;
use crate::oracle::scenario::Scenario;
use crate::oracle::truth::History;
use crate::oracle::world::{self, State, Tag};

/// What a simulation went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// A hash over who sent how much when, and over what the clients showed at last.
    pub(crate) hash: u64,
    pub(crate) faults: FaultCounts,
    pub(crate) ticks: u64,
    pub(crate) joins: u64,
    /// How often each thing befell a process.
    pub(crate) befell: [u64; Befell::NAMES.len()],
    /// Datagrams lost because a socket was full.
    pub(crate) overflows: u64,
    pub(crate) spawns: u64,
    pub(crate) despawns: u64,
    pub(crate) messages: u64,
}

/// What befalls processes, and how it ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Befell {
    NewAddress,
    ClientCrash,
    ClientPause,
    ServerCrash,
    ServerRestart,
    ServerPause,
    Kick,
    Resume,
}

impl Befell {
    pub(crate) const NAMES: [&'static str; 8] = [
        "changed addresses",
        "crashes of clients",
        "pauses of clients",
        "crashes of servers",
        "restarts of servers",
        "pauses of servers",
        "kicks",
        "resumes",
    ];
}

/// A tick takes 50 ms; the clients' part comes this long after the server's.
const SERVER_PART: Duration = Duration::from_millis(13);
const CLIENT_PART: Duration = Duration::from_millis(37);

/// For how many ticks in a row everything must be well at the end: two seconds.
const QUIET: u32 = 40;

/// How long a line may be dead before both its ends know and a new one stands: a time without a packet,
/// and a handshake that had begun before.
const DEAD_LINES: Duration = Duration::from_secs(12);

/// The least that any server of a simulation sends to a client in a second.
const RATE_MIN: u32 = 3_000;

/// What is done to a simulation so that it must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sabotage {
    None,
    /// One line is parted, and never healed.
    DeadLine,
    /// One client shows something that never was.
    Ghost,
}

pub(crate) struct Simulation {
    pub(super) net: Arc<Net>,
    pub(super) random: Random,
    pub(super) guests: Vec<Guest>,
    pub(super) report: Report,
    scenario: Scenario,
    /// None while the server's process is not there, until the time beside it.
    host: Option<Host>,
    back_at: Duration,
    /// The socket of a server that said goodbye, open until there is another.
    leaving: Option<Socket>,
    frozen_until: Duration,
    joining: Joining,
    replication: ReplicationSettings,
    sets: Sets,
    history: History,
    allowed: BTreeMap<ClientId, Allowed>,
    truth: BTreeMap<u64, State>,
    sabotage: Sabotage,
}

/// Runs one seed to its end, or says what broke and when.
pub(crate) fn run(seed: u64, sabotage: Sabotage) -> Result<Report, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut simulation = Simulation::new(seed, sabotage);
        tokio::spawn(Arc::clone(&simulation.net).carry());
        let result = simulation.live().await;
        result.map_err(|error| {
            let (tick, now) = (simulation.history.now(), simulation.net.now());
            format!("seed {seed}, tick {tick}, {now:?}: {error}")
        })?;
        Ok(simulation.report())
    })
}

impl Simulation {
    fn new(seed: u64, sabotage: Sabotage) -> Self {
        let mut random = Random::new(seed);
        let net = Net::new(random.word());
        let mut scenario = Scenario::new(random.word());
        let (replication, kept) = replication(seed);
        let host = Host::new(&net, &mut random, &mut scenario, replication);
        let joining = Joining {
            net: Arc::clone(&net),
            fingerprint: host.net.fingerprint(),
            limits: host.server.settings().limits.clone(),
            kept,
        };
        let mut simulation = Self {
            net,
            random,
            guests: Vec::new(),
            report: Report::default(),
            scenario,
            host: Some(host),
            back_at: Duration::ZERO,
            leaving: None,
            frozen_until: Duration::ZERO,
            joining,
            replication,
            sets: Sets::default(),
            history: History::default(),
            allowed: BTreeMap::new(),
            truth: BTreeMap::new(),
            sabotage,
        };
        for _ in 0..=simulation.random.below(3) {
            simulation.join();
        }
        simulation
    }

    /// Wild times, each with a calm one at whose end every client must show the truth.
    async fn live(&mut self) -> Result<(), String> {
        for _ in 0..=self.random.below(2) {
            for _ in 0..60 + self.random.below(120) {
                chaos::strike(self);
                self.play();
                self.tick().await?;
            }
            self.calm().await?;
        }
        Ok(())
    }

    fn report(mut self) -> Report {
        (self.report.faults, self.report.overflows) = self.net.counts();
        self.report.ticks = self.history.now();
        self.report.hash = self.net.hash();
        for guest in &self.guests {
            for byte in format!("{:?}", guest.shown).bytes() {
                let hash = self.report.hash ^ u64::from(byte);
                self.report.hash = hash.wrapping_mul(0x0100_0000_01b3);
            }
        }
        self.report
    }

    pub(super) fn note(&mut self, what: Befell) {
        self.report.befell[what as usize] += 1;
    }

    pub(super) fn join(&mut self) {
        let number = self.guests.len();
        let faults = faults(&mut self.random, false);
        self.net.add_line(faults);
        let guest = Guest::new(&self.joining, number, &mut self.random);
        self.guests.push(guest);
    }

    pub(super) fn crash(&mut self, number: usize) {
        self.guests[number].crash(&self.joining, &mut self.random);
    }

    pub(super) fn kick(&mut self, number: usize) {
        if let Some(host) = &mut self.host {
            self.report.befell[Befell::Kick as usize] += 1;
            let now = host.net.now();
            host.server.kick(id(number), "by chance", now);
        }
    }

    pub(super) fn freeze_server(&mut self, time: Duration) {
        if let Some(host) = &self.host {
            self.frozen_until = self.frozen_until.max(self.net.now() + time);
            host.socket.freeze(true);
        }
    }

    /// Ends the server's process, with a word to everyone or in the middle of whatever it does. After
    /// a time there is another, with a world of its own.
    pub(super) fn stop_server(&mut self, time: Duration, clean: bool) {
        let Some(mut host) = self.host.take() else {
            return;
        };
        self.frozen_until = Duration::ZERO;
        self.back_at = self.net.now() + time;
        if clean {
            host.socket.freeze(false);
            // What it has to say gets out until there is another server at its address.
            host.net.shutdown(&mut host.server, "maintenance");
            self.leaving = Some(host.socket);
        } else {
            host.kill();
        }
        self.sets = Sets::default();
        self.allowed.clear();
        self.truth.clear();
    }

    fn start_server(&mut self) {
        if let Some(socket) = self.leaving.take() {
            socket.kill();
        }
        let mut scenario = Scenario::new(self.random.word());
        scenario.follow_after(&self.scenario);
        let replication = self.replication;
        let host = Host::new(&self.net, &mut self.random, &mut scenario, replication);
        self.host = Some(host);
        self.scenario = scenario;
        for guest in &mut self.guests {
            guest.player = None;
        }
    }

    /// The game changes its world, and both sides say something now and then.
    fn play(&mut self) {
        let Some(host) = &mut self.host else { return };
        if self.frozen_until > self.net.now() {
            return;
        }
        self.scenario.tick(&mut host.world);
        for guest in &mut self.guests {
            let what = self.random.below(12);
            guest.down.say_to_client(what, &mut host.server, guest.id());
            guest.up.say_to_server(what, &mut guest.process.client);
        }
    }

    /// One tick of everyone, with every check.
    async fn tick(&mut self) -> Result<(), String> {
        let now = self.net.now();
        if self.host.is_none() && self.back_at <= now {
            self.start_server();
        }
        if self.frozen_until <= now {
            self.tick_server()?;
        }
        sleep(SERVER_PART).await;
        let now = self.net.now();
        for guest in &mut self.guests {
            guest.tick(now);
            let (id, world) = (guest.id(), &mut guest.process.world);
            let changes = client::look(&self.history, id, world, &mut guest.shown)?;
            self.report.spawns += changes.spawns;
            self.report.despawns += changes.despawns;
            guest.down.hear_client(&mut guest.process.client)?;
        }
        sleep(CLIENT_PART).await;
        Ok(())
    }

    fn tick_server(&mut self) -> Result<(), String> {
        let Some(host) = &mut self.host else {
            return Ok(());
        };
        host.socket.freeze(false);
        host.begin();
        for event in &host.events {
            // Whoever joins anew has no set to have been in.
            if let ServerEvent::Connected {
                client,
                resumed: false,
            } = event
            {
                self.sets.forget(*client);
            }
        }
        self.allowed = self.sets.check(&host.server, &mut host.world)?;
        let states = world::states(&mut host.world)?.into_iter();
        self.truth = states.map(|(tag, (_, state))| (tag, state)).collect();
        let sets = self.allowed.iter();
        let sets = sets.map(|(client, allowed)| (*client, allowed.set.clone()));
        self.history.tick(self.truth.clone(), sets.collect());
        for (client, said) in messages::said_to_server(&mut host.server) {
            let guest = self.guests.iter_mut().find(|guest| guest.id() == client);
            let guest = guest.ok_or_else(|| format!("{client} is nobody"))?;
            guest.up.hear(said)?;
            self.report.messages += 1;
        }
        // What the game does about them is seen by the next tick.
        for event in core::mem::take(&mut host.events) {
            match event {
                ServerEvent::Connected { client, resumed } => self.welcome(client, resumed)?,
                ServerEvent::Disconnected { client, reason } => self.farewell(client, &reason)?,
                _ => {}
            }
        }
        if let Some(host) = &mut self.host {
            host.net.flush(&mut host.server);
        }
        Ok(())
    }

    fn welcome(&mut self, client: ClientId, resumed: bool) -> Result<(), String> {
        let guest = self.guests.iter_mut().find(|guest| guest.id() == client);
        let guest = guest.ok_or_else(|| format!("{client} is nobody"))?;
        let Some(host) = &mut self.host else {
            return Ok(());
        };
        if resumed {
            self.report.befell[Befell::Resume as usize] += 1;
        } else {
            self.report.joins += 1;
            guest.down.restart();
            guest.up.restart();
        }
        let alive = |entity: &Entity| host.world.get_entity(*entity).is_ok();
        let player = guest.player.filter(alive);
        let player = player.unwrap_or_else(|| self.scenario.join(&mut host.world, client));
        guest.player = Some(player);
        host.server.set_player(client, Some(player));
        Ok(())
    }

    fn farewell(&mut self, client: ClientId, reason: &Disconnect) -> Result<(), String> {
        match reason {
            // Whatever the network does, nothing damaged and nothing too much gets past QUIC.
            Disconnect::Bad(_)
            | Disconnect::Protocol(_)
            | Disconnect::Refused(_)
            | Disconnect::Flood
            | Disconnect::Unknown => return Err(format!("{client} was dropped: {reason}")),
            _ => {}
        }
        let guest = self.guests.iter_mut().find(|guest| guest.id() == client);
        if let (Some(guest), Some(host)) = (guest, &mut self.host)
            && let Some(player) = guest.player.take()
        {
            self.scenario.leave(&mut host.world, client, player);
        }
        Ok(())
    }

    /// Heals every line, wakes every process, lets the world rest, and waits until every client shows
    /// the truth and goes on to do so for two seconds.
    async fn calm(&mut self) -> Result<(), String> {
        self.back_at = Duration::ZERO;
        self.frozen_until = Duration::ZERO;
        for number in 0..self.guests.len() {
            self.net.each_way(number, SimPipe::heal);
        }
        if self.sabotage == Sabotage::DeadLine {
            let hour = Duration::from_secs(3_600);
            self.net.each_way(0, |pipe, now| pipe.partition(now + hour));
        }
        for guest in &mut self.guests {
            guest.frozen_until = Duration::ZERO;
        }
        // The server may have to start first, and everybody's state to be known.
        self.tick().await?;
        let end = self.net.now() + patience(&self.truth, RATE_MIN) + DEAD_LINES;
        let mut rest = Rest::new(QUIET);
        while !rest.is_over() {
            let before = (self.truth.clone(), self.allowed.clone(), self.sessions());
            self.tick().await?;
            if self.sabotage == Sabotage::Ghost {
                let guest = &mut self.guests[0].process;
                guest.world.spawn(Tag(u64::MAX));
            }
            // Whoever comes back may be sent everything anew, which takes its time as a change does.
            let after = (&self.truth, &self.allowed, self.sessions());
            let changed = after != (&before.0, &before.1, before.2);
            let wrong = self.wrong();
            rest.tick(changed, self.net.now() > end, wrong)?;
        }
        Ok(())
    }

    /// Returns how many sessions have begun or were resumed.
    fn sessions(&self) -> u64 {
        self.report.joins + self.report.befell[Befell::Resume as usize]
    }

    /// Returns the first thing that is not yet as it must be.
    fn wrong(&mut self) -> Option<Wrong> {
        for guest in &mut self.guests {
            let id = guest.id();
            if let Some(why) = guest.unconnected() {
                return Some(Wrong::Link(format!("{id} is not connected: {why}")));
            }
            let Some(allowed) = self.allowed.get(&id) else {
                return Some(Wrong::Link(format!("{id} has no set")));
            };
            let expected = client::expected(&self.truth, &allowed.view, id);
            let wrong = client::shown_wrongly(&expected, &mut guest.process.world);
            let missing = || guest.down.missing().or_else(|| guest.up.missing());
            if let Some(wrong) = wrong.or_else(missing) {
                return Some(Wrong::World(format!("{id}: {wrong}")));
            }
        }
        None
    }
}
