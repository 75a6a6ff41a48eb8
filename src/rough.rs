//! Which class wins, mostly without knowing by how much. With a thousand classes the best score is far above the
//! second, so sums of weights rounded to 16 bits decide: sixteen are added at a time instead of four. Where what
//! rounding can have changed might decide, nothing is said, and the exact sums have the word.

use crate::memory::{filled, prefetch_all};
use crate::tiles::{Blocks, Occurrences};

/// Classes in a tile: eight registers of sixteen numbers.
const TILE: usize = 128;
/// Rows that are added at a time: a tile of them takes 28 KB.
const BLOCK: usize = 112;
/// The largest rounded weight: so many of them can be added ...
const LARGEST: f64 = 2047.0;
/// ... before 16 bits run over.
const ROOM: usize = 16;
/// Sums of more weights are left to the exact ones, before 32 bits run over.
pub const MOST: usize = 1 << 20;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Row([i16; TILE]);

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Sums([i32; TILE]);

/// A cell of a sparse row.
#[derive(Clone, Copy, Default)]
pub struct RoughCell {
    pub class: u16,
    pub weight: i16,
}

/// Weights as multiples of a unit.
pub struct Rough {
    pub unit: f64,
    rows: usize,
    classes: usize,
    /// All rows of the first tile, then all of the second, and so on.
    dense: Vec<Row>,
    /// The cells of sparse rows, one row behind the other.
    pub sparse: Vec<RoughCell>,
}

impl Rough {
    /// Room for so many rows, unless weights or classes cannot be written in 16 bits.
    pub fn new(largest: f64, rows: usize, classes: usize, cells: usize) -> Option<Self> {
        let possible = largest.is_normal() && classes <= usize::from(u16::MAX) + 1;
        possible.then(|| Self {
            unit: largest / LARGEST,
            rows,
            classes,
            dense: filled(rows * classes.div_ceil(TILE), Row([0; TILE])),
            sparse: filled(cells, RoughCell::default()),
        })
    }

    pub fn rounded(&self, weight: f64) -> i16 {
        (weight / self.unit).round() as i16
    }

    pub fn put(&mut self, row: usize, class: usize, weight: f64) {
        self.dense[class / TILE * self.rows + row].0[class % TILE] = self.rounded(weight);
    }

    /// By how much a sum of so many weights can be wrong. The exact sums are rounded too, but a million times less.
    pub fn error(&self, weights: usize) -> f64 {
        weights as f64 * self.unit * 0.500_001
    }

    /// Add the dense rows of every document to its sums.
    pub fn add_dense(&self, documents: &Occurrences<u32>, sums: &mut [i32]) {
        if self.rows == 0 {
            return;
        }
        let blocks = documents.by_block(BLOCK, self.rows, |&row| row);
        for (tile, rows) in self.dense.chunks_exact(self.rows).enumerate() {
            let mut found = vec![Sums([0; TILE]); sums.len() / self.classes];
            add_tile(rows, &blocks, &mut found);
            for (found, sums) in found.iter().zip(sums.chunks_exact_mut(self.classes)) {
                let sums = &mut sums[tile * TILE..self.classes.min((tile + 1) * TILE)];
                sums.iter_mut().zip(&found.0).for_each(|(sum, found)| *sum += found);
            }
        }
    }
}

fn add_tile(rows: &[Row], blocks: &Blocks<u32>, sums: &mut [Sums]) {
    let mut rest = &blocks.entries[..];
    for (next, runs) in rows.chunks(BLOCK).skip(1).chain([&[][..]]).zip(&blocks.runs) {
        prefetch_all(next);
        for (i, &(document, length)) in runs.iter().enumerate() {
            if let Some(&(ahead, _)) = runs.get(i + 2) {
                prefetch_all(&sums[ahead as usize].0);
            }
            let (entries, others) = rest.split_at(length as usize);
            rest = others;
            add_run(rows, entries, &mut sums[document as usize]);
        }
    }
}

/// Add some rows to a document's sums.
#[inline(always)]
fn add_run(rows: &[Row], run: &[u32], sums: &mut Sums) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { avx2::add_run(rows, run, sums) };
    }
    add_run_anywhere(rows, run, sums);
}

fn add_run_anywhere(rows: &[Row], run: &[u32], sums: &mut Sums) {
    for &row in run {
        for (sum, &weight) in sums.0.iter_mut().zip(&rows[row as usize].0) {
            *sum += i32::from(weight);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{ROOM, Row, Sums, TILE};
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi16, _mm256_add_epi32, _mm256_castsi256_si128, _mm256_cvtepi16_epi32,
        _mm256_extracti128_si256, _mm256_load_si256, _mm256_setzero_si256, _mm256_store_si256,
    };

    const LANES: usize = 16;
    const REGISTERS: usize = TILE / LANES;

    #[target_feature(enable = "avx2")]
    #[inline]
    pub fn add_run(rows: &[Row], run: &[u32], sums: &mut Sums) {
        for run in run.chunks(ROOM) {
            let mut narrow = [_mm256_setzero_si256(); REGISTERS];
            for &row in run {
                let (weights, _) = rows[row as usize].0.as_chunks::<LANES>();
                for (narrow, weights) in narrow.iter_mut().zip(weights) {
                    // SAFETY: there are sixteen numbers, and rows are aligned.
                    let weights = unsafe { _mm256_load_si256(weights.as_ptr().cast()) };
                    *narrow = _mm256_add_epi16(*narrow, weights);
                }
            }
            widen(&narrow, sums);
        }
    }

    /// Add sums of 16 bits to those of 32.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn widen(narrow: &[__m256i; REGISTERS], sums: &mut Sums) {
        let (halves, _) = sums.0.as_chunks_mut::<{ LANES / 2 }>();
        let (pairs, _) = halves.as_chunks_mut::<2>();
        for (&narrow, [low, high]) in narrow.iter().zip(pairs) {
            add(low, _mm256_cvtepi16_epi32(_mm256_castsi256_si128(narrow)));
            add(high, _mm256_cvtepi16_epi32(_mm256_extracti128_si256::<1>(narrow)));
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn add(sums: &mut [i32; LANES / 2], more: __m256i) {
        let at = sums.as_mut_ptr().cast::<__m256i>();
        // SAFETY: there are eight numbers, and sums are aligned.
        unsafe { _mm256_store_si256(at, _mm256_add_epi32(_mm256_load_si256(at), more)) };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_processor_has_the_same_sums(weights in prop::collection::vec(-2047i16..=2047, TILE * 3),
                                             run in prop::collection::vec(0u32..3, 0..100), most: bool) {
            let rows: Vec<Row> = weights.as_chunks().0.iter().map(|&row| Row(if most { [2047; TILE] } else { row })).collect();
            let (mut portable, mut chosen) = (Sums([7; TILE]), Sums([7; TILE]));
            add_run_anywhere(&rows, &run, &mut portable);
            add_run(&rows, &run, &mut chosen);
            prop_assert_eq!(portable.0, chosen.0);
        }
    }
}
