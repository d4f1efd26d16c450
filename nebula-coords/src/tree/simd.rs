//! The one place that speaks to the processor: distances of up to 64 points at a time, and prefetch.
//!
//! Every function here has a twin in plain code that runs where the processor lacks the instructions,
//! and the tests hold one against the other. Squares may differ in their last bits (a fused
//! multiplication rounds once); the band of doubt in `kernel.rs` covers either.

#![expect(
    unsafe_code,
    reason = "vector instructions are chosen when the program runs; decision 0017 shows what they gain"
)]

use super::leaf::{Block, LANES};

/// So many blocks are looked at together: one bit of a word for each point.
pub(super) const GROUP: usize = 64 / LANES;

/// Points by their bits in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Masks {
    /// Squares at most the lower threshold.
    pub(super) sure: u64,
    /// Squares at most the upper threshold.
    pub(super) maybe: u64,
}

/// Returns which points of up to eight blocks are within two squared distances of a centre, measured in
/// `f32`.
#[inline]
pub(super) fn near(blocks: &[Block], center: [i32; 3], sure: f32, never: f32) -> Masks {
    debug_assert!(blocks.len() <= GROUP, "a bit for each point");
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512F, as was just asked.
            return unsafe { x86::near_512(blocks, center, sure, never) };
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the processor has AVX2 and FMA, as was just asked.
            return unsafe { x86::near_256(blocks, center, sure, never) };
        }
    }
    near_plain(blocks, center, sure, never)
}

/// The twin of the vector code.
fn near_plain(blocks: &[Block], center: [i32; 3], sure: f32, never: f32) -> Masks {
    masks(blocks, sure, never, |block| {
        super::kernel::near(block, center)
    })
}

/// Collects a bit for each point by the squares of its block.
#[inline]
pub(super) fn masks<F: Copy + PartialOrd>(
    blocks: &[Block],
    sure: F,
    never: F,
    squares: impl Fn(&Block) -> [F; LANES],
) -> Masks {
    let mut found = Masks { sure: 0, maybe: 0 };
    for (at, block) in blocks.iter().enumerate() {
        for (lane, square) in squares(block).iter().enumerate() {
            let bit = at * LANES + lane;
            found.sure |= u64::from(*square <= sure) << bit;
            found.maybe |= u64::from(*square <= never) << bit;
        }
    }
    found
}

