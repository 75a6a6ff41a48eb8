//! Numbers for the terms of a document that are looked up in a file as they are met.

use std::collections::HashSet;

use crate::lexicon::Lexicon;
use crate::lexicon::form_table::{FormTable, Key, Role, UNKNOWN};
use crate::lexicon::numbering::Numbering;
use crate::quick::QuickError;
use crate::quick::blocks::Blocks;
use crate::quick::columns::Columns;
use crate::quick::overlay::Overlay;
use crate::tally::replay::NewTerm;

/// Numbers of terms that are not known, where they must be told apart, begin here.
const APART: u32 = 1 << 30;

/// What becomes of a term that is not known.
#[derive(Clone, Copy, PartialEq)]
pub enum New {
    Ignored,
    ToldApart,
    Learned,
}

/// The terms met so far, numbered as they come, and where each is in the file.
pub struct Sought<'a> {
    pub blocks: &'a mut Blocks,
    pub columns: &'a Columns,
    pub overlay: &'a Overlay,
    pub lexicon: Lexicon,
    /// The node of each in the file, or in the changes behind it, or among those that are learned now.
    pub places: Vec<u32>,
    pub learned: Vec<NewTerm>,
    new: New,
    unknown: Lexicon,
    absent: FormTable,
    absent_pairs: HashSet<(u32, u32)>,
    failed: Option<QuickError>,
}

impl<'a> Sought<'a> {
    pub fn new(blocks: &'a mut Blocks, columns: &'a Columns, overlay: &'a Overlay, new: New) -> Self {
        Self {
            blocks,
            columns,
            overlay,
            lexicon: Lexicon::default(),
            places: Vec::new(),
            learned: Vec::new(),
            new,
            unknown: Lexicon::default(),
            absent: FormTable::default(),
            absent_pairs: HashSet::new(),
            failed: None,
        }
    }

    /// What could not be looked up, if something could not.
    pub fn check(&mut self) -> Result<(), QuickError> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn learn(&mut self, term: NewTerm) -> u32 {
        self.learned.push(term);
        self.overlay.nodes + self.learned.len() as u32 - 1
    }

    fn place_of(&mut self, found: Result<Option<u32>, QuickError>) -> Option<u32> {
        found.unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            None
        })
    }
}

impl Numbering for Sought<'_> {
    fn known(&self) -> &FormTable {
        &self.lexicon.forms.table
    }

    fn prefetch_pair(&self, _: u32, _: u32) {}

    fn term<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8]) -> u32 {
        if let Some(node) = self.lexicon.forms.table.find(key, &bytes, Role::Term) {
            return node;
        }
        if self.absent.find(key, &bytes, Role::Term).is_none() {
            let found = self.columns.word(self.blocks, bytes());
            let place = self.place_of(found).or_else(|| self.overlay.word(bytes()));
            let learned = self.new == New::Learned;
            if let Some(place) =
                place.or_else(|| learned.then(|| self.learn(NewTerm::Word(bytes().to_vec()))))
            {
                self.places.push(place);
                return self.lexicon.term(key, bytes);
            }
            self.absent.set(key, &bytes, Role::Term, 0);
        }
        if self.new == New::ToldApart { APART + self.unknown.term(key, bytes) } else { UNKNOWN }
    }

    fn pair(&mut self, left: u32, right: u32) -> u32 {
        let nodes = self.lexicon.nodes;
        if let Some(node) = self.lexicon.pairs.find(left, right) {
            return node;
        }
        if left < nodes && right < nodes && !self.absent_pairs.contains(&(left, right)) {
            let (l, r) = (self.places[left as usize], self.places[right as usize]);
            let base = self.columns.nodes() as u32;
            let found = if l < base && r < base { self.columns.pair(self.blocks, l, r) } else { Ok(None) };
            let place = self.place_of(found).or_else(|| self.overlay.pair(l, r));
            let learned = self.new == New::Learned;
            if let Some(place) = place.or_else(|| learned.then(|| self.learn(NewTerm::Pair(l, r)))) {
                self.places.push(place);
                return self.lexicon.pair(left, right);
            }
            self.absent_pairs.insert((left, right));
        }
        if self.new == New::ToldApart { APART + self.unknown.pair(left, right) } else { UNKNOWN }
    }

    fn form<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], new: u32) -> u32 {
        self.lexicon.forms.table.find_or_insert(key, bytes, Role::Form, || new)
    }

    fn resolve<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], node: u32) {
        self.lexicon.forms.resolve(key, bytes, node);
    }

    fn drops(&self) -> bool {
        self.lexicon.forms.drops
    }

    fn forget_forms(&mut self) {
        self.lexicon.forms.table.forget_forms();
    }

    fn remember<'b>(&mut self, key: &Key, bytes: impl Fn() -> &'b [u8], nodes: &[u32]) {
        Numbering::remember(&mut self.lexicon, key, bytes, nodes);
    }

    fn expansion(&self, form: u32) -> &[u32] {
        self.lexicon.forms.expansion(form)
    }

    fn is_full(&self) -> bool {
        self.overlay.nodes as usize + self.learned.len() >= APART as usize
    }
}
