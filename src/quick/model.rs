//! A model in a file: what was verified of it, its views, and the changes behind it.

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::quick::QuickError;
use crate::quick::blocks::{Blocks, read_at};
use crate::quick::changes::Changed;
use crate::quick::checksum::{BLOCK, crc32};
use crate::quick::journal::{DONE, Entry, Journal, Part};

/// The digits of the checksum are between these in the header.
pub const BEFORE_CHECKSUM: &[u8] = b"{\"__metadata__\":{\"checksum\":\"";
const DIGITS: usize = 8;
/// Settings of a model are text; more than this is not ours.
const LONGEST_HEADER: u64 = 1 << 28;

/// A file whose header was read.
pub struct Opened {
    file: File,
    pub header: Vec<u8>,
    start: u64,
    size: u64,
}

impl Opened {
    pub fn open(path: &Path) -> Result<Self, QuickError> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut length = [0; 8];
        read_at(&file, &mut length, 0)?;
        let length = u64::from_le_bytes(length);
        if length > LONGEST_HEADER.min(size.saturating_sub(8)) {
            return Err(QuickError::Damaged("it is not a bayleaf model, or its header is damaged"));
        }
        let mut header = vec![0; length as usize];
        read_at(&file, &mut header, 8)?;
        Ok(Self { file, header, start: 8 + length, size })
    }

    /// The file with `length` bytes of counts, if header and checksums match; of so many views and classes.
    pub fn verified(self, length: usize, views: usize, classes: usize) -> Result<Model, QuickError> {
        // No number of the file is trusted with an allocation, or a sum, before it is known to be small.
        let length = length.min(usize::MAX >> 16);
        let end = self.start + length as u64 + length.div_ceil(BLOCK) as u64 * 4;
        if end > self.size {
            return Err(QuickError::Damaged("the end is missing"));
        }
        let mut sums = vec![0; length.div_ceil(BLOCK) * 4];
        read_at(&self.file, &mut sums, self.start + length as u64)?;
        let seed = checksum(&self.header, &sums).ok_or(QuickError::Damaged("its checksum does not match"))?;
        let mut behind = vec![0; (self.size - end) as usize];
        read_at(&self.file, &mut behind, end)?;
        let journal = Journal::read(&behind, seed, views, classes)?;
        Ok(Model { blocks: Blocks::new(self.file, self.start, length, sums)?, journal, end })
    }
}

/// The checksum of a header and the checksums of the blocks, if it is the one that the header names.
pub fn checksum(header: &[u8], sums: &[u8]) -> Option<u32> {
    let digits = header.strip_prefix(BEFORE_CHECKSUM)?.get(..DIGITS)?;
    let named = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (named == sum_of(header, sums)).then_some(named)
}

/// The checksum of a header, in which its own digits do not count, and of the checksums of the blocks.
pub fn sum_of(header: &[u8], sums: &[u8]) -> u32 {
    let digits = BEFORE_CHECKSUM.len()..BEFORE_CHECKSUM.len() + DIGITS;
    let before = crc32(header.get(..digits.start).unwrap_or_default(), 0);
    let after = crc32(header.get(digits.end..).unwrap_or_default(), crc32(b"00000000", before));
    crc32(sums, after)
}

/// A file that was verified so far as it was read.
pub struct Model {
    pub blocks: Blocks,
    pub journal: Journal,
    /// Where the changes begin.
    end: u64,
}

impl Model {
    /// How many bytes of changes there are.
    pub fn behind(&self) -> usize {
        self.journal.end
    }

    /// Write a change behind the others. It is on the disk when this returns; if it fails, it never was.
    pub fn append(&mut self, path: &Path, entry: &Entry) -> Result<(), QuickError> {
        let file = OpenOptions::new().write(true).open(path)?;
        let place = self.end + self.journal.end as u64;
        let bytes = self.journal.bytes(entry);
        let written = write(&file, place, &bytes);
        if written.is_err() {
            file.set_len(place)?;
        }
        Ok(written?)
    }
}

fn write(file: &File, place: u64, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    let mut file = file;
    // What was cut short there before was never acknowledged.
    file.set_len(place)?;
    file.seek(SeekFrom::Start(place))?;
    file.write_all(bytes)?;
    file.sync_data()?;
    file.write_all(DONE)?;
    file.sync_data()
}

/// How many documents each class has after learning or forgetting so many; None if a class has none left, which takes
/// the whole model, or more than there can be.
pub fn left(parts: &[(bool, usize, usize)], before: &[u64]) -> Option<Vec<u64>> {
    let mut documents = before.to_vec();
    for &(added, class, count) in parts {
        let here = documents.get_mut(class)?;
        *here = if added { *here + count as u64 } else { here.checked_sub(count as u64)? };
    }
    let possible = documents.iter().all(|&documents| documents > 0 && documents <= u64::from(u32::MAX));
    possible.then_some(documents)
}

/// The entry of what each view makes of the same parts.
pub fn entry(
    parts: &[(bool, usize, usize)],
    changed: Vec<Changed>,
    documents: Vec<u64>,
    drift: String,
) -> Entry {
    let mut entry = Entry { documents, drift, ..Entry::default() };
    let cells = |i: usize| changed.iter().map(|view| view.cells[i].clone()).collect();
    for (i, &(added, class, count)) in parts.iter().enumerate() {
        entry.parts.push(Part { added, class, documents: count as u64, cells: cells(i) });
    }
    for view in changed {
        entry.new.push(view.new);
        entry.views.push(view.facts);
    }
    entry
}
