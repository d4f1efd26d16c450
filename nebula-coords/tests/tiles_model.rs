//! Random operations on a `TileIndex`, each step compared with a list that is obviously right.
//!
//! `NEBULA_MODEL_SEQUENCES` sets how many sequences run (2,000 by default); `NEBULA_MODEL_SEED`
//! runs one sequence alone. A failure prints the command that repeats it.

#[allow(dead_code, reason = "a fuzz input needs more of it than a seed")]
#[path = "common/source.rs"]
mod source;

use std::collections::BTreeMap;

use nebula_coords::{Elevation, Metric, Tile, TileIndex, TilePosition, TileRange};
use source::{Seeded, Source};

/// The truth: every id with its map and place.
type Twin = BTreeMap<u16, (u8, TilePosition)>;

struct Pair {
    index: TileIndex<u16, u8>,
    /// The same operations on an index with other hash keys, to see that no hash shows.
    other: TileIndex<u16, u8>,
    twin: Twin,
}

fn coordinate(s: &mut impl Source) -> i32 {
    match s.below(8) {
        0 => s.pick(&[i32::MIN, i32::MIN + 1, i32::MAX - 1, i32::MAX]),
        1 => i32::try_from(s.below(4_000)).unwrap() - 2_000,
        _ => i32::try_from(s.below(7)).unwrap() - 3,
    }
}

fn elevation(s: &mut impl Source) -> Elevation {
    let number = if s.below(2) == 0 {
        s.below(2)
    } else {
        s.below(16)
    };
    Elevation::new(i64::try_from(number).unwrap()).unwrap()
}

fn place(s: &mut impl Source) -> TilePosition {
    TilePosition::new(coordinate(s), coordinate(s), elevation(s))
}

fn id(s: &mut impl Source) -> u16 {
    u16::try_from(s.below(24)).unwrap()
}

fn map(s: &mut impl Source) -> u8 {
    u8::try_from(s.below(3)).unwrap()
}

fn range(s: &mut impl Source) -> TileRange {
    TileRange {
        center: Tile::new(coordinate(s), coordinate(s)),
        range: match s.below(4) {
            0 => s.pick(&[i32::MIN, -1, i32::MAX, i32::MAX - 1, 100_000]),
            _ => i32::try_from(s.below(9)).unwrap(),
        },
        metric: s.pick(&[
            Metric::Manhattan,
            Metric::Manhattan,
            Metric::Euclidean,
            Metric::Chebyshev,
        ]),
        elevation: (s.below(2) == 0).then(|| elevation(s)),
    }
}

/// Distance by definition, in numbers that hold every case.
fn in_range(range: &TileRange, tile: Tile) -> bool {
    let dx = (i128::from(tile.x) - i128::from(range.center.x)).abs();
    let dy = (i128::from(tile.y) - i128::from(range.center.y)).abs();
    let r = i128::from(range.range);
    r >= 0
        && match range.metric {
            Metric::Manhattan => dx + dy <= r,
            Metric::Euclidean => dx * dx + dy * dy <= r * r,
            Metric::Chebyshev => dx.max(dy) <= r,
        }
}

impl Pair {
    fn new() -> Self {
        Self {
            index: TileIndex::new(),
            other: TileIndex::new(),
            twin: Twin::new(),
        }
    }

    fn change(&mut self, s: &mut impl Source) {
        match s.below(12) {
            0..=3 => {
                let (id, map, at) = (id(s), map(s), place(s));
                let before = self.twin.insert(id, (map, at));
                assert_eq!(self.index.insert(id, &map, at), before);
                assert_eq!(self.other.insert(id, &map, at), before);
            }
            4..=7 => {
                let (id, to) = (id(s), place(s));
                let known = self.twin.get_mut(&id).map(|(_, at)| *at = to).is_some();
                assert_eq!(self.index.update(id, to), known);
                assert_eq!(self.other.update(id, to), known);
            }
            8 | 9 => {
                let id = id(s);
                let before = self.twin.remove(&id);
                assert_eq!(self.index.remove(id), before);
                assert_eq!(self.other.remove(id), before);
            }
            10 => self.reindex(s),
            _ => {
                if s.below(8) == 0 {
                    self.index.clear();
                    self.other.clear();
                    self.twin.clear();
                }
            }
        }
    }

