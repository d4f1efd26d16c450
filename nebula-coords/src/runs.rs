//! Runs: what indexes with lists of ids beside positions share.

use core::ops::ControlFlow;

use nebula_math::WorldPosition;

use crate::Region;
use crate::nearest::Nearest;

/// Hands the ids whose positions are in the region to `f`, in slices.
pub(crate) fn visit_run<I>(
    ids: &[I],
    positions: &[WorldPosition],
    region: &Region,
    f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut start = 0;
    for (i, at) in positions.iter().enumerate() {
        if !region.contains(at) {
            if start < i {
                f(&ids[start..i])?;
            }
            start = i + 1;
        }
    }
    if start < ids.len() {
        f(&ids[start..])?;
    }
    ControlFlow::Continue(())
}

/// Returns the ids whose positions are in the region, one by one.
pub(crate) fn iter_run<'a, I: Copy>(
    ids: &'a [I],
    positions: &'a [WorldPosition],
    region: Region,
) -> impl Iterator<Item = I> + 'a {
    ids.iter()
        .zip(positions)
        .filter(move |(_, at)| region.contains(at))
        .map(|(id, _)| *id)
}

/// Offers everything of a run that is at most `limit_mm` away.
pub(crate) fn offer_run<I: Copy + Ord>(
    ids: &[I],
    positions: &[WorldPosition],
    at: &WorldPosition,
    limit_mm: i128,
    best: &mut Nearest<I>,
) {
    for (id, p) in ids.iter().zip(positions) {
        if at.is_within(p, limit_mm) {
            best.offer(at.distance_squared(p), *id);
        }
    }
}

/// How `nearest_by_balls` looks at an index.
pub(crate) enum Look {
    /// At everything at most so far away.
    Ball(i128),
    /// At everything up to the limit: balls have become too large.
    All,
}

/// Replaces the contents of `out` by the `k` nearest ids: looks at balls that double from `first_mm` on, until one holds
/// enough or reaches the limit. `offer` returns whether it did look; if it declines a ball, it is asked for all.
pub(crate) fn nearest_by_balls<I: Copy + Ord>(
    k: usize,
    first_mm: i128,
    limit_mm: i128,
    out: &mut Vec<I>,
    mut offer: impl FnMut(Look, &mut Nearest<I>) -> bool,
) {
    out.clear();
    let mut best = Nearest::new(k, out);
    let mut radius_mm = first_mm.min(limit_mm);
    loop {
        best.clear();
        if !offer(Look::Ball(radius_mm), &mut best) {
            offer(Look::All, &mut best);
            break;
        }
        // A full list has nothing nearer left outside the ball.
        if best.is_full() || radius_mm >= limit_mm {
            break;
        }
        radius_mm = radius_mm.saturating_mul(2).min(limit_mm);
    }
    best.finish(out);
}
