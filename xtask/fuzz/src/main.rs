//! Runs a fuzz target on stable, with random mutations in place of coverage guidance.
//!
//! `fuzz TARGET [--runs N | --seconds N] [--seed S] [--max-len BYTES] [FILE...]`
//! Files, if given, are run once each and nothing else. Exits 1 at the first failure, whose input
//! it keeps, and says how to repeat it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nebula_fuzz::{Mutator, TARGETS, Target, fingerprint};

/// A run that takes longer than this counts as a hang.
const HANG: Duration = Duration::from_secs(20);

#[derive(Debug)]
struct Args {
    target: Target,
    runs: u64,
    seconds: u64,
    seed: u64,
    max_len: usize,
    files: Vec<PathBuf>,
}

/// The input that is running, and since when; the watchdog looks at it.
type Current = Arc<Mutex<Option<(Instant, Vec<u8>)>>>;

fn main() -> Result<()> {
    let args = parse(std::env::args().skip(1))?;
    let (name, run) = args.target;
    if !args.files.is_empty() {
        for file in &args.files {
            let data = std::fs::read(file).with_context(|| format!("read {}", file.display()))?;
            run(&data);
        }
        println!("{name}: {} files clean", args.files.len());
        return Ok(());
    }
    let corpus = read_corpus(name)?;
    println!("{name}: seed {}, {} corpus inputs", args.seed, corpus.len());
    for data in &corpus {
        guarded(name, run, data)?;
    }
    mutate(&args, corpus)
}

fn mutate(args: &Args, corpus: Vec<Vec<u8>>) -> Result<()> {
    let (name, run) = args.target;
    let current = Current::default();
    watch(name, Arc::clone(&current));
    let mut mutator = Mutator::new(corpus, args.seed, args.max_len);
    let start = Instant::now();
    let end = Duration::from_secs(args.seconds);
    let (mut done, mut slowest, mut said) = (0, Duration::ZERO, Duration::ZERO);
    while done < args.runs && start.elapsed() < end {
        let data = mutator.input();
        let began = Instant::now();
        *current.lock().expect("no holder panics") = Some((began, data.clone()));
        guarded(name, run, &data)?;
        slowest = slowest.max(began.elapsed());
        done += 1;
        if start.elapsed() - said > Duration::from_secs(10) {
            said = start.elapsed();
            println!("{name}: {done} runs in {} s", said.as_secs());
        }
    }
    *current.lock().expect("no holder panics") = None;
    println!(
        "{name}: {done} runs clean in {:.1} s, slowest {:.1} ms, seed {}",
        start.elapsed().as_secs_f64(),
        slowest.as_secs_f64() * 1e3,
        args.seed
    );
    Ok(())
}

/// Runs one input; keeps it and says how to repeat it when the target panics.
fn guarded(name: &str, run: fn(&[u8]), data: &[u8]) -> Result<()> {
    if std::panic::catch_unwind(|| run(data)).is_err() {
        let file = keep(name, "crash", data)?;
        bail!(
            "{name} failed; repeat: cargo run --release -- {name} {}",
            file.display()
        );
    }
    Ok(())
}

fn watch(name: &'static str, current: Current) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let running = current.lock().expect("no holder panics").clone();
            if let Some((_, data)) = running.filter(|(since, _)| since.elapsed() > HANG) {
                match keep(name, "hang", &data) {
                    Ok(file) => eprintln!("{name} hangs on {}", file.display()),
                    Err(error) => eprintln!("{name} hangs on {data:?}, not kept: {error}"),
                }
                std::process::exit(1);
            }
        }
    });
}

fn keep(name: &str, kind: &str, data: &[u8]) -> Result<PathBuf> {
    let dir = home().join("artifacts").join(name);
    std::fs::create_dir_all(&dir)?;
    let file = dir.join(format!("{kind}-{:016x}", fingerprint(data)));
    std::fs::write(&file, data)?;
    Ok(file)
}

/// Returns the corpus in file name order, so that a seed means the same everywhere.
fn read_corpus(name: &str) -> Result<Vec<Vec<u8>>> {
    let dir = home().join("corpus").join(name);
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let mut files: Vec<_> = std::fs::read_dir(&dir)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read(file).with_context(|| format!("read {}", file.display())))
        .collect()
}

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Args> {
    let known: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
    let name = words
        .next()
        .with_context(|| format!("name a target: {}", known.join(", ")))?;
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let target =
        *target.with_context(|| format!("no target {name}; known: {}", known.join(", ")))?;
    let mut args = Args {
        target,
        runs: u64::MAX,
        seconds: u64::from(u32::MAX),
        seed: 1,
        max_len: 512,
        files: Vec::new(),
    };
    let mut bounded = false;
    while let Some(word) = words.next() {
        if !word.starts_with("--") {
            args.files.push(word.into());
            continue;
        }
        let value = words
            .next()
            .with_context(|| format!("{word} needs a number"))?;
        let value: u64 = value
            .replace('_', "")
            .parse()
            .with_context(|| format!("{word} {value} is not a number"))?;
        match word.as_str() {
            "--runs" => args.runs = value,
            "--seconds" => args.seconds = value,
            "--seed" => args.seed = value,
            "--max-len" => args.max_len = usize::try_from(value)?,
            _ => bail!("unknown flag {word}; known: --runs --seconds --seed --max-len"),
        }
        bounded |= matches!(word.as_str(), "--runs" | "--seconds");
    }
    ensure!(args.max_len <= 1 << 20, "--max-len is at most 1048576");
    if !bounded {
        args.seconds = 60;
    }
    Ok(args)
}
