//! A tally as arrays, divided by a hash of its terms: each part has all classes and documents, its own terms, and the
//! words and n-grams that these are made of. The hash is the same on every machine.

use crate::analyze::buckets::{bucket, hash, joined};
use crate::memory::{collected, filled, with_room};
use crate::tally::export::{Arrays, Integers};
use crate::tally::restore::{Column, Stored};

/// Which terms and cells each part has: found in one walk along all of them.
pub struct Division {
    /// The terms part by part, in order.
    terms: Vec<u32>,
    term_ends: Vec<usize>,
    /// Where each term stands among those of its part.
    places: Vec<u32>,
    /// The cells part by part and class by class, counted from the first of their class.
    cells: Vec<u32>,
    cell_ends: Vec<usize>,
}

impl Division {
    /// Of arrays that were checked.
    pub fn new(stored: &Stored, parts: u32) -> Self {
        let part_of = parts_of_terms(stored, parts);
        let (terms, term_ends) = grouped(&[&part_of], parts as usize, |&part| part as usize);
        let mut places = filled(part_of.len(), 0);
        for part in 0..parts as usize {
            let own = &terms[start(&term_ends, part)..term_ends[part]];
            own.iter().zip(0..).for_each(|(&term, place)| places[term as usize] = place);
        }
        let classes: Vec<&[u32]> =
            (0..stored.class_ends.len()).map(|class| stored.class_terms(class)).collect();
        let (cells, cell_ends) = grouped(&classes, parts as usize, |&term| part_of[term as usize] as usize);
        Self { terms, term_ends, places, cells, cell_ends }
    }

    /// One part of the same arrays.
    pub fn part(&self, stored: &Stored, part: usize) -> Arrays {
        let terms = &self.terms[start(&self.term_ends, part)..self.term_ends[part]];
        let mut arrays = Arrays::default();
        arrays.push_terms(stored, terms);
        let classes = stored.class_ends.len();
        let own = part * classes..(part + 1) * classes;
        let mut cells: Vec<usize> = with_room(
            self.cell_ends[own.clone()].last().map_or(0, |end| end - start(&self.cell_ends, own.start)),
        );
        for (class, group) in own.enumerate() {
            let first = stored.class_start(class);
            let cells_of = &self.cells[start(&self.cell_ends, group)..self.cell_ends[group]];
            cells.extend(cells_of.iter().map(|&cell| first + cell as usize));
            arrays.class_ends.push(cells.len() as u64);
        }
        let gathered = |column: Column| Integers::gathered(column, &cells);
        arrays.term = collected(cells.iter().map(|&cell| self.places[stored.term[cell] as usize]));
        arrays.documents = gathered(stored.documents);
        arrays.occurrences = gathered(stored.occurrences);
        arrays.shares_whole = gathered(stored.shares_whole);
        arrays.shares_part = collected(cells.iter().map(|&cell| stored.shares_part.get(cell)));
        arrays.class_documents = stored.class_documents.iter().collect();
        arrays
    }
}

fn start(ends: &[usize], group: usize) -> usize {
    if group == 0 { 0 } else { ends[group - 1] }
}

/// The part of each term.
fn parts_of_terms(stored: &Stored, parts: u32) -> Vec<u32> {
    let mut hashes: Vec<u64> = with_room(stored.nodes());
    hashes.extend((0..).map_while(|i| stored.word(i)).map(|word| hash(word.iter().copied())));
    for &[left, right] in stored.pairs.as_chunks::<2>().0 {
        hashes.push(joined(hashes[left as usize], hashes[right as usize]));
    }
    collected(stored.terms.iter().map(|&node| bucket(hashes[node as usize], parts)))
}

/// Where the items of some lists are, group by group and in each list by list, and where each of these ends.
fn grouped<T>(lists: &[&[T]], groups: usize, group: impl Fn(&T) -> usize) -> (Vec<u32>, Vec<usize>) {
    let slot = |list: usize, item: &T| group(item) * lists.len() + list;
    let mut ends = vec![0; groups * lists.len()];
    for (list, items) in lists.iter().enumerate() {
        items.iter().for_each(|item| ends[slot(list, item)] += 1);
    }
    let mut next = 0;
    for end in &mut ends {
        (*end, next) = (next, next + *end);
    }
    let mut found = filled(next, 0);
    for (list, items) in lists.iter().enumerate() {
        for (place, item) in (0..).zip(*items) {
            let at = &mut ends[slot(list, item)];
            found[*at] = place;
            *at += 1;
        }
    }
    (found, ends)
}

impl Arrays {
    /// Put in some terms, in order, and the words and n-grams that they are made of.
    fn push_terms(&mut self, stored: &Stored, terms: &[u32]) {
        let words = stored.word_ends.len();
        let pairs = stored.pairs.as_chunks::<2>().0;
        let nodes = terms.iter().map(|&term| stored.terms[term as usize] as usize);
        let mut needed: Vec<usize> = with_room(terms.len());
        needed.extend(nodes.clone().filter(|&node| node >= words));
        let mut used = vec![false; words];
        nodes.clone().filter(|&node| node < words).for_each(|word| used[word] = true);
        let mut at = 0;
        while let Some(&node) = needed.get(at) {
            let [left, right] = pairs[node - words].map(|node| node as usize);
            used[right] = true;
            if left < words {
                used[left] = true
            } else {
                needed.push(left)
            }
            at += 1;
        }
        if !needed.is_sorted_by(|a, b| a < b) {
            needed.sort_unstable();
            needed.dedup();
        }
        let numbers = self.push_words(stored, &used);
        let first = self.word_ends.len();
        let number = |node: usize| match node < words {
            true => numbers[node],
            false => (first + needed.partition_point(|&other| other < node)) as u32,
        };
        self.pairs = with_room(2 * needed.len());
        for &node in &needed {
            self.pairs.extend(pairs[node - words].map(|node| number(node as usize)));
        }
        let mut places = needed.iter().zip(first as u32..).peekable();
        self.terms = collected(nodes.map(|node| {
            while places.next_if(|&(&other, _)| other < node).is_some() {}
            if node < words { numbers[node] } else { places.peek().map_or(0, |&(_, place)| place) }
        }));
    }

    /// Put in the words that are used; the numbers they get.
    fn push_words(&mut self, stored: &Stored, used: &[bool]) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(used.len());
        for (word, &used) in used.iter().enumerate() {
            numbers.push(self.word_ends.len() as u32);
            if used {
                self.words.extend_from_slice(stored.word(word).unwrap_or_default());
                self.word_ends.push(self.words.len() as u64);
            }
        }
        numbers
    }
}
