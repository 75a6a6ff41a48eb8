//! Where the cells of each term lie: term-major, so that one more document changes its own terms and nothing else.
//!
//! With few classes a term has a place for every class. With many it has one for every cell, and one for every class
//! once that is nearly as small.

use std::ops::Range;

use crate::memory::{extend, filled, with_room};
use crate::tally::blocks::{Block, blocks};
use crate::tally::cells::{Cell, ClassCounts};

/// No cell, or no row.
pub const NONE: u32 = u32::MAX;

/// Up to this many classes every term has a place for each: a row is then one cache line, and needs no address.
pub const FEW_CLASSES: usize = 8;

/// A row with this part of the classes has a place for each of them.
const FULL_FROM: usize = 3;

#[derive(Clone, Copy, Default)]
struct Row {
    start: u32,
    cells: u32,
    /// How many places are its own; with the highest bit, one for every class.
    room: u32,
}

const FULL: u32 = 1 << 31;

impl Row {
    fn is_full(self) -> bool {
        self.room & FULL != 0
    }

    /// The place of the next class, while rows are filled.
    #[inline(always)]
    fn next(&mut self, class: usize) -> usize {
        let full = self.is_full();
        let at = if full { class as u32 } else { self.room };
        self.room += u32::from(!full);
        (self.start + at) as usize
    }
}

/// The places of cells, term by term.
pub struct Index {
    width: usize,
    nodes: usize,
    /// Unless every term has a place for each class.
    rows: Option<Vec<Row>>,
    class: Vec<u32>,
    /// Where the cell of each place is among those of its class: made for the first change, since answers need none.
    position: Vec<u32>,
    places: usize,
    room: usize,
    live: usize,
}

/// The places of one term.
#[derive(Clone, Copy, PartialEq)]
pub struct Places {
    pub start: usize,
    pub end: usize,
    /// Whether the i-th place is that of class i.
    pub by_class: bool,
}

