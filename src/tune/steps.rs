//! Weights that terms share: the loss of one weight for each step and a bias for each class, its gradient, and how
//! curved it is. The scores of a document are read from memory once for all of that.

use crate::threads::in_order;
use crate::tune::loss::softmax;

/// So many documents are added up at a time: sums are the same on any number of threads.
const PIECE: usize = 32;
const LANES: usize = 8;

/// What the terms of each step say of each class, for each document; the classes of the documents, and how much each
/// counts.
pub struct Steps<'a, T> {
    pub scores: &'a [T],
    pub labels: &'a [u32],
    pub weights: &'a [f64],
    pub steps: usize,
    pub classes: usize,
}

/// The summed loss, and its gradient in the weights of steps and in the biases.
pub struct Sums {
    pub loss: f64,
    pub steps: Vec<f64>,
    pub bias: Vec<f64>,
}

impl<T: Copy + Into<f64> + Sync> Steps<'_, T> {
    /// The summed log loss, and its gradient.
    pub fn slope(&self, at: &[f64], bias: &[f64], threads: usize) -> Sums {
        let pieces: Vec<usize> = (0..self.labels.len()).step_by(PIECE).collect();
        let parts = in_order(&pieces, threads, |&start| self.piece(start, at, bias));
        let mut sums = Sums { loss: 0.0, steps: vec![0.0; self.steps], bias: vec![0.0; self.classes] };
        for part in parts {
            sums.loss += part.loss;
            sums.steps.iter_mut().zip(part.steps).for_each(|(sum, more)| *sum += more);
            sums.bias.iter_mut().zip(part.bias).for_each(|(sum, more)| *sum += more);
        }
        sums
    }

    fn piece(&self, start: usize, at: &[f64], bias: &[f64]) -> Sums {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just said that it knows these instructions.
            return unsafe { self.piece_avx2(start, at, bias) };
        }
        self.piece_anywhere(start, at, bias)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn piece_avx2(&self, start: usize, at: &[f64], bias: &[f64]) -> Sums {
        self.piece_anywhere(start, at, bias)
    }

    #[inline(always)]
    fn piece_anywhere(&self, start: usize, at: &[f64], bias: &[f64]) -> Sums {
        let mut sums = Sums { loss: 0.0, steps: vec![0.0; self.steps], bias: vec![0.0; self.classes] };
        let mut chances = vec![0.0; self.classes];
        for document in start..(start + PIECE).min(self.labels.len()) {
            let (label, counts) = (self.labels[document] as usize, self.weights[document]);
            sums.loss += counts * self.chances(document, at, bias, &mut chances);
            chances[label] -= 1.0;
            for (sum, row) in sums.steps.iter_mut().zip(self.rows(document)) {
                *sum += counts * dot(row, &chances);
            }
            sums.bias.iter_mut().zip(&chances).for_each(|(sum, chance)| *sum += counts * chance);
        }
        sums
    }

    #[inline(always)]
    fn rows(&self, document: usize) -> std::slice::ChunksExact<'_, T> {
        let size = self.steps * self.classes;
        self.scores[document * size..][..size].chunks_exact(self.classes)
    }

    /// The posterior of a document; the log loss of its label.
    #[inline(always)]
    fn chances(&self, document: usize, at: &[f64], bias: &[f64], chances: &mut [f64]) -> f64 {
        chances.copy_from_slice(bias);
        for (row, &weight) in self.rows(document).zip(at) {
            chances.iter_mut().zip(row).for_each(|(sum, &score)| *sum += weight * score.into());
        }
        softmax(chances, self.labels[document] as usize)
    }

    /// The Hessian of the summed loss in the weights of steps, and its diagonal in the biases.
    pub fn curvature(&self, at: &[f64], bias: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut bends, mut of_bias) = (vec![0.0; self.steps * self.steps], vec![0.0; self.classes]);
        let (mut chances, mut off) = (vec![0.0; self.classes], vec![0.0; self.steps * self.classes]);
        for document in 0..self.labels.len() {
            let counts = self.weights[document];
            self.chances(document, at, bias, &mut chances);
            for (off, row) in off.chunks_exact_mut(self.classes).zip(self.rows(document)) {
                let mean = dot(row, &chances);
                off.iter_mut().zip(row).for_each(|(off, &score)| *off = score.into() - mean);
            }
            for (i, row) in off.chunks_exact(self.classes).enumerate() {
                let weighed: Vec<f64> = row.iter().zip(&chances).map(|(off, chance)| off * chance).collect();
                for (j, other) in off.chunks_exact(self.classes).enumerate().take(i + 1) {
                    bends[i * self.steps + j] += counts * dot(&weighed, other);
                }
            }
            let bias = of_bias.iter_mut().zip(&chances);
            bias.for_each(|(sum, chance)| *sum += counts * chance * (1.0 - chance));
        }
        for i in 0..self.steps {
            (0..i).for_each(|j| bends[j * self.steps + i] = bends[i * self.steps + j]);
        }
        (bends, of_bias)
    }
}

