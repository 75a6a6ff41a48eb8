//! How a document is cut into tokens: by which tokenizer, and what is kept whole.

use crate::errors::ReadError;
use std::error::Error;
use std::fmt;
use std::ops::Range;

use regex::{Regex, RegexBuilder};

use crate::analyze::normalize::WordList;
use crate::analyze::words::{Tokens, WordRules, checked};

/// A regular expression takes at most this many bytes of memory, compiled.
const PATTERN_BYTES: usize = 16 << 20;

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
    Pattern(Regex),
    Function(Box<dyn Cutter>),
}

/// A regular expression that cannot be used.
#[derive(Debug)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PatternError {}

pub fn pattern(source: &str) -> Result<Regex, PatternError> {
    let built = RegexBuilder::new(source).size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES).build();
    let pattern = built.map_err(|error| PatternError(error.to_string()))?;
    if pattern.captures_len() > 2 {
        let groups = pattern.captures_len() - 1;
        return Err(PatternError(format!("it has {groups} groups, and a token can be only one of them")));
    }
    Ok(pattern)
}

/// Where the tokens of a pattern stand: its matches, or their only group; never empty.
pub fn matches<'a>(pattern: &'a Regex, text: &'a str) -> Box<dyn Iterator<Item = Range<usize>> + 'a> {
    let found: Box<dyn Iterator<Item = Range<usize>>> = if pattern.captures_len() == 1 {
        Box::new(pattern.find_iter(text).map(|found| found.range()))
    } else {
        Box::new(pattern.captures_iter(text).filter_map(|found| Some(found.get(1)?.range())))
    };
    Box::new(found.filter(|range| !range.is_empty()))
}

pub struct Cut {
    pub rules: WordRules,
    pub tokenizer: Tokenizer,
    /// What is a token of its own, whatever the tokenizer would make of it, and is not normalized.
    pub keep: Option<Regex>,
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
        self.pieces(text).into_iter().try_for_each(|piece| {
            let bytes = &document[piece.range];
            if piece.kept {
                Ok(tokens.add_whole(bytes, &self.rules)?)
            } else {
                self.add_piece(bytes, true, tokens)
            }
        })
    }

    /// The document as stretches that are kept whole and what stands between them.
    pub fn pieces(&self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut end = 0;
        for found in self.keep.iter().flat_map(|keep| matches(keep, text)) {
            pieces.push(Piece { range: end..found.start, kept: false });
            end = found.end;
            pieces.push(Piece { range: found, kept: true });
        }
        pieces.push(Piece { range: end..text.len(), kept: false });
        pieces.retain(|piece| !piece.range.is_empty());
        pieces
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
