//! Exact leave-one-out: the scores of training documents under the counts without themselves, in one pass. A term
//! that occurs in the document alone is unknown without it, and the vocabulary is smaller by it.

use crate::bags::{Bag, for_each_bag, in_threads};
use crate::lexicon::Lexicon;
use crate::read::Document;
use crate::tally::{Context, TallyError, split};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    Multinomial,
    Bernoulli,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Frequency {
    Count,
    Binary,
    Normalized,
    TfIdf,
}

/// The counts of a view and how they are made into scores.
pub struct Facts {
    pub event: Event,
    pub frequency: Frequency,
    pub alpha: f64,
    /// Whether a term that is unknown counts as one that was seen in no class.
    pub smooth: bool,
    /// Whether every term that was counted is used.
    pub all_terms: bool,
    pub classes: usize,
    /// Documents, and what is summed in the place of term counts: one row a term, one column a class.
    pub documents: Vec<u32>,
    pub mass: Vec<f64>,
    pub class_documents: Vec<f64>,
}

pub struct LeaveOneOut {
    facts: Facts,
    /// In how many documents each term is.
    holders: Vec<u32>,
    /// log(mass + alpha) of each cell, in the multinomial model without idf.
    logs: Vec<f64>,
    totals: Vec<f64>,
    /// The sums of mass * log(holders), for idf.
    idf_totals: Vec<f64>,
    /// Of each class, the absent terms in the Bernoulli model: with its documents, and with one less.
    absent: Vec<Product>,
    absent_one_less: Vec<Product>,
}

/// A product of probabilities as a sum of logs; factors that are 0 are counted apart, so that they can be removed.
#[derive(Clone, Copy, Default)]
struct Product {
    log: f64,
    zeros: i64,
}

impl Product {
    fn times(&mut self, factor: f64, sign: f64) {
        if factor > 0.0 {
            self.log += sign * factor.ln();
        } else {
            self.zeros += sign as i64;
        }
    }

    fn value(&self) -> f64 {
        if self.zeros > 0 { f64::NEG_INFINITY } else { self.log }
    }
}

/// The document that is left out: what it adds to the mass of a term of `times` occurrences, and to a score.
struct Left {
    label: usize,
    share: f64,
    added_share: f64,
}

impl LeaveOneOut {
    pub fn new(facts: Facts) -> Self {
        let classes = facts.classes;
        let holders: Vec<u32> =
            facts.documents.chunks_exact(classes.max(1)).map(|row| row.iter().sum()).collect();
        let mut totals = vec![0.0; classes];
        let mut idf_totals = vec![0.0; classes];
        for (row, &holders) in facts.mass.chunks_exact(classes.max(1)).zip(&holders) {
            for (class, mass) in row.iter().enumerate() {
                totals[class] += mass;
                idf_totals[class] += mass * f64::from(holders).ln();
            }
        }
        let plain = facts.event == Event::Multinomial && facts.frequency != Frequency::TfIdf;
        let log = |mass: &f64| (mass + facts.alpha).ln();
        let logs = if plain { facts.mass.iter().map(log).collect() } else { Vec::new() };
        let mut new = Self {
            facts,
            holders,
            logs,
            totals,
            idf_totals,
            absent: Vec::new(),
            absent_one_less: Vec::new(),
        };
        if new.facts.event == Event::Bernoulli {
            new.absent = new.absences(0.0);
            new.absent_one_less = new.absences(1.0);
        }
        new
    }

