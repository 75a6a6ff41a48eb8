//! How a document is cut into tokens: by which tokenizer, and what is kept whole.

use crate::errors::ReadError;
use std::error::Error;
use std::ops::Range;

use crate::analyze::normalize::WordList;
use crate::analyze::patterns::Pattern;
use crate::analyze::words::{Tokens, WordRules, checked};

/// A function from a text to its tokens, such as one written in Python.
pub trait Cutter: Send + Sync {
    fn cut(&self, text: &str, out: &mut WordList) -> Result<(), Box<dyn Error + Send + Sync>>;
}

pub enum Tokenizer {
    /// Runs of letters, digits and underscores.
    Words,
    /// The same, and every other character that is not white space, alone.
    Punctuation,
    /// What stands between white space.
    Whitespace,
    /// What a regular expression finds, or its only group.
    Pattern(Pattern),
    Function(Box<dyn Cutter>),
}

pub struct Cut {
    pub rules: WordRules,
    pub tokenizer: Tokenizer,
    /// What is a token of its own, whatever the tokenizer would make of it, and is not normalized.
    pub keep: Option<Pattern>,
}

/// A stretch of a document: to be kept whole, or to be cut.
pub struct Piece {
    pub range: Range<usize>,
    pub kept: bool,
}

impl Cut {
    /// Append the tokens of one document.
    pub fn add(&self, document: &[u8], trusted: bool, tokens: &mut Tokens) -> Result<(), ReadError> {
        if self.keep.is_none() {
            return self.add_piece(document, trusted, tokens);
        }
        let text = checked(document, trusted)?;
        self.pieces(text)?.into_iter().try_for_each(|piece| {
            let bytes = &document[piece.range];
            if piece.kept {
                Ok(tokens.add_whole(bytes, &self.rules)?)
            } else {
                self.add_piece(bytes, true, tokens)
            }
        })
    }

    /// The document as stretches that are kept whole and what stands between them.
    pub fn pieces(&self, text: &str) -> Result<Vec<Piece>, ReadError> {
        let mut pieces = Vec::new();
        let mut end = 0;
        let keep = self.keep.iter().flat_map(|keep| signed(text.as_bytes()).map(move |range| (keep, range)));
        for (keep, Range { start, end: last }) in keep {
            keep.tokens(&text[start..last], &mut |found| {
                let found = start + found.start..start + found.end;
                pieces.push(Piece { range: end..found.start, kept: false });
                end = found.end;
                pieces.push(Piece { range: found, kept: true });
            })?;
        }
        pieces.push(Piece { range: end..text.len(), kept: false });
        pieces.retain(|piece| !piece.range.is_empty());
        Ok(pieces)
    }

    /// Append the tokens of a stretch in which nothing is kept whole.
    pub fn add_piece(&self, bytes: &[u8], trusted: bool, tokens: &mut Tokens) -> Result<(), ReadError> {
        match &self.tokenizer {
            Tokenizer::Words => tokens.add_words(bytes, trusted, &self.rules)?,
            Tokenizer::Punctuation => tokens.add_words_and_punctuation(bytes, trusted, &self.rules)?,
            Tokenizer::Whitespace => tokens.add_between_spaces(bytes, trusted, &self.rules)?,
            Tokenizer::Pattern(pattern) => tokens.add_matches(bytes, trusted, &self.rules, pattern)?,
            Tokenizer::Function(cutter) => {
                let text = tokens.lowered(bytes, trusted, &self.rules)?;
                let mut words = WordList::default();
                cutter.cut(&text, &mut words).map_err(ReadError::Normalizer)?;
                tokens.add_list(&words, &self.rules)?;
            }
        }
        Ok(())
    }
}

/// Whether a byte ends a word, or is a sign: every address, sum, picture, tag and mention has one of these.
const SPACE: u8 = 1;
const SIGN: u8 = 2;
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'\t'..=b'\r' | b' ' => SPACE,
            b'0'..=b'9' | b'.' | b'/' | b'@' | b'#' | b'*' | 0x80.. => SIGN,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// What stands between white space, and whether it holds a sign.
fn words(text: &[u8]) -> impl Iterator<Item = (Range<usize>, bool)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() && KINDS[usize::from(text[at])] == SPACE {
            at += 1;
        }
        let (start, mut kinds) = (at, 0);
        while at < text.len() && KINDS[usize::from(text[at])] != SPACE {
            kinds |= KINDS[usize::from(text[at])];
            at += 1;
        }
        (start < at).then_some((start..at, kinds == SIGN))
    })
}

/// The stretches of a text in which something may be kept whole: words with a sign, and their neighbors, because a sum
/// may have a space before its currency. They begin and end where the text or white space does, so that a pattern
/// finds in each what it finds in the whole, and most of a text is not searched.
fn signed(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut words = words(text).peekable();
    std::iter::from_fn(move || {
        let (mut found, mut has) = words.next()?;
        while !has {
            let (next, next_has) = words.next()?;
            found = if next_has { found.start..next.end } else { next };
            has = next_has;
        }
        while let Some((next, next_has)) = words.next_if(|(_, next_has)| has || *next_has) {
            (found.end, has) = (next.end, next_has);
        }
        Some(found)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_with_a_sign_are_looked_at_with_their_neighbors() {
        let text = "one two $ 5 then four five six seven@eight nine";
        let found: Vec<&str> = signed(text.as_bytes()).map(|range| &text[range]).collect();
        assert_eq!(found, ["$ 5 then", "six seven@eight nine"]);
        assert_eq!(signed(b" \n none of them ").count(), 0);
    }

    proptest! {
        #[test]
        fn a_pattern_finds_in_the_stretches_what_it_finds_in_the_whole(text in "[ab $@#.5€٣\n]{0,24}") {
            let source = r"\B#\w+|\ba+@b\b|\b(?:a\$|\$)\s?\d+b?|\b\d+\s?(?:€|ab\b)";
            let pattern = Pattern::new(source, || Ok(()));
            prop_assert!(pattern.is_ok());
            let Ok(pattern) = pattern else { return Ok(()) };
            let (mut wanted, mut found) = (Vec::new(), Vec::new());
            prop_assert!(pattern.tokens(&text, &mut |token| wanted.push(token)).is_ok());
            for Range { start, end } in signed(text.as_bytes()) {
                let push = &mut |token: Range<usize>| found.push(start + token.start..start + token.end);
                prop_assert!(pattern.tokens(&text[start..end], push).is_ok());
            }
            prop_assert_eq!(found, wanted);
        }
    }
}
