//! The figures that the documentation quotes, computed.

use std::fs;
use std::path::Path;

use nebula_math::units::{
    ASTRONOMICAL_UNIT, CENTIMETER, KILOMETER, LIGHT_SECOND, LIGHT_YEAR, METER, MILLIMETER,
};
use num_bigint::BigUint;

/// A whole number with five significant digits, as in `3.4028e38`, rounded to nearest.
fn five_digits(value: &BigUint) -> String {
    let digits = value.to_string();
    let power = digits.len() - 1;
    let unit = BigUint::from(10_u32).pow(u32::try_from(power - 4).expect("few digits"));
    let rounded = (value + &unit / 2_u32) / unit;
    let rounded = rounded.to_string();
    assert_eq!(rounded.len(), 5, "{value} rounds up to a power of ten");
    format!("{}.{}e{power}", &rounded[..1], &rounded[1..])
}

fn per_axis(bits: u32, unit: i128) -> String {
    let unit = BigUint::from(unit.unsigned_abs());
    five_digits(&((BigUint::from(1_u32) << bits) / unit))
}

/// Reads a page of the repository.
fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    fs::read_to_string(docs.join(name)).expect("a page beside the crate")
}

#[test]
fn the_page_on_limits_states_the_true_range() {
    let page = page("units-and-limits.md");
    for (name, unit) in [
        ("millimetres", MILLIMETER),
        ("metres", METER),
        ("astronomical units", ASTRONOMICAL_UNIT),
        ("light years", LIGHT_YEAR),
    ] {
        let row = format!(
            "| {name} | {} | {} |",
            per_axis(128, unit),
            per_axis(127, unit)
        );
        assert!(page.contains(&row), "the page lacks the row\n{row}");
    }
    assert!(page.contains("fits some 387 million times"));
}

#[test]
fn the_page_on_limits_lists_every_unit() {
    let page = page("units-and-limits.md");
    for (name, value) in [
        ("MILLIMETER", MILLIMETER),
        ("CENTIMETER", CENTIMETER),
        ("METER", METER),
        ("KILOMETER", KILOMETER),
        ("LIGHT_SECOND", LIGHT_SECOND),
        ("ASTRONOMICAL_UNIT", ASTRONOMICAL_UNIT),
        ("LIGHT_YEAR", LIGHT_YEAR),
    ] {
        let row = format!("| `{name}` | {} |", with_commas(value));
        assert!(page.contains(&row), "the page lacks the row\n{row}");
    }
}

fn with_commas(value: i128) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[test]
fn units_are_exact_multiples_of_each_other() {
    assert_eq!(CENTIMETER, 10 * MILLIMETER);
    assert_eq!(METER, 100 * CENTIMETER);
    assert_eq!(KILOMETER, 1_000 * METER);
    assert_eq!(
        LIGHT_YEAR,
        365 * 86_400 * LIGHT_SECOND + 21_600 * LIGHT_SECOND
    );
    assert_eq!(LIGHT_YEAR, 9_460_730_472_580_800 * METER);
    assert_eq!(ASTRONOMICAL_UNIT, 149_597_870_700 * METER);
}

/// What the module page, the README and the crate page say in words.
#[test]
fn the_range_in_words_is_true() {
    let axis = BigUint::from(1_u32) << 128_u32;
    let light_years = &axis / LIGHT_YEAR.unsigned_abs();
    assert_eq!(five_digits(&light_years), "3.5968e19"); // "3.6 * 10^19", "36 quintillion"
    assert_eq!(five_digits(&axis), "3.4028e38"); // "3.4 * 10^38 mm"
    let universes = light_years / 93_000_000_000_u64;
    assert_eq!(universes.to_string(), "386751339"); // "387 million times"

    let units = include_str!("../src/units.rs");
    let words = units.replace("\n//!", "");
    assert!(
        words.contains("about 3.4 * 10^38 mm, which is 3.4 * 10^35 m or 3.6 * 10^19 light years")
    );
    assert!(words.contains("fits about 387 million times along an axis"));
    assert!(include_str!("../README.md").contains("36 quintillion light years"));
}
