//! What is made of the counts: the event model, its smoothing, the terms that are used.

use crate::tally::cells::Cell;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    Multinomial,
    Bernoulli,
    Complement,
    /// Log likelihoods of documents with a term, centered over the classes, times the weight the term has earned.
    Earned,
}

impl Event {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "multinomial" => Some(Self::Multinomial),
            "bernoulli" => Some(Self::Bernoulli),
            "complement" => Some(Self::Complement),
            "earned" => Some(Self::Earned),
            _ => None,
        }
    }
}

/// What a term counts for in a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Frequency {
    Count,
    Binary,
    Normalized,
    TfIdf,
}

impl Frequency {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "count" => Some(Self::Count),
            "binary" => Some(Self::Binary),
            "normalized" => Some(Self::Normalized),
            "tf-idf" => Some(Self::TfIdf),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub event: Event,
    pub frequency: Frequency,
    pub alpha: f64,
    /// Whether a term that was never learned counts, as one that no class has.
    pub smooth: bool,
    /// Documents that must have a term, and that may have it.
    pub least: u64,
    pub most: u64,
    /// Nodes of terms that are not used, whatever documents have them.
    pub dropped: Vec<u32>,
    /// Earned weights by node; NaN, and a node behind them, takes that of its group: its words more than `shortest`.
    pub weights: Vec<f32>,
    pub groups: Vec<f64>,
    pub shortest: u8,
    pub by_class: ByClass,
}

/// What a term adds for each class beside its row, whatever is counted: a row of `width` classes for some nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByClass {
    pub width: usize,
    /// The row of each node; 0, and a node behind them, has none: the first row is of zeros.
    place: Vec<u32>,
    weights: Vec<f32>,
}

impl ByClass {
    pub fn new(width: usize, nodes: &[u32], weights: Vec<f32>) -> Self {
        let mut place = vec![0; nodes.iter().max().map_or(0, |&last| last as usize + 1)];
        nodes.iter().zip(1..).for_each(|(&node, row)| place[node as usize] = row);
        Self { width, place, weights: [vec![0.0; width], weights].concat() }
    }

    /// Which row is that of a node, or 0.
    pub fn place(&self, node: usize) -> u32 {
        self.place.get(node).copied().unwrap_or(0)
    }

    /// The row at a place.
    #[inline(always)]
    pub fn row(&self, place: u32) -> &[f32] {
        &self.weights[place as usize * self.width..][..self.width]
    }

    /// All rows, one behind the other.
    pub fn rows(&self) -> &[f32] {
        &self.weights
    }
}

impl Settings {
    /// Whether weights depend on numbers that every document changes, so that they are made when they are asked for.
    pub fn moves(&self) -> bool {
        self.event == Event::Bernoulli || self.is_tf_idf()
    }

    pub fn is_tf_idf(&self) -> bool {
        self.frequency == Frequency::TfIdf && matches!(self.event, Event::Multinomial | Event::Complement)
    }

    /// Whether it matters how many documents have a term.
    pub fn needs_holders(&self) -> bool {
        self.is_tf_idf() || self.least > 1 || self.most < u64::MAX
    }

    /// Whether documents are counted, and not occurrences.
    #[inline(always)]
    pub fn counts_documents(&self) -> bool {
        self.event == Event::Earned || self.is_binary()
    }

    /// Whether what a cell says depends on its own whole numbers alone.
    pub fn is_whole(&self) -> bool {
        let whole = matches!(self.frequency, Frequency::Count | Frequency::Binary);
        self.event == Event::Earned || (self.event == Event::Multinomial && whole)
    }

    /// What a cell has of what is counted, in whole numbers.
    #[inline(always)]
    pub fn whole_of(&self, cell: &Cell) -> u64 {
        if self.counts_documents() { u64::from(cell.documents) } else { cell.occurrences }
    }

    /// Whether each term of a document counts once, however often it occurs.
    pub fn is_binary(&self) -> bool {
        self.event == Event::Bernoulli || self.frequency == Frequency::Binary
    }

    /// Whether scores are divided by the length of the document.
    pub fn is_share(&self) -> bool {
        self.event != Event::Bernoulli && matches!(self.frequency, Frequency::Normalized | Frequency::TfIdf)
    }

    /// The weight of a node whose n-gram has so many words. Which have their own cannot be predicted.
    #[inline(always)]
    pub fn weight(&self, node: usize, words: u8) -> Weight {
        let own = self.weights.get(node).copied().unwrap_or(f32::NAN);
        if self.groups.is_empty() {
            return Weight(if own.is_nan() { 0.0 } else { own });
        }
        let group = usize::from(words.saturating_sub(self.shortest)).min(self.groups.len() - 1);
        let shared = f32::from_bits(f32::NAN.to_bits() | group as u32);
        Weight(if own.is_nan() { shared } else { own })
    }
}

/// The weight that a term has earned, in four bytes: its own, or which group's it takes.
#[derive(Clone, Copy, Default)]
pub struct Weight(f32);

impl Weight {
    #[inline(always)]
    pub fn get(self, settings: &Settings) -> f64 {
        let group = (self.0.to_bits() & 0xFF) as usize;
        if self.0.is_nan() { settings.groups[group] } else { f64::from(self.0) }
    }

    pub fn bits(self) -> u32 {
        self.0.to_bits()
    }

    #[inline(always)]
    pub fn of_bits(bits: u32) -> Self {
        Self(f32::from_bits(bits))
    }
}
