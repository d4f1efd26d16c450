//! The same scenario without a window: plain lines or JSON, for people, tests and recordings.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::args::{Limit, Options};
use crate::world::TICKS_PER_SECOND;
use crate::{EXIT_DIFFERS, EXIT_OK, Reading, Show};

/// How long the terminal runs when no limit is given.
pub const DEFAULT_SECONDS: u64 = 10;

/// What a whole run showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How many ticks ran.
    pub ticks: u64,
    /// Whether the index and the brute force named the same entities in every tick.
    pub identical: bool,
    /// How many ticks the clients took, in a world that stood still, to have the truth; `None` when one
    /// of them still differed at the end.
    pub settled: Option<u32>,
}

impl Verdict {
    /// Returns what the process tells its caller: 0 when every answer agreed and every client had the
    /// truth, else 1.
    #[must_use]
    pub const fn exit_status(self) -> u8 {
        if self.identical && self.settled.is_some() {
            EXIT_OK
        } else {
            EXIT_DIFFERS
        }
    }
}

/// Steps the scenario and writes one line per tick; then lets the world stand still until every client
/// has the truth, and writes a summary.
///
/// With a tick limit the output holds no time and is the same in every run. With a limit in seconds
/// the world keeps pace with the clock.
///
/// # Errors
/// When a line cannot be written.
///
/// ```
/// use nebula_demo::args::{Limit, Options};
/// use nebula_demo::{Scenario, headless};
///
/// let options = Options {
///     limit: Limit::Ticks { ticks: 3, hold: false },
///     ..Options::default()
/// };
/// let mut out = Vec::new();
/// let verdict = headless::run(&mut Scenario::Border.show(1), &options, &mut out)?;
/// assert!(verdict.identical && verdict.settled.is_some());
/// assert_eq!(String::from_utf8(out)?.lines().count(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    show: &mut Show,
    options: &Options,
    out: &mut dyn Write,
) -> Result<Verdict, std::io::Error> {
    let (ticks, real_time) = match options.limit {
        Limit::Ticks { ticks, .. } => (ticks, false),
        Limit::Seconds(seconds) => (seconds * u64::from(TICKS_PER_SECOND), true),
        Limit::None => (DEFAULT_SECONDS * u64::from(TICKS_PER_SECOND), true),
    };
    let start = Instant::now();
    let mut identical = true;
    for tick in 1..=ticks {
        show.step();
        let reading = show.measure();
        identical &= reading.identical && show.extra().is_none_or(|extra| extra.identical);
        let line = if options.json {
            json_line(show, &reading)
        } else {
            plain_line(show, &reading)
        };
        writeln!(out, "{line}")?;
        if real_time {
            out.flush()?;
            wait_until(start, tick);
        }
    }
    let verdict = Verdict {
        ticks,
        identical,
        settled: show.settle(),
    };
    writeln!(out, "{}", summary(show, verdict, options.json))?;
    out.flush()?;
    Ok(verdict)
}

/// Sleeps until the tick is over. A late tick is not waited for, so that a slow machine catches up.
fn wait_until(start: Instant, tick: u64) {
    let due = Duration::from_secs(1)
        .saturating_mul(u32::try_from(tick).unwrap_or(u32::MAX))
        .div_f64(f64::from(TICKS_PER_SECOND));
    std::thread::sleep(due.saturating_sub(start.elapsed()));
}

/// Returns the words of the window title: `Nearby: 42 entities`.
///
/// ```
/// assert_eq!(nebula_demo::headless::title(42), "Nearby: 42 entities");
/// ```
#[must_use]
pub fn title(nearby: usize) -> String {
    format!("Nearby: {nearby} entities")
}

fn plain_line(show: &Show, reading: &Reading) -> String {
    let world = show.world();
    let mut line = format!(
        "{} (tick {}, within {} m of {}; brute force {}, identical: {}; clients see {}, {} B/s)",
        title(reading.index),
        reading.tick,
        metres(world.radius_mm()),
        world.entities(),
        reading.brute_force,
        yes(reading.identical),
        per_client(show, |client| show.network().sight(client).len()),
        per_client(show, |client| show
            .network()
            .meter(client)
            .state_per_second()),
    );
    if let Some(extra) = show.extra() {
        line.push_str(&format!("; {}", extra.words));
    }
    line
}

/// A figure of each client, as in "12 / 7 / 1".
fn per_client<T: ToString>(show: &Show, figure: impl Fn(usize) -> T) -> String {
    let figures: Vec<_> = (0..show.network().clients())
        .map(|client| figure(client).to_string())
        .collect();
    figures.join(" / ")
}

fn json_line(show: &Show, reading: &Reading) -> String {
    let world = show.world();
    let at = world.player();
    let clients: Vec<_> = (0..show.network().clients())
        .map(|client| {
            let meter = show.network().meter(client);
            format!(
                r#"{{"sees":{},"state_bytes_per_second":{},"wire_bytes_per_second":{}}}"#,
                show.network().sight(client).len(),
                meter.state_per_second(),
                meter.wire_per_second()
            )
        })
        .collect();
    // Coordinates are strings: JSON readers keep numbers as f64, which cannot hold them.
    format!(
        r#"{{"tick":{},"nearby":{},"brute_force":{},"identical":{},"entities":{},"radius_mm":{},"player_mm":["{}","{}","{}"],"clients":[{}]}}"#,
        reading.tick,
        reading.index,
        reading.brute_force,
        reading.identical,
        world.entities(),
        world.radius_mm(),
        at.x,
        at.y,
        at.z,
        clients.join(",")
    )
}

fn summary(show: &Show, verdict: Verdict, json: bool) -> String {
    let Verdict {
        ticks,
        identical,
        settled,
    } = verdict;
    if json {
        let settled = settled.map_or("null".to_owned(), |ticks| ticks.to_string());
        return format!(
            r#"{{"ticks":{ticks},"all_identical":{identical},"settled_in_ticks":{settled}}}"#
        );
    }
    let clients = match settled {
        Some(more) => format!("clients equal the truth: yes, {more} ticks later"),
        None => format!(
            "clients equal the truth: NO, entities that differ: {}",
            per_client(show, |client| show.network().differences(client).total())
        ),
    };
    format!(
        "{ticks} ticks of {} entities; {clients}; index and brute force identical: {}",
        show.world().entities(),
        yes(identical)
    )
}

/// Returns "yes" or "NO", loud enough to be seen in a long list.
#[must_use]
pub const fn yes(ok: bool) -> &'static str {
    if ok { "yes" } else { "NO" }
}

/// Returns millimetres as metres, exactly, without trailing zeros.
///
/// ```
/// use nebula_demo::headless::metres;
///
/// assert_eq!(metres(100_000), "100");
/// assert_eq!(metres(-1_050), "-1.05");
/// ```
#[must_use]
pub fn metres(mm: i128) -> String {
    let sign = if mm < 0 { "-" } else { "" };
    let (whole, part) = (mm.unsigned_abs() / 1_000, mm.unsigned_abs() % 1_000);
    if part == 0 {
        return format!("{sign}{whole}");
    }
    let part = format!("{part:03}");
    format!("{sign}{whole}.{}", part.trim_end_matches('0'))
}
