//! Exact leave-one-out: the scores of training documents under the counts without themselves, in one pass. A term
//! that occurs in the document alone is unknown without it, and the vocabulary is smaller by it.

use std::borrow::Cow;

use crate::analyze::reader::Document;
use crate::context::Context;
use crate::errors::TallyError;
use crate::lexicon::Lexicon;
use crate::lexicon::bag::Bag;
use crate::memory::{filled, prefetch};
use crate::score::linear::for_each_cell;
use crate::score::settings::{Event, Frequency};
use crate::tally::bags::for_each_bag;
use crate::threads::for_each_document;
use crate::tune::product::Product;

/// The counts of a view and how they are made into scores.
pub struct Facts<'a> {
    pub event: Event,
    pub frequency: Frequency,
    pub alpha: f64,
    /// Whether a term that is unknown counts as one that was seen in no class.
    pub smooth: bool,
    /// Whether every term that was counted is used.
    pub all_terms: bool,
    pub classes: usize,
    pub terms: usize,
    /// The nonzero cells, class by class: where those of a class end, the term of each, its documents, and what is
    /// summed in the place of term counts.
    pub class_ends: Cow<'a, [u32]>,
    pub term: Cow<'a, [u32]>,
    pub documents: Cow<'a, [u32]>,
    pub mass: Cow<'a, [f64]>,
    pub class_documents: Vec<f64>,
}

/// The counts of a term in a class.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cell {
    pub class: u32,
    pub documents: u32,
    pub mass: f64,
    /// In the multinomial model without idf: log(mass + alpha), less log(alpha) unless that is infinite.
    pub log: f64,
}

/// Where the cells of a term begin, and in how many documents it is.
#[derive(Clone, Copy, Default)]
pub(crate) struct Term {
    pub start: u32,
    pub holders: u32,
}

pub struct LeaveOneOut<'a> {
    pub(crate) facts: Facts<'a>,
    logs: Logs,
    /// The cells of each term, in the order of the classes.
    pub(crate) cells: Vec<Cell>,
    /// One more than there are terms.
    pub(crate) terms: Vec<Term>,
    pub(crate) totals: Vec<f64>,
    /// The sums of mass * log(holders), for idf.
    pub(crate) idf_totals: Vec<f64>,
    /// Of each class, the absent terms in the Bernoulli model: with its documents, and with one less.
    pub(crate) absent: Vec<Product>,
    pub(crate) absent_one_less: Vec<Product>,
}

/// The document that is left out: what it adds to the mass of a term of `times` occurrences, and to a score.
pub(crate) struct Left<'a> {
    pub label: usize,
    pub share: f64,
    pub added_share: f64,
    /// Of each term, the cell in the class of the document.
    pub own: &'a [u32],
}

/// So many whole numbers have their logarithms at hand.
const WHOLE: usize = 1024;

/// log(mass + alpha).
struct Logs {
    alpha: f64,
    of_whole: Vec<f64>,
}

impl Logs {
    fn new(alpha: f64) -> Self {
        Self { alpha, of_whole: (0..WHOLE).map(|mass| (mass as f64 + alpha).ln()).collect() }
    }

    #[inline(always)]
    fn of(&self, mass: f64) -> f64 {
        let whole = mass as usize;
        match self.of_whole.get(whole) {
            Some(&log) if whole as f64 == mass => log,
            _ => (mass + self.alpha).ln(),
        }
    }
}

impl<'a> LeaveOneOut<'a> {
    pub fn new(facts: Facts<'a>) -> Self {
        let logs = Logs::new(facts.alpha);
        let (cells, terms) = by_term(&facts, &logs);
        let mut new = Self {
            totals: vec![0.0; facts.classes],
            idf_totals: vec![0.0; facts.classes],
            absent: Vec::new(),
            absent_one_less: Vec::new(),
            facts,
            logs,
            cells,
            terms,
        };
        for pair in new.terms.windows(2) {
            let holders = f64::from(pair[0].holders).ln();
            for cell in &new.cells[pair[0].start as usize..pair[1].start as usize] {
                new.totals[cell.class as usize] += cell.mass;
                new.idf_totals[cell.class as usize] += cell.mass * holders;
            }
        }
        if new.facts.event == Event::Bernoulli {
            new.absent = new.absences(0.0);
            new.absent_one_less = new.absences(1.0);
        }
        new
    }

