//! What a run showed, and which goals it missed.

use core::fmt;

use crate::flags::Plan;
use crate::line::Window;
use crate::truth::Agreement;

/// How much longer the slowest ticks may take among hostile clients, in percent.
const HOSTILE_PERCENT: f64 = 5.0;

/// How much more heap may be in use once all have left, in percent. In a small world what QUIC and
/// the tables of the process keep is more than that, so half a megabyte is always allowed.
const HEAP_PERCENT: f64 = 2.0;
const HEAP_BYTES: u64 = 500_000;

/// One tick in so many may not be over when the next one is due.
const OVERRUN_SHARE: f64 = 100.0;

/// One window of a run.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) hostile: usize,
    /// What hostile clients did in it.
    pub(crate) deeds: Vec<(String, u64)>,
    pub(crate) window: Window,
    pub(crate) pop_in_ms: Vec<f64>,
}

/// Everything that a run showed.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) base_heap: u64,
    pub(crate) heap_after: u64,
    pub(crate) samples: Vec<Sample>,
    pub(crate) agreement: Result<Agreement, String>,
    /// Probes spawned, and probes that appeared.
    pub(crate) probes: (u64, u64),
    pub(crate) lost: u64,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            base_heap: 0,
            heap_after: 0,
            samples: Vec::new(),
            agreement: Err("not compared".to_owned()),
            probes: (0, 0),
            lost: 0,
        }
    }
}

impl Report {
    /// Returns what is wrong, and with `plan.check` also what is too slow.
    pub(crate) fn problems(&self, plan: &Plan) -> Vec<String> {
        let mut problems = Vec::new();
        match &self.agreement {
            Err(difference) => {
                problems.push(format!("a client differs from the truth: {difference}"));
            }
            Ok(agreement) if agreement.clients != plan.clients => {
                let compared = agreement.clients;
                problems.push(format!(
                    "{compared} of {} clients were compared",
                    plan.clients
                ));
            }
            Ok(_) => {}
        }
        self.idleness(&mut problems);
        let (spawned, appeared) = self.probes;
        if spawned != appeared {
            problems.push(format!(
                "{spawned} probes were spawned, {appeared} appeared"
            ));
        }
        if self.lost > 0 {
            problems.push(format!("{} healthy connections were lost", self.lost));
        }
        let more = self.heap_after.saturating_sub(self.base_heap);
        if self.heap_growth() > HEAP_PERCENT && more > HEAP_BYTES {
            let growth = self.heap_growth();
            problems.push(format!(
                "the heap is {growth:.1} % larger after all left, at most {HEAP_PERCENT} % is the goal"
            ));
        }
        if plan.check {
            self.slowness(&mut problems);
        }
        problems
    }

    /// Names the kinds of hostile clients that did nothing: a window without them shows nothing.
    fn idleness(&self, problems: &mut Vec<String>) {
        for (sample, number) in self.samples.iter().zip(1..) {
            // With fewer clients than kinds, the last kinds have none.
            let kinds = sample.deeds.iter().take(sample.hostile);
            for (kind, _) in kinds.filter(|(_, deeds)| *deeds == 0) {
                problems.push(format!("window {number}: no hostile client of kind {kind}"));
            }
            if sample.hostile > 0 && sample.deeds.is_empty() {
                problems.push(format!("window {number}: no hostile client did anything"));
            }
        }
    }

    fn slowness(&self, problems: &mut Vec<String>) {
        if let Some(more) = self.hostile_cost()
            && more > HOSTILE_PERCENT
        {
            problems.push(format!(
                "tick CPU p99 is {more:+.1} % among hostile clients, at most {HOSTILE_PERCENT} % is the goal"
            ));
        }
        for (sample, number) in self.samples.iter().zip(1..) {
            let (ticks, late) = (sample.window.ticks_us.len(), sample.window.overruns);
            if late as f64 > ticks as f64 / OVERRUN_SHARE {
                problems.push(format!(
                    "window {number}: {late} of {ticks} ticks took too long"
                ));
            }
        }
    }

    fn heap_growth(&self) -> f64 {
        (self.heap_after as f64 / self.base_heap as f64 - 1.0) * 100.0
    }

    /// Returns by how many percent the 99th percentile is higher among hostile clients.
    fn hostile_cost(&self) -> Option<f64> {
        let (healthy, among) = (self.pooled_p99(false)?, self.pooled_p99(true)?);
        Some((among / healthy - 1.0) * 100.0)
    }

    fn pooled_p99(&self, hostile: bool) -> Option<f64> {
        let samples = self.samples.iter().filter(|s| (s.hostile > 0) == hostile);
        let ticks: Vec<f64> = samples.flat_map(|s| s.window.ticks_ms()).collect();
        (!ticks.is_empty()).then(|| percentile(&ticks, 99.0))
    }
}

