//! Shows that plain operators panic on overflow in every profile, also in a dependant's release
//! build without overflow checks, and that distances stay exact there.

use std::hint::black_box;
use std::panic::{catch_unwind, set_hook};

use nebula_math::{Aabb128, IVec3_128, WorldPosition};

fn main() {
    // The panics below are the point; their messages are not.
    set_hook(Box::new(|_| {}));
    let wrapped = run();
    assert!(
        wrapped.is_empty(),
        "operators that did not panic: {wrapped:?}"
    );
    assert_profile();

    let (low, high) = black_box((WorldPosition::MIN, WorldPosition::MAX));
    assert_eq!(low.distance_squared(&high).bit_length(), 258);
    assert!(!low.is_within(&high, i128::MAX));
    assert!(!low.is_within(&WorldPosition::new(i128::MIN, i128::MIN, 0), i128::MAX));
    assert_eq!(Aabb128::UNIVERSE.size(), [u128::MAX; 3]);
    println!("nebula-math: operators panic whatever the profile says");
}

/// Returns the operators that gave a result where there is none.
fn run() -> Vec<&'static str> {
    let (min, max) = black_box((IVec3_128::MIN, IVec3_128::MAX));
    let (first, last) = black_box((WorldPosition::MIN, WorldPosition::MAX));
    let (one, zero, back) = black_box((1_i128, 0_i128, -1_i128));
    let cases: [(&str, &(dyn Fn() + std::panic::RefUnwindSafe)); 20] = [
        ("vector + vector", &|| drop_result(max + IVec3_128::X)),
        ("vector + number", &|| drop_result(max + one)),
        ("number + vector", &|| drop_result(one + max)),
        ("vector += vector", &|| {
            let mut v = max;
            v += IVec3_128::Z;
            drop_result(v);
        }),
        ("vector - vector", &|| drop_result(min - IVec3_128::Y)),
        ("number - vector", &|| drop_result(one - min)),
        ("vector * vector", &|| drop_result(max * max)),
        ("vector * number", &|| drop_result(min * back)),
        ("vector / zero", &|| drop_result(max / zero)),
        ("vector / -1", &|| drop_result(min / back)),
        ("vector % zero", &|| drop_result(max % zero)),
        ("vector % -1", &|| drop_result(min % back)),
        ("-vector", &|| drop_result(-min)),
        ("abs", &|| drop_result(min.abs())),
        ("vector << 128", &|| drop_result(max << black_box(128))),
        ("vector >> 128", &|| drop_result(max >> black_box(128))),
        ("sum", &|| {
            drop_result([max, max].into_iter().sum::<IVec3_128>());
        }),
        ("point + vector", &|| drop_result(last + IVec3_128::X)),
        ("point - vector", &|| drop_result(first - IVec3_128::X)),
        ("point - point", &|| drop_result(last - first)),
    ];
    let calm = cases.into_iter().filter(|(_, f)| catch_unwind(f).is_ok());
    calm.map(|(name, _)| name).collect()
}

fn drop_result<T>(result: T) {
    black_box(result);
}

/// In release this program itself must wrap, or it would show nothing.
fn assert_profile() {
    let wrapped = catch_unwind(|| black_box(i128::MAX) + black_box(1));
    assert_eq!(wrapped.is_ok(), !cfg!(debug_assertions));
}
