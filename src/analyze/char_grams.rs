//! N-grams of letters and of bytes.

use std::ops::{Range, RangeInclusive};

use crate::analyze::base_grams;
use crate::analyze::characters::{each_word, is_space, lower_into};
use crate::analyze::new_words::{NewWords, find_borders, grams_within, pad};
use crate::lexicon::WAITING;
use crate::lexicon::form_table::{Key, Role, UNKNOWN};
use crate::lexicon::lookup::Stretches;
use crate::lexicon::numbering::Numbering;

/// Words longer than this are not remembered: languages without spaces would fill the memory with sentences.
const REMEMBERED: usize = 32;

/// The n-grams of longer words are not looked up together with those of others, which would take too much memory.
const SHORT: usize = 256;

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
        if numbering.make_codes(length) {
            base_grams::number(bytes, length, numbering, numbers);
            continue;
        }
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
        each_word(&text[begin..], |start, end| {
            self.words.push((begin + start, begin + end));
            if self.words.len() == TOGETHER {
                self.number_words(&text, lengths.clone(), numbering, numbers);
            }
        });
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
        self.new.settle(text, &lengths, numbering);
        let forms = std::mem::take(&mut self.forms);
        let mut document_ends = std::mem::take(&mut self.document_ends).into_iter().peekable();
        fetch_first(&forms, numbering);
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

    /// What is known of each word; new ones wait, and those that are too long stay unknown.
    fn look_up<N: Numbering>(&mut self, text: &[u8], numbering: &mut N) {
        self.new.clear();
        self.forms.clear();
        let (words, new) = (&self.words, &mut self.new);
        let tokens = Stretches { text, count: words.len(), span: |i: usize| words[i] };
        let settle = |numbering: &mut N, key: &Key, i: usize| {
            let (start, end) = words[i];
            if end - start > SHORT {
                return UNKNOWN;
            }
            let next = WAITING | new.len() as u32;
            // Most words of a corpus come once (78 % of those of 79 languages).
            let remembered = end - start <= REMEMBERED && numbering.meet(key);
            let number = if remembered { numbering.form(key, || tokens.bytes(i), next) } else { next };
            if number == next {
                new.push(remembered.then_some(*key), (start, end));
            }
            number
        };
        tokens.look_up(numbering, &mut self.forms, Role::Form, settle);
    }

    fn expand<N: Numbering>(&mut self, word: &[u8], lengths: RangeInclusive<usize>, numbering: &mut N) {
        self.word.clear();
        pad(word, &mut self.word);
        self.expansion.clear();
        self.borders.clear();
        find_borders(&self.word, 0, &mut self.borders);
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
        self.borders.clear();
        find_borders(&self.word, 0, &mut self.borders);
        for length in *lengths.start()..=(*lengths.end()).min(self.borders.len() - 1) {
            grams_of_length(&self.word, &self.borders, length, numbering, numbers.terms);
        }
        numbers.end_document();
    }
}

/// Ask for what the first words stand for, and for where that of the next ones is.
fn fetch_first<N: Numbering>(forms: &[u32], numbering: &N) {
    let known = |at: Range<usize>| forms.iter().take(at.end).skip(at.start).filter(|&&form| form < WAITING);
    known(0..2 * AHEAD).for_each(|&form| numbering.prefetch_expansion(form));
    known(0..AHEAD).for_each(|&form| numbering.prefetch_nodes(form));
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
