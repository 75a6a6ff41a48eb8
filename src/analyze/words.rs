//! Bytes to word tokens: blocks of 64 bytes become a bit mask of word bytes, lower-cased in the same step, and
//! the borders of tokens are bit tricks on the mask. The block path, the portable path and the path of
//! non-ASCII text give the same tokens (L8).

use crate::analyze::byte_masks::{BLOCK, Mask, classify};
use crate::analyze::characters::{CharacterSet, lower_alone, lower_into, spaceless, word_characters};
use crate::analyze::spans::push_spans;
use crate::errors::{MAX_BYTES, TextError};

/// Zero bytes behind every document, so that 16 bytes can be loaded at any token's start.
pub const PAD: usize = 16;

/// How words are cut from text.
#[derive(Clone, Debug, PartialEq)]
pub struct WordRules {
    pub lower: bool,
    pub marks: bool,
    pub min_length: usize,
    pub max_length: usize,
    pub max_bytes: usize,
    /// Whether what is written without spaces becomes pairs of letters.
    pub bigrams: bool,
}

/// The lower-cased text of some documents and the places of their tokens: where each begins, where it ends.
#[derive(Default)]
pub struct Tokens {
    pub text: Vec<u8>,
    pub(crate) spans: Vec<[u32; 2]>,
    pub(crate) masks: Vec<Mask>,
    lowered: Vec<u8>,
    /// The tokens, by number, that are not to be normalized.
    pub(crate) verbatim: Vec<u32>,
}

impl Tokens {
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
        self.verbatim.clear();
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Start and end of each token; 16 bytes can be read at every start.
    #[inline]
    pub fn spans(&self) -> &[[u32; 2]] {
        &self.spans
    }

    /// The numbers of the tokens that are not to be normalized, in order.
    pub fn verbatim(&self) -> &[u32] {
        &self.verbatim
    }

    /// Append the words of one document; `trusted` says that its bytes are known to be UTF-8.
    pub fn add_words(&mut self, source: &[u8], trusted: bool, rules: &WordRules) -> Result<(), TextError> {
        let begin = self.text.len();
        if !self.take_over(source, trusted, rules.lower)? {
            return self.emit(begin, rules, false);
        }
        let spaceless = self.mark_beyond_ascii(begin, word_characters(rules.marks), rules.bigrams);
        if spaceless { self.emit_spaceless(begin, rules) } else { self.emit(begin, rules, true) }
    }

    /// Append a document behind the others, lower-cased, and classify its bytes. True if some are not ASCII.
    pub(crate) fn take_over(&mut self, source: &[u8], trusted: bool, lower: bool) -> Result<bool, TextError> {
        let begin = self.text.len();
        if !self.classify(source, lower) {
            return Ok(false);
        }
        let source = checked(source, trusted)?;
        if lower && !self.lower_in_place(begin) {
            let mut lowered = std::mem::take(&mut self.lowered);
            lowered.clear();
            lower_into(source, &mut lowered, None);
            self.text.truncate(begin);
            self.classify(&lowered, false);
            self.lowered = lowered;
        }
        Ok(true)
    }

    /// Copy (and lower-case) a document behind the others and compute its masks. True if it has a non-ASCII byte.
    fn classify(&mut self, source: &[u8], lower: bool) -> bool {
        let begin = self.text.len();
        let blocks = source.len().div_ceil(BLOCK);
        self.text.resize(begin + blocks * BLOCK + PAD, 0);
        self.masks.clear();
        self.masks.resize(blocks, Mask::default());
        let high = classify(source, &mut self.text[begin..], &mut self.masks, lower);
        self.text.truncate(begin + source.len());
        self.text.resize(begin + source.len() + PAD, 0);
        high
    }

    /// Lower-case the letters outside ASCII, unless one of them changes its length or depends on its neighbors.
    fn lower_in_place(&mut self, begin: usize) -> bool {
        for (block, mask) in self.masks.iter().enumerate() {
            for at in ones(mask.high).map(|bit| begin + block * BLOCK + bit) {
                let Some((character, width)) = decode(&self.text[at..]) else { continue };
                match lower_alone(character) {
                    Some(lower) if lower == character => {}
                    Some(lower) if lower.len_utf8() == width => {
                        lower.encode_utf8(&mut self.text[at..at + width]);
                    }
                    _ => return false,
                }
            }
        }
        true
    }

    /// Mark the letters outside ASCII. True if asked to look for those of scripts without spaces, and one is there.
    fn mark_beyond_ascii(&mut self, begin: usize, words: &CharacterSet, look: bool) -> bool {
        let spaceless = spaceless();
        let mut found = false;
        for block in 0..self.masks.len() {
            for at in ones(self.masks[block].high).map(|bit| block * BLOCK + bit) {
                let Some((character, width)) = decode(&self.text[begin + at..]) else { continue };
                if words.contains(character) {
                    found |= look && spaceless.contains(character);
                    for byte in at..at + width {
                        self.masks[byte / BLOCK].word |= 1 << (byte % BLOCK);
                    }
                }
            }
        }
        found
    }

