//! A row of numbers for every term, each from the counts of that term alone, and totals for every class. One more
//! document changes the rows of its own terms and a few numbers a class, and what comes out is to the bit what would
//! be made anew from the same counts.

use std::sync::Arc;

use crate::memory::{extend, prefetch};
use crate::score::settings::{Event, Frequency, Settings, Weight};
use crate::score::totals::{Numbers, Total, log_of, mass};
use crate::tally::cells::Cell;
use crate::tally::index::{Changed, Counted, Places, Watcher};

/// In the first place of a row: the term has no count, and is as good as unknown.
pub const DEAD: f64 = f64::NAN;
/// In the first place of a row: the term is not used, and says nothing.
pub const UNUSED: f64 = f64::INFINITY;

/// How many cells ahead a row is fetched, and where that is is asked for.
const AHEAD: usize = 16;

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
    pub earned: Vec<Earned>,
    /// How many documents have each node.
    pub holders: Vec<u64>,
    dropped: Vec<bool>,
    totals: Vec<Total>,
    terms: u64,
    logs: Vec<f64>,
    pub numbers: Numbers,
    changing: Vec<Changing>,
    /// Whether what a cell says depends on its own whole numbers alone, and every term is used.
    plain: bool,
}

/// The weight that a term has earned, and where its weights for each class are: 0 where it has none.
#[derive(Clone, Copy)]
pub struct Earned {
    pub weight: Weight,
    pub own: u32,
}

/// A term that is about to change.
struct Changing {
    row: Places,
    live: bool,
    used: bool,
    cell: Cell,
}

impl Rows {
    pub fn new(settings: Arc<Settings>, order: Vec<u32>, counts: &Counted) -> Self {
        let nodes = counts.index.nodes();
        let mut dropped = Vec::new();
        if let Some(&last) = settings.dropped.iter().max() {
            dropped.resize(last as usize + 1, false);
            settings.dropped.iter().for_each(|&node| dropped[node as usize] = true);
        }
        let log = |k: usize| log_of(k as f64, settings.alpha);
        let mut rows = Self {
            logs: if settings.moves() { Vec::new() } else { (0..SMALL).map(log).collect() },
            settings,
            order,
            parts: Vec::new(),
            offsets: Vec::new(),
            earned: Vec::new(),
            holders: Vec::new(),
            dropped,
            totals: vec![Total::default(); counts.classes.len()],
            terms: 0,
            numbers: Numbers::default(),
            changing: Vec::new(),
            plain: false,
        };
        rows.plain = rows.dropped.is_empty() && rows.settings.is_plain();
        rows.grow(counts);
        if rows.settings.needs_holders() {
            for cell in counts.classes.iter().flat_map(|class| class.unordered()) {
                rows.holders[cell.term as usize] += u64::from(cell.documents);
            }
        }
        let whole = rows.settings.event == Event::Complement;
        for node in 0..nodes {
            let used = if whole { rows.write(counts, node) } else { rows.blank(counts, node) };
            rows.terms += u64::from(used);
        }
        rows.sum_up(counts, !whole);
        rows.refresh(counts);
        rows
    }

    fn grow(&mut self, counts: &Counted) {
        let nodes = counts.index.nodes();
        extend(&mut self.parts, counts.index.places(), if counts.index.is_direct() { DEAD } else { 0.0 });
        if self.settings.needs_holders() {
            extend(&mut self.holders, nodes, 0);
        }
        if self.settings.event == Event::Complement {
            extend(&mut self.offsets, nodes, 0.0);
        }
        if self.settings.event == Event::Earned {
            let known = self.earned.len();
            extend(&mut self.earned, nodes, Earned { weight: Weight::default(), own: 0 });
            let words = counts.lexicon.words.iter().enumerate();
            for (earned, (node, &words)) in self.earned.iter_mut().zip(words).skip(known) {
                *earned = Earned {
                    weight: self.settings.weight(node, words),
                    own: self.settings.by_class.place(node),
                };
            }
        }
        if self.totals.len() < counts.classes.len() {
            self.totals.resize_with(counts.classes.len(), Total::default);
        }
    }

