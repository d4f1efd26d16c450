//! Peers that send QUIC frames which no honest one would: rows 21 and 22 of the hostile input table. In
//! each test a healthy client beside them notices nothing, and memory is counted.
#![cfg(target_os = "linux")]

mod quic_common;
mod quic_frames;
mod quic_hostile;

use core::iter::repeat_n;
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use nebula_multiplayer::auth::OpenLogin;
use quinn::{Connection, ConnectionError};
use tokio::task::JoinHandle;

use quic_common::{Host, Options, pass};
use quic_frames::{forger, number, packets};
use quic_hostile::{Raw, Witness, credentials, quick};

/// Frames that each storm has.
const STORM: u32 = 100_000;

/// What the system's own counting of memory adds.
const NOISE: u64 = 4 << 20;

/// What one client may cost a server at most, and what it may before its login.
const MOST: u64 = (4 << 20) + NOISE;
const MOST_BEFORE_LOGIN: u64 = (1 << 20) + NOISE;

/// One at a time: memory is counted for the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns how much memory this process holds.
fn held() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').nth(1).unwrap().parse().unwrap();
    4_096 * pages
}

/// How a connection was ended by the server: by QUIC itself, with this number, or by the game.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    Quic(u64),
    Game(u64),
}

fn ended(connection: &Connection) -> Option<Ended> {
    match connection.close_reason()? {
        ConnectionError::ConnectionClosed(close) => Some(Ended::Quic(close.error_code.into())),
        ConnectionError::ApplicationClosed(close) => {
            Some(Ended::Game(close.error_code.into_inner()))
        }
        other => panic!("ended in another way: {other}"),
    }
}

/// Lets a peer that is logged in send these frames, beside a witness. Returns how it was ended.
#[track_caller]
fn storm(frames: impl Iterator<Item = Vec<u8>>) -> Ended {
    let _alone = alone();
    let mut host = Host::with(quick(), OpenLogin);
    let mut witness = Witness::new(&mut host);
    let raw: Raw = forger(&host);
    let (connection, _send, _recv) = raw.say(&credentials(&[]));
    witness.until(&mut host, "it is in", |host| host.server.held() == 2);
    let packets = packets(frames);
    let before = held();
    let sender = connection.clone();
    let flood = raw.runtime.spawn(async move {
        for packet in packets {
            if sender.send_datagram_wait(packet.into()).await.is_err() {
                break;
            }
        }
    });
    let mut most = before;
    witness.until(&mut host, "it is ended", |_| {
        most = most.max(held());
        connection.close_reason().is_some()
    });
    flood.abort();
    let grown = most.saturating_sub(before);
    assert!(grown <= MOST, "{grown} bytes for one client");
    witness.notices_nothing(&mut host);
    witness.until(&mut host, "nothing is left", |host| {
        host.net.connections() == (1, 0) && host.server.held() == 1
    });
    ended(&connection).expect("it is ended")
}

/// A piece of a stream: its number, where it belongs, and one byte.
fn one_byte(stream: u32, at: u32) -> Vec<u8> {
    [&[0x0e][..], &number(stream), &number(at), &[1, 7]].concat()
}

#[test]
fn hostile_21_a_hundred_thousand_streams() {
    // One is there already, and no more are allowed.
    let streams = (1..STORM).map(|n| one_byte(4 * n, 0));
    assert_eq!(storm(streams), Ended::Quic(0x4), "the limit of streams");
}

#[test]
fn hostile_21_streams_in_one_direction() {
    let streams = (0..STORM).map(|n| one_byte(4 * n + 2, 0));
    assert_eq!(storm(streams), Ended::Quic(0x4), "the limit of streams");
}

#[test]
fn hostile_21_single_bytes_with_gaps_between_them() {
    // Every other byte of the window: nothing of it can be read before the gaps are filled.
    let bytes = (0..STORM).map(|n| one_byte(0, 4 + 2 * (n % 32_000)));
    assert_eq!(storm(bytes), Ended::Quic(0x1), "too many gaps");
}

#[test]
fn hostile_21_single_bytes_with_a_few_gaps_over_and_over() {
    // So few that they are kept, and repeated: until the hello is overdue.
    let bytes = (0..STORM).map(|n| one_byte(0, 4 + 2 * (n % 900)));
    assert_eq!(storm(bytes), Ended::Game(4), "no hello in time");
}

#[test]
fn hostile_21_single_bytes_in_order() {
    // Read one by one; together they promise a frame that is far too long.
    let bytes = (0..STORM).map(|n| one_byte(0, 2 + n % 60_000));
    assert_eq!(storm(bytes), Ended::Game(1), "a bad frame");
}

#[test]
fn hostile_21_a_piece_beyond_the_window() {
    let bytes = (0..STORM).map(|n| one_byte(0, 66_000 + n));
    assert_eq!(storm(bytes), Ended::Quic(0x3), "the limit of bytes");
}

