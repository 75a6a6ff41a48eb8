//! Texts to log joint probabilities in one pass, with frozen weights.

pub mod best;
pub mod bits;
pub mod entries;
pub mod exact_rows;
pub mod following;
pub mod linear;
pub mod living;
pub mod making;
pub mod many_classes;
pub mod parts;
pub mod rounded_rows;
pub mod row_blocks;
pub mod row_places;
pub mod rows;
pub mod settings;
pub mod sums;
pub mod tiles;
pub mod totals;

use crate::context::Context;
use crate::errors::TallyError;
use std::sync::Arc;

use crate::analyze::reader::{Document, Reader};
use crate::lexicon::Lexicon;
use crate::lexicon::bag::Bag;
use crate::lexicon::numbering::Frozen;
use crate::memory::filled;
use crate::score::exact_rows::Rows;
use crate::score::linear::{Linear, TermBase};
use crate::score::many_classes::{Lender, Many};
use crate::threads::{ForEach, for_each_document, ranges};

/// What an occurrence of a term contributes to a document's score, as a multiple of its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// As often as it occurs.
    Count,
    /// Once, however often it occurs.
    Binary,
    /// Its part of the document's length.
    Share,
}

pub enum Weights {
    /// A row of weights for every node.
    Dense(Vec<f64>),
    /// A base and rows of differences.
    Many(Box<Many>),
}

pub struct Scorer {
    lexicon: Arc<Lexicon>,
    pub value: Value,
    bias: Vec<f64>,
    unseen: Option<Vec<f64>>,
    pub weights: Weights,
}

/// Up to this many classes a dense row is one cache line, and faster than a sparse one however small that is.
const ALWAYS_DENSE: usize = 8;

impl Scorer {
    /// `nodes[t]` is where term t stands in the lexicon. The weights may be asked for again.
    pub fn new(lexicon: Arc<Lexicon>, value: Value, linear: &Linear, nodes: &[u32], lender: Lender) -> Self {
        let classes = linear.bias.len();
        let dense = lexicon.nodes as usize * classes * 8;
        let weights = if classes <= ALWAYS_DENSE || dense <= Rows::bytes(linear, lexicon.nodes as usize) {
            Weights::Dense(dense_rows(linear, nodes, lexicon.nodes as usize))
        } else {
            Weights::Many(Box::new(Many::new(linear, nodes, lexicon.nodes as usize, lender)))
        };
        let (bias, unseen) = (linear.bias.to_vec(), linear.unseen.map(<[f64]>::to_vec));
        Self { lexicon, value, bias, unseen, weights }
    }

    pub fn classes(&self) -> usize {
        self.bias.len()
    }

    /// One row of scores a document.
    pub fn score(&self, context: &Context, documents: &[Document], threads: usize) -> ForEach<f64> {
        for_each_document(documents, self.classes(), threads, |order, scores| {
            self.read(context, documents, order, scores, |reader, bag, rows| match &self.weights {
                Weights::Dense(weights) => {
                    self.score_each(weights, reader, bag, rows);
                    Ok(())
                }
                Weights::Many(weights) => {
                    self.sum(weights, &self.documents(reader, rows.len() / self.classes(), bag), rows)
                }
            })
        })
    }

    /// Read some documents at a time; each has as many of the numbers as any other, and `fill` fills them in.
    pub fn read<T>(
        &self,
        context: &Context,
        documents: &[Document],
        order: &[u32],
        numbers: &mut [T],
        mut fill: impl FnMut(&Reader, &mut Bag, &mut [T]) -> Result<(), TallyError>,
    ) -> Result<(), TallyError> {
        let of_each = numbers.len() / order.len().max(1);
        let mut reader = Reader::default();
        let mut numbering = Frozen::new(&self.lexicon, self.unseen.is_some() && self.value == Value::Binary);
        let mut bag = Bag::default();
        for range in ranges(documents, order, self.read_bytes(context)) {
            context.check()?;
            numbering.tidy();
            let numbers = &mut numbers[range.start * of_each..range.end * of_each];
            let order = &order[range];
            let batch: Vec<Document> = order.iter().map(|&document| documents[document as usize]).collect();
            let read = reader.read(&batch, context.analysis, context.normalizer, &mut numbering);
            read.map_err(|error| TallyError::Read(error.in_document_of(order)))?;
            fill(&reader, &mut bag, numbers)?;
        }
        Ok(())
    }

