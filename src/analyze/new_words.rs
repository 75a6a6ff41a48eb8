//! N-grams of words that are not remembered. Those of many words are looked up together, the longest first: what is one
//! letter shorter at the same place follows from the longer one, so that most n-grams need no look-up of their own.

use std::ops::RangeInclusive;

use crate::lexicon::form_table::{KEY_BYTES, Key, UNKNOWN};
use crate::lexicon::lookup::Stretches;
use crate::lexicon::numbering::Numbering;

#[derive(Default)]
pub struct NewWords {
    words: Vec<Word>,
    /// The words, padded, and where their letters begin, with the end of each.
    text: Vec<u8>,
    borders: Vec<usize>,
    /// The n-grams of each word, one length after the other.
    nodes: Vec<u32>,
    sought: Vec<Sought>,
    found: Vec<u32>,
}

struct Word {
    /// None if the word shall not be remembered.
    key: Option<Key>,
    /// Where it stands in the text of the documents.
    start: usize,
    end: usize,
    first_border: usize,
    letters: usize,
    lengths: RangeInclusive<usize>,
    nodes: usize,
}

impl Word {
    /// Where its n-grams of a length begin.
    fn row(&self, length: usize) -> usize {
        self.nodes + (*self.lengths.start()..length).map(|shorter| self.letters - shorter + 1).sum::<usize>()
    }

    /// How many of its n-grams of a length are the beginning of one that is longer by a letter.
    fn beginnings(&self, length: usize) -> usize {
        if length < *self.lengths.end() { self.letters - length } else { 0 }
    }
}

/// An n-gram to be looked up: where it stands, where its number goes, and the number of the longer one.
struct Sought {
    span: (usize, usize),
    place: usize,
    longer: u32,
}

