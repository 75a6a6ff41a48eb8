//! A tally as arrays in one canonical order, and back: words sorted by their bytes, then n-grams by the words
//! they are made of. Equal counts give equal arrays, whatever the order in which they were learned.

use std::fmt;

use crate::counts::{Cell, ClassCounts};
use crate::lexicon::{FormTable, Key, Lexicon, PairTable};
use crate::read::BATCH;
use crate::tally::Tally;

/// Nodes are numbered words first, then n-grams; a pair names a node before it and a word.
#[derive(Default, Debug, PartialEq)]
pub struct Arrays {
    pub words: Vec<u8>,
    pub word_ends: Vec<u64>,
    pub pairs: Vec<u32>,
    /// The nodes that have a count: the terms.
    pub terms: Vec<u32>,
    pub class_documents: Vec<u64>,
    pub class_ends: Vec<u64>,
    /// One entry a cell: the term as an index into `terms`, and its integers.
    pub term: Vec<u32>,
    pub documents: Vec<u32>,
    pub occurrences: Vec<u64>,
    pub shares_whole: Vec<u32>,
    pub shares_part: Vec<u64>,
}

const NONE: u32 = u32::MAX;

/// More than any corpus has, and few enough that thousands of models can be merged.
const MOST_OCCURRENCES: u64 = 1 << 48;

/// The arrays of the classes that `order` names, and for each term its node in the tally's own lexicon.
pub fn export(tally: &mut Tally, order: &[u32]) -> (Arrays, Vec<u32>) {
    let (lexicon, classes) = tally.view();
    let lexicon = lexicon.clone();
    let counted = counted(lexicon.nodes as usize, classes);
    let live = lexicon.live((0..lexicon.nodes).filter(|&node| counted[node as usize]));
    let mut arrays = Arrays::default();
    let nodes = rank_nodes(&lexicon, &live, &mut arrays);
    let mut index = vec![NONE; lexicon.nodes as usize];
    let mut term_nodes = Vec::new();
    for (rank, &node) in nodes.iter().enumerate() {
        if counted[node as usize] {
            index[node as usize] = term_nodes.len() as u32;
            term_nodes.push(node);
            arrays.terms.push(rank as u32);
        }
    }
    let mut none = ClassCounts::default();
    for &class in order {
        let counts = classes.get_mut(class as usize).unwrap_or(&mut none);
        arrays.push_class(counts, &index, term_nodes.len());
    }
    (arrays, term_nodes)
}

fn counted(nodes: usize, classes: &mut [ClassCounts]) -> Vec<bool> {
    let mut counted = vec![false; nodes];
    for counts in classes {
        counts.cells().iter().for_each(|cell| counted[cell.term as usize] = true);
    }
    counted
}

