//! (term, class) to integers: add, subtract, merge. Documents are counted class by class in one row of
//! accumulators; each class keeps its nonzero cells, so that memory follows what was seen.

pub mod bags;
pub mod blocks;
pub mod cells;
mod changing;
mod common;
pub mod counted;
pub mod division;
pub mod export;
pub mod index;
pub mod matrix;
pub mod replay;
pub mod restore;
pub mod sum;
mod touched;
pub mod watching;

use crate::context::{Context, Labeled};
use crate::errors::TallyError;
use std::sync::Arc;

use crate::analyze::reader::Reader;
use crate::lexicon::Lexicon;
use crate::lexicon::form_table::Key;
use crate::tally::cells::{ClassCounts, Counter, Delta, MOST_OCCURRENCES, most};
use crate::tally::common::{Common, lacking};
use crate::tally::index::Index;
use crate::tally::watching::Watcher;
use crate::threads::{in_threads, ranges, split};

/// One thread's share of the work: its own lexicon and counts, which are merged when they are read.
#[derive(Default)]
struct Shard {
    lexicon: Arc<Lexicon>,
    reader: Reader,
    counter: Counter,
    classes: Vec<ClassCounts>,
}

/// Less than this is not worth another thread.
const PART_BYTES: usize = 256 << 10;
impl Shard {
    /// Count the documents that `order` names, which are sorted by class.
    fn count(
        &mut self,
        context: &Context,
        learned: Labeled,
        order: &[u32],
    ) -> Result<Vec<Delta>, TallyError> {
        let counted = self.try_count(context, learned, order);
        if counted.is_err() {
            self.counter.clear();
        }
        counted
    }

    fn try_count(
        &mut self,
        context: &Context,
        Labeled { documents, classes }: Labeled,
        order: &[u32],
    ) -> Result<Vec<Delta>, TallyError> {
        let lexicon = Arc::make_mut(&mut self.lexicon);
        self.counter.start(order.iter().map(|&document| documents[document as usize].bytes.len()).sum());
        let mut deltas = Vec::new();
        let mut current = order.first().map(|&first| classes[first as usize]);
        let mut batch = Vec::new();
        for range in ranges(documents, order, context.read_bytes()) {
            context.check()?;
            batch.clear();
            batch.extend(order[range.clone()].iter().map(|&document| documents[document as usize]));
            let read = self.reader.read(&batch, context.analysis, context.normalizer, lexicon);
            read.map_err(|error| TallyError::Read(error.in_document_of(&order[range.clone()])))?;
            self.counter.grow(lexicon.nodes as usize);
            for (i, &document) in order[range].iter().enumerate() {
                let class = classes[document as usize];
                if current != Some(class) {
                    deltas.extend(current.map(|class| self.counter.delta(class)));
                    current = Some(class);
                }
                self.counter.count(self.reader.terms(i));
            }
        }
        deltas.extend(current.map(|class| self.counter.delta(class)));
        Ok(deltas)
    }

    fn apply(&mut self, deltas: Vec<Delta>) {
        for delta in deltas {
            if self.classes.len() <= delta.class {
                self.classes.resize_with(delta.class + 1, ClassCounts::default);
            }
            let Delta { class, documents, cells } = delta.sorted();
            self.classes[class].add(documents, cells);
        }
    }
}

/// How to get the counts by class that were kept elsewhere.
pub type LazyCounts = Box<dyn FnOnce() -> Vec<ClassCounts> + Send + Sync>;

/// Integer counts of terms in classes.
#[derive(Default)]
pub struct Tally {
    shards: Vec<Shard>,
    /// Where the cells of each term lie, once the model is asked or changed document by document.
    index: Option<Index>,
    /// What is known of the terms of each class as long as there is an index.
    common: Common,
    /// Counts not read from the file yet.
    lazy: Option<LazyCounts>,
    /// How often the counts were changed: tells after an interrupt whether they were.
    pub changes: u64,
}

impl Tally {
    pub fn add(
        &mut self,
        context: &Context,
        learned: Labeled,
        threads: usize,
        watcher: &mut impl Watcher,
    ) -> Result<(), TallyError> {
        self.read_counts();
        let (documents, order) = (learned.documents, learned.by_class());
        self.check_room(learned.classes, &order)?;
        let total: usize = documents.iter().map(|document| document.bytes.len() + 1).sum();
        let parts = split(documents, &order, threads.clamp(1, total / PART_BYTES + 1));
        if self.shards.len() < parts.len().max(1) {
            self.shards.resize_with(parts.len().max(1), Shard::default);
        }
        let work = |(shard, part): (&mut Shard, &&[u32])| shard.count(context, learned, part);
        let deltas = in_threads(self.shards.iter_mut().zip(&parts), work);
        let deltas = deltas.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.check_occurrences(&deltas)?;
        if deltas.len() == 1 && self.can_change(&deltas[0]) {
            for delta in deltas.into_iter().flatten() {
                self.add_in_place(&delta, watcher);
                self.shards[0].counter.reuse(delta.cells);
            }
            self.changes += 1;
            return Ok(());
        }
        self.lose_index(watcher);
        for (shard, deltas) in self.shards.iter_mut().zip(deltas) {
            shard.apply(deltas);
        }
        self.changes += 1;
        Ok(())
    }

