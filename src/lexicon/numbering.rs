//! Where the terms of a text get their numbers, while learning and while scoring.

use crate::lexicon::form_table::{FormTable, Key, Role, UNKNOWN};
use crate::lexicon::{BATCH, Forms, LONGEST_CODED, Lexicon};
use crate::memory::{extend, prefetch};

/// Memory for at most so many new forms is left to the next.
const LEFT: usize = 256;

/// So many new forms are remembered from one question to the next: what a loaded model has met, it need not analyze again.
const REMEMBERED: usize = 8192;

/// So many pairs are looked up before the new ones among them are numbered.
const PAIRS: usize = 512;

/// A lexicon that grows, or a frozen one in which new terms stay unknown.
pub trait Numbering {
    /// The terms and forms that are known.
    fn known(&self) -> &FormTable;
    fn prefetch_pair(&self, left: u32, right: u32);
    fn term<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8]) -> u32;
    fn pair(&mut self, left: u32, right: u32) -> u32;
    /// Append the numbers of pairs.
    #[inline(always)]
    fn pairs(&mut self, lefts: &[u32], rights: &[u32], numbers: &mut Vec<u32>) {
        for (lefts, rights) in lefts.chunks(BATCH).zip(rights.chunks(BATCH)) {
            let pairs = lefts.iter().zip(rights);
            pairs.clone().for_each(|(&left, &right)| self.prefetch_pair(left, right));
            numbers.extend(pairs.map(|(&left, &right)| self.pair(left, right)));
        }
    }
    /// What is known of a form, or the number `new` for one that has not been met.
    fn form<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], new: u32) -> u32;
    /// Say what has become of a form.
    fn resolve<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], node: u32);
    /// Whether a form was ever dropped.
    fn drops(&self) -> bool;
    /// Forget what became of the forms, because they could not be decided.
    fn forget_forms(&mut self);
    /// Whether a form was met before, or may have been: what comes once need not be remembered.
    fn meet(&mut self, _key: &Key) -> bool {
        true
    }
    /// Keep the terms that a form stands for.
    fn remember<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], nodes: &[u32]);
    fn expansion(&self, form: u32) -> &[u32];
    /// Ask for where the terms of a form are, and for the terms themselves.
    fn prefetch_expansion(&self, _form: u32) {}
    fn prefetch_nodes(&self, _form: u32) {}
    /// The number of an n-gram of letters without its last one, where that was said before.
    fn prefix(&self, _node: u32) -> u32 {
        UNKNOWN
    }
    fn set_prefix(&mut self, _node: u32, _prefix: u32) {}
    fn prefetch_prefix(&self, _node: u32) {}
    /// Whether n-grams of the four bases of this length have numbers by their codes.
    fn make_codes(&mut self, length: usize) -> bool {
        has_codes(self.coded(), length)
    }
    /// The numbers by code, as far as they are known.
    fn coded(&self) -> &[u32] {
        &[]
    }
    fn set_coded(&mut self, _code: usize, _node: u32) {}
    fn is_full(&self) -> bool;
}

fn has_codes(coded: &[u32], length: usize) -> bool {
    length <= LONGEST_CODED && coded.len() >= 2 << (2 * length)
}

