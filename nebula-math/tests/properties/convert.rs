//! Conversions: metres, arrays, tuples, narrower integers, glam's vectors.

use glam::{
    DVec3, I8Vec3, I16Vec3, I64Vec3, ISizeVec3, IVec3, U8Vec3, U16Vec3, U64Vec3, USizeVec3, UVec3,
};
use nebula_math::{IVec3_128, MetersError, WorldPosition, strategies, units};
use num_bigint::BigInt;
use proptest::prelude::*;

use crate::twin::{big, config};

/// Floats from the whole range, and near the places where rounding and range decide.
fn meters() -> impl Strategy<Value = f64> {
    (0..7_u8, any::<f64>(), strategies::coordinate(), -3..=3_i8).prop_map(
        |(kind, any, mm, steps)| match kind {
            0 => any,
            1 => f64::from_bits(any.to_bits()), // every bit pattern, NaN and subnormals too
            2 => f64::from(steps) / 2_000.0,
            3 => any % 1e6,
            4 => nudge(units::mm_to_meters_lossy(mm), steps),
            5 => nudge(units::mm_to_meters_lossy(i128::MAX), steps),
            _ => nudge((any % 1e9).round() / 1_000.0 + 0.0005, steps),
        },
    )
}

fn nudge(value: f64, steps: i8) -> f64 {
    (0..steps.unsigned_abs()).fold(value, |v, _| {
        if steps > 0 {
            v.next_up()
        } else {
            v.next_down()
        }
    })
}

/// Metres times 1,000, exactly, rounded to the nearest with halves away from zero.
fn exact_mm(meters: f64) -> BigInt {
    // A finite float times 2^1074 is a whole number.
    let bits = meters.abs().to_bits();
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let scaled = match exponent {
        0 => big(fraction),
        e => big(fraction | 1 << 52) << (e - 1),
    };
    let one = big(1) << 1074_u32;
    let doubled: BigInt = scaled * 2_000 + &one;
    let magnitude: BigInt = doubled / (one * 2_u32);
    if meters < 0.0 { -magnitude } else { magnitude }
}

