//! Dense rows of weights, added to the scores of many documents. With a thousand classes the rows of one document
//! are larger than any cache, so neither rows nor scores may be walked from end to end for each term. Rows are kept
//! in tiles of some classes: for one tile and some rows, which stay in the first-level cache, each document's scores
//! are held in registers while all of its terms among these rows are added.

use crate::memory::{filled, prefetch_all};
use crate::score::row_blocks::{Block, Blocks};

/// Numbers in a line of the cache. Where a row begins in the middle of one, every second load touches two.
const LINE: usize = 8;
/// Lines in a tile: twelve registers of four numbers, of the sixteen there are.
const WIDE: usize = 6;
/// Lines in each tile behind the last wide one.
const NARROW: usize = 1;
/// Rows that are added at a time: a wide tile of them takes 24 KB.
pub const BLOCK: usize = 64;

#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Line([f64; LINE]);

/// Rows by tiles: all rows of the first tile, then all of the second, and so on.
pub struct Tiles {
    lines: Vec<Line>,
    rows: usize,
    classes: usize,
}

/// A row and how often it is added.
pub type Entry = (u32, u32);

/// Each row once, and how often it is there.
pub fn with_times(rows: &[u32]) -> Vec<Entry> {
    rows.chunk_by(|a, b| a == b).map(|alike| (alike[0], alike.len() as u32)).collect()
}

impl Tiles {
    pub fn new(rows: usize, classes: usize) -> Self {
        Self { lines: filled(rows * classes.div_ceil(LINE), Line::default()), rows, classes }
    }

    /// The first line of a row that is behind the wide tiles.
    fn wide_end(&self) -> usize {
        self.classes / LINE / WIDE * WIDE
    }

    pub fn at(&mut self, row: usize, class: usize) -> &mut f64 {
        let line = self.line(row, class / LINE);
        &mut self.lines[line].0[class % LINE]
    }

    /// Where a line of a row lies.
    fn line(&self, row: usize, line: usize) -> usize {
        let width = if line < self.wide_end() { WIDE } else { NARROW };
        let first = line / width * width;
        first * self.rows + row * width + line - first
    }

    /// Add the rows of every document to its scores.
    pub fn add(&self, blocks: &Blocks<Entry, BLOCK>, scores: &mut [f64]) {
        if self.rows == 0 {
            return;
        }
        for first in (0..self.wide_end()).step_by(WIDE) {
            self.add_tile::<WIDE>(first, blocks, scores);
        }
        for first in self.wide_end()..self.classes.div_ceil(LINE) {
            self.add_tile::<NARROW>(first, blocks, scores);
        }
    }

    fn add_tile<const WIDTH: usize>(&self, first: usize, blocks: &Blocks<Entry, BLOCK>, scores: &mut [f64]) {
        let (tile, _) = self.lines[first * self.rows..][..self.rows * WIDTH].as_chunks::<WIDTH>();
        let classes = first * LINE..self.classes.min((first + WIDTH) * LINE);
        // Side by side, the documents' sums take few pages of memory; in their rows, one page each.
        let mut sums = vec![[Line::default(); WIDTH]; scores.len() / self.classes];
        for (sums, scores) in sums.iter_mut().zip(scores.chunks_exact(self.classes)) {
            for (sums, scores) in sums.iter_mut().zip(scores[classes.clone()].chunks(LINE)) {
                sums.0[..scores.len()].copy_from_slice(scores);
            }
        }
        for (next, block) in tile.chunks(BLOCK).skip(1).chain([&[][..]]).zip(blocks.iter()) {
            prefetch_all(next);
            add_block(tile, block, &mut sums);
        }
        for (sums, scores) in sums.iter().zip(scores.chunks_exact_mut(self.classes)) {
            for (sums, scores) in sums.iter().zip(scores[classes.clone()].chunks_mut(LINE)) {
                scores.copy_from_slice(&sums.0[..scores.len()]);
            }
        }
    }
}

/// Add some rows of a tile to the sums of the documents that hold them.
fn add_block<const WIDTH: usize>(tile: &[[Line; WIDTH]], block: &Block<Entry>, sums: &mut [[Line; WIDTH]]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { avx2::add_block(tile, block, sums) };
    }
    block.for_each(|document, entries| {
        for &(row, times) in entries {
            for (sums, weights) in sums[document].iter_mut().zip(&tile[row as usize]) {
                sums.0.iter_mut().zip(&weights.0).for_each(|(sum, weight)| *sum += f64::from(times) * weight);
            }
        }
    });
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Block, Entry, Line};
    use std::arch::x86_64::{
        __m256d, _mm256_add_pd, _mm256_load_pd, _mm256_mul_pd, _mm256_set1_pd, _mm256_setzero_pd,
        _mm256_store_pd,
    };

    /// The compiler keeps the sums in memory if they are an array of numbers, so they are registers by name.
    #[target_feature(enable = "avx2")]
    pub fn add_block<const WIDTH: usize>(
        tile: &[[Line; WIDTH]],
        block: &Block<Entry>,
        scores: &mut [[Line; WIDTH]],
    ) {
        block.for_each(|document, entries| {
            let scores = &mut scores[document];
            let mut sums = [[_mm256_setzero_pd(); 2]; WIDTH];
            for (sums, scores) in sums.iter_mut().zip(scores.iter()) {
                *sums = load(scores);
            }
            for &(row, times) in entries {
                let times = _mm256_set1_pd(f64::from(times));
                for (sums, weights) in sums.iter_mut().zip(&tile[row as usize]) {
                    for (sum, weights) in sums.iter_mut().zip(load(weights)) {
                        *sum = _mm256_add_pd(*sum, _mm256_mul_pd(times, weights));
                    }
                }
            }
            for ([low, high], scores) in sums.into_iter().zip(scores) {
                // SAFETY: there is room for eight numbers, aligned.
                unsafe {
                    _mm256_store_pd(scores.0.as_mut_ptr(), low);
                    _mm256_store_pd(scores.0.as_mut_ptr().add(4), high);
                }
            }
        });
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(line: &Line) -> [__m256d; 2] {
        // SAFETY: a line holds eight numbers, aligned.
        unsafe { [_mm256_load_pd(line.0.as_ptr()), _mm256_load_pd(line.0.as_ptr().add(4))] }
    }
}
