//! A model file that is asked without being loaded, and the functions that both ways of answering share.

use std::path::PathBuf;
use std::sync::Mutex;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict};

use super::analyzer::{Analyzer, lock};
use super::tally::PyTally;
use crate::analyze::reader::Document;
use crate::quick::QuickError;
use crate::quick::answer::View;
use crate::quick::blocks::Array;
use crate::quick::checksum::of_blocks;
use crate::quick::columns::Columns;
use crate::quick::journal::{Journal, ViewFacts};
use crate::quick::model::{Model, Opened, entry, left, sum_of};
use crate::quick::overlay::Overlay;
use crate::quick::posterior::log_softmax;
use crate::score::settings::{Event, Frequency, Settings};
use crate::score::totals::log_shares as shares;
use crate::tally::cells::Delta;
use crate::tally::replay::ReplayError;

impl From<QuickError> for PyErr {
    fn from(error: QuickError) -> Self {
        match error {
            QuickError::Io(error) => error.into(),
            QuickError::Damaged(what) => PyValueError::new_err(what),
            QuickError::Tally(error) => error.into(),
        }
    }
}

/// Where an array begins, how many numbers it has, and of how many bytes each.
type Place = (usize, usize, usize);
/// Whether documents are learned or forgotten, as which class, and of each view the texts.
type Part = (bool, usize, Vec<Vec<PyBackedStr>>);

/// Views, and the documents of each class.
struct Ready {
    model: Model,
    views: Vec<(Py<Analyzer>, View)>,
    documents: Vec<u64>,
}

#[pyclass(frozen, module = "bayleaf._core", name = "QuickModel")]
pub struct PyQuickModel {
    path: PathBuf,
    header: Py<PyBytes>,
    opened: Mutex<Option<Opened>>,
    ready: Mutex<Option<Ready>>,
}

fn not_ready() -> PyErr {
    PyValueError::new_err("The file was not verified yet.")
}

#[pymethods]
impl PyQuickModel {
    /// Open a file and read its header.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = Opened::open(&path)?;
        let header = PyBytes::new(py, &opened.header).unbind();
        Ok(Self { path, header, opened: Mutex::new(Some(opened)), ready: Mutex::default() })
    }

    #[getter]
    fn header(&self, py: Python<'_>) -> Py<PyBytes> {
        self.header.clone_ref(py)
    }

    /// Verify the header, and read the changes behind `length` bytes of counts.
    #[pyo3(signature = (length, documents, views))]
    fn verify(
        &self,
        py: Python<'_>,
        length: usize,
        documents: Vec<u64>,
        views: Vec<Py<PyDict>>,
    ) -> PyResult<()> {
        let opened = lock(&self.opened).take().ok_or_else(not_ready)?;
        let model = opened.verified(length, views.len(), documents.len())?;
        let mut found = Vec::with_capacity(views.len());
        for (i, view) in views.iter().enumerate() {
            let (analyzer, mut made) = view_of(view.bind(py), &model.journal, i)?;
            if let Some(last) = model.journal.entries.last() {
                made.facts = last.views[i].clone();
            }
            if made.facts.masses.len() != documents.len() || made.columns.classes() != documents.len() {
                return Err(PyValueError::new_err("its classes differ in number"));
            }
            found.push((analyzer, made));
        }
        let documents = model.journal.entries.last().map_or(documents, |last| last.documents.clone());
        *lock(&self.ready) = Some(Ready { model, views: found, documents });
        Ok(())
    }

    /// The log likelihoods of one document, of which each view reads one of the texts, summed and times `temperature`,
    /// and the prior.
    fn log_joint(
        &self,
        py: Python<'_>,
        texts: Vec<PyBackedStr>,
        temperature: f64,
        log_prior: Vec<f64>,
    ) -> PyResult<Vec<f64>> {
        let mut ready = lock(&self.ready);
        let Ready { model, views, documents } = ready.as_mut().ok_or_else(not_ready)?;
        let mut joint: Option<Vec<f64>> = None;
        for ((analyzer, view), text) in views.iter().zip(&texts) {
            let document = Document { bytes: text.as_bytes(), trusted: true };
            let scores = analyzer
                .get()
                .run(py, |context| Ok(view.score(&mut model.blocks, context, documents, document)))??;
            joint = Some(match joint {
                None => scores,
                Some(before) => before.iter().zip(scores).map(|(sum, score)| sum + score).collect(),
            });
        }
        let scaled = |score: f64| if temperature == 1.0 { score } else { score * temperature };
        let joint = joint.unwrap_or_default().into_iter().zip(log_prior);
        Ok(joint.map(|(score, prior)| scaled(score) + prior).collect())
    }

    /// How many documents each class has, how many terms all views have, how often those occur, and of how many bytes
    /// the changes are.
    fn facts(&self) -> PyResult<(Vec<u64>, u64, u64, usize)> {
        let ready = lock(&self.ready);
        let ready = ready.as_ref().ok_or_else(not_ready)?;
        let sum = |of: fn(&ViewFacts) -> u64| ready.views.iter().map(|(_, view)| of(&view.facts)).sum();
        Ok((
            ready.documents.clone(),
            sum(|facts| facts.terms),
            sum(|facts| facts.occurrences),
            ready.model.behind(),
        ))
    }

    /// The number for what was learned and forgotten since the model was tuned, if changes have one.
    #[getter]
    fn drift(&self) -> PyResult<Option<String>> {
        let ready = lock(&self.ready);
        let journal = &ready.as_ref().ok_or_else(not_ready)?.model.journal;
        Ok(journal.entries.last().map(|entry| entry.drift.clone()))
    }

    /// Learn and forget documents, and write that behind the file. False if it takes the whole model, or must be
    /// refused: then nothing was written.
    fn append(&self, py: Python<'_>, parts: Vec<Part>, drift: String) -> PyResult<bool> {
        let mut ready = lock(&self.ready);
        let Ready { model, views, documents } = ready.as_mut().ok_or_else(not_ready)?;
        let count = |texts: &[Vec<PyBackedStr>]| texts.first().map_or(0, Vec::len);
        let counts: Vec<_> =
            parts.iter().map(|(added, class, texts)| (*added, *class, count(texts))).collect();
        let Some(left) = left(&counts, documents) else { return Ok(false) };
        let mut changed = Vec::with_capacity(views.len());
        for (i, (analyzer, view)) in views.iter().enumerate() {
            let parts: Vec<_> =
                parts.iter().map(|(added, class, texts)| (*added, *class, trusted(&texts[i]))).collect();
            let made = analyzer
                .get()
                .run(py, |context| Ok(view.change(&mut model.blocks, context, &left, &parts)))??;
            let Some(made) = made else { return Ok(false) };
            changed.push(made);
        }
        let entry = entry(&counts, changed, left, drift);
        model.append(&self.path, &entry)?;
        *lock(&self.opened) = None;
        *documents = entry.documents;
        views.iter_mut().zip(entry.views).for_each(|((_, view), facts)| view.facts = facts);
        Ok(true)
    }
}

