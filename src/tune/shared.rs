//! What the terms of each kind say together of documents that are left out of the counts. Made from the cells that
//! there are: thousands of classes need no table of terms and classes. Scores have seven digits, which is enough to weigh
//! them by and half of the memory.

use std::collections::HashMap;

use crate::lexicon::bag::NONE;
use crate::score::sums::damped;
use crate::tally::bags::Rows;
use crate::threads::{MOST_THREADS, in_threads};
use crate::tune::features::TuneError;
use crate::tune::together::{Group, Leaving, groups_of};

/// Documents of each class that hold each term: the cells of a term are in one run, by class.
#[derive(Clone, Copy)]
pub struct Cells<'a> {
    pub ends: &'a [u64],
    pub class: &'a [u32],
    pub documents: &'a [u32],
}

impl<'a> Cells<'a> {
    fn of(&self, term: u32) -> impl Iterator<Item = (u32, u32)> + Clone + 'a {
        let start = if term == 0 { 0 } else { self.ends[term as usize - 1] as usize };
        let range = start..self.ends[term as usize] as usize;
        self.class[range.clone()].iter().copied().zip(self.documents[range].iter().copied())
    }

    fn count(&self, term: u32, class: u32) -> u32 {
        self.of(term).find(|(known, _)| *known == class).map_or(0, |(_, count)| count)
    }
}

/// The cells of some terms, in one run a term, from cells in one run a class; `place` is each term's number among them.
pub struct ByTerm {
    pub ends: Vec<u64>,
    pub class: Vec<u32>,
    pub documents: Vec<u32>,
}

impl ByTerm {
    /// The term of each cell, the end of the cells of each class, and the documents of each cell.
    pub fn new(term: &[u32], class_ends: &[u64], documents: &[u32], place: &[u32], terms: usize) -> Self {
        let mut ends = vec![0u64; terms];
        let places = || term.iter().map(|&term| place[term as usize]);
        places().filter(|&place| place != NONE).for_each(|place| ends[place as usize] += 1);
        let mut cells = 0;
        ends.iter_mut().for_each(|end| cells += std::mem::replace(end, cells));
        let (mut class, mut held) = (vec![0; cells as usize], vec![0; cells as usize]);
        let mut places = places().zip(documents);
        let mut start = 0;
        for (own, &end) in (0..).zip(class_ends) {
            for (place, &documents) in places.by_ref().take((end - start) as usize) {
                if place != NONE {
                    let at = ends[place as usize] as usize;
                    (class[at], held[at]) = (own, documents);
                    ends[place as usize] += 1;
                }
            }
            start = end;
        }
        Self { ends, class, documents: held }
    }
}

/// One view of the documents: rows, the number of each of their terms here, their cells, and the step of each term.
pub struct Kinds<'a> {
    pub rows: &'a Rows,
    pub place: &'a [u32],
    pub cells: Cells<'a>,
    pub steps: &'a [u8],
    pub alpha: f64,
}

/// Labeled documents, and which of them are left out together (none if empty).
#[derive(Clone, Copy)]
pub struct Learned<'a> {
    pub documents: &'a [u32],
    pub labels: &'a [u32],
    pub groups: &'a [u32],
}

struct Logs<'a> {
    view: &'a Kinds<'a>,
    /// The sum of the cells of each class, with its smoothing.
    totals: Vec<f64>,
    log_totals: Vec<f64>,
    /// By how much the logarithm of a small smoothed count is above that of none.
    small: Vec<f64>,
    groups: HashMap<u32, Group>,
}

impl<'a> Logs<'a> {
    fn new(view: &'a Kinds<'a>, learned: Learned, classes: usize) -> Self {
        let mut totals = vec![view.alpha * view.steps.len() as f64; classes];
        for (&class, &count) in view.cells.class.iter().zip(view.cells.documents) {
            totals[class as usize] += f64::from(count);
        }
        let log_totals = totals.iter().map(|total| total.max(1e-300).ln()).collect();
        let groups = groups_of((view.rows, view.place), learned.documents, learned.labels, learned.groups);
        let small = (0..4096).map(|count| above_none(count, view.alpha)).collect();
        Self { view, totals, log_totals, small, groups }
    }

    #[inline(always)]
    fn log(&self, count: u32) -> f64 {
        self.small.get(count as usize).copied().unwrap_or_else(|| above_none(count, self.view.alpha))
    }

    /// Write what the terms of a document say, `classes` numbers for each step.
    fn write(&self, scores: &mut [f32], document: usize, label: u32, group: Option<&Group>) -> bool {
        let Kinds { rows, place, cells, steps, .. } = self.view;
        let classes = self.totals.len();
        let leaving = |term: u32| match group {
            Some(group) => group.holders(term),
            None => Leaving::One(label),
        };
        let range = rows.range(document);
        let (mut squares, mut length) = (0.0, 0);
        let known = rows.terms[range.clone()].iter().zip(&rows.times[range]);
        let known = known.map(|(&term, &times)| (place[term as usize], damped(times)));
        let known: Vec<(u32, f64)> = known.filter(|(term, _)| *term != NONE).collect();
        let held: Vec<(u32, f64)> = known
            .iter()
            .copied()
            .filter(|&(term, _)| {
                length += 1;
                !cells.of(term).all(|(class, count)| count == leaving(term).count(class))
            })
            .inspect(|(_, value)| squares += value * value)
            .collect();
        let scale = 1.0 / f64::sqrt(squares);
        let own = [(label, length)];
        let lengths = group.map_or(&own[..], Group::lengths);
        let mut weight = vec![0.0; scores.len() / classes];
        for &(term, value) in &held {
            let (x, step) = (value * scale, steps[term as usize] as usize);
            weight[step] += x;
            let row = &mut scores[step * classes..][..classes];
            for (class, count) in cells.of(term) {
                let left = leaving(term).count(class);
                if left > count {
                    return false;
                }
                row[class as usize] += (x * self.log(count - left)) as f32;
            }
            if cells.count(term, label) == 0 {
                return false;
            }
        }
        for (row, weight) in scores.chunks_exact_mut(classes).zip(weight) {
            row.iter_mut().zip(&self.log_totals).for_each(|(score, log)| *score -= (weight * log) as f32);
            for &(class, length) in lengths {
                let class = class as usize;
                let left = (self.totals[class] - length as f64).max(1e-300).ln();
                row[class] += (weight * (self.log_totals[class] - left)) as f32;
            }
        }
        true
    }
}

