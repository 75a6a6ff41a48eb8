//! Weights for many classes: a base for every class, and for every term a row of differences, dense or sparse by
//! what is faster.

use std::ops::Range;
use std::sync::OnceLock;

use crate::memory::{filled, prefetch, prefetch_all};
use crate::rough::{MOST, Rough, RoughCell};
use crate::score::Linear;
use crate::tiles::{Entry, Occurrences, Tiles, with_times};

/// What a term adds to all classes alike, and how often it counts the base.
#[derive(Clone, Copy, Default)]
pub struct TermBase {
    pub offset: f64,
    pub scale: f64,
}

/// Scores of a document that are wrong by no more than the error.
pub struct Estimate<'a> {
    pub scores: &'a mut [f64],
    pub unknown: usize,
    pub error: f64,
}

/// The place of a node that is no term, and so as good as unknown.
const NOWHERE: u32 = u32::MAX;
/// From here on places are those of sparse rows, before those of dense ones.
const SPARSE: u32 = 1 << 31;

pub struct Rows {
    base: Vec<f64>,
    /// The place of each node's row. Places of both kinds follow the canonical order of terms, in which rows are
    /// added: sums are the same after loading.
    places: Vec<u32>,
    /// By node, unless it is nothing and once for every term.
    terms: Option<Vec<TermBase>>,
    dense: Tiles,
    /// Where each sparse row ends.
    ends: Vec<usize>,
    classes: Vec<u32>,
    differences: Vec<f64>,
    /// Made when somebody asks for no more than the best class.
    rough: OnceLock<Option<Rough>>,
}

/// A row with this part of the classes is dense: adding it all, four numbers at a time, is then as fast as adding
/// what is there one by one (measured with 1,739 classes).
const DENSE_FROM: usize = 12;

/// How many rows ahead a sparse one is fetched from memory.
const AHEAD: usize = 4;

impl Rows {
    pub fn new(linear: &Linear, nodes: &[u32], all_nodes: usize) -> Self {
        let mut cells = vec![0; nodes.len()];
        linear.for_each_cell(|_, term, _| cells[term] += 1);
        let (mut in_dense, mut ends, mut in_sparse) = (0, Vec::new(), 0);
        let place = |&cells: &usize| {
            if DENSE_FROM * cells > linear.bias.len() {
                in_dense += 1;
                in_dense - 1
            } else {
                // Where the row begins; it ends there too until its cells are put in.
                ends.push(in_sparse);
                in_sparse += cells;
                SPARSE | (ends.len() - 1) as u32
            }
        };
        let by_rank: Vec<u32> = cells.iter().map(place).collect();
        let mut new = Self {
            base: linear.base.to_vec(),
            places: by_node(nodes, all_nodes, NOWHERE, |rank| by_rank[rank]),
            terms: (linear.offset.is_some() || linear.scale.is_some())
                .then(|| by_node(nodes, all_nodes, TermBase::default(), |rank| linear.term_base(rank))),
            dense: Tiles::new(in_dense as usize, linear.bias.len()),
            ends,
            classes: filled(in_sparse, 0),
            differences: filled(in_sparse, 0.0),
            rough: OnceLock::new(),
        };
        linear.for_each_cell(|class, rank, difference| new.put(class, by_rank[rank], difference));
        new
    }

    /// What the weights would take, against a row of numbers for every node.
    pub fn bytes(linear: &Linear, all_nodes: usize) -> usize {
        linear.term.len() * 12 + all_nodes * 24
    }

    fn put(&mut self, class: usize, place: u32, difference: f64) {
        if place < SPARSE {
            *self.dense.at(place as usize, class) = difference;
        } else {
            let end = &mut self.ends[(place ^ SPARSE) as usize];
            self.classes[*end] = class as u32;
            self.differences[*end] = difference;
            *end += 1;
        }
    }

    /// Add up the weights of each document's terms in its row of scores; how many of its terms are unknown.
    pub fn sum(&self, documents: &[Vec<u32>], scores: &mut [f64]) -> Vec<usize> {
        let mut unknown = Vec::with_capacity(documents.len());
        let mut places = Vec::new();
        let mut dense = Occurrences::default();
        let mut sparse = Occurrences::default();
        for (terms, row) in documents.iter().zip(scores.chunks_exact_mut(self.base.len())) {
            self.find(terms, &mut places);
            unknown.push(terms.len() - places.len());
            let all = self.added_to_all(terms, places.len());
            row.iter_mut().zip(&self.base).for_each(|(score, base)| *score += all.offset + all.scale * base);
            let (in_dense, in_sparse) = places.split_at(places.partition_point(|&place| place < SPARSE));
            dense.push_document(with_times(in_dense));
            sparse.push_document(with_times(in_sparse));
        }
        self.dense.add(&dense, scores);
        for (document, row) in scores.chunks_exact_mut(self.base.len()).enumerate() {
            self.add_sparse(sparse.of(document), row);
        }
        unknown
    }

