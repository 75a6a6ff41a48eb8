//! Texts to log joint probabilities in one pass, with frozen weights.

use std::borrow::Cow;
use std::sync::Arc;

use crate::bags::in_threads;
use crate::lexicon::Lexicon;
use crate::memory::filled;
use crate::numbering::Frozen;
use crate::read::{Document, Reader};
use crate::restore::Column;
use crate::rows::{Estimate, Rows, TermBase};
use crate::tally::{Context, TallyError, ranges, split};

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

/// The weight of term t in class j is `offset[t] + scale[t] * base[j]` plus the difference of cell (t, j).
pub struct Linear<'a> {
    pub bias: &'a [f64],
    pub base: &'a [f64],
    /// The weight of a term that was never learned; without it such terms are ignored.
    pub unseen: Option<&'a [f64]>,
    pub offset: Option<&'a [f64]>,
    pub scale: Option<&'a [f64]>,
    pub class_ends: Column<'a>,
    pub term: Cow<'a, [u32]>,
    pub differences: &'a [f64],
}

enum Weights {
    /// A row of weights for every node.
    Dense(Vec<f64>),
    /// Rows of differences, for many classes.
    Rows(Box<Rows>),
}

pub struct Scorer {
    lexicon: Arc<Lexicon>,
    value: Value,
    bias: Vec<f64>,
    unseen: Option<Vec<f64>>,
    weights: Weights,
}

impl Linear<'_> {
    /// Whether the arrays can belong together, and to so many terms.
    pub fn fits(&self, terms: usize) -> bool {
        let classes = self.bias.len();
        let ends = || self.class_ends.iter();
        self.base.len() == classes
            && self.class_ends.len() == classes
            && self.unseen.is_none_or(|unseen| unseen.len() == classes)
            && [self.offset, self.scale].iter().all(|array| array.is_none_or(|array| array.len() == terms))
            && ends().is_sorted()
            && ends().last().unwrap_or(0) == self.term.len() as u64
            && self.differences.len() == self.term.len()
            && self.term.iter().all(|&term| (term as usize) < terms)
    }

    pub fn term_base(&self, term: usize) -> TermBase {
        TermBase {
            offset: self.offset.map_or(0.0, |offset| offset[term]),
            scale: self.scale.map_or(1.0, |scale| scale[term]),
        }
    }

    /// Visit the cells, class by class.
    pub fn for_each_cell(&self, mut visit: impl FnMut(usize, usize, f64)) {
        let mut start = 0;
        for (class, end) in self.class_ends.iter().enumerate() {
            for i in start..end as usize {
                visit(class, self.term[i] as usize, self.differences[i]);
            }
            start = end as usize;
        }
    }

    fn dense(&self, lexicon: &Lexicon, nodes: &[u32]) -> Weights {
        let classes = self.bias.len();
        let mut rows = filled(lexicon.nodes as usize * classes, 0.0);
        if let Some(unseen) = self.unseen {
            rows.chunks_exact_mut(classes).for_each(|row| row.copy_from_slice(unseen));
        }
        for (term, &node) in nodes.iter().enumerate() {
            let TermBase { offset, scale } = self.term_base(term);
            let row = &mut rows[node as usize * classes..][..classes];
            row.iter_mut().zip(self.base).for_each(|(weight, base)| *weight = offset + scale * base);
        }
        self.for_each_cell(|class, term, difference| {
            rows[nodes[term] as usize * classes + class] += difference
        });
        Weights::Dense(rows)
    }
}

/// So many documents, each with sums for all classes, are held in memory when only the best class is asked for.
const TOGETHER: usize = 512;
/// Up to this many classes a dense row is one cache line, and faster than a sparse one however small that is.
const ALWAYS_DENSE: usize = 8;

impl Scorer {
    /// `nodes[t]` is where term t stands in the lexicon.
    pub fn new(lexicon: Arc<Lexicon>, value: Value, linear: &Linear, nodes: &[u32]) -> Self {
        let classes = linear.bias.len();
        let dense = lexicon.nodes as usize * classes * 8;
        let weights = if classes <= ALWAYS_DENSE || dense <= Rows::bytes(linear, lexicon.nodes as usize) {
            linear.dense(&lexicon, nodes)
        } else {
            Weights::Rows(Box::new(Rows::new(linear, nodes, lexicon.nodes as usize)))
        };
        let (bias, unseen) = (linear.bias.to_vec(), linear.unseen.map(<[f64]>::to_vec));
        Self { lexicon, value, bias, unseen, weights }
    }

