//! Sums of weights rounded to 16 bits, and how wrong they can be. Sixteen such weights are added at a time, of exact
//! ones only four, and they take a quarter of the memory.

use crate::memory::{filled, prefetch_all};
use crate::score::linear::Linear;
use crate::score::row_blocks::Blocks;
use crate::score::row_places::Places;

/// How many classes a number of 16 bits can name.
const ANY_CLASS: usize = 1 << 16;
/// How many rows ahead a sparse one is fetched from memory.
const AHEAD: usize = 4;

/// Classes in a tile: eight registers of sixteen numbers.
const TILE: usize = 128;
/// Rows that are added at a time: a tile of them takes 28 KB.
const BLOCK: usize = 112;
/// The largest rounded weight: so many of them can be added ...
const LARGEST: f64 = 1023.0;
/// ... before 16 bits run over.
#[cfg(target_arch = "x86_64")]
const ROOM: usize = 32;
/// Sums of more weights are left to the exact ones, before 32 bits run over.
const MOST: usize = 1 << 20;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Row([i16; TILE]);

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Sums([i32; TILE]);

/// A cell of a sparse row.
#[derive(Clone, Copy, Default)]
struct Cell {
    class: u16,
    weight: i16,
}

/// Weights as multiples of a unit.
pub struct Rough {
    unit: f64,
    classes: usize,
    /// All rows of the first tile, then all of the second, and so on.
    dense: Vec<Row>,
    /// The cells of sparse rows, one row behind the other.
    sparse: Vec<Cell>,
}

/// The sums of a document's rounded weights.
pub struct Estimate<'a> {
    pub sums: &'a [i32],
    pub unit: f64,
    /// Of how many terms.
    pub known: usize,
}

impl Estimate<'_> {
    /// By how much a sum can be wrong. The exact sums are rounded too, but a million times less.
    pub fn error(&self) -> f64 {
        self.known as f64 * self.unit * 0.500_001
    }
}

impl Rough {
    /// Round all weights, unless they or the classes cannot be written in 16 bits.
    pub fn new(linear: &Linear, places: &Places) -> Option<Self> {
        let classes = linear.classes();
        let largest = linear.differences.iter().fold(0.0, |most: f64, weight| most.max(weight.abs()));
        if !largest.is_normal() || classes > ANY_CLASS {
            return None;
        }
        let unit = largest / LARGEST;
        let rounded = |weight: f64| (weight * (LARGEST / largest) + 0.5f64.copysign(weight)) as i16;
        let rows = places.dense();
        let mut dense = filled(rows * classes.div_ceil(TILE), Row([0; TILE]));
        let mut sparse = filled(places.sparse_cells(), Cell::default());
        places.sort_out(
            linear,
            |row, class, weight| dense[class / TILE * rows + row].0[class % TILE] = rounded(weight),
            |cell, class, weight| sparse[cell] = Cell { class: class as u16, weight: rounded(weight) },
        );
        Some(Self { unit, classes, dense, sparse })
    }

    /// The estimates of each document, unless its terms are too many.
    pub fn estimate(
        &self,
        places: &Places,
        documents: &[Vec<u32>],
        mut visit: impl FnMut(usize, Option<Estimate>),
    ) {
        let mut blocks = Blocks::new(places.dense());
        let mut sums = filled(documents.len() * self.classes, 0);
        let mut known = Vec::with_capacity(documents.len());
        let (mut dense, mut sparse) = (Vec::new(), Vec::new());
        let mut by_class = Box::new([0; ANY_CLASS]);
        for (document, sums) in sums.chunks_exact_mut(self.classes).enumerate() {
            let terms = if documents[document].len() > MOST { &[] } else { &documents[document][..] };
            places.find_by_kind(terms, &mut dense, &mut sparse);
            known.push(dense.len() + sparse.len());
            blocks.push(document, &dense, |&row| row);
            self.add_sparse(places, &sparse, &mut by_class);
            sums.copy_from_slice(&by_class[..self.classes]);
            by_class[..self.classes].fill(0);
        }
        self.add_dense(places.dense(), &blocks, &mut sums);
        for (document, sums) in sums.chunks_exact(self.classes).enumerate() {
            let estimate = Estimate { sums, unit: self.unit, known: known[document] };
            visit(document, (documents[document].len() <= MOST).then_some(estimate));
        }
    }

