//! What is needed first of a term that has earned a weight: that and, with many classes, where its row lies. Both come
//! with one cache line. With few classes it stands before the row (`parts.rs`).

use crate::lexicon::Lexicon;
use crate::memory::{extend_to, prefetch};
use crate::score::settings::{Settings, Weight};
use crate::tally::index::Places;

/// The weight that a term has earned, and where its weights for each class are: 0 where it has none.
#[derive(Clone, Copy, Default)]
pub struct Earned {
    pub weight: Weight,
    pub own: u32,
}

impl Earned {
    pub fn of(settings: &Settings, node: usize, words: u8) -> Self {
        Self { weight: settings.weight(node, words), own: settings.by_class.place(node) }
    }

    /// In eight bytes.
    pub fn bits(self) -> u64 {
        u64::from(self.own) << 32 | u64::from(self.weight.bits())
    }

    #[inline(always)]
    pub fn of_bits(bits: u64) -> Self {
        Self { weight: Weight::of_bits(bits as u32), own: (bits >> 32) as u32 }
    }
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

/// One for each term, where classes are many.
#[derive(Default)]
pub struct Entries(Vec<Placed>);

impl Entries {
    /// Make room for more terms, of which there will soon be as many as the lexicon has.
    pub fn grow(&mut self, nodes: usize, lexicon: &Lexicon, settings: &Settings) {
        let known = self.0.len();
        extend_to(&mut self.0, nodes, lexicon.nodes as usize, Placed::default());
        let words = lexicon.words.get(known..).unwrap_or(&[]);
        for (node, (entry, &words)) in (known..).zip(self.0[known..].iter_mut().zip(words)) {
            entry.earned = Earned::of(settings, node, words);
        }
    }

    /// Note where the row of a term lies.
    #[inline(always)]
    pub fn place(&mut self, node: usize, row: Places) {
        if let Some(placed) = self.0.get_mut(node) {
            placed.start = row.start as u32;
            placed.places = (row.end - row.start) as u32 | if row.by_class { BY_CLASS } else { 0 };
        }
    }

    #[inline(always)]
    pub fn get(&self, node: usize) -> (Earned, Places) {
        let placed = self.0[node];
        (placed.earned, placed.row())
    }

    /// Ask for what `get` will need.
    #[inline(always)]
    pub fn prefetch(&self, node: usize) {
        prefetch(&self.0, node);
    }
}
