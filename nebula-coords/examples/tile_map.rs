//! A tile map: movement and interaction ask one shared position service.
//!
//! Run with `cargo run -p nebula-coords --example tile_map`.
#![expect(clippy::print_stdout, reason = "an example that prints a page")]

use std::collections::BTreeMap;

use nebula_coords::{
    Collider, Elevation, ElevationRules, EntityPositions, Metric, Tile, TileIndex, TileKind,
    TilePosition, TileRange,
};

type Id = u32;
type Map = &'static str;
/// What the systems know of the index: questions, and nothing else.
type Positions = dyn EntityPositions<Id = Id, Map = Map>;

const TOWN: Map = "town";

/// What the game knows about a thing; the index only knows where it is.
struct Thing {
    name: &'static str,
    sign: char,
    collider: Option<Collider>,
}

type Things = BTreeMap<Id, Thing>;

/// The movement system's question: may `mover` stand there?
fn can_enter(positions: &Positions, things: &Things, mover: Id, to: TilePosition) -> bool {
    !positions.is_blocked(&TOWN, to, mover, &|id| things.get(&id)?.collider)
}

/// The interaction system's question: what is one step away?
fn within_reach(positions: &Positions, things: &Things, from: TilePosition) -> Vec<&'static str> {
    let mut found = Vec::new();
    positions.query_adjacent(&TOWN, from, &mut found);
    found.iter().map(|id| things[id].name).collect()
}

/// Moves a thing one step if nothing stands in the way, and says what happened.
fn step(index: &mut TileIndex<Id, Map>, things: &Things, id: Id, dx: i32, dy: i32) -> bool {
    let Some((_, from)) = index.get(id) else {
        return false;
    };
    let to = TilePosition::new(from.tile.x + dx, from.tile.y + dy, from.elevation);
    let free = can_enter(index, things, id, to);
    if free {
        index.update(id, to);
    }
    let outcome = if free { "enters" } else { "is stopped at" };
    println!("  {:<8} {outcome} {}", things[&id].name, to.tile);
    free
}

/// Draws the town; the highest thing on a tile is on top.
fn draw(positions: &Positions, things: &Things) {
    for y in 0..5 {
        let row: String = (-3..=8)
            .map(|x| {
                let here = positions.query_at_any_elevation(&TOWN, Tile::new(x, y));
                here.last().map_or('.', |id| things[id].sign)
            })
            .collect();
        println!("  {row}");
    }
}

fn main() {
    let solid = Some(Collider {
        solid: true,
        pass_through: false,
    });
    let open = Some(Collider {
        solid: true,
        pass_through: true,
    });
    let things: Things = [
        (
            1,
            Thing {
                name: "player",
                sign: '@',
                collider: solid,
            },
        ),
        (
            2,
            Thing {
                name: "baker",
                sign: 'B',
                collider: solid,
            },
        ),
        (
            3,
            Thing {
                name: "door",
                sign: '/',
                collider: open,
            },
        ),
        (
            4,
            Thing {
                name: "key",
                sign: 'k',
                collider: None,
            },
        ),
        (
            5,
            Thing {
                name: "stork",
                sign: 'S',
                collider: solid,
            },
        ),
        (
            6,
            Thing {
                name: "guard",
                sign: 'G',
                collider: solid,
            },
        ),
        (
            7,
            Thing {
                name: "well",
                sign: 'W',
                collider: solid,
            },
        ),
        (
            8,
            Thing {
                name: "cart",
                sign: 'C',
                collider: solid,
            },
        ),
    ]
    .into();

    // Who stands on which floor is a rule with a setting, not a number in the code.
    let rules = ElevationRules::default();
    let street = rules.player;
    let on_street = TileKind::Npc { elevation: street };
    let on_roof = TileKind::Npc {
        elevation: Elevation::MAX,
    };
    let place = |kind, x, y| TilePosition::new(x, y, rules.elevation_of(kind));
    let mut index = TileIndex::new();
    let frame = [
        (1, TOWN, place(TileKind::Player, -2, 2)),
        (2, TOWN, place(on_street, 1, 2)),
        (3, TOWN, place(on_street, -1, 2)),
        (4, TOWN, place(TileKind::Item, 0, 2)),
        (5, TOWN, place(on_roof, 0, 2)),
        (6, TOWN, place(on_street, 0, 0)),
        (7, TOWN, place(on_street, 2, 2)),
        (8, TOWN, place(TileKind::Pushable, 3, 3)),
    ];
    index.reindex(frame);

    println!("The town, with floors 0 to 15 (a stork sits on a roof, a key lies below it):");
    draw(&index, &things);

    println!("\nThe player walks east, through the open door and under the stork:");
    while step(&mut index, &things, 1, 1, 0) {}
    let (_, here) = index.get(1).expect("the player is on the map");
    println!(
        "  within reach now: {}",
        within_reach(&index, &things, here).join(", ")
    );

    println!("\nThe player steps up; the guard wants the same tile in the same frame:");
    step(&mut index, &things, 1, 0, -1);
    step(&mut index, &things, 6, 0, 1);
    draw(&index, &things);

    println!("\nThree ways to measure 'within 3 tiles of the guard', on any floor:");
    let (_, guard) = index.get(6).expect("the guard is on the map");
    let mut found = Vec::new();
    for metric in [Metric::Manhattan, Metric::Euclidean, Metric::Chebyshev] {
        let range = TileRange {
            center: guard.tile,
            range: 3,
            metric,
            elevation: None,
        };
        index.query_range(&TOWN, &range, &mut found);
        let names: Vec<_> = found.iter().map(|id| things[id].name).collect();
        println!("  {:<10} {}", format!("{metric:?}:"), names.join(", "));
    }

    println!("\nThe next frame lists everything again; the baker is gone:");
    let listed: Vec<_> = [1, 3, 4, 5, 6, 7, 8]
        .into_iter()
        .filter_map(|id| index.get(id).map(|(map, at)| (id, *map, at)))
        .collect();
    let report = index.reindex(listed);
    println!(
        "  {} unchanged, {} moved, {} entered, {} exited",
        report.unchanged, report.moved, report.entered, report.exited
    );

    crowded_map();
}

/// The comparison that makes the case for an index: 100 characters, one question.
fn crowded_map() {
    let mut index = TileIndex::new();
    for id in 0..100 {
        index.insert(
            id,
            &"fair",
            TilePosition::new(id * 7 % 50, id * 3 % 20, Elevation::GROUND),
        );
    }
    let at = TilePosition::new(25, 15, Elevation::GROUND);
    println!("\nWho is at (25, 15), with 100 characters on the map?");
    println!(
        "  a scan looks at {}, the index at {}",
        index.len(),
        index.query_at(&"fair", at).len()
    );
}
