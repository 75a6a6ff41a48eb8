//! A row of numbers for every term, each from the counts of that term alone, and totals for every class. One more
//! document changes the rows of its own terms and a few numbers a class, and what comes out is to the bit what would
//! be made anew from the same counts.

use std::sync::Arc;

use crate::lexicon::Lexicon;
use crate::memory::{extend, extend_to, prefetch, with_room};
use crate::score::bits::Bits;
use crate::score::entries::Entries;
use crate::score::settings::{Event, Frequency, Settings};
use crate::score::totals::{Numbers, Total, log_of, mass};
use crate::tally::cells::Cell;
use crate::tally::index::{Counted, Index, Places};
use crate::tally::watching::{Changed, Watcher};

/// In the first place of a row: the term has no count, and is as good as unknown.
pub const DEAD: f64 = f64::NAN;
/// In the first place of a row: the term is not used, and says nothing.
pub const UNUSED: f64 = f64::INFINITY;

/// How many terms ahead cells are fetched.
const AHEAD: usize = 8;

/// Logarithms of whole numbers up to this are looked up.
const SMALL: usize = 4096;

pub struct Rows {
    pub settings: Arc<Settings>,
    /// The classes in the order in which scores are given.
    pub order: Vec<u32>,
    /// One for each place of the index.
    pub parts: Vec<f64>,
    /// Of each node, what it adds to all classes alike: in the complement model.
    pub offsets: Vec<f64>,
    pub entries: Entries,
    /// How many documents have each node.
    pub holders: Vec<u64>,
    dropped: Vec<bool>,
    /// Which terms are used.
    pub used: Bits,
    pub totals: Vec<Total>,
    pub terms: u64,
    logs: Vec<f64>,
    pub numbers: Numbers,
    changing: Vec<Changing>,
    /// Whether what a cell says depends on its own whole numbers alone, and every term is used.
    plain: bool,
}

/// A term that is about to change.
struct Changing {
    row: Places,
    live: bool,
    used: bool,
    cell: Cell,
}

impl Rows {
    /// The rows of counts that are indexed already.
    pub fn new(settings: Arc<Settings>, order: Vec<u32>, counts: &Counted) -> Self {
        let mut rows = Self::begin(settings, order);
        rows.grow(counts);
        for node in 0..counts.index.nodes() {
            if node + AHEAD < counts.index.nodes() {
                counts.prefetch(node + AHEAD);
            }
            rows.enter(counts, node);
        }
        rows.refresh(counts);
        rows
    }

    /// No rows yet.
    pub fn begin(settings: Arc<Settings>, order: Vec<u32>) -> Self {
        let mut dropped = Vec::new();
        if let Some(&last) = settings.dropped.iter().max() {
            dropped.resize(last as usize + 1, false);
            settings.dropped.iter().for_each(|&node| dropped[node as usize] = true);
        }
        let log = |k: usize| log_of(k as f64, settings.alpha);
        Self {
            logs: if settings.moves() { Vec::new() } else { (0..SMALL).map(log).collect() },
            plain: dropped.is_empty() && settings.is_whole() && !settings.needs_holders(),
            settings,
            order,
            parts: Vec::new(),
            offsets: Vec::new(),
            entries: Entries::default(),
            holders: Vec::new(),
            dropped,
            used: Bits::default(),
            totals: Vec::new(),
            terms: 0,
            numbers: Numbers::default(),
            changing: Vec::new(),
        }
    }

    /// Write the row of a term, and add its cells to the totals.
    fn enter(&mut self, counts: &Counted, node: usize) {
        let row = counts.index.row(node);
        self.entries.place(node, row);
        if self.settings.needs_holders() {
            let documents = counts.cells_of(row).map(|(_, _, cell)| u64::from(cell.documents));
            self.holders[node] = documents.sum();
        }
        if self.write(counts, node) {
            self.terms += 1;
            let holders = self.holders_of(node);
            for (_, class, cell) in counts.cells_of(row) {
                self.totals[class].change(&self.settings, cell, holders, true);
            }
        }
    }

    fn grow(&mut self, counts: &Counted) {
        self.grow_places(counts.index, if counts.index.is_direct() { DEAD } else { 0.0 });
        self.grow_terms(counts.index, counts.index.nodes(), counts.lexicon);
        if self.totals.len() < counts.classes.len() {
            self.totals.resize_with(counts.classes.len(), Total::default);
        }
    }

    pub fn grow_places(&mut self, index: &Index, value: f64) {
        if self.parts.is_empty() {
            self.parts = with_room(index.room());
        }
        extend(&mut self.parts, index.places(), value);
    }

    /// Make room for more terms, of which there will soon be as many as the lexicon has.
    pub fn grow_terms(&mut self, index: &Index, nodes: usize, lexicon: &Lexicon) {
        let all = lexicon.nodes as usize;
        self.used.grow(nodes);
        if self.settings.needs_holders() {
            extend_to(&mut self.holders, nodes, all, 0);
        }
        if self.settings.event == Event::Complement {
            extend_to(&mut self.offsets, nodes, all, 0.0);
        }
        if self.settings.event == Event::Earned {
            self.entries.grow(index, nodes, lexicon, &self.settings);
        }
    }

    /// Take the totals of all terms, where the rows are those of some.
    pub fn set_totals(&mut self, masses: &[u128], terms: u64, counts: &Counted) {
        self.totals = masses.iter().map(|&mass| Total::of_mass(mass)).collect();
        self.terms = terms;
        self.refresh(counts);
    }

