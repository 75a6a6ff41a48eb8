//! The loss, gradient and curvature of a weight for each term. Features are float32, sums over documents float64.

use std::ops::Range;
use std::sync::PoisonError;

use crate::bags::in_threads;
use crate::features::{BLOCKS, Features, LANES};
use crate::lexicon::prefetch;

/// How many terms ahead their rows are fetched from memory.
const AHEAD: usize = 8;

/// What one block of documents adds: its loss, the gradient of the biases, and in a buffer that of the weights.
struct Sums {
    loss: f64,
    bias: Vec<f64>,
    weights: Vec<[f32; 2]>,
}

/// The mean loss and its gradient.
pub struct Slope {
    pub loss: f64,
    pub weights: Vec<f64>,
    pub bias: Vec<f64>,
}

impl Features {
    /// The mean log loss of these weights, and its gradient.
    pub fn slope(&self, weights: &[f64], bias: &[f64], threads: usize) -> Slope {
        let sums = self.by_block(threads, |block| {
            let mut buffer = self.buffer();
            buffer.clear();
            buffer.extend(weights.iter().map(|&weight| [weight as f32, 0.0]));
            let mut sums = Sums { loss: 0.0, bias: vec![0.0; self.classes], weights: buffer };
            self.add_slope(block.clone(), bias, &mut sums);
            sums
        });
        let mean = 1.0 / self.documents().max(1) as f64;
        let mut slope = Slope { loss: 0.0, weights: vec![0.0; self.terms], bias: vec![0.0; self.classes] };
        let mut buffers = Vec::new();
        for block in sums {
            slope.loss += block.loss * mean;
            slope.bias.iter_mut().zip(&block.bias).for_each(|(sum, more)| *sum += more * mean);
            buffers.push(block.weights);
        }
        for (i, sum) in slope.weights.iter_mut().enumerate() {
            *sum = buffers.iter().map(|buffer| f64::from(buffer[i][1])).sum::<f64>() * mean;
        }
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).append(&mut buffers);
        slope
    }

    fn buffer(&self) -> Vec<[f32; 2]> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Work on the blocks with so many threads; the results are in the order of the blocks.
    fn by_block<T: Send>(&self, threads: usize, work: impl Fn(&Range<usize>) -> T + Sync) -> Vec<T> {
        let size = BLOCKS.div_ceil(threads.clamp(1, BLOCKS));
        let pieces: Vec<&[Range<usize>]> = self.blocks.chunks(size).collect();
        let results = in_threads(&pieces, |blocks| blocks.iter().map(&work).collect::<Vec<T>>());
        results.into_iter().flatten().collect()
    }

    fn add_slope(&self, documents: Range<usize>, bias: &[f64], sums: &mut Sums) {
        if self.classes == 2 {
            return self.add_slope_of_two(documents, bias, sums);
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just said that it knows these instructions.
            return unsafe { self.add_slope_avx2(documents, bias, sums) };
        }
        self.add_slope_of_many(documents, bias, sums);
    }

    fn add_slope_of_two(&self, documents: Range<usize>, bias: &[f64], sums: &mut Sums) {
        for document in documents {
            let range = self.range(document);
            let (terms, values) = (&self.term[range.clone()], &self.values[range]);
            let mut score = bias[1] - bias[0];
            for (&term, &value) in terms.iter().zip(values) {
                score += f64::from(value * sums.weights[term as usize][0]);
            }
            let second = self.labels[document] == 1;
            let (loss, residual) = logistic(score, second);
            sums.loss += loss;
            sums.bias[1] += residual;
            sums.bias[0] -= residual;
            let residual = flushed(residual);
            for (&term, &value) in terms.iter().zip(values) {
                sums.weights[term as usize][1] += residual * value;
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_slope_avx2(&self, documents: Range<usize>, bias: &[f64], sums: &mut Sums) {
        self.add_slope_of_many(documents, bias, sums);
    }

    #[inline(always)]
    fn add_slope_of_many(&self, documents: Range<usize>, bias: &[f64], sums: &mut Sums) {
        let mut scores = vec![0.0f32; self.width];
        let mut posterior = vec![0.0; self.classes];
        for document in documents {
            let label = self.labels[document] as usize;
            self.add_scores(document, |term| sums.weights[term as usize][0], &mut scores);
            posterior.iter_mut().zip(&scores).zip(bias).for_each(|((p, &s), b)| *p = f64::from(s) + b);
            sums.loss += softmax(&mut posterior, label);
            posterior[label] -= 1.0;
            sums.bias.iter_mut().zip(&posterior).for_each(|(sum, residual)| *sum += residual);
            scores.iter_mut().zip(&posterior).for_each(|(s, &residual)| *s = flushed(residual));
            for at in self.range(document) {
                let term = self.term[at] as usize;
                let along = dot(self.row(term), &scores);
                sums.weights[term][1] += self.values[at] * along + self.own[at] * scores[label];
            }
        }
    }

    /// Ask the memory for a row that is needed soon.
    #[inline(always)]
    fn fetch(&self, term: usize) {
        for at in (0..self.width).step_by(16) {
            prefetch(&self.table, term * self.width + at);
        }
    }

    #[inline(always)]
    fn row(&self, term: usize) -> &[f32] {
        &self.table[term * self.width..(term + 1) * self.width]
    }

    /// The scores of a document of many classes, without the bias.
    #[inline(always)]
    fn add_scores(&self, document: usize, weight: impl Fn(u32) -> f32, scores: &mut [f32]) {
        scores.fill(0.0);
        let mut own = 0.0;
        let range = self.range(document);
        let terms = &self.term[range.clone()];
        let (values, owns) = (&self.values[range.clone()], &self.own[range]);
        for (i, ((&term, value), own_value)) in terms.iter().zip(values).zip(owns).enumerate() {
            if let Some(&ahead) = terms.get(i + AHEAD) {
                self.fetch(ahead as usize);
            }
            let weight = weight(term);
            let factor = weight * value;
            let (rows, _) = self.row(term as usize).as_chunks::<LANES>();
            let (chunks, _) = scores.as_chunks_mut::<LANES>();
            for (chunk, row) in chunks.iter_mut().zip(rows) {
                for lane in 0..LANES {
                    chunk[lane] += factor * row[lane];
                }
            }
            own += weight * own_value;
        }
        scores[self.labels[document] as usize] += own;
    }
}

/// A residual as float32, 0 if it is next to nothing: with numbers below 1e-38 processors take a hundred times longer.
fn flushed(residual: f64) -> f32 {
    if residual.abs() < 1e-12 { 0.0 } else { residual as f32 }
}

/// Eight lanes, so that every processor adds in the same order.
#[inline(always)]
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let ((left, _), (right, _)) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (left, right) in left.iter().zip(right) {
        for lane in 0..LANES {
            lanes[lane] += left[lane] * right[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The log loss of a score in favor of the second class, and its derivative.
fn logistic(score: f64, second: bool) -> (f64, f64) {
    let margin = if second { score } else { -score };
    let small = (-margin.abs()).exp();
    let loss = small.ln_1p() + (-margin).max(0.0);
    let wrong = if margin > 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) };
    (loss, if second { -wrong } else { wrong })
}

/// Turn scores into probabilities; the log loss of the label.
fn softmax(scores: &mut [f64], label: usize) -> f64 {
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
        let sums = self.by_block(threads, |block| {
            let mut sums = vec![[0.0f32; 3]; self.terms];
            for document in block.clone() {
                self.add_curvature(document, weights, bias, &mut sums);
            }
            sums
        });
        (0..self.terms)
            .map(|term| {
                let of = |i: usize| sums.iter().map(|sums| f64::from(sums[term][i])).sum::<f64>();
                if self.classes == 2 {
                    return of(0);
                }
                let (second, first, total) = (of(0), of(1), of(2));
                if total > 0.0 { (second - first * first / total).max(0.0) } else { 0.0 }
            })
            .collect()
    }

    fn add_curvature(&self, document: usize, weights: &[f64], bias: &[f64], sums: &mut [[f32; 3]]) {
        let posterior = self.posterior(document, weights, bias);
        for at in self.range(document) {
            let sums = &mut sums[self.term[at] as usize];
            let squared = self.values[at] * self.values[at];
            if self.classes == 2 {
                sums[0] += squared * (posterior[0] * posterior[1]) as f32;
                continue;
            }
            let (mut first, mut second) = (0.0, 0.0);
            for (&log, &p) in self.row(self.term[at] as usize).iter().zip(&posterior) {
                first += p as f32 * log;
                second += p as f32 * log * log;
            }
            sums[0] += squared * second;
            sums[1] += squared * first;
            sums[2] += squared;
        }
    }

    fn posterior(&self, document: usize, weights: &[f64], bias: &[f64]) -> Vec<f64> {
        let mut scores: Vec<f64> = bias.to_vec();
        let mut added = vec![0.0; self.classes];
        self.add_group_scores(document, |term| weights[term as usize], &mut added);
        scores.iter_mut().zip(&added).for_each(|(score, more)| *score += more);
        softmax(&mut scores, 0);
        scores
    }

    fn add_group_scores(&self, document: usize, weight: impl Fn(u32) -> f64, scores: &mut [f64]) {
        let label = self.labels[document] as usize;
        for at in self.range(document) {
            let weight = weight(self.term[at]);
            if weight == 0.0 {
                continue;
            }
            let factor = weight * f64::from(self.values[at]);
            if self.classes == 2 {
                scores[0] -= factor / 2.0;
                scores[1] += factor / 2.0;
                continue;
            }
            let row = self.row(self.term[at] as usize);
            scores.iter_mut().zip(row).for_each(|(score, &log)| *score += factor * f64::from(log));
            scores[label] += weight * f64::from(self.own[at]);
        }
    }

    /// For each document and each group of terms the scores of the classes, if every term had the weight 1.
    pub fn group_scores(&self, group: &[u8], groups: usize, threads: usize) -> Vec<f64> {
        let parts = self.by_block(threads, |block| {
            let mut scores = vec![0.0; block.len() * groups * self.classes];
            for (document, rows) in block.clone().zip(scores.chunks_exact_mut(groups * self.classes)) {
                for (i, row) in rows.chunks_exact_mut(self.classes).enumerate() {
                    let weight = |term: u32| if group[term as usize] as usize == i { 1.0 } else { 0.0 };
                    self.add_group_scores(document, weight, row);
                }
            }
            scores
        });
        parts.concat()
    }

    /// The mean log loss of these weights.
    pub fn loss(&self, weights: &[f64], bias: &[f64], threads: usize) -> f64 {
        let sums = self.by_block(threads, |block| {
            let loss = |document: usize| {
                let posterior = self.posterior(document, weights, bias);
                -posterior[self.labels[document] as usize].max(f64::MIN_POSITIVE).ln()
            };
            block.clone().map(loss).sum::<f64>()
        });
        sums.into_iter().sum::<f64>() / self.documents().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bags::Rows;
    use crate::features::Counted;

    fn features(classes: usize, threads: usize) -> Features {
        let rows = Rows {
            ends: vec![3, 5, 5, 9, 11],
            terms: vec![0, 1, 2, 0, 3, 0, 1, 2, 3, 1, 2],
            times: vec![1, 2, 1, 3, 1, 1, 1, 5, 1, 1, 9],
            lengths: vec![4, 4, 0, 8, 10],
        };
        let labels = [0, 1, 0, 1, 0];
        let documents = [0, 1, 2, 3, 4];
        let place = [0, 1, 2, 3];
        let counts = rows.counts(&documents, &labels, classes, &place, 4);
        let view = Counted { rows: &rows, place: &place, counts: &counts, alpha: 0.5 };
        Features::new(&[view], &documents, &labels, classes, true, threads).unwrap_or_else(|_| unreachable!())
    }

    #[test]
    fn every_processor_adds_in_the_same_order() {
        for classes in [3, 8, 11] {
            let features = features(classes, 1);
            let weights: Vec<[f32; 2]> = (0..4).map(|i| [0.3 + i as f32 / 7.0, 0.0]).collect();
            let bias = vec![0.1; classes];
            let sums = || Sums { loss: 0.0, bias: vec![0.0; classes], weights: weights.clone() };
            let (mut portable, mut chosen) = (sums(), sums());
            features.add_slope_of_many(0..5, &bias, &mut portable);
            features.add_slope(0..5, &bias, &mut chosen);
            assert_eq!(portable.loss.to_bits(), chosen.loss.to_bits());
            assert_eq!(portable.weights, chosen.weights);
            assert_eq!(portable.bias, chosen.bias);
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
