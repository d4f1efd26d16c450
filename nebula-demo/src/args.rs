//! The command line: what may be asked, and a sentence for everything else.

mod online;

use core::fmt;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::Scenario;

pub use online::{ClientOptions, ServerOptions};

/// The most ticks one run takes: some 14 hours of the world's time.
pub const TICKS_MAX: u64 = 1_000_000;
/// The most seconds one run takes: a day.
pub const SECONDS_MAX: u64 = 86_400;

/// What `--help` prints.
pub const HELP: &str = "\
nebula-demo: who is near whom?

A server tells its clients what is near each of them, and nothing else. Each tick the index says who is
within 100 m of a player; brute force checks the answer, millimetre by millimetre.

  nebula-demo                          a window; without a display, 10 seconds in the terminal
  nebula-demo --headless --ticks 5     five ticks of virtual time: the same output in every run
  nebula-demo --json --ticks 200       one JSON object per tick, for other programs
  nebula-demo --screenshot a.png       a picture of tick 100, drawn without a window
  nebula-demo --shots DIR              a picture of every scenario
  nebula-demo bench-frames             how long a frame takes at 1,000 to 100,000 entities
  nebula-demo server --listen ADDR     a server on the network: 500 creatures that walk about
  nebula-demo client --connect ADDR    a player there: who enters and who leaves

In the window: drag and wheel move the map, W A S D walks, Space pauses, N steps, H shows all keys.

Options
  --scenario NAME   the world to show: counter (default), city, crowd, border, seam, extremes, teleport,
                    particles, tiles, lossy
  --seed S          0 to 18446744073709551615 (default 1); the same seed shows the same world
  --headless        stay in the terminal
  --ticks N         stop after N ticks of virtual time, 1 to 1000000
  --hold            with --ticks, in a window: stay at tick N and log both counts
  --seconds N       stop after N seconds of real time, 1 to 86400
  --json            print JSON lines; implies --headless
  --screenshot FILE write a PNG of the window, at tick N with --ticks, and end
  --shots DIR       the same for every scenario, as DIR/NAME.png
  --help            this page

Options of server and client
  --listen ADDR     where to listen, such as 127.0.0.1:4433 or [::]:4433
  --connect ADDR    the server's address; --pin is needed unless it is on this machine
  --pin HEX         the fingerprint of the server's certificate, as the server prints it
  --account N       who the player is (default: someone new); a player who comes back goes on
  --headless        stay in the terminal
  --still           of a server: the creatures stand, so that counts can be compared
  --seconds N       stop after N seconds (default: when told to)

Exit status: 0 all answers agreed, 1 the index and the brute force differed or a client's world
differed from the truth, 2 bad command line.
";

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print [`HELP`].
    Help,
    /// Show a scenario.
    Run(Options),
    /// Write a picture of a scenario to this file.
    Screenshot(Options, PathBuf),
    /// Write pictures of every scenario into this folder.
    Shots(Options, PathBuf),
    /// Measure frames.
    BenchFrames,
    /// Serve a world on the network.
    Server(ServerOptions),
    /// Look at a served world.
    Client(ClientOptions),
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Limit {
    /// When the window is closed, or after a few seconds in a terminal.
    #[default]
    None,
    /// After so many ticks of virtual time.
    Ticks {
        /// How many.
        ticks: u64,
        /// Whether a window stays open at the last one.
        hold: bool,
    },
    /// After so many seconds of real time.
    Seconds(u64),
}

/// How to show a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The world to show.
    pub scenario: Scenario,
    /// What the world grows from.
    pub seed: u64,
    /// Whether to stay in the terminal.
    pub headless: bool,
    /// When to stop.
    pub limit: Limit,
    /// Whether to print JSON lines.
    pub json: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scenario: Scenario::default(),
            seed: 1,
            headless: false,
            limit: Limit::None,
            json: false,
        }
    }
}

/// A command line that makes no sense, as a sentence that says what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for UsageError {}

/// Reads the arguments, program name left out. `--flag VALUE` and `--flag=VALUE` mean the same.
///
/// # Errors
/// For anything unknown, missing, out of range, contradictory or given twice.
///
/// ```
/// use nebula_demo::args::{parse, Command};
///
/// assert_eq!(parse(["--help".into()]), Ok(Command::Help));
/// let error = parse(["--ticks".into(), "-5".into()]).unwrap_err();
/// assert_eq!(error.to_string(), "--ticks takes a whole number from 1 to 1000000, not \"-5\"");
/// ```
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, UsageError> {
    let mut reader = Reader::default();
    let mut args = args.into_iter().peekable();
    if let Some(side) = args.next_if(|arg| arg == "server" || arg == "client") {
        return online::parse(side == "server", args);
    }
    while let Some(arg) = args.next() {
        let arg = text(arg)?;
        let (flag, attached) = match arg.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value.to_owned())),
            _ => (arg.as_str(), None),
        };
        if matches!(flag, "--help" | "-h") {
            return Ok(Command::Help);
        }
        reader.flag(flag, attached, &mut args)?;
    }
    reader.finish()
}

/// The flags seen so far.
#[derive(Default)]
struct Reader {
    seen: Vec<String>,
    scenario: Option<Scenario>,
    seed: Option<u64>,
    ticks: Option<u64>,
    seconds: Option<u64>,
    hold: bool,
    headless: bool,
    json: bool,
    screenshot: Option<PathBuf>,
    shots: Option<PathBuf>,
    bench_frames: bool,
}

