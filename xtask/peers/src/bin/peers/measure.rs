//! Races: contenders take turns at the same work, after their answers were compared.

use std::time::Duration;

use anyhow::{Result, bail};
use nebula_math::WorldPosition;
use nebula_peers::clock::{Best, cpu};
use nebula_peers::report::{Inexact, Limit, Role, Row, number};

use crate::contenders::{Contender, Sink, Work};
use crate::data::{self, Entry};
use crate::limits::Limits;

/// How much time a run takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) repeats: usize,
    /// A contender that needs longer than this for a repeat does only a part of the queries.
    pub(crate) seconds: f64,
    /// How many comparisons of a point with a query the slow check of our own answers may make.
    pub(crate) checks: usize,
}

impl Effort {
    pub(crate) fn of(quick: bool) -> Self {
        if quick {
            Self {
                repeats: 3,
                seconds: 0.15,
                checks: 20_000_000,
            }
        } else {
            Self {
                repeats: 7,
                seconds: 1.0,
                checks: 200_000_000,
            }
        }
    }
}

/// A contender with what is known of it.
pub(crate) struct Lane {
    pub(crate) contender: Box<dyn Contender>,
    /// The bytes it holds, per entity.
    pub(crate) bytes: Option<f64>,
}

/// A world and everyone who holds it.
pub(crate) struct Field {
    pub(crate) entries: Vec<Entry>,
    pub(crate) lanes: Vec<Lane>,
    /// The largest coordinate.
    pub(crate) reach_mm: i128,
}

impl Field {
    /// Lets every contender store the entries, and counts the bytes.
    pub(crate) fn new(entries: Vec<Entry>, contenders: Vec<Box<dyn Contender>>) -> Self {
        let lanes = contenders
            .into_iter()
            .map(|mut contender| {
                contender.load(&entries);
                let ((), held) = nebula_peers::alloc::held_by(|| contender.bulk());
                let bytes = held as f64 / entries.len() as f64;
                Lane {
                    contender,
                    bytes: Some(bytes),
                }
            })
            .collect();
        let reach_mm = data::reach(&entries);
        Self {
            entries,
            lanes,
            reach_mm,
        }
    }
}

/// What is asked around every centre.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask {
    Ball(i128),
    /// The same, in any order.
    Batch(i128),
    Nearest(usize),
}

impl Ask {
    fn work(self) -> Work {
        match self {
            Self::Ball(radius_mm) | Self::Batch(radius_mm) => Work::Ball(radius_mm),
            Self::Nearest(k) => Work::Nearest(k),
        }
    }

    /// Lets a contender answer the queries `from..to`.
    pub(crate) fn answer(
        self,
        contender: &dyn Contender,
        centers: &[WorldPosition],
        from: usize,
        to: usize,
        sink: &mut Sink,
    ) {
        match self {
            Self::Ball(radius_mm) => contender.balls(from..to, radius_mm, sink),
            Self::Batch(radius_mm) => contender.batch(centers, from..to, radius_mm, sink),
            Self::Nearest(k) => contender.nearest(from..to, k, sink),
        }
    }
}

/// At most this many ids are kept to be compared one by one; beyond it answers are compared by number.
const KEPT_IDS: usize = 3_000_000;

/// The right answers, checked.
pub(crate) struct Truth {
    /// For each of the first queries its ids in order, or the squares of its distances for the nearest.
    answers: Vec<Vec<u128>>,
    /// How many ids every answer has.
    pub(crate) hits: Vec<usize>,
}

impl Truth {
    /// Asks our own index and compares some of its answers with a check of every entity.
    pub(crate) fn of(
        field: &Field,
        centers: &[WorldPosition],
        ask: Ask,
        checks: usize,
    ) -> Result<Self> {
        let ours = field
            .lanes
            .iter()
            .find(|lane| lane.contender.role() == Role::Ours);
        let Some(ours) = ours else {
            bail!("nobody on the field is ours");
        };
        let mut hits = Vec::with_capacity(centers.len());
        for query in 0..centers.len() {
            let mut sink = Sink::default();
            ask.answer(&*ours.contender, centers, query, query + 1, &mut sink);
            hits.push(sink.hits);
        }
        let mut ids = 0;
        let kept = hits.iter().take_while(|hits| {
            ids += **hits;
            ids <= KEPT_IDS
        });
        let kept = kept.count().max(4).min(centers.len());
        let answers = canonical(field, centers, ask, record(ours, centers, ask, kept));
        let sample = (checks / field.entries.len()).clamp(3, 100).min(kept);
        for (center, answer) in centers.iter().zip(&answers).take(sample) {
            if linear(field, center, ask) != *answer {
                bail!(
                    "Nebula's answer at {center} to {ask:?} differs from a check of every entity"
                );
            }
        }
        Ok(Self { answers, hits })
    }

