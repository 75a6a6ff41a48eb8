//! The loss, gradient and curvature of a weight for each term. Features are float32, sums over documents float64.

use std::ops::Range;

use crate::threads::in_order;
use crate::tune::features::{Block, Features};
use crate::tune::lanes::Lanes;

/// What one block of documents adds: its loss, the gradient of the biases, and that of the weights of its terms.
struct Sums {
    loss: f64,
    bias: Vec<f64>,
    weights: Vec<f32>,
    dense: Vec<f64>,
}

/// The mean loss and its gradient.
pub struct Slope {
    pub loss: f64,
    pub weights: Vec<f64>,
    pub bias: Vec<f64>,
}

impl Block {
    /// The terms, and the entries of each.
    pub fn entries(&self) -> impl Iterator<Item = (u32, Range<usize>)> {
        let mut start = 0;
        self.terms.iter().zip(&self.ends).map(move |(&term, &end)| {
            let entries = start..end as usize;
            start = end as usize;
            (term, entries)
        })
    }

    /// Add weight * value of each entry to the sum of its document.
    fn spread(&self, weights: &[f32], values: &[f32], sums: &mut [f32]) {
        for ((_, entries), &weight) in self.entries().zip(weights) {
            for (&document, &value) in self.document[entries.clone()].iter().zip(&values[entries]) {
                sums[document as usize] += weight * value;
            }
        }
    }

    /// Of each term the sum of value * residual over its entries.
    fn gather(&self, values: &[f32], residuals: &[f32]) -> Vec<f32> {
        let of_term = |(_, entries): (u32, Range<usize>)| {
            let both = self.document[entries.clone()].iter().zip(&values[entries]);
            both.map(|(&document, &value)| residuals[document as usize] * value).sum()
        };
        self.entries().map(of_term).collect()
    }
}

impl Features {
    /// The mean log loss of these weights, and its gradient.
    pub fn slope(&self, weights: &[f64], bias: &[f64], threads: usize) -> Slope {
        let sums = in_order(&self.blocks, threads, |block| {
            let mut scores = self.scores(block, |term| weights[term as usize] as f32);
            let (loss, of_bias) = self.residuals(block, bias, &mut scores);
            let dense = self.dense_gradient(block, &scores);
            Sums { loss, bias: of_bias, weights: self.gradient(block, &scores), dense }
        });
        let mean = 1.0 / self.documents().max(1) as f64;
        let mut slope =
            Slope { loss: 0.0, weights: vec![0.0; self.weights()], bias: vec![0.0; self.classes] };
        for (block, sums) in self.blocks.iter().zip(sums) {
            slope.loss += sums.loss * mean;
            slope.bias.iter_mut().zip(&sums.bias).for_each(|(sum, more)| *sum += more * mean);
            for (&term, &more) in block.terms.iter().zip(&sums.weights) {
                slope.weights[term as usize] += f64::from(more) * mean;
            }
            slope.weights[self.terms..]
                .iter_mut()
                .zip(&sums.dense)
                .for_each(|(sum, more)| *sum += more * mean);
        }
        slope
    }

    /// The scores of a block's documents without the bias, `width` a document; of two classes, those of the second.
    fn scores(&self, block: &Block, weight: impl Fn(u32) -> f32) -> Vec<f32> {
        let weights: Vec<f32> = block.terms.iter().map(|&term| weight(term)).collect();
        let mut scores = vec![0.0; block.documents.len() * self.width];
        if self.classes == 2 {
            block.spread(&weights, &block.values, &mut scores);
        } else {
            self.lanes(block).add_scores(&weights, &mut scores);
            let mut own = vec![0.0; block.documents.len()];
            block.spread(&weights, &block.own, &mut own);
            for ((row, label), own) in scores.chunks_exact_mut(self.width).zip(self.labels_of(block)).zip(own)
            {
                row[label] += own;
            }
            for other in &block.others {
                let cell = other.document as usize * self.width + other.class as usize;
                scores[cell] += weights[other.term as usize] * other.value;
            }
        }
        self.add_dense(block, weight, &mut scores);
        scores
    }