    /// Add up what each class has, and write its part of each row: class by class, in the order of its cells. Row by
    /// row, a cell of each of many classes would have to come from memory.
    fn sum_up(&mut self, counts: &Counted, write: bool) {
        for (class, own) in counts.classes.iter().enumerate() {
            let cells = own.unordered();
            for (i, cell) in cells.iter().enumerate() {
                self.look_ahead(counts, cells, i);
                let node = cell.term as usize;
                if !self.is_used(node) {
                    continue;
                }
                let holders = self.holders_of(node);
                self.totals[class].change(&self.settings, cell, holders, true);
                if let Some(place) = counts.index.place(node, class).filter(|_| write) {
                    self.parts[place] = self.part(cell, 0.0);
                }
            }
        }
    }

    /// Ask for the row of a cell that will be needed soon, and for where that of a later one is.
    #[inline(always)]
    fn look_ahead(&self, counts: &Counted, cells: &[Cell], i: usize) {
        if let Some(far) = cells.get(i + 2 * AHEAD) {
            counts.index.prefetch_row(far.term as usize);
            prefetch(&self.holders, far.term as usize);
        }
        if let Some(near) = cells.get(i + AHEAD)
            && self.is_used(near.term as usize)
        {
            let row = counts.index.row(near.term as usize);
            prefetch(&self.parts, row.start);
            if !row.by_class {
                prefetch(counts.index.classes(row), 0);
            }
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
    fn is_used(&self, node: usize) -> bool {
        (self.holders.is_empty() || (self.settings.least..=self.settings.most).contains(&self.holders[node]))
            && !self.dropped.get(node).copied().unwrap_or(false)
    }

    /// Write the row of a term as if no class had it; whether it is used.
    fn blank(&mut self, counts: &Counted, node: usize) -> bool {
        let row = counts.index.row(node);
        if !counts.index.is_live(node) {
            if row.start < row.end {
                self.parts[row.start] = DEAD;
            }
            return false;
        }
        let used = self.is_used(node);
        let absent = self.absent();
        self.parts[row.range()].fill(absent);
        if !used {
            self.parts[row.start] = UNUSED;
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
        for place in row.range() {
            if let Some(cell) = counts.cell(place, counts.index.class(row, place)) {
                self.parts[place] = self.part(cell, all);
            }
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
        let cells = row.range().filter_map(|place| counts.cell(place, counts.index.class(row, place)));
        let all: u128 = cells.map(|cell| mass(&self.settings, cell)).sum();
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
        match self.logs.get(mass.min(SMALL as u128) as usize) {
            Some(log) => *log,
            None => log_of(mass as f64, self.settings.alpha),
        }
    }

    /// What a class says that does not have a term.
    fn absent(&self) -> f64 {
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
            for place in row.range() {
                let other = counts.index.class(row, place);
                let Some(cell) = counts.cell(place, other).filter(|_| other != class) else { continue };
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
            counts.index.prefetch_places(row);
            prefetch(&self.parts, row.start);
            prefetch(&self.holders, node);
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
        let mass = |cell: &Cell| {
            if self.settings.counts_documents() { u64::from(cell.documents) } else { cell.occurrences }
        };
        let (old, new) = (mass(&cell.old), mass(&cell.new));
        self.totals[class].replace(old, new);
        self.parts[cell.place] = match self.logs.get(new as usize) {
            Some(log) => *log,
            None => log_of(new as f64, self.settings.alpha),
        };
    }

    #[inline(never)]
    fn changed_any(&mut self, counts: &Counted, class: usize, cell: &Changed) {
        let row = counts.index.row(cell.node);
        let used = cell.live && self.is_used(cell.node);
        let old = Changing { row, live: cell.live, used, cell: cell.old };
        self.follow_to(counts, (cell.node, class), &old, Some(cell.place), &cell.new);
    }
}
