//! Counts and the rows that are made of them, which change together.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use crate::analyze::located::{Part, parts};
use crate::analyze::reader::{Document, Reader};
use crate::context::{Context, Labeled};
use crate::errors::TallyError;
use crate::lexicon::bag::Bag;
use crate::lexicon::numbering::Frozen;
use crate::lexicon::{Forms, Lexicon};
use crate::score::entries::Earned;
use crate::score::making::Making;
use crate::score::rows::{Rows, UNUSED};
use crate::score::settings::{Event, Settings};
use crate::score::sums::Sums;
use crate::score::totals::{idf, log_shares};
use crate::tally::Tally;
use crate::tally::cells::Cell;
use crate::tally::counted::Counted;
use crate::tally::index::Places;
use crate::tally::watching::{Changed, Watcher};
use crate::threads::{ForEach, for_each_document, ranges};

/// Less than this is not worth another thread.
const PART_BYTES: usize = 64 << 10;

/// A tally and, once it is asked, the rows it answers by.
#[derive(Default)]
pub struct Living {
    pub tally: Tally,
    rows: Option<Rows>,
    met: Mutex<Met>,
}

/// Forms that were met in questions, as long as the lexicon has the same words: new pairs of them change no form.
#[derive(Default)]
struct Met {
    lexicon: Option<State>,
    forms: Option<Box<Forms>>,
}

/// How many words there are, and forms of two kinds. None of them ever become fewer.
type State = (usize, usize, usize);

fn state(lexicon: &Lexicon) -> State {
    let Lexicon { pairs, forms, nodes, .. } = lexicon;
    (*nodes as usize - pairs.len(), forms.ends.len(), forms.table.len())
}

/// What reading needs and a call leaves behind for the next.
#[derive(Default)]
struct Scratch {
    reader: Reader,
    bag: Bag,
    sums: Sums,
    forms: Option<Box<Forms>>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Rows may be lost in the change that they follow.
struct Following<'a>(&'a mut Option<Rows>);

impl Watcher for Following<'_> {
    fn grow(&mut self, counts: &Counted) {
        self.0.iter_mut().for_each(|rows| rows.grow(counts));
    }

    #[inline(always)]
    fn fetch(&mut self, counts: &Counted, cells: &[Cell]) {
        self.0.iter_mut().for_each(|rows| rows.fetch(counts, cells));
    }

    fn before(&mut self, counts: &Counted, class: usize, cells: &[Cell]) {
        self.0.iter_mut().for_each(|rows| rows.before(counts, class, cells));
    }

    fn after(&mut self, counts: &Counted, class: usize, cells: &[Cell]) {
        self.0.iter_mut().for_each(|rows| rows.after(counts, class, cells));
    }

    #[inline(always)]
    fn changed(&mut self, counts: &Counted, class: usize, cell: &Changed) {
        if let Some(rows) = &mut self.0 {
            rows.changed(counts, class, cell);
        }
    }

    fn lost(&mut self) {
        *self.0 = None;
    }
}

impl Living {
    pub fn new(tally: Tally) -> Self {
        Self { tally, ..Self::default() }
    }

    pub fn add(&mut self, context: &Context, learned: Labeled, threads: usize) -> Result<(), TallyError> {
        self.tally.add(context, learned, threads, &mut Following(&mut self.rows))?;
        self.refresh();
        Ok(())
    }

    pub fn subtract(&mut self, context: &Context, forgotten: Labeled) -> Result<(), TallyError> {
        self.tally.subtract(context, forgotten, &mut Following(&mut self.rows))?;
        self.refresh();
        Ok(())
    }

    pub fn merge(&mut self, other: &mut Self, map: &[u32]) -> Result<(), TallyError> {
        self.tally.merge(&mut other.tally, map, &mut Following(&mut self.rows))
    }

    fn refresh(&mut self) {
        if let (Some(rows), Some(counts)) = (&mut self.rows, self.tally.counted()) {
            rows.refresh(&counts);
        }
    }

    /// Whether scores of these classes can be given by these settings without making rows first.
    pub fn answers_by(&self, settings: &Arc<Settings>, order: &[u32]) -> bool {
        self.rows.as_ref().is_some_and(|rows| rows.order == order && Arc::ptr_eq(&rows.settings, settings))
    }

    /// Make the rows for these settings, unless they are there.
    pub fn make_ready(&mut self, settings: &Arc<Settings>, order: &[u32]) -> Result<(), TallyError> {
        if self.tally.counted().is_none() {
            let width = order.iter().map(|&class| class as usize + 1).max().unwrap_or(0);
            if settings.is_whole() {
                let (lexicon, classes) = self.tally.view();
                let mut rows = Rows::begin(settings.clone(), order.to_vec(), classes);
                let lexicon = lexicon.clone();
                self.tally.index(width, &mut Making::new(&mut rows, &lexicon));
                self.rows = Some(rows);
            } else {
                self.tally.index(width, &mut ());
            }
        }
        match &mut self.rows {
            Some(rows) if Arc::ptr_eq(&rows.settings, settings) => rows.order = order.to_vec(),
            rows => {
                self.tally.locate();
                let counts = self.tally.counted().ok_or(TallyError::Lost)?;
                *rows = Some(Rows::new(settings.clone(), order.to_vec(), &counts));
            }
        }
        self.refresh();
        Ok(())
    }

