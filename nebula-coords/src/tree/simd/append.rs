//! Appending to lists: whole runs of items, or those whose bits are set.

/// So many items are copied at a time.
const STEP: usize = 16;

/// Appends to a list, as `extend_from_slice` does, but without a call of `memcpy`: most leaves are so small that
/// the call would cost as much as the copy.
#[inline]
pub(in crate::tree) fn append<T: Copy>(list: &mut Vec<T>, more: &[T]) {
    let count = more.len();
    list.reserve(count);
    let from = more.as_ptr();
    // SAFETY: every copy stays below `count`, on both sides: the loop by its condition, the two after it because
    // there are at least `STEP` items and fewer than two steps are left. There is room for `count` items, and
    // the borrows keep the two sides apart. In the end all of them are written.
    unsafe {
        let to = list.as_mut_ptr().add(list.len());
        if count < STEP {
            core::ptr::copy_nonoverlapping(from, to, count);
        } else {
            let mut at = 0;
            while at + 2 * STEP <= count {
                core::ptr::copy_nonoverlapping(from.add(at), to.add(at), STEP);
                core::ptr::copy_nonoverlapping(from.add(at + STEP), to.add(at + STEP), STEP);
                at += 2 * STEP;
            }
            let first = at.min(count - STEP);
            core::ptr::copy_nonoverlapping(from.add(first), to.add(first), STEP);
            let last = count - STEP;
            core::ptr::copy_nonoverlapping(from.add(last), to.add(last), STEP);
        }
        list.set_len(list.len() + count);
    }
}

/// Appends the items whose bits are set to a list.
#[inline]
pub(in crate::tree) fn append_kept<T: Copy>(list: &mut Vec<T>, items: &[T], bits: u64) {
    debug_assert!(
        64 - bits.leading_zeros() as usize <= items.len(),
        "a bit for each item"
    );
    let count = bits.count_ones() as usize;
    list.reserve(count);
    #[cfg(target_arch = "x86_64")]
    if (size_of::<T>() == 4 || size_of::<T>() == 8)
        && list.capacity() - list.len() >= 64
        && std::arch::is_x86_feature_detected!("avx512f")
    {
        // SAFETY: the processor has AVX-512F and there is room for 64 items of one of the two sizes, as was just
        // asked; all items whose bits are set are in the list, and `count` of them are written.
        unsafe {
            let to = list.as_mut_ptr().add(list.len());
            x86::compress(to, items.as_ptr(), bits);
            list.set_len(list.len() + count);
        }
        return;
    }
    if count == items.len() {
        append(list, items);
    } else {
        append_one_by_one(list, items, bits);
    }
}

