//! N-grams as pairs of numbers.

use crate::lexicon::form_table::{Seed, UNKNOWN, fold};
use crate::memory::{filled, prefetch};

/// So many pairs share a cache line.
const SHARED: usize = 5;
/// A table of pairs is filled in this many parts.
const PARTS: usize = 128;
/// How many pairs ahead their buckets are fetched.
const AHEAD: usize = 32;

/// No pair: no number is so high.
const EMPTY: u64 = u64::MAX;
/// Instead of a number: the pair may be in the next bucket. Above `UNKNOWN`, and so above every number.
const MORE: u32 = u32::MAX;

/// Pairs that share a cache line, so that memory is waited for once, whether a pair is known or not.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket {
    keys: [u64; SHARED],
    /// The last one is that of a pair that is not here: `MORE` once a pair found no room, else `UNKNOWN`.
    values: [u32; SHARED + 1],
}

const EMPTY_BUCKET: Bucket = Bucket { keys: [EMPTY; SHARED], values: [UNKNOWN; SHARED + 1] };

impl Bucket {
    /// Where a pair stands, behind the last if it is not here. Whether it is cannot be predicted, so nothing branches
    /// on it.
    #[inline(always)]
    fn place(&self, key: u64) -> usize {
        let mut found = 1u32 << SHARED;
        for (i, &other) in self.keys.iter().enumerate() {
            found |= u32::from(other == key) << i;
        }
        found.trailing_zeros() as usize
    }

    #[inline(always)]
    fn value(&self, key: u64) -> u32 {
        self.values[self.place(key).min(SHARED)]
    }
}

/// Pairs of numbers to numbers: an n-gram is the pair of its first n-1 words, as one number, and its last.
#[derive(Clone)]
pub struct PairTable {
    buckets: Vec<Bucket>,
    used: usize,
    seed: Seed,
}

impl Default for PairTable {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl PairTable {
    /// Room for so many pairs, which then take two thirds of it.
    pub fn with_capacity(pairs: usize) -> Self {
        Self {
            buckets: filled((pairs * 3 / 2).div_ceil(SHARED).max(16), EMPTY_BUCKET),
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
        let part = |&[left, right]: &[u32; 2]| (table.hash(key_of(left, right)) >> 57) as usize;
        let mut ends = [0; PARTS];
        pairs.iter().for_each(|pair| ends[part(pair)] += 1);
        let mut start = 0;
        ends.iter_mut().for_each(|end| start += std::mem::replace(end, start));
        let mut parted = filled(pairs.len(), [0; 3]);
        for (value, pair) in (first..).zip(pairs) {
            let end = &mut ends[part(pair)];
            parted[*end] = [pair[0], pair[1], value];
            *end += 1;
        }
        for [left, right, value] in parted {
            let key = key_of(left, right);
            table.put(table.home(key), key, value);
        }
        table.used = pairs.len();
        table
    }

    pub fn len(&self) -> usize {
        self.used
    }

    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        fold(key ^ self.seed.0, self.seed.1)
    }

    /// The bucket of a pair, in the order of the hashes.
    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        let upper = u128::from(self.hash(key)) * self.buckets.len() as u128;
        (upper >> 64) as usize
    }

    fn after(&self, at: usize) -> usize {
        if at + 1 == self.buckets.len() { 0 } else { at + 1 }
    }

    #[inline(always)]
    pub fn prefetch(&self, left: u32, right: u32) {
        prefetch(&self.buckets, self.home(key_of(left, right)));
    }

    /// The number of a pair, or `UNKNOWN`, and the bucket where the search for it ended.
    #[inline(always)]
    fn search(&self, mut at: usize, key: u64) -> (u32, usize) {
        loop {
            let value = self.buckets[at].value(key);
            if value != MORE {
                return (value, at);
            }
            at = self.after(at);
        }
    }

    #[inline(always)]
    pub fn find(&self, left: u32, right: u32) -> Option<u32> {
        let key = key_of(left, right);
        let (value, _) = self.search(self.home(key), key);
        (value != UNKNOWN).then_some(value)
    }

    /// Append the numbers of pairs, `UNKNOWN` where there is none. While some are compared, the buckets of the next are
    /// on their way.
    #[inline(never)]
    pub fn find_all(&self, lefts: &[u32], rights: &[u32], numbers: &mut Vec<u32>) {
        let keys = lefts.iter().zip(rights).map(|(&left, &right)| key_of(left, right));
        let fetch = |key| {
            let home = self.home(key);
            prefetch(&self.buckets, home);
            home
        };
        let mut homes = [0; AHEAD];
        homes.iter_mut().zip(keys.clone()).for_each(|(home, key)| *home = fetch(key));
        let mut ahead = keys.clone().skip(AHEAD);
        numbers.extend(keys.enumerate().map(|(i, key)| {
            let home = homes[i % AHEAD];
            ahead.next().into_iter().for_each(|next| homes[i % AHEAD] = fetch(next));
            self.search(home, key).0
        }));
    }

    #[inline(always)]
    pub fn find_or_insert(&mut self, left: u32, right: u32, new: impl FnOnce() -> u32) -> u32 {
        let key = key_of(left, right);
        let (value, at) = self.search(self.home(key), key);
        if value != UNKNOWN {
            return value;
        }
        let value = new();
        self.put(at, key, value);
        self.used += 1;
        if self.used * 4 > self.buckets.len() * SHARED * 3 {
            self.grow();
        }
        value
    }

    /// Put a new pair in the first bucket with room, from one on.
    #[inline(always)]
    fn put(&mut self, mut at: usize, key: u64, value: u32) {
        loop {
            let bucket = &mut self.buckets[at];
            let free = bucket.place(EMPTY);
            if free < SHARED {
                (bucket.keys[free], bucket.values[free]) = (key, value);
                return;
            }
            bucket.values[SHARED] = MORE;
            at = self.after(at);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let doubled = filled(self.buckets.len() * 2, EMPTY_BUCKET);
        for bucket in std::mem::replace(&mut self.buckets, doubled) {
            for (key, value) in bucket.pairs() {
                self.put(self.home(key), key, value);
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let pairs = self.buckets.iter().flat_map(Bucket::pairs);
        pairs.map(|(key, value)| ((key >> 32) as u32, key as u32, value))
    }
}

impl Bucket {
    fn pairs(&self) -> impl Iterator<Item = (u64, u32)> {
        std::iter::zip(self.keys, self.values).filter(|&(key, _)| key != EMPTY)
    }
}

#[inline(always)]
fn key_of(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pairs_are_a_map(pairs in prop::collection::vec((0u32..50, 0u32..50), 0..500), crowded in any::<bool>()) {
            let mut table = PairTable::default();
            if crowded {
                // All pairs have the same home: most go on from bucket to bucket.
                table.seed.1 = 0;
            }
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