    /// Counts the ids that a lane gets wrong in the first `count` queries.
    pub(crate) fn compare(
        &self,
        field: &Field,
        lane: &Lane,
        centers: &[WorldPosition],
        ask: Ask,
        count: usize,
    ) -> Inexact {
        let count = count.min(self.answers.len());
        let mut found = canonical(field, centers, ask, record(lane, centers, ask, count));
        // Answers that are missing altogether are wrong too.
        found.resize(count, Vec::new());
        let mut result = Inexact::default();
        for (right, found) in self.answers.iter().zip(&found) {
            result.of += right.len();
            result.wrong += difference(right, found);
        }
        result
    }

    /// Returns how many ids the first `count` answers have together.
    pub(crate) fn total(&self, count: usize) -> usize {
        self.hits[..count].iter().sum()
    }
}

fn record(lane: &Lane, centers: &[WorldPosition], ask: Ask, count: usize) -> Vec<Vec<u32>> {
    let mut sink = Sink::recording();
    ask.answer(&*lane.contender, centers, 0, count, &mut sink);
    sink.answers()
}

/// Puts answers into a form in which equal ones are equal: ids sorted; for the nearest, where ties may
/// be broken either way, the exact squares of their distances.
fn canonical(
    field: &Field,
    centers: &[WorldPosition],
    ask: Ask,
    answers: Vec<Vec<u32>>,
) -> Vec<Vec<u128>> {
    let one = |(center, ids): (&WorldPosition, Vec<u32>)| {
        let mut answer: Vec<u128> = ids
            .iter()
            .map(|id| match ask {
                Ask::Ball(_) | Ask::Batch(_) => u128::from(*id),
                Ask::Nearest(_) => square_apart(center, field, *id),
            })
            .collect();
        answer.sort_unstable();
        answer
    };
    centers.iter().zip(answers).map(one).collect()
}

fn square_apart(center: &WorldPosition, field: &Field, id: u32) -> u128 {
    let square = center.distance_squared(&field.entries[id as usize].1);
    square
        .to_u128()
        .expect("the nearest are asked for on a planet only")
}

/// The slow answer: every entity is asked in exact arithmetic.
fn linear(field: &Field, center: &WorldPosition, ask: Ask) -> Vec<u128> {
    match ask {
        Ask::Ball(radius_mm) | Ask::Batch(radius_mm) => field
            .entries
            .iter()
            .filter(|(_, at)| center.is_within(at, radius_mm))
            .map(|(id, _)| u128::from(*id))
            .collect(),
        Ask::Nearest(k) => {
            let ids = field.entries.iter().map(|(id, _)| *id);
            let mut squares: Vec<u128> = ids.map(|id| square_apart(center, field, id)).collect();
            let k = k.min(squares.len());
            if k < squares.len() {
                squares.select_nth_unstable(k);
            }
            squares.truncate(k);
            squares.sort_unstable();
            squares
        }
    }
}

/// Returns how many entries of two sorted lists are in one of them only.
fn difference(a: &[u128], b: &[u128]) -> usize {
    let (mut i, mut j, mut alone) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Equal => {
                i += 1;
                j += 1;
            }
            std::cmp::Ordering::Less => {
                i += 1;
                alone += 1;
            }
            std::cmp::Ordering::Greater => {
                j += 1;
                alone += 1;
            }
        }
    }
    alone + (a.len() - i) + (b.len() - j)
}

/// A lane's place in a race: how much it does, and its row so far.
pub(crate) struct Start {
    /// How many of the queries it answers; 0 if it does not take part.
    pub(crate) queries: usize,
    pub(crate) row: Row,
}

impl Start {
    pub(crate) fn takes_part(&self) -> bool {
        self.queries > 0
    }

    /// Takes a lane out of the race when it found another number of ids than is right.
    pub(crate) fn check(&mut self, found: usize, right: usize) {
        if found != right && self.row.inexact.is_none() {
            self.queries = 0;
            self.row.note = Some(format!(
                "WRONG: {found} ids where {right} are right; its time does not count"
            ));
        }
    }
}

/// Lets every lane answer before the race: picks samples and counts wrong answers.
pub(crate) fn line_up(
    field: &mut Field,
    centers: &[WorldPosition],
    ask: Ask,
    truth: &Truth,
    effort: Effort,
) -> Vec<Start> {
    for lane in &mut field.lanes {
        lane.contender.aim(centers);
    }
    let field = &*field;
    field
        .lanes
        .iter()
        .map(|lane| start(field, lane, centers, ask, truth, effort))
        .collect()
}