/// Asks the processor to fetch what is about to be read.
#[inline]
pub(super) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, and it only hints: it reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// Asks the processor to fetch the first lines of a list, up to `lines`.
#[inline]
pub(super) fn prefetch_list<T>(list: &[T], lines: usize) {
    let step = (64 / size_of::<T>().max(1)).max(1);
    for item in list.iter().step_by(step).take(lines) {
        prefetch(item);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #[allow(
        clippy::wildcard_imports,
        reason = "the names of instructions are distinct"
    )]
    use core::arch::x86_64::*;

    use super::{Block, Masks};

    /// Loads one axis of a block.
    #[inline]
    #[target_feature(enable = "avx")]
    fn axis(block: &Block, axis: usize) -> __m256i {
        // SAFETY: an axis is 32 bytes of plain integers, and blocks are aligned to 32 bytes with
        // axes of 32 bytes each.
        unsafe { _mm256_load_si256(block.axes[axis].as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn near_512(blocks: &[Block], center: [i32; 3], sure: f32, never: f32) -> Masks {
        let center = center.map(|at| _mm512_set1_epi32(at));
        let (sure, never) = (_mm512_set1_ps(sure), _mm512_set1_ps(never));
        let mut found = Masks { sure: 0, maybe: 0 };
        let mut shift = 0;
        for pair in blocks.chunks(2) {
            let second = &pair[pair.len() - 1];
            let mut squares = _mm512_setzero_ps();
            for (k, center) in center.iter().enumerate() {
                let low = _mm512_castsi256_si512(axis(&pair[0], k));
                let both = _mm512_inserti64x4::<1>(low, axis(second, k));
                let d = _mm512_cvtepi32_ps(_mm512_sub_epi32(both, *center));
                squares = _mm512_fmadd_ps(d, d, squares);
            }
            found.sure |= u64::from(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(squares, sure)) << shift;
            found.maybe |= u64::from(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(squares, never)) << shift;
            shift += 16;
        }
        found.trimmed(blocks.len())
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn near_256(blocks: &[Block], center: [i32; 3], sure: f32, never: f32) -> Masks {
        let center = center.map(|at| _mm256_set1_epi32(at));
        let (sure, never) = (_mm256_set1_ps(sure), _mm256_set1_ps(never));
        let bits = |mask: __m256| u64::from(_mm256_movemask_ps(mask).cast_unsigned());
        let mut found = Masks { sure: 0, maybe: 0 };
        for (at, block) in blocks.iter().enumerate() {
            let mut squares = _mm256_setzero_ps();
            for (k, center) in center.iter().enumerate() {
                let d = _mm256_cvtepi32_ps(_mm256_sub_epi32(axis(block, k), *center));
                squares = _mm256_fmadd_ps(d, d, squares);
            }
            found.sure |= bits(_mm256_cmp_ps::<_CMP_LE_OQ>(squares, sure)) << (8 * at);
            found.maybe |= bits(_mm256_cmp_ps::<_CMP_LE_OQ>(squares, never)) << (8 * at);
        }
        found
    }
}

impl Masks {
    /// Leaves out the points after so many blocks.
    #[inline]
    #[cfg(target_arch = "x86_64")]
    fn trimmed(self, blocks: usize) -> Self {
        let keep = u64::MAX.unbounded_shr(64 - 8 * u32::try_from(blocks).unwrap_or(8));
        Self {
            sure: self.sure & keep,
            maybe: self.maybe & keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::OFFSET_END;
    use super::super::kernel::NEAR_LOW;
    use super::*;

    type Near = fn(&[Block], [i32; 3], f32, f32) -> Masks;

    /// Returns every way to do the work that this processor can, with its name.
    fn ways() -> Vec<(&'static str, Near)> {
        let mut ways: Vec<(&'static str, Near)> = vec![("plain", near_plain), ("chosen", near)];
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has AVX-512F, as was just asked.
                ways.push(("avx512", |b, c, s, n| unsafe { x86::near_512(b, c, s, n) }));
            }
            if std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("fma")
            {
                // SAFETY: the processor has AVX2 and FMA, as was just asked.
                ways.push(("avx2", |b, c, s, n| unsafe { x86::near_256(b, c, s, n) }));
            }
        }
        ways
    }

    fn word(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns the square of a distance, exactly.
    fn square(block: &Block, lane: usize, center: [i32; 3]) -> u128 {
        let gap = |k: usize| i64::from(block.axes[k][lane]).abs_diff(center[k].into());
        [0, 1, 2].map(|k| u128::from(gap(k)).pow(2)).iter().sum()
    }

    /// What the band of doubt relies on: a bit is right wherever the square is not within 2^-21 of the
    /// threshold. All ways, all numbers of blocks, thresholds at a point's own square.
    #[test]
    #[expect(
        clippy::cast_precision_loss,
        reason = "thresholds are floats, and the margin is far wider than their rounding"
    )]
    fn every_way_is_right_outside_the_margin() {
        let cases =
            std::env::var("NEBULA_KERNEL_CASES").map_or(200_000, |n| n.parse().expect("a number"));
        const MARGIN: f64 = 1.0 / (1 << 21) as f64;
        let ways = ways();
        let (mut state, mut asked, mut inside) = (7, 0, 0);
        while asked < cases {
            let count = usize::try_from(word(&mut state) % 8).expect("small") + 1;
            let bits = word(&mut state) % 32;
            let offset = |state: &mut u64| {
                let wide = word(state) % u64::from(OFFSET_END);
                u32::try_from(wide >> bits).expect("31 bits")
            };
            let mut blocks = vec![Block::default(); count];
            for axis in blocks.iter_mut().flat_map(|block| &mut block.axes) {
                *axis = [0; LANES].map(|_| offset(&mut state));
            }
            let center = [0; 3].map(|_| match word(&mut state) % 4 {
                0 => NEAR_LOW,
                1 => i32::MAX,
                _ => offset(&mut state).cast_signed(),
            });
            let lane = usize::try_from(word(&mut state) % 8).expect("small");
            let sure = square(&blocks[count / 2], lane, center) as f32;
            let never = square(&blocks[0], lane, center) as f32;
            for (name, near) in &ways {
                let found = near(&blocks, center, sure, never);
                for at in 0..64 {
                    let bit = |mask: u64| mask >> at & 1 == 1;
                    let Some(block) = blocks.get(at / LANES) else {
                        assert!(!bit(found.sure | found.maybe), "{name}: a bit for nobody");
                        continue;
                    };
                    let square = square(block, at % LANES, center) as f64;
                    for (mask, limit) in [(found.sure, sure), (found.maybe, never)] {
                        let limit = f64::from(limit);
                        if (square - limit).abs() > limit * MARGIN {
                            assert_eq!(bit(mask), square < limit, "{name}: {square} {limit}");
                        }
                    }
                }
                inside += found.sure.count_ones() as usize;
            }
            asked += count * LANES;
        }
        let all = asked * ways.len();
        assert!(
            inside > all / 10 && inside < all / 10 * 9,
            "{inside} of {all}"
        );
    }

    #[test]
    fn hints_change_nothing() {
        prefetch(&5_u8);
        prefetch_list(&[[1_u64; 100]; 2], 9);
        prefetch_list::<()>(&[(); 3], 9);
        prefetch_list::<u32>(&[], 9);
    }
}