    fn emit(&mut self, begin: usize, rules: &WordRules, beyond_ascii: bool) -> Result<(), TextError> {
        self.check_room(begin)?;
        let first = self.spans.len();
        let full = push_spans(&self.masks, begin as u32, (self.text.len() - PAD) as u32, &mut self.spans);
        // A word of two blocks or more fills one of them.
        let overlong = rules.max_bytes < self.text.len() - begin && (full || rules.max_bytes < 2 * BLOCK);
        if rules.min_length > 1 || rules.max_length < usize::MAX || overlong {
            self.keep_lengths(first, rules, beyond_ascii);
        }
        Ok(())
    }

    pub(crate) fn check_room(&self, begin: usize) -> Result<(), TextError> {
        let bytes = self.text.len() - begin;
        if self.text.len() > MAX_BYTES { Err(TextError::TooLong { document: 0, bytes }) } else { Ok(()) }
    }

    pub(crate) fn keep_lengths(&mut self, first: usize, rules: &WordRules, beyond_ascii: bool) {
        let mut kept = first;
        for i in first..self.spans.len() {
            let [start, end] = self.spans[i];
            if rules.allow(&self.text[start as usize..end as usize], beyond_ascii) {
                self.spans[kept] = [start, end];
                kept += 1;
            }
        }
        self.spans.truncate(kept);
    }
}

impl WordRules {
    pub(crate) fn allow(&self, token: &[u8], beyond_ascii: bool) -> bool {
        let length = if beyond_ascii { characters_in(token) } else { token.len() };
        (self.min_length..=self.max_length).contains(&length) && token.len() <= self.max_bytes
    }
}

/// The document as a string, unless it is not UTF-8.
pub fn checked(source: &[u8], trusted: bool) -> Result<&str, TextError> {
    if trusted {
        // SAFETY: `trusted` is set only for bytes that Python handed out as the UTF-8 of a `str`.
        return Ok(unsafe { std::str::from_utf8_unchecked(source) });
    }
    std::str::from_utf8(source).map_err(|error| TextError::NotUtf8 { document: 0, byte: error.valid_up_to() })
}

#[inline]
fn characters_in(token: &[u8]) -> usize {
    token.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

/// The places of the ones.
pub fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (place < u64::BITS).then_some(place as usize)
    })
}

/// The character at the head of valid UTF-8; nothing for a continuation byte.
#[inline]
fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let at = |i: usize| u32::from(bytes[i] & 0x3F);
    let (code, width) = match bytes[0] {
        0xC0..=0xDF => ((u32::from(bytes[0]) & 0x1F) << 6 | at(1), 2),
        0xE0..=0xEF => ((u32::from(bytes[0]) & 0x0F) << 12 | at(1) << 6 | at(2), 3),
        0xF0..=0xFF => ((u32::from(bytes[0]) & 0x07) << 18 | at(1) << 12 | at(2) << 6 | at(3), 4),
        _ => return None,
    };
    char::from_u32(code).map(|character| (character, width))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RULES: WordRules = WordRules {
        lower: true,
        marks: false,
        min_length: 1,
        max_length: usize::MAX,
        max_bytes: usize::MAX,
        bigrams: false,
    };

    fn words(text: &str, rules: &WordRules) -> Vec<String> {
        let mut tokens = Tokens::default();
        tokens.add_words(b"a first document", true, rules).unwrap_or_default();
        let first = tokens.len();
        assert_eq!(tokens.add_words(text.as_bytes(), false, rules), Ok(()));
        tokens.spans()[first..]
            .iter()
            .map(|&[start, end]| &tokens.text[start as usize..end as usize])
            .map(|token| String::from_utf8_lossy(token).into_owned())
            .collect()
    }

    fn one_by_one(text: &str, rules: &WordRules) -> Vec<String> {
        let set = word_characters(rules.marks);
        let text = if rules.lower { text.to_lowercase() } else { text.to_owned() };
        text.split(|c| !set.contains(c))
            .filter(|word| !word.is_empty() && word.len() <= rules.max_bytes)
            .filter(|word| (rules.min_length..=rules.max_length).contains(&word.chars().count()))
            .map(str::to_owned)
            .collect()
    }

    proptest! {
        #[test]
        fn every_path_cuts_the_same_words(text in "\\PC*|[ -~]*|[a-zA-Z _éΣİ漢\u{301}]*", lower: bool, marks: bool,
                                          min_length in 0usize..4, span in 0usize..20) {
            let rules = WordRules { lower, marks, min_length, max_length: min_length + span, max_bytes: 24, bigrams: false };
            prop_assert_eq!(words(&text, &rules), one_by_one(&text, &rules));
        }

        #[test]
        fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut tokens = Tokens::default();
            let valid = std::str::from_utf8(&bytes);
            match tokens.add_words(&bytes, false, &RULES) {
                Ok(()) => prop_assert!(valid.is_ok()),
                Err(error) => {
                    let byte = valid.map_or_else(|error| error.valid_up_to(), |_| usize::MAX);
                    prop_assert_eq!(error, TextError::NotUtf8 { document: 0, byte });
                }
            }
        }
    }
}
