//! Indexed counts, as whoever follows them sees them.

use crate::lexicon::Lexicon;
use crate::tally::cells::{Cell, ClassCounts};
use crate::tally::index::{Index, NONE, Places};

/// Indexed counts, as they are at the moment.
pub struct Counted<'a> {
    pub lexicon: &'a Lexicon,
    pub index: &'a Index,
    pub classes: &'a [ClassCounts],
}

impl Counted<'_> {
    /// The cell at a place, which belongs to this class.
    #[inline(always)]
    pub fn cell(&self, place: usize, class: usize) -> Option<&Cell> {
        match self.index.position(place) {
            NONE => None,
            position => self.classes[class].unordered().get(position as usize),
        }
    }

    /// The cells at some places, each with its place and class.
    #[inline(always)]
    pub fn cells_of(&self, row: Places) -> impl Iterator<Item = (usize, usize, &Cell)> {
        row.range().filter_map(move |place| {
            let class = self.index.class(row, place);
            self.cell(place, class).map(|cell| (place, class, cell))
        })
    }

    /// Ask for the cells of a term.
    #[inline(always)]
    pub fn prefetch(&self, node: usize) {
        let row = self.index.row(node);
        for place in row.range() {
            let cells =
                self.classes.get(self.index.class(row, place)).map_or(&[][..], ClassCounts::unordered);
            // No address is wrong: where there is no cell, nothing is read.
            crate::memory::prefetch(cells, self.index.position(place) as usize);
        }
    }
}