    /// A frame: some stay, some move, some go, some are named twice, some come.
    fn reindex(&mut self, s: &mut impl Source) {
        let mut listed = Vec::new();
        for (id, (map, at)) in &self.twin {
            match s.below(4) {
                0 => {}
                1 => listed.push((*id, *map, place(s))),
                _ => listed.push((*id, *map, *at)),
            }
        }
        for _ in 0..s.below(6) {
            listed.push((id(s), map(s), place(s)));
        }
        let gone = self
            .twin
            .keys()
            .filter(|id| listed.iter().all(|(l, ..)| l != *id))
            .count();
        self.twin = listed
            .iter()
            .map(|(id, map, at)| (*id, (*map, *at)))
            .collect();
        let report = self.index.reindex(listed.iter().copied());
        assert_eq!(report.exited, gone);
        assert_eq!(
            report.entered + report.moved + report.unchanged,
            listed.len()
        );
        assert_eq!(self.other.reindex(listed), report);
    }

    fn check(&self, s: &mut impl Source) {
        self.index.validate().unwrap();
        assert_eq!(self.index.len(), self.twin.len());
        for map in 0..3 {
            let len = self.twin.values().filter(|(m, _)| *m == map).count();
            assert_eq!(self.index.len_of_map(&map), len);
        }
        let one = id(s);
        let known = self.twin.get(&one);
        assert_eq!(self.index.get(one), known.map(|(map, at)| (map, *at)));
        assert_eq!(self.index.contains(one), known.is_some());

        // Ask around someone, so that answers are seldom empty.
        let (map, at) = match known {
            Some((map, at)) if s.below(4) > 0 => (*map, *at),
            _ => (map(s), place(s)),
        };
        let found = self.index.query_at(&map, at);
        self.compare(found, map, |place| place == at);
        assert_eq!(found, self.other.query_at(&map, at));
        let found = self.index.query_at_any_elevation(&map, at.tile);
        self.compare(found, map, |place| place.tile == at.tile);
        assert_eq!(found, self.other.query_at_any_elevation(&map, at.tile));

        let mut asked = range(s);
        if s.below(2) == 0 {
            asked.center = at.tile;
        }
        let (mut found, mut again) = (vec![99], Vec::new());
        self.index.query_range(&map, &asked, &mut found);
        self.compare(&found, map, |place| {
            in_range(&asked, place.tile) && asked.elevation.is_none_or(|e| e == place.elevation)
        });
        self.other.query_range(&map, &asked, &mut again);
        assert_eq!(found, again);
    }

    /// Asserts that the answer is exactly what the twin holds there, in the order of places.
    #[track_caller]
    fn compare(&self, found: &[u16], map: u8, wanted: impl Fn(TilePosition) -> bool) {
        let places: Vec<_> = found.iter().map(|id| self.twin[id].1).collect();
        assert!(places.is_sorted(), "{places:?}");
        let mut found = found.to_vec();
        found.sort_unstable();
        let expected: Vec<u16> = self
            .twin
            .iter()
            .filter(|(_, (m, at))| *m == map && wanted(*at))
            .map(|(id, _)| *id)
            .collect();
        assert_eq!(found, expected);
    }
}

/// Prints how to repeat a sequence when the test dies inside it.
struct Replay(u64);

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "replay: NEBULA_MODEL_SEED={} cargo test -p nebula-coords --test tiles_model",
                self.0
            );
        }
    }
}

fn sequence(seed: u64) {
    let _replay = Replay(seed);
    let mut s = Seeded(seed);
    let mut pair = Pair::new();
    for _ in 0..40 {
        pair.change(&mut s);
        pair.check(&mut s);
    }
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
    )
}

#[test]
fn tile_index_agrees_with_the_list_after_every_operation() {
    if let Some(seed) = number("NEBULA_MODEL_SEED") {
        return sequence(seed);
    }
    for seed in 0..number("NEBULA_MODEL_SEQUENCES").unwrap_or(2_000) {
        sequence(seed);
    }
}
