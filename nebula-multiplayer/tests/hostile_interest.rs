//! The rows of the list of hostile inputs that belong to interest.

#[path = "common/places.rs"]
mod places;

use bevy_ecs::prelude::*;
use nebula_math::{MetersError, WorldPosition};
use nebula_multiplayer::interest::{
    Area, ClientFacts, Facts, Interest, InterestArea, InterestConfig, InterestMargin,
    SpatialInterestSystem, entities_in_interest_area, within_interest,
};
use nebula_multiplayer::replication::{NetworkIds, Replicate};
use nebula_multiplayer::{ClientId, NetworkId};
use places::{FAR, HERE};

const CLIENT: ClientId = ClientId::new(1);

fn id(index: usize) -> NetworkId {
    NetworkId::new(u32::try_from(index).unwrap(), 0)
}

/// Every mix of the extremes on three axes.
fn corners() -> Vec<WorldPosition> {
    let ends = [i128::MIN, i128::MIN + 1, -1, 0, i128::MAX - 1, i128::MAX];
    let mut corners = Vec::new();
    for x in ends {
        for y in ends {
            corners.extend(ends.map(|z| WorldPosition::new(x, y, z)));
        }
    }
    corners
}

#[test]
fn hostile_24_positions_at_the_ends_of_every_axis() {
    let corners = corners();
    let mut interest = Interest::new();
    interest.add_client(CLIENT, ClientFacts::default());
    for (index, at) in corners.iter().enumerate() {
        interest.insert(id(index), Facts::at(*at));
    }
    for center in &corners {
        interest.set_areas(CLIENT, &[Area::new(*center, 1).with_margin(1)]);
        interest.update();
        let set = interest.set(CLIENT).unwrap();
        for (index, at) in corners.iter().enumerate() {
            // By hand: one step along one axis at most, and no way around the end of the universe.
            let steps = center.abs_diff(at);
            let near = steps.iter().all(|step| *step <= 1) && steps.iter().sum::<u128>() <= 1;
            if near {
                assert!(set.contains(id(index)), "{center:?} sees {at:?}");
            } else if steps.iter().any(|step| *step > 2) {
                assert!(!set.contains(id(index)), "{center:?} does not see {at:?}");
            }
        }
    }
    // Everybody moves from one end to the other.
    let swapped: Vec<_> = corners
        .iter()
        .enumerate()
        .map(|(index, at)| (id(index), WorldPosition::new(!at.x, !at.y, !at.z)))
        .collect();
    assert_eq!(interest.move_batch(&swapped), 0);
    interest.update();
    assert!(
        interest.set(CLIENT).unwrap().contains(id(0)),
        "MIN went to MAX, where the client is"
    );
}

#[test]
fn hostile_26_things_far_apart_are_never_near() {
    let mut interest = Interest::new();
    interest.add_client(CLIENT, ClientFacts::default());
    for (index, at) in FAR.iter().enumerate() {
        interest.insert(id(index), Facts::at(*at));
        assert!(!within_interest(&HERE, at, 500.0) && !within_interest(at, &HERE, 1e12));
    }
    for radius in [0, 500_000, (1 << 64) - 1] {
        interest.set_areas(CLIENT, &[Area::new(HERE, radius)]);
        interest.update();
        assert!(interest.set(CLIENT).unwrap().is_empty(), "radius {radius}");
    }
    interest.set_areas(CLIENT, &[Area::new(HERE, 1 << 64)]);
    interest.update();
    assert!(
        interest.set(CLIENT).unwrap().iter().eq([id(0)]),
        "the boundary itself is near"
    );
}