impl Places {
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl Index {
    /// Index cells, of which each class has one run in the order of its terms; there is room for so many classes.
    pub fn new(nodes: usize, width: usize, classes: &[ClassCounts], maker: &mut impl Maker) -> Self {
        let live = classes.iter().map(|counts| counts.unordered().len()).sum();
        let mut index = Self::with_room(nodes, width.max(classes.len()).max(1), live);
        for block in blocks(nodes, classes) {
            maker.begin(&index, &block);
            index.lay_out(&block, maker);
            maker.lay_out(&index, block.terms.clone());
            index.put(&block, maker);
        }
        index
    }

    fn with_room(nodes: usize, width: usize, live: usize) -> Self {
        let direct = width <= FEW_CLASSES;
        // No row has more places for one cell. What is not used yet takes no memory.
        let places = if direct { nodes * width } else { (live * FULL_FROM).min(nodes * width) };
        Self {
            width,
            nodes: 0,
            rows: (!direct).then(|| with_room(nodes)),
            class: with_room(if direct { 0 } else { places }),
            position: Vec::new(),
            places: 0,
            room: places,
            live,
        }
    }

    /// Make rows for the next terms.
    fn lay_out(&mut self, block: &Block, maker: &mut impl Maker) {
        self.nodes = block.terms.end;
        let Some(rows) = &mut self.rows else {
            self.places = self.nodes * self.width;
            return block.cells().for_each(|cell| maker.count(cell));
        };
        rows.resize(self.nodes, Row::default());
        for cell in block.cells() {
            rows[cell.term as usize].cells += 1;
            maker.count(cell);
        }
        let mut end = self.places as u32;
        for row in &mut rows[block.terms.clone()] {
            let full = row.cells as usize * FULL_FROM > self.width;
            row.start = end;
            // A place at a time is taken by the cells of a row that is not full.
            row.room = if full { self.width as u32 | FULL } else { 0 };
            end += if full { self.width as u32 } else { row.cells };
        }
        self.class.resize(end as usize, NONE);
        self.places = end as usize;
        for row in rows[block.terms.clone()].iter().filter(|row| row.is_full()) {
            number(&mut self.class[row.start as usize..][..self.width]);
        }
    }

    /// Give the cells of a block their places.
    fn put(&mut self, block: &Block, maker: &mut impl Maker) {
        for (class, cells) in block.classes.iter().enumerate() {
            for cell in *cells {
                let node = cell.term as usize;
                let place = match &mut self.rows {
                    None => node * self.width + class,
                    Some(rows) => {
                        let place = rows[node].next(class);
                        self.class[place] = class as u32;
                        place
                    }
                };
                maker.put(class, cell, place);
            }
        }
    }

    fn is_located(&self) -> bool {
        self.position.len() == self.places
    }

    /// Note where the cells are, which are those that were indexed and have not moved since, unless that is known.
    pub fn locate(&mut self, classes: &[ClassCounts]) {
        if self.is_located() {
            return;
        }
        let mut position = filled(self.places, NONE);
        for (class, counts) in classes.iter().enumerate() {
            for (cell, at) in counts.unordered().iter().zip(0..) {
                if let Some(place) = self.place(cell.term as usize, class) {
                    position[place] = at;
                }
            }
        }
        self.position = position;
    }

    /// How many places there will be at most, as long as no term is new.
    pub fn room(&self) -> usize {
        self.room
    }

    /// How many places there are, used or not.
    pub fn places(&self) -> usize {
        self.places
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.live
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Whether every term has a place for each class.
    pub fn is_direct(&self) -> bool {
        self.rows.is_none()
    }

    /// Make room for more terms.
    pub fn grow(&mut self, nodes: usize) {
        if nodes <= self.nodes {
            return;
        }
        match &mut self.rows {
            None => {
                let located = self.is_located();
                self.places = nodes * self.width;
                if located {
                    extend(&mut self.position, self.places, NONE);
                }
            }
            Some(rows) => extend(rows, nodes, Row::default()),
        }
        self.nodes = nodes;
    }

    /// The places of a term.
    #[inline(always)]
    pub fn row(&self, node: usize) -> Places {
        match &self.rows {
            None => Places { start: node * self.width, end: (node + 1) * self.width, by_class: true },
            Some(rows) => {
                let row = rows[node];
                let slots = if row.is_full() { self.width } else { row.cells as usize };
                Places { start: row.start as usize, end: row.start as usize + slots, by_class: row.is_full() }
            }
        }
    }

    /// Whether a term has any cell.
    #[inline(always)]
    pub fn is_live(&self, node: usize) -> bool {
        match &self.rows {
            None => self.position[node * self.width..][..self.width].iter().any(|&position| position != NONE),
            Some(rows) => rows[node].cells > 0,
        }
    }

    /// Ask for what `row` will need.
    #[inline(always)]
    pub fn prefetch_row(&self, node: usize) {
        if let Some(rows) = &self.rows {
            crate::memory::prefetch(rows, node);
        }
    }

    /// Ask for what `row` will need or, of few classes, for the places themselves.
    #[inline(always)]
    pub fn prefetch(&self, node: usize) {
        match &self.rows {
            Some(rows) => crate::memory::prefetch(rows, node),
            None => crate::memory::prefetch(&self.position, node * self.width),
        }
    }

    /// Ask for the places of a term, whose row is there.
    #[inline(always)]
    pub fn prefetch_places(&self, row: Places) {
        crate::memory::prefetch(&self.position, row.start);
        if !row.by_class {
            crate::memory::prefetch(&self.class, row.start);
        }
    }

    /// The class of a place.
    #[inline(always)]
    pub fn class(&self, row: Places, place: usize) -> usize {
        if row.by_class { place - row.start } else { self.class[place] as usize }
    }

    /// The classes of the places of a row that is not by class.
    #[inline(always)]
    pub fn classes(&self, row: Places) -> &[u32] {
        &self.class[row.range()]
    }

    /// Where a place's cell is among those of its class, of cells that are located; NONE if there is none.
    #[inline(always)]
    pub fn position(&self, place: usize) -> u32 {
        self.position[place]
    }

    /// The place of a cell.
    pub fn find(&self, node: usize, class: usize) -> Option<usize> {
        self.place(node, class).filter(|&place| self.position[place] != NONE)
    }

    /// The place of a cell that is there, or could be.
    #[inline(always)]
    pub fn place(&self, node: usize, class: usize) -> Option<usize> {
        let row = self.row(node);
        if row.by_class {
            return (class < self.width).then_some(row.start + class);
        }
        let classes = &self.class[row.range()];
        classes.iter().position(|&other| other as usize == class).map(|at| row.start + at)
    }

    /// The cell at a place was moved.
    pub fn moved(&mut self, place: usize, position: usize) {
        self.position[place] = position as u32;
    }

    /// Give a new cell a place; the other places of its term may move.
    pub fn insert(&mut self, node: usize, class: usize, position: usize) {
        self.live += 1;
        let Some(rows) = &mut self.rows else {
            self.position[node * self.width + class] = position as u32;
            return;
        };
        let row = rows[node];
        if row.is_full() {
            rows[node].cells += 1;
            self.position[row.start as usize + class] = position as u32;
            return;
        }
        if row.cells == row.room {
            self.make_room(node);
        }
        let Some(rows) = &mut self.rows else { return };
        let row = &mut rows[node];
        let place = row.start as usize + if row.is_full() { class } else { row.cells as usize };
        row.cells += 1;
        self.class[place] = class as u32;
        self.position[place] = position as u32;
    }

    /// Move a row to the end, with room for more cells.
    fn make_room(&mut self, node: usize) {
        let Some(rows) = &mut self.rows else { return };
        let old = rows[node];
        let (from, cells) = (old.start as usize, old.cells as usize);
        let room = (cells + 1).next_power_of_two();
        let full = room * FULL_FROM > self.width;
        let room = if full { self.width } else { room };
        let start = self.places;
        self.places += room;
        extend(&mut self.position, self.places, NONE);
        extend(&mut self.class, self.places, NONE);
        if full {
            number(&mut self.class[start..]);
        }
        for i in 0..cells {
            let (class, position) = (self.class[from + i], self.position[from + i]);
            let to = start + if full { class as usize } else { i };
            self.class[to] = class;
            self.position[to] = position;
            self.position[from + i] = NONE;
        }
        let flag = if full { FULL } else { 0 };
        rows[node] = Row { start: start as u32, cells: old.cells, room: room as u32 | flag };
    }

    /// Take a cell's place back; another place of its term may move there.
    pub fn remove(&mut self, node: usize, class: usize) {
        let Some(place) = self.find(node, class) else { return };
        self.live -= 1;
        self.position[place] = NONE;
        let Some(rows) = &mut self.rows else { return };
        let row = &mut rows[node];
        row.cells -= 1;
        if !row.is_full() {
            let last = row.start as usize + row.cells as usize;
            self.class.swap(place, last);
            self.position.swap(place, last);
        }
    }

    /// Whether so many places were left behind that a new index is better.
    pub fn is_wasteful(&self) -> bool {
        self.rows.is_some() && self.places() > 4 * self.live + 2 * self.nodes + (1 << 16)
    }
}

fn number(classes: &mut [u32]) {
    (0..).zip(classes).for_each(|(class, at)| *at = class);
}

/// What is made of cells while they are indexed, block by block, so that both are in the cache.
pub trait Maker {
    /// The cells of this block are next.
    fn begin(&mut self, index: &Index, block: &Block);
    /// A cell of the block, before any of them has a place.
    fn count(&mut self, cell: &Cell);
    /// The rows of these terms are laid out; their cells have no places yet.
    fn lay_out(&mut self, index: &Index, terms: Range<usize>);
    /// A cell of a class has got a place.
    fn put(&mut self, class: usize, cell: &Cell, place: usize);
}

/// Nothing is made.
impl Maker for () {
    fn begin(&mut self, _: &Index, _: &Block) {}
    fn count(&mut self, _: &Cell) {}
    fn lay_out(&mut self, _: &Index, _: Range<usize>) {}
    fn put(&mut self, _: usize, _: &Cell, _: usize) {}
}
