//! Features of documents that are left out of the counts: what a weight for each term is fitted on.

use std::fmt;
use std::ops::Range;

use crate::lexicon::bag::NONE;
use crate::score::sums::damped;
use crate::threads::{MOST_THREADS, in_order, in_threads};
use crate::tune::together::{Changes, Counted, Left, Logs, groups_of};

/// What is known of the documents besides their terms, one entry a document; empty where nothing is.
#[derive(Clone, Copy, Default)]
pub struct Beside<'a> {
    /// How much each counts in the loss.
    pub weights: &'a [f64],
    /// Those with the same number are left out of the counts together.
    pub groups: &'a [u32],
    /// The scores of the classes by `dense_views` views without terms, one block a document.
    pub dense: &'a [f64],
    pub dense_views: usize,
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
    /// How much each document counts; empty if all count alike.
    pub(crate) weights: Vec<f64>,
    /// Scores of views without terms, whose weights stand behind those of the terms.
    pub(crate) dense: Vec<f64>,
    pub(crate) dense_views: usize,
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
    pub others: Vec<Other>,
}

/// What an entry adds to a class that is not the document's own: documents of that class were left out with it.
#[derive(Clone, Copy)]
pub(crate) struct Other {
    /// The place of the term among those of the block (before that: the entry among those of the part).
    pub term: u32,
    pub document: u32,
    pub class: u32,
    pub value: f32,
}

/// The features of some documents, in the making.
#[derive(Default)]
struct Part {
    ends: Vec<usize>,
    term: Vec<u32>,
    values: Vec<f32>,
    own: Vec<f32>,
    others: Vec<Other>,
}

impl Features {
    /// The features of `documents`; with `leave_out` each is left out of the counts, of which it must be part.
    pub fn new(
        views: &[Counted],
        documents: &[u32],
        labels: &[u32],
        beside: Beside,
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
        let together = if leave_out { beside.groups } else { &[] };
        let of_view = |view: &Counted| groups_of((view.rows, view.place), documents, labels, together);
        let groups: Vec<_> = views.iter().map(of_view).collect();
        let parts = in_threads(&pieces, |piece| {
            let mut part = Part::default();
            for i in piece.clone() {
                for (logs, groups) in logs.iter().zip(&groups) {
                    let left = match beside.groups.get(i).and_then(|group| groups.get(group)) {
                        _ if !leave_out => Left::Nothing,
                        Some(group) => Left::Group(group),
                        None => Left::Itself,
                    };
                    part.push_view(logs, &table, documents[i] as usize, labels[i], left)?;
                }
                part.ends.push(part.term.len());
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
        let (labels, weights, dense) = (labels.to_vec(), beside.weights.to_vec(), beside.dense.to_vec());
        Ok(Self {
            classes,
            width,
            terms,
            labels,
            weights,
            dense,
            dense_views: beside.dense_views,
            table,
            blocks,
        })
    }

    pub fn documents(&self) -> usize {
        self.labels.len()
    }

    /// How many weights there are: one for each term, and for each view without terms.
    pub fn weights(&self) -> usize {
        self.terms + self.dense_views
    }

    pub fn classes(&self) -> usize {
        self.classes
    }

    pub fn nonzeros(&self) -> usize {
        self.blocks.iter().map(|block| block.values.len()).sum()
    }
}

impl Part {
    fn push_view(
        &mut self,
        logs: &Logs,
        table: &[f32],
        document: usize,
        label: u32,
        left: Left,
    ) -> Result<(), TuneError> {
        let start = self.term.len();
        let gone = |term| logs.is_gone(term, label, left);
        let (scale, length) = self.push_values(logs, document, gone);
        for at in start..self.term.len() {
            let (term, x) = (self.term[at], f64::from(self.values[at]) * scale);
            let row = &logs.view.counts[term as usize * logs.classes..][..logs.classes];
            let count = row[label as usize];
            let changes = match left {
                Left::Nothing => Changes::own(0.0),
                _ if count == 0 => return Err(TuneError::NotLearned { document }),
                Left::Itself => Changes::own(logs.own(count) - logs.total_difference(label as usize, length)),
                Left::Group(group) => {
                    Changes::of(logs, group, row, term, label).ok_or(TuneError::NotLearned { document })?
                }
            };
            self.term[at] = term + logs.first as u32;
            self.write(at, x, table, logs.classes, label, changes);
        }
        Ok(())
    }

    /// The terms of a document that are not gone and their values; returns by what to scale these, and how many
    /// there were.
    fn push_values(&mut self, logs: &Logs, document: usize, gone: impl Fn(u32) -> bool) -> (f64, usize) {
        let Counted { rows, place, .. } = logs.view;
        let range = rows.range(document);
        let (mut squares, mut length) = (0.0, 0);
        for (&term, &times) in rows.terms[range.clone()].iter().zip(&rows.times[range]) {
            let term = place[term as usize];
            length += usize::from(term != NONE);
            if term != NONE && !gone(term) {
                let value = damped(times);
                squares += value * value;
                self.term.push(term);
                self.values.push(value as f32);
            }
        }
        (1.0 / f64::sqrt(squares), length)
    }

    fn write(&mut self, at: usize, x: f64, table: &[f32], classes: usize, label: u32, changes: Changes) {
        if classes == 2 {
            let row = &table[self.term[at] as usize * 2..][..2];
            let sign = if label == 1 { 1.0 } else { -1.0 };
            let others: f64 = changes.others.iter().map(|(_, change)| change).sum();
            let change = sign * (changes.own - others);
            self.values[at] = (x * (f64::from(row[1]) - f64::from(row[0]) + change)) as f32;
            return;
        }
        self.values[at] = x as f32;
        self.own.push((x * changes.own) as f32);
        for (class, change) in changes.others {
            let value = (x * change) as f32;
            self.others.push(Other { term: at as u32, document: 0, class, value });
        }
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
        let moved = |each: Other| Other { term: each.term + start as u32, ..each };
        self.others.extend(other.others.into_iter().map(moved));
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
        let others = self.others_in(documents.clone(), entries, &found);
        Block { documents, terms: found, ends, document, values, own, others }
    }

    /// What the entries of these documents add to other classes; `found` are the terms of the block.
    fn others_in(&self, documents: Range<usize>, entries: Range<usize>, found: &[u32]) -> Vec<Other> {
        let inside = self.others.iter().filter(|other| entries.contains(&(other.term as usize)));
        let placed = |other: &Other| {
            let at = other.term as usize;
            let document = self.ends.partition_point(|&end| end <= at) - documents.start;
            let term = found.partition_point(|&term| term < self.term[at]);
            Other { term: term as u32, document: document as u32, ..*other }
        };
        inside.map(placed).collect()
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
