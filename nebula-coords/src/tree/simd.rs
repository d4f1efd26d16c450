//! The one place that speaks to the processor: distances of up to 64 points at a time, prefetch, and
//! appending to lists without a detour.
//!
//! What takes distances has a twin in plain code that runs where the processor lacks the instructions,
//! and the tests hold one against the other. Squares may differ in their last bits (a fused
//! multiplication rounds once); the band of doubt in `kernel.rs` covers either.

#![expect(
    unsafe_code,
    reason = "vector instructions are chosen when the program runs; decision 0017 shows what they gain"
)]

mod append;

use super::kernel::Center;
use super::leaf::{Block, LANES};
pub(super) use append::{append, append_kept};

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
pub(super) fn near(blocks: &[Block], center: Center, sure: f32, never: f32) -> Masks {
    debug_assert!(blocks.len() <= GROUP, "a bit for each point");
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512F, as was just asked.
            return unsafe {
                match center {
                    Center::Whole(at) => x86::near_512::<false>(blocks, at, 1.0, sure, never),
                    Center::Floats { at, scale } => {
                        x86::near_512::<true>(blocks, bits(at), scale, sure, never)
                    }
                }
            };
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the processor has AVX2 and FMA, as was just asked.
            return unsafe {
                match center {
                    Center::Whole(at) => x86::near_256::<false>(blocks, at, 1.0, sure, never),
                    Center::Floats { at, scale } => {
                        x86::near_256::<true>(blocks, bits(at), scale, sure, never)
                    }
                }
            };
        }
    }
    near_plain(blocks, center, sure, never)
}

/// Returns the smallest square in each of 16 lanes of blocks that come in pairs: of as many different
/// points, if there are any.
#[inline]
pub(super) fn minima(blocks: &[Block], center: Center) -> [f32; 2 * LANES] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512F, as was just asked.
        return unsafe {
            match center {
                Center::Whole(at) => x86::minima_512::<false>(blocks, at, 1.0),
                Center::Floats { at, scale } => x86::minima_512::<true>(blocks, bits(at), scale),
            }
        };
    }
    minima_plain(blocks, center)
}

/// The twin of the vector code.
fn minima_plain(blocks: &[Block], center: Center) -> [f32; 2 * LANES] {
    let mut minima = [f32::INFINITY; 2 * LANES];
    for pair in blocks.chunks_exact(2) {
        let squares = pair
            .iter()
            .flat_map(|block| super::kernel::near(block, center));
        for (least, square) in minima.iter_mut().zip(squares) {
            *least = least.min(square);
        }
    }
    minima
}

/// Returns floats as registers of whole numbers hold them.
#[inline]
#[cfg(target_arch = "x86_64")]
fn bits(floats: [f32; 3]) -> [i32; 3] {
    floats.map(|v| v.to_bits().cast_signed())
}

/// The twin of the vector code.
fn near_plain(blocks: &[Block], center: Center, sure: f32, never: f32) -> Masks {
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
    prefetch_at(item, 0);
}

/// Asks the processor to fetch the first lines of what is about to be read, up to `lines`.
#[inline]
pub(super) fn prefetch_lines<T>(item: &T, lines: usize) {
    for offset in (0..size_of::<T>()).step_by(64).take(lines) {
        prefetch_at(item, offset);
    }
}

