//! What befalls links, clients and their processes.

use core::time::Duration;

use nebula_multiplayer::transport::sim::{Faults, Random};

use super::run::Simulation;

/// Returns how bad a link is: perfect, ordinary, or terrible.
pub(crate) fn faults(random: &mut Random, sealed: bool) -> Faults {
    let ms = Duration::from_millis;
    let badness = u16::try_from(random.below(4)).unwrap_or(0);
    Faults {
        latency: ms(random.below(120)),
        jitter: ms(random.below(80)),
        drop: 600 * badness,
        duplicate: 200 * badness,
        reorder: 400 * badness,
        corrupt: if sealed { 200 * badness } else { 60 * badness },
        sealed,
        pause: 10 * badness,
        pause_max: ms(900),
        bandwidth: [None, None, Some(20_000)][random.index(3)],
    }
}

/// Decides how bad a client's next link is.
pub(crate) fn new_link(simulation: &mut Simulation, number: usize) {
    let faults = faults(&mut simulation.random, simulation.sealed);
    simulation.net.faults = faults;
    let follower = &mut simulation.followers[number];
    follower.healthy = faults.drop == 0 && faults.bandwidth.is_none();
    follower.healthy_from = None;
}

/// Lets something happen to each client, rarely.
pub(crate) fn strike(simulation: &mut Simulation) {
    if simulation.net.len() < 4 && simulation.random.chance(60) {
        simulation.join();
    }
    for number in 0..simulation.net.len() {
        if simulation.net.client(number).id().is_none() {
            come_back(simulation, number);
        } else if simulation.random.chance(250) {
            befall(simulation, number);
        }
    }
}

/// Someone without a link tries again, sooner or later.
fn come_back(simulation: &mut Simulation, number: usize) {
    if simulation.random.chance(1_000) {
        new_link(simulation, number);
        simulation.net.reconnect(number);
    }
}

fn befall(simulation: &mut Simulation, number: usize) {
    let what = simulation.random.below(10);
    befall_by(simulation, number, what);
}

/// Lets one thing happen to a client that has a link.
pub(crate) fn befall_by(simulation: &mut Simulation, number: usize, what: u64) {
    simulation.followers[number].healthy = false;
    simulation.followers[number].healthy_from = None;
    let time = Duration::from_millis(simulation.random.below(2_500));
    let now = simulation.net.now();
    match what {
        0..=2 => simulation.net.partition(number, time),
        3 | 4 => simulation.net.pause(number, time / 2),
        5 | 6 => simulation.net.cut(number),
        7 => {
            simulation.report.crashes += 1;
            let noticed = simulation.random.chance(5_000);
            simulation.net.crash(number, noticed);
        }
        8 => {
            let Some(id) = simulation.net.client(number).id() else {
                return;
            };
            simulation.report.kicks += 1;
            simulation.net.server.kick(id, "by chance", now);
        }
        _ => simulation.net.client_mut(number).client.disconnect(now),
    }
}