/// Texts of Python, which nobody can change, as documents.
fn trusted(texts: &[PyBackedStr]) -> Vec<Document<'_>> {
    texts.iter().map(|text| Document { bytes: text.as_bytes(), trusted: true }).collect()
}

fn view_of(view: &Bound<'_, PyDict>, journal: &Journal, i: usize) -> PyResult<(Py<Analyzer>, View)> {
    let item = |name: &str| view.as_any().get_item(name);
    let columns = columns_of(&item("arrays")?)?;
    columns.check()?;
    let event =
        if item("event")?.extract::<String>()? == "earned" { Event::Earned } else { Event::Multinomial };
    let binary = item("tf")?.extract::<String>()? == "binary";
    let settings = Settings {
        event,
        frequency: if binary { Frequency::Binary } else { Frequency::Count },
        alpha: item("alpha")?.extract()?,
        smooth: item("smooth")?.extract()?,
        least: item("least")?.extract()?,
        most: item("most")?.extract::<Option<u64>>()?.unwrap_or(u64::MAX),
        dropped: Vec::new(),
        weights: Vec::new(),
        groups: item("groups")?.extract()?,
        shortest: item("shortest")?.extract()?,
        by_class: Default::default(),
    };
    let facts = ViewFacts {
        masses: item("masses")?.extract()?,
        used: item("used")?.extract()?,
        terms: item("terms")?.extract()?,
        occurrences: item("occurrences")?.extract()?,
    };
    let overlay = Overlay::new(journal, i, columns.nodes());
    Ok((item("analyzer")?.extract()?, View { columns, settings, facts, overlay }))
}

fn columns_of(arrays: &Bound<'_, PyAny>) -> PyResult<Columns> {
    let find = |name: &str| -> PyResult<Array> {
        let (begin, count, width): Place = arrays.get_item(name)?.extract()?;
        Ok(Array { begin, count, width })
    };
    let maybe = |name: &str| arrays.contains(name)?.then(|| find(name)).transpose();
    Ok(Columns {
        words: find("words")?,
        word_ends: find("word_ends")?,
        pairs: find("pairs")?,
        terms: find("terms")?,
        class_documents: find("class_documents")?,
        class_ends: find("class_ends")?,
        term: find("term")?,
        documents: find("documents")?,
        occurrences: find("occurrences")?,
        shares_whole: find("shares_whole")?,
        shares_part: find("shares_part")?,
        weights: maybe("weights")?,
        class_terms: maybe("class_terms")?,
        class_weights: maybe("class_weights")?,
    })
}

