//! The tokenizers besides plain words. They go over the text once more, character by character.

use crate::errors::{ReadError, TextError};
use std::ops::Range;

use crate::analyze::characters::{is_space, lower_into, marks, spaceless};
use crate::analyze::normalize::WordList;
use crate::analyze::patterns::Pattern;
use crate::analyze::spans::push_spans;
use crate::analyze::words::{PAD, Tokens, WordRules, checked};

impl Tokens {
    fn push(&mut self, range: Range<usize>) {
        self.spans.push([range.start as u32, range.end as u32]);
    }

    fn str(&self, range: Range<usize>) -> &str {
        std::str::from_utf8(&self.text[range]).unwrap_or_default()
    }

    /// Cut words as ever, but those of scripts without spaces into pairs of letters.
    pub(crate) fn emit_spaceless(&mut self, begin: usize, rules: &WordRules) -> Result<(), TextError> {
        self.check_room(begin)?;
        let first = self.spans.len();
        push_spans(&self.masks, begin as u32, (self.text.len() - PAD) as u32, &mut self.spans);
        let words = self.spans.split_off(first);
        let mut spans = std::mem::take(&mut self.spans);
        for &[start, end] in &words {
            let (start, end) = (start as usize, end as usize);
            for (range, pair) in letter_pairs(self.str(start..end)) {
                let range = start + range.start..start + range.end;
                if pair || rules.allow(&self.text[range.clone()], true) {
                    spans.push([range.start as u32, range.end as u32]);
                }
            }
        }
        self.spans = spans;
        Ok(())
    }

    /// Append the words, and between them every character that is not white space.
    pub fn add_words_and_punctuation(
        &mut self,
        source: &[u8],
        trusted: bool,
        rules: &WordRules,
    ) -> Result<(), TextError> {
        let (begin, first) = (self.text.len(), self.spans.len());
        let all = WordRules { min_length: 0, max_length: usize::MAX, max_bytes: usize::MAX, ..rules.clone() };
        self.add_words(source, trusted, &all)?;
        let words = self.spans.split_off(first);
        let mut done = begin;
        let end = [(self.text.len() - PAD) as u32; 2];
        for &[start, stop] in words.iter().chain([&end]) {
            let (start, stop) = (start as usize, stop as usize);
            // Pairs of letters overlap; there is nothing between them.
            let gap = done.min(start)..start;
            let others: Vec<(usize, usize)> = self
                .str(gap.clone())
                .char_indices()
                .filter(|&(_, c)| !is_space(c))
                .map(|(at, c)| (gap.start + at, c.len_utf8()))
                .collect();
            others.into_iter().for_each(|(at, width)| self.push(at..at + width));
            if start < stop {
                self.push(start..stop);
            }
            done = stop;
        }
        self.keep_lengths(first, rules, true);
        Ok(())
    }

    /// Append what stands between white space.
    pub fn add_between_spaces(
        &mut self,
        source: &[u8],
        trusted: bool,
        rules: &WordRules,
    ) -> Result<(), TextError> {
        self.add_found(source, trusted, rules, |text, push| {
            let mut at = 0;
            for word in text.split_inclusive(is_space) {
                let bare = word.trim_end_matches(is_space);
                if !bare.is_empty() {
                    push(at..at + bare.len());
                }
                at += word.len();
            }
        })
    }

    /// Append what a regular expression finds.
    pub fn add_matches(
        &mut self,
        source: &[u8],
        trusted: bool,
        rules: &WordRules,
        pattern: &Pattern,
    ) -> Result<(), ReadError> {
        let mut found = Ok(());
        self.add_found(source, trusted, rules, |text, push| found = pattern.tokens(text, push))?;
        found
    }

