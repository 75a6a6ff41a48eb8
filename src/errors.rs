//! What can go wrong in the core, in sentences for the user. No error names Python.

use std::error::Error;
use std::fmt;

use crate::memory::NoRoom;

/// Places of tokens are 32-bit numbers.
pub const MAX_BYTES: usize = 1 << 31;
/// Terms are numbered below this.
pub const MAX_TERMS: u32 = (1 << 31) - 2;

/// A document that cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub enum TextError {
    NotUtf8 {
        document: usize,
        byte: usize,
    },
    TooLong {
        document: usize,
        bytes: usize,
    },
    /// To find each token, the pattern of the tokenizer looks at more than can be remembered.
    TooFarAhead {
        document: usize,
    },
}

impl TextError {
    pub fn document(&self) -> usize {
        match *self {
            Self::NotUtf8 { document, .. }
            | Self::TooLong { document, .. }
            | Self::TooFarAhead { document } => document,
        }
    }

    pub fn in_document(self, document: usize) -> Self {
        match self {
            Self::NotUtf8 { byte, .. } => Self::NotUtf8 { document, byte },
            Self::TooLong { bytes, .. } => Self::TooLong { document, bytes },
            Self::TooFarAhead { .. } => Self::TooFarAhead { document },
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 { document, byte } => write!(
                f,
                "Document {document} is not UTF-8: byte {byte} does not belong there. Decode it with its own encoding first."
            ),
            Self::TooLong { document, bytes } => write!(
                f,
                "Document {document} has {bytes} bytes; one must stay a little below {MAX_BYTES}. Cut it in pieces."
            ),
            Self::TooFarAhead { document } => write!(
                f,
                "The tokenizer's regular expression looks too far ahead in document {document} to find where a token ends. \
                 Cut the document in pieces, or use a pattern that needs to see less of it."
            ),
        }
    }
}

impl std::error::Error for TextError {}

#[derive(Debug)]
pub enum ReadError {
    Text(TextError),
    Normalizer(Box<dyn Error + Send + Sync>),
    TooManyTerms,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(error) => error.fmt(f),
            Self::Normalizer(error) => error.fmt(f),
            Self::TooManyTerms => write!(f, "There are more than {} different terms.", MAX_TERMS),
        }
    }
}

impl Error for ReadError {}

impl ReadError {
    pub fn in_document(self, document: usize) -> Self {
        match self {
            Self::Text(error) => Self::Text(error.in_document(document)),
            other => other,
        }
    }

    /// `order` has the numbers of the batch's documents.
    pub fn in_document_of(self, order: &[u32]) -> Self {
        match self {
            Self::Text(error) => {
                let document = order[error.document()] as usize;
                Self::Text(error.in_document(document))
            }
            other => other,
        }
    }
}

impl From<NoRoom> for TallyError {
    fn from(error: NoRoom) -> Self {
        Self::TooLarge { bytes: error.bytes }
    }
}

impl From<TextError> for ReadError {
    fn from(error: TextError) -> Self {
        Self::Text(error)
    }
}

#[derive(Debug)]
pub enum TallyError {
    Read(ReadError),
    NotLearned {
        term: Option<String>,
        class: usize,
    },
    /// What is forgotten lacks a term that all documents have which would be left.
    Lacking {
        term: String,
        class: usize,
    },
    TooManyDocuments {
        class: usize,
    },
    Interrupted,
    /// There is no room for the answer.
    TooLarge {
        bytes: u128,
    },
    /// The counts are being changed by this very thread.
    InUse,
    /// A count would pass what a file may hold.
    TooManyOccurrences {
        class: usize,
    },
    /// The weights are no longer where they were.
    Lost,
}

impl fmt::Display for TallyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::NotLearned { term: Some(term), class } => {
                write!(f, "The term {term:?} was not learned that often with class number {class}.")
            }
            Self::NotLearned { term: None, class } => {
                write!(f, "Fewer documents were learned with class number {class}.")
            }
            Self::Lacking { term, class } => {
                write!(
                    f,
                    "The term {term:?} would be in more documents of class number {class} than are left."
                )
            }
            Self::TooManyDocuments { class } => {
                write!(f, "Class number {class} would have more than {} documents.", u32::MAX)
            }
            Self::Interrupted => write!(f, "Interrupted; nothing has changed."),
            Self::TooLarge { bytes } => write!(
                f,
                "The answer would take {:.1} GB, for which there is no memory. Ask about fewer documents at a time.",
                *bytes as f64 / 1e9
            ),
            Self::InUse => write!(
                f,
                "The counts are in use: a callback or signal handler cannot use the model that called it."
            ),
            Self::TooManyOccurrences { class } => {
                write!(f, "A term would occur 2**48 times or more in class number {class}.")
            }
            Self::Lost => write!(f, "The weights of the model were changed while it was in use."),
        }
    }
}

impl std::error::Error for TallyError {}