/// The changes behind a file.
#[pyclass(frozen, module = "bayleaf._core", name = "Journal")]
pub struct PyJournal {
    journal: Journal,
}

#[pymethods]
impl PyJournal {
    #[new]
    fn new(behind: &[u8], seed: u32, views: usize, classes: usize) -> PyResult<Self> {
        Ok(Self { journal: Journal::read(behind, seed, views, classes)? })
    }

    fn __len__(&self) -> usize {
        self.journal.entries.len()
    }

    /// How many documents each class has, and the number for what was learned and forgotten since tuning.
    fn facts(&self) -> Option<(Vec<u64>, String)> {
        let last = self.journal.entries.last();
        last.map(|last| (last.documents.clone(), last.drift.clone()))
    }

    /// Put the changes of a view into the tally that its counts were restored to.
    fn replay(&self, py: Python<'_>, view: usize, tally: &PyTally) -> PyResult<()> {
        for entry in &self.journal.entries {
            let new = entry.new.get(view).ok_or_else(|| PyValueError::new_err("There is no such view."))?;
            let delta = |part: &crate::quick::journal::Part| {
                let cells = part.cells[view].clone();
                (part.added, Delta { class: part.class, documents: part.documents, cells })
            };
            let deltas: Vec<_> = entry.parts.iter().map(delta).collect();
            let replayed =
                py.detach(|| tally.living.with(|living| Ok(living.tally.replay(new, deltas, &mut ()))))?;
            replayed.map_err(|error| match error {
                ReplayError::Damaged(error) => PyErr::from(error),
                ReplayError::Tally(error) => PyErr::from(error),
            })?;
        }
        let last = self.journal.entries.last().map(|last| last.documents.clone());
        let agree = |documents: &[u64]| last.as_ref().is_none_or(|last| last == documents);
        let counted = py.detach(|| {
            tally.living.with(|living| {
                Ok(living.tally.view().1.iter().map(|class| class.documents).collect::<Vec<_>>())
            })
        })?;
        if agree(&counted) {
            Ok(())
        } else {
            Err(PyValueError::new_err("the views have counted different documents"))
        }
    }
}

/// The checksums of the blocks of pieces that stand one behind the other.
#[pyfunction]
pub fn block_checksums<'py>(
    py: Python<'py>,
    pieces: Vec<PyReadonlyArray1<'py, u8>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let slices = pieces.iter().map(|piece| piece.as_slice()).collect::<Result<Vec<_>, _>>()?;
    Ok(PyBytes::new(py, &py.detach(|| of_blocks(&slices))))
}

/// The checksum of a header, whatever it says of that itself, and of the checksums of the blocks.
#[pyfunction]
pub fn header_checksum(header: &[u8], sums: &[u8]) -> u32 {
    sum_of(header, sums)
}

/// Scores as log probabilities, row by row.
#[pyfunction(name = "log_softmax")]
pub fn py_log_softmax<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let classes = scores.as_array().ncols();
    let shape = [scores.as_array().nrows(), classes];
    let mut rows = scores.as_slice()?.to_vec();
    rows.chunks_exact_mut(classes.max(1)).for_each(log_softmax);
    rows.into_pyarray(py).reshape(shape)
}

/// Log probabilities of one document, of scores.
#[pyfunction]
pub fn log_posterior_of_one(scores: Vec<f64>) -> Vec<f64> {
    let mut scores = scores;
    log_softmax(&mut scores);
    scores
}

/// Powers of e, one by one.
#[pyfunction]
pub fn exponentials<'py>(
    py: Python<'py>,
    logs: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let powers: Vec<f64> = logs.as_slice()?.iter().map(|log| log.exp()).collect();
    Ok(powers.into_pyarray(py))
}

/// Powers of e, one by one, of a list.
#[pyfunction]
pub fn powers(logs: Vec<f64>) -> Vec<f64> {
    logs.into_iter().map(f64::exp).collect()
}

/// The logarithm of each value's share of all.
#[pyfunction]
pub fn log_shares(py: Python<'_>, values: Vec<f64>) -> Bound<'_, PyArray1<f64>> {
    shares(&values).into_pyarray(py)
}

/// Natural logarithms, one by one.
#[pyfunction]
pub fn logs(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().map(f64::ln).collect()
}
