//! Rows that follow the counts: one more document changes the rows of its own terms and a few numbers a class.

use crate::memory::prefetch;
use crate::score::rows::{Changing, DEAD, Rows, UNUSED};
use crate::score::settings::Event;
use crate::score::totals::Total;
use crate::tally::cells::Cell;
use crate::tally::counted::Counted;
use crate::tally::index::Index;
use crate::tally::watching::{Changed, Watcher};

impl Rows {
    fn follow(&mut self, counts: &Counted, node: usize, class: usize, old: &Changing) {
        let place = counts.index.find(node, class);
        let new = place.and_then(|place| counts.cell(place, class)).copied().unwrap_or_default();
        self.follow_to(counts, (node, class), old, place, &new);
    }

    #[inline(always)]
    fn follow_to(
        &mut self,
        counts: &Counted,
        (node, class): (usize, usize),
        old: &Changing,
        place: Option<usize>,
        new: &Cell,
    ) {
        let row = counts.index.row(node);
        self.entries.place(node, row);
        let before = self.holders_of(counts.index, node);
        if self.needs_holders {
            let holders = before + u64::from(new.documents) - u64::from(old.cell.documents);
            self.set_holders(counts.index, node, holders);
        }
        let after = self.holders_of(counts.index, node);
        let live = new.documents > 0 || counts.index.is_live(node);
        let used = live && self.is_used(node, after);
        for (cell, holders, counted, added) in
            [(&old.cell, before, old.used, false), (new, after, used, true)]
        {
            if counted && cell.documents > 0 {
                self.totals[class].change(&self.settings, cell, holders, added);
            }
        }
        let whole = old.used != used || (self.settings.is_tf_idf() && used);
        if whole {
            for (_, other, cell) in counts.cells_of(row).filter(|&(_, other, _)| other != class) {
                for (holders, counted, added) in [(before, old.used, false), (after, used, true)] {
                    if counted {
                        self.totals[other].change(&self.settings, cell, holders, added);
                    }
                }
            }
        }
        self.terms = self.terms + u64::from(used) - u64::from(old.used);
        let moved = row != old.row || live != old.live || used != old.used;
        match place {
            Some(place) if !moved && used && self.settings.event != Event::Complement => {
                self.write_place(node, place, new);
            }
            _ => drop(self.write(counts, node)),
        }
    }
}

impl Watcher for Rows {
    fn grow(&mut self, counts: &Counted) {
        let value = if counts.index.is_direct() { DEAD } else { 0.0 };
        self.grow_terms(counts.index, counts.index.nodes(), counts.lexicon, value);
        self.grow_places(counts.index, value);
        self.grow_holders(counts);
        if self.totals.len() < counts.classes.len() {
            self.totals.resize_with(counts.classes.len(), Total::default);
        }
    }

    #[inline(always)]
    fn fetch(&mut self, counts: &Counted, cells: &[Cell]) {
        for cell in cells {
            let node = cell.term as usize;
            let row = counts.index.row(node);
            if !counts.index.is_direct() {
                counts.index.prefetch_places(row);
            }
            prefetch(&self.parts, row.start + self.parts.shift(node));
            if !self.holders.is_empty() {
                prefetch(&self.holders, node);
            }
        }
    }

    fn before(&mut self, counts: &Counted, class: usize, cells: &[Cell]) {
        let mut changing = std::mem::take(&mut self.changing);
        changing.clear();
        changing.extend(cells.iter().map(|cell| {
            let node = cell.term as usize;
            let place = counts.index.find(node, class);
            let live = counts.index.is_live(node);
            Changing {
                row: counts.index.row(node),
                live,
                used: live && self.is_used(node, self.holders_of(counts.index, node)),
                cell: place.and_then(|place| counts.cell(place, class)).copied().unwrap_or_default(),
            }
        }));
        self.changing = changing;
    }

    fn after(&mut self, counts: &Counted, class: usize, cells: &[Cell]) {
        self.grow(counts);
        let changing = std::mem::take(&mut self.changing);
        for (cell, old) in cells.iter().zip(&changing) {
            self.follow(counts, cell.term as usize, class, old);
        }
        self.changing = changing;
    }

    #[inline(always)]
    fn changed(&mut self, counts: &Counted, class: usize, cell: &Changed) {
        if self.plain && cell.live && cell.new.documents > 0 {
            return self.changed_plain(class, cell);
        }
        if !self.whole || !self.changed_whole(counts, class, cell) {
            self.changed_any(counts, class, cell);
        }
    }

    fn lost(&mut self) {}
}

impl Rows {
    /// Follow a cell of a known term where only its own whole numbers count.
    #[inline(always)]
    fn changed_plain(&mut self, class: usize, cell: &Changed) {
        let (old, new) = (self.settings.whole_of(&cell.old), self.settings.whole_of(&cell.new));
        self.totals[class].replace(old, new);
        let at = cell.place + self.parts.shift(cell.node);
        self.parts[at] = self.log(new);
    }

    /// Follow a cell where whole numbers count; whether what other classes have of its term is known without a look.
    #[inline(never)]
    fn changed_whole(&mut self, counts: &Counted, class: usize, cell: &Changed) -> bool {
        let live = cell.new.documents > 0 || counts.index.is_live(cell.node);
        let before = self.holders_of(counts.index, cell.node);
        let others = if self.needs_holders { before - u64::from(cell.old.documents) } else { 0 };
        let after = if self.needs_holders { others + u64::from(cell.new.documents) } else { 1 };
        let was_used = cell.live && self.is_used(cell.node, before);
        let used = live && self.is_used(cell.node, after);
        let told = others == 0 || (counts.index.width() == 2 && self.settings.counts_documents());
        if was_used != used && !told {
            return false;
        }
        if self.needs_holders {
            self.set_holders(counts.index, cell.node, after);
        }
        let start = self.parts.row(counts.index, cell.node).start;
        if !used {
            self.parts[start] = if live { UNUSED } else { DEAD };
        } else if !was_used {
            let absent = self.absent();
            self.parts[start..start + counts.index.width()].fill(absent);
        }
        if used {
            let new = self.settings.whole_of(&cell.new);
            self.parts[start + class] = if new > 0 { self.log(new) } else { self.absent() };
        }
        let counted = |cell: &Cell, used: bool| if used { self.settings.whole_of(cell) } else { 0 };
        self.totals[class].replace(counted(&cell.old, was_used), counted(&cell.new, used));
        if was_used != used {
            self.used_anew(counts.index, cell.node, (class, others), used);
        }
        true
    }

    /// A term is used from now on, or no longer, of which the class that did not change has so many documents.
    fn used_anew(&mut self, index: &Index, node: usize, (class, others): (usize, u64), used: bool) {
        self.used.set(node, used);
        self.terms = if used { self.terms + 1 } else { self.terms - 1 };
        if others > 0 {
            let counted = |used: bool| if used { others } else { 0 };
            self.totals[1 - class].replace(counted(!used), counted(used));
            if used {
                let at = self.parts.row(index, node).start + 1 - class;
                self.parts[at] = self.log(others);
            }
        }
    }

    #[inline(never)]
    fn changed_any(&mut self, counts: &Counted, class: usize, cell: &Changed) {
        let row = counts.index.row(cell.node);
        let used = cell.live && self.is_used(cell.node, self.holders_of(counts.index, cell.node));
        let old = Changing { row, live: cell.live, used, cell: cell.old };
        self.follow_to(counts, (cell.node, class), &old, Some(cell.place), &cell.new);
    }
}
