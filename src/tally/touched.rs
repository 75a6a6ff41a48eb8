//! The terms whose accumulators are in use: a bit for each term and one for each 64 terms, so that they come in order
//! without being sorted.

use crate::memory::extend;

const BITS: usize = u64::BITS as usize;

#[derive(Default)]
pub struct Touched {
    terms: Vec<u64>,
    groups: Vec<u64>,
    count: usize,
}

impl Touched {
    /// Make room for more terms.
    pub fn grow(&mut self, terms: usize) {
        extend(&mut self.terms, terms.div_ceil(BITS), 0);
        extend(&mut self.groups, self.terms.len().div_ceil(BITS), 0);
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Add a term that is not there.
    #[inline(always)]
    pub fn insert(&mut self, term: u32) {
        let group = term as usize / BITS;
        self.terms[group] |= 1 << (term as usize % BITS);
        self.groups[group / BITS] |= 1 << (group % BITS);
        self.count += 1;
    }

    /// Take all terms out, in order.
    pub fn drain(&mut self, mut visit: impl FnMut(u32)) {
        self.count = 0;
        for (i, groups) in self.groups.iter_mut().enumerate() {
            for group in ones(std::mem::take(groups)).map(|group| i * BITS + group) {
                ones(std::mem::take(&mut self.terms[group]))
                    .for_each(|term| visit((group * BITS + term) as u32));
            }
        }
    }
}

/// Which bits are set.
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        lowest
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn terms_come_once_and_in_order(rounds in prop::collection::vec(prop::collection::btree_set(0u32..20_000, 0..50), 1..5)) {
            let mut touched = Touched::default();
            for terms in rounds {
                touched.grow(20_000);
                terms.iter().rev().for_each(|&term| touched.insert(term));
                prop_assert_eq!(touched.len(), terms.len());
                let mut drained = Vec::new();
                touched.drain(|term| drained.push(term));
                prop_assert!(drained.is_sorted());
                prop_assert_eq!(drained.into_iter().collect::<BTreeSet<u32>>(), terms);
                prop_assert_eq!(touched.len(), 0);
            }
        }
    }
}