    /// The scores of a document by the views without terms, one row of classes a view.
    fn dense_rows(&self, document: usize) -> impl Iterator<Item = &[f64]> {
        let size = self.dense_views * self.classes;
        self.dense[document * size..(document + 1) * size].chunks_exact(self.classes)
    }

    fn add_dense(&self, block: &Block, weight: impl Fn(u32) -> f32, scores: &mut [f32]) {
        for (document, row) in block.documents.clone().zip(scores.chunks_exact_mut(self.width)) {
            for (view, dense) in self.dense_rows(document).enumerate() {
                let weight = f64::from(weight((self.terms + view) as u32));
                if self.classes == 2 {
                    row[0] += (weight * (dense[1] - dense[0])) as f32;
                } else {
                    row.iter_mut().zip(dense).for_each(|(sum, score)| *sum += (weight * score) as f32);
                }
            }
        }
    }

    /// The gradient of the weight of each view without terms.
    fn dense_gradient(&self, block: &Block, residuals: &[f32]) -> Vec<f64> {
        let mut sums = vec![0.0; self.dense_views];
        for (document, row) in block.documents.clone().zip(residuals.chunks_exact(self.width)) {
            for (sum, dense) in sums.iter_mut().zip(self.dense_rows(document)) {
                *sum += if self.classes == 2 {
                    f64::from(row[0]) * (dense[1] - dense[0])
                } else {
                    row.iter().zip(dense).map(|(&residual, score)| f64::from(residual) * score).sum()
                };
            }
        }
        sums
    }

    /// The curvature of those weights: the variance of the scores under the posterior, summed over the documents.
    fn dense_curvature(&self, block: &Block, bias: &[f64], scores: &[f32]) -> Vec<f64> {
        let mut sums = vec![0.0; self.dense_views];
        let mut posterior = vec![0.0; self.classes];
        for (document, row) in block.documents.clone().zip(scores.chunks_exact(self.width)) {
            self.posterior(row, bias, 0, &mut posterior);
            let weight = self.weight_of(document);
            for (sum, dense) in sums.iter_mut().zip(self.dense_rows(document)) {
                let both = posterior.iter().zip(dense);
                let mean: f64 = both.clone().map(|(p, score)| p * score).sum();
                *sum += weight * both.map(|(p, score)| p * (score - mean) * (score - mean)).sum::<f64>();
            }
        }
        sums
    }

    fn weight_of(&self, document: usize) -> f64 {
        self.weights.get(document).copied().unwrap_or(1.0)
    }

    fn lanes<'a>(&'a self, block: &'a Block) -> Lanes<'a> {
        Lanes { block, table: &self.table, width: self.width }
    }

    fn labels_of(&self, block: &Block) -> impl Iterator<Item = usize> {
        self.labels[block.documents.clone()].iter().map(|&label| label as usize)
    }

    /// Turn scores into residuals, the posterior less one for the label; the loss, and the sums of the residuals.
    fn residuals(&self, block: &Block, bias: &[f64], scores: &mut [f32]) -> (f64, Vec<f64>) {
        let (mut loss, mut sums) = (0.0, vec![0.0; self.classes]);
        let mut posterior = vec![0.0; self.classes];
        let rows = scores.chunks_exact_mut(self.width).zip(self.labels_of(block));
        for ((row, label), document) in rows.zip(block.documents.clone()) {
            let weight = self.weight_of(document);
            loss += weight * self.posterior(row, bias, label, &mut posterior);
            posterior[label] -= 1.0;
            posterior.iter_mut().for_each(|residual| *residual *= weight);
            sums.iter_mut().zip(&posterior).for_each(|(sum, residual)| *sum += residual);
            let kept = &posterior[if self.classes == 2 { 1 } else { 0 }..];
            row.iter_mut().zip(kept).for_each(|(score, &residual)| *score = flushed(residual));
        }
        (loss, sums)
    }

