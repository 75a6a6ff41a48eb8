//! Documents that are left out of the counts alone or together, and what that changes.

use std::collections::HashMap;

use crate::lexicon::bag::NONE;
use crate::tally::bags::Rows;

/// One view of the documents: rows, the number of each of their terms here, and the counts of those terms.
pub struct Counted<'a> {
    pub rows: &'a Rows,
    pub place: &'a [u32],
    /// Documents of each class that hold each term, one row a term.
    pub counts: &'a [u32],
    pub alpha: f64,
}

/// The logarithms that one view needs.
pub(crate) struct Logs<'a> {
    pub view: &'a Counted<'a>,
    pub classes: usize,
    pub first: usize,
    /// log((k - 1 + alpha) / (k + alpha)) for small k.
    own: Vec<f64>,
    totals: Vec<f64>,
    smoothing: f64,
}

impl<'a> Logs<'a> {
    pub(crate) fn new(view: &'a Counted<'a>, classes: usize, first: usize) -> Self {
        let mut totals = vec![0.0; classes];
        for row in view.counts.chunks_exact(classes) {
            totals.iter_mut().zip(row).for_each(|(total, &count)| *total += f64::from(count));
        }
        let own = (0..4096).map(|k| own_difference(k, view.alpha)).collect();
        let smoothing = view.alpha * (view.counts.len() / classes) as f64;
        Self { view, classes, first, own, totals, smoothing }
    }

    /// Whether only what is left out holds the term, which is unknown without.
    pub(crate) fn is_gone(&self, term: u32, label: u32, left: Left) -> bool {
        let row = &self.view.counts[term as usize * self.classes..][..self.classes];
        match left {
            Left::Nothing => false,
            Left::Itself => (0..).zip(row).all(|(class, &count)| count == u32::from(class == label)),
            Left::Group(group) => group.holders.get(&term).is_some_and(|holders| {
                let held = |class| holders.iter().find(|(known, _)| *known == class).map_or(0, |&(_, n)| n);
                (0..).zip(row).all(|(class, &count)| count == held(class))
            }),
        }
    }

    pub(crate) fn own(&self, count: u32) -> f64 {
        self.own.get(count as usize).copied().unwrap_or_else(|| own_difference(count, self.view.alpha))
    }

    /// By how much the log of a count falls when `left` of it are left out.
    pub(crate) fn difference(&self, count: u32, left: u32) -> f64 {
        let alpha = self.view.alpha;
        ((f64::from(count) - f64::from(left) + alpha) / (f64::from(count) + alpha)).ln()
    }

    /// By how much the log of the total of a class falls when `length` of it are left out.
    pub(crate) fn total_difference(&self, class: usize, length: usize) -> f64 {
        let total = self.totals[class] + self.smoothing;
        ((total - length as f64) / total).ln()
    }

    /// log((count + alpha) / (total + alpha * terms)) of each class, centered, written behind one another.
    pub(crate) fn write_table(&self, width: usize, table: &mut Vec<f32>) {
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

/// Documents that are left out together: in one view, how many of each class hold each of their terms.
#[derive(Default)]
pub(crate) struct Group {
    holders: HashMap<u32, Vec<(u32, u32)>>,
    lengths: Vec<(u32, usize)>,
}

fn bump<T: std::ops::AddAssign>(cells: &mut Vec<(u32, T)>, class: u32, by: T) {
    match cells.iter_mut().find(|(known, _)| *known == class) {
        Some((_, sum)) => *sum += by,
        None => cells.push((class, by)),
    }
}

impl Group {
    fn add(&mut self, (rows, place): (&Rows, &[u32]), document: usize, label: u32) {
        let mut length = 0;
        for &term in &rows.terms[rows.range(document)] {
            let term = place[term as usize];
            if term != NONE {
                length += 1;
                bump(self.holders.entry(term).or_default(), label, 1);
            }
        }
        bump(&mut self.lengths, label, length);
    }

    /// How many documents of each class it takes from a term.
    pub(crate) fn holders(&self, term: u32) -> Leaving<'_> {
        Leaving::Many(self.holders.get(&term).map_or(&[][..], Vec::as_slice))
    }

    /// How many terms it takes from each class.
    pub(crate) fn lengths(&self) -> &[(u32, usize)] {
        &self.lengths
    }
}

/// How many documents of each class are left out of a term.
#[derive(Clone, Copy)]
pub(crate) enum Leaving<'a> {
    One(u32),
    Many(&'a [(u32, u32)]),
}

impl Leaving<'_> {
    pub(crate) fn count(self, class: u32) -> u32 {
        match self {
            Self::One(label) => u32::from(class == label),
            Self::Many(held) => held.iter().find(|(known, _)| *known == class).map_or(0, |&(_, count)| count),
        }
    }
}

/// The groups of more than one document, as one view sees them: rows, and the number of each of their terms here.
pub(crate) fn groups_of(
    view: (&Rows, &[u32]),
    documents: &[u32],
    labels: &[u32],
    groups: &[u32],
) -> HashMap<u32, Group> {
    let mut sizes: HashMap<u32, u32> = HashMap::new();
    groups.iter().for_each(|&group| *sizes.entry(group).or_default() += 1);
    let mut found: HashMap<u32, Group> = HashMap::new();
    for ((&group, &document), &label) in groups.iter().zip(documents).zip(labels) {
        if sizes[&group] > 1 {
            found.entry(group).or_default().add(view, document as usize, label);
        }
    }
    found
}

/// What is left out of the counts when a document is scored.
#[derive(Clone, Copy)]
pub(crate) enum Left<'a> {
    Nothing,
    Itself,
    Group(&'a Group),
}

/// By how much the log shares of a term change, in the document's own class and in others.
pub(crate) struct Changes {
    pub own: f64,
    pub others: Vec<(u32, f64)>,
}

impl Changes {
    pub(crate) fn own(own: f64) -> Self {
        Self { own, others: Vec::new() }
    }

    /// When a group is left out; None if it cannot have been counted.
    pub(crate) fn of(logs: &Logs, group: &Group, row: &[u32], term: u32, label: u32) -> Option<Self> {
        let holders = group.holders.get(&term).map_or(&[][..], Vec::as_slice);
        let mut changes = Self::own(0.0);
        for &(class, length) in &group.lengths {
            let left = holders.iter().find(|(known, _)| *known == class).map_or(0, |&(_, count)| count);
            let count = row[class as usize];
            if left > count {
                return None;
            }
            let change = logs.difference(count, left) - logs.total_difference(class as usize, length);
            if class == label {
                changes.own = change;
            } else {
                changes.others.push((class, change));
            }
        }
        Some(changes)
    }
}
