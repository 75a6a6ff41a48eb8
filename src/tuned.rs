//! Texts to scores with earned weights: each term counts 1 + log of its count, and the squares of a document sum
//! to 1 over the terms that have a weight.

use std::sync::Arc;

use crate::bags::{Bag, for_each_bag, in_threads};
use crate::batches::{Context, split};
use crate::features::damped;
use crate::lexicon::Lexicon;
use crate::read::Document;
use crate::tally::TallyError;

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
        let order: Vec<u32> = (0..documents.len() as u32).collect();
        let parts = split(documents, &order, threads.max(1));
        let scores = in_threads(&parts, |part| {
            let mut scores = Vec::with_capacity(part.len() * self.classes);
            let terms = (&*self.lexicon, &self.place[..]);
            for_each_bag(context, terms, documents, part, |bag, _| self.push_scores(bag, &mut scores))?;
            Ok(scores)
        });
        Ok(scores.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn push_scores(&self, bag: &Bag, scores: &mut Vec<f64>) {
        let start = scores.len();
        scores.resize(start + self.classes, 0.0);
        let row = &mut scores[start..];
        let mut squares = 0.0;
        for &(term, times) in &bag.terms {
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
