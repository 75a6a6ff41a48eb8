//! Indexed counts, changed cell by cell: the work of one more document is in proportion to that document.

use std::collections::HashMap;

use crate::errors::TallyError;
use crate::memory::prefetch;
use crate::tally::cells::{Cell, ClassCounts, Delta};
use crate::tally::common::Common;
use crate::tally::counted::Counted;
use crate::tally::index::{Index, Maker, NONE};
use crate::tally::watching::{Changed, Watcher};
use crate::tally::{Shard, Tally};

/// A delta of less than this part of the cells is put in place by place; a larger one is merged.
const IN_PLACE: usize = 8;

/// So many cells are changed at a time.
const TOGETHER: usize = 4;

/// So many times as many before, they are fetched from memory and, once more before that, where they are.
const AHEAD: usize = 8;

/// So many cells are fetched at a time before they are looked at.
const FETCHED: usize = 256;

impl Tally {
    /// Whether these cells are best changed one by one.
    pub(super) fn can_change(&self, deltas: &[Delta]) -> bool {
        let cells: usize = deltas.iter().map(|delta| delta.cells.len()).sum();
        self.index.as_ref().is_some_and(|index| {
            !index.is_wasteful()
                && cells * IN_PLACE <= index.cells() + (1 << 16)
                && deltas.iter().all(|delta| delta.class < index.width())
        })
    }

    pub(super) fn add_in_place(&mut self, delta: &Delta, watcher: &mut impl Watcher) {
        self.change(delta, true, watcher);
    }

    pub(super) fn take_in_place(&mut self, delta: &Delta, watcher: &mut impl Watcher) {
        self.change(delta, false, watcher);
    }

    fn change(&mut self, delta: &Delta, add: bool, watcher: &mut impl Watcher) {
        let (Some(index), Some(shard)) = (&mut self.index, self.shards.first_mut()) else { return };
        if shard.classes.len() <= delta.class {
            shard.classes.resize_with(delta.class + 1, ClassCounts::default);
        }
        index.locate(&shard.classes);
        index.grow(shard.lexicon.nodes as usize);
        let documents = &mut shard.classes[delta.class].documents;
        *documents = if add { *documents + delta.documents } else { *documents - delta.documents };
        if add {
            self.common.add(delta.class, delta.documents);
        }
        let chunk = |i: usize| delta.cells.chunks(TOGETHER).nth(i).unwrap_or(&[]);
        watcher.grow(&Counted { lexicon: &shard.lexicon, index, classes: &shard.classes });
        for i in 0..delta.cells.len().div_ceil(TOGETHER) + 2 * AHEAD {
            let counted = Counted { lexicon: &shard.lexicon, index, classes: &shard.classes };
            fetch_index(&counted, chunk(i));
            if let Some(next) = i.checked_sub(AHEAD).map(chunk) {
                watcher.fetch(&counted, next);
                fetch(&counted, delta.class, next);
            }
            if let Some(cells) = i.checked_sub(2 * AHEAD).map(chunk) {
                change_cells(shard, index, delta.class, cells, add, watcher);
            }
        }
    }

    pub(super) fn lose_index(&mut self, watcher: &mut impl Watcher) {
        self.index = None;
        self.common = Common::default();
        watcher.lost();
    }

    /// Index the cells, with places for so many classes.
    pub fn index(&mut self, width: usize, maker: &mut impl Maker) {
        let shard = self.settled();
        shard.classes.iter_mut().for_each(|counts| _ = counts.cells());
        // From now on documents come one by one, for which nobody needs the accumulators of all terms.
        shard.counter.clear();
        let index = Index::new(shard.lexicon.nodes as usize, width, &shard.classes, maker);
        self.index = Some(index);
        self.common = Common::default();
    }

    /// Let the index know where cells are, to change them.
    pub fn locate(&mut self) {
        if let (Some(index), Some(shard)) = (&mut self.index, self.shards.first()) {
            index.locate(&shard.classes);
        }
    }

