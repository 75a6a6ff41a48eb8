//! Arrays that a tally was exported to, checked, and made a tally again. They are borrowed: a model that only
//! answers needs its lexicon and the weights, and never a copy of its counts.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::lexicon::form_table::{FormTable, Key, Role};
use crate::lexicon::pair_table::PairTable;
use crate::lexicon::{Forms, Lexicon};
use crate::memory::collected;
use crate::tally::cells::{Cell, ClassCounts, MOST_OCCURRENCES};
use crate::tally::export::Integers;

/// Whole numbers in the narrowest type that holds them.
#[derive(Clone, Copy)]
pub enum Column<'a> {
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
}

impl<'a> Column<'a> {
    pub fn len(self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
        }
    }

    #[inline]
    pub fn get(self, i: usize) -> u64 {
        match self {
            Self::U8(values) => values[i].into(),
            Self::U16(values) => values[i].into(),
            Self::U32(values) => values[i].into(),
            Self::U64(values) => values[i],
        }
    }

    pub fn iter(self) -> impl ExactSizeIterator<Item = u64> {
        (0..self.len()).map(move |i| self.get(i))
    }

    pub fn last(self) -> u64 {
        self.len().checked_sub(1).map_or(0, |last| self.get(last))
    }

    /// As numbers of 32 bits, if that is what they are.
    pub fn narrow(self) -> Option<Cow<'a, [u32]>> {
        match self {
            Self::U8(values) => Some(collected(values.iter().map(|&value| value.into())).into()),
            Self::U16(values) => Some(collected(values.iter().map(|&value| value.into())).into()),
            Self::U32(values) => Some(values.into()),
            Self::U64(_) => None,
        }
    }
}

impl Integers {
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn column(&self) -> Column<'_> {
        match self {
            Self::U8(all) => Column::U8(all),
            Self::U16(all) => Column::U16(all),
            Self::U32(all) => Column::U32(all),
            Self::U64(all) => Column::U64(all),
        }
    }

    /// Some numbers of a column, in its type.
    pub fn gathered(column: Column, places: &[usize]) -> Self {
        match column {
            Column::U8(all) => Self::U8(collected(places.iter().map(|&i| all[i]))),
            Column::U16(all) => Self::U16(collected(places.iter().map(|&i| all[i]))),
            Column::U32(all) => Self::U32(collected(places.iter().map(|&i| all[i]))),
            Column::U64(all) => Self::U64(collected(places.iter().map(|&i| all[i]))),
        }
    }
}

#[cfg(any(test, feature = "fuzzing"))]
impl crate::tally::export::Arrays {
    /// The same, borrowed.
    pub fn stored(&self) -> Stored<'_> {
        Stored {
            words: &self.words,
            word_ends: Column::U64(&self.word_ends),
            pairs: (&self.pairs[..]).into(),
            terms: (&self.terms[..]).into(),
            class_documents: Column::U64(&self.class_documents),
            class_ends: Column::U64(&self.class_ends),
            term: (&self.term[..]).into(),
            documents: self.documents.column(),
            occurrences: self.occurrences.column(),
            shares_whole: self.shares_whole.column(),
            shares_part: Column::U64(&self.shares_part),
        }
    }
}

/// The arrays of `export::Arrays`, as they lie in a file.
pub struct Stored<'a> {
    pub words: &'a [u8],
    pub word_ends: Column<'a>,
    pub pairs: Cow<'a, [u32]>,
    pub terms: Cow<'a, [u32]>,
    pub class_documents: Column<'a>,
    pub class_ends: Column<'a>,
    pub term: Cow<'a, [u32]>,
    pub documents: Column<'a>,
    pub occurrences: Column<'a>,
    pub shares_whole: Column<'a>,
    pub shares_part: Column<'a>,
}

/// Of how many words the longest n-gram is made, of pairs that name only what is before them.
fn depth(pairs: &[[u32; 2]], words: u32) -> usize {
    let mut depths: Vec<u32> = Vec::with_capacity(pairs.len());
    for &[left, _] in pairs {
        let before = left.checked_sub(words).map_or(1, |pair| depths[pair as usize]);
        depths.push(before + 1);
    }
    depths.into_iter().max().unwrap_or(1) as usize
}

