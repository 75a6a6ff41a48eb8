//! The counts of one view as they lie in a file, looked up where they lie: words, n-grams and cells are in order.

use std::ops::Range;

use crate::quick::QuickError;
use crate::quick::blocks::{Array, Blocks};
use crate::tally::cells::{Cell, MOST_OCCURRENCES};

/// What is asked of a cell.
#[derive(Clone, Copy, PartialEq)]
pub enum Quantities {
    Documents,
    Occurrences,
    All,
}

fn require(holds: bool, otherwise: &'static str) -> Result<(), QuickError> {
    if holds { Ok(()) } else { Err(QuickError::Damaged(otherwise)) }
}

/// Where the arrays of a view are.
#[derive(Default)]
pub struct Columns {
    pub words: Array,
    pub word_ends: Array,
    pub pairs: Array,
    pub terms: Array,
    pub class_documents: Array,
    pub class_ends: Array,
    pub term: Array,
    pub documents: Array,
    pub occurrences: Array,
    pub shares_whole: Array,
    pub shares_part: Array,
    pub weights: Option<Array>,
    /// The terms that have a weight for each class, and these.
    pub class_terms: Option<Array>,
    pub class_weights: Option<Array>,
}

impl Columns {
    /// Whether the arrays fit each other, so far as their lengths tell.
    pub fn check(&self) -> Result<(), QuickError> {
        let cells = self.term.count;
        let columns = [self.documents, self.occurrences, self.shares_whole, self.shares_part];
        let fit = columns.iter().all(|column| column.count == cells)
            && self.class_ends.count == self.class_documents.count
            && self.pairs.count.is_multiple_of(2)
            && self.nodes() < 1 << 30
            && self.weights.is_none_or(|weights| weights.count == self.terms.count && weights.width == 4)
            && self.has_class_weights();
        require(fit, "its arrays do not fit each other")
    }

    fn has_class_weights(&self) -> bool {
        match (self.class_terms, self.class_weights) {
            (Some(terms), Some(weights)) => {
                weights.width == 4 && terms.count.checked_mul(self.classes()) == Some(weights.count)
            }
            (terms, weights) => terms.is_none() && weights.is_none(),
        }
    }

    /// How many words and n-grams there are.
    pub fn nodes(&self) -> usize {
        self.word_ends.count + self.pairs.count / 2
    }

    pub fn classes(&self) -> usize {
        self.class_documents.count
    }

    /// The node of a word.
    pub fn word(&self, blocks: &mut Blocks, word: &[u8]) -> Result<Option<u32>, QuickError> {
        let (mut from, mut to) = (0, self.word_ends.count);
        while from < to {
            let middle = (from + to) / 2;
            let start = if middle == 0 { 0 } else { blocks.number(self.word_ends, middle - 1)? };
            let end = blocks.number(self.word_ends, middle)?;
            match blocks.compare(self.words, start as usize..end as usize, word)? {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
                std::cmp::Ordering::Equal => return Ok(Some(middle as u32)),
            }
        }
        Ok(None)
    }

    /// The node of an n-gram.
    pub fn pair(&self, blocks: &mut Blocks, left: u32, right: u32) -> Result<Option<u32>, QuickError> {
        let wanted = (u64::from(left), u64::from(right));
        let found = search(
            0..self.pairs.count / 2,
            |i| Ok((blocks.number(self.pairs, 2 * i)?, blocks.number(self.pairs, 2 * i + 1)?)),
            wanted,
        )?;
        Ok(found.ok().map(|i| (self.word_ends.count + i) as u32))
    }

    /// Which term a node is, if it is one.
    pub fn term_of(&self, blocks: &mut Blocks, node: u32) -> Result<Option<usize>, QuickError> {
        if self.terms.count == self.nodes() {
            return Ok(Some(node as usize));
        }
        Ok(search(0..self.terms.count, |i| blocks.number(self.terms, i), u64::from(node))?.ok())
    }

    /// The cells of a class.
    pub fn range(&self, blocks: &mut Blocks, class: usize) -> Result<Range<usize>, QuickError> {
        let start = if class == 0 { 0 } else { blocks.number(self.class_ends, class - 1)? };
        let end = blocks.number(self.class_ends, class)?;
        require(start <= end && end <= self.term.count as u64, "the classes are not in order")?;
        Ok(start as usize..end as usize)
    }

    /// Where the cell of a term is in a range of cells, or where it would be.
    pub fn find(
        &self,
        blocks: &mut Blocks,
        range: Range<usize>,
        term: usize,
    ) -> Result<Result<usize, usize>, QuickError> {
        search(range, |i| blocks.number(self.term, i), term as u64)
    }

    /// The counts of a cell that are asked for; of others 0.
    pub fn cell(&self, blocks: &mut Blocks, i: usize, wanted: Quantities) -> Result<Cell, QuickError> {
        let documents = blocks.number(self.documents, i)?;
        let mut cell = Cell { documents: documents as u32, ..Cell::default() };
        if wanted != Quantities::Documents {
            cell.occurrences = blocks.number(self.occurrences, i)?;
            let possible = documents <= cell.occurrences && cell.occurrences < MOST_OCCURRENCES;
            require(possible, "a count is impossible")?;
        }
        if wanted == Quantities::All {
            let whole = blocks.number(self.shares_whole, i)?;
            cell.shares = u128::from(whole) << 64 | u128::from(blocks.number(self.shares_part, i)?);
        }
        require(documents > 0 && documents <= u64::from(u32::MAX), "a count is impossible")?;
        Ok(cell)
    }

    /// The weight that a term has earned; NaN if it has none of its own.
    pub fn weight(&self, blocks: &mut Blocks, term: usize) -> Result<f32, QuickError> {
        match self.weights {
            Some(weights) => Ok(f32::from_bits(blocks.number(weights, term)? as u32)),
            None => Ok(f32::NAN),
        }
    }

    /// The weights of a term for each class, added to what is given; false if it has none.
    pub fn add_class_weights(
        &self,
        blocks: &mut Blocks,
        term: usize,
        found: &mut Vec<f32>,
    ) -> Result<bool, QuickError> {
        let (Some(terms), Some(weights)) = (self.class_terms, self.class_weights) else { return Ok(false) };
        let row = search(0..terms.count, |i| blocks.number(terms, i), term as u64)?;
        let Ok(row) = row else { return Ok(false) };
        for class in 0..self.classes() {
            found.push(f32::from_bits(blocks.number(weights, row * self.classes() + class)? as u32));
        }
        Ok(true)
    }
}

/// Where something is among what is in order, or where it would be.
fn search<T: Ord>(
    range: Range<usize>,
    mut at: impl FnMut(usize) -> Result<T, QuickError>,
    wanted: T,
) -> Result<Result<usize, usize>, QuickError> {
    let (mut from, mut to) = (range.start, range.end);
    while from < to {
        let middle = (from + to) / 2;
        match at(middle)?.cmp(&wanted) {
            std::cmp::Ordering::Less => from = middle + 1,
            std::cmp::Ordering::Greater => to = middle,
            std::cmp::Ordering::Equal => return Ok(Ok(middle)),
        }
    }
    Ok(Err(from))
}
