//! Scores to probabilities. Here and nowhere else, so that one document and a million get the same bits.

/// Scores of one document as log probabilities. Beside a score of -1e16 the logarithm of 2 is lost; it is not beside
/// the differences of the scores.
pub fn log_softmax(scores: &mut [f64]) {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let highest = if highest.is_finite() { highest } else { 0.0 };
    scores.iter_mut().for_each(|score| *score -= highest);
    let log = scores.iter().map(|score| score.exp()).sum::<f64>().ln();
    scores.iter_mut().for_each(|score| *score -= log);
}
