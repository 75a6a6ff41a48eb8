//! Terms as numbered buckets: a view of fixed size. The hash is the same in every process and on every machine, so that
//! counts of buckets add up like counts of terms.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::lexicon::Lexicon;
use crate::lexicon::form_table::{FormTable, Key};
use crate::lexicon::numbering::Numbering;

/// Of more terms, what was hashed is forgotten: a process stays small whatever it reads.
const REMEMBERED: u32 = 1 << 19;

/// An analysis whose terms fall into so many buckets.
pub struct Hashed<A> {
    pub buckets: u32,
    pub of: A,
    /// Tells analyses apart: what a form becomes is remembered for one of them only.
    id: u64,
}

impl<A> Hashed<A> {
    pub fn new(buckets: u32, of: A) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { buckets: buckets.max(1), of, id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }
}

/// FNV-1a of 64 bits.
pub fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    bytes.into_iter().fold(0xCBF2_9CE4_8422_2325, step)
}

/// The hash of an n-gram is that of the hashes of all but its last word, and of its last.
pub fn joined(left: u64, right: u64) -> u64 {
    hash(left.to_le_bytes().into_iter().chain(right.to_le_bytes()))
}

/// Mixed (the end of MurmurHash3), because the last bits of FNV-1a are weak.
pub fn bucket(mut hash: u64, buckets: u32) -> u32 {
    hash = (hash ^ hash >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash = (hash ^ hash >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    ((hash ^ hash >> 33) % u64::from(buckets)) as u32
}

/// The terms of one analysis, and the hash of each.
#[derive(Default)]
pub struct Buckets {
    lexicon: Lexicon,
    hashes: Vec<u64>,
    id: u64,
    buckets: u32,
}

impl Buckets {
    /// Ready to read for an analysis.
    pub fn open<A>(&mut self, hashed: &Hashed<A>) {
        if self.id != hashed.id || self.lexicon.nodes > REMEMBERED {
            *self = Self { id: hashed.id, buckets: hashed.buckets, ..Self::default() };
        }
    }

    /// Append the name of the bucket of a term: `#`, and its number in hexadecimal.
    pub fn push_name(&self, node: u32, names: &mut Vec<u8>) {
        let number = bucket(self.hashes.get(node as usize).copied().unwrap_or(0), self.buckets);
        names.push(b'#');
        let digits = (32 - number.leading_zeros()).div_ceil(4).max(1);
        names.extend(
            (0..digits).rev().map(|digit| b"0123456789abcdef"[(number >> (4 * digit) & 15) as usize]),
        );
    }

    /// Note the hash of a term that is new.
    fn note(&mut self, node: u32, hash: impl FnOnce(&[u64]) -> u64) -> u32 {
        if node as usize == self.hashes.len() {
            let hash = hash(&self.hashes);
            self.hashes.push(hash);
        }
        node
    }
}

impl Numbering for Buckets {
    fn known(&self) -> &FormTable {
        self.lexicon.known()
    }
    fn prefetch_pair(&self, left: u32, right: u32) {
        self.lexicon.prefetch_pair(left, right);
    }
    fn term<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8]) -> u32 {
        let node = self.lexicon.term(key, &bytes);
        self.note(node, |_| hash(bytes().iter().copied()))
    }
    fn pair(&mut self, left: u32, right: u32) -> u32 {
        let node = self.lexicon.pair(left, right);
        let of = |hashes: &[u64], node: u32| hashes.get(node as usize).copied().unwrap_or(0);
        self.note(node, |hashes| joined(of(hashes, left), of(hashes, right)))
    }
    fn form<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], new: u32) -> u32 {
        self.lexicon.form(key, bytes, new)
    }
    fn resolve<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], node: u32) {
        self.lexicon.resolve(key, bytes, node);
    }
    fn drops(&self) -> bool {
        self.lexicon.drops()
    }
    fn forget_forms(&mut self) {
        self.lexicon.forget_forms();
    }
    fn remember<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], nodes: &[u32]) {
        self.lexicon.remember(key, bytes, nodes);
    }
    fn expansion(&self, form: u32) -> &[u32] {
        self.lexicon.expansion(form)
    }
    fn prefetch_expansion(&self, form: u32) {
        self.lexicon.prefetch_expansion(form);
    }
    fn prefetch_nodes(&self, form: u32) {
        self.lexicon.prefetch_nodes(form);
    }
    fn is_full(&self) -> bool {
        self.lexicon.is_full()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(hash(*b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(hash(*b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(hash(*b"foobar"), 0x8594_4171_F739_67E8);
    }

    #[test]
    fn buckets_are_filled_evenly_and_named_in_hexadecimal() {
        let hashed = Hashed::new(256, ());
        let mut buckets = Buckets::default();
        buckets.open(&hashed);
        let mut names = std::collections::HashSet::new();
        for i in 0..4096u32 {
            let term = format!("word{i}");
            let node = buckets.term(&Key::of(term.as_bytes()), || term.as_bytes());
            let mut name = Vec::new();
            buckets.push_name(node, &mut name);
            assert!(name.len() <= 3 && name[0] == b'#');
            names.insert(name);
        }
        assert_eq!(names.len(), 256);
    }
}