    /// The product over all terms of their absence, had each class `less` documents less (of no term in question).
    fn absences(&self, less: f64) -> Vec<Product> {
        let mut absent = vec![Product::default(); self.facts.classes];
        for row in self.facts.documents.chunks_exact(self.facts.classes.max(1)) {
            for (class, &documents) in row.iter().enumerate() {
                let left = self.facts.class_documents[class] - less - f64::from(documents);
                if left >= 0.0 {
                    absent[class].times(left + self.facts.alpha, 1.0);
                }
            }
        }
        absent
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
        let order: Vec<u32> = (0..documents.len() as u32).collect();
        let parts = split(documents, &order, threads.max(1));
        let scores = in_threads(&parts, |part| {
            let mut scores = vec![0.0; part.len() * self.facts.classes];
            let mut rows = scores.chunks_exact_mut(self.facts.classes.max(1)).zip(part.iter());
            for_each_bag(context, terms, documents, part, |bag, length| {
                if let Some((row, &document)) = rows.next() {
                    if !self.can_leave(bag, length, labels[document as usize] as usize) {
                        return row.fill(f64::NAN);
                    }
                    let units = ((1u128 << 64) / length.max(1) as u128) as f64;
                    let label = labels[document as usize] as usize;
                    let share = 1.0 / length.max(1) as f64;
                    self.fill(bag, &Left { label, share, added_share: units * 2f64.powi(-64) }, row);
                }
            })?;
            Ok(scores)
        });
        Ok(scores.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Whether a document can be among those that were counted.
    fn can_leave(&self, bag: &Bag, length: usize, label: usize) -> bool {
        let known: usize = bag.terms.iter().map(|&(_, times)| times as usize).sum();
        let cell = |term: u32| term as usize * self.facts.classes + label;
        (known == length || !self.facts.all_terms)
            && self.facts.class_documents[label] >= 1.0
            && bag.terms.iter().all(|&(term, _)| self.facts.documents[cell(term)] > 0)
    }

    fn fill(&self, bag: &Bag, left: &Left, row: &mut [f64]) {
        match self.facts.event {
            Event::Bernoulli => self.fill_bernoulli(bag, left, row),
            _ if self.facts.frequency == Frequency::TfIdf => self.fill_slowly(bag, left, row),
            Event::Complement => self.fill_slowly(bag, left, row),
            Event::Multinomial => self.fill_multinomial(bag, left, row),
        }
    }

    /// What a term counts for in the document, and what the document added to the mass of its class.
    fn worth(&self, times: u32, left: &Left) -> (f64, f64) {
        let times = f64::from(times);
        match self.facts.frequency {
            Frequency::Count => (times, times),
            Frequency::Binary => (1.0, 1.0),
            _ => (times * left.share, times * left.added_share),
        }
    }

    /// Whether the terms that vanish with the document have a weight; without a vocabulary none has.
    fn smooth(&self, vanished: usize) -> bool {
        self.facts.smooth && self.holders.len() > vanished
    }

    fn fill_multinomial(&self, bag: &Bag, left: &Left, row: &mut [f64]) {
        let (classes, alpha) = (self.facts.classes, self.facts.alpha);
        let (mut known, mut lost, mut unknown, mut vanished) = (0.0, 0.0, 0.0, 0usize);
        let mut own = 0.0;
        for &(term, times) in &bag.terms {
            let term = term as usize;
            let (value, added) = self.worth(times, left);
            lost += added;
            if self.holders[term] <= 1 {
                unknown += value;
                vanished += 1;
                continue;
            }
            known += value;
            let logs = &self.logs[term * classes..][..classes];
            row.iter_mut().zip(logs).for_each(|(score, log)| *score += value * log);
            let cell = term * classes + left.label;
            let mass = if self.facts.documents[cell] > 1 { self.facts.mass[cell] - added } else { 0.0 };
            own += value * ((mass + alpha).ln() - logs[left.label]);
        }
        row[left.label] += own;
        let smoothing = alpha * (self.holders.len() - vanished) as f64;
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

    /// The models in which every cell of a document's terms changes: complement, and whatever has an idf.
    fn fill_slowly(&self, bag: &Bag, left: &Left, row: &mut [f64]) {
        let (classes, alpha) = (self.facts.classes, self.facts.alpha);
        let totals = self.totals_without(bag, left);
        let all: f64 = totals.iter().sum();
        let vanished = bag.terms.iter().filter(|&&(term, _)| self.holders[term as usize] <= 1).count();
        let smoothing = alpha * (self.holders.len() - vanished) as f64;
        let mut weight = 0.0;
        let mut masses = vec![0.0; classes];
        for &(term, times) in &bag.terms {
            let term = term as usize;
            let (value, added) = self.worth(times, left);
            if self.holders[term] <= 1 {
                if self.smooth(vanished) {
                    weight += value;
                    let unseen = value * alpha.ln();
                    let sign = if self.facts.event == Event::Complement { -1.0 } else { 1.0 };
                    row.iter_mut().for_each(|score| *score += sign * unseen);
                }
                continue;
            }
            let idf = self.idf_without(term);
            if idf <= 0.0 {
                continue;
            }
            weight += value * idf;
            self.masses_without(term, added, left.label, idf, &mut masses);
            self.add_logs(term, value * idf, left.label, &masses, row);
        }
        for (class, score) in row.iter_mut().enumerate() {
            let complement = self.facts.event == Event::Complement;
            let total = (if complement { all - totals[class] } else { totals[class] }) + smoothing;
            if weight > 0.0 && total > 0.0 {
                *score += if complement { weight * total.ln() } else { -weight * total.ln() };
            }
        }
    }

    fn add_logs(&self, term: usize, value: f64, label: usize, masses: &[f64], row: &mut [f64]) {
        let alpha = self.facts.alpha;
        if self.facts.event == Event::Multinomial {
            row.iter_mut().zip(masses).for_each(|(score, mass)| *score += value * (mass + alpha).ln());
            return;
        }
        let all: f64 = masses.iter().sum();
        let documents = &self.facts.documents[term * masses.len()..][..masses.len()];
        for (class, score) in row.iter_mut().enumerate() {
            let own = documents[class] - u32::from(class == label);
            let elsewhere = self.holders[term] - 1 - own > 0;
            let mass = if elsewhere { (all - masses[class]).max(0.0) } else { 0.0 };
            *score -= value * (mass + alpha).ln();
        }
    }

    fn idf_without(&self, term: usize) -> f64 {
        if self.facts.frequency != Frequency::TfIdf {
            return 1.0;
        }
        let others: f64 = self.facts.class_documents.iter().sum::<f64>() - 1.0;
        others.max(1.0).ln() - f64::from(self.holders[term] - 1).ln()
    }

    /// The masses of a term in all classes, the document left out, times idf.
    fn masses_without(&self, term: usize, added: f64, label: usize, idf: f64, masses: &mut [f64]) {
        let classes = self.facts.classes;
        masses.copy_from_slice(&self.facts.mass[term * classes..][..classes]);
        let more = self.facts.documents[term * classes + label] > 1;
        masses[label] = if more { masses[label] - added } else { 0.0 };
        masses.iter_mut().for_each(|mass| *mass *= idf);
    }

    /// The sums of the masses of each class, the document left out.
    fn totals_without(&self, bag: &Bag, left: &Left) -> Vec<f64> {
        let mut totals = self.totals.clone();
        if self.facts.frequency != Frequency::TfIdf {
            let lost = bag.terms.iter().map(|&(_, times)| self.worth(times, left).1);
            totals[left.label] -= lost.sum::<f64>();
            return totals;
        }
        let others = (self.facts.class_documents.iter().sum::<f64>() - 1.0).max(1.0).ln();
        for (total, idf_total) in totals.iter_mut().zip(&self.idf_totals) {
            *total = *total * others - idf_total;
        }
        let classes = self.facts.classes;
        let mut masses = vec![0.0; classes];
        for &(term, times) in &bag.terms {
            let term = term as usize;
            let before = others - f64::from(self.holders[term]).ln();
            let row = &self.facts.mass[term * classes..][..classes];
            totals.iter_mut().zip(row).for_each(|(total, mass)| *total -= mass * before);
            if self.holders[term] > 1 {
                let (_, added) = self.worth(times, left);
                self.masses_without(term, added, left.label, self.idf_without(term), &mut masses);
                totals.iter_mut().zip(&masses).for_each(|(total, mass)| *total += mass);
            }
        }
        totals
    }

    fn fill_bernoulli(&self, bag: &Bag, left: &Left, row: &mut [f64]) {
        let (classes, alpha) = (self.facts.classes, self.facts.alpha);
        let vanished = bag.terms.iter().filter(|&&(term, _)| self.holders[term as usize] <= 1).count();
        let kept = (self.holders.len() - vanished) as f64;
        for (class, score) in row.iter_mut().enumerate() {
            let mine = class == left.label;
            let n = self.facts.class_documents[class] - f64::from(u8::from(mine));
            let mut product = if mine { self.absent_one_less[class] } else { self.absent[class] };
            for &(term, _) in &bag.terms {
                let documents = f64::from(self.facts.documents[term as usize * classes + class]);
                if n >= documents {
                    product.times(n - documents + alpha, -1.0);
                }
                if self.holders[term as usize] > 1 {
                    product.times(documents - f64::from(u8::from(mine)) + alpha, 1.0);
                }
            }
            let unseen = if self.smooth(vanished) { vanished as f64 } else { 0.0 };
            let total = (n + 2.0 * alpha).max(f64::MIN_POSITIVE).ln();
            *score = product.value() - kept * total;
            if unseen > 0.0 {
                *score += unseen * (alpha.ln() - total);
            }
        }
    }
}
