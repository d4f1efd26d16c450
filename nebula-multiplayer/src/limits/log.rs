//! How many lines a stranger can make us write into the log.

use core::time::Duration;

use crate::session::Bucket;

/// Kinds that there is room for from the start, so that none allocates when it is first needed.
const KINDS: usize = 32;

/// How many seconds of its rate a kind of line may use at once.
const BURST: u32 = 2;

/// Caps the lines of a log, each kind of line on its own, so that whoever causes many of one kind
/// cannot hide another. Knows no clock: the time comes in.
///
/// What is left out is counted, and the next line of its kind says how many there were.
///
/// ```
/// use core::time::Duration;
/// use nebula_multiplayer::limits::LogCap;
///
/// let mut cap = LogCap::new(1);
/// let now = Duration::ZERO;
/// assert_eq!(cap.admit("a login was refused", now), Some(0));
/// assert_eq!(cap.admit("a login was refused", now), Some(0), "two seconds' worth at once");
/// assert_eq!(cap.admit("a login was refused", now), None);
/// assert_eq!(cap.admit("client gone", now), Some(0), "another kind");
/// let later = Duration::from_secs(1);
/// assert_eq!(cap.admit("a login was refused", later), Some(1), "one was left out");
/// assert_eq!(cap.suppressed(), 1, "in all");
/// ```
#[derive(Debug)]
pub struct LogCap {
    rate: u32,
    // Kinds are texts in our own code, so there is a handful.
    kinds: Vec<Kind>,
    suppressed: u64,
}

#[derive(Debug)]
struct Kind {
    text: &'static str,
    lines: Bucket,
    /// Left out since the last line.
    suppressed: u64,
}

impl LogCap {
    /// Returns a cap of so many lines of each kind a second, and twice as many at once.
    #[must_use]
    pub fn new(lines_per_second: u32) -> Self {
        Self {
            rate: lines_per_second,
            kinds: Vec::with_capacity(KINDS),
            suppressed: 0,
        }
    }

    /// Returns how many lines of this kind were left out since the last one, if one may be written
    /// now. Otherwise counts it as left out.
    pub fn admit(&mut self, kind: &'static str, now: Duration) -> Option<u64> {
        let known = self.kinds.iter().position(|known| known.text == kind);
        let at = known.unwrap_or_else(|| {
            self.kinds.push(Kind {
                text: kind,
                lines: Bucket::new(self.rate, self.rate.saturating_mul(BURST), now),
                suppressed: 0,
            });
            self.kinds.len().saturating_sub(1)
        });
        let kind = self.kinds.get_mut(at)?;
        kind.lines.refill(now);
        if kind.lines.take(1) {
            return Some(core::mem::take(&mut kind.suppressed));
        }
        kind.suppressed = kind.suppressed.saturating_add(1);
        self.suppressed = self.suppressed.saturating_add(1);
        None
    }

    /// Returns how many lines were left out since the start.
    #[must_use]
    pub const fn suppressed(&self) -> u64 {
        self.suppressed
    }
}

/// Logs a line if the cap has room for one more of its kind, which is its text.
macro_rules! capped {
    ($cap:expr, $now:expr, $level:ident, { $($fields:tt)* }, $text:literal) => {
        if let Some(suppressed) = $cap.admit($text, $now) {
            tracing::$level!(suppressed, $($fields)* $text);
        }
    };
}
pub(crate) use capped;
