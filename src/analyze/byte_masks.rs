//! Bytes to bit masks of word bytes, 64 at a time.

pub const BLOCK: usize = 64;

/// One bit a byte of a block: is it part of a word (ASCII only), is it outside ASCII?
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Mask {
    pub word: u64,
    pub high: u64,
}
/// Copy `source` to `out` (a whole number of blocks), lower-casing ASCII if asked, and classify its bytes.
pub fn classify(source: &[u8], out: &mut [u8], masks: &mut [Mask], lower: bool) -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { avx2::classify(source, out, masks, lower) };
    }
    portable(source, out, masks, lower)
}

fn portable(source: &[u8], out: &mut [u8], masks: &mut [Mask], lower: bool) -> bool {
    let mut high = 0;
    for ((bytes, out), mask) in source.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).zip(masks) {
        for (i, (&byte, out)) in bytes.iter().zip(out).enumerate() {
            *out = if lower { byte.to_ascii_lowercase() } else { byte };
            mask.word |= u64::from(byte.is_ascii_alphanumeric() || byte == b'_') << i;
            mask.high |= u64::from(byte >> 7) << i;
        }
        high |= mask.high;
    }
    high != 0
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{BLOCK, Mask};

    #[target_feature(enable = "avx2")]
    pub fn classify(source: &[u8], out: &mut [u8], masks: &mut [Mask], lower: bool) -> bool {
        let case_bit = if lower { 0x20 } else { 0 };
        let mut high = 0;
        let (blocks, rest) = source.as_chunks::<BLOCK>();
        let (outs, tail) = out.as_chunks_mut::<BLOCK>();
        for ((block, out), mask) in blocks.iter().zip(outs.iter_mut()).zip(masks.iter_mut()) {
            *mask = classify_block(block, out, case_bit);
            high |= mask.high;
        }
        if !rest.is_empty() {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            let mut lowered = [0; BLOCK];
            let mask = classify_block(&block, &mut lowered, case_bit);
            high |= mask.high;
            masks[blocks.len()] = mask;
            match outs.get_mut(blocks.len()) {
                Some(out) => *out = lowered,
                None => tail[..rest.len()].copy_from_slice(&lowered[..rest.len()]),
            }
        }
        high != 0
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn classify_block(block: &[u8; BLOCK], out: &mut [u8; BLOCK], case_bit: i8) -> Mask {
        // SAFETY: both arrays hold 64 bytes; the loads and stores are unaligned ones.
        unsafe {
            let low = _mm256_loadu_si256(block.as_ptr().cast());
            let up = _mm256_loadu_si256(block.as_ptr().add(32).cast());
            let (low_lowered, low_word) = classify_half(low, case_bit);
            let (up_lowered, up_word) = classify_half(up, case_bit);
            _mm256_storeu_si256(out.as_mut_ptr().cast(), low_lowered);
            _mm256_storeu_si256(out.as_mut_ptr().add(32).cast(), up_lowered);
            let high = u64::from(_mm256_movemask_epi8(low) as u32)
                | u64::from(_mm256_movemask_epi8(up) as u32) << 32;
            Mask { word: u64::from(low_word) | u64::from(up_word) << 32, high }
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn classify_half(bytes: __m256i, case_bit: i8) -> (__m256i, u32) {
        let upper = within(bytes, b'A', 25);
        let letter = within(_mm256_or_si256(bytes, _mm256_set1_epi8(0x20)), b'a', 25);
        let digit = within(bytes, b'0', 9);
        let underscore = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'_' as i8));
        let word = _mm256_or_si256(_mm256_or_si256(letter, digit), underscore);
        let lowered = _mm256_or_si256(bytes, _mm256_and_si256(upper, _mm256_set1_epi8(case_bit)));
        (lowered, _mm256_movemask_epi8(word) as u32)
    }

    /// All ones where `first <= byte <= first + span`.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn within(bytes: __m256i, first: u8, span: i8) -> __m256i {
        let shifted = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first as i8));
        _mm256_cmpeq_epi8(_mm256_min_epu8(shifted, _mm256_set1_epi8(span)), shifted)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_block_path_and_the_portable_path_agree(bytes in prop::collection::vec(any::<u8>(), 0..300), lower: bool) {
            let blocks = bytes.len().div_ceil(BLOCK);
            let (mut out, mut masks) = (vec![0; blocks * BLOCK], vec![Mask::default(); blocks]);
            let (mut portable_out, mut portable_masks) = (out.clone(), masks.clone());
            let high = classify(&bytes, &mut out, &mut masks, lower);
            prop_assert_eq!(high, portable(&bytes, &mut portable_out, &mut portable_masks, lower));
            prop_assert_eq!(out, portable_out);
            prop_assert_eq!(masks, portable_masks);
        }
    }
}
