//! A weight for each term and class, beside scores that are known: the loss, and its gradient.

use crate::tune::loss::softmax;

/// Documents as rows of terms and values, what is known of their classes, and how much each counts.
pub struct ByClass {
    pub ends: Vec<usize>,
    pub terms: Vec<u32>,
    pub values: Vec<f32>,
    pub labels: Vec<u32>,
    /// Empty if all count alike.
    pub weights: Vec<f64>,
    /// The known scores, one row a document.
    pub known: Vec<f64>,
    pub classes: usize,
}

impl ByClass {
    fn entries(&self, document: usize) -> impl Iterator<Item = (usize, f64)> {
        let start = document.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start..self.ends[document];
        let both = self.terms[range.clone()].iter().zip(&self.values[range]);
        both.map(|(&term, &value)| (term as usize * self.classes, f64::from(value)))
    }

    /// Whether the arrays fit each other, for so many documents and terms.
    pub fn is_whole(&self, documents: usize, terms: usize) -> bool {
        self.ends.len() == documents
            && self.labels.len() == documents
            && (self.weights.is_empty() || self.weights.len() == documents)
            && self.labels.iter().all(|&label| (label as usize) < self.classes)
            && self.ends.is_sorted()
            && self.ends.last().copied().unwrap_or(0) == self.terms.len()
            && self.values.len() == self.terms.len()
            && self.terms.iter().all(|&term| (term as usize) < terms)
    }

    /// The scores of a document, with these weights.
    fn add(&self, document: usize, weights: &[f64], scores: &mut [f64]) {
        scores.copy_from_slice(&self.known[document * self.classes..][..self.classes]);
        for (row, value) in self.entries(document) {
            let row = &weights[row..row + self.classes];
            scores.iter_mut().zip(row).for_each(|(score, weight)| *score += value * weight);
        }
    }

    /// The summed log loss, and its gradient in the weights.
    pub fn slope(&self, weights: &[f64]) -> (f64, Vec<f64>) {
        let (mut loss, mut slope) = (0.0, vec![0.0; weights.len()]);
        let mut scores = vec![0.0; self.classes];
        for (document, &label) in self.labels.iter().enumerate() {
            self.add(document, weights, &mut scores);
            let counts = self.weights.get(document).copied().unwrap_or(1.0);
            loss += counts * softmax(&mut scores, label as usize);
            scores[label as usize] -= 1.0;
            for (row, value) in self.entries(document) {
                let row = &mut slope[row..row + self.classes];
                row.iter_mut().zip(&scores).for_each(|(sum, residual)| *sum += counts * value * residual);
            }
        }
        (loss, slope)
    }

    /// The summed log loss.
    pub fn loss(&self, weights: &[f64]) -> f64 {
        let mut scores = vec![0.0; self.classes];
        let of = |(document, &label): (usize, &u32)| {
            self.add(document, weights, &mut scores);
            self.weights.get(document).copied().unwrap_or(1.0) * softmax(&mut scores, label as usize)
        };
        self.labels.iter().enumerate().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_the_change_of_the_loss() {
        let documents = ByClass {
            ends: vec![2, 2, 5],
            terms: vec![0, 1, 1, 2, 0],
            values: vec![0.5, 1.0, 0.3, 0.9, 0.2],
            labels: vec![0, 2, 1],
            weights: vec![1.0, 2.0, 0.5],
            known: vec![0.1, 0.2, -0.3, 0.0, 0.0, 0.0, 1.0, -1.0, 0.5],
            classes: 3,
        };
        let weights: Vec<f64> = (0..9).map(|i| f64::from(i % 4) / 3.0 - 0.5).collect();
        let (loss, slope) = documents.slope(&weights);
        assert!((loss - documents.loss(&weights)).abs() < 1e-12);
        for i in 0..9 {
            let moved = |by: f64| {
                let mut weights = weights.clone();
                weights[i] += by;
                documents.loss(&weights)
            };
            let change = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            assert!((change - slope[i]).abs() < 1e-6, "{i} {change} {}", slope[i]);
        }
    }
}
