//! A panic names the line that asked for what has no result, not one of the crate.

use std::panic::Location;

use nebula_math::{IVec3_128, WorldPosition};

use crate::twin::blamed;

#[track_caller]
fn blames_this_line<T>(f: impl FnOnce() -> T) {
    let here = Location::caller();
    let expected = Some((here.file().to_owned(), here.line()));
    assert_eq!(blamed(f), expected);
}

const MIN: IVec3_128 = IVec3_128::MIN;
const MAX: IVec3_128 = IVec3_128::MAX;
const ONE: IVec3_128 = IVec3_128::ONE;
/// One axis alone is zero.
const FLAT: IVec3_128 = IVec3_128::new(1, 0, 1);

#[test]
fn operators_blame_their_caller() {
    blames_this_line(|| MAX + ONE);
    blames_this_line(|| MIN - ONE);
    blames_this_line(|| MAX * 2);
    blames_this_line(|| 2 * MAX);
    blames_this_line(|| ONE / FLAT);
    blames_this_line(|| ONE % FLAT);
    blames_this_line(|| ONE << 128);
    blames_this_line(|| ONE >> 128);
    blames_this_line(|| -MIN);
    blames_this_line(|| MIN.abs());
    blames_this_line(|| ONE.div_euclid(FLAT));
    blames_this_line(|| ONE.rem_euclid(FLAT));
}

#[test]
fn assigning_operators_blame_their_caller() {
    let mut v = MAX;
    blames_this_line(|| v += ONE);
    blames_this_line(|| v *= 2);
    blames_this_line(|| v /= 0);
    blames_this_line(|| v <<= 128);
    let mut p = WorldPosition::MAX;
    blames_this_line(|| p += ONE);
    blames_this_line(|| p -= MIN);
}

#[test]
fn moving_points_blames_the_caller() {
    blames_this_line(|| WorldPosition::MAX + ONE);
    blames_this_line(|| WorldPosition::MIN - ONE);
    blames_this_line(|| WorldPosition::MIN - WorldPosition::MAX);
}

#[test]
fn division_by_zero_blames_the_caller_in_every_family() {
    blames_this_line(|| ONE.saturating_div(FLAT));
    blames_this_line(|| ONE.wrapping_div(FLAT));
    blames_this_line(|| ONE.wrapping_rem(FLAT));
    blames_this_line(|| ONE.wrapping_div_euclid(FLAT));
    blames_this_line(|| ONE.wrapping_rem_euclid(FLAT));
    blames_this_line(|| ONE.overflowing_div(FLAT));
    blames_this_line(|| ONE.overflowing_rem(FLAT));
    blames_this_line(|| ONE.overflowing_div_euclid(FLAT));
    blames_this_line(|| ONE.overflowing_rem_euclid(FLAT));
}

#[test]
fn a_sum_that_overflows_panics() {
    assert!(blamed(|| [MAX, ONE].into_iter().sum::<IVec3_128>()).is_some());
    assert_eq!(blamed(|| [MAX, MIN].into_iter().sum::<IVec3_128>()), None);
}
