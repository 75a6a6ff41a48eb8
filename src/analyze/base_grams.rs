//! N-grams of the four bases have a code, two bits a base, by which their numbers are found without the bytes.

use crate::lexicon::form_table::UNKNOWN;
use crate::lexicon::lookup::Stretches;
use crate::lexicon::numbering::Numbering;

/// The code of a byte that is no base.
const NONE: u8 = 4;

const CODES: [u8; 256] = {
    let mut codes = [NONE; 256];
    codes[b'A' as usize] = 0;
    codes[b'C' as usize] = 1;
    codes[b'G' as usize] = 2;
    codes[b'T' as usize] = 3;
    codes
};

/// The code of an n-gram that has only bases, behind a bit that tells lengths apart.
fn code(gram: &[u8]) -> Option<usize> {
    let add = |code: usize, &byte: &u8| {
        Some(CODES[byte as usize]).filter(|&base| base != NONE).map(|base| code << 2 | base as usize)
    };
    gram.iter().try_fold(1, add)
}

/// Append the numbers of the n-grams of a length, for which the numbering has made codes.
pub fn number<N: Numbering>(bytes: &[u8], length: usize, numbering: &mut N, numbers: &mut Vec<u32>) {
    let done = numbers.len();
    find_coded(bytes, length, numbering.coded(), numbers);
    let numbers = &mut numbers[done..];
    let open: Vec<usize> = (0..numbers.len()).filter(|&at| numbers[at] == UNKNOWN).collect();
    let mut found = Vec::with_capacity(open.len());
    let span = |i: usize| (open[i], open[i] + length);
    Stretches { text: bytes, count: open.len(), span }.terms(numbering, &mut found);
    for (&at, &node) in open.iter().zip(&found) {
        numbers[at] = node;
        code(&bytes[at..at + length]).into_iter().for_each(|code| numbering.set_coded(code, node));
    }
}

/// Append the numbers of the n-grams that are known by their codes; the others are unknown.
fn find_coded(bytes: &[u8], length: usize, coded: &[u32], numbers: &mut Vec<u32>) {
    let first = 1 << (2 * length);
    let coded = &coded[first..2 * first];
    let (begin, ends) = bytes.split_at(length - 1);
    let (mut code, mut bases) = (0, 0);
    let mut step = |byte: u8| {
        let base = CODES[byte as usize];
        code = (code << 2 | base as usize & 3) & (first - 1);
        bases = if base == NONE { 0 } else { bases + 1 };
        if bases >= length { coded[code] } else { UNKNOWN }
    };
    begin.iter().for_each(|&byte| _ = step(byte));
    numbers.extend(ends.iter().map(|&byte| step(byte)));
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::lexicon::Lexicon;
    use crate::lexicon::form_table::Key;

    fn one_by_one(texts: &[Vec<u8>], length: usize) -> Vec<u32> {
        let mut lexicon = Lexicon::default();
        let grams = texts.iter().flat_map(|text| text.windows(length));
        grams.map(|gram| lexicon.term(&Key::of(gram), || gram)).collect()
    }

    proptest! {
        #[test]
        fn codes_give_the_numbers_that_the_bytes_have(
            texts in prop::collection::vec(prop::collection::vec(prop::sample::select(b"ACGTNacgt".to_vec()), 3..60), 1..12),
            length in 1usize..4,
        ) {
            let mut lexicon = Lexicon::default();
            let mut numbers = Vec::new();
            for text in &texts {
                if lexicon.make_codes(length) {
                    number(text, length, &mut lexicon, &mut numbers);
                } else {
                    let span = |start: usize| (start, start + length);
                    let count = text.len() - length + 1;
                    Stretches { text, count, span }.terms(&mut lexicon, &mut numbers);
                }
            }
            let before_last = &texts[..texts.len() - 1];
            let met: HashSet<&[u8]> = before_last.iter().flat_map(|text| text.windows(length)).collect();
            prop_assert_eq!(lexicon.coded.len() >= 2 << (2 * length), met.len() >= 1 << (2 * length) >> 4);
            prop_assert_eq!(numbers, one_by_one(&texts, length));
        }
    }
}
