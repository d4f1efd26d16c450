//! Connections by the thousand from one address: rows 19 and 41 of the hostile input table. They come
//! from a process of their own, so that the tasks, files and memory that are counted here are those of
//! the server and of a healthy client beside it, which notices nothing.
#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    reason = "a process tells its parent what became of its connections"
)]

mod quic_common;
mod quic_hostile;

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use nebula_multiplayer::transport::quic::{QuicClientSettings, Trust};
use quinn::{Connection, VarInt};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use quic_common::{Host, PATIENCE};
use quic_hostile::{Raw, Witness, quick};

/// Attempts that are under way at once.
const AT_ONCE: usize = 16;

/// The attacker's process, when the tests below start it as such; otherwise nothing. It connects from
/// one address, as fast as it goes. What it gets it leaves at once, or keeps and says nothing.
#[test]
fn attacker_process() {
    let Ok(server) = std::env::var("NEBULA_TEST_SERVER") else {
        return;
    };
    let attempts: usize = std::env::var("NEBULA_TEST_ATTEMPTS")
        .unwrap()
        .parse()
        .unwrap();
    let leave = std::env::var_os("NEBULA_TEST_LEAVE").is_some();
    let settings = QuicClientSettings::new(server.parse().unwrap(), Trust::Unverified);
    let raw = Raw::with(&settings);
    let done = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (endpoint, config) = (raw.endpoint.clone(), raw.config.clone());
        let (server, done) = (raw.server, Arc::clone(&done));
        let attempt = async move {
            let mut kept = Vec::new();
            while done.fetch_add(1, Ordering::Relaxed) < attempts {
                let connecting = endpoint.connect_with(config.clone(), server, "localhost");
                match connecting.unwrap().await {
                    Ok(connection) if leave => connection.close(VarInt::from_u32(0), b"bye"),
                    Ok(connection) => kept.push(connection),
                    Err(_) => {}
                }
            }
            kept
        };
        tasks.spawn_on(attempt, raw.runtime.handle());
    }
    let kept: Vec<Connection> = raw.runtime.block_on(tasks.join_all()).concat();
    // The server ends what says nothing, and says so.
    let start = Instant::now();
    while kept.iter().any(|link| link.close_reason().is_none()) {
        assert!(start.elapsed() < PATIENCE, "some were not told");
        std::thread::sleep(core::time::Duration::from_millis(10));
    }
    println!("tried {attempts}");
}

/// One at a time: files and memory are counted for the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the server's runtime and this process hold.
#[derive(Clone, Copy, Debug)]
struct Holds {
    tasks: usize,
    files: usize,
    threads: usize,
    bytes: usize,
}

impl Holds {
    fn now(runtime: &Runtime) -> Self {
        let entries = |folder| std::fs::read_dir(folder).unwrap().count();
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: usize = pages.split(' ').nth(1).unwrap().parse().unwrap();
        Self {
            tasks: runtime.metrics().num_alive_tasks(),
            files: entries("/proc/self/fd"),
            threads: entries("/proc/self/task"),
            bytes: 4_096 * pages,
        }
    }

    /// Whether nothing has grown but memory, and that by no more than what one client may cost.
    fn is_no_more_than(self, before: Self) -> bool {
        self.tasks <= before.tasks
            && self.files <= before.files
            && self.threads <= before.threads
            && self.bytes <= before.bytes + (4 << 20)
    }
}

/// The attacker, ended with the test.
struct Attacker(Child);

impl Attacker {
    fn start(host: &Host, attempts: u64, leave: bool) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "attacker_process", "--nocapture"])
            .env("NEBULA_TEST_SERVER", host.net.local_addr().to_string())
            .env("NEBULA_TEST_ATTEMPTS", attempts.to_string())
            .stdout(Stdio::null());
        if leave {
            command.env("NEBULA_TEST_LEAVE", "1");
        }
        Self(command.spawn().unwrap())
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server whose tasks can be counted, and its witness.
struct Scene {
    runtime: Runtime,
    host: Host,
    witness: Witness,
}

impl Scene {
    fn new(connects_per_second: u32) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let mut options = quick();
        options.transport.per_address = 8;
        options.transport.connects_per_second = connects_per_second;
        let mut host = Host::on(runtime.handle(), options);
        let witness = Witness::new(&mut host);
        Self {
            runtime,
            host,
            witness,
        }
    }

    /// Lets an address connect so many times, while the witness plays, and waits until nothing is left
    /// of it. Returns how many connections there were at most.
    #[track_caller]
    fn attack(&mut self, attempts: u64, leave: bool) -> u32 {
        let mut attacker = Attacker::start(&self.host, attempts, leave);
        let (mut most, mut ended) = (0, None);
        self.witness
            .until(&mut self.host, "all were tried", |host| {
                most = most.max(host.net.connections().0);
                ended = attacker.0.try_wait().unwrap();
                ended.is_some()
            });
        assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
        self.witness.notices_nothing(&mut self.host);
        self.witness
            .until(&mut self.host, "nothing is left", |host| {
                host.net.connections() == (1, 0) && host.server.held() == 1
            });
        most
    }

    /// Waits until the server holds no more than before.
    #[track_caller]
    fn shrinks_to(&mut self, before: Holds) {
        let mut last = before;
        for _ in 0..400 {
            last = Holds::now(&self.runtime);
            if last.is_no_more_than(before) {
                return self.witness.notices_nothing(&mut self.host);
            }
            quic_common::step(&mut self.host, &mut [&mut self.witness.guest]);
        }
        panic!("{last:?} after {before:?}");
    }
}

#[test]
fn hostile_19_ten_thousand_connections_that_say_nothing() {
    let _alone = alone();
    let mut scene = Scene::new(100);
    // What stays of the first, such as room in tables, stays once.
    scene.attack(500, false);
    let before = Holds::now(&scene.runtime);
    let most = scene.attack(10_000, false);
    assert!(most <= 1 + 8 + 2, "eight, and two unproven: {most}");
    let stats = scene.host.net.stats();
    assert!(stats.refused_address > 9_000, "{stats:?}");
    scene.shrinks_to(before);
}

#[test]
fn hostile_41_connecting_and_leaving_as_fast_as_it_goes() {
    let _alone = alone();
    let mut scene = Scene::new(4);
    scene.attack(500, true);
    let before = Holds::now(&scene.runtime);
    let refused = scene.host.net.stats().refused_address;
    let start = Instant::now();
    scene.attack(3_000, true);
    // Sixteen at once and four a second.
    let allowed = 16 + 4 * (start.elapsed().as_secs() + 1);
    let refused = scene.host.net.stats().refused_address - refused;
    assert!(3_000 - refused <= allowed, "{refused} of 3,000 refused");
    scene.shrinks_to(before);
}