    /// What the scores of each document must be close to, how close, and how many of its terms are unknown; nothing
    /// if that cannot be told.
    pub fn estimate(&self, documents: &[Vec<u32>], mut visit: impl FnMut(usize, Option<Estimate>)) {
        let Some(rough) = self.rough.get_or_init(|| self.rounded()) else {
            return (0..documents.len()).for_each(|document| visit(document, None));
        };
        let classes = self.base.len();
        let mut dense = Occurrences::default();
        let mut sums = vec![0; documents.len() * classes];
        let mut known = Vec::with_capacity(documents.len());
        let mut places = Vec::new();
        for (terms, sums) in documents.iter().zip(sums.chunks_exact_mut(classes)) {
            self.find(terms, &mut places);
            known.push(places.len());
            if places.len() > MOST {
                places.clear();
            }
            let (in_dense, in_sparse) = places.split_at(places.partition_point(|&place| place < SPARSE));
            dense.push_document(in_dense.iter().copied());
            self.add_rough(rough, in_sparse, sums);
        }
        rough.add_dense(&dense, &mut sums);
        let mut scores = vec![0.0; classes];
        for (document, (terms, sums)) in documents.iter().zip(sums.chunks_exact(classes)).enumerate() {
            let known = known[document];
            let all = self.added_to_all(terms, known);
            for ((score, base), &sum) in scores.iter_mut().zip(&self.base).zip(sums) {
                *score = all.offset + all.scale * base + rough.unit * f64::from(sum);
            }
            let (unknown, error) = (terms.len() - known, rough.error(known));
            visit(document, (known <= MOST).then_some(Estimate { scores: &mut scores, unknown, error }));
        }
    }

    fn add_rough(&self, rough: &Rough, places: &[u32], sums: &mut [i32]) {
        for (i, &place) in places.iter().enumerate() {
            if let Some(&ahead) = places.get(i + AHEAD) {
                prefetch_all(&rough.sparse[self.range(ahead)]);
            }
            if let Some(&ahead) = places.get(i + 2 * AHEAD) {
                prefetch(&self.ends, (ahead ^ SPARSE) as usize);
            }
            for cell in &rough.sparse[self.range(place)] {
                sums[usize::from(cell.class)] += i32::from(cell.weight);
            }
        }
    }

    fn rounded(&self) -> Option<Rough> {
        let mut largest = self.differences.iter().fold(0.0, |most: f64, weight| most.max(weight.abs()));
        self.dense.for_each_line(|_, _, line| {
            largest = line.iter().fold(largest, |most, weight| most.max(weight.abs()));
        });
        let mut rough = Rough::new(largest, self.dense.rows(), self.base.len(), self.differences.len())?;
        self.dense.for_each_line(|row, first, line| {
            for (class, &weight) in (first..).zip(line) {
                rough.put(row, class, weight);
            }
        });
        for (i, (&class, &weight)) in self.classes.iter().zip(&self.differences).enumerate() {
            rough.sparse[i] = RoughCell { class: class as u16, weight: rough.rounded(weight) };
        }
        Some(rough)
    }

    /// The places of a document's known terms, in order.
    fn find(&self, terms: &[u32], places: &mut Vec<u32>) {
        places.clear();
        places.extend(terms.iter().map(|&term| self.places.get(term as usize).copied().unwrap_or(NOWHERE)));
        places.sort_unstable();
        places.truncate(places.partition_point(|&place| place < NOWHERE));
    }

    fn added_to_all(&self, terms: &[u32], known: usize) -> TermBase {
        let Some(bases) = &self.terms else { return TermBase { offset: 0.0, scale: known as f64 } };
        let mut all = TermBase::default();
        for base in terms.iter().filter_map(|&term| bases.get(term as usize)) {
            all.offset += base.offset;
            all.scale += base.scale;
        }
        all
    }

    fn add_sparse(&self, entries: &[Entry], scores: &mut [f64]) {
        for (i, &(place, times)) in entries.iter().enumerate() {
            if let Some(&(ahead, _)) = entries.get(i + AHEAD) {
                let range = self.range(ahead);
                prefetch_all(&self.classes[range.clone()]);
                prefetch_all(&self.differences[range]);
            }
            let range = self.range(place);
            for (&class, difference) in self.classes[range.clone()].iter().zip(&self.differences[range]) {
                scores[class as usize] += f64::from(times) * difference;
            }
        }
    }

    fn range(&self, place: u32) -> Range<usize> {
        let row = (place ^ SPARSE) as usize;
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        start..self.ends[row]
    }
}

/// What belongs to each node, given what belongs to the nodes of terms.
fn by_node<T: Copy>(nodes: &[u32], all_nodes: usize, otherwise: T, of: impl Fn(usize) -> T) -> Vec<T> {
    let mut all = vec![otherwise; all_nodes];
    for (rank, &node) in nodes.iter().enumerate() {
        all[node as usize] = of(rank);
    }
    all
}
