//! What befalls lines and processes.

use core::time::Duration;

use nebula_multiplayer::transport::Pipe as _;

use super::run::{Befell, Simulation};
use crate::oracle::chaos;

/// Lets something happen, rarely: to the server, and to each client.
pub(super) fn strike(simulation: &mut Simulation) {
    if simulation.guests.len() < 4 && simulation.random.chance(60) {
        simulation.join();
    }
    if simulation.random.chance(120) {
        befall_server(simulation);
    }
    for number in 0..simulation.guests.len() {
        if simulation.random.chance(250) {
            befall(simulation, number);
        }
    }
}

fn befall_server(simulation: &mut Simulation) {
    let time = some_time(simulation);
    match simulation.random.below(4) {
        0 | 1 => {
            simulation.note(Befell::ServerPause);
            simulation.freeze_server(time);
        }
        2 => {
            simulation.note(Befell::ServerCrash);
            simulation.stop_server(time, false);
        }
        _ => {
            simulation.note(Befell::ServerRestart);
            simulation.stop_server(time, true);
        }
    }
}

fn befall(simulation: &mut Simulation, number: usize) {
    let time = some_time(simulation);
    let now = simulation.net.now();
    let until = now + time;
    match simulation.random.below(12) {
        0 | 1 => simulation
            .net
            .each_way(number, |pipe, _| pipe.partition(until)),
        2 => simulation
            .net
            .each_way(number, |pipe, now| pipe.pause(now + time / 2)),
        3 | 4 => {
            simulation.note(Befell::ClientPause);
            simulation.guests[number].freeze(until);
        }
        5 => {
            let faults = chaos::faults(&mut simulation.random, false);
            simulation.net.each_way(number, |pipe, _| {
                pipe.cut();
                pipe.set_faults(faults);
            });
        }
        6 | 7 => {
            simulation.note(Befell::NewAddress);
            // A device may know that it changed networks; a router that forgot it tells nobody.
            let known = simulation.random.chance(5_000);
            simulation.guests[number].move_on(known);
        }
        8 | 9 => {
            simulation.note(Befell::ClientCrash);
            simulation.crash(number);
        }
        10 => simulation.kick(number),
        _ => simulation.guests[number].leave(),
    }
}

fn some_time(simulation: &mut Simulation) -> Duration {
    Duration::from_millis(simulation.random.below(2_500))
}
