//! Terms and their numbers: byte strings, pairs, and the surface forms that stand for them.

pub mod bag;
pub mod form_table;
pub mod lookup;
pub mod met;
pub mod numbering;
pub mod pair_table;

use crate::lexicon::form_table::{FormTable, Key, Role};
use crate::lexicon::met::Met;
use crate::lexicon::pair_table::PairTable;
use crate::memory::prefetch;

/// What a form may be instead of a term.
pub const DROPPED: u32 = u32::MAX;
/// Terms are numbered below this; the bit marks forms that wait for their normalizer.
pub const WAITING: u32 = 1 << 31;
/// So many keys are looked up at a time.
const BATCH: usize = 64;
/// Longer n-grams of bases have no codes: there would be too many.
const LONGEST_CODED: usize = 10;

/// All terms met so far. A term is a byte string or a pair of an n-gram and a word; both are numbered as *nodes*.
#[derive(Clone, Default)]
pub struct Lexicon {
    pub pairs: PairTable,
    /// Surface forms that differ from their term (normalized words), or stand for several (letters of a word).
    pub forms: Forms,
    pub nodes: u32,
    /// Of how many words each node is made.
    pub words: Vec<u8>,
    /// Of n-grams of letters, the node of what is left without the last letter, where that is known.
    pub prefixes: Vec<u32>,
    /// Which words of letters may have been met before.
    pub met: Met,
    /// The nodes of n-grams of bases by their codes, where they are known.
    pub coded: Vec<u32>,
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
    pub fn resolve<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], node: u32) {
        self.drops |= node == DROPPED;
        self.table.set(key, bytes, Role::Form, node);
    }

    /// Forget all forms.
    pub fn clear(&mut self) {
        self.table.clear();
        self.ends.clear();
        self.nodes.clear();
        self.drops = false;
    }

    pub fn expansion(&self, form: u32) -> &[u32] {
        let form = form as usize;
        let start = if form == 0 { 0 } else { self.ends[form - 1] as usize };
        &self.nodes[start..self.ends[form] as usize]
    }

    /// Ask for where an expansion is.
    #[inline(always)]
    pub fn prefetch(&self, form: u32) {
        prefetch(&self.ends, form as usize);
    }

    /// Ask for an expansion.
    #[inline(always)]
    pub fn prefetch_nodes(&self, form: u32) {
        prefetch(&self.nodes, if form == 0 { 0 } else { self.ends[form as usize - 1] as usize });
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
    pub fn term<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8]) -> u32 {
        let (nodes, words) = (&mut self.nodes, &mut self.words);
        self.forms.table.find_or_insert(key, bytes, Role::Term, || {
            words.push(1);
            next(nodes)
        })
    }

    #[inline(always)]
    pub fn pair(&mut self, left: u32, right: u32) -> u32 {
        let (nodes, words) = (&mut self.nodes, &mut self.words);
        self.pairs.find_or_insert(left, right, || {
            words.push(words.get(left as usize).map_or(1, |words| words.saturating_add(1)));
            next(nodes)
        })
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
