//! One simulation: a server and its clients by a seed, checked every tick.

use core::time::Duration;
use std::collections::BTreeMap;

use bevy_ecs::entity::Entity;
use nebula_multiplayer::ClientId;
use nebula_multiplayer::interest::{Facts, InterestArea, InterestConfig, Relevance, Rule};
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::mirror::MirrorLimits;
use nebula_multiplayer::replication::ReplicationSettings;
use nebula_multiplayer::server::{Disconnect, ServerEvent, ServerSettings};
use nebula_multiplayer::testing::{Sent, TestNet};
use nebula_multiplayer::transport::Lane;
use nebula_multiplayer::transport::sim::{FaultCounts, Random};

use super::budget::Meter;
use super::chaos;
use super::client::{self, Shown};
use super::interest::{Allowed, Sets};
use super::leak::Tail;
use super::messages::{self, Channels};
use super::scenario::{Audience, Scenario};
use super::truth::History;
use super::world::{self, State};

/// What a simulation went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// A hash over every byte that was sent, in order.
    pub(crate) hash: u64,
    pub(crate) faults: FaultCounts,
    pub(crate) ticks: u64,
    pub(crate) bytes: u64,
    pub(crate) joins: u64,
    pub(crate) resumes: u64,
    pub(crate) crashes: u64,
    pub(crate) kicks: u64,
    /// Clients that hung up on damaged bytes, or were hung up on.
    pub(crate) spoiled: u64,
    pub(crate) spawns: u64,
    pub(crate) despawns: u64,
    /// Entities on healthy links whose age was compared with the bound.
    pub(crate) aged: u64,
}

/// For how many ticks in a row everything must be well: five seconds, in which view hashes that differ
/// would have everything sent anew.
const QUIET: u32 = 100;

/// How many entities that left a side remembers.
const KEPT: [usize; 3] = [0, 3, 1_024];

/// One client as the simulation follows it.
#[derive(Debug)]
pub(crate) struct Follower {
    pub(crate) player: Option<Entity>,
    /// Whether the link has no faults but its delay.
    pub(crate) healthy: bool,
    /// Since which tick it has had a session over such a link.
    pub(crate) healthy_from: Option<u64>,
    /// Since when each entity has been in its view.
    pub(super) viewed: BTreeMap<u64, u64>,
    pub(super) shown: Shown,
    tail: Tail,
    meter: Meter,
    /// What the server says, and what the client says.
    pub(super) down: Channels,
    pub(super) up: Channels,
}

pub(crate) struct Simulation {
    pub(crate) net: TestNet,
    pub(crate) scenario: Scenario,
    pub(crate) random: Random,
    pub(crate) report: Report,
    pub(crate) followers: Vec<Follower>,
    /// Whether damaged datagrams are noticed below; otherwise both sides read them.
    pub(crate) sealed: bool,
    pub(super) sets: Sets,
    pub(super) history: History,
    pub(super) allowed: BTreeMap<ClientId, Allowed>,
    pub(super) truth: BTreeMap<u64, State>,
    /// For how many ticks in a row everything must be well at the end.
    pub(super) quiet: u32,
    /// Whether the server's check at the time of sending is taken out.
    sabotage: bool,
    /// Whether the world changes.
    pub(super) wild: bool,
}

/// Runs one seed to its end, or says what broke and when. With `sabotage` the server's check at the
/// time of sending is taken out.
pub(crate) fn run(seed: u64, sabotage: bool) -> Result<Report, String> {
    let mut simulation = Simulation::new(seed);
    simulation.sabotage = sabotage;
    finish(simulation, seed)
}

/// Runs one seed with the usual settings of replication.
pub(crate) fn run_usual(seed: u64) -> Result<Report, String> {
    finish(Simulation::usual(seed), seed)
}

fn finish(mut simulation: Simulation, seed: u64) -> Result<Report, String> {
    let rounds = 1 + simulation.random.below(2);
    let result = (0..rounds).try_for_each(|_| simulation.round());
    result.map_err(|error| {
        let tick = simulation.history.now();
        format!("seed {seed}, tick {tick}: {error}")
    })?;
    simulation.report.faults = simulation.net.fault_counts();
    simulation.report.ticks = simulation.history.now();
    Ok(simulation.report)
}

