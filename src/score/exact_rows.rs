//! Rows of weights for many classes, dense or sparse by what is faster.

use crate::memory::{filled, prefetch_all};
use crate::score::linear::Linear;
use crate::score::row_blocks::Blocks;
use crate::score::row_places::Places;
use crate::score::tiles::{Entry, Tiles, with_times};

/// How many rows ahead a sparse one is fetched from memory.
const AHEAD: usize = 4;

pub struct Rows {
    dense: Tiles,
    classes: Vec<u32>,
    differences: Vec<f64>,
}

impl Rows {
    pub fn new(linear: &Linear, places: &Places) -> Self {
        let mut dense = Tiles::new(places.dense(), linear.classes());
        let mut classes = filled(places.sparse_cells(), 0);
        let mut differences = filled(places.sparse_cells(), 0.0);
        places.sort_out(
            linear,
            |row, class, difference| *dense.at(row, class) = difference,
            |cell, class, difference| {
                classes[cell] = class as u32;
                differences[cell] = difference;
            },
        );
        Self { dense, classes, differences }
    }

    /// What rows would take, against a row of numbers for every node.
    pub fn bytes(linear: &Linear, all_nodes: usize) -> usize {
        linear.term.len() * 12 + all_nodes * 24
    }

    /// Add the rows at the places of each document, which are in order, to its scores.
    pub fn add(&self, places: &Places, documents: &[Vec<u32>], classes: usize, scores: &mut [f64]) {
        let mut dense = Blocks::new(places.dense());
        let mut sparse = Vec::with_capacity(documents.len());
        for (document, found) in documents.iter().enumerate() {
            let (in_dense, in_sparse) = found.split_at(places.dense_end(found));
            dense.push(document, &with_times(in_dense), |entry| entry.0);
            sparse.push(with_times(in_sparse));
        }
        self.dense.add(&dense, scores);
        for (entries, row) in sparse.iter().zip(scores.chunks_exact_mut(classes)) {
            self.add_sparse(places, entries, row);
        }
    }

    fn add_sparse(&self, places: &Places, entries: &[Entry], scores: &mut [f64]) {
        for (i, &(place, times)) in entries.iter().enumerate() {
            if let Some(&(ahead, _)) = entries.get(i + AHEAD) {
                let cells = places.cells(ahead);
                prefetch_all(&self.classes[cells.clone()]);
                prefetch_all(&self.differences[cells]);
            }
            let cells = places.cells(place);
            for (&class, difference) in self.classes[cells.clone()].iter().zip(&self.differences[cells]) {
                scores[class as usize] += f64::from(times) * difference;
            }
        }
    }
}
