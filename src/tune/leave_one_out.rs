//! Exact leave-one-out: the scores of training documents under the counts without themselves, in one pass. A term
//! that occurs in the document alone is unknown without it, and the vocabulary is smaller by it.

use std::borrow::Cow;

use crate::analyze::reader::Document;
use crate::context::Context;
use crate::errors::TallyError;
use crate::lexicon::Lexicon;
use crate::lexicon::bag::Bag;
use crate::memory::{filled, prefetch, prefetch_all};
use crate::score::linear::for_each_cell;
use crate::score::settings::{Event, Frequency};
use crate::tally::bags::for_each_bag;
use crate::threads::for_each_document;
use crate::tune::count_table::{CountTable, Counts};
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

/// The counts of a term in a class, by their place in the table of counts.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cell {
    pub class: u32,
    counts: u32,
}

/// Where the cells of a term begin, and in how many documents it is.
#[derive(Clone, Copy, Default)]
pub(crate) struct Term {
    pub start: u32,
    pub holders: u32,
}

pub struct LeaveOneOut<'a> {
    pub(crate) facts: Facts<'a>,
    /// The cells of each term, in the order of the classes.
    pub(crate) cells: Vec<Cell>,
    table: CountTable,
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
pub(crate) struct Left {
    pub label: usize,
    pub share: f64,
    pub added_share: f64,
}

/// How many terms ahead cells are fetched; where they are is asked for twice as far ahead.
const AHEAD: usize = 16;

impl<'a> LeaveOneOut<'a> {
    pub fn new(facts: Facts<'a>) -> Self {
        let (cells, table, terms) = by_term(&facts);
        let mut new = Self {
            totals: vec![0.0; facts.classes],
            idf_totals: vec![0.0; facts.classes],
            absent: Vec::new(),
            absent_one_less: Vec::new(),
            facts,
            cells,
            table,
            terms,
        };
        for pair in new.terms.windows(2) {
            let holders = f64::from(pair[0].holders).ln();
            for cell in &new.cells[pair[0].start as usize..pair[1].start as usize] {
                let mass = new.table.at(cell.counts).mass;
                new.totals[cell.class as usize] += mass;
                new.idf_totals[cell.class as usize] += mass * holders;
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

    pub(crate) fn counts(&self, cell: Cell) -> Counts {
        self.table.at(cell.counts)
    }

    pub(crate) fn holders(&self, term: u32) -> u32 {
        self.terms[term as usize].holders
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
            for_each_bag(context, terms, documents, order, |bag, nodes| {
                let length = nodes.len();
                if let Some((row, &document)) = rows.next() {
                    let label = labels[document as usize] as usize;
                    let units = ((1u128 << 64) / length.max(1) as u128) as f64;
                    let share = 1.0 / length.max(1) as f64;
                    let left = Left { label, share, added_share: units * 2f64.powi(-64) };
                    if !self.may_be_counted(bag, length, label) || !self.fill(bag, &left, row) {
                        row.fill(f64::NAN);
                    }
                }
            })
        })
    }

    /// Ask for the cells of terms that come soon.
    #[inline(always)]
    fn look_ahead(&self, terms: &[u32], i: usize) {
        if let Some(&term) = terms.get(i + 2 * AHEAD) {
            prefetch(&self.terms, term as usize);
        }
        if let Some(&term) = terms.get(i + AHEAD) {
            prefetch_all(self.cells(term));
        }
    }

    /// Whether a document of this length can be among those that were counted, as far as its class alone says.
    fn may_be_counted(&self, bag: &Bag, length: usize, label: usize) -> bool {
        let known: usize = bag.times.iter().map(|&times| times as usize).sum();
        (known == length || !self.facts.all_terms) && self.facts.class_documents[label] >= 1.0
    }

    /// The scores of a document; false if it cannot have been counted, because its class lacks one of its terms.
    fn fill(&self, bag: &Bag, left: &Left, row: &mut [f64]) -> bool {
        let (event, idf) = (self.facts.event, self.facts.frequency == Frequency::TfIdf);
        if !idf && matches!(event, Event::Multinomial | Event::Earned) {
            return self.fill_multinomial(bag, left, row);
        }
        let has = |&term: &u32| self.cells(term).iter().any(|cell| cell.class as usize == left.label);
        if !bag.terms.iter().all(has) {
            return false;
        }
        match event {
            Event::Bernoulli => self.fill_bernoulli(bag, left, row),
            _ => self.fill_slowly(bag, left, row),
        }
        true
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

    fn fill_multinomial(&self, bag: &Bag, left: &Left, row: &mut [f64]) -> bool {
        let (mut known, mut lost, mut unknown, mut vanished) = (0.0, 0.0, 0.0, 0usize);
        let (mut own, base) = (0.0, self.table.base);
        for (i, (term, times)) in bag.pairs().enumerate() {
            self.look_ahead(&bag.terms, i);
            let (value, added) = self.worth(times, left);
            lost += added;
            let cells = self.cells(term);
            if self.holders(term) <= 1 {
                if cells.first().is_none_or(|cell| cell.class as usize != left.label) {
                    return false;
                }
                unknown += value;
                vanished += 1;
                continue;
            }
            known += value;
            let Some(mine) = self.add_cells(cells, value, left.label, row) else { return false };
            let Counts { documents, mass } = self.table.at(mine);
            let mass = if documents > 1 { mass - added } else { 0.0 };
            own += value * (self.table.log_of(mass) - self.table.log(mine) - base);
        }
        row[left.label] += own;
        row.iter_mut().for_each(|score| *score += known * base);
        if self.facts.alpha == 0.0 {
            self.rule_out(bag, row);
        }
        self.normalize(known, unknown, lost, vanished, left, row);
        true
    }

    /// Add what the cells of a term say; gives the place of the counts that one class has.
    #[inline(always)]
    fn add_cells(&self, cells: &[Cell], value: f64, label: usize, row: &mut [f64]) -> Option<u32> {
        if cells.len() == row.len() {
            row.iter_mut().zip(cells).for_each(|(score, cell)| *score += value * self.table.log(cell.counts));
            return Some(cells[label].counts);
        }
        // Where the class is among them cannot be predicted, so nothing branches on it.
        let mut own = None;
        for cell in cells {
            row[cell.class as usize] += value * self.table.log(cell.counts);
            own = if cell.class as usize == label { Some(cell.counts) } else { own };
        }
        own
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
fn by_term(facts: &Facts) -> (Vec<Cell>, CountTable, Vec<Term>) {
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
    let whole = matches!(facts.frequency, Frequency::Count | Frequency::Binary);
    let mut table = CountTable::new(facts.alpha, plain, whole);
    let mut cells = filled(facts.term.len(), Cell::default());
    let ends: Vec<usize> = facts.class_ends.iter().map(|&end| end as usize).collect();
    for_each_cell(
        &ends,
        |i| facts.term[i] as usize,
        |class, i| {
            let counts = table.place(Counts { documents: facts.documents[i], mass: facts.mass[i] });
            let at = &mut next[facts.term[i] as usize];
            cells[*at as usize] = Cell { class: class as u32, counts };
            *at += 1;
        },
    );
    (cells, table, terms)
}