    /// Not inlined: the loop does better without the registers of whoever calls it.
    #[inline(never)]
    fn add_sparse(&self, places: &Places, rows: &[u32], sums: &mut [i32; ANY_CLASS]) {
        for (i, &row) in rows.iter().enumerate() {
            if let Some(&ahead) = rows.get(i + AHEAD) {
                prefetch_all(&self.sparse[places.cells(ahead)]);
            }
            if let Some(&ahead) = rows.get(i + 2 * AHEAD) {
                places.prefetch(ahead);
            }
            for cell in &self.sparse[places.cells(row)] {
                sums[usize::from(cell.class)] += i32::from(cell.weight);
            }
        }
    }

    /// Add the dense rows of every document to its sums.
    fn add_dense(&self, rows: usize, blocks: &Blocks<u32, BLOCK>, sums: &mut [i32]) {
        let documents = sums.len() / self.classes;
        for (tile, rows) in self.dense.chunks_exact(rows.max(1)).enumerate() {
            let mut found = vec![Sums([0; TILE]); documents];
            add_tile(rows, blocks, &mut found);
            for (found, sums) in found.iter().zip(sums.chunks_exact_mut(self.classes)) {
                let sums = &mut sums[tile * TILE..self.classes.min((tile + 1) * TILE)];
                sums.iter_mut().zip(&found.0).for_each(|(sum, found)| *sum += found);
            }
        }
    }
}

/// Add the rows of a tile to the documents' sums.
fn add_tile(rows: &[Row], blocks: &Blocks<u32, BLOCK>, sums: &mut [Sums]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { avx2::add_tile(rows, blocks, sums) };
    }
    add_tile_anywhere(rows, blocks, sums);
}

fn add_tile_anywhere(rows: &[Row], blocks: &Blocks<u32, BLOCK>, sums: &mut [Sums]) {
    for block in blocks.iter() {
        block.for_each(|document, run| {
            for &row in run {
                let weights = &rows[row as usize].0;
                sums[document].0.iter_mut().zip(weights).for_each(|(sum, &weight)| *sum += i32::from(weight));
            }
        });
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCK, Blocks, ROOM, Row, Sums, TILE};
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi16, _mm256_add_epi32, _mm256_castsi256_si128, _mm256_cvtepi16_epi32,
        _mm256_extracti128_si256, _mm256_load_si256, _mm256_setzero_si256, _mm256_store_si256,
    };

    const LANES: usize = 16;
    const REGISTERS: usize = TILE / LANES;

    #[target_feature(enable = "avx2")]
    pub fn add_tile(rows: &[Row], blocks: &Blocks<u32, BLOCK>, sums: &mut [Sums]) {
        for block in blocks.iter() {
            block.for_each(|document, run| {
                run.chunks(ROOM).for_each(|run| add_rows(rows, run, &mut sums[document]));
            });
        }
    }

    /// Not inlined: the compiler would keep the sums of 32 bits in registers, of which there are too few.
    #[target_feature(enable = "avx2")]
    #[inline(never)]
    fn add_rows(rows: &[Row], run: &[u32], sums: &mut Sums) {
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
        fn every_processor_has_the_same_sums(weights in prop::collection::vec(-1023i16..=1023, TILE * 3),
                                             documents in prop::collection::vec(prop::collection::vec(0u32..3, 0..100), 0..3),
                                             most: bool) {
            let rows: Vec<Row> = weights.as_chunks().0.iter().map(|&row| Row(if most { [1023; TILE] } else { row })).collect();
            let mut blocks = Blocks::new(rows.len());
            documents.iter().enumerate().for_each(|(i, rows)| blocks.push(i, rows, |&row| row));
            let (mut portable, mut chosen) = (vec![Sums([7; TILE]); 3], vec![Sums([7; TILE]); 3]);
            add_tile_anywhere(&rows, &blocks, &mut portable);
            add_tile(&rows, &blocks, &mut chosen);
            prop_assert!(portable.iter().zip(&chosen).all(|(a, b)| a.0 == b.0));
        }
    }
}
