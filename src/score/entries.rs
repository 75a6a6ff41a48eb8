//! What is needed first of a term that has earned a weight: that and, with many classes, where its row lies. Both come
//! with one cache line.

use crate::lexicon::Lexicon;
use crate::memory::{extend_to, prefetch};
use crate::score::settings::{Settings, Weight};
use crate::tally::index::{Index, Places};

/// The weight that a term has earned, and where its weights for each class are: 0 where it has none.
#[derive(Clone, Copy, Default)]
pub struct Earned {
    pub weight: Weight,
    pub own: u32,
}

/// The same of a term whose row does not follow from its number.
#[derive(Clone, Copy, Default)]
struct Placed {
    earned: Earned,
    start: u32,
    /// With the highest bit, one for every class.
    places: u32,
}

const BY_CLASS: u32 = 1 << 31;

impl Placed {
    #[inline(always)]
    fn row(self) -> Places {
        let start = self.start as usize;
        let end = start + (self.places & !BY_CLASS) as usize;
        Places { start, end, by_class: self.places & BY_CLASS != 0 }
    }
}

/// One for each term, of one of both kinds.
#[derive(Default)]
pub struct Entries {
    pub direct: Vec<Earned>,
    placed: Vec<Placed>,
}

impl Entries {
    /// Make room for more terms, of which there will soon be as many as the lexicon has.
    pub fn grow(&mut self, index: &Index, nodes: usize, lexicon: &Lexicon, settings: &Settings) {
        let (known, all) = (self.direct.len().max(self.placed.len()), lexicon.nodes as usize);
        let earned =
            |node, words| Earned { weight: settings.weight(node, words), own: settings.by_class.place(node) };
        let words = lexicon.words.get(known..).unwrap_or(&[]);
        if index.is_direct() {
            extend_to(&mut self.direct, nodes, all, Earned::default());
            for (node, (entry, &words)) in (known..).zip(self.direct[known..].iter_mut().zip(words)) {
                *entry = earned(node, words);
            }
        } else {
            extend_to(&mut self.placed, nodes, all, Placed::default());
            for (node, (entry, &words)) in (known..).zip(self.placed[known..].iter_mut().zip(words)) {
                entry.earned = earned(node, words);
            }
        }
    }

    /// Note where the row of a term lies.
    #[inline(always)]
    pub fn place(&mut self, node: usize, row: Places) {
        if let Some(placed) = self.placed.get_mut(node) {
            placed.start = row.start as u32;
            placed.places = (row.end - row.start) as u32 | if row.by_class { BY_CLASS } else { 0 };
        }
    }

    #[inline(always)]
    pub fn get(&self, index: &Index, node: usize) -> (Earned, Places) {
        match self.placed.get(node) {
            Some(placed) => (placed.earned, placed.row()),
            None => (self.direct[node], index.row(node)),
        }
    }

    /// Ask for what `get` will need.
    #[inline(always)]
    pub fn prefetch(&self, node: usize) {
        if self.placed.is_empty() {
            prefetch(&self.direct, node);
        } else {
            prefetch(&self.placed, node);
        }
    }
}