    fn ready(&self) -> Result<(&Rows, Counted<'_>), TallyError> {
        self.rows.as_ref().zip(self.tally.counted()).ok_or(TallyError::Lost)
    }

    fn n_classes(&self) -> usize {
        self.rows.as_ref().map_or(0, |rows| rows.order.len())
    }

    /// What every document gets, in the order of the classes.
    pub fn bias(&self) -> Result<Vec<f64>, TallyError> {
        let (rows, _) = self.ready()?;
        let numbers = &rows.numbers;
        let of = |&class: &u32| match numbers.always.get(class as usize) {
            Some(&always) if always > 0 => f64::NEG_INFINITY,
            _ => numbers.bias[class as usize],
        };
        Ok(rows.order.iter().map(of).collect())
    }

    /// One row of scores a document.
    pub fn score(&self, context: &Context, documents: &[Document], threads: usize) -> ForEach<f64> {
        let classes = self.n_classes();
        for_each_document(documents, classes, self.threads(documents, threads), |order, scores| {
            let mut scores = scores.chunks_exact_mut(classes.max(1));
            self.sum_up(context, documents, order, |rows, sums| {
                for (score, &class) in scores.next().into_iter().flatten().zip(&rows.order) {
                    *score = sums.score(rows, class as usize);
                }
            })
        })
    }

    /// Add the scores of one document to those of other views, if there are any yet.
    pub fn add_scores(
        &self,
        context: &Context,
        document: Document,
        joint: &mut Vec<f64>,
    ) -> Result<(), TallyError> {
        self.sum_up(context, &[document], &[0], |rows, sums| {
            joint.resize(rows.order.len(), 0.0);
            for (sum, &class) in joint.iter_mut().zip(&rows.order) {
                *sum += sums.score(rows, class as usize);
            }
        })
    }

    /// The logarithm of each class's share of the documents, in the order of the classes.
    pub fn log_prior(&self) -> Result<Vec<f64>, TallyError> {
        let (rows, _) = self.ready()?;
        let documents: Vec<f64> =
            rows.order.iter().map(|&class| rows.numbers.documents[class as usize]).collect();
        Ok(log_shares(&documents))
    }

    /// The class with the highest score and prior of each document; ties go to the first class.
    pub fn best(
        &self,
        context: &Context,
        documents: &[Document],
        prior: &[f64],
        threads: usize,
    ) -> ForEach<u32> {
        for_each_document(documents, 1, self.threads(documents, threads), |order, best| {
            let mut best = best.iter_mut();
            self.sum_up(context, documents, order, |rows, sums| {
                let mut highest = (0, f64::NEG_INFINITY);
                for ((i, &class), prior) in (0..).zip(&rows.order).zip(prior) {
                    let score = sums.score(rows, class as usize) + prior;
                    if score > highest.1 {
                        highest = (i, score);
                    }
                }
                best.next().into_iter().for_each(|best| *best = highest.0);
            })
        })
    }

    fn threads(&self, documents: &[Document], threads: usize) -> usize {
        let bytes: usize = documents.iter().map(|document| document.bytes.len() + 1).sum();
        threads.clamp(1, bytes / PART_BYTES + 1)
    }

