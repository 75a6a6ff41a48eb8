//! Where the row of each term's weights lies: dense rows first, those of most classes at the front, where most
//! documents look, then sparse ones in the canonical order of terms. Rows are added in the order of their places, so
//! that sums are the same after loading.

use std::cmp::Reverse;
use std::ops::Range;

use crate::score::linear::Linear;

/// A row with this part of the classes is dense: adding it all, many numbers at a time, is then as fast as adding
/// what is there one by one (measured with 1,739 classes).
const DENSE_FROM: usize = 10;

/// The place of a node that is no term, and so as good as unknown.
const NOWHERE: u32 = u32::MAX;

pub struct Places {
    by_node: Vec<u32>,
    by_rank: Vec<u32>,
    ranks: Vec<u32>,
    dense: usize,
    /// Where each sparse row begins, and where the last one ends.
    bounds: Vec<usize>,
}

impl Places {
    pub fn new(linear: &Linear, nodes: &[u32], all_nodes: usize) -> Self {
        let mut cells = vec![0; nodes.len()];
        linear.term.iter().for_each(|term| cells[term as usize] += 1);
        let is_dense = |rank: u32| DENSE_FROM * cells[rank as usize] > linear.classes();
        let mut ranks: Vec<u32> = (0..nodes.len() as u32).collect();
        ranks.sort_by_key(|&rank| Reverse(if is_dense(rank) { cells[rank as usize] } else { 0 }));
        let dense = ranks.partition_point(|&rank| is_dense(rank));
        let mut bounds = vec![0];
        let mut by_node = vec![NOWHERE; all_nodes];
        let mut by_rank = vec![0; nodes.len()];
        for (place, &rank) in ranks.iter().enumerate() {
            by_rank[rank as usize] = place as u32;
            by_node[nodes[rank as usize] as usize] = place as u32;
            if place >= dense {
                bounds.push(bounds[bounds.len() - 1] + cells[rank as usize]);
            }
        }
        Self { by_node, by_rank, ranks, dense, bounds }
    }

    /// How many rows are dense: theirs are the first places.
    pub fn dense(&self) -> usize {
        self.dense
    }

    pub fn sparse_cells(&self) -> usize {
        self.bounds[self.bounds.len() - 1]
    }

    /// The term whose row lies here.
    pub fn rank(&self, place: u32) -> u32 {
        self.ranks[place as usize]
    }

    /// The cells of a sparse row.
    #[inline(always)]
    pub fn cells(&self, place: u32) -> Range<usize> {
        let row = place as usize - self.dense;
        self.bounds[row]..self.bounds[row + 1]
    }

    /// Ask for what `cells` will need.
    #[inline(always)]
    pub fn prefetch(&self, place: u32) {
        crate::memory::prefetch(&self.bounds, place as usize - self.dense);
    }

    fn of(&self, term: u32) -> u32 {
        self.by_node.get(term as usize).copied().unwrap_or(NOWHERE)
    }

    /// The places of a document's known terms, in order.
    pub fn find(&self, terms: &[u32]) -> Vec<u32> {
        let mut places: Vec<u32> =
            terms.iter().map(|&term| self.of(term)).filter(|&place| place != NOWHERE).collect();
        places.sort_unstable();
        places
    }

    /// The places of a document's known terms in any order: those of dense rows, and those of sparse ones.
    pub fn find_by_kind(&self, terms: &[u32], dense: &mut Vec<u32>, sparse: &mut Vec<u32>) {
        dense.resize(terms.len(), 0);
        sparse.resize(terms.len(), 0);
        let (mut in_dense, mut in_sparse) = (0, 0);
        for &term in terms {
            // Of what kind a place is cannot be predicted, so nothing branches on it.
            let place = self.of(term);
            dense[in_dense] = place;
            sparse[in_sparse] = place;
            in_dense += usize::from((place as usize) < self.dense);
            in_sparse += usize::from((place as usize) >= self.dense && place != NOWHERE);
        }
        dense.truncate(in_dense);
        sparse.truncate(in_sparse);
    }

    /// Where the places of dense rows end, of places in order.
    pub fn dense_end(&self, places: &[u32]) -> usize {
        places.partition_point(|&place| (place as usize) < self.dense)
    }

    /// Show each weight to the dense rows, with the row and the class, or to the sparse ones, with the cell and the
    /// class.
    pub fn sort_out(
        &self,
        linear: &Linear,
        mut dense: impl FnMut(usize, usize, f64),
        mut sparse: impl FnMut(usize, usize, f64),
    ) {
        let mut next = self.bounds.clone();
        linear.for_each_cell(|class, rank, weight| {
            let place = self.by_rank[rank] as usize;
            match place.checked_sub(self.dense) {
                None => dense(place, class, weight),
                Some(row) => {
                    sparse(next[row], class, weight);
                    next[row] += 1;
                }
            }
        });
    }
}