impl Simulation {
    fn with_clients(seed: u64, clients: u64, small: bool, usual: bool) -> Self {
        let mut random = Random::new(seed);
        let mut scenario = Scenario::new(random.word());
        let mut settings = settings(&mut random, &scenario);
        if small {
            scenario.keep_small();
            // Enough that the end does not wait for the budget, little enough that packets are full.
            let limits = &mut settings.limits;
            limits.bytes_out_per_second = limits.bytes_out_per_second.max(10_000);
            // The same timers, run out sooner: a run spends its ticks on what happens.
            limits.keep_alive = Duration::from_millis(200);
            limits.idle_timeout = Duration::from_millis(1_000);
            limits.ack_timeout = Duration::from_millis(1_000);
            limits.resume_window = Duration::from_millis(1_500);
        }
        let limits = settings.limits.clone();
        let mut kept = MirrorLimits::default().kept;
        if !usual {
            (settings.replication, kept) = replication(seed);
        }
        let mut net = TestNet::new(&world::protocol(), settings, random.word());
        net.client_settings.limits = limits;
        net.client_settings.mirror.kept = kept;
        scenario.populate(&mut net.world);
        let sealed = random.chance(7_500);
        let mut simulation = Self {
            net,
            scenario,
            random,
            report: Report::default(),
            followers: Vec::new(),
            sealed,
            sets: Sets::default(),
            history: History::default(),
            allowed: BTreeMap::new(),
            truth: BTreeMap::new(),
            quiet: QUIET,
            sabotage: false,
            wild: true,
        };
        for _ in 0..clients {
            simulation.join();
        }
        simulation
    }

    /// Returns a simulation of one client and few entities, quick to run.
    pub(crate) fn small(seed: u64) -> Self {
        let mut simulation = Self::with_clients(seed, 1, true, false);
        simulation.quiet = 3;
        simulation
    }

    pub(crate) fn new(seed: u64) -> Self {
        Self::with_clients(seed, clients(seed), false, false)
    }

    fn usual(seed: u64) -> Self {
        Self::with_clients(seed, clients(seed), false, true)
    }

    pub(crate) fn join(&mut self) {
        let limits = &self.net.server.settings().limits;
        self.followers.push(Follower {
            player: None,
            healthy: false,
            healthy_from: None,
            viewed: BTreeMap::new(),
            shown: Shown::new(),
            tail: Tail::default(),
            meter: Meter::new(limits, self.net.now()),
            down: Channels::default(),
            up: Channels::default(),
        });
        let number = self.followers.len() - 1;
        chaos::new_link(self, number);
        self.net.join();
    }

    /// A wild time, then a calm one at whose end every client must show the truth.
    fn round(&mut self) -> Result<(), String> {
        for _ in 0..60 + self.random.below(120) {
            chaos::strike(self);
            self.scenario.tick(&mut self.net.world);
            self.chat();
            self.tick()?;
        }
        self.calm()?;
        self.wild = true;
        Ok(())
    }

    /// One tick of everything, with every check.
    pub(crate) fn tick(&mut self) -> Result<(), String> {
        self.net.begin();
        for event in &self.net.events {
            // Whoever joins anew has no set to have been in.
            if let ServerEvent::Connected {
                client,
                resumed: false,
            } = event
            {
                self.sets.forget(*client);
            }
        }
        self.observe()?;
        // What the game does about them is seen by the next tick.
        self.take_events()?;
        self.send()?;
        for number in 0..self.followers.len() {
            self.check_client(number)?;
            self.hear(number)?;
        }
        Ok(())
    }

