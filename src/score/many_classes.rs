//! Weights for many classes: a base for every class, and for every term a row of differences. Rows are made from the
//! weights when they are first needed: exact ones for scores, rounded ones to find the best class. Until then, and to
//! compare few classes, the weights are read where they lie, class by class.

use crate::errors::TallyError;
use std::sync::OnceLock;

use crate::score::exact_rows::Rows;
use crate::score::linear::{Linear, TermBase};
use crate::score::rounded_rows::{Estimate, Rough};
use crate::score::row_places::Places;
use crate::score::tiles::with_times;

/// Lends the weights, which Python keeps. If it cannot, it does not call back.
pub type Lender = Box<dyn Fn(&mut (dyn FnMut(&Linear) + Send)) + Send + Sync>;

pub struct Many {
    base: Vec<f64>,
    /// By node, unless it is nothing and once for every term.
    terms: Option<Vec<TermBase>>,
    lender: Lender,
    places: Places,
    exact: OnceLock<Option<Rows>>,
    rough: OnceLock<Option<Rough>>,
}

impl Many {
    pub fn new(linear: &Linear, nodes: &[u32], all_nodes: usize, lender: Lender) -> Self {
        Self {
            base: linear.base.to_vec(),
            terms: (linear.offset.is_some() || linear.scale.is_some())
                .then(|| term_bases(linear, nodes, all_nodes)),
            lender,
            places: Places::new(linear, nodes, all_nodes),
            exact: OnceLock::new(),
            rough: OnceLock::new(),
        }
    }

    /// Add up the weights of each document's terms in its row of scores; how many of its terms are unknown.
    pub fn sum(&self, documents: &[Vec<u32>], scores: &mut [f64]) -> Result<Vec<usize>, TallyError> {
        let rows = self.exact.get_or_init(|| self.lent(|linear| Rows::new(linear, &self.places)).ok());
        let rows = rows.as_ref().ok_or(TallyError::Lost)?;
        let found: Vec<Vec<u32>> = documents.iter().map(|terms| self.places.find(terms)).collect();
        let mut unknown = Vec::with_capacity(documents.len());
        for (i, row) in scores.chunks_exact_mut(self.base.len()).enumerate() {
            let all = self.added_to_all(&documents[i], found[i].len());
            row.iter_mut().zip(&self.base).for_each(|(score, base)| *score += all.offset + all.scale * base);
            unknown.push(documents[i].len() - found[i].len());
        }
        rows.add(&self.places, &found, self.base.len(), scores);
        Ok(unknown)
    }

    /// What the scores of each document must be close to; nothing if that cannot be told.
    pub fn estimate(&self, documents: &[Vec<u32>], mut visit: impl FnMut(usize, Option<Close>)) {
        let rough = self.rough.get_or_init(|| self.lent(|linear| Rough::new(linear, &self.places)).ok()?);
        let Some(rough) = rough else {
            return (0..documents.len()).for_each(|document| visit(document, None));
        };
        let mut scores = vec![0.0; self.base.len()];
        rough.estimate(&self.places, documents, |document, estimate| {
            visit(
                document,
                estimate.map(|estimate| self.close(&documents[document], &estimate, &mut scores)),
            );
        });
    }

    fn close<'a>(&self, terms: &[u32], estimate: &Estimate, scores: &'a mut [f64]) -> Close<'a> {
        let all = self.added_to_all(terms, estimate.known);
        for ((score, base), &sum) in scores.iter_mut().zip(&self.base).zip(estimate.sums) {
            *score = all.offset + all.scale * base + estimate.unit * f64::from(sum);
        }
        Close { scores, unknown: terms.len() - estimate.known, error: estimate.error() }
    }

    /// The scores of a document in some classes, digit for digit those of `sum`, and how many terms are unknown.
    pub fn sum_of(&self, linear: &Linear, terms: &[u32], classes: &[u32]) -> (Vec<f64>, usize) {
        let places = self.places.find(terms);
        let all = self.added_to_all(terms, places.len());
        let entries = with_times(&places);
        let score = |&class: &u32| {
            let base = all.offset + all.scale * self.base[class as usize];
            entries.iter().fold(base, |score, &(place, times)| {
                score + f64::from(times) * linear.difference(class as usize, self.places.rank(place))
            })
        };
        (classes.iter().map(score).collect(), terms.len() - places.len())
    }

    /// Borrow the weights.
    pub fn lent<T: Send>(&self, mut work: impl FnMut(&Linear) -> T + Send) -> Result<T, TallyError> {
        let mut result = None;
        (self.lender)(&mut |linear| result = Some(work(linear)));
        result.ok_or(TallyError::Lost)
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
}

/// Scores of a document that are wrong by no more than the error.
pub struct Close<'a> {
    pub scores: &'a mut [f64],
    pub unknown: usize,
    pub error: f64,
}

/// What belongs to each node, given what belongs to the nodes of terms.
fn term_bases(linear: &Linear, nodes: &[u32], all_nodes: usize) -> Vec<TermBase> {
    let mut bases = vec![TermBase::default(); all_nodes];
    for (rank, &node) in nodes.iter().enumerate() {
        bases[node as usize] = linear.term_base(rank);
    }
    bases
}
