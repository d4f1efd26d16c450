//! Seeded numbers: the same seed gives the same data on every machine.

use std::f64::consts::TAU;

/// A small generator (`SplitMix64`) whose state is its seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 up to, not including, `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let wide = u128::from(self.bits()) * n as u128;
        usize::try_from(wide >> 64).expect("less than n")
    }

    /// Returns a number from `-reach` to `reach`, both included.
    pub fn around(&mut self, reach: i64) -> i64 {
        let span = usize::try_from(2 * reach + 1).expect("a positive reach");
        i64::try_from(self.below(span)).expect("fits") - reach
    }

    /// Returns a number from 0 up to, not including, 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a normally distributed number with mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.unit(), self.unit());
        (-2.0 * a.ln()).sqrt() * (TAU * b).cos()
    }

    /// Returns a direction, every one equally likely.
    pub fn direction(&mut self) -> [f64; 3] {
        loop {
            let v = [self.normal(), self.normal(), self.normal()];
            let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
            if length > 1e-6 {
                return v.map(|c| c / length);
            }
        }
    }

    /// Puts a list into random order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_range_and_repeat_with_the_seed() {
        let (mut a, mut b) = (Random(7), Random(7));
        for _ in 0..1_000 {
            assert_eq!(a.bits(), b.bits());
            assert!(a.below(3) < 3);
            assert!((-5..=5).contains(&a.around(5)));
            assert!((0.0..1.0).contains(&a.unit()));
            b = a.clone();
        }
    }

    #[test]
    fn a_shuffle_keeps_every_entry() {
        let mut list: Vec<u32> = (0..100).collect();
        Random(1).shuffle(&mut list);
        assert_ne!(list, (0..100).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..100).collect::<Vec<_>>());
    }
}
