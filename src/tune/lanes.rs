//! Sums over the entries of a block for many classes, term by term, with a term's row in registers.

use crate::tune::features::{Block, LANES};

/// So many groups of lanes fit into registers; wider rows are worked on in tiles.
const TILE: usize = 4;

/// A block of documents and the table of its terms, `width` lanes a row.
pub struct Lanes<'a> {
    pub block: &'a Block,
    pub table: &'a [f32],
    pub width: usize,
}

impl Lanes<'_> {
    /// Add weight * value * row of every entry to the scores of its document; one weight for each of the block's terms.
    pub fn add_scores(&self, weights: &[f32], scores: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just said that it knows these instructions.
            return unsafe { self.add_scores_avx2(weights, scores) };
        }
        self.add_scores_anywhere(weights, scores);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_scores_avx2(&self, weights: &[f32], scores: &mut [f32]) {
        self.add_scores_anywhere(weights, scores);
    }

    #[inline(always)]
    fn add_scores_anywhere(&self, weights: &[f32], scores: &mut [f32]) {
        for from in (0..self.width).step_by(TILE * LANES) {
            match (self.width - from) / LANES {
                1 => self.add_tile::<1>(from, weights, scores),
                2 => self.add_tile::<2>(from, weights, scores),
                3 => self.add_tile::<3>(from, weights, scores),
                _ => self.add_tile::<TILE>(from, weights, scores),
            }
        }
    }

    #[inline(always)]
    fn add_tile<const N: usize>(&self, from: usize, weights: &[f32], scores: &mut [f32]) {
        for ((term, entries), &weight) in self.block.entries().zip(weights) {
            if weight == 0.0 {
                continue;
            }
            let mut row = self.row::<N>(term, from);
            row.as_flattened_mut().iter_mut().for_each(|cell| *cell *= weight);
            let documents = &self.block.document[entries.clone()];
            for (&document, &value) in documents.iter().zip(&self.block.values[entries]) {
                let start = document as usize * self.width + from;
                let (chunks, _) = scores[start..start + N * LANES].as_chunks_mut::<LANES>();
                for (chunk, row) in chunks.iter_mut().zip(&row) {
                    for lane in 0..LANES {
                        chunk[lane] += value * row[lane];
                    }
                }
            }
        }
    }

    /// Add to the sum of each term value^POWER * (row . residuals of the document) of all its entries; the row may be
    /// squared, number by number.
    pub fn gather<const POWER: usize>(&self, residuals: &[f32], squared: bool, sums: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just said that it knows these instructions.
            return unsafe { self.gather_avx2::<POWER>(residuals, squared, sums) };
        }
        self.gather_anywhere::<POWER>(residuals, squared, sums);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn gather_avx2<const POWER: usize>(&self, residuals: &[f32], squared: bool, sums: &mut [f32]) {
        self.gather_anywhere::<POWER>(residuals, squared, sums);
    }

    #[inline(always)]
    fn gather_anywhere<const POWER: usize>(&self, residuals: &[f32], squared: bool, sums: &mut [f32]) {
        for from in (0..self.width).step_by(TILE * LANES) {
            match (self.width - from) / LANES {
                1 => self.gather_tile::<1, POWER>(from, residuals, squared, sums),
                2 => self.gather_tile::<2, POWER>(from, residuals, squared, sums),
                3 => self.gather_tile::<3, POWER>(from, residuals, squared, sums),
                _ => self.gather_tile::<TILE, POWER>(from, residuals, squared, sums),
            }
        }
    }

    #[inline(always)]
    fn gather_tile<const N: usize, const POWER: usize>(
        &self,
        from: usize,
        residuals: &[f32],
        squared: bool,
        sums: &mut [f32],
    ) {
        for ((term, entries), sum) in self.block.entries().zip(sums) {
            let mut along = [[0.0; LANES]; N];
            let documents = &self.block.document[entries.clone()];
            for (&document, &value) in documents.iter().zip(&self.block.values[entries]) {
                let value = if POWER == 2 { value * value } else { value };
                let start = document as usize * self.width + from;
                let (chunks, _) = residuals[start..start + N * LANES].as_chunks::<LANES>();
                for (along, chunk) in along.iter_mut().zip(chunks) {
                    for lane in 0..LANES {
                        along[lane] += value * chunk[lane];
                    }
                }
            }
            let mut row = self.row::<N>(term, from);
            if squared {
                row.as_flattened_mut().iter_mut().for_each(|cell| *cell *= *cell);
            }
            *sum += dot(&row, &along);
        }
    }

    #[inline(always)]
    fn row<const N: usize>(&self, term: u32, from: usize) -> [[f32; LANES]; N] {
        let mut row = [[0.0; LANES]; N];
        let start = term as usize * self.width + from;
        row.as_flattened_mut().copy_from_slice(&self.table[start..start + N * LANES]);
        row
    }
}

/// Eight lanes, so that every processor adds in the same order.
#[inline(always)]
fn dot<const N: usize>(left: &[[f32; LANES]; N], right: &[[f32; LANES]; N]) -> f32 {
    let mut lanes = [0.0; LANES];
    for (left, right) in left.iter().zip(right) {
        for lane in 0..LANES {
            lanes[lane] += left[lane] * right[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_adds_in_the_same_order() {
        let block = Block {
            documents: 0..3,
            terms: vec![0, 2, 3],
            ends: vec![2, 3, 6],
            document: vec![0, 2, 1, 0, 1, 2],
            values: vec![0.3, 0.7, 1.1, 0.2, 0.9, 0.1],
            own: vec![0.0; 6],
            others: Vec::new(),
        };
        for width in [8, 16, 24, 32, 40, 72] {
            let table: Vec<f32> = (0..4 * width).map(|i| (i as f32 * 0.37).sin()).collect();
            let rows: Vec<f32> = (0..3 * width).map(|i| (i as f32 * 0.73).cos()).collect();
            let lanes = Lanes { block: &block, table: &table, width };
            let (mut portable, mut chosen) = (rows.clone(), rows.clone());
            lanes.add_scores_anywhere(&[0.5, 1.5, -0.3], &mut portable);
            lanes.add_scores(&[0.5, 1.5, -0.3], &mut chosen);
            assert_eq!(portable, chosen);
            let (mut portable, mut chosen) = (vec![0.0; 3], vec![0.0; 3]);
            lanes.gather_anywhere::<2>(&rows, true, &mut portable);
            lanes.gather::<2>(&rows, true, &mut chosen);
            assert_eq!(portable, chosen);
        }
    }
}