    pub fn classes(&self) -> usize {
        self.bias.len()
    }

    /// One row of scores a document.
    pub fn score(
        &self,
        context: &Context,
        documents: &[Document],
        threads: usize,
    ) -> Result<Vec<f64>, TallyError> {
        let order: Vec<u32> = (0..documents.len() as u32).collect();
        let mut scores = vec![0.0; documents.len() * self.classes()];
        let parts = split(documents, &order, threads);
        std::thread::scope(|scope| {
            let mut rest = &mut scores[..];
            let mut threads = Vec::new();
            for part in parts[1..].iter().rev() {
                let (rows, others) = take_back(rest, part.len() * self.classes());
                rest = others;
                threads.push(scope.spawn(move || self.score_part(context, documents, part, rows)));
            }
            let first = self.score_part(context, documents, parts[0], rest);
            let others =
                threads.into_iter().rev().map(|thread| thread.join().unwrap_or(Err(TallyError::Interrupted)));
            std::iter::once(first).chain(others.collect::<Vec<_>>()).collect::<Result<(), _>>()
        })?;
        Ok(scores)
    }

    /// The class with the highest score and prior of each document; of equals, the first.
    pub fn best(
        &self,
        context: &Context,
        documents: &[Document],
        prior: &[f64],
        threads: usize,
    ) -> Result<Vec<u32>, TallyError> {
        let order: Vec<u32> = (0..documents.len() as u32).collect();
        let best = in_threads(&split(documents, &order, threads.max(1)), |part| {
            let mut best = Vec::with_capacity(part.len());
            self.read_part(context, documents, part, |reader, count, seen| match &self.weights {
                Weights::Dense(weights) => {
                    let mut rows = vec![0.0; count * self.classes()];
                    self.score_each(weights, reader, seen, &mut rows);
                    best.extend(
                        rows.chunks_exact(self.classes().max(1)).map(|row| highest(row, prior).class),
                    );
                }
                Weights::Rows(weights) => {
                    for documents in self.documents(reader, count, seen).chunks(TOGETHER) {
                        best.extend(self.best_together(weights, documents, prior));
                    }
                }
            })?;
            Ok(best)
        });
        Ok(best.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn score_part(
        &self,
        context: &Context,
        documents: &[Document],
        order: &[u32],
        rows: &mut [f64],
    ) -> Result<(), TallyError> {
        let mut rest = rows;
        self.read_part(context, documents, order, |reader, count, seen| {
            let (rows, others) = std::mem::take(&mut rest).split_at_mut(count * self.classes());
            rest = others;
            match &self.weights {
                Weights::Dense(weights) => self.score_each(weights, reader, seen, rows),
                Weights::Rows(weights) => self.score_together(weights, reader, seen, rows),
            }
        })
    }

    /// Read some documents at a time; `visit` is told how many.
    fn read_part(
        &self,
        context: &Context,
        documents: &[Document],
        order: &[u32],
        mut visit: impl FnMut(&Reader, usize, &mut Seen),
    ) -> Result<(), TallyError> {
        let mut reader = Reader::default();
        let mut numbering = Frozen::new(&self.lexicon, self.unseen.is_some() && self.value == Value::Binary);
        let mut seen = Seen::default();
        for (reads, range) in ranges(documents, order, self.read_bytes(context)).enumerate() {
            context.check(reads)?;
            numbering.tidy();
            let order = &order[range];
            let batch: Vec<Document> = order.iter().map(|&document| documents[document as usize]).collect();
            let read = reader.read(&batch, context.analysis, context.normalizer, &mut numbering);
            read.map_err(|error| TallyError::Read(error.in_document_of(order)))?;
            visit(&reader, order.len(), &mut seen);
        }
        Ok(())
    }

    fn read_bytes(&self, context: &Context) -> usize {
        context.read_bytes() * if matches!(self.weights, Weights::Dense(_)) { 1 } else { 32 }
    }

    fn score_each(&self, weights: &[f64], reader: &Reader, seen: &mut Seen, rows: &mut [f64]) {
        for (i, row) in rows.chunks_exact_mut(self.classes().max(1)).enumerate() {
            let terms = self.valued(reader.terms(i), seen);
            let unknown =
                if row.len() == 2 { sum_of_two(weights, terms, row) } else { sum_dense(weights, terms, row) };
            self.finish(terms.len(), unknown, row);
        }
    }

    fn score_together(&self, weights: &Rows, reader: &Reader, seen: &mut Seen, rows: &mut [f64]) {
        self.sum(weights, &self.documents(reader, rows.len() / self.classes(), seen), rows);
    }

    /// Estimated scores decide, where what they may be wrong by cannot change who is first.
    fn best_together(&self, weights: &Rows, documents: &[Vec<u32>], prior: &[f64]) -> Vec<u32> {
        let mut best = vec![0; documents.len()];
        let mut open = Vec::new();
        weights.estimate(documents, |document, estimate| {
            let clear = estimate.and_then(|Estimate { scores, unknown, error }| {
                let terms = documents[document].len();
                self.finish(terms, unknown, scores);
                let first = highest(scores, prior);
                let error = if self.value == Value::Share { error / terms.max(1) as f64 } else { error };
                (first.lead > 2.0 * error + first.rounding()).then_some(first.class)
            });
            match clear {
                Some(class) => best[document] = class,
                None => open.push(document),
            }
        });
        let left: Vec<Vec<u32>> = open.iter().map(|&document| documents[document].clone()).collect();
        let mut rows = vec![0.0; left.len() * self.classes()];
        self.sum(weights, &left, &mut rows);
        for (document, row) in open.into_iter().zip(rows.chunks_exact(self.classes())) {
            best[document] = highest(row, prior).class;
        }
        best
    }

    fn documents(&self, reader: &Reader, count: usize, seen: &mut Seen) -> Vec<Vec<u32>> {
        (0..count).map(|i| self.valued(reader.terms(i), seen).to_vec()).collect()
    }

    fn sum(&self, weights: &Rows, documents: &[Vec<u32>], rows: &mut [f64]) {
        let unknown = weights.sum(documents, rows);
        for (i, row) in rows.chunks_exact_mut(self.classes()).enumerate() {
            self.finish(documents[i].len(), unknown[i], row);
        }
    }

    /// The terms that count: each once, if the value is binary.
    fn valued<'a>(&self, terms: &'a [u32], seen: &'a mut Seen) -> &'a [u32] {
        if self.value == Value::Binary { seen.distinct(terms) } else { terms }
    }

    fn finish(&self, terms: usize, unknown: usize, row: &mut [f64]) {
        if let Some(unseen) = &self.unseen {
            row.iter_mut().zip(unseen).for_each(|(score, weight)| *score += unknown as f64 * weight);
        }
        if self.value == Value::Share && terms > 0 {
            row.iter_mut().for_each(|score| *score /= terms as f64);
        }
        row.iter_mut().zip(&self.bias).for_each(|(score, bias)| *score += bias);
    }
}

/// The first of a document's classes.
struct First {
    class: u32,
    score: f64,
    /// By how much it is ahead of the second.
    lead: f64,
}

impl First {
    /// More than what rounding to 53 bits can make of sums like this.
    fn rounding(&self) -> f64 {
        1e-3 + 1e-6 * self.score.abs()
    }
}

fn highest(scores: &[f64], prior: &[f64]) -> First {
    let mut first = First { class: 0, score: f64::NEG_INFINITY, lead: f64::INFINITY };
    for (class, score) in scores.iter().zip(prior).map(|(score, prior)| score + prior).enumerate() {
        if score > first.score {
            first = First { class: class as u32, score, lead: score - first.score };
        } else {
            first.lead = first.lead.min(first.score - score);
        }
    }
    first
}

/// The last `count` of the rows, and those before them.
fn take_back(rows: &mut [f64], count: usize) -> (&mut [f64], &mut [f64]) {
    let at = rows.len() - count;
    let (rest, back) = rows.split_at_mut(at);
    (back, rest)
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

/// The distinct terms of a document, in the order in which they first occur.
#[derive(Default)]
struct Seen {
    table: Vec<(u32, u32)>,
    stamp: u32,
    distinct: Vec<u32>,
}

impl Seen {
    fn distinct(&mut self, terms: &[u32]) -> &[u32] {
        let size = (terms.len() * 2 + 1).next_power_of_two();
        if self.table.len() < size || self.stamp == u32::MAX {
            self.table = vec![(0, 0); size.max(self.table.len())];
            self.stamp = 0;
        }
        self.stamp += 1;
        self.distinct.clear();
        let mask = self.table.len() - 1;
        for &term in terms {
            let mut at = (term.wrapping_mul(0x9E37_79B1) >> 7) as usize & mask;
            while self.table[at].0 == self.stamp && self.table[at].1 != term {
                at = (at + 1) & mask;
            }
            if self.table[at].0 != self.stamp {
                self.table[at] = (self.stamp, term);
                self.distinct.push(term);
            }
        }
        &self.distinct
    }
}