    /// The probabilities of the classes; returns the log loss of the label.
    fn posterior(&self, row: &[f32], bias: &[f64], label: usize, posterior: &mut [f64]) -> f64 {
        posterior.copy_from_slice(bias);
        let first = if self.classes == 2 { 1 } else { 0 };
        posterior[first..].iter_mut().zip(row).for_each(|(p, &score)| *p += f64::from(score));
        softmax(posterior, label)
    }

    /// The gradient of the weight of each of a block's terms.
    fn gradient(&self, block: &Block, residuals: &[f32]) -> Vec<f32> {
        if self.classes == 2 {
            return block.gather(&block.values, residuals);
        }
        let rows = residuals.chunks_exact(self.width).zip(self.labels_of(block));
        let own: Vec<f32> = rows.map(|(row, label)| row[label]).collect();
        let mut gradient = block.gather(&block.own, &own);
        self.lanes(block).gather::<1>(residuals, false, &mut gradient);
        for other in &block.others {
            let cell = other.document as usize * self.width + other.class as usize;
            gradient[other.term as usize] += residuals[cell] * other.value;
        }
        gradient
    }
}

/// A residual as float32, 0 if it is next to nothing: with numbers below 1e-38 processors take a hundred times longer.
fn flushed(residual: f64) -> f32 {
    if residual.abs() < 1e-12 { 0.0 } else { residual as f32 }
}

/// Turn scores into probabilities; the log loss of the label.
pub fn softmax(scores: &mut [f64], label: usize) -> f64 {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let of_label = scores[label] - highest;
    let mut total = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - highest).exp();
        total += *score;
    }
    scores.iter_mut().for_each(|score| *score /= total);
    total.ln() - of_label
}

impl Features {
    /// The diagonal of the Hessian of the summed loss at these weights; for many classes the variance is pooled
    /// over the documents and the parts of the own class are left out: a scale of the steps needs no more.
    pub fn curvature(&self, weights: &[f64], bias: &[f64], threads: usize) -> Vec<f64> {
        let sums = in_order(&self.blocks, threads, |block| {
            let scores = self.scores(block, |term| weights[term as usize] as f32);
            let dense = self.dense_curvature(block, bias, &scores);
            (self.curvature_of(block, bias, scores), dense)
        });
        let mut dense = vec![0.0; self.dense_views];
        let mut totals = vec![[0.0; 3]; self.terms];
        for (block, (sums, of_dense)) in self.blocks.iter().zip(sums) {
            dense.iter_mut().zip(of_dense).for_each(|(sum, more)| *sum += more);
            for (i, sums) in sums.iter().enumerate() {
                for (&term, &sum) in block.terms.iter().zip(sums) {
                    totals[term as usize][i] += f64::from(sum);
                }
            }
        }
        let curvature = |[second, first, total]: [f64; 3]| {
            let mean = if total > 0.0 { first * first / total } else { 0.0 };
            (second - mean).max(0.0)
        };
        totals.into_iter().map(curvature).chain(dense).collect()
    }

    /// Of each term the sums of value^2 times the mean of the squared row, times the mean of the row, and of value^2;
    /// the means are those of the posterior. Of two classes the first sum is all.
    fn curvature_of(&self, block: &Block, bias: &[f64], mut scores: Vec<f32>) -> [Vec<f32>; 3] {
        let mut posterior = vec![0.0; self.classes];
        for (row, document) in scores.chunks_exact_mut(self.width).zip(block.documents.clone()) {
            self.posterior(row, bias, 0, &mut posterior);
            let weight = self.weight_of(document);
            posterior.iter_mut().for_each(|p| *p *= weight);
            if self.classes == 2 {
                row[0] = (posterior[0] * posterior[1] / weight.max(1e-300)) as f32;
            } else {
                row.iter_mut().zip(&posterior).for_each(|(score, &p)| *score = flushed(p));
            }
        }
        let squares: Vec<f32> = block.values.iter().map(|value| value * value).collect();
        if self.classes == 2 {
            return [block.gather(&squares, &scores), Vec::new(), Vec::new()];
        }
        let (mut second, mut first) = (vec![0.0; block.terms.len()], vec![0.0; block.terms.len()]);
        self.lanes(block).gather::<2>(&scores, true, &mut second);
        self.lanes(block).gather::<2>(&scores, false, &mut first);
        [second, first, block.gather(&squares, &vec![1.0; block.documents.len()])]
    }

