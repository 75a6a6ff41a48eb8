//! Dense rows of weights, added to the scores of many documents. With a thousand classes the rows of one document
//! are larger than any cache, so neither rows nor scores may be walked from end to end for each term. Rows are kept
//! in tiles of some classes: for one tile and some rows, which stay in the first-level cache, each document's scores
//! are held in registers while all of its terms among these rows are added.

use crate::memory::filled;

/// Classes in a tile: eight registers of four numbers.
const WIDE: usize = 32;
/// Classes in each tile behind the last wide one.
const NARROW: usize = 8;
/// Rows that are added at a time: a wide tile of them takes 16 KB.
const BLOCK: usize = 64;

/// Rows by tiles: all rows of the first tile, then all of the second, and so on.
pub struct Tiles {
    values: Vec<f64>,
    rows: usize,
    classes: usize,
}

/// A row and how often it is added.
pub type Entry = (u32, u32);

/// Which rows each document holds, in order, and how often.
#[derive(Default)]
pub struct Occurrences {
    pub entries: Vec<Entry>,
    ends: Vec<usize>,
}

impl Occurrences {
    /// A document ends here.
    pub fn end(&mut self) {
        self.ends.push(self.entries.len());
    }

    pub fn of(&self, document: usize) -> &[Entry] {
        &self.entries[self.start(document)..self.ends[document]]
    }

    fn start(&self, document: usize) -> usize {
        if document == 0 { 0 } else { self.ends[document - 1] }
    }
}

impl Tiles {
    pub fn new(rows: usize, classes: usize) -> Self {
        Self { values: filled(rows * classes.next_multiple_of(NARROW), 0.0), rows, classes }
    }

    /// The first class behind the wide tiles.
    fn wide_end(&self) -> usize {
        self.classes / WIDE * WIDE
    }

    pub fn at(&mut self, row: usize, class: usize) -> &mut f64 {
        let width = if class < self.wide_end() { WIDE } else { NARROW };
        let first = class / width * width;
        &mut self.values[first * self.rows + row * width + class - first]
    }

    /// Add the rows of every document to its scores.
    pub fn add(&self, documents: &Occurrences, scores: &mut [f64]) {
        if self.rows == 0 || documents.entries.is_empty() {
            return;
        }
        let blocks = documents.by_block(self.rows);
        for first in (0..self.wide_end()).step_by(WIDE) {
            self.add_tile::<WIDE>(first, &blocks, documents.ends.len(), scores);
        }
        for first in (self.wide_end()..self.classes).step_by(NARROW) {
            self.add_tile::<NARROW>(first, &blocks, documents.ends.len(), scores);
        }
    }

    fn add_tile<const WIDTH: usize>(
        &self,
        first: usize,
        blocks: &Blocks,
        documents: usize,
        scores: &mut [f64],
    ) {
        let (tile, _) = self.values[first * self.rows..][..self.rows * WIDTH].as_chunks::<WIDTH>();
        let classes = first..self.classes.min(first + WIDTH);
        // Side by side, the documents' sums take few pages of memory; in their rows, one page each.
        let mut sums = vec![[0.0; WIDTH]; documents];
        for (sums, scores) in sums.iter_mut().zip(scores.chunks_exact(self.classes)) {
            sums[..classes.len()].copy_from_slice(&scores[classes.clone()]);
        }
        let mut rest = &blocks.entries[..];
        for &(document, length) in &blocks.runs {
            let (entries, others) = rest.split_at(length as usize);
            rest = others;
            add_rows(tile, entries, &mut sums[document as usize]);
        }
        for (sums, scores) in sums.iter().zip(scores.chunks_exact_mut(self.classes)) {
            scores[classes.clone()].copy_from_slice(&sums[..classes.len()]);
        }
    }
}

/// All entries block by block, and in each block document by document: read in the order in which they lie.
struct Blocks {
    entries: Vec<Entry>,
    /// A document and how many of the entries are its.
    runs: Vec<(u32, u32)>,
}

impl Occurrences {
    fn by_block(&self, rows: usize) -> Blocks {
        let block = |entry: &Entry| entry.0 as usize / BLOCK;
        let mut found: Vec<Vec<(u32, &[Entry])>> = Vec::new();
        found.resize_with(rows.div_ceil(BLOCK), Vec::new);
        for document in 0..self.ends.len() {
            for run in self.of(document).chunk_by(|a, b| block(a) == block(b)) {
                found[block(&run[0])].push((document as u32, run));
            }
        }
        let runs = || found.iter().flatten();
        Blocks {
            entries: runs().flat_map(|(_, run)| run.iter().copied()).collect(),
            runs: runs().map(|&(document, run)| (document, run.len() as u32)).collect(),
        }
    }
}

/// Add some rows of a tile to a document's sums.
#[inline(always)]
fn add_rows<const WIDTH: usize>(tile: &[[f64; WIDTH]], entries: &[Entry], sums: &mut [f64; WIDTH]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { avx2::add(tile, entries, sums) };
    }
    for &(row, times) in entries {
        let times = f64::from(times);
        sums.iter_mut().zip(&tile[row as usize]).for_each(|(sum, weight)| *sum += times * weight);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::Entry;
    use std::arch::x86_64::{
        __m256d, _mm256_add_pd, _mm256_loadu_pd, _mm256_mul_pd, _mm256_set1_pd, _mm256_setzero_pd,
        _mm256_storeu_pd,
    };

    const LANES: usize = 4;
    /// Enough for the widest tile; what a narrower one leaves over is never touched.
    const REGISTERS: usize = super::WIDE / LANES;

    /// The compiler keeps the sums in memory if the sums are an array of numbers, so they are registers by name.
    #[target_feature(enable = "avx2")]
    pub fn add<const WIDTH: usize>(tile: &[[f64; WIDTH]], entries: &[Entry], scores: &mut [f64; WIDTH]) {
        let mut sums: [__m256d; REGISTERS] = [_mm256_setzero_pd(); REGISTERS];
        let (lanes, _) = scores.as_chunks_mut::<LANES>();
        for (sum, lanes) in sums.iter_mut().zip(lanes.iter()) {
            // SAFETY: there are four numbers.
            *sum = unsafe { _mm256_loadu_pd(lanes.as_ptr()) };
        }
        for &(row, times) in entries {
            let (row, _) = tile[row as usize].as_chunks::<LANES>();
            let times = _mm256_set1_pd(f64::from(times));
            for (sum, weights) in sums.iter_mut().zip(row) {
                // SAFETY: there are four numbers.
                let weights = unsafe { _mm256_loadu_pd(weights.as_ptr()) };
                *sum = _mm256_add_pd(*sum, _mm256_mul_pd(times, weights));
            }
        }
        for (sum, lanes) in sums.iter().zip(lanes) {
            // SAFETY: there is room for four numbers.
            unsafe { _mm256_storeu_pd(lanes.as_mut_ptr(), *sum) };
        }
    }
}