impl Numbering for Lexicon {
    #[inline(always)]
    fn known(&self) -> &FormTable {
        &self.forms.table
    }
    #[inline(always)]
    fn prefetch_pair(&self, left: u32, right: u32) {
        self.pairs.prefetch(left, right);
    }
    #[inline(always)]
    fn term<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8]) -> u32 {
        Lexicon::term(self, key, bytes)
    }
    #[inline(always)]
    fn pair(&mut self, left: u32, right: u32) -> u32 {
        Lexicon::pair(self, left, right)
    }
    /// Most pairs are known: only the others are looked up again, where their slots still are in the cache.
    fn pairs(&mut self, lefts: &[u32], rights: &[u32], numbers: &mut Vec<u32>) {
        for (lefts, rights) in lefts.chunks(PAIRS).zip(rights.chunks(PAIRS)) {
            let done = numbers.len();
            self.pairs.find_all(lefts, rights, numbers);
            let pairs = lefts.iter().zip(rights);
            for (number, (&left, &right)) in numbers[done..].iter_mut().zip(pairs) {
                if *number == UNKNOWN {
                    *number = Lexicon::pair(self, left, right);
                }
            }
        }
    }
    #[inline(always)]
    fn form<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], new: u32) -> u32 {
        self.forms.table.find_or_insert(key, bytes, Role::Form, || new)
    }
    fn resolve<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], node: u32) {
        self.forms.resolve(key, bytes, node);
    }
    fn drops(&self) -> bool {
        self.forms.drops
    }
    fn forget_forms(&mut self) {
        self.forms.table.forget_forms();
    }
    #[inline(always)]
    fn meet(&mut self, key: &Key) -> bool {
        self.met.meet(key)
    }
    fn remember<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], nodes: &[u32]) {
        let form = self.forms.remember(nodes);
        self.forms.table.set(key, bytes, Role::Form, form);
    }
    #[inline(always)]
    fn expansion(&self, form: u32) -> &[u32] {
        self.forms.expansion(form)
    }
    #[inline(always)]
    fn prefetch_expansion(&self, form: u32) {
        self.forms.prefetch(form);
    }
    #[inline(always)]
    fn prefetch_nodes(&self, form: u32) {
        self.forms.prefetch_nodes(form);
    }
    #[inline(always)]
    fn prefix(&self, node: u32) -> u32 {
        self.prefixes.get(node as usize).copied().unwrap_or(UNKNOWN)
    }
    #[inline(always)]
    fn set_prefix(&mut self, node: u32, prefix: u32) {
        if node == UNKNOWN {
            return;
        }
        if node as usize >= self.prefixes.len() {
            extend(&mut self.prefixes, self.nodes as usize, UNKNOWN);
        }
        self.prefixes[node as usize] = prefix;
    }
    #[inline(always)]
    fn prefetch_prefix(&self, node: u32) {
        prefetch(&self.prefixes, node as usize);
    }
    /// Only where so many terms are known that their table is larger than that of the codes.
    fn make_codes(&mut self, length: usize) -> bool {
        if length <= LONGEST_CODED && self.forms.table.len() >= 1 << (2 * length) >> 4 {
            extend(&mut self.coded, 2 << (2 * length), UNKNOWN);
        }
        has_codes(&self.coded, length)
    }
    #[inline(always)]
    fn coded(&self) -> &[u32] {
        &self.coded
    }
    #[inline(always)]
    fn set_coded(&mut self, code: usize, node: u32) {
        self.coded[code] = node;
    }
    fn is_full(&self) -> bool {
        Lexicon::is_full(self)
    }
}

/// A lexicon that is only read; forms it has not met are remembered beside it.
pub struct Frozen<'a> {
    lexicon: &'a Lexicon,
    /// Made when the first is met: one short text without any would take a tenth longer.
    new: Option<Box<Forms>>,
    known_forms: u32,
    /// Numbers, behind those of the lexicon, for terms it does not know, where they must be told apart.
    unknown: Option<Lexicon>,
}

impl<'a> Frozen<'a> {
    pub fn new(lexicon: &'a Lexicon, tell_unknown_apart: bool) -> Self {
        let known_forms = lexicon.forms.ends.len() as u32;
        let unknown = tell_unknown_apart.then(Lexicon::default);
        Self { lexicon, new: None, known_forms, unknown }
    }

    /// Forget the unknown terms when they have become many.
    pub fn tidy(&mut self) {
        if self.unknown.as_ref().is_some_and(|unknown| unknown.nodes > 1 << 20) {
            self.unknown = Some(Lexicon::default());
            self.new = None;
        }
    }