    /// Visit what the terms of each document add up to.
    fn sum_up(
        &self,
        context: &Context,
        documents: &[Document],
        order: &[u32],
        visit: impl FnMut(&Rows, &Sums),
    ) -> Result<(), TallyError> {
        SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
            Ok(mut scratch) => self.sum_up_with(context, documents, order, &mut scratch, visit),
            // A callback asks while it is called by one who asks.
            Err(_) => self.sum_up_with(context, documents, order, &mut Scratch::default(), visit),
        })
    }

    fn sum_up_with(
        &self,
        context: &Context,
        documents: &[Document],
        order: &[u32],
        scratch: &mut Scratch,
        mut visit: impl FnMut(&Rows, &Sums),
    ) -> Result<(), TallyError> {
        let (rows, counts) = self.ready()?;
        let Scratch { reader, bag, sums, forms } = scratch;
        let apart = rows.settings.smooth && rows.settings.is_binary();
        let met = if apart { None } else { self.met(counts.lexicon) };
        let remembers = met.is_some();
        let mut numbering = Frozen::new(counts.lexicon, apart).reusing(met.unwrap_or_else(|| forms.take()));
        for range in ranges(documents, order, context.read_bytes()) {
            context.check()?;
            numbering.tidy();
            let order = &order[range];
            let first = order.first().map_or(0, |&first| first as usize);
            let batch = &documents[first..first + order.len()];
            let read = reader.read(batch, context.analysis, context.normalizer, &mut numbering);
            read.map_err(|error| TallyError::Read(error.in_document_of(order)))?;
            for i in 0..order.len() {
                sums.fill(rows, counts.index, reader.terms(i), bag);
                visit(rows, sums);
            }
        }
        if remembers {
            self.remember(numbering.remembered());
        } else {
            *forms = numbering.left();
        }
        Ok(())
    }

    /// The forms that were met in questions before, if no other thread asks with them now.
    fn met(&self, lexicon: &Lexicon) -> Option<Option<Box<Forms>>> {
        let state = state(lexicon);
        let mut met = self.met.try_lock().ok()?;
        if met.lexicon.replace(state) != Some(state) {
            met.forms = None;
        }
        Some(met.forms.take())
    }

    fn remember(&self, forms: Option<Box<Forms>>) {
        if let Ok(mut met) = self.met.try_lock() {
            met.forms = forms;
        }
    }

    /// The terms of a text, each with the weights of its term, by place in the list of rows.
    pub fn explain(&self, context: &Context, document: Document) -> Result<Explained, TallyError> {
        let (rows, counts) = self.ready()?;
        let mut numbering = Frozen::new(counts.lexicon, false);
        let parts = parts(document, context.analysis, context.normalizer, &mut numbering)
            .map_err(TallyError::Read)?;
        let mut bag = Bag::default();
        let nodes: Vec<u32> = parts.iter().map(|part| part.node).collect();
        bag.distinct(&nodes);
        let weights: Vec<Weights> = bag.terms.iter().map(|&node| rows.weights_of(&counts, node)).collect();
        let place = |node: u32| bag.terms.iter().position(|&term| term == node).unwrap_or(0);
        let places = nodes.iter().map(|&node| place(node)).collect();
        let unseen = rows.numbers.unseen.as_ref();
        let unseen = |&class: &u32| unseen.map_or(0.0, |unseen| unseen[class as usize]);
        Ok(Explained { parts, places, weights, unseen: rows.order.iter().map(unseen).collect() })
    }
}

/// A text taken apart.
pub struct Explained {
    pub parts: Vec<Part>,
    /// For each part, which of the weights are its own.
    pub places: Vec<usize>,
    pub weights: Vec<Weights>,
    /// The weights of what was never learned.
    pub unseen: Vec<f64>,
}

/// The weights of a term, in the order of the classes.
pub enum Weights {
    Known(Vec<f64>),
    Unused,
    Unknown,
}

impl Rows {
    fn weights_of(&self, counts: &Counted, node: u32) -> Weights {
        let index = counts.index;
        if node as usize >= index.nodes() {
            return Weights::Unknown;
        }
        let row = self.parts.row(index, node as usize);
        if row.start == row.end || self.parts[row.start].is_nan() {
            return Weights::Unknown;
        }
        if self.parts[row.start] == UNUSED {
            return Weights::Unused;
        }
        Weights::Known(
            self.order.iter().map(|&class| self.weight(counts, node as usize, class as usize)).collect(),
        )
    }

    /// What the classes say of a term, added up.
    fn sum_of(&self, row: Places) -> f64 {
        self.parts[row.range()].iter().sum()
    }

    fn weight(&self, counts: &Counted, node: usize, class: usize) -> f64 {
        let shift = self.parts.shift(node);
        let part = counts.index.place(node, class).map(|place| self.parts[place + shift]);
        let base = self.numbers.base[class];
        if self.settings.event == Event::Earned {
            let (Earned { weight, own }, row) = self.earned(counts.index, node);
            let own = self.settings.by_class.row(own).get(class).copied();
            let mean = self.sum_of(row) / self.order.len().max(1) as f64;
            let part = part.filter(|part| part.is_finite()).unwrap_or(0.0);
            let shared = weight.get(&self.settings) * (part - mean + base);
            return shared + f64::from(own.unwrap_or(0.0));
        }
        let tf_idf = self.settings.is_tf_idf();
        let scale =
            if tf_idf { idf(self.numbers.log_documents, self.holders_of(counts.index, node)) } else { 1.0 };
        if tf_idf && scale == 0.0 {
            return 0.0;
        }
        let all = self.offsets.get(node).copied().unwrap_or(0.0);
        let offset = if tf_idf && self.settings.event == Event::Complement {
            -(all * scale + self.settings.alpha).ln()
        } else {
            all
        };
        let (part, has) = part.map_or((0.0, false), |part| self.moving(part, all, scale, class));
        if self.settings.alpha == 0.0 && !has {
            return f64::NEG_INFINITY;
        }
        scale * (offset + base + part)
    }
}
