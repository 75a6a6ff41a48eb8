//! The changes behind a file, as they are looked up: what they add to the terms of a view.

use std::collections::HashMap;

use crate::quick::journal::Journal;
use crate::tally::cells::Cell;
use crate::tally::replay::NewTerm;

/// What changes add to a cell, or take away.
#[derive(Clone, Copy, Default)]
struct Net {
    documents: i64,
    occurrences: i64,
    shares: i128,
}

/// What the changes behind a file say of one view.
pub struct Overlay {
    words: HashMap<Vec<u8>, u32>,
    pairs: HashMap<(u32, u32), u32>,
    cells: HashMap<u32, Vec<(usize, Net)>>,
    /// How many words and n-grams there are, with those of the file.
    pub nodes: u32,
}

impl Overlay {
    /// The changes of a view whose file has so many words and n-grams.
    pub fn new(journal: &Journal, view: usize, nodes: usize) -> Self {
        let none =
            Self { words: HashMap::new(), pairs: HashMap::new(), cells: HashMap::new(), nodes: nodes as u32 };
        journal.entries.iter().fold(none, |mut overlay, entry| {
            for term in &entry.new[view] {
                match term {
                    NewTerm::Word(word) => _ = overlay.words.insert(word.clone(), overlay.nodes),
                    &NewTerm::Pair(left, right) => _ = overlay.pairs.insert((left, right), overlay.nodes),
                }
                overlay.nodes += 1;
            }
            for part in &entry.parts {
                part.cells[view].iter().for_each(|cell| overlay.add(cell, part.class, part.added));
            }
            overlay
        })
    }

    fn add(&mut self, cell: &Cell, class: usize, added: bool) {
        let cells = self.cells.entry(cell.term).or_default();
        let at = cells.iter().position(|&(known, _)| known == class).unwrap_or_else(|| {
            cells.push((class, Net::default()));
            cells.len() - 1
        });
        let (sign, net) = (if added { 1 } else { -1 }, &mut cells[at].1);
        net.documents += sign * i64::from(cell.documents);
        net.occurrences += sign * cell.occurrences as i64;
        net.shares += i128::from(sign) * cell.shares as i128;
    }

    /// The node of a word that the file does not have.
    pub fn word(&self, word: &[u8]) -> Option<u32> {
        self.words.get(word).copied()
    }

    pub fn pair(&self, left: u32, right: u32) -> Option<u32> {
        self.pairs.get(&(left, right)).copied()
    }

    /// How many documents the changes add to a term of a class at most.
    pub fn most_documents(&self, class: usize) -> u64 {
        let of = self.cells.values().flatten().filter(|&&(known, _)| known == class);
        of.map(|(_, net)| net.documents.max(0) as u64).max().unwrap_or(0)
    }

    /// A cell of the file with what was changed since; without documents if there is none left.
    pub fn changed(&self, cell: Cell, node: u32, class: usize) -> Cell {
        let net = self.cells.get(&node).and_then(|cells| cells.iter().find(|&&(known, _)| known == class));
        let Some((_, net)) = net else { return cell };
        Cell {
            term: cell.term,
            documents: (i64::from(cell.documents) + net.documents).max(0) as u32,
            occurrences: (cell.occurrences as i64 + net.occurrences).max(0) as u64,
            shares: cell.shares.wrapping_add_signed(net.shares),
        }
    }
}
