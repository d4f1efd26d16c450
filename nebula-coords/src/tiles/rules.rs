//! Which elevation a thing stands on when its position does not say.

use super::Elevation;

/// What kind of thing stands on a tile, as far as its elevation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileKind {
    /// A player, who stands where the game's settings say.
    Player,
    /// A character of the game, which brings its own elevation.
    Npc {
        /// The floor it stands on.
        elevation: Elevation,
    },
    /// A thing that lies on the ground.
    Item,
    /// A thing on the ground that can be pushed.
    Pushable,
}

/// The settings that decide an elevation; give them to whatever fills the index.
///
/// ```
/// use nebula_coords::{Elevation, ElevationRules, TileKind};
///
/// let rules = ElevationRules { player: Elevation::new(4)? };
/// assert_eq!(rules.elevation_of(TileKind::Player).number(), 4);
/// assert_eq!(rules.elevation_of(TileKind::Item), Elevation::GROUND);
/// # Ok::<(), nebula_coords::ElevationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElevationRules {
    /// The floor players stand on; 3 unless set.
    pub player: Elevation,
}

impl ElevationRules {
    /// Returns the floor that a kind of thing stands on.
    #[must_use]
    pub const fn elevation_of(&self, kind: TileKind) -> Elevation {
        match kind {
            TileKind::Player => self.player,
            TileKind::Npc { elevation } => elevation,
            TileKind::Item | TileKind::Pushable => Elevation::GROUND,
        }
    }
}

impl Default for ElevationRules {
    fn default() -> Self {
        Self {
            player: Elevation::new(3).expect("3 is at most 15"),
        }
    }
}