    fn check_room(&self, classes: &[u32], order: &[u32]) -> Result<(), TallyError> {
        for group in order.chunk_by(|&a, &b| classes[a as usize] == classes[b as usize]) {
            let class = classes[group[0] as usize] as usize;
            let counts = self.shards.iter().filter_map(|shard| shard.classes.get(class));
            let learned: u64 = counts.map(|counts| counts.documents).sum();
            if learned + group.len() as u64 > u64::from(u32::MAX) {
                return Err(TallyError::TooManyDocuments { class });
            }
        }
        Ok(())
    }

    pub fn subtract(
        &mut self,
        context: &Context,
        forgotten: Labeled,
        watcher: &mut impl Watcher,
    ) -> Result<(), TallyError> {
        let order = forgotten.by_class();
        let shard = self.settled();
        let deltas = shard.count(context, forgotten, &order)?;
        if self.can_change(&deltas) {
            deltas.iter().try_for_each(|delta| self.check_indexed(delta))?;
            for delta in deltas {
                self.take_in_place(&delta, watcher);
                self.shards[0].counter.reuse(delta.cells);
            }
            self.changes += 1;
            return Ok(());
        }
        self.lose_index(watcher);
        let shard = self.settled();
        let deltas: Vec<Delta> = deltas.into_iter().map(Delta::sorted).collect();
        for delta in &deltas {
            shard.check(delta)?;
        }
        for delta in deltas {
            shard.remove(delta);
        }
        self.changes += 1;
        Ok(())
    }

    /// Add the counts of another tally; its class i is `map[i]` here.
    pub fn merge(
        &mut self,
        other: &mut Tally,
        map: &[u32],
        watcher: &mut impl Watcher,
    ) -> Result<(), TallyError> {
        self.check_merge(other, map)?;
        self.lose_index(watcher);
        let shard = self.settled();
        let Some(from) = other.shards.first() else { return Ok(()) };
        shard.absorb(&from.lexicon, from.classes.clone(), map);
        self.changes += 1;
        Ok(())
    }

    /// Whether the counts of another tally can be added, and written to a file after that.
    pub fn check_merge(&mut self, other: &mut Tally, map: &[u32]) -> Result<(), TallyError> {
        other.settled();
        let shard = self.settled();
        let Some(from) = other.shards.first_mut() else { return Ok(()) };
        for (class, counts) in from.classes.iter_mut().enumerate() {
            let here = map[class] as usize;
            let ours = shard.classes.get_mut(here);
            let learned = ours.as_ref().map_or(0, |counts| counts.documents);
            if learned + counts.documents > u64::from(u32::MAX) {
                return Err(TallyError::TooManyDocuments { class: here });
            }
            let more = counts.most_occurrences();
            if ours.is_some_and(|ours| ours.would_overflow(more)) {
                return Err(TallyError::TooManyOccurrences { class: here });
            }
        }
        Ok(())
    }

    /// No term may occur more often than a file can say; the most frequent terms are taken for the same.
    fn check_occurrences(&mut self, deltas: &[Vec<Delta>]) -> Result<(), TallyError> {
        let classes = deltas.iter().flatten().map(|delta| delta.class + 1).max().unwrap_or(0);
        let mut more = vec![0; classes];
        deltas.iter().flatten().for_each(|delta| more[delta.class] += most(&delta.cells));
        for (class, more) in more.into_iter().enumerate().filter(|&(_, more)| more > 0) {
            let others = self.shards.iter().skip(1).filter_map(|shard| shard.classes.get(class));
            let others: u64 = others.map(|counts| counts.bound).sum();
            let first = self.shards.first_mut().and_then(|shard| shard.classes.get_mut(class));
            let full = match first {
                Some(first) => first.would_overflow(more + others),
                None => more + others >= MOST_OCCURRENCES,
            };
            if full {
                return Err(TallyError::TooManyOccurrences { class });
            }
        }
        Ok(())
    }

    /// All counts in one shard; the others keep only their lexicon, so that they need not learn words again.
    fn settled(&mut self) -> &mut Shard {
        self.read_counts();
        if self.shards.is_empty() {
            self.shards.push(Shard::default());
        }
        let (first, others) = self.shards.split_at_mut(1);
        for other in others {
            let classes = std::mem::take(&mut other.classes);
            if !classes.is_empty() {
                let map: Vec<u32> = (0..classes.len() as u32).collect();
                first[0].absorb(&other.lexicon, classes, &map);
            }
        }
        &mut first[0]
    }

    /// The lexicon and the counts by class, all in one place.
    pub fn view(&mut self) -> (&Arc<Lexicon>, &mut [ClassCounts]) {
        let shard = self.settled();
        (&shard.lexicon, &mut shard.classes)
    }

