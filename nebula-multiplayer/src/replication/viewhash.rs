//! The view hash: both sides mix what was delivered, and compare.

use super::record::bits;
use crate::Tick;

/// Returns what one delivered component adds to the hash.
///
/// It is no secret and no signature: a client that lies here only cheats itself out of a resend.
#[inline]
pub(crate) fn entry(slot: u32, kind: usize, version: Tick) -> u64 {
    let kind = u64::try_from(kind).unwrap_or(0);
    let mut x = (u64::from(slot) << 32 | u64::from(version.get()))
        .wrapping_add(kind.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    // The finalizer of splitmix64.
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Returns what the kinds of `mask` add together.
pub(crate) fn slot(slot: u32, mask: u64, version: impl Fn(usize) -> Tick) -> u64 {
    bits(mask).fold(0, |hash, kind| hash ^ entry(slot, kind, version(kind)))
}
