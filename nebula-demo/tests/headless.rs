//! The terminal twin: computed counts, the same output in every run, and an exit status to trust.

use core::ops::ControlFlow;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use nebula_coords::{LinearIndex, Region, SpatialQuery};
use nebula_demo::args::{Limit, Options};
use nebula_demo::world::NearIndex;
use nebula_demo::{EXIT_DIFFERS, EXIT_OK, Scenario, Show, World, headless};
use nebula_math::WorldPosition;

fn demo(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nebula-demo"))
        .args(line.split_whitespace())
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .expect("the demo starts")
}

fn text(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).expect("the demo prints text")
}

/// The N of `Nearby: N entities`.
fn nearby(line: &str) -> Option<usize> {
    line.strip_prefix("Nearby: ")?
        .split_once(" entities")?
        .0
        .parse()
        .ok()
}

#[test]
fn two_hundred_ticks_agree_and_repeat() {
    let first = demo("--headless --ticks 200 --seed 7");
    assert_eq!(first.status.code(), Some(0));
    let lines: Vec<_> = text(&first.stdout).lines().collect();
    let counts: Vec<_> = lines.iter().filter_map(|l| nearby(l)).collect();
    assert_eq!(counts.len(), 200);
    assert!(counts.iter().all(|n| *n > 0), "{counts:?}");
    assert!(counts.iter().any(|n| *n != counts[0]), "nothing moved");
    assert!(lines[200].ends_with("identical: yes"), "{}", lines[200]);
    assert_eq!(first, demo("--headless --ticks 200 --seed 7"));
    assert_ne!(first, demo("--headless --ticks 200 --seed 8"));
}

#[test]
fn printed_count_is_the_number_of_entities_within_100_m() {
    let mut world = Scenario::Counter.build(7);
    for _ in 0..50 {
        world.step();
    }
    let player = world.player();
    let expected = world
        .places()
        .iter()
        .filter(|at| {
            let square = |a: i128, b: i128| a.abs_diff(b).pow(2);
            let [x, y, z] = [
                square(at.x, player.x),
                square(at.y, player.y),
                square(at.z, player.z),
            ];
            x + y + z <= 100_000_u128.pow(2)
        })
        .count();
    let output = demo("--headless --ticks 50 --seed 7");
    let last = text(&output.stdout).lines().nth(49).unwrap();
    assert_eq!(nearby(last), Some(expected), "{last}");
}

#[test]
fn json_lines_hold_the_same_counts() {
    let plain = demo("--headless --ticks 20");
    let json = demo("--json --ticks 20");
    assert_eq!(json.status.code(), Some(0));
    for (plain, json) in text(&plain.stdout).lines().zip(text(&json.stdout).lines()) {
        assert!(json.starts_with('{') && json.ends_with('}'), "{json}");
        if let Some(n) = nearby(plain) {
            assert!(json.contains(&format!("\"nearby\":{n},")), "{plain} {json}");
        }
    }
    assert_eq!(json, demo("--json --ticks 20"));
}

#[test]
fn seconds_are_real_time() {
    let start = Instant::now();
    let output = demo("--headless --seconds 1");
    assert_eq!(output.status.code(), Some(0));
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(text(&output.stdout).lines().count(), 21);
}

/// An index that loses the moves of every second entity.
#[derive(Default)]
struct Forgetful(LinearIndex<u32>);

impl SpatialQuery for Forgetful {
    type Id = u32;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn position(&self, id: u32) -> Option<WorldPosition> {
        self.0.position(id)
    }

    fn visit(
        &self,
        region: &Region,
        f: &mut dyn FnMut(&[u32]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.0.visit(region, f)
    }

    fn nearest(&self, at: &WorldPosition, k: usize, limit_mm: i128, out: &mut Vec<u32>) {
        self.0.nearest(at, k, limit_mm, out);
    }
}

impl NearIndex for Forgetful {
    fn insert_all(&mut self, new: &[(u32, WorldPosition)]) {
        for (id, at) in new {
            self.0.insert(*id, *at);
        }
    }

    fn move_all(&mut self, moves: &[(u32, WorldPosition)]) {
        for (id, at) in moves.iter().filter(|(id, _)| id % 2 == 0) {
            self.0.update(*id, *at);
        }
    }

