//! Documents to term numbers: cut, look up in batches, normalize what is new, join n-grams.

use crate::errors::ReadError;

use crate::analyze::buckets::{Buckets, Hashed};
use crate::analyze::char_grams::{Letters, Numbers, as_bases, byte_grams};
use crate::analyze::compact;
use crate::analyze::new_forms::NewForms;
use crate::analyze::normalize::Normalizer;
use crate::analyze::tokenizers::Cut;
use crate::analyze::words::{Tokens, checked};
use crate::lexicon::WAITING;
use crate::lexicon::form_table::{Key, Role, UNKNOWN};
use crate::lexicon::lookup::{Stretches, is_open};
use crate::lexicon::numbering::Numbering;

/// How one column of text becomes terms.
pub enum Analysis {
    /// N-grams of words, from `shortest` to `longest`; with `sparse` also pairs of words up to so many apart.
    Words { cut: Cut, shortest: usize, longest: usize, sparse: usize },
    /// N-grams of letters, inside words (each padded with a space on both sides) or across them.
    Letters { lower: bool, within_words: bool, shortest: usize, longest: usize },
    /// N-grams of raw bytes, or of the bases of nucleotides, however they are written.
    Bytes { bases: bool, shortest: usize, longest: usize },
    /// The terms of another analysis, in so many buckets.
    Hashed(Box<Hashed<Self>>),
}

impl Analysis {
    /// Of how many words, gaps among them, a term is made at most.
    pub fn deepest(&self) -> usize {
        match self {
            Self::Words { longest, sparse, .. } => (*longest).max(sparse.saturating_add(1)),
            Self::Letters { .. } | Self::Bytes { .. } | Self::Hashed(_) => 1,
        }
    }
}

/// One document's bytes; `trusted` if they are known to be UTF-8, and that nobody can change them.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    pub bytes: &'a [u8],
    pub trusted: bool,
}

/// Looks at documents a batch at a time; `terms(i)` are the numbers of document i's terms.
#[derive(Default)]
pub struct Reader {
    tokens: Tokens,
    numbers: Vec<u32>,
    ends: Vec<usize>,
    scratch: Vec<u32>,
    new: NewForms,
    letters: Letters,
    held: Held,
    buckets: Box<Buckets>,
}

/// Copies of documents that another thread could change meanwhile: what was checked must be what is read.
#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Held {
    fn copy(&mut self, documents: &[Document]) {
        self.bytes.clear();
        self.ends.clear();
        for document in documents.iter().filter(|document| !document.trusted) {
            self.bytes.extend_from_slice(document.bytes);
            self.ends.push(self.bytes.len());
        }
    }

    /// The same documents, those that are not trusted as their copies.
    fn documents<'a>(&'a self, documents: &[Document<'a>]) -> Vec<Document<'a>> {
        let mut start = 0;
        let mut copies = self.ends.iter().map(|&end| {
            let copy = Document { bytes: &self.bytes[start..end], trusted: false };
            start = end;
            copy
        });
        let held = |&document: &Document<'a>| {
            if document.trusted { document } else { copies.next().unwrap_or(document) }
        };
        documents.iter().map(held).collect()
    }
}

/// The number of a token that is about to get another.
const REPLACED: u32 = 0;

fn stretches<'a>(text: &'a [u8], spans: &'a [[u32; 2]]) -> Stretches<'a, impl Fn(usize) -> (usize, usize)> {
    let span = |i: usize| (spans[i][0] as usize, spans[i][1] as usize);
    Stretches { text, count: spans.len(), span }
}

/// Documents are read this many bytes at a time, so that their tokens stay in the cache.
pub const READ_BYTES: usize = 16 << 10;
impl Reader {
    #[inline]
    pub fn terms(&self, document: usize) -> &[u32] {
        let start = if document == 0 { 0 } else { self.ends[document - 1] };
        &self.numbers[start..self.ends[document]]
    }

    pub fn read<N: Numbering>(
        &mut self,
        documents: &[Document],
        analysis: &Analysis,
        normalizer: Option<&Normalizer>,
        numbering: &mut N,
    ) -> Result<(), ReadError> {
        if let Analysis::Hashed(hashed) = analysis {
            return self.read_hashed(documents, hashed, normalizer, numbering);
        }
        if documents.iter().all(|document| document.trusted) {
            return self.read_held(documents, analysis, normalizer, numbering);
        }
        let mut held = std::mem::take(&mut self.held);
        held.copy(documents);
        let read = self.read_held(&held.documents(documents), analysis, normalizer, numbering);
        self.held = held;
        read
    }

