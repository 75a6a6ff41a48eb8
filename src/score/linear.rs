//! Weights as Python keeps them: a base for every class, and differences from it, class by class.

use std::ops::Range;

use crate::tally::restore::Column;

/// The weight of term t in class j is `offset[t] + scale[t] * base[j]` plus the difference of cell (t, j).
pub struct Linear<'a> {
    pub bias: &'a [f64],
    pub base: &'a [f64],
    /// The weight of a term that was never learned; without it such terms are ignored.
    pub unseen: Option<&'a [f64]>,
    pub offset: Option<&'a [f64]>,
    pub scale: Option<&'a [f64]>,
    pub class_ends: Column<'a>,
    /// The terms that have a difference, in order within each class.
    pub term: Column<'a>,
    pub differences: &'a [f64],
}

/// So many cells are visited before the next terms have their turn.
const CELLS_TOGETHER: usize = 1 << 16;

/// What a term adds to all classes alike, and how often it counts the base.
#[derive(Clone, Copy, Default)]
pub struct TermBase {
    pub offset: f64,
    pub scale: f64,
}

impl Linear<'_> {
    pub fn classes(&self) -> usize {
        self.bias.len()
    }

    /// Whether the arrays can belong together, and to so many terms.
    pub fn fits(&self, terms: usize) -> bool {
        let classes = self.classes();
        self.base.len() == classes
            && self.class_ends.len() == classes
            && self.unseen.is_none_or(|unseen| unseen.len() == classes)
            && [self.offset, self.scale].iter().all(|array| array.is_none_or(|array| array.len() == terms))
            && self.class_ends.iter().is_sorted()
            && self.class_ends.last() == self.term.len() as u64
            && self.differences.len() == self.term.len()
            && (0..classes).all(|class| self.are_in_order(self.cells(class), terms))
    }

    fn are_in_order(&self, cells: Range<usize>, terms: usize) -> bool {
        cells.is_empty()
            || self.term.get(cells.end - 1) < terms as u64
                && cells.skip(1).all(|i| self.term.get(i - 1) < self.term.get(i))
    }

    pub fn term_base(&self, term: usize) -> TermBase {
        TermBase {
            offset: self.offset.map_or(0.0, |offset| offset[term]),
            scale: self.scale.map_or(1.0, |scale| scale[term]),
        }
    }

    fn cells(&self, class: usize) -> Range<usize> {
        let start = if class == 0 { 0 } else { self.class_ends.get(class - 1) };
        start as usize..self.class_ends.get(class) as usize
    }

    /// Visit the cells.
    pub fn for_each_cell(&self, mut visit: impl FnMut(usize, usize, f64)) {
        let ends: Vec<usize> = self.class_ends.iter().map(|end| end as usize).collect();
        let term = |cell| self.term.get(cell) as usize;
        for_each_cell(&ends, term, |class, cell| visit(class, term(cell), self.differences[cell]));
    }

    /// The difference of a cell, 0 if there is none.
    pub fn difference(&self, class: usize, term: u32) -> f64 {
        let cells = self.cells(class);
        let (mut from, mut to) = (cells.start, cells.end);
        while from < to {
            let middle = from.midpoint(to);
            if self.term.get(middle) < u64::from(term) { from = middle + 1 } else { to = middle }
        }
        let found = from < cells.end && self.term.get(from) == u64::from(term);
        if found { self.differences[from] } else { 0.0 }
    }
}

/// Visit all cells, class by class for some terms, then for the next: what is put where a term has its place stays in
/// the cache while those terms are visited. The terms of a class are in order.
pub fn for_each_cell(ends: &[usize], term: impl Fn(usize) -> usize, mut visit: impl FnMut(usize, usize)) {
    let mut next: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).take(ends.len()).collect();
    let cells = ends.last().copied().unwrap_or(0);
    let terms = (0..cells).map(&term).max().map_or(0, |last| last + 1);
    let steps = cells.div_ceil(CELLS_TOGETHER);
    for limit in (1..=steps).map(|step| terms * step / steps) {
        for (class, (next, &end)) in next.iter_mut().zip(ends).enumerate() {
            while *next < end && term(*next) < limit {
                visit(class, *next);
                *next += 1;
            }
        }
    }
}
