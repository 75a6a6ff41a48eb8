//! Scores of learned documents, each left out of the counts.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrays::{Numbers, event_of, floats, numbers_of};
use super::documents::Documents;
use super::rows::{PyRows, fits, placed};
use super::tally::PyTally;
use crate::lexicon::bag::NONE;
use crate::tune::leave_one_out::{Facts, LeaveOneOut};
use crate::tune::shared::{self, ByTerm, Cells, Kinds, Learned};

/// One view: rows, places, ends, classes and documents of the cells of each term, its steps, and the smoothing.
type KindArrays<'py> = (
    Py<PyRows>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u8>,
    f64,
);

type CellArrays<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Documents x steps x classes: what the terms of each step say of documents left out of the counts.
#[pyfunction]
#[pyo3(signature = (views, documents, labels, groups, shape, threads))]
pub fn shared_scores<'py>(
    py: Python<'py>,
    views: Vec<KindArrays<'py>>,
    documents: PyReadonlyArray1<'py, u32>,
    labels: PyReadonlyArray1<'py, u32>,
    groups: PyReadonlyArray1<'py, u32>,
    shape: (usize, usize),
    threads: usize,
) -> PyResult<Bound<'py, PyArray3<f32>>> {
    let (documents, labels, groups) = (documents.as_slice()?, labels.as_slice()?, groups.as_slice()?);
    let (steps, classes) = shape;
    fits(documents.len() == labels.len() && (groups.is_empty() || groups.len() == documents.len()))?;
    fits(labels.iter().all(|&label| (label as usize) < classes))?;
    let mut kinds = Vec::new();
    for (rows, place, ends, class, held, own, alpha) in &views {
        let rows = rows.get();
        rows.check(documents)?;
        let (place, own) = (place.as_slice()?, own.as_slice()?);
        let cells = Cells { ends: ends.as_slice()?, class: class.as_slice()?, documents: held.as_slice()? };
        fits(place.len() == rows.terms && cells.ends.len() == own.len() && cells.ends.is_sorted())?;
        fits(cells.ends.last().copied().unwrap_or(0) as usize == cells.class.len())?;
        fits(cells.class.len() == cells.documents.len())?;
        fits(cells.class.iter().all(|&class| (class as usize) < classes))?;
        fits(own.iter().all(|&step| (step as usize) < steps))?;
        fits(place.iter().all(|&term| term == NONE || (term as usize) < own.len()))?;
        kinds.push(Kinds { rows: &rows.rows, place, cells, steps: own, alpha: *alpha });
    }
    let learned = Learned { documents, labels, groups };
    let scores = py.detach(|| shared::shared_scores(&kinds, learned, steps, classes, threads))?;
    scores.into_pyarray(py).reshape([documents.len(), steps, classes])
}

/// The cells of some terms, term by term: where those of each end, their classes, their documents.
#[pyfunction]
#[pyo3(signature = (term, class_ends, documents, place, terms))]
pub fn cells_by_term<'py>(
    py: Python<'py>,
    term: PyReadonlyArray1<'py, u32>,
    class_ends: PyReadonlyArray1<'py, u64>,
    documents: PyReadonlyArray1<'py, u32>,
    place: PyReadonlyArray1<'py, u32>,
    terms: usize,
) -> PyResult<CellArrays<'py>> {
    let (term, ends) = (term.as_slice()?, class_ends.as_slice()?);
    let (documents, place) = (documents.as_slice()?, place.as_slice()?);
    fits(term.len() == documents.len() && ends.is_sorted())?;
    fits(ends.last().copied().unwrap_or(0) as usize == term.len())?;
    fits(term.iter().all(|&term| (term as usize) < place.len()))?;
    fits(place.iter().all(|&place| place == NONE || (place as usize) < terms))?;
    let found = py.detach(|| ByTerm::new(term, ends, documents, place, terms));
    let ByTerm { ends, class, documents } = found;
    Ok((ends.into_pyarray(py), class.into_pyarray(py), documents.into_pyarray(py)))
}

/// The scores of learned documents, each left out of the counts.
#[pyfunction]
#[pyo3(signature = (tally, documents, nodes, labels, facts, threads))]
pub fn leave_one_out<'py>(
    py: Python<'py>,
    tally: &PyTally,
    documents: Documents,
    nodes: PyReadonlyArray1<'py, u32>,
    labels: PyReadonlyArray1<'py, u32>,
    facts: &Bound<'py, PyDict>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let lexicon = tally.lexicon(py)?;
    let (nodes, labels) = (nodes.as_slice()?, labels.as_slice()?);
    let place = placed(&lexicon, nodes)?;
    let arrays = FactArrays::of(facts)?;
    let facts = arrays.facts(facts, nodes.len())?;
    let classes = facts.classes;
    fits(documents.len() == labels.len() && labels.iter().all(|&label| (label as usize) < classes))?;
    let shape = [documents.len(), classes];
    let documents = documents.get();
    let scores = tally.analyzer.get().run(py, |context| {
        LeaveOneOut::new(facts).score(context, (&*lexicon, &place), &documents, labels, threads)
    })?;
    scores.into_pyarray(py).reshape(shape)
}

/// The arrays of cells, which are used where they lie.
struct FactArrays<'py> {
    class_ends: Numbers<'py>,
    term: Numbers<'py>,
    documents: Numbers<'py>,
    mass: PyReadonlyArray1<'py, f64>,
}

impl<'py> FactArrays<'py> {
    fn of(facts: &Bound<'py, PyDict>) -> PyResult<Self> {
        Ok(Self {
            class_ends: numbers_of(facts, "class_ends")?,
            term: numbers_of(facts, "term")?,
            documents: numbers_of(facts, "documents")?,
            mass: floats(facts, "mass")?,
        })
    }

    fn facts(&self, facts: &Bound<'py, PyDict>, terms: usize) -> PyResult<Facts<'_>> {
        let (event, frequency) = event_of(facts)?;
        let class_documents: Vec<f64> = floats(facts, "class_documents")?.to_vec()?;
        let facts = Facts {
            event,
            frequency,
            alpha: facts.as_any().get_item("alpha")?.extract()?,
            smooth: facts.as_any().get_item("smooth")?.extract()?,
            all_terms: facts.as_any().get_item("all_terms")?.extract()?,
            classes: class_documents.len(),
            terms,
            class_ends: self.class_ends.narrow("class_ends")?,
            term: self.term.narrow("term")?,
            documents: self.documents.narrow("documents")?,
            mass: self.mass.as_slice()?.into(),
            class_documents,
        };
        let cells = facts.term.len();
        fits(facts.documents.len() == cells && facts.mass.len() == cells)?;
        fits(facts.class_ends.len() == facts.classes && facts.class_ends.is_sorted())?;
        fits(facts.class_ends.last().is_none_or(|&end| end as usize == cells))?;
        fits(facts.term.iter().all(|&term| (term as usize) < terms))?;
        Ok(facts)
    }
}
