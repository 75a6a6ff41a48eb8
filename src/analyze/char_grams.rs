//! N-grams of letters and of bytes.

use crate::analyze::characters::{is_space, lower_into};
use crate::lexicon::WAITING;
use crate::lexicon::form_table::Key;
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

/// The text of one document, ready to be cut into n-grams of letters.
#[derive(Default)]
pub struct Letters {
    text: Vec<u8>,
    word: Vec<u8>,
    borders: Vec<usize>,
    expansion: Vec<u32>,
}

impl Letters {
    pub fn set(&mut self, text: &str, lower: bool) {
        self.text.clear();
        if !lower {
            self.text.extend_from_slice(text.as_bytes());
        } else if text.is_ascii() {
            self.text.extend(text.bytes().map(|byte| byte.to_ascii_lowercase()));
        } else {
            lower_into(text, &mut self.text, None);
        }
    }

    pub fn within_words<N: Numbering>(
        &mut self,
        shortest: usize,
        longest: usize,
        numbering: &mut N,
        numbers: &mut Vec<u32>,
    ) {
        let text = std::mem::take(&mut self.text);
        for word in
            std::str::from_utf8(&text).unwrap_or_default().split(is_space).filter(|word| !word.is_empty())
        {
            if word.len() > REMEMBERED {
                self.expand(word, shortest, longest, numbering);
                numbers.extend_from_slice(&self.expansion);
                continue;
            }
            let key = Key::of(word.as_bytes());
            let form = numbering.form(&key, || word.as_bytes(), WAITING);
            if form != WAITING {
                numbers.extend_from_slice(numbering.expansion(form));
                continue;
            }
            self.expand(word, shortest, longest, numbering);
            numbers.extend_from_slice(&self.expansion);
            numbering.remember(&key, || word.as_bytes(), &self.expansion);
        }
        self.text = text;
    }

    fn expand<N: Numbering>(&mut self, word: &str, shortest: usize, longest: usize, numbering: &mut N) {
        self.word.clear();
        self.word.push(b' ');
        self.word.extend_from_slice(word.as_bytes());
        self.word.push(b' ');
        self.expansion.clear();
        let mut expansion = std::mem::take(&mut self.expansion);
        find_borders(&self.word, &mut self.borders);
        for length in shortest..=longest {
            grams_of_length(&self.word, &self.borders, length, numbering, &mut expansion);
            if length >= self.borders.len() - 1 {
                // The word is no longer than the n-gram: it counts once, whole, and longer ones do not exist.
                if length >= self.borders.len() {
                    expansion.push(numbering.term(&Key::of(&self.word), || &self.word));
                }
                break;
            }
        }
        self.expansion = expansion;
    }

    pub fn across<N: Numbering>(
        &mut self,
        shortest: usize,
        longest: usize,
        numbering: &mut N,
        numbers: &mut Vec<u32>,
    ) {
        self.word.clear();
        collapse_spaces(&self.text, &mut self.word);
        find_borders(&self.word, &mut self.borders);
        for length in shortest..=longest.min(self.borders.len() - 1) {
            grams_of_length(&self.word, &self.borders, length, numbering, numbers);
        }
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
