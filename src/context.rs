//! How a call reads text, and whether it should stop.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::analyze::normalize::Normalizer;
use crate::analyze::reader::{Analysis, Document, READ_BYTES};
use crate::errors::TallyError;

/// How often to poll for Ctrl-C.
const BETWEEN_CHECKS: Duration = Duration::from_millis(50);

thread_local! {
    /// When this thread last polled.
    static CHECKED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Documents, and the number of the class of each.
#[derive(Clone, Copy)]
pub struct Labeled<'a> {
    pub documents: &'a [Document<'a>],
    pub classes: &'a [u32],
}

impl Labeled<'_> {
    /// The numbers of the documents, sorted by class.
    pub fn by_class(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.classes.len() as u32).collect();
        order.sort_by_key(|&document| self.classes[document as usize]);
        order
    }
}

/// How text is read, and the poll for Ctrl-C.
pub struct Context<'a> {
    pub analysis: &'a Analysis,
    pub normalizer: Option<&'a Normalizer>,
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl Context<'_> {
    /// How many bytes to read at a time: more where each read may call back into Python.
    pub fn read_bytes(&self) -> usize {
        let calls = self.normalizer.is_some_and(Normalizer::has_function);
        if calls { 4 * READ_BYTES } else { READ_BYTES }
    }

    /// An error after Ctrl-C, which is polled now and then.
    pub fn check(&self) -> Result<(), TallyError> {
        let now = Instant::now();
        if CHECKED.get().is_some_and(|checked| now - checked < BETWEEN_CHECKS) {
            return Ok(());
        }
        CHECKED.set(Some(now));
        if (self.interrupted)() { Err(TallyError::Interrupted) } else { Ok(()) }
    }
}
