//! Rows of documents, features and earned weights, as Python sees them.

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArray3,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrays::{event_of, floats, numbers_of};
use super::documents::Documents;
use super::tally::PyTally;
use crate::errors::TallyError;
use crate::lexicon::Lexicon;
use crate::lexicon::bag::NONE;
use crate::memory::check_room;
use crate::tally::bags::Rows;
use crate::tune::by_class::ByClass;
use crate::tune::features::{Beside, Features, TuneError};
use crate::tune::leave_one_out::{Facts, LeaveOneOut};
use crate::tune::shared::{self, Cells, Kinds, Learned};
use crate::tune::together::Counted;

impl From<TuneError> for PyErr {
    fn from(error: TuneError) -> Self {
        PyValueError::new_err(error.to_string())
    }
}

fn placed(lexicon: &Lexicon, nodes: &[u32]) -> PyResult<Vec<u32>> {
    let mut place = vec![NONE; lexicon.nodes as usize];
    for (term, &node) in nodes.iter().enumerate() {
        match place.get_mut(node as usize) {
            Some(place) => *place = term as u32,
            None => return Err(PyValueError::new_err("The nodes are not those of this tally.")),
        }
    }
    Ok(place)
}

fn fits(holds: bool) -> PyResult<()> {
    if holds { Ok(()) } else { Err(PyValueError::new_err("The arrays do not fit each other.")) }
}

#[pyclass(frozen, module = "bayleaf._core", name = "Rows")]
pub struct PyRows {
    rows: Rows,
    terms: usize,
}

impl PyRows {
    fn check(&self, documents: &[u32]) -> PyResult<()> {
        fits(documents.iter().all(|&document| (document as usize) < self.rows.ends.len()))
    }
}

#[pymethods]
impl PyRows {
    #[staticmethod]
    fn read(
        py: Python<'_>,
        tally: &PyTally,
        documents: Documents,
        nodes: PyReadonlyArray1<'_, u32>,
        threads: usize,
    ) -> PyResult<Self> {
        let lexicon = tally.lexicon(py)?;
        let nodes = nodes.as_slice()?;
        let place = placed(&lexicon, nodes)?;
        let documents = documents.get();
        let analyzer = tally.analyzer.get();
        let rows = analyzer.run(py, |context| Rows::read(context, &lexicon, &place, &documents, threads))?;
        Ok(Self { rows, terms: nodes.len() })
    }

    #[getter]
    fn nonzeros(&self) -> usize {
        self.rows.terms.len()
    }

    #[getter]
    fn lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.rows.lengths.clone().into_pyarray(py)
    }

    #[getter]
    fn unknown<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.rows.unknown.clone().into_pyarray(py)
    }

    fn arrays<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>) {
        let ends: Vec<u64> = self.rows.ends.iter().map(|&end| end as u64).collect();
        let (terms, times) = (self.rows.terms.clone(), self.rows.times.clone());
        (
            ends.into_pyarray(py).into_any(),
            terms.into_pyarray(py).into_any(),
            times.into_pyarray(py).into_any(),
        )
    }

    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.rows.keys.clone().into_pyarray(py)
    }

    fn holders<'py>(
        &self,
        py: Python<'py>,
        documents: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let documents = documents.as_slice()?;
        self.check(documents)?;
        let holders = py.detach(|| self.rows.holders(documents, self.terms));
        Ok(holders.into_pyarray(py))
    }

    fn group_holders<'py>(
        &self,
        py: Python<'py>,
        documents: PyReadonlyArray1<'py, u32>,
        groups: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let (documents, groups) = (documents.as_slice()?, groups.as_slice()?);
        self.check(documents)?;
        fits(documents.len() == groups.len() && !groups.contains(&NONE))?;
        let holders = py.detach(|| self.rows.group_holders(documents, groups, self.terms));
        Ok(holders.into_pyarray(py))
    }

    fn counts<'py>(
        &self,
        py: Python<'py>,
        documents: PyReadonlyArray1<'py, u32>,
        labels: PyReadonlyArray1<'py, u32>,
        classes: usize,
        place: PyReadonlyArray1<'py, u32>,
        terms: usize,
    ) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let (documents, labels, place) = (documents.as_slice()?, labels.as_slice()?, place.as_slice()?);
        self.check(documents)?;
        fits(documents.len() == labels.len() && place.len() == self.terms)?;
        fits(labels.iter().all(|&label| (label as usize) < classes))?;
        fits(place.iter().all(|&term| term == NONE || (term as usize) < terms))?;
        check_room::<u32>(terms, classes).map_err(TallyError::from)?;
        let counts = py.detach(|| self.rows.counts(documents, labels, classes, place, terms));
        counts.into_pyarray(py).reshape([terms, classes])
    }
}

