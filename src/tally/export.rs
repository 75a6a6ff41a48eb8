//! A tally as arrays in one canonical order: words sorted by their bytes, then n-grams by the words
//! they are made of. Equal counts give equal arrays, whatever the order in which they were learned.

use crate::analyze::words::ones;
use crate::lexicon::Lexicon;
use crate::memory::with_room;
use crate::tally::Tally;
use crate::tally::cells::ClassCounts;

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
    /// One entry a cell: the term as an index into `terms`, and those of its integers that are wanted.
    pub term: Vec<u32>,
    pub documents: Integers,
    pub occurrences: Integers,
    pub shares_whole: Integers,
    pub shares_part: Vec<u64>,
}

/// Integers in a type that holds them all: what is not written need not be waited for.
#[derive(Debug, PartialEq)]
pub enum Integers {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}

impl Integers {
    pub fn with_room(count: usize, most: u64) -> Self {
        match most {
            0..=0xFF => Self::U8(with_room(count)),
            0x100..=0xFFFF => Self::U16(with_room(count)),
            0x1_0000..=0xFFFF_FFFF => Self::U32(with_room(count)),
            _ => Self::U64(with_room(count)),
        }
    }

    pub fn extend(&mut self, values: impl Iterator<Item = u64>) {
        match self {
            Self::U8(all) => all.extend(values.map(|value| value as u8)),
            Self::U16(all) => all.extend(values.map(|value| value as u16)),
            Self::U32(all) => all.extend(values.map(|value| value as u32)),
            Self::U64(all) => all.extend(values),
        }
    }
}

impl Default for Integers {
    fn default() -> Self {
        Self::with_room(0, 0)
    }
}

/// Which integers of the cells are exported.
#[derive(Clone, Copy)]
pub struct Wanted {
    pub documents: bool,
    pub occurrences: bool,
    pub shares: bool,
}

const NONE: u32 = u32::MAX;

/// The arrays of the classes that `order` names, and for each term its node in the tally's own lexicon.
pub fn export(tally: &mut Tally, order: &[u32], wanted: Wanted) -> (Arrays, Vec<u32>) {
    let (lexicon, classes) = tally.view();
    let lexicon = lexicon.clone();
    let (counted, most) = counted(lexicon.nodes as usize, classes);
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
    arrays.reserve(classes.iter_mut().map(|counts| counts.settle().len()).sum(), most, wanted);
    let mut none = ClassCounts::default();
    let mut sorter = Sorter::new(term_nodes.len());
    for &class in order {
        let counts = classes.get_mut(class as usize).unwrap_or(&mut none);
        for (i, cell) in counts.settle().iter().enumerate() {
            sorter.put(index[cell.term as usize], i as u32);
        }
        arrays.push_class(counts, &sorter.sorted(), wanted);
    }
    (arrays, term_nodes)
}

/// Which nodes have a count, and how often one occurs at most.
fn counted(nodes: usize, classes: &mut [ClassCounts]) -> (Vec<bool>, u64) {
    let (mut counted, mut most) = (vec![false; nodes], 0);
    for cell in classes.iter_mut().flat_map(|counts| counts.settle().iter()) {
        counted[cell.term as usize] = true;
        most = cell.occurrences.max(most);
    }
    (counted, most)
}

/// The live nodes in canonical order.
fn rank_nodes(lexicon: &Lexicon, live: &[bool], arrays: &mut Arrays) -> Vec<u32> {
    let mut text = Vec::new();
    let mut words: Vec<(usize, usize, u32)> = Vec::new();
    lexicon.forms.table.for_each(|bytes, node| {
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
    fn reserve(&mut self, cells: usize, most: u64, wanted: Wanted) {
        self.term = with_room(cells);
        self.documents = Integers::with_room(if wanted.documents { cells } else { 0 }, u32::MAX.into());
        self.occurrences = Integers::with_room(if wanted.occurrences { cells } else { 0 }, most);
        self.shares_whole = Integers::with_room(if wanted.shares { cells } else { 0 }, u32::MAX.into());
        self.shares_part = with_room(if wanted.shares { cells } else { 0 });
    }

    /// `order` has the term and the place of each cell.
    fn push_class(&mut self, counts: &mut ClassCounts, order: &[(u32, u32)], wanted: Wanted) {
        self.class_documents.push(counts.documents);
        let cells = counts.settle();
        let in_order = || order.iter().map(|&(_, i)| &cells[i as usize]);
        self.term.extend(order.iter().map(|&(term, _)| term));
        if wanted.documents {
            self.documents.extend(in_order().map(|cell| cell.documents.into()));
        }
        if wanted.occurrences {
            self.occurrences.extend(in_order().map(|cell| cell.occurrences));
        }
        if wanted.shares {
            self.shares_whole.extend(in_order().map(|cell| (cell.shares >> 64) as u64));
            self.shares_part.extend(in_order().map(|cell| cell.shares as u64));
        }
        self.class_ends.push(self.term.len() as u64);
    }
}

/// Distinct numbers below a limit, sorted without comparing them: a bit for each, and a bit for each word of those.
struct Sorter {
    bits: Vec<u64>,
    words: Vec<u64>,
    places: Vec<u32>,
}

impl Sorter {
    fn new(limit: usize) -> Self {
        let words = limit.div_ceil(64);
        Self { bits: vec![0; words], words: vec![0; words.div_ceil(64)], places: vec![0; limit] }
    }

    /// `place` comes back with the number.
    fn put(&mut self, number: u32, place: u32) {
        let word = number as usize / 64;
        self.bits[word] |= 1 << (number % 64);
        self.words[word / 64] |= 1 << (word % 64);
        self.places[number as usize] = place;
    }

    /// All numbers in order, each with its place; none is left.
    fn sorted(&mut self) -> Vec<(u32, u32)> {
        let mut sorted = Vec::new();
        for (i, words) in self.words.iter_mut().enumerate() {
            for word in ones(std::mem::take(words)).map(|word| i * 64 + word) {
                for bit in ones(std::mem::take(&mut self.bits[word])) {
                    let number = word * 64 + bit;
                    sorted.push((number as u32, self.places[number]));
                }
            }
        }
        sorted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back_in_order_once(rounds in prop::collection::vec(prop::collection::btree_set(0u32..9000, 0..80), 1..4)) {
            let mut sorter = Sorter::new(9000);
            for numbers in rounds {
                numbers.iter().rev().for_each(|&number| sorter.put(number, number ^ 1));
                prop_assert!(sorter.sorted().into_iter().eq(numbers.into_iter().map(|number| (number, number ^ 1))));
            }
        }
    }
}
