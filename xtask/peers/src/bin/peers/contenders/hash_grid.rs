//! A plain grid: a hash map from cell to the points in it. The cell is as wide as the usual radius.

use std::ops::Range;

use hashbrown::HashMap;
use nebula_math::WorldPosition;

use super::{Contender, Sink, Work, apart, floats, square};
use crate::data::Entry;

/// Its name in tables.
pub(crate) const NAME: &str = "HashMap grid";

type Cell = [i64; 3];

#[derive(Clone, Copy)]
struct Point {
    at: [f64; 3],
    id: u32,
}

pub(crate) struct Grid {
    cell_mm: i128,
    cells: HashMap<Cell, Vec<Point>>,
    /// Which cell an id lies in, to find it again.
    places: Vec<Cell>,
    loaded: Vec<(Cell, Point)>,
    centers: Vec<(WorldPosition, [f64; 3])>,
}

impl Grid {
    pub(crate) fn new(radius_mm: i128) -> Self {
        Self {
            // Keys are i64: cells of a wide universe must not be smaller than 2^40 mm.
            cell_mm: if radius_mm > 1 << 32 {
                radius_mm.max(1 << 40)
            } else {
                radius_mm
            },
            cells: HashMap::new(),
            places: Vec::new(),
            loaded: Vec::new(),
            centers: Vec::new(),
        }
    }

    fn cell_of(&self, at: &WorldPosition) -> Cell {
        at.to_array().map(|c| {
            let cell = c.div_euclid(self.cell_mm);
            i64::try_from(cell).expect("cells are wide enough for the world")
        })
    }

    fn add(&mut self, cell: Cell, point: Point) {
        self.cells.entry(cell).or_default().push(point);
        let slot = point.id as usize;
        if self.places.len() <= slot {
            self.places.resize(slot + 1, [0; 3]);
        }
        self.places[slot] = cell;
    }

    fn take(&mut self, id: u32) {
        let cell = self.places[id as usize];
        let Some(points) = self.cells.get_mut(&cell) else {
            return;
        };
        if let Some(at) = points.iter().position(|point| point.id == id) {
            points.swap_remove(at);
        }
        if points.is_empty() {
            self.cells.remove(&cell);
        }
    }
}

impl Contender for Grid {
    fn name(&self) -> &'static str {
        NAME
    }

    fn refuses(&self, work: Work) -> Option<&'static str> {
        matches!(work, Work::Nearest(_)).then_some("a plain grid has no order by distance")
    }

    fn load(&mut self, entries: &[Entry]) {
        self.loaded = entries
            .iter()
            .map(|(id, at)| {
                let point = Point {
                    at: floats(at),
                    id: *id,
                };
                (self.cell_of(at), point)
            })
            .collect();
    }

    fn bulk(&mut self) {
        self.cells = HashMap::new();
        self.places = vec![[0; 3]; self.loaded.len()];
        self.insert();
    }

    fn insert(&mut self) {
        let loaded = std::mem::take(&mut self.loaded);
        for (cell, point) in &loaded {
            self.add(*cell, *point);
        }
        self.loaded = loaded;
    }

    fn shift(&mut self) {
        let loaded = std::mem::take(&mut self.loaded);
        for (cell, point) in &loaded {
            if self.places[point.id as usize] == *cell {
                let points = self.cells.get_mut(cell).expect("it is in use");
                let known = points.iter_mut().find(|known| known.id == point.id);
                known.expect("it is there").at = point.at;
            } else {
                self.take(point.id);
                self.add(*cell, *point);
            }
        }
        self.loaded = loaded;
    }

    fn remove(&mut self) {
        let loaded = std::mem::take(&mut self.loaded);
        for (_, point) in &loaded {
            self.take(point.id);
        }
        self.loaded = loaded;
    }

    fn aim(&mut self, centers: &[WorldPosition]) {
        self.centers = centers.iter().map(|at| (*at, floats(at))).collect();
    }

    fn balls(&self, queries: Range<usize>, radius_mm: i128, sink: &mut Sink) {
        let radius = square(radius_mm);
        for (center, at) in &self.centers[queries] {
            let corner = |by: i128| {
                self.cell_of(&WorldPosition::new(
                    center.x + by,
                    center.y + by,
                    center.z + by,
                ))
            };
            let (low, high) = (corner(-radius_mm), corner(radius_mm));
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        let Some(points) = self.cells.get(&[x, y, z]) else {
                            continue;
                        };
                        let near = points.iter().filter(|p| apart(&p.at, at) <= radius);
                        sink.out.extend(near.map(|p| p.id));
                    }
                }
            }
            sink.done();
        }
    }
}
