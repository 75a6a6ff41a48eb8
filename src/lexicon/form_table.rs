//! Byte strings as keys that are compared and hashed in registers, and the table from them to numbers. The hash is
//! seeded anew in every process, so that nobody can prepare texts that collide.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use crate::memory::{filled, prefetch};

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

/// Keys have 16 bytes: up to 15 of the form and, in the last, its length plus one, so that no key is zero.
pub const KEY_BYTES: usize = 16;
/// The form is longer: its key is its hash and this.
const LONG_KEY: u64 = u64::MAX;
/// In a table, this and which of the long forms it is.
const LONG: u64 = 1 << 63;

/// For a form of n bytes: the first n bytes of a key, in two halves, and n plus one in the last.
const SHAPES: [[u64; 3]; KEY_BYTES] = {
    let mut shapes = [[0; 3]; KEY_BYTES];
    let mut length = 0;
    while length < KEY_BYTES {
        let mask = (1u128 << (8 * length)) - 1;
        shapes[length] = [mask as u64, (mask >> 64) as u64, (length as u64 + 1) << 56];
        length += 1;
    }
    shapes
};

/// A form's bytes, or for a long one their hash, ready to be compared in registers.
#[derive(Clone, Copy, Default)]
pub struct Key {
    low: u64,
    high: u64,
    hash: u64,
}

impl Key {
    /// The key of `text[start..end]`; fast where 16 bytes can be read at `start`.
    #[inline(always)]
    pub fn padded(text: &[u8], start: usize, end: usize, seed: Seed) -> Self {
        let length = end.wrapping_sub(start);
        let (low, high) = if length < KEY_BYTES && start.saturating_add(KEY_BYTES) <= text.len() {
            // SAFETY: the 16 bytes from `start` on are part of the text.
            let [low, high] = unsafe { text.as_ptr().add(start).cast::<[u64; 2]>().read_unaligned() };
            short(u64::from_le(low), u64::from_le(high), length)
        } else {
            slow(&text[start..end], seed)
        };
        Self::new(low, high, seed)
    }

    pub fn of(bytes: &[u8]) -> Self {
        let seed = Seed::get();
        let (low, high) = slow(bytes, seed);
        Self::new(low, high, seed)
    }

    #[inline(always)]
    fn new(low: u64, high: u64, seed: Seed) -> Self {
        Self { low, high, hash: fold(low ^ seed.0, high ^ seed.1) }
    }

    #[inline(always)]
    fn is_long(&self) -> bool {
        self.high == LONG_KEY
    }

    /// Bits of the hash that have no part in where a table has the key.
    #[inline(always)]
    pub fn upper_hash(&self) -> usize {
        (self.hash >> 32) as usize
    }
}

/// The two halves of the key of a form that is the first bytes of 16.
#[inline(always)]
fn short(low: u64, high: u64, length: usize) -> (u64, u64) {
    let [low_mask, high_mask, tag] = SHAPES[length];
    (low & low_mask, high & high_mask | tag)
}

/// The two halves of the key of any form.
#[cold]
fn slow(bytes: &[u8], seed: Seed) -> (u64, u64) {
    let halves = |bytes: &[u8]| {
        let mut padded = [0; KEY_BYTES];
        padded[..bytes.len()].copy_from_slice(bytes);
        let word = u128::from_le_bytes(padded);
        (word as u64, (word >> 64) as u64)
    };
    if bytes.len() < KEY_BYTES {
        let (low, high) = halves(bytes);
        return short(low, high, bytes.len());
    }
    let mut hash = seed.0 ^ bytes.len() as u64;
    for chunk in bytes.chunks(KEY_BYTES) {
        let (low, high) = halves(chunk);
        hash = fold(hash ^ low, seed.1 ^ high).rotate_left(23);
    }
    (hash, LONG_KEY)
}

/// What a byte string can be, and so which of its numbers is meant.
#[derive(Clone, Copy)]
pub enum Role {
    /// A term, which has a node.
    Term,
    /// A surface form, of which a node, several, or nothing becomes.
    Form,
}

/// A number that is not there.
pub const UNKNOWN: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Slot {
    low: u64,
    /// Zero in an empty slot only; for a long form, which one it is.
    high: u64,
    /// One for each role.
    values: [u32; 2],
}

const EMPTY_SLOT: Slot = Slot { low: 0, high: 0, values: [UNKNOWN; 2] };

impl Slot {
    fn long(&self) -> Option<usize> {
        (self.high & LONG != 0).then_some((self.high & !LONG) as usize)
    }

    fn key(&self, seed: Seed) -> Key {
        Key::new(self.low, if self.long().is_some() { LONG_KEY } else { self.high }, seed)
    }

    /// Early numbers are frequent words, and what is dropped (the last number of all) are stop words.
    fn is_early(&self, used: usize) -> bool {
        self.values.iter().any(|value| value.wrapping_add(1) as usize <= used / 8)
    }
}

/// Byte strings to numbers: one as a term, one as a surface form.
#[derive(Clone)]
pub struct FormTable {
    slots: Vec<Slot>,
    used: usize,
    long: LongForms,
}

/// Forms that do not fit in a key, one behind the other.
#[derive(Clone, Default)]
struct LongForms {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl LongForms {
    fn get(&self, form: usize) -> &[u8] {
        let start = if form == 0 { 0 } else { self.ends[form - 1] };
        &self.bytes[start..self.ends[form]]
    }