    /// The counts, if they are indexed.
    pub fn counted(&self) -> Option<Counted<'_>> {
        let (index, shard) = (self.index.as_ref()?, self.shards.first()?);
        Some(Counted { lexicon: &shard.lexicon, index, classes: &shard.classes })
    }

    pub(super) fn check_indexed(&mut self, delta: &Delta) -> Result<(), TallyError> {
        self.locate();
        let class = delta.class;
        let (Some(index), Some(shard)) = (&self.index, self.shards.first()) else { return Ok(()) };
        let counts = Counted { lexicon: &shard.lexicon, index, classes: &shard.classes };
        if counts.classes.get(class).is_none_or(|counts| counts.documents < delta.documents) {
            return Err(TallyError::NotLearned { term: None, class });
        }
        for cells in delta.cells.chunks(FETCHED) {
            fetch_index(&counts, cells);
            fetch(&counts, class, cells);
        }
        let unlearned =
            |less: &&Cell| cell_of(&counts, less.term, class).and_then(|cell| cell.minus(less)).is_none();
        if let Some(less) = delta.cells.iter().find(unlearned) {
            return Err(TallyError::NotLearned { term: Some(counts.lexicon.text(less.term)), class });
        }
        // All terms that are in more documents than will be left must be in what is forgotten.
        let known = &counts.classes[class];
        let left = known.documents - delta.documents;
        let common = self.common.above(class, known, left).iter();
        let is_over = |cell: &Cell| u64::from(cell.documents) > left;
        let mut over: Vec<Cell> = common.filter_map(|&term| cell_of(&counts, term, class)).collect();
        over.retain(is_over);
        if !over.is_empty() {
            let taken: HashMap<u32, u32> =
                delta.cells.iter().map(|less| (less.term, less.documents)).collect();
            over.iter_mut().for_each(|cell| cell.documents -= taken.get(&cell.term).copied().unwrap_or(0));
        }
        match over.iter().find(|cell| is_over(cell)) {
            Some(cell) => Err(TallyError::Lacking { term: counts.lexicon.text(cell.term), class }),
            None => Ok(()),
        }
    }
}

/// The cell of a term in a class, which may be a term that was never learned.
fn cell_of(counts: &Counted, term: u32, class: usize) -> Option<Cell> {
    let node = term as usize;
    let place = (node < counts.index.nodes()).then(|| counts.index.find(node, class)).flatten()?;
    counts.cell(place, class).copied()
}

/// Add cells, or take them away, and tell who follows.
fn change_cells(
    shard: &mut Shard,
    index: &mut Index,
    class: usize,
    cells: &[Cell],
    add: bool,
    watcher: &mut impl Watcher,
) {
    match (index.is_direct(), add) {
        (true, true) => return add_direct(shard, index, class, cells, watcher),
        (true, false) => return take_direct(shard, index, class, cells, watcher),
        _ => {}
    }
    watcher.before(&Counted { lexicon: &shard.lexicon, index, classes: &shard.classes }, class, cells);
    let counts = &mut shard.classes[class];
    if add {
        add_cells(index, counts, class, cells);
    } else {
        take_cells(index, counts, class, cells);
    }
    watcher.after(&Counted { lexicon: &shard.lexicon, index, classes: &shard.classes }, class, cells);
}

/// Add cells where every term has a place for each class: no place moves, so each is followed at once.
#[inline(always)]
fn add_direct(
    shard: &mut Shard,
    index: &mut Index,
    class: usize,
    cells: &[Cell],
    watcher: &mut impl Watcher,
) {
    for cell in cells {
        let node = cell.term as usize;
        let place = index.row(node).start + class;
        let (live, old) = match index.position(place) {
            NONE => {
                let live = index.is_live(node);
                index.insert(node, class, shard.classes[class].push(*cell));
                (live, Cell::default())
            }
            position => (true, shard.classes[class].change(position as usize, cell)),
        };
        let counted = Counted { lexicon: &shard.lexicon, index, classes: &shard.classes };
        watcher.changed(&counted, class, &Changed { node, place, live, old, new: old.plus(cell) });
    }
}

/// Take away cells, all of which are there, in the same way.
fn take_direct(
    shard: &mut Shard,
    index: &mut Index,
    class: usize,
    cells: &[Cell],
    watcher: &mut impl Watcher,
) {
    for less in cells {
        let node = less.term as usize;
        let place = index.row(node).start + class;
        let position = index.position(place) as usize;
        let Some(&old) = shard.classes[class].unordered().get(position) else { continue };
        let new = old.minus(less).filter(|left| left.documents > 0).unwrap_or_default();
        take_cell(index, &mut shard.classes[class], (node, class, position), new);
        let counted = Counted { lexicon: &shard.lexicon, index, classes: &shard.classes };
        watcher.changed(&counted, class, &Changed { node, place, live: true, old, new });
    }
}

