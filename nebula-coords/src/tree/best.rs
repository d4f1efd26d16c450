//! The best few of many candidates, for `nearest.rs`.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "floats are bounds, and every rounding step is covered"
)]

use core::cell::RefCell;
use core::cmp::Ordering;

use nebula_math::U384;

/// Covers the rounding of a dozen steps in `f64`.
pub(super) const ROUNDING: f64 = 1.0 / (1_u64 << 48) as f64;

/// So many are kept in order at all times; more are put in order now and then.
const FEW: usize = 32;

/// Squared distances, exactly.
pub(super) trait Distance: Copy + Ord + 'static {
    /// Returns the square of a distance by its parts along the axes.
    fn of(gaps: [u128; 3]) -> Self;
    /// Returns a square that is known already.
    fn small(square: u64) -> Self;
    /// Returns the square of a limit, or a number that no distance is above.
    fn limit(limit: u128) -> Self;
    /// Returns a float not below the number.
    fn above(self) -> f64;
    /// Lends the list that this thread keeps.
    fn take_list() -> Vec<Candidate<Self>>;
    fn keep_list(list: Vec<Candidate<Self>>);
}

/// The square of a distance below 2^63 along each axis: three squares fit 128 bits.
pub(super) type Small = u128;

thread_local! {
    /// Kept from call to call, so that asking into a buffer allocates nothing once warm.
    static SMALL: RefCell<Vec<Candidate<Small>>> = const { RefCell::new(Vec::new()) };
    static WIDE: RefCell<Vec<Candidate<U384>>> = const { RefCell::new(Vec::new()) };
}

impl Distance for Small {
    #[inline]
    fn of([x, y, z]: [u128; 3]) -> Self {
        x * x + y * y + z * z
    }

    #[inline]
    fn small(square: u64) -> Self {
        square.into()
    }

    fn limit(limit: u128) -> Self {
        limit.checked_mul(limit).unwrap_or(Self::MAX)
    }

    #[inline]
    fn above(self) -> f64 {
        float(self) * (1.0 + ROUNDING)
    }

    fn take_list() -> Vec<Candidate<Self>> {
        SMALL.take()
    }

    fn keep_list(list: Vec<Candidate<Self>>) {
        SMALL.set(list);
    }
}

impl Distance for U384 {
    #[inline]
    fn of([x, y, z]: [u128; 3]) -> Self {
        if (x | y | z) >> 63 == 0 {
            return Self::from(Small::of([x, y, z]));
        }
        Self::sum_of_squares(x, y, z)
    }

    fn small(square: u64) -> Self {
        Self::from(u128::from(square))
    }

    fn limit(limit: u128) -> Self {
        Self::square(limit)
    }

    /// The largest are about 2^258.
    #[inline]
    fn above(self) -> f64 {
        const LIMB: f64 = (1_u128 << 127) as f64 * 2.0;
        let [low, mid, high] = self.limbs().map(float);
        ((high * LIMB + mid) * LIMB + low) * (1.0 + ROUNDING)
    }

    fn take_list() -> Vec<Candidate<Self>> {
        WIDE.take()
    }

    fn keep_list(list: Vec<Candidate<Self>>) {
        WIDE.set(list);
    }
}

/// A point that may be among the nearest.
#[derive(Clone, Copy)]
pub(super) struct Candidate<D> {
    pub(super) distance: D,
    pub(super) leaf: u32,
    pub(super) slot: u32,
}

/// The best points so far.
pub(super) struct Best<D: Distance> {
    wanted: usize,
    /// No point whose squared distance is above this is wanted.
    pub(super) limit: D,
    /// No point whose squared distance is above this is wanted either: a float that may know more, and is never
    /// below the square of the last that is wanted.
    pub(super) limit_above: f64,
    /// In order if few are wanted; else with some that are not wanted any more among them.
    list: Vec<Candidate<D>>,
}

impl<D: Distance> Best<D> {
    pub(super) fn new(wanted: usize, limit: u128) -> Self {
        let mut list = D::take_list();
        list.clear();
        let limit = D::limit(limit);
        Self {
            wanted,
            limit,
            limit_above: limit.above(),
            list,
        }
    }

    #[inline]
    pub(super) fn wanted(&self) -> usize {
        self.wanted
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= self.wanted
    }

