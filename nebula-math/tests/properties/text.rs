//! Text: what is written can be read, and what cannot be read is named.

use nebula_math::{Aabb128, IVec3_128, WorldPosition, strategies};
use proptest::prelude::*;

use crate::twin::config;

proptest! {
    #![proptest_config(config())]

    #[test]
    fn written_values_read_back(p in strategies::position(), v in strategies::vector()) {
        prop_assert_eq!(p.to_string().parse(), Ok(p));
        prop_assert_eq!(v.to_string().parse(), Ok(v));
        let bare = format!(" {} ,{},\t{}", v.x, v.y, v.z);
        prop_assert_eq!(bare.parse(), Ok(v));
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,120}") {
        if let Err(error) = text.parse::<WorldPosition>() {
            prop_assert!(error.to_string().len() < 700);
        }
    }
}

#[track_caller]
fn refuses(text: &str, message: &str) {
    assert_eq!(
        text.parse::<WorldPosition>().unwrap_err().to_string(),
        message
    );
    assert_eq!(text.parse::<IVec3_128>().unwrap_err().to_string(), message);
}

#[test]
fn refused_text_is_named() {
    let three = r#"expected three numbers, as in "1, -2, 3", but"#;
    refuses("1,2", &format!(r#"{three} "1,2" has 2"#));
    refuses("", &format!(r#"{three} "" has 0"#));
    refuses("( )", &format!(r#"{three} "( )" has 0"#));
    refuses(" ", &format!(r#"{three} " " has 0"#));
    refuses("(,)", &format!(r#"{three} "(,)" has 2"#));
    refuses("(1, 2, 3, 4)", &format!(r#"{three} "(1, 2, 3, 4)" has 4"#));
    refuses("1,,3", r#"y is "", where a whole number belongs"#);
    refuses("1, 2, x\n", r#"z is "x", which is not a whole number"#);
    refuses("(1, 2, 3", r#"x is "(1", which is not a whole number"#);
    refuses("1e3, 2, 3", r#"x is "1e3", which is not a whole number"#);
    refuses(
        "0, -170141183460469231731687303715884105729, 0",
        r#"y is "-170141183460469231731687303715884105729", which does not fit i128"#,
    );
}

#[test]
fn long_text_is_cut_at_a_character() {
    let long = "é".repeat(1_000);
    let error = long.parse::<WorldPosition>().unwrap_err().to_string();
    assert!(
        error.contains(&format!(r#""{}"... has 1"#, "é".repeat(24))),
        "{error}"
    );
    let odd = format!("a{long}");
    let error = odd.parse::<WorldPosition>().unwrap_err().to_string();
    assert!(
        error.contains(&format!(r#""a{}"..."#, "é".repeat(23))),
        "{error}"
    );
}

#[test]
fn boxes_are_written_as_their_corners() {
    let b = Aabb128::from_corners(WorldPosition::new(1, -2, 3), WorldPosition::ORIGIN);
    assert_eq!(b.to_string(), "(0, -2, 0)..=(1, 0, 3)");
}

#[test]
fn a_width_pads_the_whole() {
    let p = WorldPosition::new(1, -2, 3);
    assert_eq!(format!("{p:>12}|"), "  (1, -2, 3)|");
    assert_eq!(format!("{p:*^13}|"), "*(1, -2, 3)**|");
    assert_eq!(format!("{:<12}|", IVec3_128::ONE), "(1, 1, 1)   |");
    let point = Aabb128::from_point(p);
    assert_eq!(format!("{point:>24}|"), " (1, -2, 3)..=(1, -2, 3)|");
    // The longest there is.
    let all = Aabb128::from_point(WorldPosition::MIN);
    assert_eq!(format!("{all:300}").trim_end(), all.to_string());
    assert_eq!(all.to_string().len(), 6 * 40 + 15);
}
