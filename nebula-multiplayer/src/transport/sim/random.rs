//! Random numbers that are the same on every machine and in every version.

/// A seeded source of random numbers (SplitMix64).
///
/// Equal seeds give equal numbers, today and in later versions, so a seed printed by a failing run
/// repeats that run. It is not fit for secrets.
///
/// ```
/// use nebula_multiplayer::transport::sim::Random;
///
/// let (mut a, mut b) = (Random::new(7), Random::new(7));
/// assert_eq!(a.word(), b.word());
/// assert!(a.below(6) < 6);
/// ```
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Returns a source that starts from this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns a source of its own for a part of a simulation, so that one part's appetite does not
    /// change what another sees.
    ///
    /// ```
    /// use nebula_multiplayer::transport::sim::Random;
    ///
    /// let mut whole = Random::new(7);
    /// assert_ne!(whole.fork().word(), whole.fork().word());
    /// ```
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self::new(self.word())
    }

    /// Returns 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, or 0 when `end` is 0.
    ///
    /// ```
    /// # use nebula_multiplayer::transport::sim::Random;
    /// assert_eq!(Random::new(1).below(1), 0);
    /// assert_eq!(Random::new(1).below(0), 0);
    /// ```
    pub fn below(&mut self, end: u64) -> u64 {
        // The bias of a remainder is below end / 2^64: nothing that a test could see.
        self.word().checked_rem(end).unwrap_or(0)
    }

    /// Returns an index of a list of this length, or 0 for an empty one.
    pub fn index(&mut self, len: usize) -> usize {
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        usize::try_from(self.below(len)).unwrap_or(0)
    }

    /// Returns true `parts` times in 10,000.
    ///
    /// ```
    /// # use nebula_multiplayer::transport::sim::Random;
    /// assert!(Random::new(1).chance(10_000));
    /// assert!(!Random::new(1).chance(0));
    /// ```
    pub fn chance(&mut self, parts: u16) -> bool {
        self.below(10_000) < u64::from(parts)
    }

    /// Returns 128 random bits.
    pub fn wide(&mut self) -> u128 {
        (u128::from(self.word()) << 64) | u128::from(self.word())
    }
}
