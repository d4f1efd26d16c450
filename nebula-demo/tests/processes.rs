//! A server and two clients in processes of their own, over QUIC on loopback.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use nebula_demo::online::{MIDDLE, RADIUS_MM, creatures};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running demo; it is killed with this value, whatever happens.
struct Demo {
    process: Child,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Demo {
    fn start(arguments: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_nebula-demo"))
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the demo starts");
        let output = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            process,
            lines,
            heard: Vec::new(),
        }
    }

    fn server(address: &str, flags: &str) -> (Self, String) {
        let mut server = Self::start(&format!("server --headless --listen {address} {flags}"));
        let line = server.wait_for("listening at ");
        let address = line.trim_start_matches("listening at ").to_owned();
        (server, address)
    }

    fn client(address: &str, account: u32) -> Self {
        let flags = format!("--headless --account {account}");
        Self::start(&format!("client --connect {address} {flags}"))
    }

    /// Waits for a line that holds these words, and returns it. Earlier lines are kept for reports.
    #[track_caller]
    fn wait_for(&mut self, words: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self
                .lines
                .recv_timeout(left)
                .unwrap_or_else(|_| panic!("waited in vain for {words:?} after {:#?}", self.heard));
            self.heard.push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
    }

    /// Returns the last count that was printed, once nothing more is printed for a while.
    fn settled_count(&mut self) -> Option<usize> {
        while let Ok(line) = self.lines.recv_timeout(Duration::from_millis(700)) {
            self.heard.push(line);
        }
        let count = |line: &String| {
            let (_, rest) = line.split_once("Nearby: ")?;
            rest.split_once(" entities")?.0.parse().ok()
        };
        self.heard.iter().rev().find_map(count)
    }

    /// Asks for the end as a terminal or a service manager does, and returns the exit code.
    #[track_caller]
    fn terminate(&mut self) -> Option<i32> {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status();
        assert!(sent.expect("kill is everywhere").success());
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.process.try_wait().expect("it can be asked") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it did not end; it said {:#?}", self.heard);
    }

    fn kill(&mut self) {
        // An error means that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Whom a player in the middle sees, besides other players.
fn creatures_in_sight() -> usize {
    creatures()
        .filter(|at| at.is_within(&MIDDLE, RADIUS_MM))
        .count()
}

#[track_caller]
fn all_see(clients: &mut [Demo], expected: usize) {
    for client in &mut *clients {
        client.wait_for("connected as player");
    }
    for client in clients {
        client.wait_for(&format!("Nearby: {expected} entities"));
        let count = client.settled_count(); // And nobody more.
        assert_eq!(count, Some(expected), "{:#?}", client.heard);
    }
}

#[test]
fn clients_see_the_same_after_the_server_was_killed_and_restarted() {
    let expected = creatures_in_sight() + 1; // And the other player.
    let (mut server, address) = Demo::server("127.0.0.1:0", "--still");
    let mut clients = [1, 2].map(|account| Demo::client(&address, account));
    all_see(&mut clients, expected);

    server.kill();
    for client in &mut clients {
        client.wait_for("; trying again");
    }
    let (mut server, same) = Demo::server(&address, "--still");
    assert_eq!(address, same);
    all_see(&mut clients, expected);

    // A client that is asked to end says goodbye, and the others see it go at once.
    assert_eq!(clients[1].terminate(), Some(0));
    clients[1].wait_for("left; ");
    server.wait_for("player 2 is gone");
    let line = clients[0].wait_for("- player 2");
    assert!(line.ends_with(&format!("Nearby: {} entities", expected - 1)));

    // So does a server.
    assert_eq!(server.terminate(), Some(0));
    server.wait_for("the server ends after");
    clients[0].wait_for("the server ends");
    assert_eq!(clients[0].terminate(), Some(0));
}

#[test]
fn a_client_that_was_killed_and_restarted_joins_anew() {
    let expected = creatures_in_sight() + 1;
    let (mut server, address) = Demo::server("127.0.0.1:0", "--still");
    let mut clients = [1, 2].map(|account| Demo::client(&address, account));
    all_see(&mut clients, expected);
    server.wait_for("player 2 came; ");

    clients[1].kill();
    clients[1] = Demo::client(&address, 2);
    all_see(&mut clients[1..], expected);
    // It has the player that it had, so that there are no three, and the other client saw nobody go.
    let line = server.wait_for("player 2 came; ");
    assert_eq!(line, "player 2 came; 2 in all");
    assert_eq!(clients[0].settled_count(), Some(expected));
    let gone = clients[0].heard.iter().find(|line| line.starts_with("- "));
    assert_eq!(gone, None);
}

#[test]
fn creatures_come_and_go_while_they_walk() {
    let (mut server, address) = Demo::server("127.0.0.1:0", "");
    let mut client = Demo::client(&address, 7);
    client.wait_for("connected as player 7");
    client.wait_for("- creature"); // Someone leaves ...
    client.wait_for("+ creature"); // ... and someone comes.
    assert_eq!(client.terminate(), Some(0));
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn an_address_that_is_taken_is_named() {
    let (_server, address) = Demo::server("127.0.0.1:0", "");
    let second = Command::new(env!("CARGO_BIN_EXE_nebula-demo"))
        .args(["server", "--headless", "--listen", &address])
        .output()
        .expect("the demo starts");
    assert_eq!(second.status.code(), Some(1));
    let message = String::from_utf8(second.stderr).expect("text");
    assert!(message.contains(&address), "{message}");
}

#[test]
fn without_a_display_both_sides_run_in_the_terminal() {
    for (arguments, name, first) in [
        (
            "server --listen 127.0.0.1:0 --seconds 1",
            "server",
            "listening at 127.0.0.1:",
        ),
        (
            "client --connect 127.0.0.1:9 --seconds 1",
            "client",
            "connecting to 127.0.0.1:9",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_nebula-demo"))
            .args(arguments.split_whitespace())
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET")
            .output()
            .expect("the demo starts");
        let (lines, message) = (
            String::from_utf8(output.stdout).expect("text"),
            String::from_utf8(output.stderr).expect("text"),
        );
        assert_eq!(output.status.code(), Some(0), "{message}");
        let sentence = format!(
            "No window: neither DISPLAY nor WAYLAND_DISPLAY is set. The {name} runs here in the terminal."
        );
        assert_eq!(message.trim(), sentence);
        assert!(lines.starts_with(first), "{lines}");
    }
}
