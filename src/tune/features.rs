//! Features of documents that are left out of the counts: what a weight for each term is fitted on.

use std::fmt;
use std::ops::Range;

use crate::lexicon::bag::NONE;
use crate::tally::bags::Rows;
use crate::threads::{MOST_THREADS, in_order, in_threads};

/// One view of the documents: rows, the number of each of their terms here, and the counts of those terms.
pub struct Counted<'a> {
    pub rows: &'a Rows,
    pub place: &'a [u32],
    /// Documents of each class that hold each term, one row a term.
    pub counts: &'a [u32],
    pub alpha: f64,
}

#[derive(Debug)]
pub enum TuneError {
    NotLearned { document: usize },
}

impl fmt::Display for TuneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLearned { document } => write!(
                f,
                "Document {document} holds a term that was never learned with its class, so it cannot be left out. \
                 Tune with documents that the model has learned, and their labels."
            ),
        }
    }
}

impl std::error::Error for TuneError {}

/// Rows of the table are padded to a multiple of this.
pub(crate) const LANES: usize = 8;
/// Documents are summed in so many blocks, whatever the number of threads, so that it does not change the sum.
pub(crate) const BLOCKS: usize = 4;

/// Documents as sums over terms: the score of class j is `bias[j]` plus the sum of weight * feature.
pub struct Features {
    pub(crate) classes: usize,
    pub(crate) width: usize,
    pub(crate) terms: usize,
    pub(crate) labels: Vec<u32>,
    /// Of more than two classes: one row a term.
    pub(crate) table: Vec<f32>,
    pub(crate) blocks: Vec<Block>,
}

/// Some documents, term by term: the scores of a block stay in the cache, and the rows of terms are read in order.
/// Document by document, every row came from main memory, and a pass took three times as long.
///
/// For two classes `values` is the feature of the second minus that of the first. For more, the feature of class j
/// is `values * table[term][j]`, plus `own` for the document's own class.
pub(crate) struct Block {
    pub documents: Range<usize>,
    /// The terms of these documents, and where the entries of each end.
    pub terms: Vec<u32>,
    pub ends: Vec<u32>,
    /// The document of each entry, counted from the first of the block.
    pub document: Vec<u32>,
    pub values: Vec<f32>,
    pub own: Vec<f32>,
}

/// The logarithms that one view needs.
struct Logs<'a> {
    view: &'a Counted<'a>,
    classes: usize,
    first: usize,
    /// log((k - 1 + alpha) / (k + alpha)) for small k.
    own: Vec<f64>,
    totals: Vec<f64>,
    smoothing: f64,
}

impl<'a> Logs<'a> {
    fn new(view: &'a Counted<'a>, classes: usize, first: usize) -> Self {
        let mut totals = vec![0.0; classes];
        for row in view.counts.chunks_exact(classes) {
            totals.iter_mut().zip(row).for_each(|(total, &count)| *total += f64::from(count));
        }
        let own = (0..4096).map(|k| own_difference(k, view.alpha)).collect();
        let smoothing = view.alpha * (view.counts.len() / classes) as f64;
        Self { view, classes, first, own, totals, smoothing }
    }

    fn own(&self, count: u32) -> f64 {
        self.own.get(count as usize).copied().unwrap_or_else(|| own_difference(count, self.view.alpha))
    }

    /// By how much the log of the total of a class falls when `length` of it are left out.
    fn total_difference(&self, class: usize, length: usize) -> f64 {
        let total = self.totals[class] + self.smoothing;
        ((total - length as f64) / total).ln()
    }

    /// log((count + alpha) / (total + alpha * terms)) of each class, centered, written behind one another.
    fn write_table(&self, width: usize, table: &mut Vec<f32>) {
        let totals: Vec<f64> = self.totals.iter().map(|total| (total + self.smoothing).ln()).collect();
        let small: Vec<f64> = (0..4096).map(|k| (f64::from(k) + self.view.alpha).ln()).collect();
        let log =
            |k: u32| small.get(k as usize).copied().unwrap_or_else(|| (f64::from(k) + self.view.alpha).ln());
        let mut logs = vec![0.0; self.classes];
        for row in self.view.counts.chunks_exact(self.classes) {
            for ((log_of, &count), total) in logs.iter_mut().zip(row).zip(&totals) {
                *log_of = log(count) - total;
            }
            let mean = logs.iter().sum::<f64>() / self.classes as f64;
            table.extend(logs.iter().map(|log| (log - mean) as f32));
            table.resize(table.len() + width - self.classes, 0.0);
        }
    }
}

fn own_difference(count: u32, alpha: f64) -> f64 {
    if count == 0 { 0.0 } else { ((f64::from(count) - 1.0 + alpha) / (f64::from(count) + alpha)).ln() }
}

/// How much a term counts for that occurs so often: 1 + log.
pub fn damped(times: u32) -> f64 {
    if times == 1 { 1.0 } else { 1.0 + f64::from(times).ln() }
}

/// The features of some documents, in the making.
#[derive(Default)]
struct Part {
    ends: Vec<usize>,
    term: Vec<u32>,
    values: Vec<f32>,
    own: Vec<f32>,
}

