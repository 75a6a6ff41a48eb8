//! The scores of a document, of the rows of its own terms alone.

use std::sync::Arc;

use crate::analyze::reader::{Document, Reader};
use crate::context::Context;
use crate::errors::TallyError;
use crate::lexicon::bag::Bag;
use crate::quick::QuickError;
use crate::quick::blocks::Blocks;
use crate::quick::columns::{Columns, Quantities};
use crate::quick::journal::ViewFacts;
use crate::quick::overlay::Overlay;
use crate::quick::sought::{New, Sought};
use crate::score::rows::Rows;
use crate::score::settings::{ByClass, Event, Frequency, Settings};
use crate::score::sums::Sums;
use crate::tally::cells::{Cell, ClassCounts};
use crate::tally::counted::Counted;
use crate::tally::index::Index;

/// In place of the weight of a term that is not used.
pub const DROPPED: f32 = -524_288.0;

/// One view of a model in a file.
pub struct View {
    pub columns: Columns,
    pub settings: Settings,
    pub facts: ViewFacts,
    pub overlay: Overlay,
}

impl View {
    /// The score of each class, which have so many documents.
    pub fn score(
        &self,
        blocks: &mut Blocks,
        context: &Context,
        documents: &[u64],
        document: Document,
    ) -> Result<Vec<f64>, QuickError> {
        let apart = self.settings.smooth && self.settings.is_binary();
        let new = if apart { New::ToldApart } else { New::Ignored };
        let mut sought = Sought::new(blocks, &self.columns, &self.overlay, new);
        let mut reader = Reader::default();
        read(&mut reader, context, document, &mut sought)?;
        let (settings, classes) = self.fetched(&mut sought, documents)?;
        let mut index = Index::new(sought.lexicon.nodes as usize, classes.len(), &classes, &mut ());
        index.locate(&classes);
        let counts = Counted { lexicon: &sought.lexicon, index: &index, classes: &classes };
        let order: Vec<u32> = (0..classes.len() as u32).collect();
        let mut rows = Rows::new(Arc::new(settings), order, &counts);
        rows.set_totals(&self.facts.masses, self.facts.used, &counts);
        let mut sums = Sums::default();
        sums.fill(&rows, &index, reader.terms(0), &mut Bag::default());
        Ok((0..classes.len()).map(|class| sums.score(&rows, class)).collect())
    }

    /// The settings with the weights of the terms that were met, and their cells by class.
    fn fetched(
        &self,
        sought: &mut Sought,
        documents: &[u64],
    ) -> Result<(Settings, Vec<ClassCounts>), QuickError> {
        let met = Met::new(sought)?;
        let mut settings = self.settings.clone();
        settings.weights = met.weights(sought)?;
        settings.by_class = met.class_weights(sought)?;
        let dropped = (0..).zip(&settings.weights).filter(|&(_, &weight)| weight == DROPPED);
        settings.dropped = dropped.map(|(node, _)| node).collect();
        let by_documents = settings.event == Event::Earned || settings.frequency == Frequency::Binary;
        let wanted = if by_documents { Quantities::Documents } else { Quantities::Occurrences };
        let mut classes = Vec::with_capacity(documents.len());
        for (class, &documents) in documents.iter().enumerate() {
            let mut cells = met.cells(sought, class, wanted)?;
            cells.retain(|cell| cell.documents > 0);
            cells.sort_unstable_by_key(|cell| cell.term);
            classes.push(ClassCounts::new(documents, cells));
        }
        Ok((settings, classes))
    }
}

/// Read one document.
pub fn read(
    reader: &mut Reader,
    context: &Context,
    document: Document,
    sought: &mut Sought,
) -> Result<(), QuickError> {
    reader
        .read(&[document], context.analysis, context.normalizer, sought)
        .map_err(|error| QuickError::Tally(TallyError::Read(error)))?;
    sought.check()
}

/// The terms that were met, in the order of the file.
pub struct Met {
    /// The node in the file, which of its terms that is, and the number among those that were met.
    pub terms: Vec<(u32, Option<usize>, u32)>,
}

impl Met {
    pub fn new(sought: &mut Sought) -> Result<Self, QuickError> {
        let base = sought.columns.nodes();
        let mut terms = Vec::with_capacity(sought.places.len());
        for (met, &place) in (0..).zip(&sought.places) {
            let known = (place as usize) < base;
            let term = if known { sought.columns.term_of(sought.blocks, place)? } else { None };
            terms.push((place, term, met));
        }
        terms.sort_unstable();
        Ok(Self { terms })
    }

    /// The weight of each term that was met.
    pub fn weights(&self, sought: &mut Sought) -> Result<Vec<f32>, QuickError> {
        if sought.columns.weights.is_none() {
            return Ok(Vec::new());
        }
        let mut weights = vec![f32::NAN; self.terms.len()];
        for &(_, term, met) in &self.terms {
            if let Some(term) = term {
                weights[met as usize] = sought.columns.weight(sought.blocks, term)?;
            }
        }
        Ok(weights)
    }

    /// The weights for each class of the terms that have them.
    fn class_weights(&self, sought: &mut Sought) -> Result<ByClass, QuickError> {
        let (mut nodes, mut weights) = (Vec::new(), Vec::new());
        for &(_, term, met) in &self.terms {
            let Some(term) = term else { continue };
            if sought.columns.add_class_weights(sought.blocks, term, &mut weights)? {
                nodes.push(met);
            }
        }
        Ok(ByClass::new(sought.columns.classes(), &nodes, weights))
    }

    /// The cell of each term in a class, without documents where there is none.
    pub fn cells(
        &self,
        sought: &mut Sought,
        class: usize,
        wanted: Quantities,
    ) -> Result<Vec<Cell>, QuickError> {
        let mut range = sought.columns.range(sought.blocks, class)?;
        let mut cells = Vec::with_capacity(self.terms.len());
        for &(place, term, met) in &self.terms {
            let mut cell = Cell { term: met, ..Cell::default() };
            if let Some(term) = term {
                match sought.columns.find(sought.blocks, range.clone(), term)? {
                    Ok(at) => {
                        cell = Cell { term: met, ..sought.columns.cell(sought.blocks, at, wanted)? };
                        range.start = at + 1;
                    }
                    Err(at) => range.start = at,
                }
            }
            cells.push(sought.overlay.changed(cell, place, class));
        }
        Ok(cells)
    }
}
