//! Positions between ticks, for drawing.

use std::collections::VecDeque;

use nebula_math::WorldPosition;

use crate::Tick;

/// Positions that a buffer holds.
const CAPACITY: usize = 32;

/// The last positions of an entity, from which any moment between two of them can be drawn.
///
/// Push what each tick brings, and sample a little in the past: two or three ticks hide a lost
/// packet. All arithmetic is exact; a half millimetre rounds down.
///
/// ```
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::Tick;
/// use nebula_multiplayer::mirror::InterpolationBuffer;
///
/// let mut buffer = InterpolationBuffer::new(10_000);
/// buffer.push(Tick::new(4), WorldPosition::new(-100, 0, 0));
/// buffer.push(Tick::new(6), WorldPosition::new(-50, 0, 0));
/// // A quarter into tick 5: five eighths of the way.
/// let at = buffer.sample(Tick::new(5), 0.25).unwrap();
/// assert_eq!(at, WorldPosition::new(-69, 0, 0));
/// // Farther than 10 m in one go is a jump: no entity slides across the sky.
/// buffer.push(Tick::new(7), WorldPosition::new(1 << 100, 0, 0));
/// assert_eq!(buffer.sample(Tick::new(6), 0.9).unwrap(), WorldPosition::new(-50, 0, 0));
/// ```
#[derive(Clone, Debug)]
pub struct InterpolationBuffer {
    points: VecDeque<(Tick, WorldPosition)>,
    jump_mm: u128,
}

impl InterpolationBuffer {
    /// Returns an empty buffer; steps longer than `jump_mm` along an axis are not drawn as motion.
    #[must_use]
    pub fn new(jump_mm: u128) -> Self {
        Self {
            points: VecDeque::new(),
            jump_mm,
        }
    }

    /// Adds the position of a tick. One that is not newer than the last is ignored.
    pub fn push(&mut self, tick: Tick, at: WorldPosition) {
        let known = self.points.back();
        if known.is_some_and(|(last, _)| !tick.is_newer_than(*last)) {
            return;
        }
        if self.points.len() >= CAPACITY {
            self.points.pop_front();
        }
        self.points.push_back((tick, at));
    }

    /// Returns the position at `tick` plus a `part` of a tick from 0 to 1, `None` while empty.
    ///
    /// Before the first position it is the first, after the last the last: nothing is guessed. A
    /// `part` that is no number counts as 0.
    #[must_use]
    pub fn sample(&self, tick: Tick, part: f32) -> Option<WorldPosition> {
        let part = if part.is_nan() {
            0.0
        } else {
            part.clamp(0.0, 1.0)
        };
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 1 times 2^16 is a whole number that fits"
        )]
        let part = i128::from((part * 65_536.0) as u32);
        let (first_tick, first) = *self.points.front()?;
        if first_tick.is_newer_than(tick) {
            return Some(first);
        }
        let after = self
            .points
            .iter()
            .position(|(at, _)| at.is_newer_than(tick));
        let Some(after) = after else {
            return self.points.back().map(|(_, at)| *at);
        };
        let (from_tick, from) = *self.points.get(after.checked_sub(1)?)?;
        let (to_tick, to) = *self.points.get(after)?;
        if from.chebyshev_distance(&to) > self.jump_mm {
            return Some(from);
        }
        let span = i128::from(to_tick.since(from_tick)).saturating_mul(65_536);
        let gone = i128::from(tick.since(from_tick)).saturating_mul(65_536);
        let gone = gone.saturating_add(part);
        let between = |from: i128, to: i128| {
            let way = to.checked_sub(from)?.checked_mul(gone)?;
            from.checked_add(way.checked_div_euclid(span)?)
        };
        // Too far for the product: the nearer end will do.
        Some(WorldPosition::new(
            between(from.x, to.x).unwrap_or(from.x),
            between(from.y, to.y).unwrap_or(from.y),
            between(from.z, to.z).unwrap_or(from.z),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stay_between_their_ends_at_the_edge_of_the_universe() {
        let mut buffer = InterpolationBuffer::new(u128::MAX);
        assert_eq!(buffer.sample(Tick::new(0), 0.5), None);
        let [a, b] = [i128::MAX - 1_000, i128::MAX].map(|x| WorldPosition::new(x, i128::MIN, 0));
        buffer.push(Tick::new(u32::MAX), a);
        buffer.push(Tick::new(1), b);
        assert_eq!(buffer.sample(Tick::new(u32::MAX - 9), 0.0), Some(a));
        assert_eq!(
            buffer.sample(Tick::new(0), 0.0).map(|at| at.x),
            Some(i128::MAX - 500)
        );
        assert_eq!(
            buffer.sample(Tick::new(0), f32::NAN),
            buffer.sample(Tick::new(0), 0.0)
        );
        assert_eq!(buffer.sample(Tick::new(7), 0.5), Some(b));
        buffer.push(Tick::new(2), WorldPosition::MIN);
        assert!(buffer.sample(Tick::new(1), 0.5).is_some());
        buffer.push(Tick::new(0), WorldPosition::ORIGIN);
        assert_eq!(
            buffer.sample(Tick::new(9), 0.0),
            Some(WorldPosition::MIN),
            "older is ignored"
        );
    }
}