    /// Where terms stand; asking does not need the counts.
    pub fn lexicon(&mut self) -> &Arc<Lexicon> {
        if self.lazy.is_some() { &self.shards[0].lexicon } else { &self.settled().lexicon }
    }

    /// A tally whose counts are fetched when they are first needed: a model that only answers never needs them.
    pub fn restored(lexicon: Lexicon, lazy: LazyCounts) -> Self {
        let shard = Shard { lexicon: Arc::new(lexicon), ..Shard::default() };
        Self { shards: vec![shard], lazy: Some(lazy), ..Self::default() }
    }

    fn read_counts(&mut self) {
        if let Some(read) = self.lazy.take() {
            self.shards[0].classes = read();
        }
    }
}

impl Shard {
    fn check(&mut self, delta: &Delta) -> Result<(), TallyError> {
        let class = delta.class;
        let Some(counts) = self.classes.get_mut(class).filter(|counts| counts.documents >= delta.documents)
        else {
            return Err(TallyError::NotLearned { term: None, class });
        };
        let left = counts.documents - delta.documents;
        let mut have = counts.cells().iter().peekable();
        for less in &delta.cells {
            while have.next_if(|cell| cell.term < less.term).is_some() {}
            let left = have.next_if(|cell| cell.term == less.term).and_then(|cell| cell.minus(less));
            if left.is_none() {
                let term = Some(self.lexicon.text(less.term));
                return Err(TallyError::NotLearned { term, class });
            }
        }
        match lacking(counts.cells(), &delta.cells, left) {
            Some(term) => Err(TallyError::Lacking { term: self.lexicon.text(term), class }),
            None => Ok(()),
        }
    }

    fn remove(&mut self, delta: Delta) {
        let counts = &mut self.classes[delta.class];
        counts.documents -= delta.documents;
        let mut less = delta.cells.iter().peekable();
        counts.cells().retain_mut(|cell| {
            if let Some(less) = less.next_if(|less| less.term == cell.term) {
                *cell = cell.minus(less).unwrap_or_default();
            }
            cell.documents > 0
        });
    }

    fn absorb(&mut self, lexicon: &Lexicon, classes: Vec<ClassCounts>, map: &[u32]) {
        if self.classes.is_empty() && self.lexicon.nodes == 0 {
            self.lexicon = Arc::new(lexicon.clone());
        }
        let mut classes = classes;
        let nodes = self.adopt(lexicon, &mut classes);
        let deltas = classes.into_iter().zip(map).map(|(mut counts, &class)| {
            let mut cells = std::mem::take(counts.cells());
            cells.iter_mut().for_each(|cell| cell.term = nodes[cell.term as usize]);
            cells.sort_unstable_by_key(|cell| cell.term);
            Delta { class: class as usize, documents: counts.documents, cells }
        });
        let deltas = deltas.collect();
        self.apply(deltas);
    }

    /// Take over the terms that are counted; for each of the other's nodes, its number here.
    fn adopt(&mut self, other: &Lexicon, classes: &mut [ClassCounts]) -> Vec<u32> {
        let live =
            other.live(classes.iter_mut().flat_map(|counts| counts.cells().iter().map(|cell| cell.term)));
        let here = Arc::make_mut(&mut self.lexicon);
        let mut nodes = vec![0; other.nodes as usize];
        other.forms.table.for_each(|bytes, node| {
            if live[node as usize] {
                nodes[node as usize] = here.term(&Key::of(bytes), || bytes);
            }
        });
        for (node, pair) in other.pairs_by_node().into_iter().enumerate() {
            if let (Some((left, right)), true) = (pair, live[node]) {
                nodes[node] = here.pair(nodes[left as usize], nodes[right as usize]);
            }
        }
        nodes
    }
}

impl Lexicon {
    /// Which nodes are terms with a count, or part of one.
    pub fn live(&self, counted: impl Iterator<Item = u32>) -> Vec<bool> {
        let mut live = vec![false; self.nodes as usize];
        counted.for_each(|node| live[node as usize] = true);
        for (node, pair) in self.pairs_by_node().into_iter().enumerate().rev() {
            if let (Some((left, right)), true) = (pair, live[node]) {
                live[left as usize] = true;
                live[right as usize] = true;
            }
        }
        live
    }

    /// A node in words, for messages.
    pub fn text(&self, node: u32) -> String {
        let mut words = Vec::new();
        let mut first = node;
        while let Some((left, right, _)) = self.pairs.iter().find(|&(_, _, value)| value == first) {
            words.push(self.word(right));
            first = left;
        }
        words.push(self.word(first));
        words.reverse();
        words.join(" ")
    }

    fn word(&self, node: u32) -> String {
        let mut text = "_".to_owned();
        self.forms.table.for_each(|bytes, value| {
            if value == node && !bytes.is_empty() {
                text = String::from_utf8_lossy(bytes).into_owned();
            }
        });
        text
    }
}