    fn forget(&mut self, id: u32) {
        self.0.remove(id);
    }
}

#[test]
fn an_index_that_loses_moves_is_caught() {
    let options = Options {
        limit: Limit::Ticks {
            ticks: 100,
            hold: false,
        },
        ..Options::default()
    };
    let world = World::with_index(1, 1_000, 100_000, Box::new(Forgetful::default()));
    let mut show = Show::new(Scenario::Counter, 1, world);
    let mut out = Vec::new();
    let verdict = headless::run(&mut show, &options, &mut out).unwrap();
    assert_eq!(verdict.exit_status(), EXIT_DIFFERS);
    assert!(text(&out).contains("identical: NO"));
}

#[test]
fn every_scenario_ends_with_the_truth_and_repeats() {
    for scenario in Scenario::ALL {
        // The city takes its time without optimisation; its clients are the same.
        let ticks = if *scenario == Scenario::City { 20 } else { 200 };
        let line = format!("--headless --ticks {ticks} --scenario {}", scenario.name());
        let first = demo(&line);
        let last = text(&first.stdout).lines().last().unwrap_or_default();
        assert_eq!(first.status.code(), Some(0), "{scenario:?}: {last}");
        assert!(last.contains("clients equal the truth: yes"), "{last}");
        assert!(last.ends_with("identical: yes"), "{last}");
        assert_eq!(first, demo(&line), "{scenario:?} does not repeat");
    }
}

#[test]
fn the_far_client_is_sent_no_state() {
    let output = demo("--headless --ticks 100");
    let line = text(&output.stdout).lines().nth(99).unwrap();
    assert!(line.contains(" / 0 B/s)"), "{line}");
}

#[test]
fn a_broken_client_is_caught() {
    let options = Options {
        limit: Limit::Ticks {
            ticks: 20,
            hold: false,
        },
        ..Options::default()
    };
    let run = |show: &mut Show| {
        let mut out = Vec::new();
        let verdict = headless::run(show, &options, &mut out).unwrap();
        (verdict.exit_status(), text(&out).to_owned())
    };
    let (status, lines) = run(&mut Scenario::Counter.show(1));
    assert_eq!(status, EXIT_OK, "{lines}");
    let mut show = Scenario::Counter.show(1);
    show.network_mut().tamper(1);
    let (status, lines) = run(&mut show);
    assert_eq!(status, EXIT_DIFFERS, "{lines}");
    assert!(lines.contains("truth: NO, entities that differ: 0 / 1 / 0"));
}

#[test]
fn changing_the_number_of_entities_disturbs_nobody_else() {
    let mut small = World::new(5, 100, 100_000);
    let mut large = World::new(5, 300, 100_000);
    for _ in 0..30 {
        small.step();
        large.step();
    }
    assert_eq!(small.places(), &large.places()[..100]);
    large.set_entities(100);
    assert_eq!(small.places(), large.places());
    assert!(large.measure().identical);
    assert_eq!(small.measure().index, large.measure().index);
}

#[test]
fn without_a_display_the_terminal_takes_over() {
    let output = demo("--ticks 3");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout).lines().count(), 4);
    let sentence = "No window: neither DISPLAY nor WAYLAND_DISPLAY is set. \
                    The same scenario runs here in the terminal.";
    assert_eq!(text(&output.stderr).trim(), sentence);
}

#[cfg(target_os = "linux")]
#[test]
fn dead_display_is_one_sentence_and_the_terminal() {
    let output = Command::new(env!("CARGO_BIN_EXE_nebula-demo"))
        .args(["--ticks", "3"])
        .env("DISPLAY", ":64999")
        .env("WAYLAND_DISPLAY", "/nonexistent/wayland-0")
        .output()
        .expect("the demo starts");
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(message.starts_with("No window: "), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(!message.contains(".rs"), "our own words: {message}");
    assert_eq!(text(&output.stdout).lines().count(), 4);
}

#[test]
fn screenshot_is_a_picture_of_the_window() {
    let file = std::env::temp_dir().join(format!("nebula-demo-{}.png", std::process::id()));
    let output = demo(&format!("--ticks 20 --screenshot {}", file.display()));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let picture = std::fs::read(&file).expect("the picture is there");
    std::fs::remove_file(&file).expect("and can be removed");
    assert!(picture.starts_with(b"\x89PNG"));
    assert_eq!(picture[16..24], [0, 0, 5, 0, 0, 0, 2, 208], "1280 x 720");
    let folder = std::env::temp_dir().join(format!("nebula-demo-shots-{}", std::process::id()));
    let output = demo(&format!("--ticks 20 --shots {}", folder.display()));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for scenario in Scenario::ALL {
        assert!(folder.join(format!("{}.png", scenario.name())).is_file());
    }
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    let refused = demo("--screenshot /nonexistent/a.png");
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("cannot write /nonexistent/a.png"));
}