    fn push(&mut self, form: &[u8]) -> usize {
        self.bytes.extend_from_slice(form);
        self.ends.push(self.bytes.len());
        self.ends.len() - 1
    }
}

impl Default for FormTable {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

/// In each of these, `bytes` gives the form of the key; it is asked for only where the form is long.
impl FormTable {
    pub fn with_capacity(forms: usize) -> Self {
        let slots = (forms * 3 / 2 + 1).next_power_of_two().max(64);
        Self { slots: filled(slots, EMPTY_SLOT), used: 0, long: LongForms::default() }
    }

    pub fn len(&self) -> usize {
        self.used
    }

    pub fn clear(&mut self) {
        if self.used > 0 {
            self.slots.fill(EMPTY_SLOT);
            self.long = LongForms::default();
            self.used = 0;
        }
    }

    #[inline(always)]
    pub fn prefetch(&self, key: &Key) {
        prefetch(&self.slots, key.hash as usize & (self.slots.len() - 1));
    }

    /// The slot that holds the key, or the empty one where it belongs.
    #[inline(always)]
    fn locate<'b>(&self, key: &Key, bytes: impl Fn() -> &'b [u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = key.hash as usize & mask;
        loop {
            let slot = &self.slots[at];
            let same = if key.is_long() {
                slot.low == key.low && slot.long().is_some_and(|long| self.long.get(long) == bytes())
            } else {
                slot.low == key.low && slot.high == key.high
            };
            if same || slot.high == 0 {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    #[inline(always)]
    pub fn find<'b>(&self, key: &Key, bytes: impl Fn() -> &'b [u8], role: Role) -> Option<u32> {
        let value = self.slots[self.locate(key, bytes)].values[role as usize];
        (value != UNKNOWN).then_some(value)
    }

    /// The numbers of short forms. Long ones take longer, and are left unknown like those that are not here.
    #[inline(never)]
    pub fn find_short(&self, keys: &[Key], numbers: &mut [u32], role: Role) {
        let (slots, mask) = (&self.slots[..], self.slots.len() - 1);
        for (number, key) in numbers.iter_mut().zip(keys) {
            let mut at = key.hash as usize & mask;
            *number = loop {
                // SAFETY: positions are masked with the length, which is a power of two, less one.
                let slot = unsafe { slots.get_unchecked(at) };
                if slot.low == key.low && slot.high == key.high {
                    break slot.values[role as usize];
                }
                if slot.high == 0 {
                    break UNKNOWN;
                }
                at = (at + 1) & mask;
            };
        }
    }

    #[inline(always)]
    pub fn find_or_insert<'b>(
        &mut self,
        key: &Key,
        bytes: impl Fn() -> &'b [u8],
        role: Role,
        new: impl FnOnce() -> u32,
    ) -> u32 {
        let at = self.locate(key, &bytes);
        let value = self.slots[at].values[role as usize];
        if value != UNKNOWN {
            return value;
        }
        let value = new();
        self.set_at(at, key, bytes, role, value);
        value
    }

    /// Give a form another number.
    pub fn set<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], role: Role, value: u32) {
        self.set_at(self.locate(key, &bytes), key, bytes, role, value);
    }

    fn set_at<'b>(&mut self, at: usize, key: &Key, bytes: impl Fn() -> &'b [u8], role: Role, value: u32) {
        let slot = &mut self.slots[at];
        slot.values[role as usize] = value;
        if slot.high == 0 {
            slot.low = key.low;
            slot.high = if key.is_long() { LONG | self.long.push(bytes()) as u64 } else { key.high };
            self.used += 1;
            if self.used * 4 > self.slots.len() * 3 {
                self.grow();
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let doubled = filled(self.slots.len() * 2, EMPTY_SLOT);
        let mask = doubled.len() - 1;
        let seed = Seed::get();
        let old = std::mem::replace(&mut self.slots, doubled);
        // First in, they get the slot where one looks first.
        for early in [true, false] {
            for slot in old.iter().filter(|slot| slot.high != 0 && slot.is_early(self.used) == early) {
                let mut at = slot.key(seed).hash as usize & mask;
                while self.slots[at].high != 0 {
                    at = (at + 1) & mask;
                }
                self.slots[at] = *slot;
            }
        }
    }

    /// Forget what becomes of surface forms.
    pub fn forget_forms(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.values[Role::Form as usize] = UNKNOWN);
    }

    /// Every term with its node, in no order.
    pub fn for_each(&self, mut visit: impl FnMut(&[u8], u32)) {
        for slot in &self.slots {
            let node = slot.values[Role::Term as usize];
            if node == UNKNOWN {
                continue;
            }
            if let Some(long) = slot.long() {
                visit(self.long.get(long), node);
            } else {
                let word = u128::from(slot.low) | u128::from(slot.high) << 64;
                let length = (slot.high >> 56) as usize - 1;
                visit(&word.to_le_bytes()[..length], node);
            }
        }
    }
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
                prop_assert_eq!(table.find(&Key::of(form), || form, Role::Term), map.get(form).copied());
                let expected = *map.entry(form.clone()).or_insert(number);
                prop_assert_eq!(table.find_or_insert(&Key::of(form), || form, Role::Term, || number), expected);
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
            prop_assert_eq!((here.low, here.high, here.hash), (there.low, there.high, there.hash));
        }
    }
}