impl NewWords {
    pub fn clear(&mut self) {
        self.words.clear();
        self.text.clear();
        self.borders.clear();
        self.nodes.clear();
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn push(&mut self, key: Option<Key>, (start, end): (usize, usize)) {
        let (first_border, letters, nodes) = (0, 0, 0);
        self.words.push(Word { key, start, end, first_border, letters, lengths: 0..=0, nodes });
    }

    pub fn nodes(&self, word: usize) -> &[u32] {
        let end = self.words.get(word + 1).map_or(self.nodes.len(), |next| next.nodes);
        &self.nodes[self.words[word].nodes..end]
    }

    /// Number the n-grams of all words, and remember what each word stands for.
    pub fn settle<N: Numbering>(&mut self, text: &[u8], lengths: &RangeInclusive<usize>, numbering: &mut N) {
        self.lay_out(text, lengths);
        let longest = self.words.iter().map(|word| *word.lengths.end()).max().unwrap_or(0);
        for length in (1..=longest).rev() {
            self.follow(length, numbering);
            self.look_up(numbering);
        }
        for (i, word) in self.words.iter().enumerate() {
            if let Some(key) = &word.key {
                numbering.remember(key, || &text[word.start..word.end], self.nodes(i));
            }
        }
    }

    fn lay_out(&mut self, text: &[u8], lengths: &RangeInclusive<usize>) {
        let mut nodes = 0;
        for word in &mut self.words {
            let first = self.text.len();
            pad(&text[word.start..word.end], &mut self.text);
            word.first_border = self.borders.len();
            find_borders(&self.text, first, &mut self.borders);
            word.letters = self.borders.len() - word.first_border - 1;
            word.lengths = grams_within(lengths, word.letters);
            word.nodes = nodes;
            nodes = word.row(word.lengths.end() + 1);
        }
        // Behind the last n-gram a whole key can be read.
        self.text.resize(self.text.len() + KEY_BYTES, b' ');
        self.nodes.resize(nodes, UNKNOWN);
    }

    /// Number the n-grams of a length that follow from longer ones; the others are sought.
    fn follow<N: Numbering>(&mut self, length: usize, numbering: &N) {
        self.sought.clear();
        for word in self.words.iter().filter(|word| word.lengths.contains(&length)) {
            let (row, beginnings) = (word.row(length), word.beginnings(length));
            let (shorter, longer) = self.nodes[row..].split_at_mut(word.letters - length + 1);
            let borders = &self.borders[word.first_border..];
            let seek = |i: usize, longer: u32| Sought {
                span: (borders[i], borders[i + length]),
                place: row + i,
                longer,
            };
            for (i, (node, &longer)) in shorter[..beginnings].iter_mut().zip(&*longer).enumerate() {
                *node = numbering.prefix(longer);
                numbering.prefetch_prefix(*node);
                if *node == UNKNOWN {
                    self.sought.push(seek(i, longer));
                }
            }
            self.sought.extend((beginnings..shorter.len()).map(|i| seek(i, UNKNOWN)));
        }
    }

    fn look_up<N: Numbering>(&mut self, numbering: &mut N) {
        let sought = &self.sought;
        self.found.clear();
        Stretches { text: &self.text, count: sought.len(), span: |i: usize| sought[i].span }
            .terms(numbering, &mut self.found);
        for (sought, &node) in sought.iter().zip(&self.found) {
            self.nodes[sought.place] = node;
            numbering.set_prefix(sought.longer, node);
            numbering.prefetch_prefix(node);
        }
    }
}

/// A word with a space on both sides.
pub fn pad(word: &[u8], out: &mut Vec<u8>) {
    out.push(b' ');
    out.extend_from_slice(word);
    out.push(b' ');
}

/// The lengths of the n-grams of so many letters; what is shorter than all of them counts once, whole.
pub fn grams_within(lengths: &RangeInclusive<usize>, letters: usize) -> RangeInclusive<usize> {
    (*lengths.start()).min(letters)..=(*lengths.end()).min(letters)
}

/// Append where characters begin, from `first` on, and the end.
pub fn find_borders(text: &[u8], first: usize, borders: &mut Vec<usize>) {
    borders.extend((first..text.len()).filter(|&at| text[at] & 0xC0 != 0x80));
    borders.push(text.len());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lexicon::Lexicon;
    use crate::lexicon::form_table::Role;
    use crate::lexicon::numbering::Frozen;

    /// The n-grams of a padded word, one length after the other.
    fn grams(word: &str, lengths: &RangeInclusive<usize>) -> Vec<String> {
        let letters: Vec<char> = format!(" {word} ").chars().collect();
        let of_length =
            |length: usize| letters.windows(length).map(|gram| gram.iter().collect()).collect::<Vec<_>>();
        grams_within(lengths, letters.len()).flat_map(of_length).collect()
    }

    fn settled(
        words: &[String],
        lengths: &RangeInclusive<usize>,
        numbering: &mut impl Numbering,
    ) -> Vec<Vec<u32>> {
        let (mut new, text) = (NewWords::default(), words.concat());
        let mut start = 0;
        for word in words {
            new.push(Some(Key::of(word.as_bytes())), (start, start + word.len()));
            start += word.len();
        }
        new.settle(text.as_bytes(), lengths, numbering);
        (0..words.len()).map(|word| new.nodes(word).to_vec()).collect()
    }

    proptest! {
        #[test]
        fn every_n_gram_has_the_number_of_its_bytes(
            learned in prop::collection::vec(prop::collection::vec("[abé]{1,9}", 0..6), 1..4),
            asked in prop::collection::vec("[abcé]{1,9}", 1..6),
            shortest in 1usize..5,
            more in 0usize..4,
        ) {
            let (lengths, mut lexicon) = (shortest..=shortest + more, Lexicon::default());
            let number = |lexicon: &Lexicon, gram: &String| {
                lexicon.forms.table.find(&Key::of(gram.as_bytes()), || gram.as_bytes(), Role::Term).unwrap_or(UNKNOWN)
            };
            let numbers = |lexicon: &Lexicon, words: &[String]| -> Vec<Vec<u32>> {
                words.iter().map(|word| grams(word, &lengths).iter().map(|gram| number(lexicon, gram)).collect()).collect()
            };
            for words in &learned {
                let found = settled(words, &lengths, &mut lexicon);
                prop_assert!(found.iter().flatten().all(|&node| node < lexicon.nodes));
                prop_assert_eq!(found, numbers(&lexicon, words));
            }
            let found = settled(&asked, &lengths, &mut Frozen::new(&lexicon, false));
            prop_assert_eq!(found, numbers(&lexicon, &asked));
        }
    }
}
