//! N-grams as pairs of numbers.

use crate::lexicon::form_table::{Seed, UNKNOWN, fold};
use crate::memory::{filled, prefetch};

#[derive(Clone, Copy)]
struct PairSlot {
    left: u32,
    right: u32,
    value: u32,
}

/// A table of pairs is filled in this many parts.
const PARTS: usize = 128;

/// Above `UNKNOWN`, and so above every number.
const EMPTY: u32 = u32::MAX;
/// How many pairs ahead their slots are fetched.
const AHEAD: usize = 32;
const EMPTY_PAIR: PairSlot = PairSlot { left: 0, right: 0, value: EMPTY };

/// Pairs of numbers to numbers: an n-gram is the pair of its first n-1 words, as one number, and its last.
#[derive(Clone)]
pub struct PairTable {
    slots: Vec<PairSlot>,
    used: usize,
    seed: Seed,
}

impl Default for PairTable {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl PairTable {
    pub fn with_capacity(pairs: usize) -> Self {
        Self {
            slots: filled((pairs * 3 / 2 + 1).next_power_of_two().max(64), EMPTY_PAIR),
            used: 0,
            seed: Seed::get(),
        }
    }

    /// The table in which the i-th of `pairs`, all different, has the number `first + i`.
    ///
    /// Put in as they come, each would wait for its place to come from memory. So they are sorted by where they go
    /// first, roughly, and a part of the table that fits in the cache is filled at a time (measured on 1.4 million
    /// pairs: a third of the time).
    pub fn numbered(pairs: &[[u32; 2]], first: u32) -> Self {
        let mut table = Self::with_capacity(pairs.len());
        let shift = table.slots.len().ilog2().saturating_sub(PARTS.ilog2());
        let part = |&[left, right]: &[u32; 2]| table.home(left, right) >> shift;
        let mut ends = [0; PARTS];
        pairs.iter().for_each(|pair| ends[part(pair)] += 1);
        let mut start = 0;
        ends.iter_mut().for_each(|end| start += std::mem::replace(end, start));
        let mut parted = filled(pairs.len(), EMPTY_PAIR);
        for (value, pair) in (first..).zip(pairs) {
            let end = &mut ends[part(pair)];
            parted[*end] = PairSlot { left: pair[0], right: pair[1], value };
            *end += 1;
        }
        for slot in parted {
            let at = table.locate(slot.left, slot.right);
            table.slots[at] = slot;
        }
        table.used = pairs.len();
        table
    }

    #[inline(always)]
    fn home(&self, left: u32, right: u32) -> usize {
        let key = u64::from(left) << 32 | u64::from(right);
        fold(key ^ self.seed.0, self.seed.1) as usize & (self.slots.len() - 1)
    }

    #[inline(always)]
    pub fn prefetch(&self, left: u32, right: u32) {
        prefetch(&self.slots, self.home(left, right));
    }

    #[inline(always)]
    fn locate(&self, left: u32, right: u32) -> usize {
        let mut at = self.home(left, right);
        loop {
            let slot = &self.slots[at];
            if slot.value == EMPTY || (slot.left == left && slot.right == right) {
                return at;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    #[inline(always)]
    pub fn find(&self, left: u32, right: u32) -> Option<u32> {
        let value = self.slots[self.locate(left, right)].value;
        (value != EMPTY).then_some(value)
    }

    /// Append the numbers of pairs, `UNKNOWN` where there is none. While some are compared, the slots of the next are
    /// on their way.
    #[inline(never)]
    pub fn find_all(&self, lefts: &[u32], rights: &[u32], numbers: &mut Vec<u32>) {
        let pairs = lefts.iter().zip(rights);
        let mut homes = [0; AHEAD];
        let mut meet = |i: usize, (&left, &right): (&u32, &u32)| {
            let home = self.home(left, right);
            prefetch(&self.slots, home);
            std::mem::replace(&mut homes[i % AHEAD], home)
        };
        pairs.clone().take(AHEAD).enumerate().for_each(|(i, pair)| _ = meet(i, pair));
        let (slots, mask) = (&self.slots[..], self.slots.len() - 1);
        let ahead = pairs.clone().skip(AHEAD).map(Some).chain(std::iter::repeat(None));
        numbers.extend(pairs.zip(ahead).enumerate().map(|(i, ((&left, &right), next))| {
            let mut at = meet(i, next.unwrap_or((&left, &right)));
            loop {
                // SAFETY: positions are masked with the length, which is a power of two, less one.
                let slot = unsafe { slots.get_unchecked(at) };
                let found = (slot.left == left) & (slot.right == right);
                if found | (slot.value == EMPTY) {
                    return slot.value.min(UNKNOWN);
                }
                at = (at + 1) & mask;
            }
        }));
    }

    #[inline(always)]
    pub fn find_or_insert(&mut self, left: u32, right: u32, new: impl FnOnce() -> u32) -> u32 {
        let at = self.locate(left, right);
        if self.slots[at].value != EMPTY {
            return self.slots[at].value;
        }
        let value = new();
        self.slots[at] = PairSlot { left, right, value };
        self.used += 1;
        if self.used * 4 > self.slots.len() * 3 {
            self.grow();
        }
        value
    }

    #[cold]
    fn grow(&mut self) {
        let doubled = filled(self.slots.len() * 2, EMPTY_PAIR);
        for slot in std::mem::replace(&mut self.slots, doubled) {
            if slot.value != EMPTY {
                let at = self.locate(slot.left, slot.right);
                self.slots[at] = slot;
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        self.slots.iter().filter(|slot| slot.value != EMPTY).map(|slot| (slot.left, slot.right, slot.value))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pairs_are_a_map(pairs in prop::collection::vec((0u32..50, 0u32..50), 0..500)) {
            let mut table = PairTable::default();
            let mut map = HashMap::new();
            for (number, &(left, right)) in pairs.iter().enumerate() {
                let number = number as u32;
                let expected = *map.entry((left, right)).or_insert(number);
                prop_assert_eq!(table.find_or_insert(left, right, || number), expected);
            }
            let asked: Vec<(u32, u32)> = pairs.iter().flat_map(|&(left, right)| [(left, right), (right, left)]).collect();
            let (lefts, rights): (Vec<u32>, Vec<u32>) = asked.iter().copied().unzip();
            let mut numbers = Vec::new();
            table.find_all(&lefts, &rights, &mut numbers);
            let expected: Vec<u32> = asked.iter().map(|pair| map.get(pair).copied().unwrap_or(UNKNOWN)).collect();
            prop_assert_eq!(numbers, expected);
        }

        #[test]
        fn numbering_pairs_at_once_is_numbering_them_one_by_one(pairs in prop::collection::btree_set((0u32..90, 0u32..90), 0..700)) {
            let pairs: Vec<[u32; 2]> = pairs.into_iter().map(|(left, right)| [left, right]).collect();
            let table = PairTable::numbered(&pairs, 7);
            for (number, &[left, right]) in (7..).zip(&pairs) {
                prop_assert_eq!(table.find(left, right), Some(number));
            }
            prop_assert_eq!(table.iter().count(), pairs.len());
        }
    }
}
