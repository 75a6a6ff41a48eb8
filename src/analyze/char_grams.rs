//! N-grams of letters and of bytes.

use std::ops::RangeInclusive;

use crate::analyze::characters::{is_space, lower_into};
use crate::lexicon::WAITING;
use crate::lexicon::form_table::{KEY_BYTES, Key, Role, UNKNOWN};
use crate::lexicon::lookup::Stretches;
use crate::lexicon::numbering::Numbering;

/// Words longer than this are not remembered: languages without spaces would fill the memory with sentences.
const REMEMBERED: usize = 32;

/// What the letters of a sequence of nucleotides can be, with gaps and what is not known.
const NUCLEOTIDES: &[u8] = b"ACGTUNRYSWKMBDHV-.*";

/// A sequence in capitals, a lower-case letter only marking a repeat; and U as T, if it has nothing but nucleotides.
pub fn as_bases(bytes: &[u8]) -> Vec<u8> {
    let mut bases = bytes.to_ascii_uppercase();
    if bases.contains(&b'U') && bases.iter().all(|base| NUCLEOTIDES.contains(base)) {
        bases.iter_mut().filter(|base| **base == b'U').for_each(|base| *base = b'T');
    }
    bases
}

/// The numbers of terms, and where those of each document end.
pub struct Numbers<'a> {
    pub terms: &'a mut Vec<u32>,
    pub ends: &'a mut Vec<usize>,
}

impl Numbers<'_> {
    fn end_document(&mut self) {
        self.ends.push(self.terms.len());
    }
}

pub fn byte_grams<N: Numbering>(
    bytes: &[u8],
    shortest: usize,
    longest: usize,
    numbering: &mut N,
    numbers: &mut Vec<u32>,
) {
    for length in shortest..=longest.min(bytes.len()) {
        let span = |start: usize| (start, start + length);
        Stretches { text: bytes, count: bytes.len() - length + 1, span }.terms(numbering, numbers);
    }
}

/// Texts, ready to be cut into n-grams of letters.
#[derive(Default)]
pub struct Letters {
    text: Vec<u8>,
    word: Vec<u8>,
    borders: Vec<usize>,
    expansion: Vec<u32>,
    words: Vec<(usize, usize)>,
    /// Before which of these words documents end.
    document_ends: Vec<usize>,
    forms: Vec<u32>,
    new: NewWords,
}

/// So many words are looked up at a time, and the n-grams of the new ones among them together: word by word, each
/// look-up would wait for the memory alone (measured on 79 languages: half of the time).
const TOGETHER: usize = 512;

/// How many words ahead their n-grams are fetched, and where those are is asked for.
const AHEAD: usize = 8;

/// Words that were met for the first time, padded, and their n-grams.
#[derive(Default)]
struct NewWords {
    words: Vec<(Key, usize, usize)>,
    text: Vec<u8>,
    grams: Vec<(usize, usize)>,
    ends: Vec<usize>,
    nodes: Vec<u32>,
}

impl NewWords {
    fn clear(&mut self) {
        self.words.clear();
        self.text.clear();
        self.grams.clear();
        self.ends.clear();
        self.nodes.clear();
    }

    fn nodes(&self, word: usize) -> &[u32] {
        let start = if word == 0 { 0 } else { self.ends[word - 1] };
        &self.nodes[start..self.ends[word]]
    }