fn above_none(count: u32, alpha: f64) -> f64 {
    (f64::from(count) / alpha).ln_1p()
}

/// Documents x steps x classes: the scores if every term had the weight 1; each document is left out of the counts.
pub fn shared_scores(
    views: &[Kinds],
    learned: Learned,
    steps: usize,
    classes: usize,
    threads: usize,
) -> Result<Vec<f32>, TuneError> {
    let logs: Vec<Logs> = views.iter().map(|view| Logs::new(view, learned, classes)).collect();
    let size = steps * classes;
    let mut scores = vec![0.0; learned.documents.len() * size];
    let share = learned.documents.len().div_ceil(threads.clamp(1, MOST_THREADS)).max(1);
    let parts = scores.chunks_mut((share * size).max(1)).enumerate();
    let done = in_threads(parts, |(part, scores)| {
        for (i, row) in (part * share..).zip(scores.chunks_exact_mut(size)) {
            let document = learned.documents[i] as usize;
            for logs in &logs {
                let group = learned.groups.get(i).and_then(|group| logs.groups.get(group));
                if !logs.write(row, document, learned.labels[i], group) {
                    return Err(TuneError::NotLearned { document });
                }
            }
        }
        Ok(())
    });
    done.into_iter().collect::<Result<(), _>>()?;
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cells of a table with one row a term.
    fn sparse(table: &[u32], classes: usize) -> (Vec<u64>, Vec<u32>, Vec<u32>) {
        let (mut ends, mut class, mut documents) = (Vec::new(), Vec::new(), Vec::new());
        for row in table.chunks_exact(classes) {
            for (each, &count) in (0..).zip(row).filter(|(_, count)| **count > 0) {
                class.push(each);
                documents.push(count);
            }
            ends.push(class.len() as u64);
        }
        (ends, class, documents)
    }

    #[test]
    fn cells_say_what_the_table_says_up_to_a_constant_for_all_classes() {
        use crate::tune::features::{Beside, Features};
        use crate::tune::together::Counted;
        let (rows, place, steps) = (Rows::some(), [0, 1, 2, 3], [0u8, 1, 1, 0]);
        let (documents, labels) = ([0, 1, 2, 3, 4], [0, 1, 0, 2, 0]);
        for groups in [&[][..], &[0, 1, 2, 0, 4][..]] {
            let table = rows.counts(&documents, &labels, 5, &place, 4);
            let view = Counted { rows: &rows, place: &place, counts: &table, alpha: 0.5 };
            let beside = Beside { groups, ..Beside::default() };
            let features = Features::new(&[view], &documents, &labels, beside, 5, true, 1)
                .unwrap_or_else(|_| unreachable!());
            let expected = features.group_scores(&steps, 2, 1);
            let (ends, class, held) = sparse(&table, 5);
            let cells = Cells { ends: &ends, class: &class, documents: &held };
            let kinds = Kinds { rows: &rows, place: &place, cells, steps: &steps, alpha: 0.5 };
            let learned = Learned { documents: &documents, labels: &labels, groups };
            for threads in [1, 3] {
                let found = shared_scores(std::slice::from_ref(&kinds), learned, 2, 5, threads)
                    .unwrap_or_else(|_| unreachable!());
                for (ours, theirs) in found.chunks_exact(5).zip(expected.chunks_exact(5)) {
                    for (one, other) in ours.iter().zip(theirs) {
                        assert!(
                            (f64::from(one - ours[0]) - (other - theirs[0])).abs() < 1e-5,
                            "{ours:?} {theirs:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn cells_by_class_become_cells_by_term() {
        let place = [1, NONE, 0, 2];
        let found = ByTerm::new(&[0, 1, 3, 0, 2, 3], &[3, 3, 5, 6], &[1, 2, 3, 4, 5, 6], &place, 3);
        assert_eq!(found.ends, [1, 3, 5]);
        assert_eq!(found.class, [2, 0, 2, 0, 3]);
        assert_eq!(found.documents, [5, 1, 4, 3, 6]);
    }

    #[test]
    fn a_document_that_was_not_learned_with_its_class_is_named() {
        let (rows, place) = (Rows::some(), [0, 1, 2, 3]);
        let table = rows.counts(&[0, 1, 2, 3, 4], &[0, 1, 0, 1, 0], 2, &place, 4);
        let (ends, class, held) = sparse(&table, 2);
        let cells = Cells { ends: &ends, class: &class, documents: &held };
        let kinds = Kinds { rows: &rows, place: &place, cells, steps: &[0; 4], alpha: 0.5 };
        let learned = Learned { documents: &[0, 1], labels: &[0, 0], groups: &[] };
        let found = shared_scores(&[kinds], learned, 1, 2, 1);
        assert!(matches!(found, Err(TuneError::NotLearned { document: 1 })));
    }
}
