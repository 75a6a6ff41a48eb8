//! Counts some terms at a time: what is made of these stays in the cache while the cells of each class come by.

use std::ops::Range;

use crate::tally::cells::{Cell, ClassCounts};

/// So many terms are a block.
const TERMS: usize = 1 << 13;

/// Some terms and, class by class, their cells.
pub struct Block<'a> {
    pub terms: Range<usize>,
    pub classes: Vec<&'a [Cell]>,
}

impl Block<'_> {
    /// All cells.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.classes.iter().copied().flatten()
    }
}

/// The terms of classes whose cells are in one run each, in the order of the terms.
pub fn blocks(terms: usize, classes: &[ClassCounts]) -> impl Iterator<Item = Block<'_>> {
    let mut starts = vec![0; classes.len()];
    (0..terms).step_by(TERMS).map(move |first| {
        let terms = first..(first + TERMS).min(terms);
        let own = classes.iter().zip(&mut starts).map(|(counts, start)| {
            let cells = &counts.unordered()[*start..];
            // No class has more cells than there are terms.
            let cells = &cells[..cells.len().min(TERMS)];
            let cells = &cells[..cells.partition_point(|cell| (cell.term as usize) < terms.end)];
            *start += cells.len();
            cells
        });
        let classes = own.collect();
        Block { terms, classes }
    })
}
