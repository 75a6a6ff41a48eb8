//! Which terms a text consists of, and where they stand in it: the slow, careful reading behind explanations.

use crate::analyze::{Tokens, WordRules, checked};
use crate::characters::{is_space, lower_into};
use crate::lexicon::Key;
use crate::normalize::Normalizer;
use crate::numbering::Numbering;
use crate::read::{Analysis, Document, ReadError};

/// A term as it occurs: its name, its node, and its place in the text, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub term: Vec<u8>,
    pub node: u32,
    pub start: usize,
    pub end: usize,
}

pub fn parts<N: Numbering>(
    document: Document,
    analysis: &Analysis,
    normalizer: Option<&Normalizer>,
    numbering: &mut N,
) -> Result<Vec<Part>, ReadError> {
    match analysis {
        Analysis::Words { rules, shortest, longest } => {
            let text = checked(document.bytes, document.trusted)?;
            let words = word_parts(text, rules, normalizer, numbering)?;
            Ok(join(&words, *shortest, *longest, numbering))
        }
        Analysis::Letters { lower, within_words, shortest, longest } => {
            let letters = Lettered::new(checked(document.bytes, document.trusted)?, *lower);
            let pieces = if *within_words { letters.padded_words() } else { vec![letters.collapsed()] };
            let whole = *within_words;
            Ok(pieces.iter().flat_map(|piece| piece.grams(*shortest, *longest, whole, numbering)).collect())
        }
        Analysis::Bytes { shortest, longest } => {
            let bytes = document.bytes;
            let lengths = *shortest..=(*longest).min(bytes.len());
            Ok(lengths
                .flat_map(|length| (0..=bytes.len() - length).map(move |start| (start, start + length)))
                .map(|(start, end)| part(bytes, start, end, start, end, numbering))
                .collect())
        }
    }
}

fn part<N: Numbering>(
    text: &[u8],
    from: usize,
    to: usize,
    start: usize,
    end: usize,
    numbering: &mut N,
) -> Part {
    let term = text[from..to].to_vec();
    let node = numbering.term(&Key::of(&term), &term);
    Part { term, node, start, end }
}

fn word_parts<N: Numbering>(
    text: &str,
    rules: &WordRules,
    normalizer: Option<&Normalizer>,
    numbering: &mut N,
) -> Result<Vec<Part>, ReadError> {
    let mut tokens = Tokens::default();
    tokens.add_words(text.as_bytes(), true, rules)?;
    let letters = Lettered::new(text, rules.lower);
    let spans: Vec<(usize, usize)> =
        tokens.spans().iter().map(|&[start, end]| (start as usize, end as usize)).collect();
    let forms: Vec<&str> = spans.iter().map(|&(start, end)| letters.slice(start, end)).collect();
    let normalized = normalizer.map(|normalizer| normalizer.normalize(&forms).map_err(ReadError::Normalizer));
    let words: Vec<Option<String>> = match normalized.transpose()?.as_ref() {
        Some(words) => words.iter().map(|word| word.map(str::to_owned)).collect(),
        None => forms.iter().map(|form| Some((*form).to_owned())).collect(),
    };
    let kept = spans.into_iter().zip(words).filter_map(|(span, word)| Some((span, word?)));
    Ok(kept
        .map(|((from, to), word)| {
            let node = numbering.term(&Key::of(word.as_bytes()), word.as_bytes());
            let (start, end) = letters.place(from, to);
            Part { term: word.into_bytes(), node, start, end }
        })
        .collect())
}

fn join<N: Numbering>(words: &[Part], shortest: usize, longest: usize, numbering: &mut N) -> Vec<Part> {
    let mut all = if shortest == 1 { words.to_vec() } else { Vec::new() };
    let mut previous = words.to_vec();
    for length in 2..=longest.min(words.len()) {
        let joined = previous.iter().zip(&words[length - 1..]).map(|(prefix, last)| Part {
            term: [&prefix.term[..], b" ", &last.term[..]].concat(),
            node: numbering.pair(prefix.node, last.node),
            start: prefix.start,
            end: last.end,
        });
        previous = joined.collect();
        if length >= shortest {
            all.extend_from_slice(&previous);
        }
    }
    all
}

/// Text as it is analyzed, each of its characters with the place it comes from.
struct Lettered {
    text: String,
    /// For each byte of `text` and for its end, where its character begins in the original.
    origin: Vec<u32>,
}

impl Lettered {
    fn new(source: &str, lower: bool) -> Self {
        let mut text = Vec::with_capacity(source.len());
        let mut origin = Vec::with_capacity(source.len() + 1);
        if lower {
            lower_into(source, &mut text, Some(&mut origin));
        } else {
            text.extend_from_slice(source.as_bytes());
            origin.extend(
                source.char_indices().flat_map(|(at, c)| std::iter::repeat_n(at as u32, c.len_utf8())),
            );
        }
        origin.push(source.len() as u32);
        Self { text: String::from_utf8(text).unwrap_or_default(), origin }
    }

    fn slice(&self, from: usize, to: usize) -> &str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// The place in the original of `text[from..to]`: an `İ` is two characters in lower case, but stands once.
    fn place(&self, from: usize, to: usize) -> (usize, usize) {
        let start = self.origin[from];
        let last = self.origin[to - 1];
        let end = self.origin[to - 1..].iter().find(|&&at| at > last).copied().unwrap_or(last);
        (start as usize, end as usize)
    }

    /// Each word between two spaces, which come from nowhere.
    fn padded_words(&self) -> Vec<Lettered> {
        let mut words = Vec::new();
        let mut at = 0;
        for word in self.text.split_inclusive(is_space) {
            let bare = word.trim_end_matches(is_space);
            if !bare.is_empty() {
                let end = at + bare.len();
                let (first, last) = (self.origin[at], self.place(at, end).1 as u32);
                let origin = [&[first], &self.origin[at..end], &[last, last]].concat();
                words.push(Lettered { text: format!(" {bare} "), origin });
            }
            at += word.len();
        }
        words
    }

    /// With one space for each run of two or more white space characters.
    fn collapsed(&self) -> Lettered {
        let mut text = String::new();
        let mut origin = Vec::new();
        let mut characters = self.text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let mut kept = character;
            while is_space(character) && characters.next_if(|&(_, next)| is_space(next)).is_some() {
                kept = ' ';
            }
            text.push(kept);
            origin.extend(std::iter::repeat_n(self.origin[at], kept.len_utf8()));
        }
        origin.push(self.origin.last().copied().unwrap_or(0));
        Lettered { text, origin }
    }

    /// N-grams; with `whole`, a text shorter than its n-grams counts once, as it is.
    fn grams<N: Numbering>(
        &self,
        shortest: usize,
        longest: usize,
        whole: bool,
        numbering: &mut N,
    ) -> Vec<Part> {
        let mut borders: Vec<usize> = self.text.char_indices().map(|(at, _)| at).collect();
        let characters = borders.len();
        borders.push(self.text.len());
        let mut grams = Vec::new();
        for length in shortest..=longest {
            if whole && length >= characters {
                grams.push(self.gram(0, self.text.len(), numbering));
                break;
            }
            if length <= characters {
                let spans = borders.iter().zip(&borders[length..]);
                grams.extend(spans.map(|(&from, &to)| self.gram(from, to, numbering)));
            }
        }
        grams
    }

    fn gram<N: Numbering>(&self, from: usize, to: usize, numbering: &mut N) -> Part {
        let (start, end) = self.place(from, to);
        part(self.text.as_bytes(), from, to, start, end, numbering)
    }
}