    /// For each document and each group of terms the scores of the classes, if every term had the weight 1.
    pub fn group_scores(&self, group: &[u8], groups: usize, threads: usize) -> Vec<f64> {
        let parts = in_order(&self.blocks, threads, |block| {
            let mut rows = vec![0.0; block.documents.len() * groups * self.classes];
            for i in 0..groups {
                let scores =
                    self.scores(block, |term| if group[term as usize] as usize == i { 1.0 } else { 0.0 });
                let each = rows.chunks_exact_mut(groups * self.classes).zip(scores.chunks_exact(self.width));
                for (row, scores) in each {
                    self.write_scores(scores, &mut row[i * self.classes..][..self.classes]);
                }
            }
            rows
        });
        parts.concat()
    }

    fn write_scores(&self, scores: &[f32], row: &mut [f64]) {
        if self.classes == 2 {
            row[0] = -f64::from(scores[0]) / 2.0;
            row[1] = -row[0];
        } else {
            row.iter_mut().zip(scores).for_each(|(cell, &score)| *cell = f64::from(score));
        }
    }

    /// Documents x classes: the scores with these weights.
    pub fn all_scores(&self, weights: &[f64], threads: usize) -> Vec<f64> {
        let parts = in_order(&self.blocks, threads, |block| {
            let scores = self.scores(block, |term| weights[term as usize] as f32);
            let mut rows = vec![0.0; block.documents.len() * self.classes];
            for (row, scores) in rows.chunks_exact_mut(self.classes).zip(scores.chunks_exact(self.width)) {
                self.write_scores(scores, row);
            }
            rows
        });
        parts.concat()
    }

    /// The mean log loss of these weights.
    pub fn loss(&self, weights: &[f64], bias: &[f64], threads: usize) -> f64 {
        let sums = in_order(&self.blocks, threads, |block| {
            let mut scores = self.scores(block, |term| weights[term as usize] as f32);
            self.residuals(block, bias, &mut scores).0
        });
        sums.into_iter().sum::<f64>() / self.documents().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::bags::Rows;
    use crate::tune::features::Beside;
    use crate::tune::together::Counted;

    fn features(classes: usize, threads: usize) -> Features {
        let rows = Rows::some();
        let labels = [0, 1, 0, 1, 0];
        let documents = [0, 1, 2, 3, 4];
        let place = [0, 1, 2, 3];
        let counts = rows.counts(&documents, &labels, classes, &place, 4);
        let view = Counted { rows: &rows, place: &place, counts: &counts, alpha: 0.5 };
        Features::new(&[view], &documents, &labels, Beside::default(), classes, true, threads)
            .unwrap_or_else(|_| unreachable!())
    }

    #[test]
    fn the_slope_is_the_change_of_the_loss() {
        for classes in [2, 3, 11] {
            let features = features(classes, 1);
            let (weights, bias) = (vec![0.5, 1.0, -0.2, 0.7], vec![0.1; classes]);
            let slope = features.slope(&weights, &bias, 1);
            for term in 0..4 {
                let moved = |by: f64| {
                    let mut weights = weights.clone();
                    weights[term] += by;
                    features.loss(&weights, &bias, 1)
                };
                let change = (moved(0.01) - moved(-0.01)) / 0.02;
                assert!((change - slope.weights[term]).abs() < 1e-4, "{classes} {term} {change}");
            }
        }
    }

    #[test]
    fn threads_do_not_change_the_slope() {
        for classes in [2, 3] {
            let slope = |threads: usize| {
                let slope =
                    features(classes, threads).slope(&[0.5, 1.0, -0.2, 0.7], &vec![0.0; classes], threads);
                (slope.loss.to_bits(), slope.weights, slope.bias)
            };
            assert_eq!(slope(1), slope(2));
            assert_eq!(slope(1), slope(4));
        }
    }
}
