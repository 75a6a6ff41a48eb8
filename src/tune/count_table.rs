//! The counts that cells have, each once. Most cells of a text have one of a few thousand counts, which stay in the
//! cache where cells with counts of their own would not.

use std::collections::HashMap;

/// The documents of a term in a class, and what is summed in the place of its occurrences.
#[derive(Clone, Copy)]
pub struct Counts {
    pub documents: u32,
    pub mass: f64,
}

pub struct CountTable {
    counts: Vec<Counts>,
    /// If it is `plain`: log(mass + alpha) - base of each.
    logs: Vec<f64>,
    plain: bool,
    alpha: f64,
    /// log(alpha), or 0 where alpha is and a factor of 0 is counted apart.
    pub base: f64,
    of_whole: Vec<f64>,
    /// Where small counts stand, by documents and mass, and where others do. Masses that are no whole numbers are
    /// hardly the same twice, and are not searched.
    small: Vec<u32>,
    large: HashMap<(u32, u64), u32>,
    whole: bool,
}

/// So many whole numbers have their logarithms at hand.
const WHOLE: usize = 1024;
/// Counts below this are small.
const SMALL: usize = 64;
const NONE: u32 = u32::MAX;

impl CountTable {
    /// An empty one: with logarithms if it is `plain`; counts are looked for among those that are there if their
    /// masses are `whole`.
    pub fn new(alpha: f64, plain: bool, whole: bool) -> Self {
        Self {
            counts: Vec::new(),
            logs: Vec::new(),
            plain,
            alpha,
            base: if alpha > 0.0 { alpha.ln() } else { 0.0 },
            of_whole: (0..WHOLE).map(|mass| (mass as f64 + alpha).ln()).collect(),
            small: vec![NONE; SMALL * SMALL],
            large: HashMap::new(),
            whole,
        }
    }

    /// Where counts stand; those that are not there are added.
    #[inline(always)]
    pub fn place(&mut self, counts: Counts) -> u32 {
        let (documents, mass) = (counts.documents as usize, counts.mass as usize);
        if !self.whole {
            return self.add(counts);
        }
        if documents >= SMALL || mass >= SMALL || mass as f64 != counts.mass {
            return self.place_of_large(counts);
        }
        let at = documents * SMALL + mass;
        if self.small[at] == NONE {
            self.small[at] = self.add(counts);
        }
        self.small[at]
    }

    fn place_of_large(&mut self, counts: Counts) -> u32 {
        let key = (counts.documents, counts.mass.to_bits());
        if let Some(&place) = self.large.get(&key) {
            return place;
        }
        let place = self.add(counts);
        self.large.insert(key, place);
        place
    }

    fn add(&mut self, counts: Counts) -> u32 {
        self.counts.push(counts);
        self.logs.push(if self.plain { self.log_of(counts.mass) - self.base } else { 0.0 });
        self.counts.len() as u32 - 1
    }

    #[inline(always)]
    pub fn at(&self, place: u32) -> Counts {
        self.counts[place as usize]
    }

    #[inline(always)]
    pub fn log(&self, place: u32) -> f64 {
        self.logs[place as usize]
    }

    /// log(mass + alpha).
    #[inline(always)]
    pub fn log_of(&self, mass: f64) -> f64 {
        let whole = mass as usize;
        match self.of_whole.get(whole) {
            Some(&log) if whole as f64 == mass => log,
            _ => (mass + self.alpha).ln(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn masses() -> impl Strategy<Value = f64> {
        prop_oneof![0f64..3.0, (0u32..3000).prop_map(f64::from)]
    }

    proptest! {
        #[test]
        fn logarithms_at_hand_have_the_bits_of_those_that_are_made(mass in masses(), alpha in 0f64..2.0) {
            let table = CountTable::new(alpha, true, true);
            prop_assert_eq!(table.log_of(mass).to_bits(), (mass + alpha).ln().to_bits());
        }

        #[test]
        fn what_is_placed_is_found_there(
            given in prop::collection::vec((0u32..200, masses()), 1..200),
            alpha in 0f64..2.0,
            whole: bool,
        ) {
            let mut table = CountTable::new(alpha, true, whole);
            let places: Vec<u32> =
                given.iter().map(|&(documents, mass)| table.place(Counts { documents, mass })).collect();
            for (&(documents, mass), &place) in given.iter().zip(&places) {
                prop_assert_eq!((table.at(place).documents, table.at(place).mass), (documents, mass));
                prop_assert_eq!(table.log(place).to_bits(), (table.log_of(mass) - table.base).to_bits());
            }
            if whole {
                let distinct: std::collections::HashSet<_> =
                    given.iter().map(|&(documents, mass)| (documents, mass.to_bits())).collect();
                prop_assert_eq!(table.counts.len(), distinct.len());
            }
        }
    }
}
