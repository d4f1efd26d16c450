//! What the figures were measured on.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The machine, the compiler and the day.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The processor, as it names itself.
    pub cpu: String,
    /// How many threads it runs at once.
    pub threads: usize,
    /// The size of the last level cache, if it is known.
    pub cache: String,
    /// Memory in GiB.
    pub memory_gib: u64,
    /// The operating system.
    pub system: String,
    /// The compiler's version.
    pub rustc: String,
    /// The day, UTC.
    pub date: String,
    /// The average number of busy processes in the minute before the start.
    pub load_before: f64,
    /// What is known of others on the machine, in a sentence.
    pub sharing: String,
}

impl Machine {
    /// Looks at this machine. What cannot be found out is said to be unknown.
    #[must_use]
    pub fn here() -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kib: u64 = field(&memory, "MemTotal")
            .and_then(|text| text.trim_end_matches(" kB").parse().ok())
            .unwrap_or(0);
        Self {
            cpu: field(&info, "model name").unwrap_or("unknown").to_owned(),
            threads: std::thread::available_parallelism().map_or(0, usize::from),
            cache: read_line("/sys/devices/system/cpu/cpu0/cache/index3/size"),
            memory_gib: (kib + (1 << 19)) >> 20,
            system: format!(
                "{} {}",
                std::env::consts::OS,
                read_line("/proc/sys/kernel/osrelease")
            ),
            rustc: env!("PEERS_RUSTC").to_owned(),
            date: today(),
            load_before: load(),
            sharing: String::new(),
        }
    }

    /// Notes whether the run had the machine for itself, from its CPU and wall seconds.
    pub fn note_sharing(&mut self, (cpu, wall): (f64, f64)) {
        let kept = cpu / wall.max(1e-9);
        let quiet = kept > 0.97 && self.load_before < 0.5;
        self.sharing = format!(
            "{}: load {:.2} before the start, {:.0} % of the wall time was CPU time of this run",
            if quiet {
                "Measured on a quiet machine"
            } else {
                "Measured on a shared machine, so trust the ratios more than the times"
            },
            self.load_before,
            kept * 100.0
        );
    }
}

/// Returns how much memory of this process lies in huge pages now, in MiB.
#[must_use]
pub fn huge_mib() -> u64 {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    field(&rollup, "AnonHugePages")
        .and_then(|text| text.trim_end_matches(" kB").trim().parse::<u64>().ok())
        .map_or(0, |kib| kib >> 10)
}

/// Returns the setting of the kernel for transparent huge pages, for example `madvise`.
#[must_use]
pub fn huge_policy() -> String {
    let text = read_line("/sys/kernel/mm/transparent_hugepage/enabled");
    match (text.find('['), text.find(']')) {
        (Some(from), Some(to)) if from < to => text[from + 1..to].to_owned(),
        _ => text,
    }
}

fn load() -> f64 {
    read_line("/proc/loadavg")
        .split(' ')
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(f64::NAN)
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
}

fn read_line(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let days = since.map_or(0, |time| time.as_secs() / 86_400);
    let (year, month, day) = date(days);
    format!("{year}-{month:02}-{day:02}")
}

/// Returns (year, month, day) of the day that is that many days after 1970-01-01.
fn date(mut days: u64) -> (u64, u64, u64) {
    let mut year = 1970;
    loop {
        let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        let length = if leap { 366 } else { 365 };
        if days >= length {
            days -= length;
            year += 1;
            continue;
        }
        let february = if leap { 29 } else { 28 };
        let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        for (month, length) in (1..).zip(months) {
            if days < length {
                return (year, month, days + 1);
            }
            days -= length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(59), (1970, 3, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(20_453), (2025, 12, 31));
    }

    #[test]
    fn fields_are_found_by_their_start() {
        assert_eq!(
            field("a : 1\nmodel name\t: X 9\n", "model name"),
            Some("X 9")
        );
        assert_eq!(field("", "model name"), None);
    }
}
