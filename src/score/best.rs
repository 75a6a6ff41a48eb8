//! The best class of each document. With a thousand classes it is mostly far ahead of the second, so estimated scores
//! decide, where what they may be wrong by cannot change who is first. Where it can, those who may be first are
//! compared exactly.

use crate::analyze::reader::Document;
use crate::context::Context;
use crate::errors::TallyError;
use crate::score::linear::Linear;
use crate::score::many_classes::{Close, Many};
use crate::score::{Scorer, Value, Weights};
use crate::threads::{ForEach, for_each_document};

/// So many sums are held in memory, of all classes of some documents.
const SUMS_TOGETHER: usize = 1 << 20;

impl Scorer {
    /// The class with the highest score and prior of each document; ties go to the first class.
    pub fn best(
        &self,
        context: &Context,
        documents: &[Document],
        prior: &[f64],
        threads: usize,
    ) -> ForEach<u32> {
        for_each_document(documents, 1, threads, |order, best| {
            self.read(context, documents, order, best, |reader, bag, best| match &self.weights {
                Weights::Dense(weights) => {
                    let mut rows = vec![0.0; best.len() * self.classes()];
                    self.score_each(weights, reader, bag, &mut rows);
                    best.iter_mut()
                        .zip(self.best_of_rows(&rows, prior))
                        .for_each(|(best, class)| *best = class);
                    Ok(())
                }
                Weights::Many(weights) => {
                    let documents = self.documents(reader, best.len(), bag);
                    let together = (SUMS_TOGETHER / self.classes()).clamp(16, 512);
                    let mut both = documents.chunks(together).zip(best.chunks_mut(together));
                    both.try_for_each(|(documents, best)| self.best_together(weights, documents, prior, best))
                }
            })
        })
    }

    fn best_together(
        &self,
        weights: &Many,
        documents: &[Vec<u32>],
        prior: &[f64],
        best: &mut [u32],
    ) -> Result<(), TallyError> {
        let (mut close, mut unclear) = (Vec::new(), Vec::new());
        weights.estimate(documents, |document, estimate| {
            let Some(Close { scores, unknown, error }) = estimate else { return unclear.push(document) };
            let terms = documents[document].len();
            self.finish(terms, unknown, scores);
            scores.iter_mut().zip(prior).for_each(|(score, prior)| *score += prior);
            let error = if self.value == Value::Share { error / terms.max(1) as f64 } else { error };
            match contenders(scores, error)[..] {
                [] => unclear.push(document),
                [class] => best[document] = class,
                ref classes => close.push((document, classes.to_vec())),
            }
        });
        if !close.is_empty() {
            weights.lent(|linear| {
                for (document, classes) in &close {
                    best[*document] =
                        self.best_of_some(weights, linear, &documents[*document], classes, prior);
                }
            })?;
        }
        if !unclear.is_empty() {
            let left: Vec<Vec<u32>> = unclear.iter().map(|&document| documents[document].clone()).collect();
            let mut rows = vec![0.0; left.len() * self.classes()];
            self.sum(weights, &left, &mut rows)?;
            for (document, class) in unclear.into_iter().zip(self.best_of_rows(&rows, prior)) {
                best[document] = class;
            }
        }
        Ok(())
    }

    fn best_of_rows(&self, rows: &[f64], prior: &[f64]) -> impl Iterator<Item = u32> {
        let best = move |row: &[f64]| first(row.iter().zip(prior).map(|(score, prior)| score + prior)) as u32;
        rows.chunks_exact(self.classes().max(1)).map(best)
    }

    fn best_of_some(
        &self,
        weights: &Many,
        linear: &Linear,
        terms: &[u32],
        classes: &[u32],
        prior: &[f64],
    ) -> u32 {
        let (sums, unknown) = weights.sum_of(linear, terms, classes);
        let scores = classes.iter().zip(sums).map(|(&class, sum)| {
            self.finished(terms.len(), unknown, class as usize, sum) + prior[class as usize]
        });
        classes[first(scores)]
    }
}

/// The classes that may be first if every score may be wrong by so much.
fn contenders(scores: &[f64], error: f64) -> Vec<u32> {
    let highest = scores.iter().fold(f64::NEG_INFINITY, |highest, &score| highest.max(score));
    // More than what rounding to 53 bits can make of sums like these.
    let rounding = 1e-3 + 1e-6 * highest.abs();
    let least = highest - 2.0 * error - rounding;
    (0..).zip(scores).filter(|&(_, &score)| score >= least).map(|(class, _)| class).collect()
}

/// Where the highest score is; ties go to the first class.
fn first(scores: impl Iterator<Item = f64>) -> usize {
    let mut highest = (0, f64::NEG_INFINITY);
    for (i, score) in scores.enumerate() {
        if score > highest.1 {
            highest = (i, score);
        }
    }
    highest.0
}