    /// Make the numbers of the classes anew.
    pub fn refresh(&mut self, counts: &Counted) {
        self.numbers = Numbers::new(&self.settings, &self.order, &self.totals, self.terms, counts.classes);
    }

    fn holders_of(&self, node: usize) -> u64 {
        self.holders.get(node).copied().unwrap_or(1)
    }

    /// Whether a term with a count is used.
    #[inline(always)]
    pub fn is_used(&self, node: usize) -> bool {
        (self.holders.is_empty() || (self.settings.least..=self.settings.most).contains(&self.holders[node]))
            && !self.dropped.get(node).copied().unwrap_or(false)
    }

    /// Write the row of a term as if no class had it; whether it is used.
    fn blank(&mut self, counts: &Counted, node: usize) -> bool {
        let row = counts.index.row(node);
        let live = counts.index.is_live(node);
        let used = live && self.is_used(node);
        self.used.set(node, used);
        let absent = self.absent();
        match &mut self.parts[row.range()] {
            [first, ..] if !used => *first = if live { UNUSED } else { DEAD },
            row => row.fill(absent),
        }
        used
    }

    /// Write the row of a term; whether it is used.
    fn write(&mut self, counts: &Counted, node: usize) -> bool {
        if !self.blank(counts, node) {
            return false;
        }
        let row = counts.index.row(node);
        let all =
            if self.settings.event == Event::Complement { self.write_offset(counts, node) } else { 0.0 };
        for (place, _, cell) in counts.cells_of(row) {
            self.parts[place] = self.part(cell, all);
        }
        true
    }

    /// Write one place of a row whose others stay.
    fn write_place(&mut self, place: usize, cell: &Cell) {
        self.parts[place] = if cell.documents > 0 { self.part(cell, 0.0) } else { self.absent() };
    }

    /// What a term of all classes adds to each, in the complement model; with tf-idf, of which documents decide, the
    /// term's mass.
    fn write_offset(&mut self, counts: &Counted, node: usize) -> f64 {
        let row = counts.index.row(node);
        let all: u128 = counts.cells_of(row).map(|(_, _, cell)| mass(&self.settings, cell)).sum();
        let all = self.as_number(all);
        self.offsets[node] = if self.settings.is_tf_idf() { all } else { -(all + self.settings.alpha).ln() };
        all
    }

    fn as_number(&self, mass: u128) -> f64 {
        let shares = matches!(self.settings.frequency, Frequency::Normalized | Frequency::TfIdf)
            && matches!(self.settings.event, Event::Multinomial | Event::Complement);
        mass as f64 * if shares { 2f64.powi(-64) } else { 1.0 }
    }

    /// What a cell says, of a term with so much in all classes.
    fn part(&self, cell: &Cell, all: f64) -> f64 {
        let mass = mass(&self.settings, cell);
        if self.settings.moves() {
            return self.as_number(mass);
        }
        if self.settings.event == Event::Complement {
            let elsewhere = (all - self.as_number(mass)).max(0.0);
            return (all + self.settings.alpha).ln() - (elsewhere + self.settings.alpha).ln();
        }
        if self.settings.event == Event::Multinomial && self.settings.frequency == Frequency::Normalized {
            return log_of(self.as_number(mass), self.settings.alpha);
        }
        self.log(mass as u64)
    }

    /// What a whole number says.
    #[inline(always)]
    pub fn log(&self, mass: u64) -> f64 {
        match self.logs.get(mass as usize) {
            Some(log) => *log,
            None => log_of(mass as f64, self.settings.alpha),
        }
    }

    /// What a class says that does not have a term.
    pub fn absent(&self) -> f64 {
        let impossible = self.settings.alpha == 0.0 && !self.settings.moves();
        if impossible { f64::NEG_INFINITY } else { 0.0 }
    }

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
        let before = self.holders_of(node);
        if !self.holders.is_empty() {
            self.holders[node] = before + u64::from(new.documents) - u64::from(old.cell.documents);
        }
        let after = self.holders_of(node);
        let live = new.documents > 0 || counts.index.is_live(node);
        let used = live && self.is_used(node);
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
                self.write_place(place, new);
            }
            _ => drop(self.write(counts, node)),
        }
    }
}

impl Watcher for Rows {
    fn fetch(&mut self, counts: &Counted, cells: &[Cell]) {
        self.grow(counts);
        for cell in cells {
            let node = cell.term as usize;
            let row = counts.index.row(node);
            if !counts.index.is_direct() {
                counts.index.prefetch_places(row);
            }
            prefetch(&self.parts, row.start);
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
                used: live && self.is_used(node),
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
        self.changed_any(counts, class, cell);
    }

    fn lost(&mut self) {}
}

impl Rows {
    /// Follow a cell of a known term where only its own whole numbers count.
    #[inline(always)]
    fn changed_plain(&mut self, class: usize, cell: &Changed) {
        let (old, new) = (self.settings.whole_of(&cell.old), self.settings.whole_of(&cell.new));
        self.totals[class].replace(old, new);
        self.parts[cell.place] = self.log(new);
    }

    #[inline(never)]
    fn changed_any(&mut self, counts: &Counted, class: usize, cell: &Changed) {
        let row = counts.index.row(cell.node);
        let used = cell.live && self.is_used(cell.node);
        let old = Changing { row, live: cell.live, used, cell: cell.old };
        self.follow_to(counts, (cell.node, class), &old, Some(cell.place), &cell.new);
    }
}