fn expected_mm(meters: f64) -> Result<i128, MetersError> {
    if meters.is_nan() {
        Err(MetersError::NotANumber)
    } else if meters.is_infinite() {
        Err(MetersError::Infinite(meters))
    } else {
        i128::try_from(exact_mm(meters)).map_err(|_| MetersError::OutOfRange(meters))
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn conversion_of_metres_rounds_once(m in meters()) {
        prop_assert_eq!(units::meters_to_mm(m), expected_mm(m));
        let radius = if m < 0.0 && m.is_finite() { Err(MetersError::Negative(m)) } else { expected_mm(m) };
        prop_assert_eq!(units::radius_to_mm(m), radius);
    }

    #[test]
    fn conversion_of_three_metres_reports_the_first_fault(x in meters(), y in meters(), z in meters()) {
        let three = || Ok([expected_mm(x)?, expected_mm(y)?, expected_mm(z)?]);
        let expected: Result<[i128; 3], MetersError> = three();
        let meters = DVec3::new(x, y, z);
        prop_assert_eq!(WorldPosition::from_meters(x, y, z).map(Into::into), expected);
        prop_assert_eq!(WorldPosition::from_dvec3(meters).map(Into::into), expected);
        prop_assert_eq!(IVec3_128::from_meters(x, y, z).map(Into::into), expected);
        prop_assert_eq!(IVec3_128::from_dvec3(meters).map(Into::into), expected);
    }

    #[test]
    fn conversion_to_arrays_and_tuples_keeps_every_bit(v in strategies::vector()) {
        let (x, y, z) = v.into();
        prop_assert_eq!(IVec3_128::from((x, y, z)), v);
        prop_assert_eq!(IVec3_128::from(v.to_array()), v);
        prop_assert_eq!(<[i128; 3]>::from(v), [x, y, z]);
        let p = WorldPosition::from((x, y, z));
        prop_assert_eq!(<(i128, i128, i128)>::from(p), (x, y, z));
        prop_assert_eq!(WorldPosition::from(<[i128; 3]>::from(p)), p);
        prop_assert_eq!(p.to_array(), [x, y, z]);
    }
}

/// An end of a narrower type.
fn end(value: impl TryInto<i128>) -> i128 {
    value.try_into().ok().expect("narrower than i128")
}

/// Narrowing gives the same numbers, or an error that names the first that does not fit.
macro_rules! narrows {
    ($($name:ident $glam:ident $int:ident;)*) => {$(
        proptest! {
            #![proptest_config(config())]

            #[test]
            fn $name(v in strategies::vector(), inside in any::<bool>()) {
                let span = end($int::MAX) - end($int::MIN) + 2;
                let small = v.rem_euclid(IVec3_128::splat(span)) + end($int::MIN);
                let v = if inside { small } else { v };
                let p = WorldPosition::from_array(v.to_array());
                let bad = v.to_array().into_iter().find(|c| $int::try_from(*c).is_err());

                let array = <[$int; 3]>::try_from(v);
                prop_assert_eq!(array.map_err(|e| e.value()).err(), bad);
                prop_assert_eq!($glam::try_from(v), array.map($glam::from_array));
                prop_assert_eq!($glam::try_from(p), array.map($glam::from_array));
                if let Ok(narrow) = array {
                    prop_assert_eq!(IVec3_128::from(narrow), v);
                    prop_assert_eq!(IVec3_128::from($glam::from_array(narrow)), v);
                    prop_assert_eq!(WorldPosition::from($glam::from_array(narrow)), p);
                }
            }
        }
    )*};
}

narrows! {
    conversion_to_i8 I8Vec3 i8;
    conversion_to_i16 I16Vec3 i16;
    conversion_to_i32 IVec3 i32;
    conversion_to_i64 I64Vec3 i64;
    conversion_to_u8 U8Vec3 u8;
    conversion_to_u16 U16Vec3 u16;
    conversion_to_u32 UVec3 u32;
    conversion_to_u64 U64Vec3 u64;
    conversion_to_isize ISizeVec3 isize;
    conversion_to_usize USizeVec3 usize;
}

#[test]
fn refused_values_are_named() {
    let narrow = IVec3::try_from(IVec3_128::new(1, 2, i128::MIN)).unwrap_err();
    assert_eq!(
        narrow.to_string(),
        "z is -170141183460469231731687303715884105728, which does not fit i32"
    );
    assert_eq!(narrow.value(), i128::MIN);
    let text = |m: f64| units::radius_to_mm(m).unwrap_err().to_string();
    assert_eq!(text(f64::NAN), "NaN metres is not a length");
    assert_eq!(text(f64::NEG_INFINITY), "-inf metres is not finite");
    assert_eq!(
        text(-2.5),
        "-2.5 metres is negative; a radius is zero or more"
    );
    assert!(text(1.8e35).starts_with("1.8e35 metres is beyond the universe"));
}

#[test]
fn halves_round_away_from_zero_and_the_range_ends_where_it_should() {
    assert_eq!(units::meters_to_mm(0.0625 / 2.0), Ok(31)); // 31.25
    assert_eq!(units::meters_to_mm(0.0625 * 1.5), Ok(94)); // 93.75
    assert_eq!(units::meters_to_mm(0.0625 / 4.0), Ok(16)); // 15.625
    assert_eq!(units::meters_to_mm(0.0005_f64.next_down()), Ok(0));
    assert_eq!(units::meters_to_mm(0.1875 / 2.0 / 3.0 * 2.0), Ok(63)); // 62.5
    assert_eq!(units::meters_to_mm(-0.0625), Ok(-63)); // -62.5
    assert_eq!(units::meters_to_mm(-0.0), Ok(0));
    assert_eq!(units::meters_to_mm(f64::MIN_POSITIVE), Ok(0));
    // The largest f64 below 2^127 mm, and the next one up, which is beyond.
    let last = units::mm_to_meters_lossy(i128::MAX).next_down();
    assert!(units::meters_to_mm(last).is_ok());
    assert!(units::meters_to_mm(last.next_up().next_up()).is_err());
}
