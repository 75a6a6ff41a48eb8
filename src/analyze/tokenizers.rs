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
        if let Some(keep) = &self.keep {
            keep.tokens(text, &mut |found| {
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
