//! Why an entity is or is not replicated to a client: with the numbers, and as a sentence.

use core::fmt;

use nebula_math::{U384, WorldPosition, units};

use super::client::Client;
use super::entities::{Entities, is_in};
use super::{ExitReason, Rule};
use crate::{ClientId, NetworkId, Tick};

/// Why an entity is in a client's set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EnterReason {
    /// The client owns it.
    Own,
    /// It is relevant to everybody.
    Always,
    /// It is within the radius of an area and its own reach.
    Near,
    /// It was within, and has not left the margin yet.
    Margin,
    /// The client sees the parent that it follows.
    Parent(NetworkId),
}

/// What [`Interest::explain`](super::Interest::explain) found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// There is no such client.
    UnknownClient,
    /// There is no such entity, or no longer.
    UnknownEntity,
    /// It is replicated.
    Seen(EnterReason),
    /// It is in the set, but others come first.
    OverCapacity(EnterReason),
    /// It is not in the set.
    NotSeen(ExitReason),
    /// Something changed since the last update; the next one decides.
    Pending {
        /// Whether the set holds it until then.
        member: bool,
    },
}

/// How far an entity is from the area that counts: the one that holds it, else the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearness {
    /// Which of the client's areas, counted from 0.
    pub area: usize,
    /// The middle of the area.
    pub center: WorldPosition,
    /// Where the entity is.
    pub position: WorldPosition,
    /// The exact square of their distance in millimetres.
    pub distance_squared: U384,
    /// The radius of the area.
    pub radius_mm: u128,
    /// The reach of the entity.
    pub reach_mm: u128,
    /// The margin of the area.
    pub margin_mm: u128,
}

impl Nearness {
    /// Returns the distance in metres, rounded.
    #[must_use]
    pub fn distance_m_lossy(&self) -> f64 {
        self.center.distance_lossy(&self.position)
    }
}

/// Why an entity is or is not replicated to a client. `to_string` makes a sentence of it.
///
/// ```
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::interest::{Area, ClientFacts, Facts, Interest, Verdict};
/// use nebula_multiplayer::{ClientId, NetworkId};
///
/// let (client, rock) = (ClientId::new(1), NetworkId::new(4, 0));
/// let mut interest = Interest::new();
/// interest.add_client(client, ClientFacts::default());
/// interest.set_areas(client, &[Area::new(WorldPosition::ORIGIN, 500_000)]);
/// interest.insert(rock, Facts::at(WorldPosition::new(-600_000, 0, 0)));
/// interest.update();
///
/// let why = interest.explain(client, rock);
/// assert_eq!(why.nearness.unwrap().radius_mm, 500_000);
/// assert_eq!(
///     why.to_string(),
///     "entity 4v0 is not sent to client 1: it is 600 m from area 0, which takes it in within 500 m"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Whose view is asked about.
    pub client: ClientId,
    /// Which entity is asked about.
    pub entity: NetworkId,
    /// The answer.
    pub verdict: Verdict,
    /// The entity's rule, if it is stored.
    pub rule: Option<Rule>,
    /// The distance and what it is compared with, if the entity has a position and the client an area.
    pub nearness: Option<Nearness>,
    /// The place of a member in the order of the view, counted from 0.
    pub rank: Option<usize>,
    /// How many places the view has.
    pub max_visible: usize,
    /// When the entity was last sent to the client, if the server knows.
    pub last_sent: Option<Tick>,
}

impl Explanation {
    /// Returns the same with the tick in which the entity was last sent.
    #[must_use]
    pub const fn with_last_sent(self, tick: Option<Tick>) -> Self {
        Self {
            last_sent: tick,
            ..self
        }
    }

    pub(super) fn new(
        world: &Entities,
        client: Result<&Client, ClientId>,
        entity: NetworkId,
        pending: bool,
    ) -> Self {
        let facts = world.facts(entity);
        let mut explanation = Self {
            client: client.map_or_else(|id| id, |client| client.id),
            entity,
            verdict: Verdict::UnknownClient,
            rule: facts.map(|facts| facts.rule),
            nearness: None,
            rank: None,
            max_visible: 0,
            last_sent: None,
        };
        let Ok(client) = client else {
            return explanation;
        };
        let member = client.set.contains(entity);
        explanation.max_visible = client.facts.max_visible;
        explanation.nearness = client.nearness(world, entity);
        explanation.rank = client.rank_of(world, entity);
        explanation.verdict = if facts.is_none() && !member {
            Verdict::UnknownEntity
        } else if pending {
            Verdict::Pending { member }
        } else if !member {
            Verdict::NotSeen(client.why_out(world, entity))
        } else {
            let reason = client.why_in(world, entity);
            if explanation
                .rank
                .is_some_and(|rank| rank >= client.facts.max_visible)
            {
                Verdict::OverCapacity(reason)
            } else {
                Verdict::Seen(reason)
            }
        };
        explanation
    }
}

