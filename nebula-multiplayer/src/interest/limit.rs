//! Distances compared with sums of lengths, exactly, whatever their size.

use nebula_math::{U384, WorldPosition};

/// Returns whether two positions are at most the sum of three lengths apart.
///
/// The sum can need 130 bits and a squared distance 258, so nothing is cut off at `u128`.
#[inline]
pub(super) fn is_within(a: &WorldPosition, b: &WorldPosition, lengths: [u128; 3]) -> bool {
    match radius(lengths) {
        Some(radius_mm) => a.is_within(b, radius_mm),
        None => a.distance_squared(b) <= square_of_sum(lengths),
    }
}

/// Returns the sum of three lengths, if a query can ask for it.
#[inline]
pub(super) fn radius([a, b, c]: [u128; 3]) -> Option<i128> {
    let sum = a.checked_add(b)?.checked_add(c)?;
    i128::try_from(sum).ok()
}

/// Returns `(a + b + c)^2`, which is below 2^260.
fn square_of_sum([a, b, c]: [u128; 3]) -> U384 {
    let products = [
        U384::sum_of_squares(a, b, c),
        U384::product(a, b),
        U384::product(a, b),
        U384::product(a, c),
        U384::product(a, c),
        U384::product(b, c),
        U384::product(b, c),
    ];
    products.into_iter().fold(U384::ZERO, |sum, product| {
        sum.checked_add(product).expect("the sum is below 2^260")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_past_128_bits_are_exact() {
        // The diagonal of the universe is sqrt(3) * (2^128 - 1), about 1.732 * 2^128.
        let (a, b) = (WorldPosition::MIN, WorldPosition::MAX);
        let max = u128::MAX;
        assert!(!is_within(&a, &b, [max, 0, 0]));
        assert!(!is_within(&a, &b, [max, max / 2, 0]));
        assert!(is_within(&a, &b, [max, max / 2, max / 4]));
        assert!(is_within(&a, &b, [max, max, max]));
        let along_x = WorldPosition::new(i128::MAX, i128::MIN, i128::MIN);
        assert!(is_within(&a, &along_x, [max, 0, 0]));
        assert!(is_within(&a, &along_x, [max - 1, 0, 1]));
        assert!(!is_within(&a, &along_x, [max - 1, 0, 0]));
    }

    #[test]
    fn the_boundary_belongs_to_it() {
        let at = WorldPosition::new(-3, 4, 0);
        assert!(is_within(&WorldPosition::ORIGIN, &at, [2, 2, 1]));
        assert!(!is_within(&WorldPosition::ORIGIN, &at, [2, 2, 0]));
    }
}