    /// Remember new forms in memory that another has left.
    pub fn reusing(self, left: Option<Box<Forms>>) -> Self {
        Self { new: left, ..self }
    }

    /// Leave the memory of new forms to the next, empty, unless it is much.
    pub fn left(self) -> Option<Box<Forms>> {
        let mut new = self.new.filter(|new| new.table.len() <= LEFT)?;
        new.clear();
        Some(new)
    }

    /// Leave the new forms themselves to the next who reads with the same lexicon, unless they are many.
    pub fn remembered(self) -> Option<Box<Forms>> {
        self.new.filter(|new| new.table.len() <= REMEMBERED)
    }

    fn new_forms(&mut self) -> &mut Forms {
        self.new.get_or_insert_default()
    }
}

impl Numbering for Frozen<'_> {
    #[inline(always)]
    fn known(&self) -> &FormTable {
        &self.lexicon.forms.table
    }
    #[inline(always)]
    fn prefetch_pair(&self, left: u32, right: u32) {
        self.lexicon.pairs.prefetch(left, right);
    }
    #[inline(always)]
    fn term<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8]) -> u32 {
        match (self.lexicon.forms.table.find(key, &bytes, Role::Term), &mut self.unknown) {
            (Some(node), _) => node,
            (None, Some(unknown)) => self.lexicon.nodes + unknown.term(key, bytes),
            (None, None) => UNKNOWN,
        }
    }
    #[inline(always)]
    fn pair(&mut self, left: u32, right: u32) -> u32 {
        match (self.lexicon.pairs.find(left, right), &mut self.unknown) {
            (Some(node), _) => node,
            (None, Some(unknown)) => self.lexicon.nodes + unknown.pair(left, right),
            (None, None) => UNKNOWN,
        }
    }
    #[inline(always)]
    fn pairs(&mut self, lefts: &[u32], rights: &[u32], numbers: &mut Vec<u32>) {
        if self.unknown.is_none() {
            return self.lexicon.pairs.find_all(lefts, rights, numbers);
        }
        let pairs = lefts.iter().zip(rights);
        numbers.extend(pairs.map(|(&left, &right)| self.pair(left, right)));
    }
    #[inline(always)]
    fn form<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], new: u32) -> u32 {
        match self.lexicon.forms.table.find(key, &bytes, Role::Form) {
            Some(value) => value,
            None => self.new_forms().table.find_or_insert(key, bytes, Role::Form, || new),
        }
    }
    fn resolve<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], node: u32) {
        self.new_forms().resolve(key, bytes, node);
    }
    fn drops(&self) -> bool {
        self.lexicon.forms.drops || self.new.as_ref().is_some_and(|new| new.drops)
    }
    fn forget_forms(&mut self) {
        self.new = None;
    }
    fn remember<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], nodes: &[u32]) {
        let known = self.known_forms;
        let new = self.new_forms();
        let form = new.remember(nodes);
        new.table.set(key, bytes, Role::Form, known + form);
    }
    #[inline(always)]
    fn expansion(&self, form: u32) -> &[u32] {
        match form.checked_sub(self.known_forms) {
            Some(form) => self.new.as_ref().map_or(&[], |new| new.expansion(form)),
            None => self.lexicon.forms.expansion(form),
        }
    }
    #[inline(always)]
    fn prefetch_expansion(&self, form: u32) {
        if form < self.known_forms {
            self.lexicon.forms.prefetch(form);
        }
    }
    #[inline(always)]
    fn prefetch_nodes(&self, form: u32) {
        if form < self.known_forms {
            self.lexicon.forms.prefetch_nodes(form);
        }
    }
    #[inline(always)]
    fn prefix(&self, node: u32) -> u32 {
        self.lexicon.prefix(node)
    }
    #[inline(always)]
    fn prefetch_prefix(&self, node: u32) {
        self.lexicon.prefetch_prefix(node);
    }
    fn coded(&self) -> &[u32] {
        &self.lexicon.coded
    }
    fn is_full(&self) -> bool {
        false
    }
}
