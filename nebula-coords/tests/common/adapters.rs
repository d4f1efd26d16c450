//! Every index behind the one face of the tests.

use nebula_coords::{EntityId, LinearIndex, SectorKey, SpatialHashMap, SpatialIndex};
use nebula_math::WorldPosition;

use super::index::TestIndex;

impl TestIndex for LinearIndex<u32> {
    type Id = u32;
    type Query = Self;

    fn empty() -> Self {
        Self::new()
    }
    fn bulk(points: &[(u32, WorldPosition)]) -> Self {
        let mut index = Self::new();
        for (id, at) in points {
            Self::insert(&mut index, *id, *at);
        }
        index
    }
    fn insert(&mut self, id: u32, at: WorldPosition) -> Option<WorldPosition> {
        Self::insert(self, id, at)
    }
    fn update(&mut self, id: u32, to: WorldPosition) -> bool {
        Self::update(self, id, to)
    }
    fn update_batch(&mut self, moves: &[(u32, WorldPosition)]) -> usize {
        let known = moves.iter().filter(|(id, to)| Self::update(self, *id, *to));
        known.count()
    }
    fn remove(&mut self, id: u32) -> Option<WorldPosition> {
        Self::remove(self, id)
    }
    fn clear(&mut self) {
        Self::clear(self);
    }
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
    fn query(&self) -> &Self {
        self
    }
    fn id(number: u32) -> u32 {
        number
    }
    fn number(id: u32) -> u32 {
        id
    }
}

impl TestIndex for SpatialIndex<u32> {
    type Id = u32;
    type Query = Self;

    fn empty() -> Self {
        Self::new()
    }
    fn bulk(points: &[(u32, WorldPosition)]) -> Self {
        Self::from_points(points)
    }
    fn insert(&mut self, id: u32, at: WorldPosition) -> Option<WorldPosition> {
        Self::insert(self, id, at)
    }
    fn update(&mut self, id: u32, to: WorldPosition) -> bool {
        Self::update(self, id, to)
    }
    fn update_batch(&mut self, moves: &[(u32, WorldPosition)]) -> usize {
        let report = Self::update_batch(self, moves);
        assert_eq!(report.moved + report.unknown, moves.len());
        report.moved
    }
    fn remove(&mut self, id: u32) -> Option<WorldPosition> {
        Self::remove(self, id)
    }
    fn clear(&mut self) {
        Self::clear(self);
    }
    fn validate(&self) -> Result<(), String> {
        Self::validate(self)
    }
    fn query(&self) -> &Self {
        self
    }
    fn id(number: u32) -> u32 {
        number
    }
    fn number(id: u32) -> u32 {
        id
    }
}

/// The values are plain pairs; the map carries any `T`. Numbers become ids that differ in the upper
/// half alone, so that a half that is lost shows.
pub(crate) type HashMap = SpatialHashMap<(EntityId, WorldPosition)>;

impl TestIndex for HashMap {
    type Id = EntityId;
    type Query = Self;

    fn empty() -> Self {
        Self::new()
    }
    fn bulk(points: &[(u32, WorldPosition)]) -> Self {
        let values = points.iter().map(|(id, at)| (Self::id(*id), *at));
        values.collect()
    }
    fn insert(&mut self, id: u32, at: WorldPosition) -> Option<WorldPosition> {
        Self::insert(self, (Self::id(id), at)).map(|(_, at)| at)
    }
    fn update(&mut self, id: u32, to: WorldPosition) -> bool {
        self.update_position(Self::id(id), to)
    }
    fn update_batch(&mut self, moves: &[(u32, WorldPosition)]) -> usize {
        let moves: Vec<_> = moves.iter().map(|(id, to)| (Self::id(*id), *to)).collect();
        let report = Self::update_batch(self, &moves);
        assert_eq!(report.moved + report.unknown, moves.len());
        report.moved
    }
    fn remove(&mut self, id: u32) -> Option<WorldPosition> {
        // Half of the ids leave by the seed's `remove`, half with their value.
        if id.is_multiple_of(2) {
            let was = Self::position(self, Self::id(id));
            assert_eq!(Self::remove(self, Self::id(id)), was.is_some());
            return was;
        }
        self.take(Self::id(id)).map(|(_, at)| at)
    }
    fn clear(&mut self) {
        Self::clear(self);
    }
    /// Asks the map's own check, and looks at every sector's slice from outside.
    fn validate(&self) -> Result<(), String> {
        Self::validate(self)?;
        let mut seen = 0;
        for (key, values) in self.sectors() {
            if values.is_empty() || self.query_sector(&key).len() != values.len() {
                return Err(format!("{key:?} holds {} values", values.len()));
            }
            seen += values.len();
            for (id, at) in values {
                if SectorKey::from_world(at) != key || Self::position(self, *id) != Some(*at) {
                    return Err(format!("{id} at {at:?} lies in {key:?}"));
                }
            }
        }
        if seen == self.stored() {
            Ok(())
        } else {
            Err(format!(
                "{seen} values in sectors, {} stored",
                self.stored()
            ))
        }
    }
    fn query(&self) -> &Self {
        self
    }
    fn id(number: u32) -> EntityId {
        EntityId(u64::from(number) << 32)
    }
    fn number(id: EntityId) -> u32 {
        u32::try_from(id.0 >> 32).expect("32 bits are left")
    }
}
