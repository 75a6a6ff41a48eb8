//! The distinct terms of one document, with their counts. Hashed with the secrets of the process: terms of a loaded
//! model are numbered by rank, so who knows the vocabulary could otherwise choose terms that collide.

use crate::lexicon::form_table::{Seed, fold};
use crate::memory::prefetch;

/// How many nodes ahead their terms are fetched.
const AHEAD: usize = 16;

/// A node that is none of the chosen terms.
pub const NONE: u32 = u32::MAX;

/// Distinct terms in the order in which they first occur, and how often each does.
pub struct Bag {
    /// Where in `terms` a term stands; an entry counts only if its stamp is the current one.
    table: Vec<(u32, u32)>,
    stamp: u32,
    seed: Seed,
    pub terms: Vec<u32>,
    pub times: Vec<u32>,
}

impl Default for Bag {
    fn default() -> Self {
        Self { table: Vec::new(), stamp: 0, seed: Seed::get(), terms: Vec::new(), times: Vec::new() }
    }
}

impl Bag {
    /// Take the nodes of the next document as the terms that they are; `place` gives each node's term.
    pub fn fill(&mut self, nodes: &[u32], place: &[u32]) {
        let mut filling = self.start(nodes.len());
        for (i, &node) in nodes.iter().enumerate() {
            nodes.get(i + AHEAD).into_iter().for_each(|&ahead| prefetch(place, ahead as usize));
            let term = place.get(node as usize).copied().unwrap_or(NONE);
            if term != NONE {
                filling.count(term);
            }
        }
        let kept = filling.kept;
        self.finish(kept);
    }

    /// The distinct terms of the next document.
    pub fn distinct(&mut self, terms: &[u32]) -> &[u32] {
        self.distinct_fetching(terms, |_| ())
    }

    /// The same; `fetch` asks for what each term will need, which is on its way while the others are counted.
    #[inline(always)]
    pub fn distinct_fetching(&mut self, terms: &[u32], fetch: impl Fn(u32)) -> &[u32] {
        let mut filling = self.start(terms.len());
        terms.iter().for_each(|&term| {
            fetch(term);
            filling.count(term);
        });
        let kept = filling.kept;
        self.finish(kept);
        &self.terms
    }

    /// Each term with how often it occurs.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.terms.iter().copied().zip(self.times.iter().copied())
    }

    /// Make room for a document of so many terms. One that is short uses a short part of the table, whatever was
    /// there before: that part is in the cache.
    fn start(&mut self, most: usize) -> Filling<'_> {
        let size = (most * 3 + 1).next_power_of_two();
        if self.table.len() < size || self.stamp == u32::MAX {
            self.table = vec![(0, 0); size.max(self.table.len())];
            self.stamp = 0;
        }
        self.stamp += 1;
        self.terms.resize(most, 0);
        self.times.resize(most, 0);
        Filling {
            table: &mut self.table[..size],
            stamp: self.stamp,
            seed: self.seed,
            terms: &mut self.terms,
            times: &mut self.times,
            kept: 0,
        }
    }

    fn finish(&mut self, kept: usize) {
        self.terms.truncate(kept);
        self.times.truncate(kept);
    }
}

/// A bag while it is filled: a value of its own, so that its numbers stay in registers.
struct Filling<'a> {
    table: &'a mut [(u32, u32)],
    stamp: u32,
    seed: Seed,
    terms: &'a mut [u32],
    times: &'a mut [u32],
    kept: usize,
}

impl Filling<'_> {
    #[inline(always)]
    fn slot(&self, term: u32) -> usize {
        // One product leaves steps between terms steps between slots: of one process in sixty, few slots were used.
        let once = fold(u64::from(term) ^ self.seed.0, self.seed.1);
        fold(once ^ self.seed.1, self.seed.0 | 1) as usize & (self.table.len() - 1)
    }

    /// Count a term. Whether it is new in its document cannot be predicted, so nothing branches on it.
    #[inline(always)]
    fn count(&mut self, term: u32) {
        let mut at = self.slot(term);
        loop {
            let (stamp, position) = self.table[at];
            let new = stamp != self.stamp;
            let position = if new { self.kept } else { position as usize };
            if !new & (self.terms[position] != term) {
                at = (at + 1) & (self.table.len() - 1);
                continue;
            }
            self.table[at] = (self.stamp, position as u32);
            self.terms[position] = term;
            self.times[position] = if new { 1 } else { self.times[position] + 1 };
            self.kept += usize::from(new);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn terms_that_were_chosen_to_collide_do_not() {
        let mut bag = Bag::default();
        let filling = bag.start(1000);
        let slots = filling.table.len();
        let unseeded = |term: &u32| (term.wrapping_mul(0x9E37_79B1) >> 7) as usize % slots < 8;
        let even_steps = (0..1000).map(|i| i << 20);
        let chosen: Vec<u32> = (0..10_000_000).filter(unseeded).take(1000).collect();
        for terms in [chosen, even_steps.collect()] {
            let mut slots: Vec<usize> = terms.iter().map(|&term| filling.slot(term)).collect();
            slots.sort_unstable();
            slots.dedup();
            // Thrown at random into 2,048 slots, 1,000 terms meet in 790 of them.
            assert!(slots.len() > 600, "{} slots", slots.len());
        }
    }

    proptest! {
        #[test]
        fn a_bag_has_each_term_once_in_order_with_its_count(
            documents in prop::collection::vec(prop::collection::vec(0u32..40, 0..60), 1..8),
        ) {
            let place: Vec<u32> = (0..30).map(|node| if node % 5 == 0 { NONE } else { node / 2 }).collect();
            let mut bag = Bag::default();
            for nodes in &documents {
                let terms: Vec<u32> = nodes
                    .iter()
                    .filter_map(|&node| place.get(node as usize).copied().filter(|&term| term != NONE))
                    .collect();
                let mut expected: Vec<(u32, u32)> = Vec::new();
                for &term in &terms {
                    match expected.iter_mut().find(|(known, _)| *known == term) {
                        Some((_, times)) => *times += 1,
                        None => expected.push((term, 1)),
                    }
                }
                bag.fill(nodes, &place);
                prop_assert_eq!(bag.pairs().collect::<Vec<_>>(), expected.clone());
                let distinct: Vec<u32> = expected.iter().map(|&(term, _)| term).collect();
                prop_assert_eq!(bag.distinct(&terms), &distinct[..]);
            }
        }
    }
}
