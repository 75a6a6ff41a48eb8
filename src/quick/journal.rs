//! Changes written behind a model file: each is whole, verified and counted, or was never acknowledged.
//!
//! A change is `chg1`, its length, a checksum of both, what it says, a checksum of that, and `done`. The last word is
//! written when all before it is on the disk. So what lacks it was cut short by a kill or a power cut, and its command
//! never reported success: it does not count. Whatever else is wrong is damage.

use crate::quick::QuickError;
use crate::quick::checksum::crc32;
use crate::tally::cells::{Cell, MOST_OCCURRENCES};
use crate::tally::replay::NewTerm;

const BEGIN: &[u8; 4] = b"chg1";
pub const DONE: &[u8; 4] = b"done";
const HEAD: usize = 12;
/// A checksum and the last word.
const TAIL: usize = 8;

/// Documents that were learned as a class, or forgotten.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    pub added: bool,
    pub class: usize,
    pub documents: u64,
    /// Of each view, the cells by the numbers of their terms.
    pub cells: Vec<Vec<Cell>>,
}

/// What holds of a view after a change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewFacts {
    /// What the terms that are used add up to in each class, and how many they are.
    pub masses: Vec<u128>,
    pub used: u64,
    /// All terms, and how often they occur.
    pub terms: u64,
    pub occurrences: u64,
}

/// What one command has changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    pub new: Vec<Vec<NewTerm>>,
    pub parts: Vec<Part>,
    /// Documents of each class, after it.
    pub documents: Vec<u64>,
    /// What was learned and forgotten since the model was tuned, as a number in digits.
    pub drift: String,
    pub views: Vec<ViewFacts>,
}

/// All changes behind a file, and where the last one ends.
#[derive(Debug, Default)]
pub struct Journal {
    pub entries: Vec<Entry>,
    /// How many bytes are whole changes; what is behind them was never acknowledged.
    pub end: usize,
    /// With which checksum the next one begins.
    pub seed: u32,
}

const DAMAGED: QuickError = QuickError::Damaged("a change behind its counts does not match its checksum");

impl Journal {
    /// Read what is behind a file with so many views and classes, whose checksum is `seed`.
    pub fn read(bytes: &[u8], seed: u32, views: usize, classes: usize) -> Result<Self, QuickError> {
        let mut journal = Self { seed, ..Self::default() };
        while let Some(said) = journal.next(bytes)? {
            let mut source = Source(said);
            let entry = Entry::read(&mut source, views, classes).filter(|_| source.0.is_empty());
            journal
                .entries
                .push(entry.ok_or(QuickError::Damaged("a change behind its counts is impossible"))?);
            journal.seed = crc32(said, journal.seed);
            journal.end += HEAD + said.len() + TAIL;
        }
        Ok(journal)
    }

    /// What the next change says, if there is one.
    fn next<'b>(&self, bytes: &'b [u8]) -> Result<Option<&'b [u8]>, QuickError> {
        let rest = bytes.get(self.end..).unwrap_or_default();
        let Some((head, rest)) = rest.split_first_chunk::<HEAD>() else {
            let begun = rest.iter().all(|&byte| byte == 0) || BEGIN.starts_with(&rest[..rest.len().min(4)]);
            return if begun { Ok(None) } else { Err(QuickError::Damaged("there is trailing data")) };
        };
        if head.iter().all(|&byte| byte == 0) {
            let nothing = rest.iter().all(|&byte| byte == 0);
            return if nothing { Ok(None) } else { Err(QuickError::Damaged("there is trailing data")) };
        }
        if !head.starts_with(BEGIN) {
            return Err(QuickError::Damaged("there is trailing data"));
        }
        let (length, sum) = head[4..].split_at(4);
        if crc32(&head[..8], self.seed).to_le_bytes() != sum {
            return Err(DAMAGED);
        }
        let length = length.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte));
        let Some((said, rest)) = rest.split_at_checked(length) else { return Ok(None) };
        let Some((tail, _)) = rest.split_first_chunk::<TAIL>() else { return Ok(None) };
        let (sum, last) = tail.split_at(4);
        if last.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        if last != DONE || crc32(said, self.seed).to_le_bytes() != sum {
            return Err(DAMAGED);
        }
        Ok(Some(said))
    }

    /// A change as bytes, all but its last word.
    pub fn bytes(&self, entry: &Entry) -> Vec<u8> {
        let mut said = Vec::new();
        entry.write(&mut said);
        let mut bytes = BEGIN.to_vec();
        bytes.extend_from_slice(&(said.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&crc32(&bytes, self.seed).to_le_bytes());
        let sum = crc32(&said, self.seed);
        bytes.extend_from_slice(&said);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }
}

