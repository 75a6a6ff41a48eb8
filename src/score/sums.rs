//! The rows of a document's terms, added up.

use std::sync::LazyLock;

use crate::lexicon::bag::Bag;
use crate::memory::prefetch_all;
use crate::score::entries::Earned;
use crate::score::rows::{Rows, UNUSED};
use crate::score::settings::Event;
use crate::score::totals::idf;
use crate::tally::index::{Index, Places};

/// How many terms ahead a row is fetched, and where that is is asked for.
const AHEAD: usize = 8;

/// What the terms of one document add up to, by class, and to all classes alike.
#[derive(Default)]
pub struct Sums {
    pub classes: Vec<f64>,
    /// What weights for each class add.
    own: Vec<f64>,
    /// The terms of the document that are known and used.
    known: Vec<u32>,
    /// With `alpha` 0: how many terms each class has, and how many of those that it has in every document.
    hits: Vec<u32>,
    always: Vec<u32>,
    /// How often the base of a class counts, and what is added to all classes.
    base: f64,
    offset: f64,
    unknown: usize,
    /// How many terms a class must have, if every one counts.
    must: u32,
    /// By what the sum is multiplied.
    scale: f64,
}

/// What a term that occurs so many times counts for: 1 + log of that. Small ones are looked up.
struct Values(&'static [f64; 32]);

impl Values {
    fn new() -> Self {
        static SMALL: LazyLock<[f64; 32]> =
            LazyLock::new(|| std::array::from_fn(|times| damped(times.max(1) as u32)));
        Self(&SMALL)
    }

    #[inline(always)]
    fn of(&self, times: u32) -> f64 {
        self.0.get(times as usize).copied().unwrap_or_else(|| damped(times))
    }
}

/// 1 + log of small counts.
pub fn damped(times: u32) -> f64 {
    if times == 1 { 1.0 } else { 1.0 + f64::from(times).ln() }
}

impl Sums {
    fn clear(&mut self, classes: usize) {
        self.classes.clear();
        self.classes.resize(classes, 0.0);
        self.hits.clear();
        self.always.clear();
        (self.base, self.offset, self.unknown, self.must, self.scale) = (0.0, 0.0, 0, 0, 1.0);
    }

    /// Add up the rows of a document.
    pub fn fill(&mut self, rows: &Rows, index: &Index, nodes: &[u32], bag: &mut Bag) {
        let settings = &*rows.settings;
        self.clear(rows.numbers.base.len().max(index.width()));
        if settings.event == Event::Earned {
            return self.fill_earned(rows, index, nodes, bag);
        }
        if settings.moves() || settings.alpha == 0.0 {
            self.hits.resize(self.classes.len(), 0);
            self.always.resize(self.classes.len(), 0);
            bag.distinct(nodes);
            self.add_moving(rows, index, bag);
        } else {
            let terms = if settings.is_binary() { bag.distinct(nodes) } else { nodes };
            self.add_plain(rows, index, terms);
        }
        if settings.is_share() && !nodes.is_empty() {
            self.scale = 1.0 / nodes.len() as f64;
        }
    }

    fn add_plain(&mut self, rows: &Rows, index: &Index, terms: &[u32]) {
        let known = match (index.is_direct(), index.width()) {
            (true, 2) => add_two(&rows.parts, terms, &mut self.classes, &mut self.unknown),
            (true, width) => add_direct(&rows.parts, width, terms, &mut self.classes, &mut self.unknown),
            (false, _) => self.add_rows(rows, index, terms),
        };
        self.base = known as f64;
        if rows.settings.event == Event::Complement {
            for &node in terms {
                if self.used(rows, index, node).is_some() {
                    self.offset += rows.offsets[node as usize];
                }
            }
        }
    }

    fn add_rows(&mut self, rows: &Rows, index: &Index, terms: &[u32]) -> usize {
        let mut known = 0;
        for (i, &node) in terms.iter().enumerate() {
            look_ahead(rows, index, terms, i);
            let Some(row) = live(index, node).filter(|row| !rows.parts[row.start].is_nan()) else {
                self.unknown += 1;
                continue;
            };
            if rows.parts[row.start] == UNUSED {
                continue;
            }
            known += 1;
            self.add_row(rows, index, row, 1.0);
        }
        known
    }

    #[inline(always)]
    fn add_row(&mut self, rows: &Rows, index: &Index, row: Places, times: f64) {
        let parts = &rows.parts[row.range()];
        if row.by_class {
            self.classes.iter_mut().zip(parts).for_each(|(sum, part)| *sum += times * part);
            return;
        }
        for (&class, part) in index.classes(row).iter().zip(parts) {
            self.classes[class as usize] += times * part;
        }
    }

    /// The row of a term that is known and used.
    #[inline(always)]
    fn used(&self, rows: &Rows, index: &Index, node: u32) -> Option<Places> {
        let row = live(index, node)?;
        let first = rows.parts[row.start];
        (!first.is_nan() && first != UNUSED).then_some(row)
    }

    fn fill_earned(&mut self, rows: &Rows, index: &Index, nodes: &[u32], bag: &mut Bag) {
        let mut known = std::mem::take(&mut self.known);
        rows.used.keep(nodes, &mut known);
        bag.distinct_fetching(&known, |node| rows.prefetch_earned(index, node as usize));
        self.known = known;
        self.own.clear();
        self.own.resize(self.classes.len(), 0.0);
        let squares = match (index.is_direct(), index.width(), rows.settings.by_class.width) {
            (true, 2, 0 | 2) => self.add_earned_two(rows, bag),
            _ => self.add_earned(rows, index, bag),
        };
        // Centered: what all terms say of a class, without what they say of all classes in the mean.
        let all: f64 = rows.order.iter().map(|&class| self.classes[class as usize]).sum();
        self.offset = -all / rows.order.len().max(1) as f64;
        self.classes.iter_mut().zip(&self.own).for_each(|(sum, own)| *sum += own);
        self.scale = if squares > 0.0 { 1.0 / f64::sqrt(squares) } else { 0.0 };
    }

    /// Add up earned weights; the sum of the squares of the terms' values.
    fn add_earned(&mut self, rows: &Rows, index: &Index, bag: &Bag) -> f64 {
        let (values, mut squares) = (Values::new(), 0.0);
        for (i, (node, times)) in bag.pairs().enumerate() {
            look_ahead_earned(rows, index, &bag.terms, i);
            let (Earned { weight, own }, row) = rows.earned(index, node as usize);
            let value = values.of(times);
            squares += value * value;
            let x = value * weight.get(&rows.settings);
            self.base += x;
            self.add_row(rows, index, row, x);
            if own != 0 {
                let own = rows.settings.by_class.row(own);
                self.own.iter_mut().zip(own).for_each(|(sum, &part)| *sum += value * f64::from(part));
            }
        }
        squares
    }

    /// The same of two classes, of which every term has both places.
    fn add_earned_two(&mut self, rows: &Rows, bag: &Bag) -> f64 {
        let (values, mut squares, mut base) = (Values::new(), 0.0, 0.0);
        let (mut sums, mut owns) = ([0.0; 2], [0.0; 2]);
        let parts = rows.parts.of_two();
        let (own_rows, _) = rows.settings.by_class.rows().as_chunks::<2>();
        let own_rows = if own_rows.is_empty() { &[[0.0; 2]] } else { own_rows };
        for (node, times) in bag.pairs() {
            let [earned, _, row @ ..] = parts[node as usize];
            let Earned { weight, own } = Earned::of_bits(earned.to_bits());
            let value = values.of(times);
            let x = value * weight.get(&rows.settings);
            squares += value * value;
            base += x;
            let own = own_rows[own as usize];
            for class in 0..2 {
                sums[class] += x * row[class];
                owns[class] += value * f64::from(own[class]);
            }
        }
        self.base = base;
        self.classes.copy_from_slice(&sums);
        self.own.copy_from_slice(&owns);
        squares
    }

    /// Terms whose weights are made now, from numbers that every document changes, or that may rule out a class.
    fn add_moving(&mut self, rows: &Rows, index: &Index, bag: &Bag) {
        let tf_idf = rows.settings.is_tf_idf();
        for (i, (node, times)) in bag.pairs().enumerate() {
            look_ahead(rows, index, &bag.terms, i);
            let times = if rows.settings.is_binary() { 1.0 } else { f64::from(times) };
            let Some(row) = live(index, node).filter(|row| !rows.parts[row.start].is_nan()) else {
                self.unknown += times as usize;
                continue;
            };
            if rows.parts[row.start] == UNUSED {
                continue;
            }
            let scale = if tf_idf {
                idf(rows.numbers.log_documents, rows.holders_of(index, node as usize))
            } else {
                1.0
            };
            if tf_idf && scale == 0.0 {
                continue;
            }
            self.must += 1;
            self.base += times * scale;
            let all =
                if rows.settings.event == Event::Complement { rows.offsets[node as usize] } else { 0.0 };
            if tf_idf && rows.settings.event == Event::Complement {
                self.offset -= times * scale * (all * scale + rows.settings.alpha).ln();
            } else {
                self.offset += times * scale * all;
            }
            for place in row.range() {
                let class = index.class(row, place);
                let (part, has) = rows.moving(rows.parts[place], all, scale, class);
                if has {
                    self.classes[class] += times * scale * part;
                    self.hits[class] += 1;
                    self.always[class] += u32::from(rows.parts[place] == rows.numbers.documents[class]);
                }
            }
        }
    }

    /// The score of a class.
    pub fn score(&self, rows: &Rows, class: usize) -> f64 {
        let numbers = &rows.numbers;
        if rows.settings.alpha == 0.0 && self.is_ruled_out(rows, class) {
            return f64::NEG_INFINITY;
        }
        let sum = self.classes[class] + self.offset + self.base * numbers.base[class];
        let sum = match &numbers.unseen {
            Some(unseen) if self.unknown > 0 => sum + self.unknown as f64 * unseen[class],
            _ => sum,
        };
        sum * self.scale + numbers.bias[class]
    }

    fn is_ruled_out(&self, rows: &Rows, class: usize) -> bool {
        let lacks = self.hits[class] < self.must;
        let always = rows.numbers.always.get(class).copied().unwrap_or(0);
        lacks || u64::from(self.always[class]) < always
    }
}

impl Rows {
    /// What a class adds for a term, and whether it has the term at all.
    #[inline(always)]
    pub fn moving(&self, part: f64, all: f64, scale: f64, class: usize) -> (f64, bool) {
        let alpha = self.settings.alpha;
        if self.settings.event == Event::Bernoulli {
            return self.bernoulli(part, class);
        }
        if !self.settings.moves() {
            return (part, part > f64::NEG_INFINITY);
        }
        if part == 0.0 {
            return (0.0, false);
        }
        if self.settings.event == Event::Complement {
            let elsewhere = (all - part).max(0.0) * scale;
            return ((all * scale + alpha).ln() - (elsewhere + alpha).ln(), true);
        }
        let log_alpha = if alpha > 0.0 { alpha.ln() } else { 0.0 };
        ((part * scale + alpha).ln() - log_alpha, true)
    }

    fn bernoulli(&self, documents: f64, class: usize) -> (f64, bool) {
        let (n, alpha) = (self.numbers.documents[class], self.settings.alpha);
        if documents == 0.0 {
            return (0.0, false);
        }
        if alpha == 0.0 {
            let absent = n - documents;
            return (if absent > 0.0 { documents.ln() - absent.ln() } else { 0.0 }, true);
        }
        ((documents + alpha).ln() - (n - documents + alpha).ln() - self.numbers.base[class], true)
    }
}

/// The row of a term that was learned.
#[inline(always)]
fn live(index: &Index, node: u32) -> Option<Places> {
    if node as usize >= index.nodes() {
        return None;
    }
    let row = index.row(node as usize);
    (row.start < row.end).then_some(row)
}

/// Ask for the row of a term that will be needed soon, and for where that of a later one is.
#[inline(always)]
fn look_ahead(rows: &Rows, index: &Index, terms: &[u32], i: usize) {
    if let Some(&far) = terms.get(i + 2 * AHEAD)
        && (far as usize) < index.nodes()
    {
        index.prefetch_row(far as usize);
    }
    if let Some(row) = terms.get(i + AHEAD).and_then(|&near| live(index, near)) {
        fetch_row(rows, index, row);
    }
}

/// The same of terms that are used and have earned weights.
#[inline(always)]
fn look_ahead_earned(rows: &Rows, index: &Index, terms: &[u32], i: usize) {
    let Some(&near) = terms.get(i + AHEAD) else { return };
    let (Earned { own, .. }, row) = rows.earned(index, near as usize);
    fetch_row(rows, index, row);
    if own != 0 {
        prefetch_all(rows.settings.by_class.row(own));
    }
}

#[inline(always)]
fn fetch_row(rows: &Rows, index: &Index, row: Places) {
    prefetch_all(&rows.parts[row.range()]);
    if !row.by_class {
        prefetch_all(index.classes(row));
    }
}

fn add_two(parts: &[f64], terms: &[u32], sums: &mut [f64], unknown: &mut usize) -> usize {
    let (mut first, mut second, mut known, mut unused) = (0.0, 0.0, 0, 0);
    let (rows, _) = parts.as_chunks::<2>();
    for &term in terms {
        if let Some(row) = rows.get(term as usize) {
            // Nothing branches on what comes from memory: the next rows are fetched meanwhile.
            let counts = row[0] < UNUSED;
            first += if counts { row[0] } else { 0.0 };
            second += if counts { row[1] } else { 0.0 };
            known += usize::from(counts);
            unused += usize::from(row[0] == UNUSED);
        }
    }
    (sums[0], sums[1]) = (first, second);
    *unknown = terms.len() - known - unused;
    known
}

fn add_direct(parts: &[f64], width: usize, terms: &[u32], sums: &mut [f64], unknown: &mut usize) -> usize {
    let (mut known, mut unused) = (0, 0);
    for &term in terms {
        match parts.get(term as usize * width..(term as usize + 1) * width) {
            Some(row) if row[0] < UNUSED => {
                sums.iter_mut().zip(row).for_each(|(sum, part)| *sum += part);
                known += 1;
            }
            Some(row) if row[0] == UNUSED => unused += 1,
            _ => {}
        }
    }
    *unknown = terms.len() - known - unused;
    known
}
