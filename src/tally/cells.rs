//! What is counted of one class: cells of integers, kept sorted, and the accumulators that fill them.

use crate::lexicon::bag::Bag;
use crate::memory::{extend, prefetch, push, reserve, with_room};
use crate::tally::touched::Touched;

/// More than any corpus has, and few enough that thousands of models can be merged.
pub const MOST_OCCURRENCES: u64 = 1 << 48;

/// What is known of one term in one class. Sums of tf/length are kept in units of 2^-64, so that they can be
/// subtracted without a trace; with at most 2^32 documents a class no sum can overflow. Aligned, so that no cell is cut
/// by a border of cache lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(32))]
pub struct Cell {
    pub term: u32,
    pub documents: u32,
    pub occurrences: u64,
    pub shares: u128,
}

impl Cell {
    /// What is left after taking `less` away, if that can have been counted here.
    pub fn minus(&self, less: &Cell) -> Option<Cell> {
        let left = Cell {
            term: self.term,
            documents: self.documents.checked_sub(less.documents)?,
            occurrences: self.occurrences.checked_sub(less.occurrences)?,
            shares: self.shares.checked_sub(less.shares)?,
        };
        let empty = left.documents == 0;
        let consistent = (left.occurrences == 0) == empty
            && (left.shares == 0) == empty
            && u64::from(left.documents) <= left.occurrences;
        consistent.then_some(left)
    }
}

impl Cell {
    /// The sum of two cells of the same term.
    #[inline(always)]
    pub fn plus(mut self, more: &Cell) -> Self {
        self.term = more.term;
        self.add(more);
        self
    }

    #[inline(always)]
    fn add(&mut self, more: &Cell) {
        self.documents += more.documents;
        self.occurrences += more.occurrences;
        self.shares += more.shares;
    }
}

/// What some documents add to the counts of one class: a cell for each of their terms, in whatever order.
pub struct Delta {
    pub class: usize,
    pub documents: u64,
    pub cells: Vec<Cell>,
}

impl Delta {
    /// The same, in the order of the terms.
    pub fn sorted(mut self) -> Self {
        if !self.cells.is_sorted_by_key(|cell| cell.term) {
            self.cells.sort_unstable_by_key(|cell| cell.term);
        }
        self
    }
}

/// The counts of one class: sorted runs of cells, each at least twice as long as the next. Where an index knows the
/// cells by their positions, there is one run, whose cells are changed in place and in no order.
#[derive(Clone, Default)]
pub struct ClassCounts {
    pub documents: u64,
    runs: Vec<Vec<Cell>>,
    /// No term occurs more often.
    pub bound: u64,
    shuffled: bool,
}

impl ClassCounts {
    /// `cells` are sorted by term.
    pub fn new(documents: u64, cells: Vec<Cell>) -> Self {
        let bound = most(&cells);
        Self { documents, runs: vec![cells], shuffled: false, bound }
    }

    pub fn add(&mut self, documents: u64, cells: Vec<Cell>) {
        self.documents += documents;
        self.bound = self.bound.saturating_add(most(&cells));
        self.sort();
        self.runs.push(cells);
        while let [.., longer, last] = &self.runs[..]
            && longer.len() < 2 * last.len()
        {
            self.join_last_two();
        }
    }

    fn join_last_two(&mut self) {
        if let (Some(last), Some(longer)) = (self.runs.pop(), self.runs.pop()) {
            self.runs.push(join(longer, last));
        }
    }

    fn sort(&mut self) {
        if std::mem::take(&mut self.shuffled) {
            self.runs.iter_mut().for_each(|run| run.sort_unstable_by_key(|cell| cell.term));
        }
    }

    /// All cells, in the order of their terms.
    pub fn cells(&mut self) -> &mut Vec<Cell> {
        self.sort();
        self.settle()
    }

    /// All cells in one run, in whatever order.
    pub fn settle(&mut self) -> &mut Vec<Cell> {
        while self.runs.len() > 1 {
            self.join_last_two();
        }
        if self.runs.is_empty() {
            self.runs.push(Vec::new());
        }
        &mut self.runs[0]
    }

    /// The cells of a class that is settled, in whatever order.
    #[inline(always)]
    pub fn unordered(&self) -> &[Cell] {
        self.runs.first().map_or(&[], |run| run)
    }

    /// Add to the cell at a position; what was there.
    #[inline(always)]
    pub fn change(&mut self, position: usize, more: &Cell) -> Cell {
        let Some(cell) = self.runs.first_mut().and_then(|run| run.get_mut(position)) else {
            return Cell::default();
        };
        let old = *cell;
        cell.add(more);
        self.bound = self.bound.max(cell.occurrences);
        old
    }

    /// Put a new cell behind the others; its position.
    pub fn push(&mut self, cell: Cell) -> usize {
        self.shuffled = true;
        self.bound = self.bound.max(cell.occurrences);
        let cells = self.settle();
        push(cells, cell);
        cells.len() - 1
    }

    /// Put another cell in the place of the one at a position.
    pub fn set(&mut self, position: usize, cell: Cell) {
        self.settle()[position] = cell;
    }

    /// Take a cell away; the term of the cell that took its position, if one did.
    pub fn take(&mut self, position: usize) -> Option<u32> {
        self.shuffled = true;
        let cells = self.settle();
        cells.swap_remove(position);
        cells.get(position).map(|cell| cell.term)
    }
}

impl ClassCounts {
    /// Whether a term would occur more often than a file can say, if one that occurs `more` times is added.
    pub fn would_overflow(&mut self, more: u64) -> bool {
        if self.bound.saturating_add(more) < MOST_OCCURRENCES {
            return false;
        }
        self.bound = most(self.settle());
        self.bound.saturating_add(more) >= MOST_OCCURRENCES
    }

