//! Rows that are made while cells are indexed, where what a cell says depends on its own whole numbers alone. Nothing
//! branches on whether a term is used, which cannot be predicted.

use std::ops::Range;

use crate::lexicon::Lexicon;
use crate::score::rows::{DEAD, Rows, UNUSED};
use crate::score::totals::Total;
use crate::tally::blocks::Block;
use crate::tally::cells::Cell;
use crate::tally::index::{Index, Maker};

pub struct Making<'a> {
    rows: &'a mut Rows,
    lexicon: &'a Lexicon,
    /// The first term of the block, and how many documents have each: only who learns must know it of all terms.
    first: usize,
    held: Vec<u64>,
}

impl<'a> Making<'a> {
    pub fn new(rows: &'a mut Rows, lexicon: &'a Lexicon) -> Self {
        Self { rows, lexicon, first: 0, held: Vec::new() }
    }
}

impl Maker for Making<'_> {
    fn begin(&mut self, index: &Index, block: &Block) {
        let rows = &mut *self.rows;
        let absent = rows.absent();
        rows.grow_terms(index, block.terms.end, self.lexicon, absent);
        rows.totals.resize_with(block.classes.len(), Total::default);
        self.first = block.terms.start;
        self.held.clear();
        self.held.resize(block.terms.len(), 0);
    }

    #[inline(always)]
    fn count(&mut self, cell: &Cell) {
        self.held[cell.term as usize - self.first] += u64::from(cell.documents);
    }

    fn lay_out(&mut self, index: &Index, terms: Range<usize>) {
        let (rows, held, first) = (&mut *self.rows, &self.held, terms.start);
        let absent = rows.absent();
        rows.grow_places(index, absent);
        let mut bits = std::mem::take(&mut rows.used);
        bits.update(terms, |node, _| {
            let row = rows.parts.row(index, node);
            rows.entries.place(node, row);
            let holders = held[node - first];
            if rows.parts.has_heads() {
                rows.parts.set_holders(row.start, holders);
            }
            let live = holders > 0;
            let used = live & rows.is_used(node, holders);
            rows.terms += u64::from(used);
            let first = if live { UNUSED } else { DEAD };
            // A term without places begins where the next does, which comes later.
            if let Some(part) = rows.parts.get_mut(row.start) {
                *part = if used { absent } else { first };
            }
            used
        });
        rows.used = bits;
    }

    #[inline(always)]
    fn put(&mut self, class: usize, cell: &Cell, place: usize) {
        let rows = &mut *self.rows;
        let used = rows.used.has(cell.term as usize);
        let mass = rows.settings.whole_of(cell);
        rows.totals[class].replace(0, if used { mass } else { 0 });
        let at = place + rows.parts.shift(cell.term as usize);
        rows.parts[at] = if used { rows.log(mass) } else { UNUSED };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::score::settings::{ByClass, Event, Frequency, Settings};
    use crate::tally::cells::ClassCounts;
    use crate::tally::counted::Counted;
    use crate::tally::watching::Watcher;

    const TERMS: u32 = 20_000;

    fn class(terms: &BTreeSet<u32>) -> ClassCounts {
        let cell =
            |term| Cell { term, documents: 1 + term % 3, occurrences: 4000 + u64::from(term), shares: 1 };
        ClassCounts::new(9, terms.iter().copied().map(cell).collect())
    }

    fn terms() -> impl Strategy<Value = Vec<BTreeSet<u32>>> {
        let term = prop_oneof![0..20u32, 8180..8200u32, TERMS - 20..TERMS];
        prop::collection::vec(prop::collection::btree_set(term, 0..30), 1..12)
    }

    fn settings() -> impl Strategy<Value = Settings> {
        let kind = prop_oneof![
            Just((Event::Earned, Frequency::Count)),
            Just((Event::Multinomial, Frequency::Count)),
            Just((Event::Multinomial, Frequency::Binary)),
        ];
        let alpha = prop_oneof![Just(0.0), Just(0.5)];
        let dropped = prop::collection::vec(0..20u32, 0..4);
        (kind, alpha, 1..4u64, dropped).prop_map(|((event, frequency), alpha, least, dropped)| Settings {
            event,
            frequency,
            alpha,
            smooth: false,
            least,
            most: u64::MAX,
            dropped,
            weights: vec![0.25, f32::NAN, 2.0],
            groups: vec![1.5],
            shortest: 1,
            by_class: ByClass::default(),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rows_made_while_cells_are_indexed_are_those_made_of_the_index(terms in terms(), settings in settings()) {
            let classes: Vec<ClassCounts> = terms.iter().map(class).collect();
            let lexicon = Lexicon { nodes: TERMS, words: vec![1; TERMS as usize], ..Lexicon::default() };
            let (settings, order): (_, Vec<u32>) = (Arc::new(settings), (0..classes.len() as u32).collect());
            let mut made = Rows::begin(settings.clone(), order.clone(), &classes);
            let mut index = Index::new(TERMS as usize, 0, &classes, &mut Making::new(&mut made, &lexicon));
            index.locate(&classes);
            let counts = Counted { lexicon: &lexicon, index: &index, classes: &classes };
            made.grow(&counts);
            made.refresh(&counts);
            let anew = Rows::new(settings, order, &counts);
            prop_assert_eq!(made.terms, anew.terms);
            prop_assert_eq!(&made.numbers.base, &anew.numbers.base);
            for node in 0..TERMS as usize {
                prop_assert_eq!(made.used.has(node), anew.used.has(node));
                prop_assert_eq!(made.holders_of(&index, node), anew.holders_of(&index, node));
                let row = made.parts.row(&index, node).range();
                // Of a term that is not used only the first place says so.
                let row = if made.used.has(node) { row } else { row.start..row.end.min(row.start + 1) };
                let bits = |rows: &Rows| -> Vec<u64> { rows.parts[row.clone()].iter().map(|part| part.to_bits()).collect() };
                prop_assert_eq!(bits(&made), bits(&anew));
                if made.settings.event == Event::Earned {
                    let (mine, place) = made.earned(&index, node);
                    let (other, same) = anew.earned(&index, node);
                    prop_assert_eq!(mine.weight.get(&made.settings), other.weight.get(&anew.settings));
                    prop_assert!(place.range() == made.parts.row(&index, node).range() && same == place);
                }
            }
        }
    }
}