impl Client {
    /// Returns why a member is one.
    pub(super) fn why_in(&self, world: &Entities, id: NetworkId) -> EnterReason {
        let Some(slot) = world.slot(id) else {
            return EnterReason::Margin;
        };
        let extra = world.extra(slot);
        if extra.owner == Some(self.id) {
            return EnterReason::Own;
        }
        if slot.rule == Rule::Always {
            return EnterReason::Always;
        }
        if let Some(parent) = extra.follows {
            return EnterReason::Parent(parent);
        }
        match world.near_facts(id, slot) {
            Some((at, reach)) if self.is_near(&at, reach, false) => EnterReason::Near,
            _ => EnterReason::Margin,
        }
    }

    /// Returns how far an entity is from the area that counts: the first that holds it, else the first
    /// that keeps it, else the nearest.
    fn nearness(&self, world: &Entities, id: NetworkId) -> Option<Nearness> {
        let slot = world.slot(id)?;
        let position = world.position(id, slot)?;
        let reach_mm = world.extra(slot).reach_mm;
        let areas = || self.areas.iter().enumerate();
        let (nth, area) = areas()
            .find(|(_, area)| is_in(area, &position, reach_mm, false))
            .or_else(|| areas().find(|(_, area)| is_in(area, &position, reach_mm, true)))
            .or_else(|| areas().min_by_key(|(_, area)| area.center.distance_squared(&position)))?;
        Some(Nearness {
            area: nth,
            center: area.center,
            position,
            distance_squared: area.center.distance_squared(&position),
            radius_mm: area.radius_mm,
            reach_mm,
            margin_mm: area.margin_mm,
        })
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, entity, .. } = self;
        match self.verdict {
            Verdict::UnknownClient => return write!(f, "there is no {client}"),
            Verdict::UnknownEntity => return write!(f, "there is no {entity}"),
            Verdict::Pending { member } => {
                let now = if member { "in" } else { "not in" };
                return write!(
                    f,
                    "{entity} is {now} the set of {client}, and something changed since the last update, so the next one decides"
                );
            }
            Verdict::Seen(reason) => {
                write!(f, "{entity} is sent to {client}: ")?;
                self.why_in(f, reason)?;
            }
            Verdict::OverCapacity(reason) => {
                write!(f, "{entity} is in the set of {client} but not sent: ")?;
                self.why_in(f, reason)?;
                let place = self.rank.map_or(0, |rank| rank + 1);
                write!(
                    f,
                    ", yet it comes {place} in order and the view takes {}",
                    self.max_visible
                )?;
            }
            Verdict::NotSeen(reason) => {
                write!(f, "{entity} is not sent to {client}: ")?;
                self.why_out(f, reason)?;
            }
        }
        match self.last_sent {
            Some(tick) => write!(f, "; last sent in tick {}", tick.get()),
            None => Ok(()),
        }
    }
}

impl Explanation {
    fn why_in(&self, f: &mut fmt::Formatter<'_>, reason: EnterReason) -> fmt::Result {
        match reason {
            EnterReason::Own => write!(f, "it is the client's own"),
            EnterReason::Always => write!(f, "it is relevant to everybody"),
            EnterReason::Parent(parent) => write!(f, "it follows {parent}, which the client sees"),
            EnterReason::Near => self.distance(f),
            EnterReason::Margin => {
                self.distance(f)?;
                write!(f, ", and it was in the set and has not left the margin")
            }
        }
    }

    fn why_out(&self, f: &mut fmt::Formatter<'_>, reason: ExitReason) -> fmt::Result {
        match reason {
            ExitReason::Destroyed => write!(f, "it is gone"),
            ExitReason::Hidden => write!(f, "its rule is never"),
            ExitReason::Layers => write!(f, "they share no layer"),
            ExitReason::NoPosition => write!(f, "it has no position and no rule that needs none"),
            ExitReason::NoArea => write!(f, "the client has no area"),
            ExitReason::Parent => write!(f, "the client does not see the parent that it follows"),
            ExitReason::Capacity => write!(f, "others come first"),
            ExitReason::Distance => self.distance(f),
        }
    }

    fn distance(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(near) = self.nearness else {
            return write!(f, "it is far from every area");
        };
        let meters = |mm: u128| units::mm_to_meters_lossy(i128::try_from(mm).unwrap_or(i128::MAX));
        write!(
            f,
            "it is {} m from area {}, which takes it in within {} m",
            near.distance_m_lossy(),
            near.area,
            meters(near.radius_mm)
        )?;
        if near.reach_mm > 0 {
            write!(f, " and the entity's reach of {} m", meters(near.reach_mm))?;
        }
        if near.margin_mm > 0 {
            write!(f, ", with a margin of {} m", meters(near.margin_mm))?;
        }
        Ok(())
    }
}