    /// Read the terms, then put the number of its bucket in the place of each.
    fn read_hashed<N: Numbering>(
        &mut self,
        documents: &[Document],
        hashed: &Hashed<Analysis>,
        normalizer: Option<&Normalizer>,
        numbering: &mut N,
    ) -> Result<(), ReadError> {
        let mut buckets = std::mem::take(&mut self.buckets);
        buckets.open(hashed);
        let read = self.read(documents, &hashed.of, normalizer, &mut *buckets);
        let mut names = Vec::with_capacity(self.numbers.len() * 8);
        let mut spans = Vec::with_capacity(self.numbers.len());
        if read.is_ok() {
            for &node in &self.numbers {
                let start = names.len() as u32;
                buckets.push_name(node, &mut names);
                spans.push([start, names.len() as u32]);
            }
            self.numbers.clear();
            stretches(&names, &spans).terms(numbering, &mut self.numbers);
        }
        self.buckets = buckets;
        read?;
        if numbering.is_full() { Err(ReadError::TooManyTerms) } else { Ok(()) }
    }

    fn read_held<N: Numbering>(
        &mut self,
        documents: &[Document],
        analysis: &Analysis,
        normalizer: Option<&Normalizer>,
        numbering: &mut N,
    ) -> Result<(), ReadError> {
        self.tokens.clear();
        self.numbers.clear();
        self.ends.clear();
        match analysis {
            Analysis::Words { cut, shortest, longest, sparse } => {
                self.read_words(documents, cut, normalizer, numbering)?;
                if *longest > 1 || *sparse > 0 {
                    self.join(&Grams { shortest: *shortest, longest: *longest, sparse: *sparse }, numbering);
                }
            }
            Analysis::Letters { lower, within_words, shortest, longest } => {
                let (letters, lengths) = (&mut self.letters, *shortest..=*longest);
                let mut numbers = Numbers { terms: &mut self.numbers, ends: &mut self.ends };
                letters.clear();
                for (i, document) in documents.iter().enumerate() {
                    let text = checked(document.bytes, document.trusted).map_err(|e| e.in_document(i))?;
                    if *within_words {
                        letters.add_words(text, *lower, lengths.clone(), numbering, &mut numbers);
                    } else {
                        letters.across(text, *lower, lengths.clone(), numbering, &mut numbers);
                    }
                }
                letters.finish_words(lengths, numbering, &mut numbers);
            }
            Analysis::Bytes { bases, shortest, longest } => {
                for document in documents {
                    let bytes = if *bases { &as_bases(document.bytes) } else { document.bytes };
                    byte_grams(bytes, *shortest, *longest, numbering, &mut self.numbers);
                    self.ends.push(self.numbers.len());
                }
            }
            Analysis::Hashed(hashed) => {
                return self.read_held(documents, &hashed.of, normalizer, numbering);
            }
        }
        if numbering.is_full() { Err(ReadError::TooManyTerms) } else { Ok(()) }
    }

    /// Cut and look up some documents at a time; what they become is decided for all of them at the end.
    fn read_words<N: Numbering>(
        &mut self,
        documents: &[Document],
        cut: &Cut,
        normalizer: Option<&Normalizer>,
        numbering: &mut N,
    ) -> Result<(), ReadError> {
        self.new.clear();
        let mut bytes = 0;
        for (i, document) in documents.iter().enumerate() {
            if let Err(error) = cut.add(document.bytes, document.trusted, &mut self.tokens) {
                numbering.forget_forms();
                return Err(error.in_document(i));
            }
            self.ends.push(self.tokens.len());
            bytes += document.bytes.len() + 1;
            if bytes >= READ_BYTES || i + 1 == documents.len() {
                bytes = 0;
                match normalizer {
                    None => self.number_words(numbering),
                    Some(_) => self.number_forms(numbering),
                }
            }
        }
        normalizer.map_or(Ok(()), |normalizer| self.normalize(normalizer, numbering))
    }

    /// Number the tokens that have no number yet.
    fn number_words<N: Numbering>(&mut self, numbering: &mut N) {
        let spans = &self.tokens.spans()[self.numbers.len()..];
        stretches(&self.tokens.text, spans).terms(numbering, &mut self.numbers);
    }

    fn number_forms<N: Numbering>(&mut self, numbering: &mut N) {
        let (new, done) = (&mut self.new, self.numbers.len());
        let tokens = stretches(&self.tokens.text, &self.tokens.spans()[done..]);
        let verbatim = self.tokens.verbatim();
        let settle = |numbering: &mut N, key: &Key, i: usize| {
            if verbatim.binary_search(&((done + i) as u32)).is_ok() {
                return REPLACED;
            }
            let number = numbering.form(key, || tokens.bytes(i), WAITING | new.forms.len() as u32);
            if is_open(number) {
                new.meet(number, (done + i) as u32, *key, (tokens.span)(i));
            }
            number
        };
        tokens.look_up(numbering, &mut self.numbers, Role::Form, settle);
    }