/// Asks the processor to fetch the line that is so many bytes into what is about to be read.
#[inline]
pub(super) fn prefetch_at<T>(item: &T, offset: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = core::ptr::from_ref(item).cast::<i8>().wrapping_add(offset);
        // SAFETY: every x86-64 processor has the instruction, and it only hints: it reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (item, offset);
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

    /// Returns the squares of two blocks. Offsets and centre are the bits of floats, offsets to be scaled, or
    /// whole numbers.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn squares_512<const FLOATS: bool>(
        first: &Block,
        second: &Block,
        center: &[__m512i; 3],
        scale: __m512,
    ) -> __m512 {
        let mut squares = _mm512_setzero_ps();
        for (k, center) in center.iter().enumerate() {
            let low = _mm512_castsi256_si512(axis(first, k));
            let both = _mm512_inserti64x4::<1>(low, axis(second, k));
            let d = if FLOATS {
                _mm512_fmsub_ps(
                    _mm512_castsi512_ps(both),
                    scale,
                    _mm512_castsi512_ps(*center),
                )
            } else {
                _mm512_cvtepi32_ps(_mm512_sub_epi32(both, *center))
            };
            squares = _mm512_fmadd_ps(d, d, squares);
        }
        squares
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn minima_512<const FLOATS: bool>(
        blocks: &[Block],
        center: [i32; 3],
        scale: f32,
    ) -> [f32; 16] {
        let center = center.map(|at| _mm512_set1_epi32(at));
        let scale = _mm512_set1_ps(scale);
        let mut least = _mm512_set1_ps(f32::INFINITY);
        for pair in blocks.chunks_exact(2) {
            let squares = squares_512::<FLOATS>(&pair[0], &pair[1], &center, scale);
            least = _mm512_min_ps(least, squares);
        }
        let mut minima = [0.0; 16];
        // SAFETY: the list is as long as the register, and the instruction asks for no alignment.
        unsafe { _mm512_storeu_ps(minima.as_mut_ptr(), least) };
        minima
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn near_512<const FLOATS: bool>(
        blocks: &[Block],
        center: [i32; 3],
        scale: f32,
        sure: f32,
        never: f32,
    ) -> Masks {
        let center = center.map(|at| _mm512_set1_epi32(at));
        let scale = _mm512_set1_ps(scale);
        let (sure, never) = (_mm512_set1_ps(sure), _mm512_set1_ps(never));
        let mut found = Masks { sure: 0, maybe: 0 };
        let mut shift = 0;
        for pair in blocks.chunks(2) {
            let squares = squares_512::<FLOATS>(&pair[0], &pair[pair.len() - 1], &center, scale);
            found.sure |= u64::from(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(squares, sure)) << shift;
            found.maybe |= u64::from(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(squares, never)) << shift;
            shift += 16;
        }
        found.trimmed(blocks.len())
    }

    /// Does the same on half the width.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn near_256<const FLOATS: bool>(
        blocks: &[Block],
        center: [i32; 3],
        scale: f32,
        sure: f32,
        never: f32,
    ) -> Masks {
        let center = center.map(|at| _mm256_set1_epi32(at));
        let scale = _mm256_set1_ps(scale);
        let (sure, never) = (_mm256_set1_ps(sure), _mm256_set1_ps(never));
        let bits = |mask: __m256| u64::from(_mm256_movemask_ps(mask).cast_unsigned());
        let mut found = Masks { sure: 0, maybe: 0 };
        for (at, block) in blocks.iter().enumerate() {
            let mut squares = _mm256_setzero_ps();
            for (k, center) in center.iter().enumerate() {
                let offsets = axis(block, k);
                let d = if FLOATS {
                    _mm256_fmsub_ps(
                        _mm256_castsi256_ps(offsets),
                        scale,
                        _mm256_castsi256_ps(*center),
                    )
                } else {
                    _mm256_cvtepi32_ps(_mm256_sub_epi32(offsets, *center))
                };
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

    type Near = fn(&[Block], Center, f32, f32) -> Masks;

    /// Asks a way for whole numbers or for floats, as the centre is.
    #[cfg(target_arch = "x86_64")]
    macro_rules! way {
        ($near:ident) => {
            |blocks, center, sure, never| match center {
                // SAFETY: whoever lists this way has asked for the instructions.
                Center::Whole(at) => unsafe { x86::$near::<false>(blocks, at, 1.0, sure, never) },
                // SAFETY: the same.
                Center::Floats { at, scale } => unsafe {
                    x86::$near::<true>(blocks, bits(at), scale, sure, never)
                },
            }
        };
    }

    /// Returns every way to do the work that this processor can, with its name.
    fn ways() -> Vec<(&'static str, Near)> {
        let mut ways: Vec<(&'static str, Near)> = vec![("plain", near_plain), ("chosen", near)];
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                ways.push(("avx512", way!(near_512)));
            }
            if std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("fma")
            {
                ways.push(("avx2", way!(near_256)));
            }
        }
        ways
    }

    pub(super) fn word(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns the square of a distance as exactly as `f64` can: far better than `f32`.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the margin is far wider than the rounding of f64"
    )]
    fn square(block: &Block, lane: usize, center: Center) -> f64 {
        let gap = |k: usize| match center {
            Center::Whole(at) => i64::from(block.axes[k][lane]).abs_diff(at[k].into()) as f64,
            Center::Floats { at, scale } => {
                let offset = f64::from(f32::from_bits(block.axes[k][lane]));
                offset * f64::from(scale) - f64::from(at[k])
            }
        };
        [0, 1, 2].map(|k| gap(k) * gap(k)).iter().sum()
    }

    /// Returns blocks of random offsets and a centre: whole numbers, or floats of every size.
    fn scene(state: &mut u64) -> (Vec<Block>, Center) {
        let count = usize::try_from(word(state) % 8).expect("small") + 1;
        let bits = word(state) % 32;
        let floats = word(state).is_multiple_of(2);
        let offset = |state: &mut u64| {
            let wide = word(state) % u64::from(OFFSET_END);
            let whole = u32::try_from(wide >> bits).expect("31 bits");
            if !floats {
                return whole;
            }
            // From 2^-62 to 2^62.
            let exponent = u32::try_from(word(state) % 125).expect("small") + 127 - 62;
            exponent << 23 | whole >> 8
        };
        let mut blocks = vec![Block::default(); count];
        for axis in blocks.iter_mut().flat_map(|block| &mut block.axes) {
            *axis = [0; LANES].map(|_| offset(state));
        }
        let center = if floats {
            Center::Floats {
                at: [0; 3].map(|_| match word(state) % 4 {
                    0 => 0.0,
                    1 => -f32::from_bits(offset(state)),
                    _ => f32::from_bits(offset(state)),
                }),
                scale: [1.0, 1.0 / 4_096.0][usize::from(word(state).is_multiple_of(4))],
            }
        } else {
            Center::Whole([0; 3].map(|_| match word(state) % 4 {
                0 => NEAR_LOW,
                1 => i32::MAX,
                _ => offset(state).cast_signed(),
            }))
        };
        (blocks, center)
    }

    /// What the band of doubt relies on: a bit is right wherever the square is not within 2^-21 of the
    /// threshold. All ways, all numbers of blocks, thresholds at a point's own square.
    #[test]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "thresholds are floats, and the margin is far wider than their rounding"
    )]
    fn every_way_is_right_outside_the_margin() {
        let cases =
            std::env::var("NEBULA_KERNEL_CASES").map_or(200_000, |n| n.parse().expect("a number"));
        const MARGIN: f64 = 1.0 / (1 << 21) as f64;
        let ways = ways();
        let (mut state, mut asked, mut inside) = (7, 0, 0);
        while asked < cases {
            let (blocks, center) = scene(&mut state);
            let count = blocks.len();
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
                    let square = square(block, at % LANES, center);
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

    /// Each minimum is the square of a point in its lane, and no point there is nearer.
    #[test]
    fn minima_are_those_of_their_lanes() {
        let mut state = 9;
        for _ in 0..2_000 {
            let (blocks, center) = scene(&mut state);
            for minima in [minima(&blocks, center), minima_plain(&blocks, center)] {
                for (lane, least) in minima.iter().enumerate() {
                    let pairs = blocks.chunks_exact(2);
                    let squares = pairs.map(|pair| square(&pair[lane / 8], lane % 8, center));
                    let exact = squares.fold(f64::INFINITY, f64::min);
                    let least = f64::from(*least);
                    let is_near = (least - exact).abs() <= exact / f64::from(1 << 21);
                    assert!(least == exact || is_near, "{least} {exact}");
                }
            }
        }
    }

    #[test]
    fn hints_change_nothing() {
        prefetch(&5_u8);
        prefetch_lines(&[1_u64; 100], 3);
        prefetch_list(&[[1_u64; 100]; 2], 9);
        prefetch_list::<()>(&[(); 3], 9);
        prefetch_list::<u32>(&[], 9);
    }
}