type ViewArrays<'py> = (Py<PyRows>, PyReadonlyArray1<'py, u32>, PyReadonlyArray2<'py, u32>, f64);

/// The loss, and its gradient in the weights and in the biases.
type Slope<'py> = (f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

#[pyclass(frozen, module = "bayleaf._core", name = "Features")]
pub struct PyFeatures {
    features: Features,
    threads: usize,
}

impl PyFeatures {
    fn check(&self, weights: &[f64], bias: &[f64]) -> PyResult<()> {
        fits(weights.len() == self.features.weights() && bias.len() == self.features.classes())?;
        self.check_room(1)
    }

    /// Scores of all documents are held at once, in each group of terms.
    fn check_room(&self, groups: usize) -> PyResult<()> {
        let classes = self.features.classes().saturating_mul(groups);
        Ok(check_room::<f64>(self.features.documents(), classes).map_err(TallyError::from)?)
    }
}

#[pymethods]
impl PyFeatures {
    #[new]
    #[allow(clippy::too_many_arguments)] // keywords in Python
    fn new(
        py: Python<'_>,
        views: Vec<ViewArrays<'_>>,
        documents: PyReadonlyArray1<'_, u32>,
        labels: PyReadonlyArray1<'_, u32>,
        weights: PyReadonlyArray1<'_, f64>,
        groups: PyReadonlyArray1<'_, u32>,
        dense: PyReadonlyArray3<'_, f64>,
        leave_out: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let (documents, labels) = (documents.as_slice()?, labels.as_slice()?);
        let classes = views.first().map_or(0, |(_, _, counts, _)| counts.as_array().ncols());
        fits(classes > 1 && documents.len() == labels.len())?;
        fits(labels.iter().all(|&label| (label as usize) < classes))?;
        let mut counted = Vec::new();
        for (rows, place, counts, alpha) in &views {
            let rows = rows.get();
            rows.check(documents)?;
            let terms = counts.as_array().nrows();
            let (place, counts) = (place.as_slice()?, counts.as_slice()?);
            fits(place.len() == rows.terms && counts.len() == terms * classes)?;
            fits(place.iter().all(|&term| term == NONE || (term as usize) < terms))?;
            check_room::<f64>(terms, classes).map_err(TallyError::from)?;
            counted.push(Counted { rows: &rows.rows, place, counts, alpha: *alpha });
        }
        let shape = dense.as_array().dim();
        fits(shape.1 == 0 || (shape.0 == documents.len() && shape.2 == classes))?;
        let (weights, groups) = (weights.as_slice()?, groups.as_slice()?);
        fits(weights.is_empty() || weights.len() == documents.len())?;
        fits(groups.is_empty() || groups.len() == documents.len())?;
        let beside = Beside { weights, groups, dense: dense.as_slice()?, dense_views: shape.1 };
        let features =
            py.detach(|| Features::new(&counted, documents, labels, beside, classes, leave_out, threads))?;
        Ok(Self { features, threads })
    }

    #[getter]
    fn nonzeros(&self) -> usize {
        self.features.nonzeros()
    }