    /// One tick of everything, shown instead of checked.
    pub(crate) fn watch_tick(&mut self, seen: &mut dyn FnMut(Sent<'_>)) {
        self.net.begin();
        drop(self.take_events());
        self.net.send(seen);
    }

    fn observe(&mut self) -> Result<(), String> {
        self.allowed = self.sets.check(&self.net.server, &mut self.net.world)?;
        if self.wild && self.random.chance(1_000) && self.hide_late() {
            // Others may come back into a capped view, out of which the tick has sent them.
            self.note_exits();
            self.allowed = self.sets.check(&self.net.server, &mut self.net.world)?;
        }
        let states = world::states(&mut self.net.world)?;
        self.truth = states
            .into_iter()
            .map(|(tag, (_, state))| (tag, state))
            .collect();
        let sets = self
            .allowed
            .iter()
            .map(|(client, allowed)| (*client, allowed.set.clone()));
        self.history.tick(self.truth.clone(), sets.collect());
        Ok(())
    }

    /// Hides an entity after the tick that queued its changes: the game had second thoughts. Nothing
    /// of it may leave although it is queued. Returns whether there was one.
    fn hide_late(&mut self) -> bool {
        let Some((entity, id)) = self.scenario.anyone(&self.net.world) else {
            return false;
        };
        let interest = self.net.server.interest_mut();
        let Some(facts) = interest.facts(id) else {
            return false;
        };
        let rule = Rule::Never;
        interest.set_facts(id, Facts { rule, ..facts });
        interest.update();
        self.net.world.entity_mut(entity).insert(Relevance(rule));
        true
    }

    /// Lets everything be sent, and reads along.
    fn send(&mut self) -> Result<(), String> {
        let mut wrong = Ok(());
        let Self {
            net,
            report,
            followers,
            allowed,
            truth,
            scenario,
            ..
        } = self;
        net.send(&mut |sent| {
            note(report, &sent);
            if wrong.is_ok() && !sent.to_server {
                let follower = &mut followers[sent.number];
                let joined;
                let bytes = match sent.lane {
                    Lane::Datagram => sent.bytes,
                    Lane::Stream => {
                        joined = follower.tail.join(sent.bytes);
                        &joined
                    }
                };
                wrong = follower
                    .meter
                    .send(sent.bytes.len(), sent.now)
                    .and_then(|()| leak(scenario, allowed, truth, sent.client, bytes));
            }
        });
        wrong
    }

    fn check_client(&mut self, number: usize) -> Result<(), String> {
        let Some(id) = self.net.client(number).last_id() else {
            return Ok(());
        };
        self.note_view(number, id);
        if !self.sealed {
            // Damaged bytes that happen to make sense are believed, so only panics count.
            return Ok(());
        }
        let shown = &mut self.followers[number].shown;
        let world = &mut self.net.client_mut(number).world;
        let changes = client::look(&self.history, id, world, shown)?;
        self.report.spawns += changes.spawns;
        self.report.despawns += changes.despawns;
        self.check_age(number, id)
    }

    fn take_events(&mut self) -> Result<(), String> {
        for event in core::mem::take(&mut self.net.events) {
            match event {
                ServerEvent::Connected { client, resumed } => self.welcome(client, resumed),
                ServerEvent::Disconnected { client, reason } => self.farewell(client, &reason)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn number_of(&self, client: ClientId) -> Option<usize> {
        (0..self.net.len()).find(|n| self.net.client(*n).last_id() == Some(client))
    }

    fn welcome(&mut self, client: ClientId, resumed: bool) {
        let Some(number) = self.number_of(client) else {
            return;
        };
        let follower = &mut self.followers[number];
        follower.tail = Tail::default();
        follower.healthy_from = follower.healthy.then_some(self.history.now());
        if resumed {
            self.report.resumes += 1;
        } else {
            self.report.joins += 1;
            follower.down.restart();
            follower.up.restart();
        }
        if self.sabotage {
            self.net.server.break_send_check_for_tests(client);
        }
        let alive = |entity: &Entity| self.net.world.get_entity(*entity).is_ok();
        let player = follower.player.filter(alive);
        let player = player.unwrap_or_else(|| self.scenario.join(&mut self.net.world, client));
        follower.player = Some(player);
        self.net.set_player(number, Some(player));
    }

    fn farewell(&mut self, client: ClientId, reason: &Disconnect) -> Result<(), String> {
        let expected = match reason {
            Disconnect::Bad(_) | Disconnect::Protocol(_) | Disconnect::Refused(_) => !self.sealed,
            Disconnect::Flood | Disconnect::Unknown => false,
            _ => true,
        };
        if !expected {
            return Err(format!("{client} was dropped: {reason}"));
        }
        self.report.spoiled += u64::from(matches!(reason, Disconnect::Bad(_)));
        let Some(number) = self.number_of(client) else {
            return Ok(());
        };
        // Its budget went with it: who comes back after that begins with a full one.
        let now = self.net.now();
        self.followers[number].meter = Meter::new(&self.net.server.settings().limits, now);
        if let Some(player) = self.followers[number].player.take() {
            self.scenario.leave(&mut self.net.world, client, player);
        }
        Ok(())
    }

    /// Both sides say something now and then.
    pub(crate) fn chat(&mut self) {
        for number in 0..self.followers.len() {
            let Some(id) = self.net.client(number).id() else {
                continue;
            };
            let what = self.random.below(12);
            let Follower { down, up, .. } = &mut self.followers[number];
            down.say_to_client(what, &mut self.net.server, id);
            up.say_to_server(what, &mut self.net.client_mut(number).client);
        }
    }

    fn hear(&mut self, number: usize) -> Result<(), String> {
        if !self.sealed {
            return Ok(());
        }
        let client = &mut self.net.client_mut(number).client;
        self.followers[number].down.hear_client(client)?;
        if number > 0 {
            return Ok(());
        }
        for (id, said) in messages::said_to_server(&mut self.net.server) {
            self.up(id).map_or(Ok(()), |up| up.hear(said))?;
        }
        Ok(())
    }

    fn up(&mut self, client: ClientId) -> Option<&mut Channels> {
        let number = self.number_of(client)?;
        Some(&mut self.followers[number].up)
    }
}

/// Returns what may be different from one server to the next.
pub(crate) fn settings(random: &mut Random, scenario: &Scenario) -> ServerSettings {
    let rates = [3_000, 10_000, 40_000, 128 * 1_024];
    let bytes_out_per_second = rates[random.index(rates.len())];
    let seconds = Duration::from_secs;
    ServerSettings {
        interest: InterestConfig {
            area: InterestArea {
                radius: scenario.radius_m(),
            },
            ..InterestConfig::with_margin_percent([0, 10][random.index(2)])
        },
        limits: Limits {
            bytes_out_per_second,
            burst_bytes: [1_500, 8_000, 32_000][random.index(3)],
            max_visible: [2, 8, 4_096, 4_096][random.index(4)],
            idle_timeout: seconds(4),
            ack_timeout: seconds(4),
            resume_window: seconds(6),
            ..Limits::default()
        },
        ..ServerSettings::default()
    }
}

fn clients(seed: u64) -> u64 {
    1 + Random::new(!seed).below(4)
}

/// Returns how replication differs, and how many entities that left a client remembers: so that they
/// wait for their turn, are forgotten, and are asked for. Everything else goes by the seed as it would.
pub(crate) fn replication(seed: u64) -> (ReplicationSettings, usize) {
    let mut random = Random::new(seed.rotate_left(32));
    let settings = ReplicationSettings {
        spawns_per_tick: [2, 256][random.index(2)],
        grace_ticks: [0, 5, 200][random.index(3)],
        kept_max: KEPT[random.index(KEPT.len())],
    };
    // On purpose not what the server counts on.
    (settings, KEPT[random.index(KEPT.len())])
}

fn note(report: &mut Report, sent: &Sent<'_>) {
    let mut fold = |byte: u8| {
        report.hash = (report.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    };
    fold(u8::from(sent.to_server) * 2 + u8::from(sent.lane == Lane::Stream));
    sent.client
        .get()
        .to_le_bytes()
        .into_iter()
        .for_each(&mut fold);
    sent.bytes.iter().copied().for_each(&mut fold);
    report.bytes += sent.bytes.len() as u64;
}

/// Says whom the bytes tell about although the client may not know.
fn leak(
    scenario: &Scenario,
    allowed: &BTreeMap<ClientId, Allowed>,
    truth: &BTreeMap<u64, State>,
    client: ClientId,
    bytes: &[u8],
) -> Result<(), String> {
    for about in scenario.secrets.find(bytes) {
        let visible = allowed
            .get(&client)
            .is_some_and(|a| a.view.contains(&about.tag));
        let owner = truth.get(&about.tag).and_then(|state| state.owner);
        let fine = match about.audience {
            Audience::Set => visible,
            Audience::Owner => visible && owner == Some(client),
            Audience::Nobody => false,
        };
        if !fine {
            return Err(format!(
                "leak: {client} is sent a secret of entity {} ({:?})",
                about.tag, about.audience
            ));
        }
    }
    Ok(())
}