    /// Put the answers of the normalizer in the places of new forms, and leave out what was dropped.
    fn normalize<N: Numbering>(
        &mut self,
        normalizer: &Normalizer,
        numbering: &mut N,
    ) -> Result<(), ReadError> {
        if let Err(error) = self.new.ask(&self.tokens.text, normalizer, numbering) {
            numbering.forget_forms();
            return Err(ReadError::Normalizer(error));
        }
        for &at in &self.new.places {
            let form = self.numbers[at as usize] & !WAITING;
            self.numbers[at as usize] = self.new.nodes[form as usize];
        }
        self.restore_verbatim(numbering);
        if numbering.drops() {
            self.close_gaps();
        }
        Ok(())
    }

    /// Number the tokens that are not normalized by themselves.
    fn restore_verbatim<N: Numbering>(&mut self, numbering: &mut N) {
        for &token in self.tokens.verbatim() {
            let [start, end] = self.tokens.spans()[token as usize];
            let bytes = &self.tokens.text[start as usize..end as usize];
            self.numbers[token as usize] = numbering.term(&Key::of(bytes), || bytes);
        }
    }

    /// Close the gaps of what was dropped.
    fn close_gaps(&mut self) {
        let (mut kept, mut start) = (0, 0);
        for end in &mut self.ends {
            kept = compact::close(&mut self.numbers, start..*end, kept);
            start = std::mem::replace(end, kept);
        }
        self.numbers.truncate(kept);
    }

    /// Replace each document's words by its n-grams, one length after the other, then its sparse pairs.
    fn join<N: Numbering>(&mut self, wanted: &Grams, numbering: &mut N) {
        let words = std::mem::take(&mut self.numbers);
        let mut grams = std::mem::take(&mut self.scratch);
        grams.clear();
        let gap = if wanted.sparse > 1 { numbering.term(&Key::of(GAP), || GAP) } else { UNKNOWN };
        let mut start = 0;
        for end in &mut self.ends {
            let document = &words[start..*end];
            start = *end;
            if wanted.shortest == 1 {
                grams.extend_from_slice(document);
            }
            join_document(document, wanted.shortest, wanted.longest, numbering, &mut grams);
            join_sparse(document, wanted.distances(), gap, numbering, &mut grams);
            *end = grams.len();
        }
        self.scratch = words;
        self.numbers = grams;
    }
}

/// Stands between the words of a sparse pair for each word that was left out. No token is empty.
pub const GAP: &[u8] = b"";

/// Which n-grams of words are terms.
pub struct Grams {
    pub shortest: usize,
    pub longest: usize,
    pub sparse: usize,
}

impl Grams {
    /// How far apart the words of sparse pairs stand; neighbors only if they are not n-grams already.
    pub fn distances(&self) -> std::ops::RangeInclusive<usize> {
        let neighbors = (self.shortest..=self.longest).contains(&2);
        1 + usize::from(neighbors)..=self.sparse
    }
}

/// Pairs of words with a gap: (first, gap, ..., gap, second), so that the distance is part of the term.
fn join_sparse<N: Numbering>(
    words: &[u32],
    distances: std::ops::RangeInclusive<usize>,
    gap: u32,
    numbering: &mut N,
    grams: &mut Vec<u32>,
) {
    if distances.is_empty() {
        return;
    }
    let mut prefixes = words.to_vec();
    for distance in 1..=(*distances.end()).min(words.len()) {
        if distance > 1 {
            prefixes.iter_mut().for_each(|prefix| *prefix = numbering.pair(*prefix, gap));
        }
        prefixes.truncate(words.len().saturating_sub(distance));
        if distances.contains(&distance) {
            let pairs = prefixes.iter().zip(words.iter().skip(distance));
            grams.extend(pairs.map(|(&prefix, &word)| numbering.pair(prefix, word)));
        }
    }
}

fn join_document<N: Numbering>(
    words: &[u32],
    shortest: usize,
    longest: usize,
    numbering: &mut N,
    grams: &mut Vec<u32>,
) {
    let mut prefixes: Vec<u32> = Vec::new();
    for length in 2..=longest.min(words.len()) {
        let previous = if length == 2 { words } else { &prefixes };
        let last = &words[length - 1..];
        if length == longest && length >= shortest {
            return numbering.pairs(previous, last, grams);
        }
        let mut joined = Vec::with_capacity(last.len());
        numbering.pairs(previous, last, &mut joined);
        if length >= shortest {
            grams.extend_from_slice(&joined);
        }
        prefixes = joined;
    }
}
