//! Documents learned or forgotten without the whole model: what they change, as an entry of the journal.

use std::collections::{BTreeMap, HashMap};

use crate::analyze::reader::{Document, Reader};
use crate::context::Context;
use crate::quick::QuickError;
use crate::quick::answer::{DROPPED, Met, View, read};
use crate::quick::blocks::Blocks;
use crate::quick::columns::Quantities;
use crate::quick::journal::ViewFacts;
use crate::quick::sought::{New, Sought};
use crate::score::settings::Settings;
use crate::score::totals::mass;
use crate::tally::cells::{Cell, Counter, MOST_OCCURRENCES};
use crate::tally::replay::NewTerm;

/// What a change makes of one view.
pub struct Changed {
    pub new: Vec<NewTerm>,
    /// The cells of each part.
    pub cells: Vec<Vec<Cell>>,
    pub facts: ViewFacts,
}

/// A term, as it was in each class, and as it will be.
struct Term {
    weight: f32,
    before: Vec<Cell>,
    after: Vec<Cell>,
}

impl View {
    /// Learn or forget documents, part by part, so that each class has so many `left`; None if that takes the whole
    /// model, or must be refused.
    pub fn change(
        &self,
        blocks: &mut Blocks,
        context: &Context,
        left: &[u64],
        parts: &[(bool, usize, Vec<Document>)],
    ) -> Result<Option<Changed>, QuickError> {
        let classes = left.len();
        let mut sought = Sought::new(blocks, &self.columns, &self.overlay, New::Learned);
        let mut reader = Reader::default();
        let mut counter = Counter::default();
        let mut deltas = Vec::new();
        for (_, class, documents) in parts {
            for &document in documents {
                read(&mut reader, context, document, &mut sought)?;
                counter.grow(sought.lexicon.nodes as usize);
                counter.count(reader.terms(0));
            }
            deltas.push(counter.delta(*class as u32));
        }
        let mut terms = terms(&mut sought, classes)?;
        for ((added, class, _), delta) in parts.iter().zip(&deltas) {
            if !delta.cells.iter().all(|cell| {
                terms.get_mut(&cell.term).is_some_and(|term| put(&mut term.after[*class], cell, *added))
            }) {
                return Ok(None);
            }
        }
        for &(_, class, _) in parts.iter().filter(|(added, ..)| !added) {
            if !self.can_be(&mut sought, class, left[class], &terms)? {
                return Ok(None);
            }
        }
        let Some(facts) = self.facts_after(terms.values()) else { return Ok(None) };
        let cells = deltas.into_iter().map(|delta| placed(delta.cells, &sought.places)).collect();
        Ok(Some(Changed { new: sought.learned, cells, facts }))
    }

    /// Whether no term of a class is in more documents than are left: else others were forgotten than were learned.
    fn can_be(
        &self,
        sought: &mut Sought,
        class: usize,
        left: u64,
        terms: &BTreeMap<u32, Term>,
    ) -> Result<bool, QuickError> {
        let met: HashMap<u32, u32> = (0..).zip(&sought.places).map(|(met, &place)| (place, met)).collect();
        let changed = self.overlay.most_documents(class);
        for at in self.columns.range(sought.blocks, class)? {
            if sought.blocks.number(self.columns.documents, at)?.saturating_add(changed) <= left {
                continue;
            }
            let term = sought.blocks.number(self.columns.term, at)? as usize;
            let node = sought.blocks.number(self.columns.terms, term)? as u32;
            let now = match met.get(&node).and_then(|met| terms.get(met)) {
                Some(term) => term.after[class].documents,
                None => {
                    let cell = self.columns.cell(sought.blocks, at, Quantities::Documents)?;
                    self.overlay.changed(cell, node, class).documents
                }
            };
            if u64::from(now) > left {
                return Ok(false);
            }
        }
        Ok(terms.values().all(|term| u64::from(term.after[class].documents) <= left) && changed <= left)
    }

    /// What the terms of the view add up to after a change; None if one of them would lose its weight with its count.
    fn facts_after<'t>(&self, terms: impl Iterator<Item = &'t Term>) -> Option<ViewFacts> {
        let mut facts = self.facts.clone();
        for term in terms {
            let (was, is) = (Sum::of(&term.before), Sum::of(&term.after));
            if was.documents > 0 && is.documents == 0 && !term.weight.is_nan() {
                return None;
            }
            let used = [was.is_used(&self.settings, term.weight), is.is_used(&self.settings, term.weight)];
            for (total, (before, after)) in facts.masses.iter_mut().zip(term.before.iter().zip(&term.after)) {
                let less = if used[0] { mass(&self.settings, before) } else { 0 };
                let more = if used[1] { mass(&self.settings, after) } else { 0 };
                *total = (*total + more).checked_sub(less)?;
            }
            facts.used = (facts.used + u64::from(used[1])).checked_sub(u64::from(used[0]))?;
            facts.terms =
                (facts.terms + u64::from(is.documents > 0)).checked_sub(u64::from(was.documents > 0))?;
            facts.occurrences = (facts.occurrences + is.occurrences).checked_sub(was.occurrences)?;
        }
        Some(facts)
    }
}

/// How many documents of all classes have a term, and how often it occurs.
struct Sum {
    documents: u64,
    occurrences: u64,
}

impl Sum {
    fn of(cells: &[Cell]) -> Self {
        Self {
            documents: cells.iter().map(|cell| u64::from(cell.documents)).sum(),
            occurrences: cells.iter().map(|cell| cell.occurrences).sum(),
        }
    }

    fn is_used(&self, settings: &Settings, weight: f32) -> bool {
        let within = !settings.needs_holders() || (settings.least..=settings.most).contains(&self.documents);
        self.documents > 0 && within && weight != DROPPED
    }
}

/// Every term that was met, with its cells in all classes.
fn terms(sought: &mut Sought, classes: usize) -> Result<BTreeMap<u32, Term>, QuickError> {
    let met = Met::new(sought)?;
    let weights = met.weights(sought)?;
    let weight = |met: u32| weights.get(met as usize).copied().unwrap_or(f32::NAN);
    let mut terms: BTreeMap<u32, Term> = met
        .terms
        .iter()
        .map(|&(_, _, met)| (met, Term { weight: weight(met), before: Vec::new(), after: Vec::new() }))
        .collect();
    for class in 0..classes {
        for cell in met.cells(sought, class, Quantities::All)? {
            terms.entry(cell.term).and_modify(|term| term.before.push(cell));
        }
    }
    terms.values_mut().for_each(|term| term.after.clone_from(&term.before));
    Ok(terms)
}

/// Add to a cell, or take away what can have been counted there; whether that can be.
fn put(cell: &mut Cell, change: &Cell, added: bool) -> bool {
    if !added {
        return match cell.minus(change) {
            Some(left) if cell.documents > 0 => {
                *cell = left;
                true
            }
            _ => false,
        };
    }
    let documents = cell.documents.checked_add(change.documents);
    cell.occurrences += change.occurrences;
    cell.shares += change.shares;
    cell.documents = documents.unwrap_or_default();
    documents.is_some() && cell.occurrences < MOST_OCCURRENCES
}

/// The cells by the numbers of their terms in the file.
fn placed(mut cells: Vec<Cell>, places: &[u32]) -> Vec<Cell> {
    cells.iter_mut().for_each(|cell| cell.term = places[cell.term as usize]);
    cells.sort_unstable_by_key(|cell| cell.term);
    cells
}
