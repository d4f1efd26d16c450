//! Every contender behind one trait. Each gets its data in the types it wants before the clock starts.

pub(crate) mod big_space;
pub(crate) mod brute;
pub(crate) mod hash_grid;
pub(crate) mod kiddo;
pub(crate) mod literal;
pub(crate) mod nebula;
pub(crate) mod parry;
pub(crate) mod rstar;

use std::hint::black_box;
use std::ops::Range;

use nebula_coords::spatial_order;
use nebula_math::WorldPosition;
use nebula_peers::report::Role;

use crate::data::Entry;

/// Work that not every contender can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Store entries one by one.
    Insert,
    /// Take entries out one by one.
    Remove,
    /// The nearest so many.
    Nearest(usize),
    /// Everything within this many millimetres.
    Ball(i128),
}

/// An index of points, or what people use in place of one.
pub(crate) trait Contender {
    /// Its name in tables.
    fn name(&self) -> &'static str;

    /// Whose it is.
    fn role(&self) -> Role {
        Role::Peer
    }

    /// Returns why it cannot do some work, if so.
    fn refuses(&self, _work: Work) -> Option<&'static str> {
        None
    }

    /// Returns whether answers are exact by construction, for entries up to `reach_mm` from the origin.
    fn is_exact(&self, reach_mm: i128, radius_mm: i128) -> bool {
        // Floats hold whole millimetres up to 2^53, and squares of that size.
        reach_mm < 1 << 53
            && radius_mm
                .checked_mul(radius_mm)
                .is_some_and(|r| r < 1 << 53)
    }

    /// Takes entries in its own types. Nothing is stored yet, and no clock runs.
    fn load(&mut self, entries: &[Entry]);

    /// Stores the loaded entries, whose ids count from 0, in place of what it held.
    fn bulk(&mut self);

    /// Stores the loaded entries one by one.
    fn insert(&mut self) {}

    /// Moves the loaded entries to their new places.
    fn shift(&mut self);

    /// Returns how many moves it can do in reasonable time; more are extrapolated.
    fn most_moves(&self) -> usize {
        usize::MAX
    }

    /// Returns how many removals it can do in reasonable time.
    fn most_removals(&self) -> usize {
        self.most_moves()
    }

    /// Takes the loaded entries out one by one; each is loaded with its present place.
    fn remove(&mut self) {}

    /// Takes the middles of the queries to come in its own types.
    fn aim(&mut self, centers: &[WorldPosition]);

    /// Answers those queries with a ball each.
    fn balls(&self, queries: Range<usize>, radius_mm: i128, sink: &mut Sink);

    /// Answers those queries with a ball each, in any order: whoever has no call for that is asked in the order of
    /// [`spatial_order`], which counts.
    fn batch(
        &self,
        centers: &[WorldPosition],
        queries: Range<usize>,
        radius_mm: i128,
        sink: &mut Sink,
    ) {
        let first = queries.start;
        for number in spatial_order(&centers[queries]) {
            let query = first + number as usize;
            sink.number = number as usize;
            self.balls(query..query + 1, radius_mm, sink);
        }
    }

    /// Answers those queries with the nearest `k` each, nearest first.
    fn nearest(&self, _queries: Range<usize>, _k: usize, _sink: &mut Sink) {}
}

/// Where answers go: every contender hands over the ids of a query in one list.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    /// The ids of the query being answered.
    pub(crate) out: Vec<u32>,
    pub(crate) hits: usize,
    /// Which query is being answered.
    number: usize,
    answers: Option<Vec<Vec<u32>>>,
}

impl Sink {
    /// Returns a sink that keeps every answer.
    pub(crate) fn recording() -> Self {
        Self {
            answers: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Ends the answer to a query.
    #[inline]
    pub(crate) fn done(&mut self) {
        self.hits += self.out.len();
        if let Some(answers) = &mut self.answers {
            keep(answers, self.number, &self.out);
        }
        self.number += 1;
        black_box(&mut self.out).clear();
    }

    /// Takes the whole answer to a query.
    #[inline]
    pub(crate) fn take(&mut self, number: usize, ids: &[u32]) {
        self.hits += ids.len();
        if let Some(answers) = &mut self.answers {
            keep(answers, number, ids);
        }
        black_box(ids);
    }

    /// Returns the answers of a recording sink, as they came.
    pub(crate) fn answers(self) -> Vec<Vec<u32>> {
        self.answers.unwrap_or_default()
    }
}

/// Keeps an answer by the number of its query.
fn keep(answers: &mut Vec<Vec<u32>>, number: usize, ids: &[u32]) {
    if answers.len() <= number {
        answers.resize(number + 1, Vec::new());
    }
    answers[number] = ids.to_vec();
}

/// Makes every contender, empty. `radius_mm` is the usual radius of queries, for those that need to
/// know it beforehand.
pub(crate) fn all(radius_mm: i128) -> Vec<Box<dyn Contender>> {
    vec![
        Box::new(nebula::Tree::default()),
        Box::new(kiddo::Immutable::default()),
        Box::new(kiddo::Simd::default()),
        Box::new(kiddo::Mutable::default()),
        Box::new(rstar::Packed::default()),
        Box::new(parry::Boxes::default()),
        Box::new(big_space::Cells::default()),
        Box::new(hash_grid::Grid::new(radius_mm)),
        Box::new(literal::Literal::default()),
        Box::new(brute::Arrays::default()),
    ]
}

/// Makes those that are fast enough for pages to matter.
pub(crate) fn fast(radius_mm: i128) -> Vec<Box<dyn Contender>> {
    let slow = [big_space::NAME, "literal sector hash", "brute force"];
    let mut fast = all(radius_mm);
    fast.retain(|c| !slow.contains(&c.name()));
    fast
}

/// Makes those that can hold a universe of 2^100 mm.
pub(crate) fn wide(radius_mm: i128) -> Vec<Box<dyn Contender>> {
    let mut wide = all(radius_mm);
    // Its cells are numbered in 64 bits and 2^19 mm wide: 2^82 mm at most.
    wide.retain(|c| c.name() != big_space::NAME);
    wide
}

/// Makes the contenders of these names.
pub(crate) fn named(names: &[String], radius_mm: i128) -> Vec<Box<dyn Contender>> {
    let mut chosen = all(radius_mm);
    chosen.retain(|c| names.iter().any(|name| name == c.name()));
    chosen
}

/// A position as floats: exact for whole millimetres below 2^53.
pub(crate) fn floats(at: &WorldPosition) -> [f64; 3] {
    at.to_array().map(|c| c as f64)
}

/// The square of a radius as a float: exact below 2^53.
pub(crate) fn square(radius_mm: i128) -> f64 {
    let radius = radius_mm as f64;
    radius * radius
}

/// The square of the distance of two points.
#[inline]
pub(crate) fn apart(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    let (x, y, z) = (a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    x * x + y * y + z * z
}