    /// Number the n-grams of all words, and remember what each word stands for.
    fn settle<N: Numbering>(&mut self, text: &[u8], lengths: RangeInclusive<usize>, numbering: &mut N) {
        if self.words.is_empty() {
            return;
        }
        let mut borders = Vec::new();
        for &(_, start, end) in &self.words {
            let first = self.text.len();
            pad(&text[start..end], &mut self.text);
            find_borders(&self.text[first..], &mut borders);
            borders.iter_mut().for_each(|border| *border += first);
            for length in grams_within(&lengths, borders.len() - 1) {
                self.grams.extend(borders.iter().zip(&borders[length..]).map(|(&start, &end)| (start, end)));
            }
            self.ends.push(self.grams.len());
        }
        // Behind the last n-gram a whole key can be read.
        self.text.resize(self.text.len() + KEY_BYTES, b' ');
        let grams = &self.grams;
        Stretches { text: &self.text, count: grams.len(), span: |i: usize| grams[i] }
            .terms(numbering, &mut self.nodes);
        for (i, (key, start, end)) in self.words.iter().enumerate() {
            numbering.remember(key, || &text[*start..*end], self.nodes(i));
        }
    }
}

/// A word with a space on both sides.
fn pad(word: &[u8], out: &mut Vec<u8>) {
    out.push(b' ');
    out.extend_from_slice(word);
    out.push(b' ');
}

/// The lengths of the n-grams of so many letters; what is shorter than all of them counts once, whole.
fn grams_within(lengths: &RangeInclusive<usize>, letters: usize) -> RangeInclusive<usize> {
    (*lengths.start()).min(letters)..=(*lengths.end()).min(letters)
}

impl Letters {
    fn push(&mut self, text: &str, lower: bool) {
        if !lower {
            self.text.extend_from_slice(text.as_bytes());
        } else if text.is_ascii() {
            self.text.extend(text.bytes().map(|byte| byte.to_ascii_lowercase()));
        } else {
            lower_into(text, &mut self.text, None);
        }
    }

    /// Forget the documents before.
    pub fn clear(&mut self) {
        self.text.clear();
        self.words.clear();
        self.document_ends.clear();
    }

    /// Add the words of a document; those of documents before it may get their numbers now.
    pub fn add_words<N: Numbering>(
        &mut self,
        text: &str,
        lower: bool,
        lengths: RangeInclusive<usize>,
        numbering: &mut N,
        numbers: &mut Numbers,
    ) {
        let begin = self.text.len();
        self.push(text, lower);
        let text = std::mem::take(&mut self.text);
        let mut start = begin;
        for word in std::str::from_utf8(&text[begin..]).unwrap_or_default().split_inclusive(is_space) {
            let end = start + word.trim_end_matches(is_space).len();
            if end > start {
                self.words.push((start, end));
            }
            start += word.len();
            if self.words.len() == TOGETHER {
                self.number_words(&text, lengths.clone(), numbering, numbers);
            }
        }
        self.text = text;
        self.document_ends.push(self.words.len());
    }

    /// Give the words that have none their numbers.
    pub fn finish_words<N: Numbering>(
        &mut self,
        lengths: RangeInclusive<usize>,
        numbering: &mut N,
        numbers: &mut Numbers,
    ) {
        let text = std::mem::take(&mut self.text);
        self.number_words(&text, lengths, numbering, numbers);
        self.text = text;
    }

    fn number_words<N: Numbering>(
        &mut self,
        text: &[u8],
        lengths: RangeInclusive<usize>,
        numbering: &mut N,
        numbers: &mut Numbers,
    ) {
        self.look_up(text, numbering);
        self.new.settle(text, lengths.clone(), numbering);
        let forms = std::mem::take(&mut self.forms);
        let mut document_ends = std::mem::take(&mut self.document_ends).into_iter().peekable();
        for (i, &form) in forms.iter().enumerate() {
            while document_ends.next_if(|&end| end <= i).is_some() {
                numbers.end_document();
            }
            let ahead = |by: usize| forms.get(i + by).filter(|&&form| form < WAITING);
            ahead(2 * AHEAD).into_iter().for_each(|&form| numbering.prefetch_expansion(form));
            ahead(AHEAD).into_iter().for_each(|&form| numbering.prefetch_nodes(form));
            match form {
                UNKNOWN => {
                    let (start, end) = self.words[i];
                    self.expand(&text[start..end], lengths.clone(), numbering);
                    numbers.terms.extend_from_slice(&self.expansion);
                }
                WAITING.. => numbers.terms.extend_from_slice(self.new.nodes((form & !WAITING) as usize)),
                form => numbers.terms.extend_from_slice(numbering.expansion(form)),
            }
        }
        document_ends.for_each(|_| numbers.end_document());
        self.forms = forms;
        self.words.clear();
    }

