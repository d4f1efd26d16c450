//! An allocator that counts the bytes in use while asked to, for "bytes per entity".
#![expect(
    unsafe_code,
    reason = "a global allocator is an unsafe trait; every call is passed on unchanged"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

/// The system's allocator, with a counter that is off unless [`held_by`] runs.
#[derive(Debug)]
pub struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static HELD: AtomicI64 = AtomicI64::new(0);

fn note(bytes: i64) {
    if ON.load(Relaxed) {
        HELD.fetch_add(bytes, Relaxed);
    }
}

fn size(bytes: usize) -> i64 {
    i64::try_from(bytes).expect("a layout never exceeds isize::MAX")
}

// SAFETY: every call goes to `System` with the arguments it came with; the counter touches no memory
// but its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(size(layout.size()));
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(size(layout.size()));
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        note(-size(layout.size()));
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, to: usize) -> *mut u8 {
        note(size(to) - size(layout.size()));
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`.
        unsafe { System.realloc(at, layout, to) }
    }
}

/// Runs `make` and returns the bytes that it took and still holds, on all threads together.
///
/// Not to be nested, and meaningful only in a binary whose global allocator is [`Counting`].
pub fn held_by<T>(make: impl FnOnce() -> T) -> (T, i64) {
    HELD.store(0, Relaxed);
    ON.store(true, Relaxed);
    let made = make();
    ON.store(false, Relaxed);
    (made, HELD.load(Relaxed))
}