    fn read_bytes(&self, context: &Context) -> usize {
        context.read_bytes() * if matches!(self.weights, Weights::Dense(_)) { 1 } else { 32 }
    }

    pub fn score_each(&self, weights: &[f64], reader: &Reader, bag: &mut Bag, rows: &mut [f64]) {
        for (i, row) in rows.chunks_exact_mut(self.classes().max(1)).enumerate() {
            let terms = self.valued(reader.terms(i), bag);
            let unknown =
                if row.len() == 2 { sum_of_two(weights, terms, row) } else { sum_dense(weights, terms, row) };
            self.finish(terms.len(), unknown, row);
        }
    }

    pub fn documents(&self, reader: &Reader, count: usize, bag: &mut Bag) -> Vec<Vec<u32>> {
        (0..count).map(|i| self.valued(reader.terms(i), bag).to_vec()).collect()
    }

    pub fn sum(&self, weights: &Many, documents: &[Vec<u32>], rows: &mut [f64]) -> Result<(), TallyError> {
        let unknown = weights.sum(documents, rows)?;
        for (i, row) in rows.chunks_exact_mut(self.classes()).enumerate() {
            self.finish(documents[i].len(), unknown[i], row);
        }
        Ok(())
    }

    /// The terms that count: each once, if the value is binary.
    fn valued<'a>(&self, terms: &'a [u32], bag: &'a mut Bag) -> &'a [u32] {
        if self.value == Value::Binary { bag.distinct(terms) } else { terms }
    }

    /// Make scores of sums over so many terms, of which some are unknown.
    pub fn finish(&self, terms: usize, unknown: usize, sums: &mut [f64]) {
        for (class, sum) in sums.iter_mut().enumerate() {
            *sum = self.finished(terms, unknown, class, *sum);
        }
    }

    #[inline(always)]
    pub fn finished(&self, terms: usize, unknown: usize, class: usize, sum: f64) -> f64 {
        let sum = self.unseen.as_ref().map_or(sum, |unseen| sum + unknown as f64 * unseen[class]);
        let sum = if self.value == Value::Share && terms > 0 { sum / terms as f64 } else { sum };
        sum + self.bias[class]
    }
}

/// The weights of every node in every class.
fn dense_rows(linear: &Linear, nodes: &[u32], all_nodes: usize) -> Vec<f64> {
    let classes = linear.bias.len();
    let mut rows = filled(all_nodes * classes, 0.0);
    if let Some(unseen) = linear.unseen {
        rows.chunks_exact_mut(classes).for_each(|row| row.copy_from_slice(unseen));
    }
    for (term, &node) in nodes.iter().enumerate() {
        let TermBase { offset, scale } = linear.term_base(term);
        let row = &mut rows[node as usize * classes..][..classes];
        row.iter_mut().zip(linear.base).for_each(|(weight, base)| *weight = offset + scale * base);
    }
    linear
        .for_each_cell(|class, term, difference| rows[nodes[term] as usize * classes + class] += difference);
    rows
}

/// Add up the weights of the terms in `row`; how many terms are unknown.
fn sum_dense(weights: &[f64], terms: &[u32], row: &mut [f64]) -> usize {
    let classes = row.len();
    let mut unknown = 0;
    for &term in terms {
        match weights.get(term as usize * classes..(term as usize + 1) * classes) {
            Some(weights) => row.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight),
            None => unknown += 1,
        }
    }
    unknown
}

fn sum_of_two(weights: &[f64], terms: &[u32], row: &mut [f64]) -> usize {
    let (mut first, mut second, mut unknown) = (0.0, 0.0, 0);
    let (pairs, _) = weights.as_chunks::<2>();
    for &term in terms {
        match pairs.get(term as usize) {
            Some(weights) => {
                first += weights[0];
                second += weights[1];
            }
            None => unknown += 1,
        }
    }
    row[0] += first;
    row[1] += second;
    unknown
}
