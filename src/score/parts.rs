//! A number for each place of a term. Of few classes, what a term has earned and how many documents have it stand before
//! its numbers: a document then waits for one cache line a term, and learning it for no more.

use std::ops::{Deref, DerefMut};

use crate::memory::{extend, with_room};
use crate::score::entries::Earned;
use crate::tally::index::{Index, Places};

/// Four numbers that no border of cache lines cuts.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Quad([f64; 4]);

const QUAD: usize = 4;

/// What stands before the numbers of a term that has earned a weight: that, and how many documents have the term.
const HEAD: usize = 2;

#[derive(Default)]
pub struct Parts {
    quads: Vec<Quad>,
    length: usize,
    /// How many numbers lie before those of the first term, and between those of two.
    head: usize,
    gap: usize,
}

impl Deref for Parts {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        // SAFETY: quads are four numbers each, without gaps, and `length` numbers of them are there.
        unsafe { std::slice::from_raw_parts(self.quads.as_ptr().cast(), self.length) }
    }
}

impl DerefMut for Parts {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.quads.as_mut_ptr().cast(), self.length) }
    }
}

impl Parts {
    /// No numbers yet, for the places of an index.
    pub fn new(index: &Index, earned: bool) -> Self {
        let heads = earned && index.is_direct();
        let stride = (HEAD + index.width()).next_multiple_of(QUAD);
        let (head, gap) = if heads { (HEAD, stride - index.width()) } else { (0, 0) };
        let room = if heads { index.room() / index.width() * stride } else { index.room() };
        Self { quads: with_room(room.div_ceil(QUAD)), length: 0, head, gap }
    }

    /// Whether what terms have earned stands before their numbers.
    #[inline(always)]
    pub fn has_heads(&self) -> bool {
        self.head > 0
    }

    /// Make room for the places of more terms; what was there stays.
    pub fn grow(&mut self, nodes: usize, places: usize, value: f64) {
        let (old, new) = (self.length, places + nodes * self.gap);
        if new <= old {
            return;
        }
        let known = self.quads.len() * QUAD;
        self.length = known.min(new);
        self[old..].fill(value);
        extend(&mut self.quads, new.div_ceil(QUAD), Quad([value; QUAD]));
        self.length = new;
    }

    /// How far the numbers of a term lie behind its places in the index.
    #[inline(always)]
    pub fn shift(&self, node: usize) -> usize {
        node * self.gap + self.head
    }

    /// Where the numbers of a term lie.
    #[inline(always)]
    pub fn row(&self, index: &Index, node: usize) -> Places {
        let (row, shift) = (index.row(node), self.shift(node));
        Places { start: row.start + shift, end: row.end + shift, ..row }
    }

    /// What the term has earned whose numbers begin here.
    #[inline(always)]
    pub fn earned(&self, start: usize) -> Earned {
        Earned::of_bits(self[start - HEAD].to_bits())
    }

    pub fn set_earned(&mut self, start: usize, earned: Earned) {
        self[start - HEAD] = f64::from_bits(earned.bits());
    }

    /// How many documents have the term whose numbers begin here.
    #[inline(always)]
    pub fn holders(&self, start: usize) -> u64 {
        self[start - 1].to_bits()
    }

    #[inline(always)]
    pub fn set_holders(&mut self, start: usize, holders: u64) {
        self[start - 1] = f64::from_bits(holders);
    }

    /// Numbers of two classes, each four with what the term has earned.
    #[inline(always)]
    pub fn of_two(&self) -> &[[f64; QUAD]] {
        self.as_chunks::<QUAD>().0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::score::settings::Weight;
    use crate::tally::cells::ClassCounts;

    proptest! {
        #[test]
        fn numbers_of_a_term_are_its_own(width in 1usize..12, earned: bool, steps in prop::collection::vec(1usize..9, 1..6)) {
            let mut index = Index::new(0, width, &vec![ClassCounts::default(); width], &mut ());
            let mut parts = Parts::new(&index, earned);
            let mut nodes = 0;
            for step in steps {
                index.grow(nodes + step);
                parts.grow(nodes + step, index.places(), -1.0);
                for node in nodes..nodes + step {
                    let row = parts.row(&index, node);
                    prop_assert!(parts[row.range()].iter().all(|&part| part == -1.0));
                    if parts.has_heads() {
                        let own = Earned { weight: Weight::default(), own: node as u32 };
                        parts.set_earned(row.start, own);
                        parts.set_holders(row.start, node as u64 + 7);
                    }
                    parts[row.range()].fill(node as f64);
                }
                nodes += step;
            }
            prop_assert_eq!(parts.has_heads(), earned && width <= 8);
            for node in 0..nodes {
                let row = parts.row(&index, node);
                prop_assert!(parts[row.range()].iter().all(|&part| part == node as f64));
                if parts.has_heads() {
                    prop_assert_eq!(parts.earned(row.start).own, node as u32);
                    prop_assert_eq!(parts.holders(row.start), node as u64 + 7);
                    let address = parts[row.start - HEAD..].as_ptr() as usize;
                    prop_assert_eq!(address % 32, 0);
                }
            }
        }
    }
}
