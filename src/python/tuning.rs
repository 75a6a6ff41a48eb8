//! Features and earned weights, as Python sees them.

use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArray3,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::rows::{PyRows, fits};
use crate::errors::TallyError;
use crate::lexicon::bag::NONE;
use crate::memory::check_room;
use crate::tune::by_class::ByClass;
use crate::tune::features::{Beside, Features, TuneError};
use crate::tune::steps::Steps;
use crate::tune::together::Counted;

impl From<TuneError> for PyErr {
    fn from(error: TuneError) -> Self {
        PyValueError::new_err(error.to_string())
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

/// Documents x steps x classes, long or short; the classes of the documents, and how much each counts.
type Left<'py> = (StepScores<'py>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>);
/// Weights of steps, and biases of classes.
type Place<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);
type Curvature<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

#[derive(FromPyObject)]
pub enum StepScores<'py> {
    Short(PyReadonlyArray3<'py, f32>),
    Long(PyReadonlyArray3<'py, f64>),
}

/// The summed log loss of weights of steps and biases of classes, and its gradient.
#[pyfunction]
pub fn step_slope<'py>(
    py: Python<'py>,
    left: Left<'py>,
    place: Place<'py>,
    threads: usize,
) -> PyResult<Slope<'py>> {
    py.check_signals()?;
    let (at, bias) = (place.0.as_slice()?, place.1.as_slice()?);
    let steps = AnySteps::of(&left, at, bias)?;
    let sums = py.detach(|| match &steps {
        AnySteps::Short(steps) => steps.slope(at, bias, threads),
        AnySteps::Long(steps) => steps.slope(at, bias, threads),
    });
    Ok((sums.loss, sums.steps.into_pyarray(py), sums.bias.into_pyarray(py)))
}

/// The Hessian of that loss in the weights of steps, and its diagonal in the biases.
#[pyfunction]
pub fn step_curvature<'py>(py: Python<'py>, left: Left<'py>, place: Place<'py>) -> PyResult<Curvature<'py>> {
    let (at, bias) = (place.0.as_slice()?, place.1.as_slice()?);
    let steps = AnySteps::of(&left, at, bias)?;
    let (bends, of_bias) = py.detach(|| match &steps {
        AnySteps::Short(steps) => steps.curvature(at, bias),
        AnySteps::Long(steps) => steps.curvature(at, bias),
    });
    Ok((bends.into_pyarray(py).reshape([at.len(), at.len()])?, of_bias.into_pyarray(py)))
}

enum AnySteps<'a> {
    Short(Steps<'a, f32>),
    Long(Steps<'a, f64>),
}

impl<'a> AnySteps<'a> {
    fn of((scores, labels, weights): &'a Left<'_>, at: &[f64], bias: &[f64]) -> PyResult<Self> {
        let documents = (labels.as_slice()?, weights.as_slice()?);
        Ok(match scores {
            StepScores::Short(scores) => Self::Short(steps_of(scores, documents, at, bias)?),
            StepScores::Long(scores) => Self::Long(steps_of(scores, documents, at, bias)?),
        })
    }
}

fn steps_of<'a, T: Element>(
    scores: &'a PyReadonlyArray3<'_, T>,
    (labels, weights): (&'a [u32], &'a [f64]),
    at: &[f64],
    bias: &[f64],
) -> PyResult<Steps<'a, T>> {
    let (documents, steps, classes) = scores.as_array().dim();
    fits(labels.len() == documents && weights.len() == documents)?;
    fits(at.len() == steps && bias.len() == classes && classes > 0)?;
    fits(labels.iter().all(|&label| (label as usize) < classes))?;
    Ok(Steps { scores: scores.as_slice()?, labels, weights, steps, classes })
}