impl Reader {
    fn flag(
        &mut self,
        flag: &str,
        attached: Option<String>,
        rest: &mut impl Iterator<Item = OsString>,
    ) -> Result<(), UsageError> {
        if self.has(flag) {
            return Err(twice(flag));
        }
        self.seen.push(flag.to_owned());
        let switch = match flag {
            "--headless" => Some(&mut self.headless),
            "--hold" => Some(&mut self.hold),
            "--json" => Some(&mut self.json),
            "bench-frames" => Some(&mut self.bench_frames),
            _ => None,
        };
        if let Some(switch) = switch {
            *switch = true;
            return attached.map_or(Ok(()), |value| {
                Err(UsageError(format!("{flag} takes no value, not {value:?}")))
            });
        }
        let value = || match attached {
            Some(value) => Ok(value),
            None => rest.next().map_or_else(
                || Err(UsageError(format!("{flag} needs a value after it"))),
                text,
            ),
        };
        match flag {
            "--scenario" => self.scenario = Some(scenario(&value()?)?),
            "--seed" => self.seed = Some(number(flag, &value()?, 0, u64::MAX)?),
            "--ticks" => self.ticks = Some(number(flag, &value()?, 1, TICKS_MAX)?),
            "--seconds" => self.seconds = Some(number(flag, &value()?, 1, SECONDS_MAX)?),
            "--screenshot" => self.screenshot = Some(path(flag, &value()?)?),
            "--shots" => self.shots = Some(path(flag, &value()?)?),
            _ => {
                return Err(UsageError(format!(
                    "{flag:?} is not known; allowed are --scenario NAME, --seed S, --headless, --ticks N, \
                     --hold, --seconds N, --json, --screenshot FILE, --shots DIR, --help, bench-frames, \
                     server and client"
                )));
            }
        }
        Ok(())
    }

    /// Refuses flags that would be ignored beside others.
    fn check_company(&self) -> Result<(), UsageError> {
        if self.screenshot.is_some() && self.shots.is_some() {
            return Err(UsageError(
                "--screenshot draws one scenario and --shots all; give one of them".to_owned(),
            ));
        }
        let picture = ["--seed", "--ticks", "--scenario"];
        let companions: [(&str, &[&str]); 2] =
            [("--screenshot", &picture), ("--shots", &picture[..2])];
        for (flag, allowed) in companions {
            let stray = |other: &&String| *other != flag && !allowed.contains(&other.as_str());
            if self.has(flag)
                && let Some(stray) = self.seen.iter().find(stray)
            {
                return Err(UsageError(format!(
                    "{stray} means nothing beside {flag}; allowed there: {}",
                    allowed.join(", ")
                )));
            }
        }
        let terminal = ["--headless", "--json"].into_iter().find(|f| self.has(f));
        match terminal {
            Some(terminal) if self.hold => Err(UsageError(format!(
                "--hold keeps a window open and {terminal} opens none; give one of them"
            ))),
            _ => Ok(()),
        }
    }

    fn has(&self, flag: &str) -> bool {
        self.seen.iter().any(|seen| seen == flag)
    }

    fn finish(self) -> Result<Command, UsageError> {
        if self.bench_frames {
            return if self.seen.len() == 1 {
                Ok(Command::BenchFrames)
            } else {
                Err(UsageError(
                    "bench-frames stands alone, without flags".to_owned(),
                ))
            };
        }
        self.check_company()?;
        let limit = match (self.ticks, self.seconds) {
            (Some(_), Some(_)) => {
                return Err(UsageError(
                    "--ticks and --seconds both say when to stop; give one of them".to_owned(),
                ));
            }
            (Some(ticks), None) => Limit::Ticks {
                ticks,
                hold: self.hold,
            },
            (None, _) if self.hold => {
                return Err(UsageError(
                    "--hold needs --ticks N, the tick to hold at".to_owned(),
                ));
            }
            (None, Some(seconds)) => Limit::Seconds(seconds),
            (None, None) => Limit::None,
        };
        let defaults = Options::default();
        let options = Options {
            scenario: self.scenario.unwrap_or(defaults.scenario),
            seed: self.seed.unwrap_or(defaults.seed),
            headless: self.headless || self.json,
            limit,
            json: self.json,
        };
        Ok(match (self.screenshot, self.shots) {
            (Some(file), _) => Command::Screenshot(options, file),
            (None, Some(folder)) => Command::Shots(options, folder),
            (None, None) => Command::Run(options),
        })
    }
}

fn twice(flag: &str) -> UsageError {
    UsageError(format!("{flag} is given twice; once is enough"))
}

fn text(arg: OsString) -> Result<String, UsageError> {
    arg.into_string().map_err(|arg| {
        UsageError(format!(
            "{arg:?} is not valid UTF-8; arguments are plain text"
        ))
    })
}

fn scenario(name: &str) -> Result<Scenario, UsageError> {
    Scenario::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Scenario::ALL.iter().map(|s| s.name()).collect();
        UsageError(format!(
            "--scenario {name:?} is not known; allowed: {}",
            names.join(", ")
        ))
    })
}

fn path(flag: &str, name: &str) -> Result<PathBuf, UsageError> {
    if name.is_empty() {
        return Err(UsageError(format!(
            "{flag} needs the name of what to write"
        )));
    }
    Ok(PathBuf::from(name))
}

fn number(flag: &str, value: &str, low: u64, high: u64) -> Result<u64, UsageError> {
    value
        .parse()
        .ok()
        .filter(|n| (low..=high).contains(n) && value.bytes().all(|b| b.is_ascii_digit()))
        .ok_or_else(|| {
            UsageError(format!(
                "{flag} takes a whole number from {low} to {high}, not {value:?}"
            ))
        })
}
