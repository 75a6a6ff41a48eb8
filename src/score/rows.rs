//! A row of numbers for every term, each from the counts of that term alone, and totals for every class. One more
//! document changes the rows of its own terms and a few numbers a class, and what comes out is to the bit what would
//! be made anew from the same counts.

use std::sync::Arc;

use crate::lexicon::Lexicon;
use crate::memory::{extend_to, prefetch};
use crate::score::bits::Bits;
use crate::score::entries::{Earned, Entries};
use crate::score::parts::Parts;
use crate::score::settings::{Event, Frequency, Settings};
use crate::score::totals::{Numbers, Total, log_of, mass};
use crate::tally::cells::{Cell, ClassCounts};
use crate::tally::counted::Counted;
use crate::tally::index::{Index, Places};
use crate::tally::watching::Watcher;

/// In the first place of a row: the term has no count, and is as good as unknown.
pub const DEAD: f64 = f64::NAN;
/// In the first place of a row: the term is not used, and says nothing.
pub const UNUSED: f64 = f64::INFINITY;

/// How many terms ahead cells are fetched.
const AHEAD: usize = 8;

/// Logarithms of whole numbers up to this are looked up, or up to what occurs.
const SMALL: usize = 1 << 16;

pub struct Rows {
    pub settings: Arc<Settings>,
    /// The classes in the order in which scores are given.
    pub order: Vec<u32>,
    /// One for each place of the index.
    pub parts: Parts,
    /// Of each node, what it adds to all classes alike: in the complement model.
    pub offsets: Vec<f64>,
    pub entries: Entries,
    /// How many documents have each node, unless that stands before its parts.
    pub(super) holders: Vec<u64>,
    dropped: Vec<bool>,
    /// Which terms are used.
    pub used: Bits,
    pub totals: Vec<Total>,
    pub terms: u64,
    /// So many terms have room.
    nodes: usize,
    logs: Vec<f64>,
    pub numbers: Numbers,
    pub(super) changing: Vec<Changing>,
    /// Whether what a cell says depends on its own whole numbers alone, and whether every term is used as well.
    pub(super) whole: bool,
    pub(super) plain: bool,
    pub(super) needs_holders: bool,
}

/// A term that is about to change.
pub struct Changing {
    pub row: Places,
    pub live: bool,
    pub used: bool,
    pub cell: Cell,
}

