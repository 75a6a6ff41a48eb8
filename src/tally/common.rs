//! The terms that nearly all documents of a class have. Only those can be in more documents than are left after some were
//! forgotten, which tells that others were forgotten than were learned.

use crate::tally::cells::{Cell, ClassCounts};

/// Terms that all but one in so many documents have are kept in mind.
const PART: u64 = 16;

#[derive(Default)]
pub struct Common {
    classes: Vec<Option<Few>>,
}

struct Few {
    /// No other term is in more documents.
    others: u64,
    terms: Vec<u32>,
}

impl Common {
    /// So many documents of a class were learned: each may have had any term.
    pub fn add(&mut self, class: usize, documents: u64) {
        if let Some(Some(few)) = self.classes.get_mut(class) {
            few.others += documents;
        }
    }

    /// All terms of a class that are in more than `left` documents, and maybe more terms.
    pub fn above(&mut self, class: usize, counts: &ClassCounts, left: u64) -> &[u32] {
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, || None);
        }
        let known = self.classes[class].take().filter(|few| few.others <= left);
        let few = self.classes[class].insert(known.unwrap_or_else(|| {
            let others = left - left / PART;
            let cells = counts.unordered().iter().filter(|cell| u64::from(cell.documents) > others);
            Few { others, terms: cells.map(|cell| cell.term).collect() }
        }));
        &few.terms
    }
}

/// The first term that is in more documents than are left, of cells by term and of what is taken from them.
pub fn lacking(cells: &[Cell], less: &[Cell], left: u64) -> Option<u32> {
    let mut less = less.iter().peekable();
    let over = cells.iter().find(|cell| {
        let taken = less.next_if(|less| less.term == cell.term).map_or(0, |less| less.documents);
        u64::from(cell.documents.saturating_sub(taken)) > left
    });
    over.map(|cell| cell.term)
}