fn start(
    field: &Field,
    lane: &Lane,
    centers: &[WorldPosition],
    ask: Ask,
    truth: &Truth,
    effort: Effort,
) -> Start {
    let contender = &*lane.contender;
    let mut row = Row {
        contender: contender.name().to_owned(),
        role: contender.role(),
        bytes: lane.bytes,
        ..Row::default()
    };
    if let Some(reason) = contender.refuses(ask.work()) {
        row.note = Some(reason.to_owned());
        return Start { queries: 0, row };
    }
    let queries = affordable(contender, centers, ask, effort);
    if queries < centers.len() {
        row.sample = Some(format!(
            "{} of {} queries",
            number(queries),
            number(centers.len())
        ));
    }
    let inexact = truth.compare(field, lane, centers, ask, queries);
    let radius = if let Ask::Ball(radius_mm) | Ask::Batch(radius_mm) = ask {
        radius_mm
    } else {
        1
    };
    if !contender.is_exact(field.reach_mm, radius) {
        row.inexact = Some(inexact);
    } else if inexact.wrong > 0 {
        row.note = Some(format!(
            "WRONG: {} of {} ids, although it should be exact here; its time does not count",
            inexact.wrong, inexact.of
        ));
        return Start { queries: 0, row };
    }
    Start { queries, row }
}

/// Returns how many queries a contender can answer within the time of a repeat.
fn affordable(
    contender: &dyn Contender,
    centers: &[WorldPosition],
    ask: Ask,
    effort: Effort,
) -> usize {
    let most = centers.len();
    let mut tried = 4.min(most);
    loop {
        let mut sink = Sink::default();
        let time = cpu(|| ask.answer(contender, centers, 0, tried, &mut sink)).as_secs_f64();
        if time * 8.0 > effort.seconds || tried == most {
            let rate = tried as f64 / time.max(1e-9);
            let some = ((rate * effort.seconds) as usize).clamp(4.min(most), most);
            // More than half is no sample worth its uncertainty.
            return if some * 2 > most { most } else { some };
        }
        tried = (tried * 4).min(most);
    }
}

/// What a race of queries is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Floor {
    MissAndCopy,
    Copy,
}

/// Runs a race of queries: rows with the time of one query, and the limit.
pub(crate) fn queries(
    field: &mut Field,
    centers: &[WorldPosition],
    ask: Ask,
    floor: Floor,
    effort: Effort,
) -> Result<(Vec<Row>, Limit)> {
    aim(field, centers);
    let truth = Truth::of(field, centers, ask, effort.checks)?;
    let mut starts = line_up(field, centers, ask, &truth, effort);
    let mut limits = Limits::new(field.entries.len());
    let mut best = vec![Best::default(); starts.len()];
    let mut limit = Best::default();
    for _ in 0..effort.repeats {
        for ((lane, start), best) in field.lanes.iter().zip(&mut starts).zip(&mut best) {
            if start.takes_part() {
                let mut sink = Sink::default();
                best.note(cpu(|| {
                    ask.answer(&*lane.contender, centers, 0, start.queries, &mut sink);
                }));
                start.check(sink.hits, truth.total(start.queries));
            }
        }
        let copy = limits.copy(&truth.hits);
        limit.note(match floor {
            Floor::Copy => copy,
            Floor::MissAndCopy => copy + limits.misses(centers.len()),
        });
    }
    for (start, best) in starts.iter_mut().zip(&best) {
        if start.takes_part() {
            start.row.ns = Some(best.ns() / start.queries as f64);
        }
    }
    let what = match floor {
        Floor::Copy => "a copy of the hits",
        Floor::MissAndCopy => "one dependent miss and a copy of the hits",
    };
    let limit = Limit {
        what: what.to_owned(),
        ns: limit.ns() / centers.len() as f64,
    };
    Ok((starts.into_iter().map(|start| start.row).collect(), limit))
}

/// Hands every lane the middles of the queries to come.
pub(crate) fn aim(field: &mut Field, centers: &[WorldPosition]) {
    for lane in &mut field.lanes {
        lane.contender.aim(centers);
    }
}

/// Scales a time measured on a part of the work to all of it.
pub(crate) fn scaled(time: Duration, done: usize, all: usize) -> Duration {
    if done == 0 {
        return time;
    }
    time.mul_f64(all as f64 / done as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_count_both_sides() {
        assert_eq!(difference(&[1, 2, 3], &[1, 2, 3]), 0);
        assert_eq!(difference(&[1, 3], &[2, 3, 4]), 3);
        assert_eq!(difference(&[], &[5]), 1);
    }

    #[test]
    fn times_are_scaled_to_the_whole() {
        let part = Duration::from_millis(2);
        assert_eq!(scaled(part, 10, 100), Duration::from_millis(20));
        assert_eq!(scaled(part, 0, 100), part);
    }
}