/// Always eight lanes, so that every processor adds in the same order.
#[inline(always)]
fn dot<T: Copy + Into<f64>>(row: &[T], others: &[f64]) -> f64 {
    let (rows, row_rest) = row.as_chunks::<LANES>();
    let (those, other_rest) = others.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (row, others) in rows.iter().zip(those) {
        for lane in 0..LANES {
            lanes[lane] += row[lane].into() * others[lane];
        }
    }
    let rest: f64 = row_rest.iter().zip(other_rest).map(|(&score, other)| score.into() * other).sum();
    let [a, b, c, d, e, f, g, h] = lanes;
    (((a + e) + (c + g)) + ((b + f) + (d + h))) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: usize = 70 * 3 * 11;

    fn with<R>(check: impl FnOnce(&Steps<f64>, &Steps<f32>, &[f64], &[f64]) -> R) -> R {
        let rounded: Vec<f32> = (0..SCORES).map(|i| (i as f32 * 0.37).sin() * 4.0).collect();
        let scores: Vec<f64> = rounded.iter().map(|&score| f64::from(score)).collect();
        let labels: Vec<u32> = (0..70).map(|i| i * 7 % 11).collect();
        let weights: Vec<f64> = (0..70).map(|i| f64::from(i % 3)).collect();
        let exact = Steps { scores: &scores, labels: &labels, weights: &weights, steps: 3, classes: 11 };
        let short = Steps { scores: &rounded, labels: &labels, weights: &weights, steps: 3, classes: 11 };
        let bias: Vec<f64> = (0..11).map(|i| f64::from(i) * 0.1 - 0.4).collect();
        check(&exact, &short, &[0.5, 0.0, 1.5], &bias)
    }

    #[test]
    fn the_slope_is_the_change_of_the_loss_and_the_curvature_that_of_the_slope() {
        with(|steps, _, at, bias| {
            let (sums, (bends, of_bias)) = (steps.slope(at, bias, 1), steps.curvature(at, bias));
            for i in 0..14 {
                let moved = |by: f64| {
                    let (mut at, mut bias) = (at.to_vec(), bias.to_vec());
                    *(if i < 3 { &mut at[i] } else { &mut bias[i - 3] }) += by;
                    steps.slope(&at, &bias, 1)
                };
                let (more, less) = (moved(1e-5), moved(-1e-5));
                let slope = if i < 3 { sums.steps[i] } else { sums.bias[i - 3] };
                assert!(((more.loss - less.loss) / 2e-5 - slope).abs() < 1e-5, "{i} {slope}");
                if i < 3 {
                    for j in 0..3 {
                        let bend = (more.steps[j] - less.steps[j]) / 2e-5;
                        assert!((bend - bends[i * 3 + j]).abs() < 1e-5, "{i} {j} {bend}");
                    }
                } else {
                    let bend = (more.bias[i - 3] - less.bias[i - 3]) / 2e-5;
                    assert!((bend - of_bias[i - 3]).abs() < 1e-5, "{i} {bend}");
                }
            }
        });
    }

    #[test]
    fn threads_processors_and_short_scores_leave_no_trace() {
        with(|steps, short, at, bias| {
            let one = steps.slope(at, bias, 1);
            for other in [steps.slope(at, bias, 3), short.slope(at, bias, 2)] {
                assert_eq!((one.loss, &one.steps, &one.bias), (other.loss, &other.steps, &other.bias));
            }
            let (plain, chosen) = (steps.piece_anywhere(32, at, bias), steps.piece(32, at, bias));
            assert_eq!((plain.loss, plain.steps, plain.bias), (chosen.loss, chosen.steps, chosen.bias));
        });
    }
}
