//! The peers at finding pairs.

use hashbrown::HashMap;
use kiddo::{ImmutableKdTree, SquaredEuclidean};
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use rstar::RTree;
use rstar::primitives::{GeomWithData, Rectangle};

use super::{Pairs, RADIUS_MAX_MM};
use crate::contenders::{apart, floats};
use crate::data::Sphere;

/// A sphere in floats, exact for these small worlds.
#[derive(Clone, Copy, Debug)]
struct Ball {
    at: [f64; 3],
    radius: f64,
}

impl Ball {
    fn touches(&self, other: &Self) -> bool {
        let reach = self.radius + other.radius;
        apart(&self.at, &other.at) <= reach * reach
    }
}

fn balls(spheres: &[Sphere]) -> Vec<Ball> {
    let ball = |(at, radius): &Sphere| Ball {
        at: floats(at),
        radius: *radius as f64,
    };
    spheres.iter().map(ball).collect()
}

/// kiddo: the tree is built anew, then every sphere asks for those that it could touch.
#[derive(Default)]
pub(super) struct Near<const K: usize> {
    balls: Vec<Ball>,
    points: Vec<[f64; K]>,
}

macro_rules! near {
    ($k:literal) => {
        impl Pairs for Near<$k> {
            fn name(&self) -> &'static str {
                "kiddo immutable"
            }

            fn load(&mut self, spheres: &[Sphere]) {
                self.balls = balls(spheres);
                let point = |ball: &Ball| std::array::from_fn(|axis| ball.at[axis]);
                self.points = self.balls.iter().map(point).collect();
            }

            fn step(&mut self, out: &mut Vec<(u32, u32)>) {
                let tree = ImmutableKdTree::<f64, $k>::builder()
                    .with_serial_construction()
                    .build_from_slice(&self.points)
                    .expect("few points");
                for (id, (ball, point)) in (0..).zip(self.balls.iter().zip(&self.points)) {
                    let reach = ball.radius + RADIUS_MAX_MM as f64;
                    tree.query(point)
                        .within::<SquaredEuclidean<f64>>(reach * reach)
                        .unsorted()
                        .visit(|hit| {
                            if hit.item > id && ball.touches(&self.balls[hit.item as usize]) {
                                out.push((id, hit.item));
                            }
                        });
                }
            }
        }
    };
}

near!(2);
near!(3);

type Item = GeomWithData<Rectangle<[f64; 3]>, u32>;

/// rstar: a tree of boxes is packed anew, then asked which of its boxes meet.
#[derive(Default)]
pub(super) struct Rectangles {
    balls: Vec<Ball>,
}

impl Pairs for Rectangles {
    fn name(&self) -> &'static str {
        "rstar"
    }

    fn load(&mut self, spheres: &[Sphere]) {
        self.balls = balls(spheres);
    }

    fn step(&mut self, out: &mut Vec<(u32, u32)>) {
        let item = |(id, ball): (u32, &Ball)| {
            let low = ball.at.map(|c| c - ball.radius);
            let high = ball.at.map(|c| c + ball.radius);
            Item::new(Rectangle::from_corners(low, high), id)
        };
        let tree = RTree::bulk_load((0..).zip(&self.balls).map(item).collect());
        for (a, b) in tree.intersection_candidates_with_other_tree(&tree) {
            let (a, b) = (a.data, b.data);
            if a < b && self.balls[a as usize].touches(&self.balls[b as usize]) {
                out.push((a, b));
            }
        }
    }
}

/// parry: boxes are written in place, the tree is refitted and held against itself.
#[derive(Default)]
pub(super) struct Refit {
    tree: Option<Bvh>,
    workspace: BvhWorkspace,
    balls: Vec<Ball>,
    boxes: Vec<Aabb>,
}

impl Pairs for Refit {
    fn name(&self) -> &'static str {
        "parry BVH, refit"
    }

    fn load(&mut self, spheres: &[Sphere]) {
        self.balls = balls(spheres);
        let around = |ball: &Ball| {
            let (at, radius) = (Vector::from(ball.at), Vector::splat(ball.radius));
            Aabb::new(at - radius, at + radius)
        };
        self.boxes = self.balls.iter().map(around).collect();
        self.tree
            .get_or_insert_with(|| Bvh::from_leaves(BvhBuildStrategy::Binned, &self.boxes));
    }

    fn step(&mut self, out: &mut Vec<(u32, u32)>) {
        let Some(tree) = &mut self.tree else { return };
        for (id, around) in (0..).zip(&self.boxes) {
            tree.insert_or_update_partially(*around, id, 0.0);
        }
        tree.refit(&mut self.workspace);
        let balls = &self.balls;
        tree.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut |a, b| {
            if balls[a as usize].touches(&balls[b as usize]) {
                out.push((a.min(b), a.max(b)));
            }
        });
    }
}

/// A plain grid whose cells are as wide as the largest contact, filled anew.
#[derive(Default)]
pub(super) struct Grid {
    balls: Vec<Ball>,
    cells: HashMap<[i64; 3], Vec<u32>>,
}

impl Pairs for Grid {
    fn name(&self) -> &'static str {
        "HashMap grid"
    }

    fn load(&mut self, spheres: &[Sphere]) {
        self.balls = balls(spheres);
    }

    fn step(&mut self, out: &mut Vec<(u32, u32)>) {
        let width = 2.0 * RADIUS_MAX_MM as f64;
        let cell = |ball: &Ball| ball.at.map(|c| (c / width).floor() as i64);
        self.cells.clear();
        for (id, ball) in (0..).zip(&self.balls) {
            self.cells.entry(cell(ball)).or_default().push(id);
        }
        for (id, ball) in (0_u32..).zip(&self.balls) {
            let [x, y, z] = cell(ball);
            for dx in -1..=1 {
                for dy in -1..=1 {
                    for dz in -1..=1 {
                        let near = self.cells.get(&[x + dx, y + dy, z + dz]);
                        for other in near.into_iter().flatten().filter(|other| **other > id) {
                            if ball.touches(&self.balls[*other as usize]) {
                                out.push((id, *other));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Each against each; of many only a part.
#[derive(Default)]
pub(super) struct Brute {
    balls: Vec<Ball>,
}

/// This many comparisons take about a tenth of a second.
const COMPARISONS: usize = 100_000_000;

impl Brute {
    fn rows(&self) -> usize {
        let n = self.balls.len();
        n.min(COMPARISONS / n.max(1) + 1)
    }
}

impl Pairs for Brute {
    fn name(&self) -> &'static str {
        "brute force"
    }

    fn load(&mut self, spheres: &[Sphere]) {
        self.balls = balls(spheres);
    }

    fn step(&mut self, out: &mut Vec<(u32, u32)>) {
        for (id, ball) in (0_u32..).zip(&self.balls[..self.rows()]) {
            let rest = &self.balls[id as usize + 1..];
            for (other, candidate) in (id + 1..).zip(rest) {
                if ball.touches(candidate) {
                    out.push((id, other));
                }
            }
        }
    }

    fn share(&self) -> f64 {
        let (n, rows) = (self.balls.len() as f64, self.rows() as f64);
        let done = rows * (2.0 * n - rows - 1.0);
        done / (n * (n - 1.0))
    }
}
