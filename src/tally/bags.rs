//! Documents as bags of terms: which of the chosen terms each holds, and how often. Read once, used many times.

use crate::context::Context;
use crate::errors::TallyError;
use std::ops::Range;

use crate::analyze::reader::{Document, Reader};
use crate::lexicon::Lexicon;
use crate::lexicon::bag::{Bag, NONE};
use crate::lexicon::numbering::Frozen;
use crate::threads::{in_threads, ranges, split};

/// Visit the documents that `order` names as bags, with the nodes of all their tokens.
pub fn for_each_bag(
    context: &Context,
    (lexicon, place): (&Lexicon, &[u32]),
    documents: &[Document],
    order: &[u32],
    mut visit: impl FnMut(&Bag, &[u32]),
) -> Result<(), TallyError> {
    let mut reader = Reader::default();
    let mut numbering = Frozen::new(lexicon, false);
    let mut bag = Bag::default();
    for range in ranges(documents, order, context.read_bytes()) {
        context.check()?;
        let order = &order[range];
        let batch: Vec<Document> = order.iter().map(|&document| documents[document as usize]).collect();
        let read = reader.read(&batch, context.analysis, context.normalizer, &mut numbering);
        read.map_err(|error| TallyError::Read(error.in_document_of(order)))?;
        for i in 0..order.len() {
            let nodes = reader.terms(i);
            bag.fill(nodes, place);
            visit(&bag, nodes);
        }
    }
    Ok(())
}

/// One row a document: its terms, how often each occurs, and the length in tokens of the whole.
#[derive(Default)]
pub struct Rows {
    pub ends: Vec<usize>,
    pub terms: Vec<u32>,
    pub times: Vec<u32>,
    pub lengths: Vec<u32>,
    /// How many of the tokens of each document are terms that were never learned.
    pub unknown: Vec<u32>,
    /// A number for each document, equal for those that have the same tokens, in any order.
    pub keys: Vec<u64>,
}

impl Rows {
    /// Read documents; `place` gives the term of each node of the lexicon.
    pub fn read(
        context: &Context,
        lexicon: &Lexicon,
        place: &[u32],
        documents: &[Document],
        threads: usize,
    ) -> Result<Self, TallyError> {
        let order: Vec<u32> = (0..documents.len() as u32).collect();
        let parts = split(documents, &order, threads);
        let read = |part: &[u32]| Self::read_part(context, (lexicon, place), documents, part);
        let mut parts = in_threads(parts, read).into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut rows = if parts.is_empty() { Self::default() } else { parts.remove(0) };
        parts.into_iter().for_each(|part| rows.append(part));
        Ok(rows)
    }

    fn read_part(
        context: &Context,
        terms: (&Lexicon, &[u32]),
        documents: &[Document],
        order: &[u32],
    ) -> Result<Self, TallyError> {
        let mut rows = Self::default();
        for_each_bag(context, terms, documents, order, |bag, nodes| {
            rows.terms.extend(&bag.terms);
            rows.times.extend(&bag.times);
            rows.ends.push(rows.terms.len());
            rows.lengths.push(nodes.len() as u32);
            rows.unknown.push(nodes.iter().filter(|&&node| node as usize >= terms.1.len()).count() as u32);
            rows.keys.push(nodes.iter().fold(0, |sum: u64, &node| sum.wrapping_add(mixed(node))));
        })?;
        Ok(rows)
    }

    fn append(&mut self, other: Self) {
        let start = self.terms.len();
        self.terms.extend(other.terms);
        self.times.extend(other.times);
        self.lengths.extend(other.lengths);
        self.unknown.extend(other.unknown);
        self.keys.extend(other.keys);
        self.ends.extend(other.ends.into_iter().map(|end| start + end));
    }

    pub fn range(&self, document: usize) -> Range<usize> {
        (if document == 0 { 0 } else { self.ends[document - 1] })..self.ends[document]
    }

    /// How many of these documents hold each of `terms` terms.
    pub fn holders(&self, documents: &[u32], terms: usize) -> Vec<u32> {
        let mut holders = vec![0; terms];
        for &document in documents {
            self.terms[self.range(document as usize)].iter().for_each(|&term| holders[term as usize] += 1);
        }
        holders
    }

    /// How many groups of these documents hold each of `terms` terms; a group's number is its own.
    pub fn group_holders(&self, documents: &[u32], groups: &[u32], terms: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..documents.len() as u32).collect();
        order.sort_by_key(|&i| groups[i as usize]);
        let mut holders = vec![0; terms];
        let mut last = vec![NONE; terms];
        for i in order {
            let group = groups[i as usize];
            for &term in &self.terms[self.range(documents[i as usize] as usize)] {
                let last = &mut last[term as usize];
                holders[term as usize] += u32::from(*last != group);
                *last = group;
            }
        }
        holders
    }

    /// How many of these documents of each class hold each term; `place` renumbers the terms.
    pub fn counts(
        &self,
        documents: &[u32],
        labels: &[u32],
        classes: usize,
        place: &[u32],
        terms: usize,
    ) -> Vec<u32> {
        let mut counts = vec![0; terms * classes];
        for (&document, &label) in documents.iter().zip(labels) {
            for &term in &self.terms[self.range(document as usize)] {
                let term = place[term as usize];
                if term != NONE {
                    counts[term as usize * classes + label as usize] += 1;
                }
            }
        }
        counts
    }
}

/// Every bit of the result depends on every bit of the number (as in SplitMix64), so that sums of it rarely meet.
fn mixed(node: u32) -> u64 {
    let number = (u64::from(node) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
impl Rows {
    /// Five documents of four terms, one of them empty.
    pub fn some() -> Self {
        Self {
            ends: vec![3, 5, 5, 9, 11],
            terms: vec![0, 1, 2, 0, 3, 0, 1, 2, 3, 1, 2],
            times: vec![1, 2, 1, 3, 1, 1, 1, 5, 1, 1, 9],
            lengths: vec![4, 4, 0, 8, 10],
            unknown: vec![0; 5],
            keys: vec![0; 5],
        }
    }
}
