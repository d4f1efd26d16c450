//! The rule of interest over all pairs, in plain big-integer arithmetic. It shares nothing with the
//! index or with the crate's own interest code: slow, and obviously right.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigUint;

/// How an entity becomes relevant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relevant {
    Near,
    Always,
    Never,
}

/// What the rule asks of an entity. `E` names entities, `C` clients.
#[derive(Clone, Debug)]
pub(crate) struct Thing<E, C> {
    pub(crate) at: Option<[i128; 3]>,
    pub(crate) reach_mm: u128,
    pub(crate) relevant: Relevant,
    pub(crate) layers: u32,
    pub(crate) owner: Option<C>,
    /// The parent whose visibility it shares; `Some(None)` follows nobody.
    pub(crate) follows: Option<Option<E>>,
}

/// A sphere that a client looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sphere {
    pub(crate) center: [i128; 3],
    pub(crate) radius_mm: u128,
    pub(crate) margin_mm: u128,
}

/// What the rule asks of a client.
#[derive(Clone, Debug)]
pub(crate) struct Viewer<C> {
    pub(crate) id: C,
    pub(crate) layers: u32,
    pub(crate) spheres: Vec<Sphere>,
}

/// Returns whether two points are at most `limit` apart.
fn within(a: [i128; 3], b: [i128; 3], limit: &BigUint) -> bool {
    let apart = [0, 1, 2].map(|axis| a[axis].abs_diff(b[axis]));
    let squares = apart.map(|d| BigUint::from(d) * d);
    squares.into_iter().sum::<BigUint>() <= limit * limit
}

/// Returns the square of the distance to the nearest sphere's centre.
pub(crate) fn nearest<E, C>(viewer: &Viewer<C>, thing: &Thing<E, C>) -> Option<BigUint> {
    let at = thing.at?;
    let squares = viewer.spheres.iter().map(|sphere| {
        let apart = [0, 1, 2].map(|axis| at[axis].abs_diff(sphere.center[axis]));
        apart.map(|d| BigUint::from(d) * d).into_iter().sum()
    });
    squares.min()
}

fn is_near<E, C>(viewer: &Viewer<C>, thing: &Thing<E, C>, was_in: bool) -> bool {
    let Some(at) = thing.at else { return false };
    viewer.spheres.iter().any(|sphere| {
        let mut limit = BigUint::from(sphere.radius_mm) + thing.reach_mm;
        if was_in {
            limit += sphere.margin_mm;
        }
        within(at, sphere.center, &limit)
    })
}

/// Returns who is in the client's set, given who was in it a tick ago.
pub(crate) fn set<E: Copy + Ord, C: Copy + PartialEq>(
    viewer: &Viewer<C>,
    things: &BTreeMap<E, Thing<E, C>>,
    before: &BTreeSet<E>,
) -> BTreeSet<E> {
    let mut members = BTreeSet::new();
    // A follower may follow a follower: as many rounds as there are things reach the end of any
    // chain, and the first round without a new member ends it.
    loop {
        let new: Vec<E> = things
            .iter()
            .filter(|(id, _)| !members.contains(*id))
            .filter(|(id, thing)| is_in(viewer, **id, thing, before, &members))
            .map(|(id, _)| *id)
            .collect();
        if new.is_empty() {
            return members;
        }
        members.extend(new);
    }
}

fn is_in<E: Copy + Ord, C: Copy + PartialEq>(
    viewer: &Viewer<C>,
    id: E,
    thing: &Thing<E, C>,
    before: &BTreeSet<E>,
    members: &BTreeSet<E>,
) -> bool {
    if thing.relevant == Relevant::Never || thing.layers & viewer.layers == 0 {
        return false;
    }
    if thing.relevant == Relevant::Always || thing.owner == Some(viewer.id) {
        return true;
    }
    match thing.follows {
        Some(parent) => parent.is_some_and(|parent| members.contains(&parent)),
        None => is_near(viewer, thing, before.contains(&id)),
    }
}

#[test]
fn the_rule_is_exact_at_the_ends_of_space() {
    let sphere = Sphere {
        center: [i128::MIN; 3],
        radius_mm: 10,
        margin_mm: 5,
    };
    let viewer = Viewer {
        id: 1,
        layers: 1,
        spheres: vec![sphere],
    };
    let at = |x: i128| Thing {
        at: Some([x, i128::MIN, i128::MIN]),
        reach_mm: 2,
        relevant: Relevant::Near,
        layers: 1,
        owner: None,
        follows: None,
    };
    let things = BTreeMap::from([
        (1, at(i128::MIN + 12)),
        (2, at(i128::MIN + 13)),
        (3, at(i128::MAX)),
        (4, at(i128::MIN + 17)),
        (5, at(i128::MIN + 18)),
    ]);
    let before = BTreeSet::from([3, 4, 5]);
    assert_eq!(set(&viewer, &things, &before), BTreeSet::from([1, 4]));
}