    fn slope<'py>(
        &self,
        py: Python<'py>,
        weights: PyReadonlyArray1<'py, f64>,
        bias: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Slope<'py>> {
        let (weights, bias) = (weights.as_slice()?, bias.as_slice()?);
        self.check(weights, bias)?;
        py.check_signals()?;
        let slope = py.detach(|| self.features.slope(weights, bias, self.threads));
        Ok((slope.loss, slope.weights.into_pyarray(py), slope.bias.into_pyarray(py)))
    }

    fn curvature<'py>(
        &self,
        py: Python<'py>,
        weights: PyReadonlyArray1<'py, f64>,
        bias: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (weights, bias) = (weights.as_slice()?, bias.as_slice()?);
        self.check(weights, bias)?;
        Ok(py.detach(|| self.features.curvature(weights, bias, self.threads)).into_pyarray(py))
    }

    fn loss(
        &self,
        py: Python<'_>,
        weights: PyReadonlyArray1<'_, f64>,
        bias: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<f64> {
        let (weights, bias) = (weights.as_slice()?, bias.as_slice()?);
        self.check(weights, bias)?;
        Ok(py.detach(|| self.features.loss(weights, bias, self.threads)))
    }

    fn scores<'py>(
        &self,
        py: Python<'py>,
        weights: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let weights = weights.as_slice()?;
        fits(weights.len() == self.features.weights())?;
        let shape = [self.features.documents(), self.features.classes()];
        let scores = py.detach(|| self.features.all_scores(weights, self.threads));
        scores.into_pyarray(py).reshape(shape)
    }

    fn group_scores<'py>(
        &self,
        py: Python<'py>,
        group: PyReadonlyArray1<'py, u8>,
        groups: usize,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let group = group.as_slice()?;
        fits(group.len() == self.features.weights())?;
        self.check_room(groups)?;
        let shape = [self.features.documents(), groups, self.features.classes()];
        let scores = py.detach(|| self.features.group_scores(group, groups, self.threads));
        scores.into_pyarray(py).reshape(shape)
    }
}

#[pyclass(frozen, module = "bayleaf._core", name = "ByClass")]
pub struct PyByClass {
    documents: ByClass,
    terms: usize,
}

#[pymethods]
impl PyByClass {
    #[new]
    #[allow(clippy::too_many_arguments)] // keywords in Python
    fn new(
        ends: PyReadonlyArray1<'_, u64>,
        terms: PyReadonlyArray1<'_, u32>,
        values: PyReadonlyArray1<'_, f32>,
        labels: PyReadonlyArray1<'_, u32>,
        weights: PyReadonlyArray1<'_, f64>,
        known: PyReadonlyArray2<'_, f64>,
        n_terms: usize,
    ) -> PyResult<Self> {
        let (rows, classes) = known.as_array().dim();
        let documents = ByClass {
            ends: ends.as_slice()?.iter().map(|&end| end as usize).collect::<Vec<_>>(),
            terms: terms.to_vec()?,
            values: values.to_vec()?,
            labels: labels.to_vec()?,
            weights: weights.to_vec()?,
            known: known.as_slice()?.to_vec(),
            classes,
        };
        fits(documents.is_whole(rows, n_terms))?;
        Ok(Self { documents, terms: n_terms })
    }

    fn slope<'py>(
        &self,
        py: Python<'py>,
        weights: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(f64, Bound<'py, PyArray1<f64>>)> {
        let weights = weights.as_slice()?;
        fits(weights.len() == self.terms * self.documents.classes)?;
        py.check_signals()?;
        let (loss, slope) = py.detach(|| self.documents.slope(weights));
        Ok((loss, slope.into_pyarray(py)))
    }

    fn loss(&self, py: Python<'_>, weights: PyReadonlyArray1<'_, f64>) -> PyResult<f64> {
        let weights = weights.as_slice()?;
        fits(weights.len() == self.terms * self.documents.classes)?;
        Ok(py.detach(|| self.documents.loss(weights)))
    }
}

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
) -> PyResult<Bound<'py, PyArray3<f64>>> {
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
    let facts = facts_of(facts, nodes.len())?;
    let classes = facts.classes;
    fits(documents.len() == labels.len() && labels.iter().all(|&label| (label as usize) < classes))?;
    let shape = [documents.len(), classes];
    let documents = documents.get();
    let scores = tally.analyzer.get().run(py, |context| {
        LeaveOneOut::new(facts).score(context, (&*lexicon, &place), &documents, labels, threads)
    })?;
    scores.into_pyarray(py).reshape(shape)
}

fn facts_of(facts: &Bound<'_, PyDict>, terms: usize) -> PyResult<Facts> {
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
        class_ends: numbers_of(facts, "class_ends")?.narrow("class_ends")?.into_owned(),
        term: numbers_of(facts, "term")?.narrow("term")?.into_owned(),
        documents: numbers_of(facts, "documents")?.narrow("documents")?.into_owned(),
        mass: floats(facts, "mass")?.to_vec()?,
        class_documents,
    };
    let cells = facts.term.len();
    fits(facts.documents.len() == cells && facts.mass.len() == cells)?;
    fits(facts.class_ends.len() == facts.classes && facts.class_ends.is_sorted())?;
    fits(facts.class_ends.last().is_none_or(|&end| end as usize == cells))?;
    fits(facts.term.iter().all(|&term| (term as usize) < terms))?;
    Ok(facts)
}
