//! Dot products and lengths, exact for every input.

use crate::{I384, IVec3_128, U384};

impl IVec3_128 {
    /// Returns the dot product, exactly: three products of 128-bit values need up to 257 bits.
    ///
    /// ```
    /// use nebula_math::{I384, IVec3_128};
    ///
    /// let a = IVec3_128::new(i128::MIN, 2, -3);
    /// assert!(a.dot(IVec3_128::X) < I384::ZERO);
    /// assert_eq!(a.dot(IVec3_128::new(0, 5, 7)).to_i128(), Some(-11));
    /// ```
    #[must_use]
    pub fn dot(self, other: Self) -> I384 {
        let [x, y, z] = self.unsigned_abs();
        let [a, b, c] = other.unsigned_abs();
        let products = [
            (U384::product(x, a), (self.x < 0) != (other.x < 0)),
            (U384::product(y, b), (self.y < 0) != (other.y < 0)),
            (U384::product(z, c), (self.z < 0) != (other.z < 0)),
        ];
        let sum = |negative: bool| {
            let terms = products.iter().filter(|(_, sign)| *sign == negative);
            terms.fold(U384::ZERO, |sum, (product, _)| sum.wrapping_add(*product))
        };
        I384::difference(sum(false), sum(true))
    }

    /// Returns the squared length, exactly.
    ///
    /// ```
    /// use nebula_math::{IVec3_128, U384};
    ///
    /// assert_eq!(IVec3_128::new(-3, 4, 0).length_squared(), U384::from(25));
    /// assert_eq!(IVec3_128::MIN.length_squared().to_u128(), None); // 3 * 2^254
    /// ```
    #[must_use]
    #[inline]
    pub fn length_squared(self) -> U384 {
        let [x, y, z] = self.unsigned_abs();
        U384::sum_of_squares(x, y, z)
    }

    /// Returns the sum of the magnitudes of the components, which can need 129 bits.
    ///
    /// ```
    /// use nebula_math::{IVec3_128, U384};
    ///
    /// assert_eq!(IVec3_128::new(-3, 4, -5).manhattan_length(), U384::from(12));
    /// ```
    #[must_use]
    #[inline]
    pub fn manhattan_length(self) -> U384 {
        U384::sum_of_three(self.unsigned_abs())
    }

    /// Returns the largest magnitude of a component.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::new(-9, 4, 0).chebyshev_length(), 9);
    /// ```
    #[must_use]
    #[inline]
    pub fn chebyshev_length(self) -> u128 {
        let [x, y, z] = self.unsigned_abs();
        x.max(y).max(z)
    }
}