    pub(crate) fn cells(&self, term: u32) -> &[Cell] {
        let term = term as usize;
        &self.cells[self.terms[term].start as usize..self.terms[term + 1].start as usize]
    }

    pub(crate) fn holders(&self, term: u32) -> u32 {
        self.terms[term as usize].holders
    }

    /// Where the cell of a term in a class is.
    fn cell(&self, term: u32, class: usize) -> Option<u32> {
        let cells = self.cells(term);
        let at = if cells.len() == self.facts.classes {
            class
        } else {
            cells.iter().position(|cell| cell.class as usize == class)?
        };
        Some(self.terms[term as usize].start + at as u32)
    }

    /// One row of log likelihoods a document; NaN for one that was not counted with its label.
    pub fn score(
        &self,
        context: &Context,
        terms: (&Lexicon, &[u32]),
        documents: &[Document],
        labels: &[u32],
        threads: usize,
    ) -> Result<Vec<f64>, TallyError> {
        for_each_document(documents, self.facts.classes, threads, |order, scores| {
            let mut rows = scores.chunks_exact_mut(self.facts.classes.max(1)).zip(order);
            let mut own = Vec::new();
            for_each_bag(context, terms, documents, order, |bag, nodes| {
                let length = nodes.len();
                if let Some((row, &document)) = rows.next() {
                    self.prefetch(bag);
                    let label = labels[document as usize] as usize;
                    if !self.can_leave(bag, length, label, &mut own) {
                        return row.fill(f64::NAN);
                    }
                    let units = ((1u128 << 64) / length.max(1) as u128) as f64;
                    let share = 1.0 / length.max(1) as f64;
                    let left = Left { label, share, added_share: units * 2f64.powi(-64), own: &own };
                    self.fill(bag, &left, row);
                }
            })
        })
    }

    /// Ask for the cells of a document's terms, all at once: what follows would wait for one after the other.
    fn prefetch(&self, bag: &Bag) {
        bag.terms.iter().for_each(|&term| prefetch(&self.terms, term as usize));
        bag.terms.iter().for_each(|&term| prefetch(&self.cells, self.terms[term as usize].start as usize));
    }

    /// Whether a document can be among those that were counted; `own` are the cells of its terms in its class.
    fn can_leave(&self, bag: &Bag, length: usize, label: usize, own: &mut Vec<u32>) -> bool {
        let known: usize = bag.times.iter().map(|&times| times as usize).sum();
        own.clear();
        own.extend(bag.terms.iter().map_while(|&term| self.cell(term, label)));
        (known == length || !self.facts.all_terms)
            && self.facts.class_documents[label] >= 1.0
            && own.len() == bag.terms.len()
    }

    fn fill(&self, bag: &Bag, left: &Left, row: &mut [f64]) {
        match self.facts.event {
            Event::Bernoulli => self.fill_bernoulli(bag, left, row),
            _ if self.facts.frequency == Frequency::TfIdf => self.fill_slowly(bag, left, row),
            Event::Complement => self.fill_slowly(bag, left, row),
            Event::Multinomial | Event::Earned => self.fill_multinomial(bag, left, row),
        }
    }

    /// What a term counts for in the document, and what the document added to the mass of its class.
    pub(crate) fn worth(&self, times: u32, left: &Left) -> (f64, f64) {
        let times = f64::from(times);
        match self.facts.frequency {
            Frequency::Count => (times, times),
            Frequency::Binary => (1.0, 1.0),
            _ => (times * left.share, times * left.added_share),
        }
    }

    /// Whether the terms that vanish with the document have a weight; without a vocabulary none has.
    pub(crate) fn smooth(&self, vanished: usize) -> bool {
        self.facts.smooth && self.facts.terms > vanished
    }