impl Features {
    /// The features of `documents`; with `leave_out` each is left out of the counts, of which it must be part.
    pub fn new(
        views: &[Counted],
        documents: &[u32],
        labels: &[u32],
        classes: usize,
        leave_out: bool,
        threads: usize,
    ) -> Result<Self, TuneError> {
        let width = if classes == 2 { 1 } else { classes.next_multiple_of(LANES) };
        let mut logs = Vec::new();
        let (mut terms, mut table) = (0, Vec::new());
        for view in views {
            let own = Logs::new(view, classes, terms);
            terms += view.counts.len() / classes;
            own.write_table(if classes == 2 { 2 } else { width }, &mut table);
            logs.push(own);
        }
        let size = documents.len().div_ceil(threads.clamp(1, MOST_THREADS)).max(1);
        let pieces: Vec<Range<usize>> = (0..documents.len())
            .step_by(size)
            .map(|start| start..(start + size).min(documents.len()))
            .collect();
        let parts = in_threads(&pieces, |piece| {
            let mut part = Part::default();
            for i in piece.clone() {
                part.push(&logs, &table, documents[i] as usize, labels[i] as usize, leave_out)?;
            }
            Ok(part)
        });
        let mut all = Part::default();
        for part in parts {
            all.append(part?);
        }
        let ranges = ranges(&all.ends);
        let blocks = in_order(&ranges, threads, |range| all.block(range.clone(), terms));
        let table = if classes == 2 { Vec::new() } else { table };
        Ok(Self { classes, width, terms, labels: labels.to_vec(), table, blocks })
    }

    pub fn documents(&self) -> usize {
        self.labels.len()
    }

    pub fn terms(&self) -> usize {
        self.terms
    }

    pub fn classes(&self) -> usize {
        self.classes
    }

    pub fn nonzeros(&self) -> usize {
        self.blocks.iter().map(|block| block.values.len()).sum()
    }
}

impl Part {
    fn push(
        &mut self,
        logs: &[Logs],
        table: &[f32],
        document: usize,
        label: usize,
        leave_out: bool,
    ) -> Result<(), TuneError> {
        for logs in logs {
            self.push_view(logs, table, document, label, leave_out)?;
        }
        self.ends.push(self.term.len());
        Ok(())
    }

    fn push_view(
        &mut self,
        logs: &Logs,
        table: &[f32],
        document: usize,
        label: usize,
        leave_out: bool,
    ) -> Result<(), TuneError> {
        let Counted { rows, place, counts, .. } = logs.view;
        let range = rows.range(document);
        let start = self.term.len();
        let mut squares = 0.0;
        for (&term, &times) in rows.terms[range.clone()].iter().zip(&rows.times[range]) {
            let term = place[term as usize];
            if term != NONE {
                let value = damped(times);
                squares += value * value;
                self.term.push(term);
                self.values.push(value as f32);
            }
        }
        let scale = 1.0 / f64::sqrt(squares);
        let total = if leave_out { logs.total_difference(label, self.term.len() - start) } else { 0.0 };
        for (term, value) in self.term[start..].iter_mut().zip(&mut self.values[start..]) {
            let x = f64::from(*value) * scale;
            let count = counts[*term as usize * logs.classes + label];
            if leave_out && count == 0 {
                return Err(TuneError::NotLearned { document });
            }
            let own = if leave_out { logs.own(count) - total } else { 0.0 };
            *term += logs.first as u32;
            if logs.classes == 2 {
                let row = &table[*term as usize * 2..][..2];
                let own = if label == 1 { own } else { -own };
                *value = (x * (f64::from(row[1]) - f64::from(row[0]) + own)) as f32;
            } else {
                *value = x as f32;
                self.own.push((x * own) as f32);
            }
        }
        Ok(())
    }

    fn append(&mut self, other: Self) {
        if self.ends.is_empty() {
            *self = other;
            return;
        }
        let start = self.term.len();
        self.ends.extend(other.ends.into_iter().map(|end| start + end));
        self.term.extend(other.term);
        self.values.extend(other.values);
        self.own.extend(other.own);
    }

    /// The entries of these documents in the order of their terms.
    fn block(&self, documents: Range<usize>, terms: usize) -> Block {
        let start = |document: usize| if document == 0 { 0 } else { self.ends[document - 1] };
        let entries = start(documents.start)..start(documents.end);
        let mut next = vec![0u32; terms + 1];
        self.term[entries.clone()].iter().for_each(|&term| next[term as usize + 1] += 1);
        for term in 0..terms {
            next[term + 1] += next[term];
        }
        let found: Vec<u32> =
            (0..terms as u32).filter(|&t| next[t as usize] < next[t as usize + 1]).collect();
        let ends = found.iter().map(|&term| next[term as usize + 1]).collect();
        let mut document = vec![0; entries.len()];
        let mut values = vec![0.0; entries.len()];
        let mut own = vec![0.0; if self.own.is_empty() { 0 } else { entries.len() }];
        for (local, of) in documents.clone().enumerate() {
            for at in start(of)..self.ends[of] {
                let next = &mut next[self.term[at] as usize];
                let to = *next as usize;
                *next += 1;
                document[to] = local as u32;
                values[to] = self.values[at];
                if let Some(own) = own.get_mut(to) {
                    *own = self.own[at];
                }
            }
        }
        Block { documents, terms: found, ends, document, values, own }
    }
}

/// Cut documents into blocks of about as many nonzeros each.
fn ranges(ends: &[usize]) -> Vec<Range<usize>> {
    let total = ends.last().copied().unwrap_or(0);
    let mut blocks = Vec::new();
    let mut start = 0;
    for block in 1..=BLOCKS {
        let goal = total * block / BLOCKS;
        let end = if block == BLOCKS { ends.len() } else { ends.partition_point(|&end| end <= goal) };
        blocks.push(start..end.max(start));
        start = end.max(start);
    }
    blocks
}
