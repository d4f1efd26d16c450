//! What a client shows, held against what was true while it was allowed to know.

use std::collections::BTreeMap;

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use nebula_multiplayer::ClientId;

use super::truth::History;
use super::world::{self, State};

/// What a client showed a tick ago, to look at changes only.
pub(crate) type Shown = BTreeMap<u64, (Entity, State)>;

/// Returns the oldest tick that a client's view of an entity needs: every field it shows was true, and
/// the entity in its set, at that tick or later. An error names a field that never was.
pub(crate) fn provenance(
    history: &History,
    client: ClientId,
    tag: u64,
    shown: &State,
) -> Result<u64, String> {
    let seen = |field: &str, test: &dyn Fn(&State) -> bool| {
        let tick = history.last_seen(client, tag, test);
        tick.ok_or_else(|| {
            let past = history.describe(client, tag);
            format!("{client} shows a {field} of entity {tag} that it never could know: {shown:?}; {past}")
        })
    };
    let mut ticks = vec![
        seen("position", &|truth| truth.at == shown.at)?,
        seen("secret", &|truth| truth.secret == shown.secret)?,
        seen("health", &|truth| truth.health == shown.health)?,
        seen("title", &|truth| truth.title == shown.title)?,
    ];
    if shown.purse.is_some() {
        let own = |truth: &State| truth.purse == shown.purse && truth.owner == Some(client);
        ticks.push(seen("purse", &own)?);
    }
    // A component larger than a packet follows when its last piece arrives.
    if shown.hold.is_some() {
        ticks.push(seen("hold", &|truth| truth.hold == shown.hold)?);
    }
    // An aim at someone unseen shows as an aim at nobody.
    let aim = |truth: &State| match shown.aim {
        Some(Some(_)) | None => truth.aim == shown.aim,
        Some(None) => truth.aim.is_some(),
    };
    ticks.push(seen("aim", &aim)?);
    if shown.plot.is_some() {
        return Err(format!(
            "{client} shows a component of entity {tag} that never leaves"
        ));
    }
    Ok(ticks.into_iter().min().unwrap_or(0))
}

/// Returns what differs between what a client shows and what it should show.
fn difference(expected: &BTreeMap<u64, State>, shown: &Shown) -> Option<String> {
    let missing = expected.keys().find(|tag| !shown.contains_key(tag));
    if let Some(tag) = missing {
        return Some(format!("entity {tag} is missing"));
    }
    for (tag, (_, state)) in shown {
        match expected.get(tag) {
            None => return Some(format!("entity {tag} should be gone")),
            Some(right) if right != state => {
                return Some(format!("entity {tag} is {state:?}, should be {right:?}"));
            }
            Some(_) => {}
        }
    }
    None
}

/// What changed in a client's world in one tick.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) spawns: u64,
    pub(crate) despawns: u64,
}

/// Looks at a client's world: whatever changed in it must have been true while the client was allowed
/// to know. Keeps what is shown for the next look.
pub(crate) fn look(
    history: &History,
    client: ClientId,
    world: &mut World,
    before: &mut Shown,
) -> Result<Changes, String> {
    let shown = match world::states(world) {
        Ok(shown) => shown,
        // One that was disabled in between is another entity to clients, and its coming may arrive
        // before its going.
        Err(doubled) if history.visits(client, doubled.0) > 1 => return Ok(Changes::default()),
        Err(doubled) => return Err(format!("{client}: {}", String::from(doubled))),
    };
    let mut changes = Changes::default();
    for (tag, (entity, state)) in &shown {
        let last = before.get(tag);
        if last.is_none_or(|(old, _)| old != entity) {
            changes.spawns += 1;
        }
        if last.is_none_or(|(_, old)| old != state) {
            provenance(history, client, *tag, state)?;
        }
    }
    let gone = before.keys().filter(|tag| !shown.contains_key(tag));
    changes.despawns = gone.count() as u64;
    *before = shown;
    Ok(changes)
}

/// Returns what a client's world shows otherwise than expected.
pub(crate) fn shown_wrongly(expected: &BTreeMap<u64, State>, world: &mut World) -> Option<String> {
    match world::states(world) {
        Ok(shown) => difference(expected, &shown),
        Err(doubled) => Some(doubled.into()),
    }
}

/// Returns what a client should show when everything has arrived.
pub(crate) fn expected(
    truth: &BTreeMap<u64, State>,
    view: &std::collections::BTreeSet<u64>,
    client: ClientId,
) -> BTreeMap<u64, State> {
    let visible = view
        .iter()
        .filter_map(|tag| Some((*tag, truth.get(tag)?.clone())));
    let shown = visible.map(|(tag, mut state)| {
        if state.owner != Some(client) {
            state.purse = None;
        }
        state.owner = None;
        state.plot = None;
        state.aim = state.aim.map(|at| at.filter(|tag| view.contains(tag)));
        (tag, state)
    });
    shown.collect()
}
