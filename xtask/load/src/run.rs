//! Starts the processes, takes the measurements, and judges them.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result};

use crate::child::Child;
use crate::flags::Plan;
use crate::line::{Line, Order, Served, Swarm};
use crate::report::{Report, Sample, megabytes};
use crate::truth;

const SECOND: Duration = Duration::from_secs(1);

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// From the last movement to the comparison: packets under way arrive, lost ones are sent again.
const CALM: Duration = Duration::from_secs(4);

/// Before each window: newcomers have their first view, and hostile ones begin.
const SETTLE: Duration = Duration::from_secs(3);

/// For how many seconds a server has been without clients when its heap is read.
const EMPTY_SECONDS: u32 = 5;

pub(crate) fn run(plan: &Plan) -> Result<ExitCode> {
    let report = Crew::start(plan)?.measure(plan)?;
    print!("{report}");
    let problems = report.problems(plan);
    for problem in &problems {
        println!("missed: {problem}");
    }
    println!(
        "load: {}",
        if problems.is_empty() { "ok" } else { "FAILED" }
    );
    Ok(if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The processes of one run.
struct Crew {
    server: Child,
    swarm: Child,
    /// The words that tell others how to reach the server.
    way: [String; 2],
    /// The core of all but the server.
    other_core: Option<usize>,
    report: Report,
}

impl Crew {
    fn start(plan: &Plan) -> Result<Self> {
        let (core, other_core) = cores();
        match core {
            Some(_) => println!("server on core 0, clients on core 1"),
            None => println!("not pinned: needs two cores and taskset"),
        }
        // Hostile clients come back while their last connection is not over yet.
        let connections = plan.clients + 8 * plan.hostile + 64;
        let words = [plan.entities.to_string(), connections.to_string()];
        let mut server = Child::start("server", core, &words)?;
        let (address, fingerprint, base) =
            server.wait_for("its world is there", PATIENCE, |line| match line {
                Line::Ready {
                    address,
                    fingerprint,
                    heap,
                } => Some((address, fingerprint, heap)),
                _ => None,
            })?;
        println!(
            "server: {} entities, live heap {}",
            plan.entities,
            megabytes(base)
        );
        let way = [address.to_string(), fingerprint];
        let mut words = way.to_vec();
        words.extend([plan.clients.to_string(), plan.entities.to_string()]);
        let swarm = Child::start("swarm", other_core, &words)?;
        Ok(Self {
            server,
            swarm,
            way,
            other_core,
            report: Report {
                base_heap: base,
                ..Report::default()
            },
        })
    }

    fn measure(mut self, plan: &Plan) -> Result<Report> {
        self.wait_for_all(plan.clients)?;
        self.window(plan, 0)?;
        if plan.hostile > 0 {
            for hostile in [plan.hostile, 0, plan.hostile] {
                self.window(plan, hostile)?;
            }
        }
        self.compare()?;
        self.let_all_leave()
    }

    fn wait_for_all(&mut self, clients: usize) -> Result<()> {
        // Some forty join in a second; a minute more for a slow machine.
        let patience = PATIENCE + SECOND * u32::try_from(clients / 20)?;
        self.swarm.wait_for("all have joined", patience, |line| {
            let Line::Swarm(swarm) = line else {
                return None;
            };
            println!("joined {} of {clients}, {} lost", swarm.joined, swarm.lost);
            (swarm.joined == clients).then_some(())
        })
    }

    /// Measures for as long as planned, with so many hostile clients.
    fn window(&mut self, plan: &Plan, hostile: usize) -> Result<()> {
        let villains = (hostile > 0).then(|| self.villains(hostile)).transpose()?;
        if hostile == 0 {
            self.wait_until_alone(plan.clients)?;
        }
        std::thread::sleep(SETTLE);
        self.server.order(&Order::Measure)?;
        self.swarm.order(&Order::Measure)?;
        for second in 1..=plan.seconds {
            std::thread::sleep(SECOND);
            if second % 10 == 0 || plan.seconds < 10 {
                self.show(second, plan.seconds)?;
            }
        }
        self.server.order(&Order::Report)?;
        self.swarm.order(&Order::Report)?;
        let window = self
            .server
            .wait_for("its window", PATIENCE, |line| match line {
                Line::Window(window) => Some(window),
                _ => None,
            })?;
        let pop_in_ms = self
            .swarm
            .wait_for("its window", PATIENCE, |line| match line {
                Line::PopIn { ms } => Some(ms),
                _ => None,
            })?;
        let deeds = villains.map(end_villains).transpose()?;
        self.report.samples.push(Sample {
            hostile,
            deeds: deeds.unwrap_or_default(),
            window,
            pop_in_ms,
        });
        Ok(())
    }

    /// Waits until the server has forgotten the hostile clients of the window before.
    fn wait_until_alone(&mut self, clients: usize) -> Result<()> {
        let alone = |line| match line {
            Line::Served(served) => (served.held <= clients).then_some(()),
            _ => None,
        };
        self.server
            .wait_for("hostile clients are forgotten", 2 * PATIENCE, alone)
    }

    fn villains(&self, count: usize) -> Result<Child> {
        let mut words = self.way.to_vec();
        words.push(count.to_string());
        let mut child = Child::start("hostile", self.other_core, &words)?;
        child.wait_for("they begin", PATIENCE, |line| {
            matches!(line, Line::Done).then_some(())
        })?;
        Ok(child)
    }

    fn show(&mut self, second: u64, of: u64) -> Result<()> {
        let served = self.served()?;
        let swarm = self.stands()?;
        println!(
            "{second:>4} of {of} s: {} clients, {} mirrored, longest tick of the last second \
             {:.1} ms, heap {}, {} lost",
            served.clients,
            swarm.mirrored,
            served.longest_tick_ms,
            megabytes(served.heap),
            swarm.lost
        );
        Ok(())
    }

    /// Lets everything stand still and compares every client with the truth.
    fn compare(&mut self) -> Result<()> {
        self.swarm.order(&Order::Freeze)?;
        std::thread::sleep(SECOND);
        self.server.order(&Order::Freeze)?;
        std::thread::sleep(CALM);
        let folder = Scratch::new()?;
        let (truth, mirrors) = (folder.0.join("truth"), folder.0.join("mirrors"));
        dump(&mut self.server, &truth)?;
        dump(&mut self.swarm, &mirrors)?;
        self.report.agreement = truth::compare(&truth, &mirrors).map_err(|e| format!("{e:#}"));
        Ok(())
    }

    fn let_all_leave(mut self) -> Result<Report> {
        let (server, swarm) = (self.served()?, self.stands()?);
        self.report.probes = (server.probes, swarm.probes);
        self.report.lost = swarm.lost;
        self.swarm.quit()?;
        // Sessions of hostile clients that are gone without a word wait for them to come back, and
        // QUIC keeps a connection for some seconds more, to answer packets that are late.
        let mut calm = 0;
        self.report.heap_after =
            self.server
                .wait_for("all are gone", 2 * PATIENCE, |line| match line {
                    Line::Served(served) => {
                        let empty = served.held == 0 && served.connections == 0;
                        calm = if empty { calm + 1 } else { 0 };
                        (calm == EMPTY_SECONDS).then_some(served.heap)
                    }
                    _ => None,
                })?;
        self.server.quit()?;
        Ok(self.report)
    }

    fn served(&mut self) -> Result<Served> {
        let pick = |line| match line {
            Line::Served(served) => Some(served),
            _ => None,
        };
        match self.server.latest(pick) {
            Some(served) => Ok(served),
            None => self.server.wait_for("how it goes", PATIENCE, pick),
        }
    }

    fn stands(&mut self) -> Result<Swarm> {
        let pick = |line| match line {
            Line::Swarm(swarm) => Some(swarm),
            _ => None,
        };
        match self.swarm.latest(pick) {
            Some(swarm) => Ok(swarm),
            None => self.swarm.wait_for("how it goes", PATIENCE, pick),
        }
    }
}

fn end_villains(mut villains: Child) -> Result<Vec<(String, u64)>> {
    villains.order(&Order::Quit)?;
    villains.wait_for("what they did", PATIENCE, |line| match line {
        Line::Hostile { deeds } => Some(deeds),
        _ => None,
    })
}

fn dump(child: &mut Child, file: &Path) -> Result<()> {
    child.order(&Order::Dump(file.display().to_string()))?;
    child.wait_for("its dump", PATIENCE, |line| {
        matches!(line, Line::Done).then_some(())
    })
}

/// Returns the core of the server and that of all others, where there are two and `taskset` works.
fn cores() -> (Option<usize>, Option<usize>) {
    let works = |core: &str| {
        Command::new("taskset")
            .args(["-c", core, "true"])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    if works("0") && works("1") {
        (Some(0), Some(1))
    } else {
        (None, None)
    }
}

/// A folder that is gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let name = format!("nebula-load-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
