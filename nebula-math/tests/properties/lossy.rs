//! Every step to floats, against the exact value: nothing may be nearer than the float given.

use nebula_math::{I384, IVec3_128, U384, WorldPosition, strategies, units};
use num_bigint::BigInt;
use proptest::prelude::*;

use crate::twin::{big, config, from_u384, squared_distance};

/// A finite float as a whole number of 2^-1074.
fn scaled(value: f64) -> BigInt {
    let bits = value.abs().to_bits();
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let magnitude = match exponent {
        0 => big(fraction),
        e => big(fraction | 1 << 52) << (e - 1),
    };
    if value < 0.0 { -magnitude } else { magnitude }
}

/// How far `value` is from `numerator / denominator`, in units that can be compared.
fn error(value: f64, numerator: &BigInt, denominator: u32) -> BigInt {
    let difference = scaled(value) * denominator - (numerator << 1074_u32);
    difference.magnitude().clone().into()
}

/// Whether `value` is the float nearest to `numerator / denominator`, a tie going to the even one.
fn is_nearest(value: f64, numerator: &BigInt, denominator: u32) -> bool {
    let ours = error(value, numerator, denominator);
    [value.next_down(), value.next_up()].iter().all(|other| {
        let theirs = error(*other, numerator, denominator);
        ours < theirs || (ours == theirs && value.to_bits() & 1 == 0)
    })
}

fn is_nearest_f32(value: f32, numerator: &BigInt, denominator: u32) -> bool {
    let ours = error(value.into(), numerator, denominator);
    [value.next_down(), value.next_up()].iter().all(|other| {
        let theirs = error((*other).into(), numerator, denominator);
        ours < theirs || (ours == theirs && value.to_bits() & 1 == 0)
    })
}

fn wide() -> impl Strategy<Value = U384> + Clone {
    let parts = (any::<[u128; 3]>(), 0..384_u32, -1..=1_i8, any::<bool>());
    parts.prop_map(|(limbs, bits, near, power)| {
        // A power of two and its neighbours, or random bits of a random length.
        let mut limbs = limbs;
        if power {
            limbs = [0; 3];
            limbs[usize::try_from(bits / 128).expect("three limbs")] = 1 << (bits % 128);
        }
        for (i, limb) in limbs.iter_mut().enumerate().filter(|_| !power) {
            let at = 128 * u32::try_from(i).expect("three limbs");
            let kept = bits.saturating_sub(at).min(128);
            *limb = limb.checked_shr(128 - kept).unwrap_or(0);
        }
        let one = U384::from(1);
        let value = U384::from_limbs(limbs);
        match near {
            1 => value.checked_add(one).unwrap_or(value),
            -1 => value.checked_sub(one).unwrap_or(value),
            _ => value,
        }
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn conversion_to_metres_rounds_once(mm in strategies::coordinate(), more in any::<u64>()) {
        for mm in [mm, mm ^ i128::from(more)] {
            prop_assert!(is_nearest(units::mm_to_meters_lossy(mm), &big(mm), 1_000));
        }
    }

    #[test]
    fn conversion_of_displacements_rounds_once(v in strategies::vector()) {
        let exact = v.to_array().map(big);
        for (m, mm) in v.to_meters_lossy().iter().zip(&exact) {
            prop_assert!(is_nearest(*m, mm, 1_000));
        }
        for (m, mm) in v.to_meters_f32_lossy().iter().zip(&exact) {
            prop_assert!(is_nearest_f32(*m, mm, 1_000), "{} for {}", m, mm);
        }
        prop_assert_eq!(v.to_dvec3_lossy().to_array(), v.to_meters_lossy());
        prop_assert_eq!(v.to_vec3_lossy().to_array(), v.to_meters_f32_lossy());
    }

    #[test]
    fn conversion_from_an_origin_rounds_once((p, origin) in strategies::pair()) {
        let exact = [big(p.x) - origin.x, big(p.y) - origin.y, big(p.z) - origin.z];
        for (m, mm) in p.to_meters_lossy(&origin).iter().zip(&exact) {
            prop_assert!(is_nearest(*m, mm, 1_000));
        }
        for (m, mm) in p.to_meters_f32_lossy(&origin).iter().zip(&exact) {
            prop_assert!(is_nearest_f32(*m, mm, 1_000), "{} for {}", m, mm);
        }
        prop_assert_eq!(p.to_dvec3_lossy(&origin).to_array(), p.to_meters_lossy(&origin));
        prop_assert_eq!(p.to_vec3_lossy(&origin).to_array(), p.to_meters_f32_lossy(&origin));
    }

    #[test]
    fn conversion_of_wide_integers_rounds_once(a in wide()) {
        let exact = from_u384(a);
        prop_assert!(is_nearest(a.to_f64_lossy(), &exact, 1));
        prop_assert_eq!((-I384::from(a)).to_f64_lossy(), -a.to_f64_lossy());
    }

    #[test]
    fn distance_in_metres_is_near((a, b) in strategies::pair()) {
        // The root with 60 more bits than a whole number, in millimetres.
        let root = (squared_distance(&a, &b) << 120_u32).sqrt();
        let meters = a.distance_lossy(&b);
        let exact: f64 = f64::from_bits((1023 - 60) << 52) * to_f64(&root) / 1_000.0;
        prop_assert!((meters - exact).abs() <= exact * 1e-15, "{} {}", meters, exact);
        if let Some(v) = a.offset_to(&b) {
            prop_assert_eq!(v.length_lossy(), meters);
        }
    }
}

fn to_f64(value: &BigInt) -> f64 {
    // Parsing a decimal is the one correctly rounded conversion that owes nothing to this crate.
    value.to_string().parse().expect("digits are a float")
}

#[test]
fn ties_of_wide_integers_go_to_the_even_float() {
    // 2^53 + 1 lies halfway; one far lower bit decides.
    let halfway = U384::product((1 << 53) + 1, 1 << 127);
    assert_eq!(halfway.to_f64_lossy(), 2_f64.powi(180));
    let above = halfway.checked_add(U384::from(1)).unwrap();
    assert_eq!(above.to_f64_lossy(), 2_f64.powi(180).next_up());
}

#[test]
fn a_remainder_below_a_tie_decides_it() {
    // In metres this is 2^100 and half a step of f64, and a thousandth more.
    let halfway = 1_000 * ((1_i128 << 100) + (1 << 47));
    assert_eq!(units::mm_to_meters_lossy(halfway), 2_f64.powi(100));
    let above = units::mm_to_meters_lossy(halfway + 1);
    assert_eq!(above, 2_f64.powi(100).next_up());
}

#[test]
fn a_millimetre_stays_visible_at_the_edge_of_the_universe() {
    let edge = WorldPosition::MAX;
    let beside = edge - IVec3_128::ONE;
    assert_eq!(beside.to_meters_f32_lossy(&edge), [-0.001; 3]);
}
