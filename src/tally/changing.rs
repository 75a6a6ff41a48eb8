//! Indexed counts, changed cell by cell: the work of one more document is in proportion to that document.

use crate::errors::TallyError;
use crate::tally::Tally;
use crate::tally::cells::{Cell, ClassCounts, Delta};
use crate::tally::index::{Counted, Index, Watcher};

/// A delta of less than this part of the cells is put in place by place; a larger one is merged.
const IN_PLACE: usize = 8;

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
        self.change(delta, add_cells, watcher);
    }

    pub(super) fn take_in_place(&mut self, delta: &Delta, watcher: &mut impl Watcher) {
        self.change(delta, take_cells, watcher);
    }

    fn change(
        &mut self,
        delta: &Delta,
        work: fn(&mut Index, &mut ClassCounts, &Delta),
        watcher: &mut impl Watcher,
    ) {
        let (Some(index), Some(shard)) = (&mut self.index, self.shards.first_mut()) else { return };
        if shard.classes.len() <= delta.class {
            shard.classes.resize_with(delta.class + 1, ClassCounts::default);
        }
        index.grow(shard.lexicon.nodes as usize);
        watcher.before(&Counted { lexicon: &shard.lexicon, index, classes: &shard.classes }, delta);
        work(index, &mut shard.classes[delta.class], delta);
        watcher.after(&Counted { lexicon: &shard.lexicon, index, classes: &shard.classes }, delta);
    }

    pub(super) fn lose_index(&mut self, watcher: &mut impl Watcher) {
        self.index = None;
        watcher.lost();
    }

    /// Index the cells, with places for so many classes.
    pub fn index(&mut self, width: usize) {
        let shard = self.settled();
        shard.classes.iter_mut().for_each(|counts| _ = counts.settle());
        let index = Index::new(shard.lexicon.nodes as usize, width, &shard.classes);
        self.index = Some(index);
    }

    /// The counts, if they are indexed.
    pub fn counted(&self) -> Option<Counted<'_>> {
        let (index, shard) = (self.index.as_ref()?, self.shards.first()?);
        Some(Counted { lexicon: &shard.lexicon, index, classes: &shard.classes })
    }

    pub(super) fn check_indexed(&self, delta: &Delta) -> Result<(), TallyError> {
        let class = delta.class;
        let Some(counts) = self.counted() else { return Ok(()) };
        if counts.classes.get(class).is_none_or(|counts| counts.documents < delta.documents) {
            return Err(TallyError::NotLearned { term: None, class });
        }
        let left = |less: &Cell| {
            let node = less.term as usize;
            let place = (node < counts.index.nodes()).then(|| counts.index.find(node, class)).flatten()?;
            counts.cell(place, class)?.minus(less)
        };
        match delta.cells.iter().find(|less| left(less).is_none()) {
            Some(less) => Err(TallyError::NotLearned { term: Some(counts.lexicon.text(less.term)), class }),
            None => Ok(()),
        }
    }
}

fn add_cells(index: &mut Index, counts: &mut ClassCounts, delta: &Delta) {
    counts.documents += delta.documents;
    for cell in &delta.cells {
        let node = cell.term as usize;
        match index.find(node, delta.class) {
            Some(place) => counts.change(index.position(place) as usize, cell),
            None => index.insert(node, delta.class, counts.push(*cell)),
        }
    }
}

/// Take away cells, all of which are there.
fn take_cells(index: &mut Index, counts: &mut ClassCounts, delta: &Delta) {
    counts.documents -= delta.documents;
    for less in &delta.cells {
        let node = less.term as usize;
        let Some(place) = index.find(node, delta.class) else { continue };
        let position = index.position(place) as usize;
        match counts.unordered().get(position).and_then(|cell| cell.minus(less)) {
            Some(left) if left.documents > 0 => counts.set(position, left),
            _ => {
                index.remove(node, delta.class);
                let other = counts.take(position).map(|term| term as usize);
                if let Some(place) = other.and_then(|term| index.find(term, delta.class)) {
                    index.moved(place, position);
                }
            }
        }
    }
}
