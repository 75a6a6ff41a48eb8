//! Compact token numbers in place, removing dropped words.

use std::ops::Range;

use crate::lexicon::DROPPED;

/// Move what is kept of a range down to `kept`, which is not behind the range; where the next can go.
pub fn close(numbers: &mut [u32], range: Range<usize>, kept: usize) -> usize {
    assert!(kept <= range.start && range.start <= range.end && range.end <= numbers.len());
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has just said that it knows these instructions, and the range was checked.
        return unsafe { avx2::close(numbers, range, kept) };
    }
    close_one_by_one(numbers, range, kept)
}

fn close_one_by_one(numbers: &mut [u32], range: Range<usize>, mut kept: usize) -> usize {
    for at in range {
        let number = numbers[at];
        numbers[kept] = number;
        kept += usize::from(number != DROPPED);
    }
    kept
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_loadu_si256, _mm256_movemask_ps,
        _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_storeu_si256,
    };
    use std::ops::Range;

    use super::{DROPPED, close_one_by_one};

    const LANES: usize = 8;

    /// For each set of lanes, these lanes in order.
    static ORDERS: [[u32; LANES]; 256] = {
        let mut orders = [[0; LANES]; 256];
        let mut set = 0;
        while set < 256 {
            let (mut lane, mut place) = (0, 0);
            while lane < LANES {
                if set >> lane & 1 == 1 {
                    orders[set][place] = lane as u32;
                    place += 1;
                }
                lane += 1;
            }
            set += 1;
        }
        orders
    };

    /// # Safety
    /// The range ends inside the numbers, and `kept` is not behind its beginning.
    #[target_feature(enable = "avx2,popcnt")]
    pub unsafe fn close(numbers: &mut [u32], range: Range<usize>, mut kept: usize) -> usize {
        let dropped = _mm256_set1_epi32(DROPPED as i32);
        let start = numbers.as_mut_ptr();
        let mut at = range.start;
        while at + LANES <= range.end {
            // SAFETY: eight numbers are read inside the range, and eight written at most as far.
            unsafe {
                let eight = _mm256_loadu_si256(start.add(at).cast());
                let gaps = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(eight, dropped)));
                let keep = !gaps as usize & 0xFF;
                let order = _mm256_loadu_si256(ORDERS[keep].as_ptr().cast());
                _mm256_storeu_si256(start.add(kept).cast(), _mm256_permutevar8x32_epi32(eight, order));
                kept += keep.count_ones() as usize;
            }
            at += LANES;
        }
        close_one_by_one(numbers, at..range.end, kept)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_kept_stays_in_order(numbers in prop::collection::vec(prop_oneof![Just(DROPPED), 0u32..9], 0..60),
                                       before in 0usize..20, gap in 0usize..20) {
            let start = (before + gap).min(numbers.len());
            let kept = before.min(start);
            let expected: Vec<u32> = numbers[..kept].iter().chain(numbers[start..].iter().filter(|&&n| n != DROPPED)).copied().collect();
            let mut moved = numbers.clone();
            let end = close(&mut moved, start..numbers.len(), kept);
            prop_assert_eq!(&moved[..end], &expected[..]);
        }
    }
}