/// Arrays that no tally can have written.
#[derive(Debug, PartialEq)]
pub struct Damaged(pub &'static str);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Damaged {}

fn require(holds: bool, otherwise: &'static str) -> Result<(), Damaged> {
    if holds { Ok(()) } else { Err(Damaged(otherwise)) }
}

impl Stored<'_> {
    /// Whether a tally can have written these arrays.
    pub fn check_all(&self) -> Result<(), Damaged> {
        let words = self.word_ends.len();
        let (pairs, half) = self.pairs.as_chunks::<2>();
        require(half.is_empty(), "half an n-gram is missing")?;
        require(words + pairs.len() < (1 << 31) - 1, "there are too many terms")?;
        let (first, nodes) = (words as u32, (words + pairs.len()) as u32);
        self.check(nodes)?;
        self.listed_words()?;
        require(pairs.is_sorted_by(|a, b| a < b), "the n-grams are not in order")?;
        let known = (first..).zip(pairs).all(|(node, &[left, right])| left < node && right < first);
        require(known, "an n-gram names a word that is not there")
    }

    /// Whether a tally can have written these arrays whose terms are made of at most `deepest` words.
    pub fn check_view(&self, deepest: usize) -> Result<(), Damaged> {
        self.check_all()?;
        let (pairs, first) = (self.pairs.as_chunks::<2>().0, self.word_ends.len() as u32);
        require(depth(pairs, first) <= deepest, "an n-gram has more words than its view looks at")
    }

    /// The lexicon of the tally that wrote these arrays, if one can have written all of them.
    pub fn lexicon(&self, deepest: usize) -> Result<Lexicon, Damaged> {
        self.check_view(deepest)?;
        let pairs = self.pairs.as_chunks::<2>().0;
        let (first, nodes) = (self.word_ends.len() as u32, self.nodes() as u32);
        let forms = Forms { table: self.words()?, ..Forms::default() };
        let mut lengths = vec![1; first as usize];
        pairs.iter().for_each(|&[left, _]| lengths.push(u8::saturating_add(lengths[left as usize], 1)));
        Ok(Lexicon {
            forms,
            pairs: PairTable::numbered(pairs, first),
            nodes,
            words: lengths,
            ..Lexicon::default()
        })
    }

    /// The words. First in, frequent ones get the slots where one looks first; in the order of the file, a model
    /// that was loaded answered more slowly than the one that was saved.
    fn words(&self) -> Result<FormTable, Damaged> {
        let words = self.listed_words()?;
        let totals = self.word_totals();
        let mean = totals.iter().sum::<u64>() / (totals.len() as u64).max(1);
        let mut table = FormTable::with_capacity(words.len());
        for early in [true, false] {
            for (node, word) in words.iter().enumerate().filter(|&(node, _)| (totals[node] > mean) == early) {
                table.find_or_insert(&Key::of(word), || word, Role::Term, || node as u32);
            }
        }
        Ok(table)
    }

    fn listed_words(&self) -> Result<Vec<&[u8]>, Damaged> {
        let mut words: Vec<&[u8]> = Vec::with_capacity(self.word_ends.len());
        let mut start = 0;
        for end in self.word_ends.iter() {
            require(start <= end && end <= self.words.len() as u64, "the words are cut in the wrong places")?;
            words.push(&self.words[start as usize..end as usize]);
            start = end;
        }
        require(start == self.words.len() as u64, "there is text behind the last word")?;
        require(words.is_sorted_by(|a, b| a < b), "the words are not in order")?;
        Ok(words)
    }

    /// How many words and n-grams there are.
    pub fn nodes(&self) -> usize {
        self.word_ends.len() + self.pairs.len() / 2
    }

    /// A word, of arrays that were checked.
    pub fn word(&self, word: usize) -> Option<&[u8]> {
        let start = || if word == 0 { 0 } else { self.word_ends.get(word - 1) as usize };
        (word < self.word_ends.len()).then(|| &self.words[start()..self.word_ends.get(word) as usize])
    }

    /// Where the cells of a class begin.
    pub fn class_start(&self, class: usize) -> usize {
        if class == 0 { 0 } else { self.class_ends.get(class - 1) as usize }
    }

    /// The terms of the cells of a class.
    pub fn class_terms(&self, class: usize) -> &[u32] {
        &self.term[self.class_start(class)..self.class_ends.get(class) as usize]
    }

    /// How often each word occurs by itself, of arrays that were checked.
    fn word_totals(&self) -> Vec<u64> {
        let words = self.word_ends.len();
        let terms = self.terms.partition_point(|&node| (node as usize) < words);
        let mut totals = vec![0; words];
        let mut start = 0;
        for end in self.class_ends.iter() {
            let cells = &self.term[start..end as usize];
            for i in start..start + cells.partition_point(|&term| (term as usize) < terms) {
                totals[self.terms[self.term[i] as usize] as usize] += self.occurrences.get(i);
            }
            start = end as usize;
        }
        totals
    }

    fn check(&self, nodes: u32) -> Result<(), Damaged> {
        require(self.terms.is_sorted_by(|a, b| a < b), "the terms are not in order")?;
        require(
            self.terms.last().is_none_or(|&last| last < nodes),
            "a term is not among the words and n-grams",
        )?;
        let cells = self.term.len();
        let columns = [self.documents, self.occurrences, self.shares_whole, self.shares_part];
        require(
            columns.iter().all(|column| column.len() == cells),
            "the columns of counts differ in length",
        )?;
        require(self.class_ends.len() == self.class_documents.len(), "the classes differ in number")?;
        require(self.class_ends.last() == cells as u64, "there are counts outside the classes")?;
        let mut start = 0;
        for (end, documents) in self.class_ends.iter().zip(self.class_documents.iter()) {
            require(start as u64 <= end && end <= cells as u64, "the classes are not in order")?;
            require(documents <= u64::from(u32::MAX), "a class has too many documents")?;
            self.check_class(start..end as usize, documents)?;
            start = end as usize;
        }
        let mut seen = vec![false; self.terms.len()];
        self.term.iter().for_each(|&term| seen[term as usize] = true);
        require(seen.into_iter().all(|seen| seen), "a term has no counts")
    }

    fn check_class(&self, range: Range<usize>, documents: u64) -> Result<(), Damaged> {
        let terms = &self.term[range.clone()];
        require(terms.is_sorted_by(|a, b| a < b), "the counts of a class are not in order")?;
        require(terms.last().is_none_or(|&last| (last as usize) < self.terms.len()), "a count has no term")?;
        let possible = range.into_iter().all(|i| {
            let (here, occurrences) = (self.documents.get(i), self.occurrences.get(i));
            let (whole, part) = (self.shares_whole.get(i), self.shares_part.get(i));
            let counted = here > 0 && here <= documents.min(occurrences) && occurrences < MOST_OCCURRENCES;
            counted && whole | part > 0 && whole <= documents
        });
        require(possible, "a count is impossible")
    }

    /// The documents and the cells of each class, of arrays that were checked.
    pub fn classes(&self) -> Vec<ClassCounts> {
        let mut start = 0;
        let ends = self.class_ends.iter().zip(self.class_documents.iter());
        ends.map(|(end, documents)| {
            let cells = collected((start..end as usize).map(|i| self.cell(i)));
            start = end as usize;
            ClassCounts::new(documents, cells)
        })
        .collect()
    }

    fn cell(&self, i: usize) -> Cell {
        Cell {
            term: self.terms[self.term[i] as usize],
            documents: self.documents.get(i) as u32,
            occurrences: self.occurrences.get(i),
            shares: u128::from(self.shares_whole.get(i)) << 64 | u128::from(self.shares_part.get(i)),
        }
    }
}
