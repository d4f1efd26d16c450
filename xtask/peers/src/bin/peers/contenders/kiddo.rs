//! kiddo: k-d trees. Built with its `simd` feature; the radius of a query is given squared.

use std::num::NonZeroUsize;
use std::ops::Range;

use kiddo::{ImmutableKdTree, MutableKdTree, SquaredEuclidean};
use nebula_math::WorldPosition;

use super::{Contender, Sink, Work, floats, square};
use crate::data::Entry;

type Metric = SquaredEuclidean<f64>;

/// A tree in the layout whose descent and pruning are written with SIMD, over the leaves that the
/// crate recommends for trees that do not change.
type SimdTree = kiddo::KdTree<
    f64,
    u32,
    kiddo::DonnellyCyclicSimdFull<3>,
    kiddo::VecOfArenas<f64, u32, 3, 32>,
    3,
    32,
>;

/// What the trees have in common; their types differ in parameters only.
macro_rules! answers {
    () => {
        fn aim(&mut self, centers: &[WorldPosition]) {
            self.centers = centers.iter().map(floats).collect();
        }

        fn balls(&self, queries: Range<usize>, radius_mm: i128, sink: &mut Sink) {
            let Some(tree) = &self.tree else { return };
            let radius = square(radius_mm);
            for center in &self.centers[queries] {
                let out = &mut sink.out;
                tree.query(center)
                    .within::<Metric>(radius)
                    .unsorted()
                    .visit(|hit| out.push(hit.item));
                sink.done();
            }
        }

        fn nearest(&self, queries: Range<usize>, k: usize, sink: &mut Sink) {
            let Some(tree) = &self.tree else { return };
            let count = NonZeroUsize::new(k).expect("somebody is asked for");
            for center in &self.centers[queries] {
                if k == 1 {
                    let hit = tree.query(center).nearest_one::<Metric>().execute();
                    sink.out.push(hit.item);
                } else {
                    let hits = tree.query(center).nearest_n::<Metric>(count).execute();
                    sink.out.extend(hits.iter().map(|hit| hit.item));
                }
                sink.done();
            }
        }
    };
}

/// What a tree that does not change has besides.
macro_rules! rebuilds {
    ($tree:ty) => {
        fn refuses(&self, work: Work) -> Option<&'static str> {
            matches!(work, Work::Insert | Work::Remove).then_some("the tree does not change")
        }

        fn load(&mut self, entries: &[Entry]) {
            self.loaded = entries.iter().map(|(id, at)| (*id, floats(at))).collect();
            // The game's own list of positions, which a rebuild reads; not counted as the tree's.
            let last = entries.iter().map(|(id, _)| *id as usize + 1).max();
            if self.positions.len() < last.unwrap_or(0) {
                self.positions.resize(last.unwrap_or(0), [0.0; 3]);
            }
        }

        fn bulk(&mut self) {
            self.shift();
        }

        /// A tree that does not change is built anew, even for one move.
        fn shift(&mut self) {
            for (id, at) in &self.loaded {
                self.positions[*id as usize] = *at;
            }
            self.tree = Some(
                <$tree>::builder()
                    .with_serial_construction()
                    .build_from_slice(&self.positions)
                    .expect("fewer than 2^32 points"),
            );
        }
    };
}

/// The crate's `ImmutableKdTree`: its recommendation for points that do not move.
#[derive(Default)]
pub(crate) struct Immutable {
    tree: Option<ImmutableKdTree<f64, 3>>,
    positions: Vec<[f64; 3]>,
    loaded: Vec<(u32, [f64; 3])>,
    centers: Vec<[f64; 3]>,
}

impl Contender for Immutable {
    fn name(&self) -> &'static str {
        "kiddo immutable"
    }

    rebuilds!(ImmutableKdTree<f64, 3>);
    answers!();
}

/// The same with the stem layout made for SIMD.
#[derive(Default)]
pub(crate) struct Simd {
    tree: Option<SimdTree>,
    positions: Vec<[f64; 3]>,
    loaded: Vec<(u32, [f64; 3])>,
    centers: Vec<[f64; 3]>,
}

impl Contender for Simd {
    fn name(&self) -> &'static str {
        "kiddo immutable, SIMD stems"
    }

    rebuilds!(SimdTree);
    answers!();
}

/// The crate's `MutableKdTree`: a move is a removal, which needs the old place, and an addition.
#[derive(Default)]
pub(crate) struct Mutable {
    tree: Option<MutableKdTree<f64, 3>>,
    positions: Vec<[f64; 3]>,
    loaded: Vec<(u32, [f64; 3])>,
    centers: Vec<[f64; 3]>,
}

impl Contender for Mutable {
    fn name(&self) -> &'static str {
        "kiddo mutable"
    }

    fn load(&mut self, entries: &[Entry]) {
        self.loaded = entries.iter().map(|(id, at)| (*id, floats(at))).collect();
        let last = entries.iter().map(|(id, _)| *id as usize + 1).max();
        if self.positions.len() < last.unwrap_or(0) {
            self.positions.resize(last.unwrap_or(0), [0.0; 3]);
        }
    }

    fn bulk(&mut self) {
        for (id, at) in &self.loaded {
            self.positions[*id as usize] = *at;
        }
        self.tree = Some(
            MutableKdTree::builder()
                .with_serial_construction()
                .build_from_slice(&self.positions)
                .expect("fewer than 2^32 points"),
        );
    }

    fn insert(&mut self) {
        let tree = self.tree.get_or_insert_default();
        for (id, at) in &self.loaded {
            tree.add(at, *id).expect("room in a leaf");
            self.positions[*id as usize] = *at;
        }
    }

    fn shift(&mut self) {
        let tree = self.tree.get_or_insert_default();
        for (id, at) in &self.loaded {
            let old = &mut self.positions[*id as usize];
            tree.remove(old, *id);
            tree.add(at, *id).expect("room in a leaf");
            *old = *at;
        }
    }

    fn remove(&mut self) {
        let tree = self.tree.get_or_insert_default();
        for (id, at) in &self.loaded {
            tree.remove(at, *id);
        }
    }

    answers!();
}