/// The twin of the vector code; there is room.
#[inline]
fn append_one_by_one<T: Copy>(list: &mut Vec<T>, items: &[T], mut bits: u64) {
    let count = bits.count_ones() as usize;
    debug_assert!(list.capacity() - list.len() >= count, "there is room");
    // SAFETY: there is room for `count` items, and all of them are written before they count.
    unsafe {
        let to = list.as_mut_ptr().add(list.len());
        for at in 0..count {
            to.add(at).write(items[bits.trailing_zeros() as usize]);
            bits &= bits - 1;
        }
        list.set_len(list.len() + count);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::asm;

    /// Copies the items whose bits are set to a place, one behind the other; what follows them there is undefined.
    ///
    /// The instructions are written out because an item may hold bytes of no value (padding), which a register of
    /// numbers must not in the eyes of the language. Here they are moved, and nobody looks.
    ///
    /// # Safety
    /// Items are 4 or 8 bytes long; those whose bits are set are there, and there is room for 64, apart from them.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn compress<T: Copy>(to: *mut T, from: *const T, bits: u64) {
        let lanes = 64 / size_of::<T>();
        let mut kept = 0;
        for at in (0..64).step_by(lanes) {
            #[expect(clippy::cast_possible_truncation, reason = "at most 16 lanes")]
            let some = (bits >> at & ((1 << lanes) - 1)) as u16;
            // SAFETY: the load reads items whose bits are set alone. So far at most `at` items are written, and
            // the store writes `lanes` more, so it ends within the room for 64.
            unsafe {
                let (from, to) = (from.wrapping_add(at), to.add(kept));
                if size_of::<T>() == 4 {
                    asm!(
                        "vmovdqu32 {items}{{{keep}}}{{z}}, [{from}]",
                        "vpcompressd {items}{{{keep}}}{{z}}, {items}",
                        "vmovdqu32 [{to}], {items}",
                        items = out(zmm_reg) _,
                        keep = in(kreg) some,
                        from = in(reg) from,
                        to = in(reg) to,
                        options(nostack, preserves_flags)
                    );
                } else {
                    asm!(
                        "vmovdqu64 {items}{{{keep}}}{{z}}, [{from}]",
                        "vpcompressq {items}{{{keep}}}{{z}}, {items}",
                        "vmovdqu64 [{to}], {items}",
                        items = out(zmm_reg) _,
                        keep = in(kreg) some,
                        from = in(reg) from,
                        to = in(reg) to,
                        options(nostack, preserves_flags)
                    );
                }
            }
            kept += some.count_ones() as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::simd::tests::word;

    #[test]
    fn lists_grow_by_what_is_appended() {
        let items: Vec<(u8, u64)> = (0..100).map(|i| (1, i)).collect();
        for count in 0..=100 {
            let (mut list, mut expected) = (vec![(9, 9)], vec![(9, 9)]);
            for from in [0, 100 - count] {
                append(&mut list, &items[from..from + count]);
                expected.extend_from_slice(&items[from..from + count]);
            }
            assert_eq!(list, expected);
        }
    }

    /// Appends every choice of up to 64 items to lists with room, without, and with just enough of it.
    fn kept_items_follow_in_order<T: Copy + PartialEq + core::fmt::Debug>(make: impl Fn(u8) -> T) {
        let items: Vec<T> = (0..64).map(&make).collect();
        let mut state = 3;
        for count in 0..=64_usize {
            let used = u64::MAX.unbounded_shr(64 - u32::try_from(count).expect("small"));
            for bits in [0, u64::MAX, word(&mut state), word(&mut state), 1, 1 << 63] {
                let bits = bits & used;
                let kept = (0..count)
                    .filter(|at| bits >> at & 1 == 1)
                    .map(|at| items[at]);
                let expected: Vec<T> = [make(99)].into_iter().chain(kept).collect();
                for room in [0, expected.len() - 1, 64, 65, 1_000] {
                    let mut list = Vec::with_capacity(1 + room);
                    list.push(make(99));
                    append_kept(&mut list, &items[..count], bits);
                    assert_eq!(list, expected, "{count} items, room for {room}");
                }
                let mut list = Vec::with_capacity(65);
                list.push(make(99));
                append_one_by_one(&mut list, &items[..count], bits);
                assert_eq!(list, expected, "{count} items, one by one");
            }
        }
    }

    /// Items of the two sizes that registers hold, with and without bytes of no value, and of others.
    #[test]
    fn kept_items_of_every_size_follow_in_order() {
        kept_items_follow_in_order(u32::from);
        kept_items_follow_in_order(|i| u64::from(i) << 40 | 7);
        kept_items_follow_in_order(|i| (i, u16::from(i) * 3));
        kept_items_follow_in_order(|i| (u32::from(i) * 5, i));
        kept_items_follow_in_order(|i| i);
        kept_items_follow_in_order(|i| [u32::from(i); 3]);
        kept_items_follow_in_order(|_| ());
    }

    /// The instructions are written out, so no sanitizer looks at them: what lies behind the room they ask for is
    /// looked at here.
    #[test]
    fn nothing_is_written_behind_the_room() {
        const BEHIND: u32 = 0xdead_beef;
        let items: Vec<u32> = (0..64).collect();
        let mut state = 5;
        for count in 0..=64_usize {
            let used = u64::MAX.unbounded_shr(64 - u32::try_from(count).expect("small"));
            for bits in [u64::MAX, word(&mut state), 1, 1 << 63] {
                let mut list = Vec::with_capacity(256);
                for place in list.spare_capacity_mut() {
                    place.write(BEHIND);
                }
                append_kept(&mut list, &items[..count], bits & used);
                // SAFETY: every place was written above, and those behind the list are behind its room of 64.
                let behind =
                    unsafe { core::slice::from_raw_parts(list.as_ptr().add(64), 256 - 64) };
                assert!(behind.iter().all(|word| *word == BEHIND), "{count} items");
            }
        }
    }
}