#[test]
fn hostile_21_a_storm_of_resets() {
    // The one stream ends with the first of them, and the connection with it.
    let resets = (0..STORM).map(|_| [&[0x04][..], &number(0), &[0], &number(2)].concat());
    assert_eq!(storm(resets), Ended::Game(0));
}

#[test]
fn hostile_21_resets_of_streams_that_never_were() {
    let resets = (1..STORM).map(|n| [&[0x04][..], &number(4 * n), &[0, 0]].concat());
    assert_eq!(storm(resets), Ended::Quic(0x4), "the limit of streams");
}

#[test]
fn hostile_21_pieces_of_a_handshake_that_is_over() {
    let piece = |at: u32| [&[0x06][..], &number(at), &[1, 7]].concat();
    let gaps = (0..STORM).map(|n| piece(1_000 + 2 * (n % 7_000)));
    assert_eq!(storm(gaps), Ended::Quic(0x1), "too many gaps");
    let beyond = (0..STORM).map(|n| piece(40_000 + n));
    assert_eq!(storm(beyond), Ended::Quic(0xd), "the handshake's buffer");
}

/// Sends packets of which one in ten has a frame that `frame` makes, and the others say nothing: packets
/// reach a server some at a time, and each lot is held in one piece.
fn lots(raw: &Raw, connection: &Connection, frame: fn(u32) -> Vec<u8>) -> JoinHandle<()> {
    let packet = |mut frame: Vec<u8>| -> Bytes {
        frame.resize(1_000, 0);
        packets(core::iter::once(frame)).concat().into()
    };
    let ping = packet(vec![0x01]);
    let sender = connection.clone();
    raw.runtime.spawn(async move {
        for n in 0..1_000 {
            for packet in core::iter::once(packet(frame(n))).chain(repeat_n(ping.clone(), 9)) {
                sender.send_datagram_wait(packet).await.unwrap();
            }
            // Long enough to be read one by one.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
}

/// A datagram of one byte.
fn small_datagram(_number: u32) -> Vec<u8> {
    vec![0x31, 1, 7]
}

#[test]
fn hostile_22_datagrams_before_the_login_are_not_kept() {
    let _alone = alone();
    let mut options = Options::default();
    options.transport.handshake_ms = 20_000;
    let mut host = Host::with(options, OpenLogin);
    let mut witness = Witness::new(&mut host);
    let raw: Raw = forger(&host);
    let connection = raw.connect().unwrap();
    let before = held();
    let flood = lots(&raw, &connection, small_datagram);
    let mut most = before;
    witness.until(&mut host, "all are sent", |_| {
        most = most.max(held());
        flood.is_finished()
    });
    let guests = &mut [&mut witness.guest];
    pass(&mut host, guests, Duration::from_millis(200));
    let grown = most.max(held()).saturating_sub(before);
    assert!(grown <= MOST_BEFORE_LOGIN, "{grown} bytes for a stranger");
    // It may log in all the same, and nothing of all that is left for the game.
    let opened = raw.runtime.block_on(async {
        let (mut send, recv) = connection.open_bi().await.unwrap();
        send.write_all(&credentials(&[])).await.unwrap();
        (send, recv)
    });
    witness.until(&mut host, "it is in", |host| host.server.held() == 2);
    let seen = host.net.stats().datagrams_over_rate + host.net.stats().datagrams_over_queue;
    assert_eq!(seen, 0, "{:?}", host.net.stats());
    drop(opened);
    witness.notices_nothing(&mut host);
}

/// Lets a peer that is logged in send as many small things as may wait for a tick, during a tick that
/// takes its time.
#[track_caller]
fn wait_for_a_tick(frame: fn(u32) -> Vec<u8>) {
    let _alone = alone();
    let mut options = Options::default();
    options.transport.inbound_queue = 4_096;
    options.transport.datagrams_per_second = 10_000;
    let mut host = Host::with(options, OpenLogin);
    let mut witness = Witness::new(&mut host);
    let raw: Raw = forger(&host);
    let (connection, _send, _recv) = raw.say(&credentials(&[]));
    witness.until(&mut host, "it is in", |host| host.server.held() == 2);
    let before = held();
    let flood = lots(&raw, &connection, frame);
    raw.runtime.block_on(flood).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let grown = held().saturating_sub(before);
    assert!(grown <= MOST, "{grown} bytes for one client");
    witness.notices_nothing(&mut host);
}

#[test]
fn hostile_22_datagrams_that_wait_keep_no_more_than_themselves() {
    wait_for_a_tick(small_datagram);
}

#[test]
fn hostile_21_pieces_that_wait_keep_no_more_than_themselves() {
    // Behind the credentials.
    wait_for_a_tick(|n| one_byte(0, 2 + n));
}
