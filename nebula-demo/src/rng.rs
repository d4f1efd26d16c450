//! A small seeded generator, so that the same seed shows the same world on every machine.

/// A SplitMix64 generator: one `u64` of state, the same numbers everywhere.
///
/// ```
/// use nebula_demo::rng::Rng;
///
/// let (mut a, mut b) = (Rng::new(7), Rng::new(7));
/// assert_eq!(a.below(1_000), b.below(1_000));
/// assert!((-5..=5).contains(&a.between(-5, 5)));
/// ```
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Makes a generator; nearby seeds give unrelated numbers.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Makes the generator of member `id` of a seeded group, so that adding a member changes nobody else.
    #[must_use]
    pub fn for_member(seed: u64, id: u32) -> Self {
        let mut parent = Self(seed ^ (u64::from(id) << 32 | u64::from(id)));
        Self(parent.next_u64())
    }

    /// Returns the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, or 0 when the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        // The upper half of a product with a `u64` is below that `u64`.
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// Returns a number from `low` to `high`, both included; `low` when the range is empty.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = low.abs_diff(high.max(low)).saturating_add(1);
        low.saturating_add_unsigned(self.below(span))
    }
}
