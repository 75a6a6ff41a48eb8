//! One message, one process: answers from a model file of which only what the message needs is read, and changes that
//! are written behind it. What comes out is, to the bit, what the whole model would answer.

pub mod answer;
pub mod blocks;
pub mod changes;
pub mod checksum;
pub mod columns;
pub mod journal;
pub mod model;
pub mod overlay;
pub mod posterior;
pub mod sought;

use std::fmt;
use std::io;

use crate::errors::TallyError;

/// Why a file did not answer.
#[derive(Debug)]
pub enum QuickError {
    Io(io::Error),
    /// What it holds was not written by us.
    Damaged(&'static str),
    Tally(TallyError),
}

impl fmt::Display for QuickError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Damaged(what) => f.write_str(what),
            Self::Tally(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for QuickError {}

impl From<io::Error> for QuickError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<TallyError> for QuickError {
    fn from(error: TallyError) -> Self {
        Self::Tally(error)
    }
}