    pub fn most_occurrences(&mut self) -> u64 {
        most(self.settle())
    }
}

/// How often the most frequent term occurs.
pub fn most(cells: &[Cell]) -> u64 {
    cells.iter().map(|cell| cell.occurrences).max().unwrap_or(0)
}

fn join(left: Vec<Cell>, right: Vec<Cell>) -> Vec<Cell> {
    if left.is_empty() {
        return right;
    }
    let mut joined = with_room(left.len() + right.len());
    let mut rights = right.into_iter().peekable();
    for mut cell in left {
        while let Some(other) = rights.next_if(|other| other.term < cell.term) {
            joined.push(other);
        }
        if let Some(other) = rights.next_if(|other| other.term == cell.term) {
            cell.add(&other);
        }
        joined.push(cell);
    }
    joined.extend(rights);
    joined.shrink_to_fit();
    joined
}

/// Aligned, so that a slot is never cut by a border of cache lines.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Slot {
    shares: u128,
    occurrences: u64,
    documents: u32,
    /// The last document that was counted here.
    stamp: u32,
}

/// How many terms ahead their accumulators are fetched from memory.
const AHEAD: usize = 24;

/// Documents of fewer bytes in all are counted in bags: one more document must not cost a look at the accumulators of
/// all terms.
const FEW_BYTES: usize = 64 << 10;

/// Room for accumulators is taken at once, for a term in so many bytes but not for more than these: what is not used
/// costs nothing, and making the table longer would copy it.
const BYTES_OF_A_TERM: usize = 8;
const MOST_ROOM: usize = 1 << 21;

/// Memory for at most so many cells is kept for the next document.
const KEPT: usize = 4096;

/// One accumulator a term, for one class at a time; of few documents, a bag of each.
#[derive(Default)]
pub struct Counter {
    few: bool,
    room: usize,
    bag: Bag,
    bags: Vec<Cell>,
    slots: Vec<Slot>,
    touched: Touched,
    stamp: u32,
    documents: u64,
}

impl Counter {
    /// Begin with documents of so many bytes in all.
    pub fn start(&mut self, bytes: usize) {
        self.few = bytes < FEW_BYTES;
        self.room = (bytes / BYTES_OF_A_TERM).min(MOST_ROOM);
    }

    /// Make room for more terms.
    pub fn grow(&mut self, terms: usize) {
        if !self.few {
            reserve(&mut self.slots, self.room);
            extend(&mut self.slots, terms, Slot::default());
            self.touched.grow(terms);
        }
    }

    pub fn count(&mut self, terms: &[u32]) {
        self.documents += 1;
        if self.few { self.count_bag(terms) } else { self.count_all(terms) }
    }

    fn count_bag(&mut self, terms: &[u32]) {
        let share = (1u128 << 64) / terms.len().max(1) as u128;
        self.bag.distinct(terms);
        self.bags.extend(self.bag.pairs().map(|(term, times)| Cell {
            term,
            documents: 1,
            occurrences: times.into(),
            shares: share * u128::from(times),
        }));
    }

    #[inline(never)]
    fn count_all(&mut self, terms: &[u32]) {
        if self.stamp == u32::MAX {
            self.slots.iter_mut().for_each(|slot| slot.stamp = 0);
            self.stamp = 0;
        }
        self.stamp += 1;
        if terms.is_empty() {
            return;
        }
        let share = (1u128 << 64) / terms.len() as u128;
        let (stamp, slots, touched) = (self.stamp, &mut self.slots[..], &mut self.touched);
        let mut count = |slots: &mut [Slot], term: u32| {
            let slot = &mut slots[term as usize];
            if slot.documents == 0 {
                touched.insert(term);
            }
            slot.occurrences += 1;
            slot.shares += share;
            // Whether a term is new in its document cannot be predicted, so nothing branches on it.
            slot.documents += u32::from(slot.stamp != stamp);
            slot.stamp = stamp;
        };
        let (first, last) = terms.split_at(terms.len().saturating_sub(AHEAD));
        for (&term, &ahead) in first.iter().zip(&terms[terms.len() - first.len()..]) {
            prefetch(slots, ahead as usize);
            count(slots, term);
        }
        last.iter().for_each(|&term| count(slots, term));
    }

    /// The bags of documents joined to one; that of a single document is as it is.
    fn joined(&mut self, documents: u64) -> Vec<Cell> {
        let mut cells = std::mem::take(&mut self.bags);
        if documents > 1 {
            cells.sort_unstable_by_key(|cell| cell.term);
            cells.dedup_by(|other, kept| {
                let same = other.term == kept.term;
                if same {
                    kept.add(other);
                }
                same
            });
        }
        cells
    }

    /// Take back the cells that were given away, to write the next ones in the same memory.
    pub fn reuse(&mut self, mut cells: Vec<Cell>) {
        if self.bags.capacity() < cells.capacity() && cells.capacity() <= KEPT {
            cells.clear();
            self.bags = cells;
        }
    }

    /// Give away what was counted, and start anew.
    fn flush(&mut self) -> (u64, Vec<Cell>) {
        if self.few {
            let documents = std::mem::take(&mut self.documents);
            return (documents, self.joined(documents));
        }
        let mut cells = with_room(self.touched.len());
        self.touched.drain(|term| cells.push(self.slots[term as usize].take(term)));
        (std::mem::take(&mut self.documents), cells)
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Slot {
    fn take(&mut self, term: u32) -> Cell {
        let slot = std::mem::take(self);
        Cell { term, documents: slot.documents, occurrences: slot.occurrences, shares: slot.shares }
    }
}

impl Counter {
    pub fn delta(&mut self, class: u32) -> Delta {
        let (documents, cells) = self.flush();
        Delta { class: class as usize, documents, cells }
    }
}
