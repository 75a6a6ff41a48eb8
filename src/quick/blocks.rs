//! A file that is read by blocks, each verified when it is read. Read, not mapped: of a file that is cut meanwhile, a
//! read is an error, and a mapping the end of the process.

use std::fs::File;
use std::io;

use crate::quick::QuickError;
use crate::quick::checksum::{BLOCK, crc32};

/// So many blocks are kept; when there are more, all are given up: a long document reads most of the file anyway.
const KEPT: usize = 16 << 10;
const NONE: u32 = u32::MAX;

pub struct Blocks {
    file: File,
    /// Where the first block begins.
    start: u64,
    length: usize,
    sums: Vec<u8>,
    held: Vec<u8>,
    /// Which of those that are held each block is.
    places: Vec<u32>,
}

/// Whole numbers of a width, one behind the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Array {
    pub begin: usize,
    pub count: usize,
    pub width: usize,
}

impl Blocks {
    /// The blocks of `length` bytes from `start` on, which have these checksums.
    pub fn new(file: File, start: u64, length: usize, sums: Vec<u8>) -> Result<Self, QuickError> {
        if sums.len() != length.div_ceil(BLOCK) * 4 {
            return Err(QuickError::Damaged("its checksums are not there"));
        }
        Ok(Self { file, start, length, sums, held: Vec::new(), places: vec![NONE; length.div_ceil(BLOCK)] })
    }

    /// A block that is there, and verified.
    #[inline]
    fn block(&mut self, number: usize) -> Result<&[u8], QuickError> {
        let place = match self.places.get(number) {
            Some(&NONE) => self.fetch(number)?,
            Some(&place) => place as usize,
            None => return Err(QuickError::Damaged("an array ends too early")),
        };
        Ok(&self.held[place * BLOCK..][..BLOCK.min(self.length - number * BLOCK)])
    }

    #[cold]
    fn fetch(&mut self, number: usize) -> Result<usize, QuickError> {
        let mut place = self.held.len() / BLOCK;
        if place == KEPT {
            self.places.fill(NONE);
            self.held.clear();
            place = 0;
        }
        self.held.resize((place + 1) * BLOCK, 0);
        let begin = number * BLOCK;
        let block = &mut self.held[place * BLOCK..][..BLOCK.min(self.length - begin)];
        read_at(&self.file, block, self.start + begin as u64)?;
        if crc32(block, 0).to_le_bytes() != self.sums[number * 4..][..4] {
            return Err(QuickError::Damaged("its checksum does not match"));
        }
        self.places[number] = place as u32;
        Ok(place)
    }

    /// A number of an array.
    #[inline]
    pub fn number(&mut self, array: Array, i: usize) -> Result<u64, QuickError> {
        if i >= array.count {
            return Err(QuickError::Damaged("an array ends too early"));
        }
        let at = array.begin + i * array.width;
        let block = self.block(at / BLOCK)?;
        let bytes = block.get(at % BLOCK..at % BLOCK + array.width);
        let bytes = bytes.ok_or(QuickError::Damaged("an array is not where it should be"))?;
        let mut padded = [0; 8];
        padded[..array.width].copy_from_slice(bytes);
        Ok(u64::from_le_bytes(padded))
    }

    /// Compare the bytes of an array with others: whether they are less, equal or greater.
    pub fn compare(
        &mut self,
        array: Array,
        range: std::ops::Range<usize>,
        other: &[u8],
    ) -> Result<std::cmp::Ordering, QuickError> {
        if range.start > range.end || range.end > array.count || array.width != 1 {
            return Err(QuickError::Damaged("the words are cut in the wrong places"));
        }
        let (mut at, end) = (array.begin + range.start, array.begin + range.end);
        let mut rest = other;
        while at < end {
            let block = self.block(at / BLOCK)?;
            let here = &block[at % BLOCK..block.len().min(at % BLOCK + end - at)];
            if here.is_empty() {
                return Err(QuickError::Damaged("an array ends too early"));
            }
            let (first, later) = rest.split_at(rest.len().min(here.len()));
            let order = here.cmp(first);
            if order.is_ne() {
                return Ok(order);
            }
            at += here.len();
            rest = later;
        }
        Ok(if rest.is_empty() { std::cmp::Ordering::Equal } else { std::cmp::Ordering::Less })
    }
}

/// Fill a buffer with what the file has at a place.
#[cfg(unix)]
pub fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, place)
}

/// Fill a buffer with what the file has at a place.
#[cfg(windows)]
pub fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match std::os::windows::fs::FileExt::seek_read(file, &mut buffer[done..], place + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => done += more,
        }
    }
    Ok(())
}
