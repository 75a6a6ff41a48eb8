//! Texts to scores with earned weights: each term counts 1 + log of its count, and the squares of a document sum
//! to 1 over the terms that have a weight.

use crate::context::Context;
use crate::errors::TallyError;
use std::sync::Arc;

use crate::analyze::reader::Document;
use crate::lexicon::Lexicon;
use crate::lexicon::bag::Bag;
use crate::tally::bags::for_each_bag;
use crate::threads::for_each_document;
use crate::tune::features::damped;

pub struct Tuned {
    pub lexicon: Arc<Lexicon>,
    /// The term at each node, or NONE.
    pub place: Vec<u32>,
    pub classes: usize,
    /// One row of weights a term.
    pub weights: Vec<f64>,
}

impl Tuned {
    /// One row of scores a document.
    pub fn score(
        &self,
        context: &Context,
        documents: &[Document],
        threads: usize,
    ) -> Result<Vec<f64>, TallyError> {
        for_each_document(documents, self.classes, threads, |order, scores| {
            let mut rows = scores.chunks_exact_mut(self.classes.max(1));
            let terms = (&*self.lexicon, &self.place[..]);
            for_each_bag(context, terms, documents, order, |bag, _| {
                rows.next().into_iter().for_each(|row| self.sum(bag, row));
            })
        })
    }

    fn sum(&self, bag: &Bag, row: &mut [f64]) {
        let mut squares = 0.0;
        for (term, times) in bag.pairs() {
            let value = damped(times);
            squares += value * value;
            let weights = &self.weights[term as usize * self.classes..][..self.classes];
            row.iter_mut().zip(weights).for_each(|(score, weight)| *score += value * weight);
        }
        if squares > 0.0 {
            let scale = 1.0 / f64::sqrt(squares);
            row.iter_mut().for_each(|score| *score *= scale);
        }
    }
}