/// Put what is left of a cell in its place; nothing if no document is left.
fn take_cell(
    index: &mut Index,
    counts: &mut ClassCounts,
    (node, class, position): (usize, usize, usize),
    left: Cell,
) {
    if left.documents > 0 {
        return counts.set(position, left);
    }
    index.remove(node, class);
    let other = counts.take(position).map(|term| term as usize);
    if let Some(place) = other.and_then(|term| index.find(term, class)) {
        index.moved(place, position);
    }
}

#[inline(always)]
fn fetch_index(counted: &Counted, cells: &[Cell]) {
    cells.iter().for_each(|cell| counted.index.prefetch(cell.term as usize));
}

/// Ask for the cells that will change.
#[inline(always)]
fn fetch(counted: &Counted, class: usize, cells: &[Cell]) {
    let (known, index) = (counted.classes[class].unordered(), counted.index);
    // What is to be forgotten may have terms that were never learned.
    for node in cells.iter().map(|cell| cell.term as usize).filter(|&node| node < index.nodes()) {
        if let Some(place) = index.place(node, class) {
            // No address is wrong: where there is no cell, nothing is read.
            prefetch(known, index.position(place) as usize);
        }
    }
}

fn add_cells(index: &mut Index, counts: &mut ClassCounts, class: usize, cells: &[Cell]) {
    for cell in cells {
        let node = cell.term as usize;
        match index.find(node, class) {
            Some(place) => drop(counts.change(index.position(place) as usize, cell)),
            None => index.insert(node, class, counts.push(*cell)),
        }
    }
}

/// Take away cells, all of which are there.
fn take_cells(index: &mut Index, counts: &mut ClassCounts, class: usize, cells: &[Cell]) {
    for less in cells {
        let node = less.term as usize;
        let Some(place) = index.find(node, class) else { continue };
        let position = index.position(place) as usize;
        let left = counts.unordered().get(position).and_then(|cell| cell.minus(less));
        take_cell(index, counts, (node, class, position), left.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_index_is_a_map_from_term_and_class_to_position(
            width in 1usize..30,
            first in prop::collection::btree_set((0u32..12, 0usize..30), 0..40),
            changes in prop::collection::vec((0usize..20, 0usize..30, any::<bool>()), 0..80),
        ) {
            let mut known: BTreeMap<(usize, usize), u32> = BTreeMap::new();
            let mut classes = vec![ClassCounts::default(); width];
            for (class, counts) in classes.iter_mut().enumerate() {
                let own = first.iter().filter(|(_, of)| of % width == class).map(|&(term, _)| term);
                let mut terms: Vec<u32> = own.collect();
                terms.dedup();
                let cells = terms.iter().map(|&term| Cell { term, documents: 1, occurrences: 1, shares: 1 });
                *counts = ClassCounts::new(1, cells.collect());
                known.extend((0..).zip(&terms).map(|(position, &term)| ((term as usize, class), position)));
            }
            let mut index = Index::new(12, width, &classes, &mut ());
            index.locate(&classes);
            index.grow(20);
            for (position, (node, class, add)) in (100u32..).zip(changes) {
                let class = class % width;
                match (add, known.contains_key(&(node, class))) {
                    (true, false) => {
                        index.insert(node, class, position as usize);
                        known.insert((node, class), position);
                    }
                    (false, true) => {
                        index.remove(node, class);
                        known.remove(&(node, class));
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(index.cells(), known.len());
            for node in 0..20 {
                let live = known.range((node, 0)..(node + 1, 0)).next().is_some();
                prop_assert_eq!(index.is_live(node), live);
                for class in 0..width {
                    let found = index.find(node, class);
                    prop_assert_eq!(found.map(|place| index.position(place)), known.get(&(node, class)).copied());
                    let row = index.row(node);
                    prop_assert!(found.is_none_or(|place| index.class(row, place) == class));
                }
            }
        }
    }
}
