//! A bit for each term: of a million terms they stay in the cache, where a byte for each would not.

use std::ops::Range;

use crate::memory::extend;

/// Which of some numbers are set; behind the last of them none is.
#[derive(Default)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// Make room for numbers below this.
    pub fn grow(&mut self, numbers: usize) {
        // The last word has no bit: it answers for all numbers that there is no room for.
        extend(&mut self.0, numbers / 64 + 2, 0);
    }

    #[inline(always)]
    pub fn set(&mut self, number: usize, on: bool) {
        let (word, bit) = (&mut self.0[number / 64], number % 64);
        *word = *word & !(1 << bit) | u64::from(on) << bit;
    }

    #[inline(always)]
    pub fn has(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 != 0
    }

    /// Set or clear some numbers, the first of which begins a word; `change` is told what each was.
    #[inline(always)]
    pub fn update(&mut self, numbers: Range<usize>, mut change: impl FnMut(usize, bool) -> bool) {
        let words = &mut self.0[numbers.start / 64..];
        for (word, first) in words.iter_mut().zip(numbers.clone().step_by(64)) {
            let old = *word;
            *word = (first..numbers.end.min(first + 64)).fold(0, |new, number| {
                new | u64::from(change(number, old >> (number % 64) & 1 != 0)) << (number % 64)
            });
        }
    }

    /// Those of some numbers that are set. Which those are cannot be predicted, so nothing branches on it.
    pub fn keep(&self, numbers: &[u32], kept: &mut Vec<u32>) {
        let Some(last) = self.0.len().checked_sub(1) else { return kept.clear() };
        kept.resize(numbers.len(), 0);
        let mut count = 0;
        for &number in numbers {
            let word = self.0[(number as usize / 64).min(last)];
            kept[count] = number;
            count += (word >> (number % 64) & 1) as usize;
        }
        kept.truncate(count);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_set_is_kept_in_its_order(
            size in 0usize..300,
            more in 0usize..300,
            changes in prop::collection::vec((0usize..600, any::<bool>()), 0..200),
            asked in prop::collection::vec(prop_oneof![0u32..700, Just(u32::MAX - 1), any::<u32>()], 0..200),
        ) {
            let (mut bits, mut set, mut kept) = (Bits::default(), BTreeSet::new(), vec![7; 3]);
            bits.keep(&asked, &mut kept);
            prop_assert!(kept.is_empty());
            for room in [size, size + more] {
                bits.grow(room);
                for &(number, on) in changes.iter().filter(|(number, _)| *number < room) {
                    bits.set(number, on);
                    if on { set.insert(number as u32) } else { set.remove(&(number as u32)) };
                }
                let mut was = BTreeSet::new();
                let all = 0..room.div_ceil(128) * 64;
                bits.update(all.clone(), |number, on| {
                    if on { was.insert(number as u32); }
                    number % 3 == 0
                });
                prop_assert_eq!(&was, &set.range(..all.end as u32).copied().collect());
                set.retain(|&number| number >= all.end as u32);
                set.extend((0..all.end as u32).step_by(3));
                bits.keep(&asked, &mut kept);
                let expected: Vec<u32> = asked.iter().copied().filter(|number| set.contains(number)).collect();
                prop_assert_eq!(&kept, &expected);
            }
        }
    }
}