    /// What is known of each word; new ones wait, and those that are too long to be remembered stay unknown.
    fn look_up<N: Numbering>(&mut self, text: &[u8], numbering: &mut N) {
        self.new.clear();
        self.forms.clear();
        let (words, new) = (&self.words, &mut self.new.words);
        let tokens = Stretches { text, count: words.len(), span: |i: usize| words[i] };
        let settle = |numbering: &mut N, key: &Key, i: usize| {
            let (start, end) = words[i];
            if end - start > REMEMBERED {
                return UNKNOWN;
            }
            let next = WAITING | new.len() as u32;
            let number = numbering.form(key, || tokens.bytes(i), next);
            if number == next {
                new.push((*key, start, end));
            }
            number
        };
        tokens.look_up(numbering, &mut self.forms, Role::Form, settle);
    }

    fn expand<N: Numbering>(&mut self, word: &[u8], lengths: RangeInclusive<usize>, numbering: &mut N) {
        self.word.clear();
        pad(word, &mut self.word);
        self.expansion.clear();
        find_borders(&self.word, &mut self.borders);
        for length in grams_within(&lengths, self.borders.len() - 1) {
            grams_of_length(&self.word, &self.borders, length, numbering, &mut self.expansion);
        }
    }

    pub fn across<N: Numbering>(
        &mut self,
        text: &str,
        lower: bool,
        lengths: RangeInclusive<usize>,
        numbering: &mut N,
        numbers: &mut Numbers,
    ) {
        self.text.clear();
        self.push(text, lower);
        self.word.clear();
        collapse_spaces(&self.text, &mut self.word);
        find_borders(&self.word, &mut self.borders);
        for length in *lengths.start()..=(*lengths.end()).min(self.borders.len() - 1) {
            grams_of_length(&self.word, &self.borders, length, numbering, numbers.terms);
        }
        numbers.end_document();
    }
}

/// Two or more white space characters in a row become one space; a single one stays what it is.
fn collapse_spaces(text: &[u8], out: &mut Vec<u8>) {
    let mut run: Option<(char, usize)> = None;
    let mut buffer = [0; 4];
    let mut flush = |run: &mut Option<(char, usize)>, out: &mut Vec<u8>| match run.take() {
        Some((space, 1)) => out.extend_from_slice(space.encode_utf8(&mut buffer).as_bytes()),
        Some(_) => out.push(b' '),
        None => {}
    };
    let mut encoded = [0; 4];
    for character in std::str::from_utf8(text).unwrap_or_default().chars() {
        if is_space(character) {
            run = Some(run.map_or((character, 1), |(first, length)| (first, length + 1)));
        } else {
            flush(&mut run, out);
            out.extend_from_slice(character.encode_utf8(&mut encoded).as_bytes());
        }
    }
    flush(&mut run, out);
}

/// Where characters begin, and the end.
fn find_borders(text: &[u8], borders: &mut Vec<usize>) {
    borders.clear();
    borders.extend(text.iter().enumerate().filter(|&(_, &byte)| byte & 0xC0 != 0x80).map(|(at, _)| at));
    borders.push(text.len());
}

fn grams_of_length<N: Numbering>(
    text: &[u8],
    borders: &[usize],
    length: usize,
    numbering: &mut N,
    numbers: &mut Vec<u32>,
) {
    if length >= borders.len() {
        return;
    }
    let span = |i: usize| (borders[i], borders[i + length]);
    Stretches { text, count: borders.len() - length, span }.terms(numbering, numbers);
}
