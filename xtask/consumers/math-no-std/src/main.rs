//! Uses nebula-math without the standard library. Its exit code is computed: 0 when every answer
//! was right, otherwise the number of the first wrong one.
#![no_std]
#![no_main]

use core::ffi::c_int;
use core::hint::black_box;
use core::panic::PanicInfo;

use nebula_math::{Aabb128, IVec3_128, U384, WorldPosition, units};

#[panic_handler]
fn stop(_: &PanicInfo<'_>) -> ! {
    // The C library is linked for its start code, so it can end the program too.
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: `abort` takes nothing and does not return.
    unsafe { abort() }
}

/// The core library that Rust ships was built to unwind and names this function. A program that
/// aborts never calls it.
// SAFETY: only the standard library defines this name otherwise, and it is not linked.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

// SAFETY: the start code of the C library looks for this name, and no other code here defines it.
#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    answers()
        .iter()
        .position(|right| !right)
        .map_or(0, |wrong| c_int::try_from(wrong + 1).unwrap_or(c_int::MAX))
}

fn answers() -> [bool; 8] {
    let ship = black_box(WorldPosition::new(i128::MAX, i128::MIN, 0));
    let buoy = black_box(WorldPosition::new(i128::MAX - 300, i128::MIN + 400, 0));
    let room = Aabb128::from_corners(ship, buoy);
    [
        ship.is_within(&buoy, 500) && !ship.is_within(&buoy, 499),
        ship.distance_squared(&buoy) == U384::from(250_000),
        ship.distance_lossy(&buoy) == 0.5,
        ship.offset_to(&buoy) == Some(IVec3_128::new(-300, 400, 0)),
        ship.offset_to(&black_box(WorldPosition::ORIGIN)).is_none()
            && buoy.checked_add(IVec3_128::splat(301)).is_none(),
        room.intersects_sphere(&WorldPosition::MAX, i128::MAX)
            == room.contains(&WorldPosition::MAX),
        units::meters_to_mm(black_box(-1.2346)) == Ok(-1_235),
        black_box("(1, -2, 3)").parse() == Ok(IVec3_128::new(1, -2, 3)),
    ]
}
