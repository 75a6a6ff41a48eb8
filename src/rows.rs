//! Weights for many classes: a base for every class, and for every term a row of differences, dense or sparse by
//! what is faster. Documents are scored some at a time, term by term, so that a row is fetched from memory once
//! for all documents that have the term; with a thousand classes a document's rows are larger than any cache.

use crate::score::Linear;

/// What a term adds to all classes alike, and how often it counts the base.
#[derive(Clone, Copy, Default)]
pub struct TermBase {
    pub offset: f64,
    pub scale: f64,
}

#[derive(Clone, Copy)]
enum Row {
    /// Where the row begins among the dense ones.
    Dense(usize),
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
    dense: Vec<f64>,
    classes: Vec<u32>,
    differences: Vec<f64>,
}

/// A row with this part of the classes is dense: adding it all, four numbers at a time, is then as fast as adding
/// what is there one by one (measured with 1,739 classes; dense by size alone, from two thirds on, takes twice the
/// time).
const DENSE_FROM: usize = 5;
/// The scores of the documents that are scored together should stay in the second-level cache.
const TOGETHER_BYTES: usize = 256 << 10;

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
                in_dense += classes;
                Row::Dense(in_dense - classes)
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
            dense: vec![0.0; in_dense],
            classes: vec![0; in_sparse],
            differences: vec![0.0; in_sparse],
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
            Row::Dense(start) => self.dense[*start + class] = difference,
            Row::Sparse(_, end) => {
                self.classes[*end] = class as u32;
                self.differences[*end] = difference;
                *end += 1;
            }
        }
    }

    /// How many documents are best scored together.
    pub fn together(&self) -> usize {
        (TOGETHER_BYTES / (8 * self.base.len())).max(1)
    }

    /// Add up the weights of each document's terms in its row of scores; how many of its terms are unknown.
    pub fn sum(&self, documents: &[&[u32]], scores: &mut [f64], pairs: &mut Vec<(u32, u32)>) -> Vec<usize> {
        pairs.clear();
        let mut unknown = vec![0; documents.len()];
        for (i, (terms, row)) in documents.iter().zip(scores.chunks_exact_mut(self.base.len())).enumerate() {
            let mut all = TermBase::default();
            for &term in *terms {
                match self.terms.get(term as usize) {
                    Some(Some(base)) => {
                        all.offset += base.offset;
                        all.scale += base.scale;
                        pairs.push((self.ranks[term as usize], i as u32));
                    }
                    _ => unknown[i] += 1,
                }
            }
            row.iter_mut().zip(&self.base).for_each(|(score, base)| *score += all.offset + all.scale * base);
        }
        pairs.sort_unstable();
        for repeated in pairs.chunk_by(|a, b| a == b) {
            let (rank, document) = repeated[0];
            let start = document as usize * self.base.len();
            self.add_row(rank as usize, repeated.len() as f64, &mut scores[start..start + self.base.len()]);
        }
        unknown
    }

    fn add_row(&self, rank: usize, times: f64, scores: &mut [f64]) {
        match self.rows[rank] {
            Row::Dense(start) => add(&self.dense[start..start + scores.len()], times, scores),
            Row::Sparse(start, end) => {
                for (&class, difference) in self.classes[start..end].iter().zip(&self.differences[start..end])
                {
                    scores[class as usize] += times * difference;
                }
            }
        }
    }
}

fn add(row: &[f64], times: f64, scores: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { add_avx2(row, times, scores) };
    }
    add_portable(row, times, scores);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2(row: &[f64], times: f64, scores: &mut [f64]) {
    add_portable(row, times, scores);
}

#[inline(always)]
fn add_portable(row: &[f64], times: f64, scores: &mut [f64]) {
    scores.iter_mut().zip(row).for_each(|(score, weight)| *score += times * weight);
}
