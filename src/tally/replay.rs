//! Changes that were written behind a file of counts, put in again: terms have the numbers that they have in the file.

use std::sync::Arc;

use crate::errors::TallyError;
use crate::lexicon::Lexicon;
use crate::lexicon::form_table::Key;
use crate::tally::Tally;
use crate::tally::cells::{Delta, most};
use crate::tally::restore::Damaged;
use crate::tally::watching::Watcher;

/// A term that the file does not know, in terms of those before it.
#[derive(Clone, Debug, PartialEq)]
pub enum NewTerm {
    Word(Vec<u8>),
    Pair(u32, u32),
}

impl NewTerm {
    /// Give the term the next number, which nobody must have had.
    fn put(&self, lexicon: &mut Lexicon) -> bool {
        let next = lexicon.nodes;
        let node = match self {
            Self::Word(word) => lexicon.term(&Key::of(word), || word),
            &Self::Pair(left, right) if left < next && right < next => lexicon.pair(left, right),
            Self::Pair(..) => return false,
        };
        node == next && !lexicon.is_full()
    }
}

/// Why changes cannot be put in again.
#[derive(Debug)]
pub enum ReplayError {
    Damaged(Damaged),
    Tally(TallyError),
}

impl From<TallyError> for ReplayError {
    fn from(error: TallyError) -> Self {
        Self::Tally(error)
    }
}

impl Tally {
    /// Add new terms, then add or take away each delta.
    pub fn replay(
        &mut self,
        new: &[NewTerm],
        deltas: Vec<(bool, Delta)>,
        watcher: &mut impl Watcher,
    ) -> Result<(), ReplayError> {
        self.lose_index(watcher);
        let shard = self.settled();
        let lexicon = Arc::make_mut(&mut shard.lexicon);
        if !new.iter().all(|term| term.put(lexicon)) {
            return Err(ReplayError::Damaged(Damaged("a new term is known already")));
        }
        let nodes = lexicon.nodes;
        for (added, delta) in deltas {
            if delta.cells.last().is_some_and(|cell| cell.term >= nodes) {
                return Err(ReplayError::Damaged(Damaged("a count has no term")));
            }
            if !added {
                shard.check(&delta)?;
                shard.remove(delta);
                continue;
            }
            let class = delta.class;
            if let Some(counts) = shard.classes.get_mut(class) {
                if counts.would_overflow(most(&delta.cells)) {
                    return Err(TallyError::TooManyOccurrences { class }.into());
                }
                if counts.documents + delta.documents > u64::from(u32::MAX) {
                    return Err(TallyError::TooManyDocuments { class }.into());
                }
            }
            shard.apply(vec![delta]);
        }
        self.changes += 1;
        Ok(())
    }
}
