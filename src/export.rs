//! A tally as arrays in one canonical order: words sorted by their bytes, then n-grams by the words
//! they are made of. Equal counts give equal arrays, whatever the order in which they were learned.

use crate::counts::{Cell, ClassCounts};
use crate::lexicon::Lexicon;
use crate::memory::with_room;
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
    arrays.reserve(classes.iter_mut().map(|counts| counts.cells().len()).sum());
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
    fn reserve(&mut self, cells: usize) {
        self.term = with_room(cells);
        self.documents = with_room(cells);
        self.occurrences = with_room(cells);
        self.shares_whole = with_room(cells);
        self.shares_part = with_room(cells);
    }

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
            let place = |(i, cell): (usize, &Cell)| u64::from(index[cell.term as usize]) << 32 | i as u64;
            let mut sorted: Vec<u64> = cells.iter().enumerate().map(place).collect();
            sorted.sort_unstable();
            for place in sorted {
                self.push_cell((place >> 32) as u32, &cells[place as u32 as usize]);
            }
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