    /// Append what `find` says where it found it.
    fn add_found(
        &mut self,
        source: &[u8],
        trusted: bool,
        rules: &WordRules,
        find: impl FnOnce(&str, &mut dyn FnMut(Range<usize>)),
    ) -> Result<(), TextError> {
        let (begin, first) = (self.text.len(), self.spans.len());
        self.take_over(source, trusted, rules.lower)?;
        self.check_room(begin)?;
        let mut spans = std::mem::take(&mut self.spans);
        let text = self.str(begin..self.text.len() - PAD);
        find(text, &mut |found| spans.push([(begin + found.start) as u32, (begin + found.end) as u32]));
        self.spans = spans;
        self.keep_lengths(first, rules, true);
        Ok(())
    }

    /// Append a token that is not to be normalized.
    pub fn add_whole(&mut self, source: &[u8], rules: &WordRules) -> Result<(), TextError> {
        let begin = self.text.len();
        self.take_over(source, true, rules.lower)?;
        self.check_room(begin)?;
        let end = self.text.len() - PAD;
        if end - begin <= rules.max_bytes {
            self.verbatim.push(self.len() as u32);
            self.push(begin..end);
        }
        Ok(())
    }

    /// The text as a user-supplied tokenizer gets it.
    pub fn lowered(&self, source: &[u8], trusted: bool, rules: &WordRules) -> Result<String, TextError> {
        let source = checked(source, trusted)?;
        let mut lowered = Vec::with_capacity(source.len());
        if rules.lower {
            lower_into(source, &mut lowered, None);
        } else {
            lowered.extend_from_slice(source.as_bytes());
        }
        Ok(String::from_utf8(lowered).unwrap_or_default())
    }

    /// Append tokens that a function made.
    pub fn add_list(&mut self, words: &WordList, rules: &WordRules) -> Result<(), TextError> {
        let (begin, first) = (self.text.len(), self.spans.len());
        for word in words.iter().flatten() {
            let start = self.text.len();
            self.text.extend_from_slice(word.as_bytes());
            self.push(start..start + word.len());
        }
        self.text.extend([0; PAD]);
        self.check_room(begin)?;
        self.keep_lengths(first, rules, true);
        Ok(())
    }
}

/// A word in pieces: pairs of letters where its script has no spaces (a letter is a character with its marks),
/// and whole where it has. Says of each piece whether it is of the first kind.
fn letter_pairs(word: &str) -> Vec<(Range<usize>, bool)> {
    let (spaceless, marks) = (spaceless(), marks());
    let mut pieces: Vec<(Range<usize>, bool)> = Vec::new();
    let mut letters: Vec<usize> = Vec::new();
    let mut plain = 0;
    let close = |letters: &mut Vec<usize>, end: usize, pieces: &mut Vec<_>| {
        letters.push(end);
        let starts = &letters[..letters.len().saturating_sub(2).max(1)];
        pieces.extend(
            starts
                .iter()
                .enumerate()
                .map(|(i, &start)| (start..letters[(i + 2).min(letters.len() - 1)], true)),
        );
        letters.clear();
    };
    for (at, character) in word.char_indices() {
        let inside = !letters.is_empty();
        if inside && marks.contains(character) {
            continue;
        }
        match (inside, spaceless.contains(character)) {
            (true, false) => {
                close(&mut letters, at, &mut pieces);
                plain = at;
            }
            (false, true) => {
                pieces.extend((plain < at).then_some((plain..at, false)));
                letters.push(at);
            }
            (true, true) => letters.push(at),
            (false, false) => {}
        }
    }
    if letters.is_empty() {
        pieces.push((plain..word.len(), false));
    } else {
        close(&mut letters, word.len(), &mut pieces);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(word: &str) -> Vec<(&str, bool)> {
        letter_pairs(word).into_iter().map(|(range, pair)| (&word[range], pair)).collect()
    }

    #[test]
    fn what_has_no_spaces_becomes_pairs_of_letters_with_their_marks() {
        assert_eq!(pieces("東京都"), [("東京", true), ("京都", true)]);
        assert_eq!(pieces("東"), [("東", true)]);
        assert_eq!(pieces("iphone手機5"), [("iphone", false), ("手機", true), ("5", false)]);
        assert_eq!(pieces("ที่นี่"), [("ที่นี่", true)]);
        assert_eq!(pieces("word"), [("word", false)]);
    }
}