    /// Learns that as many points as are wanted are at most so far away.
    pub(super) fn expect_within(&mut self, distance: f64) {
        let limit = distance * distance * (1.0 + ROUNDING);
        self.limit_above = self.limit_above.min(limit);
    }

    /// Learns that as many points as are wanted have at most this for `square_below`, or little less.
    pub(super) fn expect_below(&mut self, square: f64) {
        self.limit_above = self.limit_above.min(square * (1.0 + 16.0 * ROUNDING));
    }

    /// Returns a float not below the distance beyond which nothing is wanted.
    #[inline]
    pub(super) fn radius_above(&self) -> f64 {
        self.limit_above.sqrt() * (1.0 + ROUNDING)
    }

    /// Keeps a candidate that is not above the limit, if it is among the best; `by_id` orders equal distances.
    #[inline]
    pub(super) fn offer(
        &mut self,
        candidate: Candidate<D>,
        by_id: impl Fn(&Candidate<D>, &Candidate<D>) -> Ordering,
    ) {
        if self.wanted > FEW {
            self.push(candidate, by_id);
        } else {
            self.insert(candidate, by_id);
        }
    }

    /// Puts a candidate in its place among few.
    fn insert(
        &mut self,
        candidate: Candidate<D>,
        by_id: impl Fn(&Candidate<D>, &Candidate<D>) -> Ordering,
    ) {
        let order = ordered(by_id);
        if self.list.len() == self.wanted {
            let worst = &self.list[self.wanted - 1];
            if order(&candidate, worst) != Ordering::Less {
                return;
            }
            self.list.pop();
        }
        let better = |kept: &&Candidate<D>| order(kept, &candidate) == Ordering::Greater;
        let at = self.list.len() - self.list.iter().rev().take_while(better).count();
        self.list.insert(at, candidate);
        if self.list.len() == self.wanted {
            self.lower_to(self.list[self.wanted - 1].distance);
        }
    }

    /// Puts a candidate to the others, and sorts out the worst of many.
    fn push(
        &mut self,
        candidate: Candidate<D>,
        by_id: impl Fn(&Candidate<D>, &Candidate<D>) -> Ordering,
    ) {
        self.list.push(candidate);
        let room = self.wanted + self.wanted / 2;
        if self.list.len() == self.wanted || self.list.len() == room {
            self.sort_out(by_id);
        }
    }

    fn sort_out(&mut self, by_id: impl Fn(&Candidate<D>, &Candidate<D>) -> Ordering) {
        let last = self.wanted - 1;
        self.list.select_nth_unstable_by(last, ordered(by_id));
        self.list.truncate(self.wanted);
        self.lower_to(self.list[last].distance);
    }

    fn lower_to(&mut self, limit: D) {
        // Among many at the same distance the limit stays as it is.
        if limit == self.limit {
            return;
        }
        self.limit = limit;
        self.limit_above = self.limit_above.min(limit.above());
    }

    /// Shows the best in order.
    pub(super) fn finish(
        mut self,
        by_id: impl Fn(&Candidate<D>, &Candidate<D>) -> Ordering,
        show: impl FnOnce(&[Candidate<D>]),
    ) {
        if self.wanted > FEW {
            self.list.sort_unstable_by(ordered(by_id));
            self.list.truncate(self.wanted);
        }
        show(&self.list);
        D::keep_list(self.list);
    }
}

/// Returns the order by distance, then by id.
#[inline]
fn ordered<D: Distance>(
    by_id: impl Fn(&Candidate<D>, &Candidate<D>) -> Ordering,
) -> impl Fn(&Candidate<D>, &Candidate<D>) -> Ordering {
    move |a, b| a.distance.cmp(&b.distance).then_with(|| by_id(a, b))
}

/// Returns a float not above the square of a distance by its parts along the axes.
#[inline]
pub(super) fn square_below(gaps: [u128; 3]) -> f64 {
    let [x, y, z] = gaps.map(float);
    (x * x + y * y + z * z) * (1.0 - ROUNDING)
}

/// Returns a number to within two roundings; the conversion of the language is a slow call.
#[inline]
pub(super) fn float(number: u128) -> f64 {
    const HIGH: f64 = (1_u128 << 64) as f64;
    (number >> 64) as u64 as f64 * HIGH + number as u64 as f64
}
