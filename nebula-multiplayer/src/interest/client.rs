//! One client: its areas, its set, and how the set is made anew.

use nebula_coords::{Region, SpatialQuery};
use nebula_math::{Aabb128, WorldPosition};

use super::diff::{self, Marks};
use super::entities::{Entities, Group, Slot, is_in};
use super::grid::Cells;
use super::view::Capped;
use super::{
    Area, ClientFacts, ClientInterestSet, ExitReason, InterestTransitions, MAX_FOLLOW_DEPTH, Rule,
    limit,
};
use crate::{ClientId, NetworkId};

/// A town has 2^22 mm, about 4 km.
const TOWN: u32 = 22;

/// What is kept of a client.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) id: ClientId,
    pub(super) facts: ClientFacts,
    pub(super) areas: Vec<Area>,
    /// Where the grid holds each area.
    pub(super) cells: Vec<Cells>,
    pub(super) set: ClientInterestSet,
    pub(super) transitions: InterestTransitions,
    /// The exited of `transitions`, with reasons.
    pub(super) left: Vec<(NetworkId, ExitReason)>,
    /// What is replicated, if that is not the whole set, now or before the last update.
    pub(super) capped: Option<Capped>,
}

impl Client {
    pub(super) fn new(id: ClientId, facts: ClientFacts) -> Self {
        Self {
            id,
            facts,
            areas: Vec::new(),
            cells: Vec::new(),
            set: ClientInterestSet::new(id),
            transitions: InterestTransitions::default(),
            left: Vec::new(),
            capped: None,
        }
    }

    /// Returns whether an entity of this rule and position is in some area, margins aside or with
    /// them.
    pub(super) fn is_near(&self, at: &WorldPosition, reach_mm: u128, margin: bool) -> bool {
        self.areas
            .iter()
            .any(|area| is_in(area, at, reach_mm, margin))
    }

    /// Returns roughly where the first area is: clients in one town have it in common.
    pub(super) fn whereabouts(&self) -> Option<[i128; 3]> {
        let area = self.areas.first()?;
        Some(area.center.to_array().map(|c| c >> TOWN))
    }

    /// Returns whether the set or the view changed in the last update.
    pub(super) fn has_changed(&self) -> bool {
        !self.transitions.is_empty() || self.capped.as_ref().is_some_and(Capped::has_changed)
    }

    /// Ends the time in which the last changes are new.
    pub(super) fn settle(&mut self) {
        self.transitions.entered.clear();
        self.transitions.exited.clear();
        self.left.clear();
        self.set.settled = true;
        if let Some(capped) = &mut self.capped {
            capped.settle();
            if !capped.is_active() {
                self.capped = None;
            }
        }
    }

    /// Makes the set anew and finds out what changed.
    pub(super) fn examine(&mut self, world: &Entities) {
        let set = &mut self.set;
        core::mem::swap(&mut set.current, &mut set.previous);
        set.settled = false;
        let previous = core::mem::take(&mut set.previous);
        let mut members = core::mem::take(&mut set.current);
        members.clear();
        let mut changes = core::mem::take(&mut self.transitions);
        changes.entered.clear();
        changes.exited.clear();

        diff::with_marks(|marks| {
            self.collect_near(world, marks, &mut members);
            self.collect_by_rule(world, &mut members);
            diff::compare(&previous, &members, marks, &mut changes);
        });
        if self.areas.iter().any(|area| area.margin_mm > 0) {
            changes.exited.retain(|id| {
                let kept = self.is_kept(world, *id);
                if kept {
                    members.push(*id);
                }
                !kept
            });
        }
        diff::sort(&mut changes.exited);
        if !world.children.is_empty() {
            self.collect_followers(world, &mut members, &mut changes);
        }
        diff::sort(&mut changes.entered);

        self.left.clear();
        for id in &changes.exited {
            self.left.push((*id, self.why_out(world, *id)));
        }
        self.transitions = changes;
        self.set.previous = previous;
        self.set.current = members;
        self.examine_view(world);
        self.set.settled = self.transitions.is_empty();
    }

    /// Collects what some area holds, each once, in the order of the indexes.
    fn collect_near(&self, world: &Entities, marks: &mut Marks, members: &mut Vec<NetworkId>) {
        let mut found = marks.take_buffer();
        for (nth, area) in self.areas.iter().enumerate() {
            for group in &world.groups {
                if group.plain && !self.facts.layers.intersects(super::Layers::default()) {
                    continue;
                }
                let region = sphere(area, group);
                let earlier = &self.areas[..nth];
                let overlaps = earlier.iter().any(|other| may_share(area, other, group));
                let whole = matches!(region, Region::Box(_));
                let exact = group.plain && group.max_reach_mm == 0 && !overlaps && !whole;
                if exact && members.is_empty() {
                    group.index.collect(&region, members);
                    continue;
                }
                group.index.collect(&region, &mut found);
                if !exact {
                    found.retain(|id| {
                        let slot = world.slot(*id).expect("the indexes hold stored entities");
                        let (at, reach) = world.near_facts(*id, slot).expect("it was found there");
                        slot.layers.intersects(self.facts.layers)
                            && is_in(area, &at, reach, false)
                            && !earlier.iter().any(|other| is_in(other, &at, reach, false))
                    });
                }
                members.extend_from_slice(&found);
            }
        }
        marks.return_buffer(found);
    }