impl Window {
    fn ticks_ms(&self) -> impl Iterator<Item = f64> + '_ {
        self.ticks_us.iter().map(|&us| f64::from(us) / 1e3)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (sample, number) in self.samples.iter().zip(1..) {
            writeln!(f)?;
            match sample.hostile {
                0 => writeln!(f, "window {number}, healthy clients alone")?,
                n => writeln!(f, "window {number}, {n} hostile clients among them")?,
            }
            sample.fmt(f, self.base_heap)?;
        }
        writeln!(f)?;
        if let Ok(Agreement { clients, entities }) = self.agreement {
            writeln!(
                f,
                "converged: {clients} clients with {entities} entities equal the truth"
            )?;
        }
        let (spawned, appeared) = self.probes;
        writeln!(
            f,
            "lost: {} connections, {} of {spawned} probes",
            self.lost,
            spawned.saturating_sub(appeared)
        )?;
        writeln!(
            f,
            "heap: {} without clients, {} after all left ({:+.2} %)",
            megabytes(self.base_heap),
            megabytes(self.heap_after),
            self.heap_growth()
        )?;
        if let (Some(healthy), Some(among), Some(more)) = (
            self.pooled_p99(false),
            self.pooled_p99(true),
            self.hostile_cost(),
        ) {
            writeln!(
                f,
                "tick CPU p99: {healthy:.2} ms alone, {among:.2} ms among hostile clients ({more:+.1} %)"
            )?;
        }
        Ok(())
    }
}

impl Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>, base_heap: u64) -> fmt::Result {
        let window = &self.window;
        let ticks: Vec<f64> = window.ticks_ms().collect();
        let at = |values: &[f64], percent| percentile(values, percent);
        let clients = window.clients.max(1) as f64;
        let rate = |bytes: u64| bytes as f64 / window.seconds / clients / 1e3;
        writeln!(
            f,
            "  tick CPU   p50 {:.2} ms, p99 {:.2} ms, longest {:.2} ms; {} ticks, {} overruns",
            at(&ticks, 50.0),
            at(&ticks, 99.0),
            at(&ticks, 100.0),
            ticks.len(),
            window.overruns
        )?;
        writeln!(
            f,
            "  process    {:.0} % of a core, sockets, encryption and the game's own part included",
            window.process_seconds / window.seconds * 100.0
        )?;
        writeln!(
            f,
            "  a client   {:.2} kB/s on the wire ({:.2} of state), {:.0} kB of live heap",
            rate(window.wire_bytes),
            rate(window.state_bytes),
            window.heap.saturating_sub(base_heap) as f64 / clients / 1e3
        )?;
        writeln!(
            f,
            "  pop-in     p50 {:.0} ms, p99 {:.0} ms, longest {:.0} ms; {} probes",
            at(&self.pop_in_ms, 50.0),
            at(&self.pop_in_ms, 99.0),
            at(&self.pop_in_ms, 100.0),
            self.pop_in_ms.len()
        )?;
        if !self.deeds.is_empty() {
            let deeds: Vec<String> = self.deeds.iter().map(|(k, n)| format!("{k} {n}")).collect();
            writeln!(f, "  deeds      {}", deeds.join(", "))?;
        }
        Ok(())
    }
}

/// Returns the value that so many percent of all do not exceed; 0 of none.
fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as f64 * percent / 100.0).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan = Plan {
        clients: 1,
        entities: 1,
        seconds: 1,
        hostile: 1,
        check: true,
    };

    fn sample(hostile: usize, tick_us: u32, overruns: u64) -> Sample {
        Sample {
            hostile,
            deeds: vec![("Flood".to_owned(), 9); hostile],
            window: Window {
                ticks_us: vec![tick_us; 100],
                overruns,
                ..Window::default()
            },
            pop_in_ms: vec![50.0],
        }
    }

    fn good() -> Report {
        Report {
            base_heap: 100_000_000,
            heap_after: 101_900_000,
            samples: vec![sample(0, 1_000, 1), sample(1, 1_049, 0)],
            agreement: Ok(Agreement {
                clients: 1,
                ..Agreement::default()
            }),
            probes: (7, 7),
            lost: 0,
        }
    }

    #[test]
    fn a_good_run_misses_nothing() {
        assert_eq!(good().problems(&PLAN), [""; 0]);
    }

    #[test]
    fn each_goal_can_be_missed() {
        let missed = |change: fn(&mut Report)| {
            let mut report = good();
            change(&mut report);
            report.problems(&PLAN).join("; ")
        };
        let larger = missed(|r| r.heap_after = 102_100_000);
        assert!(larger.starts_with("the heap is 2.1 % larger"), "{larger}");
        assert!(missed(|r| r.probes.1 = 6).contains("6 appeared"));
        assert!(missed(|r| r.lost = 1).contains("1 healthy connections"));
        assert!(missed(|r| r.agreement = Err("lacks 1".to_owned())).contains("lacks 1"));
        assert!(missed(|r| r.agreement = Ok(Agreement::default())).contains("0 of 1 clients"));
        assert!(missed(|r| r.samples[1].deeds[0].1 = 0).contains("window 2: no hostile client of"));
        assert!(missed(|r| r.samples[1].deeds.clear()).contains("did anything"));
        assert!(missed(|r| r.samples[1] = sample(1, 1_051, 0)).contains("+5.1 %"));
        assert!(missed(|r| r.samples[0].window.overruns = 2).contains("window 1: 2 of 100 ticks"));
    }

    #[test]
    fn speed_counts_only_when_asked() {
        let mut report = good();
        report.samples.push(sample(1, 9_000, 50));
        let plan = Plan {
            check: false,
            ..PLAN
        };
        assert_eq!(report.problems(&plan), [""; 0]);
        assert_eq!(report.problems(&PLAN).len(), 2);
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(percentile(&values, 50.0), 100.0);
        assert_eq!(percentile(&values, 99.0), 198.0);
        assert_eq!(percentile(&values, 100.0), 200.0);
        assert_eq!(percentile(&[], 99.0), 0.0);
    }
}