/// Numbers in groups of seven bits, the lowest first.
fn put(number: u128, bytes: &mut Vec<u8>) {
    let mut rest = number;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Bytes that are read from the front.
struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    fn number(&mut self) -> Option<u128> {
        let mut number = 0;
        for shift in (0..128).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u128::from(byte & 0x7F);
            number |= bits.checked_shl(shift).filter(|shifted| shifted >> shift == bits)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn whole<T: TryFrom<u128>>(&mut self) -> Option<T> {
        self.number()?.try_into().ok()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length: usize = self.whole()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Each of so many is at least a byte, so that no number can ask for more than there is.
    fn many<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count: usize = self.whole()?;
        if count > self.0.len() {
            return None;
        }
        (0..count).map(|_| one(self)).collect()
    }
}

impl Entry {
    fn write(&self, bytes: &mut Vec<u8>) {
        for new in &self.new {
            put(new.len() as u128, bytes);
            for term in new {
                match term {
                    NewTerm::Word(word) => {
                        put(word.len() as u128 + 1, bytes);
                        bytes.extend_from_slice(word);
                    }
                    NewTerm::Pair(left, right) => {
                        [0, *left, *right].into_iter().for_each(|number| put(number.into(), bytes));
                    }
                }
            }
        }
        put(self.parts.len() as u128, bytes);
        self.parts.iter().for_each(|part| part.write(bytes));
        self.documents.iter().for_each(|&documents| put(documents.into(), bytes));
        put(self.drift.len() as u128, bytes);
        bytes.extend_from_slice(self.drift.as_bytes());
        for view in &self.views {
            view.masses.iter().for_each(|&mass| put(mass, bytes));
            [view.used, view.terms, view.occurrences]
                .into_iter()
                .for_each(|number| put(number.into(), bytes));
        }
    }

    fn read(source: &mut Source, views: usize, classes: usize) -> Option<Self> {
        let new = (0..views).map(|_| source.many(new_term)).collect::<Option<_>>()?;
        let parts = source.many(|source| Part::read(source, views, classes))?;
        let documents = (0..classes).map(|_| source.whole()).collect::<Option<Vec<u64>>>()?;
        if documents.iter().any(|&documents| documents > u64::from(u32::MAX)) {
            return None;
        }
        let drift = std::str::from_utf8(source.bytes()?).ok()?.to_owned();
        let facts = |source: &mut Source| {
            let masses = (0..classes).map(|_| source.number()).collect::<Option<_>>()?;
            Some(ViewFacts {
                masses,
                used: source.whole()?,
                terms: source.whole()?,
                occurrences: source.whole()?,
            })
        };
        let views = (0..views).map(|_| facts(source)).collect::<Option<_>>()?;
        Some(Self { new, parts, documents, drift, views })
    }
}

fn new_term(source: &mut Source) -> Option<NewTerm> {
    match source.whole::<usize>()? {
        0 => Some(NewTerm::Pair(source.whole()?, source.whole()?)),
        length => {
            let (word, rest) = source.0.split_at_checked(length - 1)?;
            source.0 = rest;
            Some(NewTerm::Word(word.to_vec()))
        }
    }
}

impl Part {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.added));
        put(self.class as u128, bytes);
        put(self.documents.into(), bytes);
        for cells in &self.cells {
            put(cells.len() as u128, bytes);
            let mut before = 0;
            for cell in cells {
                put((cell.term - before).into(), bytes);
                put(cell.documents.into(), bytes);
                put(cell.occurrences.into(), bytes);
                put(cell.shares, bytes);
                before = cell.term;
            }
        }
    }

    fn read(source: &mut Source, views: usize, classes: usize) -> Option<Self> {
        let added = match source.whole::<u8>()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let class = source.whole().filter(|&class: &usize| class < classes)?;
        let documents = source.whole::<u64>().filter(|&documents| documents <= u64::from(u32::MAX))?;
        let cells = (0..views).map(|_| cells(source, documents)).collect::<Option<_>>()?;
        Some(Self { added, class, documents, cells })
    }
}

/// Cells that documents can have, each term once and in order.
fn cells(source: &mut Source, documents: u64) -> Option<Vec<Cell>> {
    let mut last: Option<u32> = None;
    source.many(|source| {
        let step: u32 = source.whole()?;
        let term = last.map_or(Some(step), |last| last.checked_add(step).filter(|&term| term > last))?;
        last = Some(term);
        let cell =
            Cell { term, documents: source.whole()?, occurrences: source.whole()?, shares: source.number()? };
        let here = u64::from(cell.documents);
        let possible =
            here > 0 && here <= documents.min(cell.occurrences) && cell.occurrences < MOST_OCCURRENCES;
        (possible && cell.shares > 0 && cell.shares >> 64 <= documents.into()).then_some(cell)
    })
}
