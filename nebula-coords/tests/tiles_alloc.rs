//! A settled game allocates nothing: neither its frames nor its questions.

use core::ops::ControlFlow;

use allocation_counter::measure;
use nebula_coords::{Elevation, EntityPositions, Tile, TileIndex, TilePosition, TileRange};

const WIDTH: i32 = 64;
const HEIGHT: i32 = 16;

/// 200 wanderers on a map of 64 x 16 tiles, each a step further every frame.
fn frame(number: i32) -> impl Iterator<Item = (i32, u8, TilePosition)> {
    (0..200).map(move |id| {
        let step = id * 37 + number * (id % 3 - 1);
        let tile = step.rem_euclid(WIDTH * HEIGHT);
        let floor = Elevation::new(i64::from(id % 4)).unwrap();
        (
            id,
            1,
            TilePosition::new(tile % WIDTH - 9, tile / WIDTH, floor),
        )
    })
}

#[test]
fn frames_recycle_their_memory() {
    let mut index = TileIndex::new();
    for number in 0..1_000 {
        index.reindex(frame(number));
    }
    let mut moved = 0;
    let used = measure(|| {
        for number in 1_000..1_500 {
            moved += index.reindex(frame(number)).moved;
        }
    });
    assert!(moved > 50_000, "the frames did move things: {moved}");
    assert_eq!(used.count_total, 0, "{used:?}");
    index.validate().unwrap();
}

#[test]
fn moves_and_questions_allocate_nothing() {
    let mut index = TileIndex::new();
    for number in 0..500 {
        index.reindex(frame(number));
    }
    let mut found = Vec::with_capacity(400);
    let mut total = 0;
    let used = measure(|| {
        for id in 0..200 {
            let (map, at) = index.get(id).map(|(map, at)| (*map, at)).unwrap();
            total += index.query_at(&map, at).len();
            total += index.query_at_any_elevation(&map, at.tile).len();
            index.query_adjacent(&map, at, &mut found);
            for range in 0..4 {
                index.query_range(
                    &map,
                    &TileRange::manhattan(at.tile, range, at.elevation),
                    &mut found,
                );
                total += found.len();
            }
            let everywhere = TileRange {
                elevation: None,
                ..TileRange::manhattan(Tile::new(0, 0), 8, at.elevation)
            };
            let _ = index.visit_range(&map, &everywhere, &mut |ids| {
                total += ids.len();
                ControlFlow::Continue(())
            });
        }
    });
    assert!(total > 2_000, "{total}");
    assert_eq!(used.count_total, 0, "{used:?}");
}
