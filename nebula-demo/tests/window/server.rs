//! An X server for one test, and a demo on it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(25);

static TURN: Mutex<()> = Mutex::new(());

/// A running Xvfb on a free display; it ends with this value.
pub(crate) struct Server {
    process: Child,
    display: String,
    _turn: MutexGuard<'static, ()>,
}

impl Server {
    /// Starts a server; the error names the program that is missing.
    pub(crate) fn start() -> Result<Self, String> {
        for (tool, flag) in [("xdotool", "version"), ("xprop", "-version")] {
            let found = Command::new(tool).arg(flag).output();
            found.map_err(|_| format!("{tool} is not installed"))?;
        }
        // One window at a time: more would only slow each other down. A test that failed is no reason
        // to skip the others.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // Without -noreset the server restarts when its last client leaves, which a tool does.
        let mut process = Command::new("Xvfb")
            .args("-displayfd 1 -screen 0 1280x800x24 -nolisten tcp -noreset".split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| "Xvfb is not installed".to_owned())?;
        let mut line = String::new();
        let pipe = process.stdout.as_mut().expect("stdout is piped");
        BufReader::new(pipe)
            .read_line(&mut line)
            .expect("Xvfb says its display");
        let display = format!(":{}", line.trim());
        Ok(Self {
            process,
            display,
            _turn: turn,
        })
    }

    /// A command that runs the demo on this server.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula-demo"));
        command
            .args(args)
            .env("DISPLAY", &self.display)
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET");
        command
    }

    /// Starts the demo on this server.
    pub(crate) fn demo(&self, args: &[&str]) -> Demo {
        let mut demo = Demo::start(&mut self.command(args));
        demo.display.clone_from(&self.display);
        demo
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A running demo; it ends with this value.
pub(crate) struct Demo {
    process: Child,
    stdout: BufReader<ChildStdout>,
    log: String,
    display: String,
}

impl Demo {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("the demo starts");
        let stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        Self {
            process,
            stdout,
            log: String::new(),
            display: String::new(),
        }
    }

    /// Waits until the demo holds at the tick, and returns its index count, which it compared itself.
    pub(crate) fn held_count(&mut self, tick: u64) -> usize {
        let line = self.read_line();
        let rest = line
            .strip_prefix(&format!("Holding at tick {tick}: index "))
            .unwrap_or_else(|| panic!("unexpected log line {line:?}"));
        let (index, rest) = rest.split_once(", brute force ").expect("both counts");
        let (brute_force, identical) = rest.split_once(", identical: ").expect("a verdict");
        assert_eq!((index, identical.trim()), (brute_force, "yes"), "{line}");
        index.parse().expect("a number")
    }

    /// The next line that it prints.
    pub(crate) fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("the demo logs");
        line
    }

    /// Reads until a line starts with these words.
    pub(crate) fn wait_for_line(&mut self, words: &str) {
        let start = Instant::now();
        while !self.read_line().starts_with(words) {
            assert!(start.elapsed() < PATIENCE, "waited in vain for {words:?}");
        }
    }

    /// The first window with our title; waits for it.
    pub(crate) fn window(&self) -> String {
        self.wait_for_window("^Nearby:")
    }

    /// The first window with such a title; waits for it.
    pub(crate) fn wait_for_window(&self, title: &str) -> String {
        self.poll(title, || {
            let ids = self.run("xdotool", &["search", "--name", title]);
            ids.lines().next().map(str::to_owned)
        })
    }

    /// The title as the window manager would see it.
    fn title(&self) -> String {
        let property = self.tool("xprop", &format!("-id {} _NET_WM_NAME", self.window()));
        let title = property.split('"').nth(1);
        title.unwrap_or_default().to_owned()
    }

    pub(crate) fn wait_for_title(&self, expected: &str) {
        self.poll(expected, || (self.title() == expected).then_some(()));
    }

    pub(crate) fn wait_for_other_title(&self, old: &str) {
        self.poll("another title", || {
            let title = self.title();
            (title.starts_with("Nearby: ") && title != old).then_some(())
        });
    }

    /// Sends mouse commands; coordinates count from the window's corner, which is the screen's.
    pub(crate) fn mouse(&self, commands: &str) {
        self.xdotool(commands);
        std::thread::sleep(Duration::from_millis(120)); // At least one frame sees it.
    }

    pub(crate) fn xdotool(&self, commands: &str) {
        self.tool("xdotool", commands);
    }

    /// Waits for the end and returns the exit code.
    pub(crate) fn wait_for_end(&mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.process.try_wait().expect("the demo can be asked") {
                self.stdout
                    .read_to_string(&mut self.log)
                    .expect("the log is text");
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(30));
        }
        panic!("the demo did not end within {PATIENCE:?}");
    }

    /// What it printed until its end.
    pub(crate) fn log(&self) -> &str {
        &self.log
    }

    fn tool(&self, name: &str, arguments: &str) -> String {
        let arguments: Vec<_> = arguments.split_whitespace().collect();
        self.run(name, &arguments)
    }

    fn run(&self, name: &str, arguments: &[&str]) -> String {
        let output = Command::new(name)
            .args(arguments)
            .env("DISPLAY", &self.display)
            .output()
            .expect("the tool was there a moment ago");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[track_caller]
    fn poll<T>(&self, what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(found) = attempt() {
                return found;
            }
            assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