impl Rows {
    /// The rows of counts that are indexed already.
    pub fn new(settings: Arc<Settings>, order: Vec<u32>, counts: &Counted) -> Self {
        let mut rows = Self::begin(settings, order, counts.classes);
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

    /// No rows yet, of these counts.
    pub fn begin(settings: Arc<Settings>, order: Vec<u32>, classes: &[ClassCounts]) -> Self {
        let mut dropped = Vec::new();
        if let Some(&last) = settings.dropped.iter().max() {
            dropped.resize(last as usize + 1, false);
            settings.dropped.iter().for_each(|&node| dropped[node as usize] = true);
        }
        let log = |k: usize| log_of(k as f64, settings.alpha);
        let most = |counts: &ClassCounts| {
            if settings.counts_documents() { counts.documents } else { counts.bound }
        };
        let most = classes.iter().map(most).max().unwrap_or(0);
        let small = if settings.moves() { 0 } else { SMALL.min(2 * most as usize + 64) };
        Self {
            logs: (0..small).map(log).collect(),
            whole: settings.is_whole(),
            plain: dropped.is_empty() && settings.is_whole() && !settings.needs_holders(),
            needs_holders: settings.needs_holders(),
            settings,
            order,
            parts: Parts::default(),
            offsets: Vec::new(),
            entries: Entries::default(),
            holders: Vec::new(),
            dropped,
            used: Bits::default(),
            totals: Vec::new(),
            terms: 0,
            nodes: 0,
            numbers: Numbers::default(),
            changing: Vec::new(),
        }
    }

    /// Write the row of a term, and add its cells to the totals.
    fn enter(&mut self, counts: &Counted, node: usize) {
        let row = counts.index.row(node);
        self.entries.place(node, row);
        if self.parts.has_heads() {
            let documents = counts.cells_of(row).map(|(_, _, cell)| u64::from(cell.documents));
            self.set_holders(counts.index, node, documents.sum());
        }
        if self.write(counts, node) {
            self.terms += 1;
            let holders = self.holders_of(counts.index, node);
            for (_, class, cell) in counts.cells_of(row) {
                self.totals[class].change(&self.settings, cell, holders, true);
            }
        }
    }

    /// Make room for the places of all terms.
    pub fn grow_places(&mut self, index: &Index, value: f64) {
        if !self.parts.has_heads() {
            self.parts.grow(0, index.places(), value);
        }
    }

    /// Make room for more terms, of which there will soon be as many as the lexicon has.
    pub fn grow_terms(&mut self, index: &Index, nodes: usize, lexicon: &Lexicon, value: f64) {
        let (all, earned) = (lexicon.nodes as usize, self.settings.event == Event::Earned);
        if self.parts.is_empty() {
            self.parts = Parts::new(index, earned);
        }
        if self.settings.event == Event::Complement {
            extend_to(&mut self.offsets, nodes, all, 0.0);
        }
        if self.parts.has_heads() {
            self.grow_heads(index, nodes, lexicon, value);
        } else if earned {
            self.entries.grow(nodes, lexicon, &self.settings);
        }
        self.used.grow(nodes);
        self.nodes = self.nodes.max(nodes);
    }

    /// The same where what terms have earned stands before their parts.
    fn grow_heads(&mut self, index: &Index, nodes: usize, lexicon: &Lexicon, value: f64) {
        self.parts.grow(nodes, nodes * index.width(), value);
        for node in self.nodes..nodes {
            let start = self.parts.row(index, node).start;
            let words = lexicon.words.get(node).copied().unwrap_or(1);
            self.parts.set_earned(start, Earned::of(&self.settings, node, words));
            self.parts.set_holders(start, 0);
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

    /// How many documents have a term, where that matters.
    #[inline(always)]
    pub fn holders_of(&self, index: &Index, node: usize) -> u64 {
        match (self.needs_holders, self.parts.has_heads()) {
            (false, _) => 1,
            (true, false) => self.holders[node],
            (true, true) => self.parts.holders(self.parts.row(index, node).start),
        }
    }

    #[inline(always)]
    pub fn set_holders(&mut self, index: &Index, node: usize, holders: u64) {
        if self.parts.has_heads() {
            self.parts.set_holders(self.parts.row(index, node).start, holders);
        } else {
            self.holders[node] = holders;
        }
    }

    /// Make room for how many documents have each term, where changes must know it; at first, count them.
    pub(super) fn grow_holders(&mut self, counts: &Counted) {
        if !self.needs_holders || self.parts.has_heads() {
            return;
        }
        let unknown = self.holders.is_empty();
        extend_to(&mut self.holders, counts.index.nodes(), counts.lexicon.nodes as usize, 0);
        if unknown {
            for cell in counts.classes.iter().flat_map(|counts| counts.unordered()) {
                self.holders[cell.term as usize] += u64::from(cell.documents);
            }
        }
    }

    /// Whether a term with a count is used, that so many documents have.
    #[inline(always)]
    pub fn is_used(&self, node: usize, holders: u64) -> bool {
        (!self.needs_holders || (self.settings.least..=self.settings.most).contains(&holders))
            && !self.dropped.get(node).copied().unwrap_or(false)
    }

    /// What a term has earned, and where its parts are.
    #[inline(always)]
    pub fn earned(&self, index: &Index, node: usize) -> (Earned, Places) {
        if !self.parts.has_heads() {
            return self.entries.get(node);
        }
        let row = self.parts.row(index, node);
        (self.parts.earned(row.start), row)
    }

    /// Ask for what `earned` will need.
    #[inline(always)]
    pub fn prefetch_earned(&self, index: &Index, node: usize) {
        if self.parts.has_heads() {
            prefetch(&self.parts, self.parts.row(index, node).start);
        } else {
            self.entries.prefetch(node);
        }
    }

    /// Write the row of a term as if no class had it; whether it is used.
    fn blank(&mut self, counts: &Counted, node: usize) -> bool {
        let row = self.parts.row(counts.index, node);
        let live = counts.index.is_live(node);
        let used = live && self.is_used(node, self.holders_of(counts.index, node));
        self.used.set(node, used);
        let absent = self.absent();
        match &mut self.parts[row.range()] {
            [first, ..] if !used => *first = if live { UNUSED } else { DEAD },
            row => row.fill(absent),
        }
        used
    }

    /// Write the row of a term; whether it is used.
    pub(super) fn write(&mut self, counts: &Counted, node: usize) -> bool {
        if !self.blank(counts, node) {
            return false;
        }
        let row = counts.index.row(node);
        let all =
            if self.settings.event == Event::Complement { self.write_offset(counts, node) } else { 0.0 };
        let shift = self.parts.shift(node);
        for (place, _, cell) in counts.cells_of(row) {
            self.parts[place + shift] = self.part(cell, all);
        }
        true
    }

    /// Write one place of a row whose others stay.
    pub(super) fn write_place(&mut self, node: usize, place: usize, cell: &Cell) {
        let at = place + self.parts.shift(node);
        self.parts[at] = if cell.documents > 0 { self.part(cell, 0.0) } else { self.absent() };
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
}
