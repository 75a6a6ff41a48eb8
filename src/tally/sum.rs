//! Two tallies as arrays, added up as they are: both are in canonical order, so that one walk along both gives their sum
//! in canonical order, and no table of terms is made. A blob of a million n-grams is added in a tenth of the time.

use crate::errors::{MAX_TERMS, ReadError, TallyError};
use crate::memory::with_room;
use crate::tally::cells::MOST_OCCURRENCES;
use crate::tally::export::{Arrays, Integers};
use crate::tally::restore::{Column, Stored};

/// One of two tallies; its class i is `classes[i]` in the sum.
pub struct Addend<'a> {
    pub stored: &'a Stored<'a>,
    pub classes: &'a [u32],
}

/// What the documents of a class are in a sum.
#[derive(Clone, Copy, PartialEq)]
pub enum Documents {
    /// Different ones: as many as both have.
    Different,
    /// The same, of which each tally has counted other terms.
    Same,
}

const NONE: u32 = u32::MAX;

type ColumnOf = for<'a> fn(&Stored<'a>) -> Column<'a>;

/// The sum of two tallies that were checked, in so many classes.
pub fn sum(addends: [Addend; 2], classes: usize, documents: Documents) -> Result<Arrays, TallyError> {
    let most = addends.iter().map(|addend| addend.stored.term.len()).sum();
    let mut arrays = Arrays { term: with_room(most), ..Arrays::default() };
    let terms = united_terms(&addends, &mut arrays)?;
    let own: Vec<Side> = addends.iter().zip(&terms).map(|(addend, terms)| Side::new(addend, terms)).collect();
    let [left, right] = &own[..] else { return Ok(arrays) };
    let sides = [left, right];
    arrays.documents = Integers::with_room(most, both(sides, |stored| stored.documents));
    arrays.occurrences = Integers::with_room(most, both(sides, |stored| stored.occurrences));
    arrays.shares_whole = Integers::with_room(most, both(sides, |stored| stored.shares_whole) + 1);
    arrays.shares_part = with_room(most);
    for class in 0..classes {
        arrays.push_sum(sides.map(|side| side.class(class)), class, documents)?;
    }
    Ok(arrays)
}

/// Words, n-grams and terms of both; for each term of either its place in the sum.
fn united_terms(addends: &[Addend; 2], arrays: &mut Arrays) -> Result<[Vec<u32>; 2], TallyError> {
    let stored = [addends[0].stored, addends[1].stored];
    let mut nodes = stored.map(|stored| with_room(stored.nodes()));
    walk(
        &mut nodes,
        |_, side, i| stored[side].word(i),
        |nodes, at| {
            note(nodes, at, arrays.word_ends.len());
            arrays.words.extend_from_slice(of_either(at, |side, i| stored[side].word(i)).unwrap_or_default());
            arrays.word_ends.push(arrays.words.len() as u64);
        },
    );
    let words = arrays.word_ends.len();
    let pairs = stored.map(|stored| stored.pairs.as_chunks::<2>().0);
    let pair = |nodes: &[Vec<u32>; 2], side: usize, i: usize| {
        pairs[side].get(i).map(|pair| pair.map(|node| nodes[side][node as usize]))
    };
    walk(&mut nodes, pair, |nodes, at| {
        let pair = of_either(at, |side, i| pair(nodes, side, i)).unwrap_or_default();
        note(nodes, at, words + arrays.pairs.len() / 2);
        arrays.pairs.extend(pair);
    });
    if words + arrays.pairs.len() / 2 > MAX_TERMS as usize {
        return Err(TallyError::Read(ReadError::TooManyTerms));
    }
    let mut terms = stored.map(|stored| with_room(stored.terms.len()));
    let node = |side: usize, i: usize| stored[side].terms.get(i).map(|&term| nodes[side][term as usize]);
    walk(
        &mut terms,
        |_, side, i| node(side, i),
        |terms, at| {
            note(terms, at, arrays.terms.len());
            arrays.terms.extend(of_either(at, node));
        },
    );
    Ok(terms)
}

/// Walk along two sorted lists: each key of their union, in order, is `found` where it stands in either.
fn walk<S, K: Ord>(
    state: &mut S,
    key: impl Fn(&S, usize, usize) -> Option<K>,
    mut found: impl FnMut(&mut S, [Option<usize>; 2]),
) {
    let mut at = [0, 0];
    loop {
        let (left, right) = match (key(state, 0, at[0]), key(state, 1, at[1])) {
            (None, None) => return,
            (Some(left), Some(right)) => (left <= right, left >= right),
            (left, right) => (left.is_some(), right.is_some()),
        };
        found(state, [left.then_some(at[0]), right.then_some(at[1])]);
        at = [at[0] + usize::from(left), at[1] + usize::from(right)];
    }
}

