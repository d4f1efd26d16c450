//! What the core is told about entities and clients.

use nebula_math::WorldPosition;
use serde::{Deserialize, Serialize};

use super::Layers;
use crate::{ClientId, NetworkId};

/// How an entity becomes relevant to clients.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Rule {
    /// To clients that are near, by the areas of the client and the reach of the entity.
    #[default]
    Near,
    /// To every client whose layers match, wherever it is.
    Always,
    /// To nobody, not even its owner.
    Never,
}

/// Everything that decides who is told of an entity.
///
/// ```
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::interest::{Facts, Rule};
///
/// let rock = Facts::at(WorldPosition::new(-5_000, 0, 0));
/// assert_eq!((rock.rule, rock.reach_mm), (Rule::Near, 0));
///
/// let planet = Facts { reach_mm: 20_000_000_000, ..rock };
/// let score = Facts { rule: Rule::Always, ..Facts::default() };
/// assert!(planet.position.is_some() && score.position.is_none());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Where it is. Without a position it is relevant by rule, owner or parent only.
    pub position: Option<WorldPosition>,
    /// From how much farther than a client's radius it is seen, in millimetres: the size of big
    /// things.
    pub reach_mm: u128,
    /// How it becomes relevant.
    pub rule: Rule,
    /// Only clients that share a layer with it may see it.
    pub layers: Layers,
    /// Whose it is. The owner sees it wherever it is, if the layers match.
    pub owner: Option<ClientId>,
    /// Whose visibility it shares in place of its own nearness: it is near those who see the
    /// parent. Chains may be [`MAX_FOLLOW_DEPTH`](super::MAX_FOLLOW_DEPTH) long.
    pub follows: Option<NetworkId>,
}

impl Facts {
    /// Returns the facts of a plain entity at a position.
    #[must_use]
    pub fn at(position: WorldPosition) -> Self {
        Self {
            position: Some(position),
            ..Self::default()
        }
    }
}

/// One sphere that a client is interested in: around its ship, its drone, its camera.
///
/// ```
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::interest::Area;
///
/// let area = Area::new(WorldPosition::new(-7, 0, 0), 500_000).with_margin(50_000);
/// assert_eq!((area.radius_mm, area.margin_mm), (500_000, 50_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// The middle.
    pub center: WorldPosition,
    /// How far the client sees, in millimetres; the boundary belongs to it.
    pub radius_mm: u128,
    /// How much farther an entity must go before it leaves, in millimetres.
    pub margin_mm: u128,
}

impl Area {
    /// Returns an area without a margin.
    #[must_use]
    pub const fn new(center: WorldPosition, radius_mm: u128) -> Self {
        Self {
            center,
            radius_mm,
            margin_mm: 0,
        }
    }

    /// Returns the same area with a margin.
    #[must_use]
    pub const fn with_margin(self, margin_mm: u128) -> Self {
        Self { margin_mm, ..self }
    }
}

/// How many entities of its set a client is sent, unless told otherwise.
pub const DEFAULT_MAX_VISIBLE: usize = 4_096;

/// What is known of a client besides its areas.
///
/// ```
/// use nebula_multiplayer::interest::{ClientFacts, Layers};
///
/// let client = ClientFacts { layers: Layers::only(3), ..ClientFacts::default() };
/// assert_eq!(client.max_visible, 4_096);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientFacts {
    /// The layers it sees.
    pub layers: Layers,
    /// How many entities of its set are replicated to it.
    pub max_visible: usize,
}

impl Default for ClientFacts {
    fn default() -> Self {
        Self {
            layers: Layers::default(),
            max_visible: DEFAULT_MAX_VISIBLE,
        }
    }
}
