//! Stretches of text to numbers, in batches: all keys of a batch are made and fetched from memory before the first is
//! needed, and what is not known yet is left for a second, slower look.

use crate::lexicon::form_table::{FormTable, Key, Role, Seed};
use crate::lexicon::numbering::Numbering;
use crate::lexicon::{BATCH, WAITING};

/// Where the stretches are: the i-th begins and ends at `span(i)`.
pub struct Stretches<'a, F> {
    pub text: &'a [u8],
    pub count: usize,
    pub span: F,
}

impl<F: Fn(usize) -> (usize, usize)> Stretches<'_, F> {
    /// Append the numbers that are known for the stretches; `settle` gives those of the others.
    #[inline(always)]
    pub fn look_up<N: Numbering>(
        &self,
        numbering: &mut N,
        numbers: &mut Vec<u32>,
        role: Role,
        mut settle: impl FnMut(&mut N, &Key, usize) -> u32,
    ) {
        let mut keys = [Key::default(); BATCH];
        let done = numbers.len();
        numbers.resize(done + self.count, 0);
        for (batch, numbers) in numbers[done..].chunks_mut(BATCH).enumerate() {
            let first = batch * BATCH;
            let known = numbering.known();
            self.make_keys(first, &mut keys[..numbers.len()], known);
            known.find_short(&keys, numbers, role);
            if numbers.iter().fold(false, |open, &number| open | is_open(number)) {
                for (i, (number, key)) in numbers.iter_mut().zip(&keys).enumerate() {
                    if is_open(*number) {
                        *number = settle(numbering, key, first + i);
                    }
                }
            }
        }
    }

    /// The keys of some stretches, whose slots are on their way.
    #[inline(never)]
    fn make_keys(&self, first: usize, keys: &mut [Key], known: &FormTable) {
        let seed = Seed::get();
        for (i, key) in keys.iter_mut().enumerate() {
            let (start, end) = (self.span)(first + i);
            *key = Key::padded(self.text, start, end, seed);
            known.prefetch(key);
        }
    }

    /// Append the numbers of terms.
    #[inline(always)]
    pub fn terms<N: Numbering>(&self, numbering: &mut N, numbers: &mut Vec<u32>) {
        let new = |numbering: &mut N, key: &Key, i: usize| numbering.term(key, || self.bytes(i));
        self.look_up(numbering, numbers, Role::Term, new);
    }

    pub fn bytes(&self, i: usize) -> &[u8] {
        let (start, end) = (self.span)(i);
        &self.text[start..end]
    }
}

/// Unknown, or waiting to be normalized.
#[inline(always)]
pub fn is_open(number: u32) -> bool {
    number.wrapping_add(1) >= WAITING
}