    /// Collects what the client owns and what everybody sees, unless it is near anyway.
    fn collect_by_rule(&self, world: &Entities, members: &mut Vec<NetworkId>) {
        if let Some(owned) = world.owned.get(&self.id) {
            members.extend(owned.iter().filter(|id| {
                let slot = world.slot(**id).expect("only stored entities are owned");
                slot.rule == Rule::Near
                    && slot.layers.intersects(self.facts.layers)
                    && !world
                        .near_facts(**id, slot)
                        .is_some_and(|(at, reach)| self.is_near(&at, reach, false))
            }));
        }
        members.extend(world.always.iter().filter(|id| {
            let slot = world.slot(**id).expect("only stored entities are listed");
            slot.layers.intersects(self.facts.layers)
        }));
    }

    /// Returns whether a former member stays because of a margin.
    fn is_kept(&self, world: &Entities, id: NetworkId) -> bool {
        world.slot(id).is_some_and(|slot| {
            slot.layers.intersects(self.facts.layers)
                && world
                    .near_facts(id, slot)
                    .is_some_and(|(at, reach)| self.is_near(&at, reach, true))
        })
    }

    /// Collects those who follow a member. `changes.exited` is sorted and stays so.
    fn collect_followers(
        &self,
        world: &Entities,
        members: &mut Vec<NetworkId>,
        changes: &mut InterestTransitions,
    ) {
        let (mut from, mut to) = (0, members.len());
        let first = to;
        for _ in 0..MAX_FOLLOW_DEPTH {
            for at in from..to {
                let parent = members[at];
                if !world.slot(parent).is_some_and(|slot| slot.is_parent) {
                    continue;
                }
                for child in world.children.get(&parent).into_iter().flatten() {
                    let slot = world.slot(*child).expect("only stored entities follow");
                    if self.follows(world, slot) {
                        members.push(*child);
                    }
                }
            }
            (from, to) = (to, members.len());
            if from == to {
                break;
            }
        }
        let mut stays = vec![false; changes.exited.len()];
        for id in &members[first..] {
            match changes.exited.binary_search(id) {
                Ok(at) => stays[at] = true,
                Err(_) => changes.entered.push(*id),
            }
        }
        let mut stays = stays.into_iter();
        changes.exited.retain(|_| !stays.next().unwrap_or(false));
    }

    /// Returns whether a follower is a member because of its parent alone.
    pub(super) fn follows(&self, world: &Entities, slot: &Slot) -> bool {
        let extra = world.extra(slot);
        slot.rule == Rule::Near
            && extra.follows.is_some()
            && extra.owner != Some(self.id)
            && slot.layers.intersects(self.facts.layers)
    }

    /// Returns why an entity is not a member, as far as the facts tell.
    pub(super) fn why_out(&self, world: &Entities, id: NetworkId) -> ExitReason {
        let Some(slot) = world.slot(id) else {
            return ExitReason::Destroyed;
        };
        if slot.rule == Rule::Never {
            ExitReason::Hidden
        } else if !slot.layers.intersects(self.facts.layers) {
            ExitReason::Layers
        } else if world.extra(slot).follows.is_some() {
            ExitReason::Parent
        } else if world.position(id, slot).is_none() {
            ExitReason::NoPosition
        } else if self.areas.is_empty() {
            ExitReason::NoArea
        } else {
            ExitReason::Distance
        }
    }
}

/// Returns the region that holds every entity of a group that can be in an area: a ball, or all there
/// is if that is too large for a query.
fn sphere(area: &Area, group: &Group) -> Region {
    match limit::radius([area.radius_mm, group.max_reach_mm, 0]) {
        Some(radius_mm) => Region::ball(area.center, radius_mm),
        None => Region::Box(Aabb128::UNIVERSE),
    }
}

/// Returns whether an entity of a group can be in both areas.
fn may_share(a: &Area, b: &Area, group: &Group) -> bool {
    let twice = group.max_reach_mm.saturating_mul(2);
    // A saturated reach covers the universe all the more.
    limit::is_within(&a.center, &b.center, [a.radius_mm, b.radius_mm, twice])
}
