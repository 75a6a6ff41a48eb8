//! Weights for many classes: a base for every class, and for every term a row of differences, dense or sparse by
//! what is faster.

use crate::lexicon::prefetch;
use crate::memory::filled;
use crate::score::Linear;
use crate::tiles::{Entry, Occurrences, Tiles};

/// What a term adds to all classes alike, and how often it counts the base.
#[derive(Clone, Copy, Default)]
pub struct TermBase {
    pub offset: f64,
    pub scale: f64,
}

#[derive(Clone, Copy)]
enum Row {
    /// Its place among the dense rows.
    Dense(u32),
    /// Its range among the sparse ones.
    Sparse(usize, usize),
}

pub struct Rows {
    base: Vec<f64>,
    /// By node; a node that is no term is as good as unknown.
    terms: Vec<Option<TermBase>>,
    /// The place of each node in the canonical order, in which rows are added: sums are the same after loading.
    ranks: Vec<u32>,
    /// By rank.
    rows: Vec<Row>,
    dense: Tiles,
    classes: Vec<u32>,
    differences: Vec<f64>,
}

/// A row with this part of the classes is dense: adding it all, four numbers at a time, is then as fast as adding
/// what is there one by one (measured with 1,739 classes).
const DENSE_FROM: usize = 12;

/// How many rows ahead a sparse one is fetched from memory.
const AHEAD: usize = 4;

impl Rows {
    pub fn new(linear: &Linear, nodes: &[u32], all_nodes: usize) -> Self {
        let classes = linear.bias.len();
        let mut terms = vec![None; all_nodes];
        let mut ranks = vec![0; all_nodes];
        for (rank, &node) in nodes.iter().enumerate() {
            terms[node as usize] = Some(linear.term_base(rank));
            ranks[node as usize] = rank as u32;
        }
        let mut counts = vec![0; nodes.len()];
        linear.for_each_cell(|_, term, _| counts[term] += 1);
        let (mut in_dense, mut in_sparse) = (0, 0);
        let place = |&count: &usize| {
            if DENSE_FROM * count > classes {
                in_dense += 1;
                Row::Dense(in_dense - 1)
            } else {
                in_sparse += count;
                Row::Sparse(in_sparse - count, in_sparse - count)
            }
        };
        let rows = counts.iter().map(place).collect();
        let mut new = Self {
            base: linear.base.to_vec(),
            terms,
            ranks,
            rows,
            dense: Tiles::new(in_dense as usize, classes),
            classes: filled(in_sparse, 0),
            differences: filled(in_sparse, 0.0),
        };
        linear.for_each_cell(|class, term, difference| new.put(class, term, difference));
        new
    }

    /// What the weights would take, against a row of numbers for every node.
    pub fn bytes(linear: &Linear, all_nodes: usize) -> usize {
        linear.term.len() * 12 + all_nodes * 24
    }

    fn put(&mut self, class: usize, term: usize, difference: f64) {
        match &mut self.rows[term] {
            Row::Dense(row) => *self.dense.at(*row as usize, class) = difference,
            Row::Sparse(_, end) => {
                self.classes[*end] = class as u32;
                self.differences[*end] = difference;
                *end += 1;
            }
        }
    }

    /// Add up the weights of each document's terms in its row of scores; how many of its terms are unknown.
    pub fn sum(&self, documents: &[Vec<u32>], scores: &mut [f64]) -> Vec<usize> {
        let mut unknown = Vec::with_capacity(documents.len());
        let mut dense = Occurrences::default();
        let mut sparse = Occurrences::default();
        for (terms, row) in documents.iter().zip(scores.chunks_exact_mut(self.base.len())) {
            let (known, all) = self.ranked(terms);
            unknown.push(terms.len() - known.len());
            row.iter_mut().zip(&self.base).for_each(|(score, base)| *score += all.offset + all.scale * base);
            for repeated in known.chunk_by(|a, b| a == b) {
                let times = repeated.len() as u32;
                match self.rows[repeated[0] as usize] {
                    Row::Dense(row) => dense.entries.push((row, times)),
                    Row::Sparse(..) => sparse.entries.push((repeated[0], times)),
                }
            }
            dense.end();
            sparse.end();
        }
        self.dense.add(&dense, scores);
        for (document, row) in scores.chunks_exact_mut(self.base.len()).enumerate() {
            self.add_sparse(sparse.of(document), row);
        }
        unknown
    }

    /// The ranks of a document's known terms in order, and what these add to all classes.
    fn ranked(&self, terms: &[u32]) -> (Vec<u32>, TermBase) {
        let mut all = TermBase::default();
        let mut ranks = Vec::with_capacity(terms.len());
        for &term in terms {
            if let Some(Some(base)) = self.terms.get(term as usize) {
                all.offset += base.offset;
                all.scale += base.scale;
                ranks.push(self.ranks[term as usize]);
            }
        }
        ranks.sort_unstable();
        (ranks, all)
    }

    fn add_sparse(&self, entries: &[Entry], scores: &mut [f64]) {
        for (i, &(rank, times)) in entries.iter().enumerate() {
            if let Some(&(ahead, _)) = entries.get(i + AHEAD)
                && let Row::Sparse(start, _) = self.rows[ahead as usize]
            {
                prefetch(&self.classes, start);
                prefetch(&self.differences, start);
            }
            if let Row::Sparse(start, end) = self.rows[rank as usize] {
                let differences = &self.differences[start..end];
                for (&class, difference) in self.classes[start..end].iter().zip(differences) {
                    scores[class as usize] += f64::from(times) * difference;
                }
            }
        }
    }
}
