//! One document, asked of all views in one call: several would take longer than their answers.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use super::analyzer::interruptible;
use super::arrays::prior_of;
use super::documents::{Documents, with_text};
use super::living::PyAsking;
use crate::analyze::reader::Document;
use crate::errors::TallyError;
use crate::quick::posterior::log_softmax;

/// The log joint is the sum of the views' scores, in this order, times the temperature, and the prior.
#[pyclass(frozen, module = "bayleaf._core", name = "Together")]
pub struct PyTogether {
    askings: Vec<Py<PyAsking>>,
    temperature: f64,
    /// If there is none, each class's share of the documents, times the temperature.
    prior: Option<Vec<f64>>,
}

impl PyTogether {
    pub fn views(&self) -> usize {
        self.askings.len()
    }

    fn joint_of(&self, py: Python<'_>, columns: &Bound<'_, PyList>) -> PyResult<Vec<f64>> {
        if columns.len() != self.askings.len() {
            return Err(not_one_each());
        }
        if let Some(text) = shared_text(columns) {
            return with_text(&text, |document| self.sum(py, |_| document))?;
        }
        let columns: Vec<Documents> = columns.extract()?;
        let documents: Vec<Document> = columns.iter().flat_map(|column| column.get()).collect();
        if columns.iter().any(|column| column.len() != 1) {
            return Err(not_one_each());
        }
        self.sum(py, |view| documents[view])
    }

    fn sum<'a>(
        &self,
        py: Python<'_>,
        document: impl Fn(usize) -> Document<'a> + Send + Sync,
    ) -> PyResult<Vec<f64>> {
        interruptible(py, |interrupted| self.sum_of(interrupted, document))
    }

    /// The posterior of each class, without looking for Ctrl-C.
    pub fn posterior_of<'a>(&self, document: impl Fn(usize) -> Document<'a>) -> Result<Vec<f64>, TallyError> {
        Ok(probabilities(self.sum_of(&|| false, document)?))
    }

    fn sum_of<'a>(
        &self,
        interrupted: &(dyn Fn() -> bool + Sync),
        document: impl Fn(usize) -> Document<'a>,
    ) -> Result<Vec<f64>, TallyError> {
        let (mut joint, mut shares) = (Vec::new(), Vec::new());
        for (view, asking) in self.askings.iter().enumerate() {
            let asking = asking.get();
            let context = asking.tally.get().analyzer.get().context(interrupted);
            asking.read(|living| {
                if view == 0 && self.prior.is_none() {
                    shares = living.log_prior()?;
                    shares.iter_mut().for_each(|share| *share *= self.temperature);
                }
                living.add_scores(&context, document(view), &mut joint)
            })?;
        }
        let prior = self.prior.as_ref().unwrap_or(&shares);
        joint.iter_mut().zip(prior).for_each(|(sum, prior)| *sum = *sum * self.temperature + prior);
        Ok(joint)
    }
}

#[pymethods]
impl PyTogether {
    #[new]
    fn new(
        askings: Vec<Py<PyAsking>>,
        temperature: f64,
        prior: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let classes = askings.first().map_or(0, |asking| asking.get().n_classes());
        let prior = prior.map(|prior| prior_of(&prior, classes).map(<[f64]>::to_vec)).transpose()?;
        Ok(Self { askings, temperature, prior })
    }

    /// The log joint of the only document; each view has a column of its own.
    fn joint(&self, py: Python<'_>, columns: &Bound<'_, PyList>) -> PyResult<Vec<f64>> {
        self.joint_of(py, columns)
    }

    /// The posterior of each class.
    fn posterior(&self, py: Python<'_>, columns: &Bound<'_, PyList>) -> PyResult<Vec<f64>> {
        Ok(probabilities(self.joint_of(py, columns)?))
    }

    /// The place of its most probable class; ties go to the first.
    fn best(&self, py: Python<'_>, columns: &Bound<'_, PyList>) -> PyResult<usize> {
        Ok(highest(&self.joint_of(py, columns)?))
    }

    /// The posterior of each class for a text that all views look at.
    fn posterior_of_text(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<Vec<f64>> {
        Ok(probabilities(with_text(text, |document| self.sum(py, |_| document))??))
    }

    /// The place of its most probable class.
    fn best_of_text(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<usize> {
        Ok(highest(&with_text(text, |document| self.sum(py, |_| document))??))
    }
}

fn highest(scores: &[f64]) -> usize {
    let mut highest = (0, f64::NEG_INFINITY);
    for (class, &score) in scores.iter().enumerate() {
        if score > highest.1 {
            highest = (class, score);
        }
    }
    highest.0
}

fn probabilities(mut scores: Vec<f64>) -> Vec<f64> {
    log_softmax(&mut scores);
    scores.iter_mut().for_each(|score| *score = score.exp());
    scores
}

fn not_one_each() -> PyErr {
    PyValueError::new_err("There must be one text for each view.")
}

/// The only text of a column that all views share, which needs no list of documents.
fn shared_text<'py>(columns: &Bound<'py, PyList>) -> Option<Bound<'py, PyString>> {
    let first = columns.get_item(0).ok()?;
    if (1..columns.len()).any(|view| columns.get_item(view).is_ok_and(|other| !other.is(&first))) {
        return None;
    }
    let column = first.cast_exact::<PyTuple>().ok().filter(|column| column.len() == 1)?;
    column.get_item(0).ok()?.cast_into::<PyString>().ok()
}