/// The live nodes in canonical order.
fn rank_nodes(lexicon: &Lexicon, live: &[bool], arrays: &mut Arrays) -> Vec<u32> {
    let mut text = Vec::new();
    let mut words: Vec<(usize, usize, u32)> = Vec::new();
    lexicon.terms.for_each(|bytes, node| {
        if live[node as usize] {
            words.push((text.len(), text.len() + bytes.len(), node));
            text.extend_from_slice(bytes);
        }
    });
    words.sort_unstable_by_key(|&(start, end, _)| &text[start..end]);
    let mut rank = vec![NONE; lexicon.nodes as usize];
    let mut nodes = Vec::with_capacity(words.len());
    for (start, end, node) in words {
        rank[node as usize] = nodes.len() as u32;
        nodes.push(node);
        arrays.words.extend_from_slice(&text[start..end]);
        arrays.word_ends.push(arrays.words.len() as u64);
    }
    let pairs = lexicon.pairs_by_node();
    let mut waiting: Vec<(u32, u32, u32)> = (0..lexicon.nodes)
        .filter(|&node| live[node as usize])
        .filter_map(|node| pairs[node as usize].map(|(left, right)| (left, right, node)))
        .collect();
    while !waiting.is_empty() {
        let ready = |&(left, ..): &(u32, u32, u32)| rank[left as usize] != NONE;
        let (next, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(ready);
        waiting = later;
        let mut sorted: Vec<(u32, u32, u32)> = next
            .into_iter()
            .map(|(left, right, node)| (rank[left as usize], rank[right as usize], node))
            .collect();
        sorted.sort_unstable();
        for (left, right, node) in sorted {
            rank[node as usize] = nodes.len() as u32;
            nodes.push(node);
            arrays.pairs.extend([left, right]);
        }
    }
    nodes
}

impl Arrays {
    fn push_class(&mut self, counts: &mut ClassCounts, index: &[u32], terms: usize) {
        self.class_documents.push(counts.documents);
        let cells = counts.cells();
        if cells.len() > terms / 8 {
            let mut at = vec![NONE; terms];
            for (i, cell) in cells.iter().enumerate() {
                at[index[cell.term as usize] as usize] = i as u32;
            }
            for (term, &i) in at.iter().enumerate().filter(|&(_, &i)| i != NONE) {
                self.push_cell(term as u32, &cells[i as usize]);
            }
        } else {
            let mut sorted: Vec<(u32, &Cell)> =
                cells.iter().map(|cell| (index[cell.term as usize], cell)).collect();
            sorted.sort_unstable_by_key(|&(term, _)| term);
            sorted.into_iter().for_each(|(term, cell)| self.push_cell(term, cell));
        }
        self.class_ends.push(self.term.len() as u64);
    }

    fn push_cell(&mut self, term: u32, cell: &Cell) {
        self.term.push(term);
        self.documents.push(cell.documents);
        self.occurrences.push(cell.occurrences);
        self.shares_whole.push((cell.shares >> 64) as u32);
        self.shares_part.push(cell.shares as u64);
    }
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

/// The tally that wrote these arrays. Its cells are made when they are first needed: a model that only answers
/// never needs them.
pub fn restore(arrays: Arrays) -> Result<Tally, Damaged> {
    let lexicon = restore_lexicon(&arrays)?;
    arrays.check(lexicon.nodes)?;
    Ok(Tally::restore(lexicon, arrays))
}

impl Arrays {
    fn check(&self, nodes: u32) -> Result<(), Damaged> {
        require(self.terms.is_sorted_by(|a, b| a < b), "the terms are not in order")?;
        require(
            self.terms.last().is_none_or(|&last| last < nodes),
            "a term is not among the words and n-grams",
        )?;
        let cells = self.term.len();
        let lengths =
            [self.documents.len(), self.occurrences.len(), self.shares_whole.len(), self.shares_part.len()];
        require(lengths.iter().all(|&length| length == cells), "the columns of counts differ in length")?;
        require(self.class_ends.len() == self.class_documents.len(), "the classes differ in number")?;
        require(
            self.class_ends.last().map_or(0, |&end| end) == cells as u64,
            "there are counts outside the classes",
        )?;
        let mut start = 0;
        for (&end, &documents) in self.class_ends.iter().zip(&self.class_documents) {
            require(start as u64 <= end && end <= cells as u64, "the classes are not in order")?;
            require(documents <= u64::from(u32::MAX), "a class has too many documents")?;
            self.check_class(start..end as usize, documents)?;
            start = end as usize;
        }
        let mut seen = vec![false; self.terms.len()];
        self.term.iter().for_each(|&term| seen[term as usize] = true);
        require(seen.into_iter().all(|seen| seen), "a term has no counts")
    }

    fn check_class(&self, range: std::ops::Range<usize>, documents: u64) -> Result<(), Damaged> {
        let terms = &self.term[range.clone()];
        require(terms.is_sorted_by(|a, b| a < b), "the counts of a class are not in order")?;
        require(terms.last().is_none_or(|&last| (last as usize) < self.terms.len()), "a count has no term")?;
        let possible = range.map(|i| self.cell(i)).all(|cell| {
            cell.documents > 0
                && u64::from(cell.documents) <= documents
                && u64::from(cell.documents) <= cell.occurrences
                && cell.occurrences < MOST_OCCURRENCES
                && cell.shares > 0
                && cell.shares >> 64 <= u128::from(documents)
        });
        require(possible, "a count is impossible")
    }

    fn cell(&self, i: usize) -> Cell {
        Cell {
            term: self.terms[self.term[i] as usize],
            documents: self.documents[i],
            occurrences: self.occurrences[i],
            shares: u128::from(self.shares_whole[i]) << 64 | u128::from(self.shares_part[i]),
        }
    }

    /// The documents and the cells of each class.
    pub fn into_classes(self) -> Vec<ClassCounts> {
        let mut start = 0;
        let ends = self.class_ends.iter().zip(&self.class_documents);
        ends.map(|(&end, &documents)| {
            let cells = (start..end as usize).map(|i| self.cell(i)).collect();
            start = end as usize;
            ClassCounts::new(documents, cells)
        })
        .collect()
    }
}

fn restore_lexicon(arrays: &Arrays) -> Result<Lexicon, Damaged> {
    let words = arrays.word_ends.len();
    let pairs = arrays.pairs.len() / 2;
    require(arrays.pairs.len().is_multiple_of(2), "half an n-gram is missing")?;
    require(words + pairs < (1 << 31) - 1, "there are too many terms")?;
    let mut lexicon = Lexicon {
        terms: FormTable::with_capacity(words),
        pairs: PairTable::with_capacity(pairs),
        ..Lexicon::default()
    };
    let mut start = 0;
    let mut previous: Option<&[u8]> = None;
    for (node, &end) in arrays.word_ends.iter().enumerate() {
        require(start <= end && end <= arrays.words.len() as u64, "the words are cut in the wrong places")?;
        let word = &arrays.words[start as usize..end as usize];
        require(previous.is_none_or(|previous| previous < word), "the words are not in order")?;
        lexicon.terms.find_or_insert(&Key::of(word), word, || node as u32);
        previous = Some(word);
        start = end;
    }
    require(start == arrays.words.len() as u64, "there is text behind the last word")?;
    require(arrays.pairs.as_chunks::<2>().0.is_sorted_by(|a, b| a < b), "the n-grams are not in order")?;
    for (batch, pairs) in arrays.pairs.chunks(2 * BATCH).enumerate() {
        pairs.chunks_exact(2).for_each(|pair| lexicon.pairs.prefetch(pair[0], pair[1]));
        for (i, pair) in pairs.chunks_exact(2).enumerate() {
            let node = (words + batch * BATCH + i) as u32;
            require(
                pair[0] < node && (pair[1] as usize) < words,
                "an n-gram names a word that is not there",
            )?;
            lexicon.pairs.find_or_insert(pair[0], pair[1], || node);
        }
    }
    lexicon.nodes = (words + pairs) as u32;
    Ok(lexicon)
}
