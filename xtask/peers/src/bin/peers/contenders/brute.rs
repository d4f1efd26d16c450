//! No index: every point of three plain arrays is asked.

use std::ops::Range;

use nebula_math::WorldPosition;

use super::{Contender, Sink, Work, floats, square};
use crate::data::Entry;

/// How many distances are computed before their hits are collected: short enough for the first cache,
/// long enough for the loop to be vectorized.
const BLOCK: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Arrays {
    axes: [Vec<f64>; 3],
    ids: Vec<u32>,
    /// Where an id lies in the arrays.
    slots: Vec<u32>,
    loaded: Vec<(u32, [f64; 3])>,
    centers: Vec<[f64; 3]>,
}

impl Arrays {
    fn slot(&mut self, id: u32) -> &mut u32 {
        let at = id as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, u32::MAX);
        }
        &mut self.slots[at]
    }

    fn push(&mut self, id: u32, at: [f64; 3]) {
        *self.slot(id) = u32::try_from(self.ids.len()).expect("fewer than 2^32 points");
        self.ids.push(id);
        for (axis, c) in self.axes.iter_mut().zip(at) {
            axis.push(c);
        }
    }
}

impl Contender for Arrays {
    fn name(&self) -> &'static str {
        "brute force"
    }

    fn refuses(&self, work: Work) -> Option<&'static str> {
        matches!(work, Work::Nearest(_)).then_some("it would sort every distance")
    }

    fn load(&mut self, entries: &[Entry]) {
        self.loaded = entries.iter().map(|(id, at)| (*id, floats(at))).collect();
    }

    fn bulk(&mut self) {
        let loaded = std::mem::take(&mut self.loaded);
        self.axes = [0, 1, 2].map(|axis| loaded.iter().map(|(_, at)| at[axis]).collect());
        self.ids = loaded.iter().map(|(id, _)| *id).collect();
        self.slots = self.ids.clone();
        self.loaded = loaded;
    }

    fn insert(&mut self) {
        let loaded = std::mem::take(&mut self.loaded);
        for (id, at) in &loaded {
            self.push(*id, *at);
        }
        self.loaded = loaded;
    }

    fn shift(&mut self) {
        for (id, at) in &self.loaded {
            let slot = self.slots[*id as usize] as usize;
            for (axis, c) in self.axes.iter_mut().zip(at) {
                axis[slot] = *c;
            }
        }
    }

    fn remove(&mut self) {
        for (id, _) in &self.loaded {
            let slot = self.slots[*id as usize];
            self.ids.swap_remove(slot as usize);
            for axis in &mut self.axes {
                axis.swap_remove(slot as usize);
            }
            if let Some(moved) = self.ids.get(slot as usize) {
                self.slots[*moved as usize] = slot;
            }
        }
    }

    fn aim(&mut self, centers: &[WorldPosition]) {
        self.centers = centers.iter().map(floats).collect();
    }

    fn balls(&self, queries: Range<usize>, radius_mm: i128, sink: &mut Sink) {
        let radius = square(radius_mm);
        let [xs, ys, zs] = &self.axes;
        for [cx, cy, cz] in &self.centers[queries] {
            for start in (0..self.ids.len()).step_by(BLOCK) {
                let block = start..(start + BLOCK).min(self.ids.len());
                let mut apart = [f64::INFINITY; BLOCK];
                let points = xs[block.clone()]
                    .iter()
                    .zip(&ys[block.clone()])
                    .zip(&zs[block]);
                for (apart, ((x, y), z)) in apart.iter_mut().zip(points) {
                    let (x, y, z) = (x - cx, y - cy, z - cz);
                    *apart = x * x + y * y + z * z;
                }
                // Most blocks hold nobody near: one minimum tells.
                if apart.iter().fold(f64::INFINITY, |a, b| a.min(*b)) > radius {
                    continue;
                }
                let near = apart
                    .iter()
                    .zip(&self.ids[start..])
                    .filter(|(d, _)| **d <= radius);
                sink.out.extend(near.map(|(_, id)| *id));
            }
            sink.done();
        }
    }
}