    fn fill_multinomial(&self, bag: &Bag, left: &Left, row: &mut [f64]) {
        let alpha = self.facts.alpha;
        let (mut known, mut lost, mut unknown, mut vanished) = (0.0, 0.0, 0.0, 0usize);
        let mut own = 0.0;
        for ((term, times), &mine) in bag.pairs().zip(left.own) {
            let (value, added) = self.worth(times, left);
            lost += added;
            if self.holders(term) <= 1 {
                unknown += value;
                vanished += 1;
                continue;
            }
            known += value;
            for cell in self.cells(term) {
                row[cell.class as usize] += value * cell.log;
            }
            let cell = &self.cells[mine as usize];
            let mass = if cell.documents > 1 { cell.mass - added } else { 0.0 };
            own += value * (self.logs.of(mass) - cell.log - self.log_alpha());
        }
        row[left.label] += own;
        let base = known * self.log_alpha();
        row.iter_mut().for_each(|score| *score += base);
        if alpha == 0.0 {
            self.rule_out(bag, row);
        }
        self.normalize(known, unknown, lost, vanished, left, row);
    }

    /// log(alpha), or 0 where alpha is and a factor of 0 is counted apart.
    fn log_alpha(&self) -> f64 {
        if self.facts.alpha > 0.0 { self.facts.alpha.ln() } else { 0.0 }
    }

    /// Without smoothing a class that lacks one of the terms is impossible.
    fn rule_out(&self, bag: &Bag, row: &mut [f64]) {
        let known: Vec<u32> = bag.terms.iter().copied().filter(|&term| self.holders(term) > 1).collect();
        let mut found = vec![0; row.len()];
        for &term in &known {
            self.cells(term).iter().for_each(|cell| found[cell.class as usize] += 1);
        }
        for (score, found) in row.iter_mut().zip(found) {
            if found < known.len() {
                *score = f64::NEG_INFINITY;
            }
        }
    }

    /// Divide by the sums of the classes, the document left out.
    fn normalize(&self, known: f64, unknown: f64, lost: f64, vanished: usize, left: &Left, row: &mut [f64]) {
        let alpha = self.facts.alpha;
        let smoothing = alpha * (self.facts.terms - vanished) as f64;
        let unknown = if self.smooth(vanished) { unknown } else { 0.0 };
        for (class, score) in row.iter_mut().enumerate() {
            let total = self.totals[class] - if class == left.label { lost } else { 0.0 } + smoothing;
            if unknown > 0.0 {
                *score += unknown * alpha.ln();
            }
            if known + unknown > 0.0 && total > 0.0 {
                *score -= (known + unknown) * total.ln();
            }
        }
    }
}

/// The cells in the order of their terms, and where those of each term begin.
fn by_term(facts: &Facts, logs: &Logs) -> (Vec<Cell>, Vec<Term>) {
    let mut terms = vec![Term::default(); facts.terms + 1];
    for (&term, &documents) in facts.term.iter().zip(facts.documents.iter()) {
        terms[term as usize].holders += documents;
        terms[term as usize + 1].start += 1;
    }
    for term in 0..facts.terms {
        terms[term + 1].start += terms[term].start;
    }
    let mut next: Vec<u32> = terms.iter().map(|term| term.start).collect();
    let plain = facts.event == Event::Multinomial && facts.frequency != Frequency::TfIdf;
    let base = if facts.alpha > 0.0 { facts.alpha.ln() } else { 0.0 };
    let mut cells = filled(facts.term.len(), Cell::default());
    let ends: Vec<usize> = facts.class_ends.iter().map(|&end| end as usize).collect();
    for_each_cell(
        &ends,
        |i| facts.term[i] as usize,
        |class, i| {
            let mass = facts.mass[i];
            let log = if plain { logs.of(mass) - base } else { 0.0 };
            let at = &mut next[facts.term[i] as usize];
            cells[*at as usize] = Cell { class: class as u32, documents: facts.documents[i], mass, log };
            *at += 1;
        },
    );
    (cells, terms)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn logarithms_at_hand_have_the_bits_of_those_that_are_made(mass in prop_oneof![0f64..3.0, (0u32..3000).prop_map(f64::from)], alpha in 0f64..2.0) {
            prop_assert_eq!(Logs::new(alpha).of(mass).to_bits(), (mass + alpha).ln().to_bits());
        }
    }
}