#[test]
fn hostile_28_radii_that_are_no_radii_have_no_effect_and_cost_nothing() {
    // No message names a radius: a client's area is set by the server's code and components alone.
    for (bad, error) in [
        (f64::NAN, "NaN metres is not a length"),
        (f64::INFINITY, "inf metres is not finite"),
        (f64::NEG_INFINITY, "-inf metres is not finite"),
        (
            -0.001,
            "-0.001 metres is negative; a radius is zero or more",
        ),
    ] {
        assert_eq!(InterestArea::new(bad).unwrap_err().to_string(), error);
        assert_eq!(InterestMargin::new(bad).unwrap_err().to_string(), error);
        assert!(!within_interest(
            &WorldPosition::ORIGIN,
            &WorldPosition::ORIGIN,
            bad
        ));
        let index = nebula_coords::SpatialIndex::from_points(&[(1_u32, WorldPosition::ORIGIN)]);
        assert!(entities_in_interest_area(&index, &WorldPosition::ORIGIN, bad).is_empty());
    }
    assert!(matches!(
        InterestArea::new(1e40),
        Err(MetersError::OutOfRange(_))
    ));
    assert_eq!(InterestArea::new(0.0).unwrap().radius_mm(), Ok(0));

    let mut world = World::new();
    let player = world
        .spawn((Replicate, WorldPosition::MAX, InterestArea::default()))
        .id();
    let mut interest = Interest::new();
    let mut system = SpatialInterestSystem::new(InterestConfig::default()).unwrap();
    system.add_client(&mut interest, CLIENT);
    system.set_player(CLIENT, Some(player));
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        world.get_mut::<InterestArea>(player).unwrap().radius = bad;
        NetworkIds::maintain(&mut world);
        system.run(&mut world, &mut interest);
        assert_eq!(
            interest.areas(CLIENT).unwrap()[0].radius_mm,
            500_000,
            "{bad}"
        );
        assert_eq!(system.issues().count(), 1, "{bad} is reported");
    }

    // Work is bounded by what is stored, however large the radius: 3 entities, and it is over.
    for (index, at) in [WorldPosition::MIN, WorldPosition::ORIGIN]
        .iter()
        .enumerate()
    {
        interest.insert(id(index + 10), Facts::at(*at));
    }
    for radius in [i128::MAX.unsigned_abs(), 1 << 127, u128::MAX] {
        interest.set_areas(
            CLIENT,
            &[Area::new(WorldPosition::ORIGIN, radius).with_margin(u128::MAX)],
        );
        interest.update();
        assert!(interest.set(CLIENT).unwrap().contains(id(11)), "{radius}");
    }
    assert_eq!(
        interest.set(CLIENT).unwrap().len(),
        3,
        "2^128 reaches every corner from the middle"
    );
}

#[test]
fn hostile_30_oscillating_over_a_border_enters_once_with_a_margin() {
    let mut interest = Interest::new();
    interest.add_client(CLIENT, ClientFacts::default());
    // The border lies on a sector edge.
    let center = WorldPosition::new((1 << 32) - 500_000, 0, 0);
    let run = |interest: &mut Interest, margin: u128| {
        interest.set_areas(CLIENT, &[Area::new(center, 500_000).with_margin(margin)]);
        let mut entered = 0;
        for tick in 0..60 {
            let x = (1 << 32) + i128::from(tick % 2);
            interest.insert(id(1), Facts::at(WorldPosition::new(x, 0, 0)));
            interest.update();
            entered += interest.transitions(CLIENT).unwrap().entered.len();
        }
        entered
    };
    assert_eq!(
        run(&mut interest, 50_000),
        1,
        "one spawn in a second of 60 ticks"
    );
    interest.remove(id(1));
    interest.update();
    assert_eq!(
        run(&mut interest, 0),
        30,
        "the literal rule; then re-entry is a delta"
    );
}

#[test]
fn hostile_31_everybody_at_one_point() {
    // The whole of it takes 0.8 GB for the exact sets, so a debug build does a part.
    let (clients, entities) = if cfg!(debug_assertions) {
        (20, 6_000)
    } else {
        (1_000, 100_000)
    };
    let spot = WorldPosition::new(i128::MIN, -1, i128::MAX);
    let mut interest = Interest::new();
    for index in 0..entities {
        interest.insert(id(index), Facts::at(spot));
    }
    for number in 0..clients {
        let client = ClientId::new(number);
        interest.add_client(client, ClientFacts::default());
        interest.set_areas(client, &[Area::new(spot, 500_000)]);
    }
    let report = interest.update();
    assert_eq!(report.examined, usize::try_from(clients).unwrap());
    for number in 0..clients {
        let client = ClientId::new(number);
        assert_eq!(
            interest.set(client).unwrap().len(),
            entities,
            "the set is exact"
        );
        let view = interest.view(client).unwrap();
        assert!(view.is_capped());
        assert!(
            view.members().iter().copied().eq((0..4_096).map(id)),
            "equally far: by id"
        );
    }
    // One steps aside: it ranks last, and the next in line takes its place.
    interest.move_batch(&[(id(7), WorldPosition::new(spot.x + 1, spot.y, spot.z))]);
    interest.update();
    let view = interest.view(CLIENT).unwrap();
    assert_eq!(view.entered(), [id(4_096)]);
    assert_eq!(view.exited().len(), 1);
    assert_eq!(interest.set(CLIENT).unwrap().len(), entities);
}