fn note(places: &mut [Vec<u32>; 2], at: [Option<usize>; 2], place: usize) {
    for (places, _) in places.iter_mut().zip(at).filter(|(_, at)| at.is_some()) {
        places.push(place as u32);
    }
}

fn of_either<T>(at: [Option<usize>; 2], get: impl Fn(usize, usize) -> Option<T>) -> Option<T> {
    at[0].map(|i| (0, i)).or(at[1].map(|i| (1, i))).and_then(|(side, i)| get(side, i))
}

/// No number in the sum of two columns is larger.
fn both(sides: [&Side; 2], column: ColumnOf) -> u64 {
    sides.iter().map(|side| most(column(side.stored).iter())).sum()
}

fn most(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.max().unwrap_or(0)
}

/// A tally, and where its terms and classes are in the sum.
struct Side<'a> {
    stored: &'a Stored<'a>,
    terms: &'a [u32],
    /// For each class of the sum its own.
    classes: Vec<Option<usize>>,
}

/// The cells of one class, which may have none.
struct ClassOf<'a> {
    stored: &'a Stored<'a>,
    terms: &'a [u32],
    documents: u64,
    start: usize,
    end: usize,
}

impl<'a> Side<'a> {
    fn new(addend: &Addend<'a>, terms: &'a [u32]) -> Self {
        let count = addend.classes.iter().max().map_or(0, |&last| last as usize + 1);
        let mut classes = vec![None; count];
        addend.classes.iter().enumerate().for_each(|(own, &class)| classes[class as usize] = Some(own));
        Self { stored: addend.stored, terms, classes }
    }

    fn class(&self, class: usize) -> ClassOf<'a> {
        let (stored, terms) = (self.stored, self.terms);
        match self.classes.get(class).copied().flatten() {
            None => ClassOf { stored, terms, documents: 0, start: 0, end: 0 },
            Some(own) => {
                let (start, end) = (stored.class_start(own), stored.class_ends.get(own) as usize);
                ClassOf { stored, terms, documents: stored.class_documents.get(own), start, end }
            }
        }
    }
}

impl ClassOf<'_> {
    /// The place in the sum of the term of a cell.
    fn term(&self, i: usize) -> Option<u32> {
        (self.start + i < self.end).then(|| self.terms[self.stored.term[self.start + i] as usize])
    }

    fn most_occurrences(&self) -> u64 {
        most((self.start..self.end).map(|i| self.stored.occurrences.get(i)))
    }

    fn number(&self, i: u32, column: Column) -> u64 {
        if i == NONE { 0 } else { column.get(self.start + i as usize) }
    }

    fn shares(&self, i: u32) -> u128 {
        u128::from(self.number(i, self.stored.shares_whole)) << 64
            | u128::from(self.number(i, self.stored.shares_part))
    }
}

impl Arrays {
    fn push_sum(
        &mut self,
        sides: [ClassOf; 2],
        class: usize,
        documents: Documents,
    ) -> Result<(), TallyError> {
        let counted = match documents {
            Documents::Different => sides[0].documents + sides[1].documents,
            Documents::Same => sides[0].documents.max(sides[1].documents),
        };
        if counted > u64::from(u32::MAX) {
            return Err(TallyError::TooManyDocuments { class });
        }
        if sides.iter().map(ClassOf::most_occurrences).sum::<u64>() >= MOST_OCCURRENCES {
            return Err(TallyError::TooManyOccurrences { class });
        }
        let mut order: Vec<[u32; 2]> = with_room(sides.iter().map(|side| side.end - side.start).sum());
        let term = |side: usize, i: usize| sides[side].term(i);
        walk(
            &mut order,
            |_, side, i| term(side, i),
            |order, at| {
                order.push(at.map(|at| at.map_or(NONE, |i| i as u32)));
                self.term.extend(of_either(at, term));
            },
        );
        let [left, right] = sides;
        let add = |get: ColumnOf| {
            let (ours, theirs) = (get(left.stored), get(right.stored));
            let (left, right) = (&left, &right);
            order.iter().map(move |&[l, r]| left.number(l, ours) + right.number(r, theirs))
        };
        let shares = || order.iter().map(|&[l, r]| left.shares(l) + right.shares(r));
        self.documents.extend(add(|stored| stored.documents));
        self.occurrences.extend(add(|stored| stored.occurrences));
        self.shares_whole.extend(shares().map(|shares| (shares >> 64) as u64));
        self.shares_part.extend(shares().map(|shares| shares as u64));
        self.class_documents.push(counted);
        self.class_ends.push(self.term.len() as u64);
        Ok(())
    }
}
