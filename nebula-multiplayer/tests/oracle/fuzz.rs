//! Any bytes: as what a stranger sends, and as a list of things that happen to a whole server.

use core::time::Duration;

use bevy_ecs::world::World;
use nebula_multiplayer::ClientId;
use nebula_multiplayer::client::{Client, ClientSettings};
use nebula_multiplayer::message::{ClientFrame, ServerFrame};
use nebula_multiplayer::server::{Identity, Server, ServerSettings};
use nebula_multiplayer::session::{Header, Side};
use nebula_multiplayer::transport::Lane;
use nebula_multiplayer::wire::Reader;

use super::chaos;
use super::run::Simulation;
use super::world::protocol;

/// Things that one input may have happen; more are not read.
const MOST_OPS: usize = 24;

/// Reads the bytes as a stranger's: the first says to whom, the rest is cut into packets.
pub(crate) fn decode(data: &[u8]) {
    let Some((&whom, rest)) = data.split_first() else {
        return;
    };
    match whom % 8 {
        0 => {
            let _ = ClientFrame::decode(rest);
            let _ = ServerFrame::decode(rest);
        }
        1 => {
            let _ = Header::decode(&mut Reader::new(rest), Side::Client);
            let _ = Header::decode(&mut Reader::new(rest), Side::Server);
        }
        2 => to_server(rest, Lane::Stream, false),
        3 => to_server(rest, Lane::Stream, true),
        4 => to_server(rest, Lane::Datagram, true),
        5 => to_client(rest, Lane::Stream, false),
        6 => to_client(rest, Lane::Stream, true),
        _ => to_client(rest, Lane::Datagram, true),
    }
}

const NOW: Duration = Duration::from_secs(1);

struct Pair {
    server: Server,
    client: Client,
    id: ClientId,
}

/// Returns a server and a client, with the handshake done if asked.
fn pair(shaken: bool) -> Pair {
    let settings = ServerSettings {
        secret: [7; 16],
        ..ServerSettings::default()
    };
    let mut server = Server::new(protocol(), settings).expect("usable");
    let mut client = Client::new(protocol(), ClientSettings::default()).expect("usable");
    let id = server.connect(Identity::Account(1), NOW).expect("room");
    client.connect(NOW);
    if shaken {
        let mut bytes = Vec::new();
        client.transmit_stream(4_096, &mut bytes);
        server.receive_stream(id, &bytes, NOW).expect("a hello");
        bytes.clear();
        server.transmit_stream(id, 4_096, &mut bytes);
        client.receive_stream(&bytes, NOW).expect("a welcome");
    }
    Pair { server, client, id }
}

/// Cuts bytes into packets: two bytes of length before each.
fn packets(mut data: &[u8]) -> impl Iterator<Item = &[u8]> {
    core::iter::from_fn(move || {
        let (len, rest) = data.split_first_chunk::<2>()?;
        let len = usize::from(u16::from_le_bytes(*len) % 1_400).min(rest.len());
        let (packet, rest) = rest.split_at(len);
        data = rest;
        Some(packet)
    })
}

fn to_server(data: &[u8], lane: Lane, shaken: bool) {
    let Pair { mut server, id, .. } = pair(shaken);
    let mut world = World::new();
    for packet in packets(data).take(16) {
        let result = match lane {
            Lane::Datagram => server.receive(id, packet, NOW),
            Lane::Stream => server.receive_stream(id, packet, NOW),
        };
        if result.is_err() {
            assert_eq!(server.held(), 0, "a bad client is gone");
            return;
        }
    }
    server.tick(&mut world, NOW);
}

fn to_client(data: &[u8], lane: Lane, shaken: bool) {
    let Pair { mut client, .. } = pair(shaken);
    for packet in packets(data).take(16) {
        let result = match lane {
            Lane::Datagram => client.receive(packet, NOW),
            Lane::Stream => client.receive_stream(packet, NOW),
        };
        if result.is_err() {
            break;
        }
    }
    // What was taken in before the bad packet is shown.
    let mut world = World::new();
    client.tick(&mut world, NOW);
    client.tick(&mut world, NOW);
}

/// Reads the bytes as what happens to a server and its clients, checked by the oracle throughout.
///
/// # Panics
/// When the oracle objects.
pub(crate) fn session_ops(data: &[u8]) {
    let Some((seed, ops)) = data.split_first_chunk::<2>() else {
        return;
    };
    let mut simulation = Simulation::small(u64::from(u16::from_le_bytes(*seed)));
    let mut ops = ops.iter().copied().take(MOST_OPS);
    while let Some(op) = ops.next() {
        if let Err(error) = step(&mut simulation, op, &mut ops) {
            panic!("{error}");
        }
    }
    if let Err(error) = simulation.calm() {
        panic!("{error}");
    }
}

fn step(
    simulation: &mut Simulation,
    op: u8,
    ops: &mut impl Iterator<Item = u8>,
) -> Result<(), String> {
    let number = usize::from(op >> 4) % simulation.net.len();
    let linked = simulation.net.client(number).id();
    match op & 15 {
        0..=4 => {
            simulation.scenario.tick(&mut simulation.net.world);
            simulation.chat();
        }
        5 if simulation.net.len() < 3 => simulation.join(),
        6 if linked.is_none() => drop(simulation.net.reconnect(number)),
        7 => {
            // A stranger's bytes in a client's name: that client is dropped, nobody else notices.
            if let Some(id) = linked {
                let bytes: Vec<u8> = ops.take(6).collect();
                let now = simulation.net.now();
                simulation.sealed = false;
                drop(simulation.net.server.receive(id, &bytes, now));
            }
        }
        what @ 8..=15 if linked.is_some() => {
            chaos::befall_by(simulation, number, u64::from(what) - 6);
        }
        _ => {}
    }
    simulation.tick()
}
