//! Timing and the table.

use core::fmt;
use core::time::Duration;

use cpu_time::ProcessTime;

/// One line of the table.
pub(crate) struct Row {
    pub(crate) name: String,
    /// The seed's figure, if it has one, in milliseconds: an upper limit for ours.
    pub(crate) seed_ms: Option<f64>,
    pub(crate) ours: Duration,
    /// What ours is compared with, measured in the same run.
    pub(crate) baseline: Option<(&'static str, Duration)>,
    /// The least ratio of baseline to ours.
    pub(crate) ratio_goal: Option<f64>,
    pub(crate) note: String,
}

impl Row {
    pub(crate) fn ratio(&self) -> Option<f64> {
        let (_, baseline) = self.baseline?;
        Some(baseline.as_secs_f64() / self.ours.as_secs_f64())
    }

    pub(crate) fn goals(&self) -> usize {
        usize::from(self.seed_ms.is_some()) + usize::from(self.ratio_goal.is_some())
    }

    pub(crate) fn goals_met(&self) -> bool {
        let in_time = self
            .seed_ms
            .is_none_or(|limit| self.ours.as_secs_f64() * 1_000.0 < limit);
        let ahead = self
            .ratio_goal
            .is_none_or(|goal| self.ratio().is_some_and(|ratio| ratio >= goal));
        in_time && ahead
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<34} {:>10.3} ms",
            self.name,
            self.ours.as_secs_f64() * 1_000.0
        )?;
        match self.seed_ms {
            Some(limit) => write!(f, "  seed {limit:>5} ms")?,
            None => write!(f, "               ")?,
        }
        if let (Some((name, time)), Some(ratio)) = (self.baseline, self.ratio()) {
            write!(
                f,
                "  {name} {:.3} ms = {ratio:.1}x",
                time.as_secs_f64() * 1_000.0
            )?;
        }
        if let Some(goal) = self.ratio_goal {
            write!(f, " (goal {goal}x)")?;
        }
        write!(f, "  {}", self.note)
    }
}

/// Runs several jobs in turn, `repeats` times, and returns the shortest CPU time of each.
pub(crate) fn interleaved<const N: usize>(
    repeats: usize,
    mut jobs: [&mut dyn FnMut(); N],
) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..repeats {
        for (job, best) in jobs.iter_mut().zip(&mut best) {
            let before = ProcessTime::now();
            job();
            *best = before.elapsed().min(*best);
        }
    }
    best
}

pub(crate) fn json(rows: &[Row], quick: bool) -> String {
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            serde_json::json!({
                "name": row.name,
                "ms": row.ours.as_secs_f64() * 1_000.0,
                "seed_ms": row.seed_ms,
                "baseline": row.baseline.map(|(name, _)| name),
                "baseline_ms": row.baseline.map(|(_, time)| time.as_secs_f64() * 1_000.0),
                "ratio": row.ratio(),
                "ratio_goal": row.ratio_goal,
                "goals_met": row.goals_met(),
                "note": row.note,
            })
        })
        .collect();
    serde_json::json!({ "bench": "seeds", "quick": quick, "rows": rows }).to_string()
}

/// SplitMix64, so that every run sees the same world.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    /// A coordinate in `-half..half`.
    pub(crate) fn around_zero(&mut self, half: u64) -> i128 {
        i128::from(self.below(2 * half)) - i128::from(half)
    }
}
