//! Surface form to term number. Keys of at most 16 bytes stand in the table
//! slot itself; the hash is seeded anew in every process, so that nobody can prepare texts that collide.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use crate::memory::filled;
use crate::pairs::PairTable;

/// What a form may be instead of a term.
pub const DROPPED: u32 = u32::MAX;
pub const UNKNOWN: u32 = u32::MAX - 1;
/// Terms are numbered below this; the bit marks forms that wait for their normalizer.
pub const WAITING: u32 = 1 << 31;

const INLINE: usize = 16;
pub const EMPTY: u32 = u32::MAX - 2;

/// The two secrets of this process.
#[derive(Clone, Copy)]
pub struct Seed(pub u64, pub u64);

impl Seed {
    pub fn get() -> Self {
        static SEED: OnceLock<Seed> = OnceLock::new();
        *SEED.get_or_init(|| {
            let state = RandomState::new();
            Self(state.hash_one(1) | 1, state.hash_one(2) | 1)
        })
    }
}

#[inline(always)]
pub fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Ask the memory for an element that will be needed soon.
#[inline(always)]
pub fn prefetch<T>(slots: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing; any address is allowed.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(slots.as_ptr().wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slots, at);
}

/// The first n bytes of 16.
const MASKS: [u128; INLINE + 1] = {
    let mut masks = [u128::MAX; INLINE + 1];
    let mut length = 0;
    while length < INLINE {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

/// A form's bytes, or for a long one their hash, ready to be compared in registers.
#[derive(Clone, Copy, Default)]
pub struct Key {
    low: u64,
    high: u64,
    hash: u64,
    length: u32,
}

impl Key {
    /// The key of `text[start..end]`; fast where 16 bytes can be read at `start`.
    #[inline(always)]
    pub fn padded(text: &[u8], start: usize, end: usize, seed: Seed) -> Self {
        let length = end.wrapping_sub(start);
        if length <= INLINE && start <= text.len().saturating_sub(INLINE) && text.len() >= INLINE {
            // SAFETY: the 16 bytes from `start` on are part of the text.
            let bytes = unsafe { text.as_ptr().add(start).cast::<[u8; INLINE]>().read_unaligned() };
            return Self::short(u128::from_le_bytes(bytes) & MASKS[length], length, seed);
        }
        Self::of(&text[start..end])
    }

    #[cold]
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.len() > INLINE {
            return Self::long(bytes, Seed::get());
        }
        let mut inline = [0; INLINE];
        inline[..bytes.len()].copy_from_slice(bytes);
        Self::short(u128::from_le_bytes(inline), bytes.len(), Seed::get())
    }

    #[inline(always)]
    fn short(word: u128, length: usize, seed: Seed) -> Self {
        let (low, high) = (word as u64, (word >> 64) as u64);
        let hash = fold(low ^ seed.0, high ^ seed.1 ^ length as u64);
        Self { low, high, hash, length: length as u32 }
    }

    fn long(bytes: &[u8], seed: Seed) -> Self {
        let mut hash = seed.0 ^ bytes.len() as u64;
        for chunk in bytes.chunks(INLINE) {
            let mut inline = [0; INLINE];
            inline[..chunk.len()].copy_from_slice(chunk);
            let word = u128::from_le_bytes(inline);
            hash = fold(hash ^ word as u64, seed.1 ^ (word >> 64) as u64).rotate_left(23);
        }
        Self { low: hash, high: 0, hash, length: bytes.len() as u32 }
    }

    #[inline(always)]
    fn is_long(&self) -> bool {
        self.length as usize > INLINE
    }
}

#[derive(Clone, Copy)]
struct Slot {
    low: u64,
    /// The second half of a short form, or where a long one begins in the arena.
    high: u64,
    length: u32,
    value: u32,
}

const EMPTY_SLOT: Slot = Slot { low: 0, high: 0, length: 0, value: EMPTY };

/// Byte strings to numbers.
#[derive(Clone)]
pub struct FormTable {
    slots: Vec<Slot>,
    used: usize,
    arena: Vec<u8>,
}

impl Default for FormTable {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl FormTable {
    pub fn with_capacity(forms: usize) -> Self {
        let slots = (forms * 3 / 2 + 1).next_power_of_two().max(64);
        Self { slots: filled(slots, EMPTY_SLOT), used: 0, arena: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.used
    }

    #[inline(always)]
    pub fn prefetch(&self, key: &Key) {
        prefetch(&self.slots, key.hash as usize & (self.slots.len() - 1));
    }

    #[inline(always)]
    fn slot(&self, at: usize) -> &Slot {
        // SAFETY: positions are masked with the length, which is a power of two, less one.
        unsafe { self.slots.get_unchecked(at) }
    }

    /// The slot that holds the key, or the empty one where it belongs.
    #[inline(always)]
    fn locate(&self, key: &Key, bytes: &[u8]) -> usize {
        if key.is_long() {
            return self.locate_long(key, bytes);
        }
        let mask = self.slots.len() - 1;
        let mut at = key.hash as usize & mask;
        loop {
            let slot = self.slot(at);
            let same = slot.low == key.low && slot.high == key.high && slot.length == key.length;
            if same || slot.value == EMPTY {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn locate_long(&self, key: &Key, bytes: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = key.hash as usize & mask;
        loop {
            let slot = self.slot(at);
            let alike = slot.value != EMPTY && slot.low == key.low && slot.length == key.length;
            if slot.value == EMPTY || (alike && self.long(slot) == bytes) {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn long(&self, slot: &Slot) -> &[u8] {
        &self.arena[slot.high as usize..slot.high as usize + slot.length as usize]
    }

    #[inline(always)]
    pub fn find(&self, key: &Key, bytes: &[u8]) -> Option<u32> {
        let value = self.slot(self.locate(key, bytes)).value;
        (value != EMPTY).then_some(value)
    }

    #[inline(always)]
    pub fn find_or_insert(&mut self, key: &Key, bytes: &[u8], new: impl FnOnce() -> u32) -> u32 {
        let at = self.locate(key, bytes);
        let value = self.slot(at).value;
        if value != EMPTY {
            return value;
        }
        let value = new();
        self.insert_at(at, key, bytes, value);
        value
    }

    #[cold]
    fn insert_at(&mut self, at: usize, key: &Key, bytes: &[u8], value: u32) {
        let mut slot = Slot { low: key.low, high: key.high, length: key.length, value };
        if key.is_long() {
            slot.high = self.arena.len() as u64;
            self.arena.extend_from_slice(bytes);
        }
        self.slots[at] = slot;
        self.used += 1;
        if self.used * 4 > self.slots.len() * 3 {
            self.grow();
        }
    }

    /// Give a known form another value.
    pub fn set(&mut self, key: &Key, bytes: &[u8], value: u32) {
        let at = self.locate(key, bytes);
        self.slots[at].value = value;
    }

    fn grow(&mut self) {
        let doubled = filled(self.slots.len() * 2, EMPTY_SLOT);
        let mask = doubled.len() - 1;
        let old = std::mem::replace(&mut self.slots, doubled);
        // What is dropped (the last number of all) are stop words, and early numbers are frequent words: first in,
        // they get the slot where one looks first.
        let early = |slot: &&Slot| slot.value.wrapping_add(1) <= self.used as u32 / 8;
        let late = |slot: &&Slot| !early(slot) && slot.value != EMPTY;
        for slot in old.iter().filter(early).chain(old.iter().filter(late)) {
            let mut at = slot.hash() as usize & mask;
            while self.slots[at].value != EMPTY {
                at = (at + 1) & mask;
            }
            self.slots[at] = *slot;
        }
    }

    /// Every form with its value, in no order.
    pub fn for_each(&self, mut visit: impl FnMut(&[u8], u32)) {
        for slot in self.slots.iter().filter(|slot| slot.value != EMPTY) {
            let length = slot.length as usize;
            if length > INLINE {
                visit(self.long(slot), slot.value);
            } else {
                let word = u128::from(slot.low) | u128::from(slot.high) << 64;
                visit(&word.to_le_bytes()[..length], slot.value);
            }
        }
    }
}

impl Slot {
    fn hash(&self) -> u64 {
        if self.length as usize > INLINE {
            return self.low;
        }
        Key::short(u128::from(self.low) | u128::from(self.high) << 64, self.length as usize, Seed::get()).hash
    }
}

/// All terms met so far. A term is a byte string or a pair of an n-gram and a word; both are numbered as *nodes*.
#[derive(Clone, Default)]
pub struct Lexicon {
    pub terms: FormTable,
    pub pairs: PairTable,
    /// Surface forms that differ from their term (normalized words), or stand for several (letters of a word).
    pub forms: Forms,
    pub nodes: u32,
}

/// What has become of each surface form: a node, several, none (*dropped*), or not decided yet.
#[derive(Clone, Default)]
pub struct Forms {
    pub table: FormTable,
    /// For forms that stand for several terms: where their nodes end in `nodes`.
    pub ends: Vec<u32>,
    pub nodes: Vec<u32>,
    /// Whether a form was ever dropped.
    pub drops: bool,
}

impl Forms {
    /// Say what has become of a form.
    pub fn resolve(&mut self, key: &Key, bytes: &[u8], node: u32) {
        self.drops |= node == DROPPED;
        self.table.set(key, bytes, node);
    }

    pub fn expansion(&self, form: u32) -> &[u32] {
        let form = form as usize;
        let start = if form == 0 { 0 } else { self.ends[form - 1] as usize };
        &self.nodes[start..self.ends[form] as usize]
    }

    /// Keep an expansion; its number.
    pub fn remember(&mut self, nodes: &[u32]) -> u32 {
        self.nodes.extend_from_slice(nodes);
        self.ends.push(self.nodes.len() as u32);
        self.ends.len() as u32 - 1
    }
}

impl Lexicon {
    pub fn is_full(&self) -> bool {
        self.nodes >= WAITING - 1
    }

    #[inline(always)]
    pub fn term(&mut self, key: &Key, bytes: &[u8]) -> u32 {
        let nodes = &mut self.nodes;
        self.terms.find_or_insert(key, bytes, || next(nodes))
    }

    #[inline(always)]
    pub fn pair(&mut self, left: u32, right: u32) -> u32 {
        let nodes = &mut self.nodes;
        self.pairs.find_or_insert(left, right, || next(nodes))
    }

    /// For each node the pair it stands for; `None` for a byte string.
    pub fn pairs_by_node(&self) -> Vec<Option<(u32, u32)>> {
        let mut pairs = vec![None; self.nodes as usize];
        for (left, right, node) in self.pairs.iter() {
            pairs[node as usize] = Some((left, right));
        }
        pairs
    }
}

/// The next number; the last one again when they run out, which `is_full` tells before it is used.
#[inline(always)]
fn next(nodes: &mut u32) -> u32 {
    let node = *nodes;
    *nodes = (node + 1).min(WAITING - 1);
    node
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_table_is_a_map(forms in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..300)) {
            let mut table = FormTable::default();
            let mut map = HashMap::new();
            for (number, form) in forms.iter().enumerate() {
                let number = number as u32;
                prop_assert_eq!(table.find(&Key::of(form), form), map.get(form).copied());
                let expected = *map.entry(form.clone()).or_insert(number);
                prop_assert_eq!(table.find_or_insert(&Key::of(form), form, || number), expected);
            }
            let mut seen = HashMap::new();
            table.for_each(|form, number| { seen.insert(form.to_vec(), number); });
            prop_assert_eq!(table.len(), seen.len());
            prop_assert_eq!(seen, map);
        }

        #[test]
        fn a_key_is_the_same_wherever_its_bytes_stand(form in prop::collection::vec(any::<u8>(), 0..40), tail: [u8; 16]) {
            let text = [&form[..], &tail[..]].concat();
            let (here, there) = (Key::of(&form), Key::padded(&text, 0, form.len(), Seed::get()));
            prop_assert_eq!((here.low, here.high, here.hash, here.length), (there.low, there.high, there.hash, there.length));
        }
    }
}
