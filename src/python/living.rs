//! Scoring against live counts: texts to scores, by rows that change with the counts.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::analyzer::Characters;
use super::arrays::{event_of, prior_of};
use super::documents::Documents;
use super::tally::PyTally;
use crate::context::Context;
use crate::errors::TallyError;
use crate::score::living::{Living, Weights};
use crate::score::settings::{ByClass, Settings};

/// A term's name, the place of its row (-1: unknown, -2: not used), start and end.
type Located = (String, i64, usize, usize);

#[pyclass(frozen, module = "bayleaf._core", name = "Asking")]
pub struct PyAsking {
    pub tally: Py<PyTally>,
    settings: Arc<Settings>,
    order: Vec<u32>,
}

impl PyAsking {
    /// Use the counts with the rows that answer; the first caller makes them.
    pub fn read<T>(&self, mut work: impl FnMut(&Living) -> Result<T, TallyError>) -> Result<T, TallyError> {
        let living = &self.tally.get().living;
        loop {
            let found = living.read(|living| {
                let ready = living.answers_by(&self.settings, &self.order);
                if ready { work(living).map(Some) } else { Ok(None) }
            })?;
            match found {
                Some(found) => return Ok(found),
                None => living.with(|living| living.make_ready(&self.settings, &self.order))?,
            }
        }
    }

    pub fn n_classes(&self) -> usize {
        self.order.len()
    }

    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Fn(&Context, &Living) -> Result<T, TallyError> + Send + Sync,
    ) -> PyResult<T> {
        self.tally.get().analyzer.get().run(py, |context| self.read(|living| work(context, living)))
    }
}

#[pymethods]
impl PyAsking {
    /// Ask a tally from now on by these settings, for scores of the classes in `order`.
    #[new]
    fn new(
        tally: Py<PyTally>,
        settings: &Bound<'_, PyDict>,
        order: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<Self> {
        Ok(Self { tally, settings: Arc::new(settings_of(settings)?), order: order.as_slice()?.to_vec() })
    }

    /// The same, for scores of other classes or of the same in another order.
    fn ordered(&self, py: Python<'_>, order: PyReadonlyArray1<'_, u32>) -> PyResult<Self> {
        let (tally, settings) = (self.tally.clone_ref(py), self.settings.clone());
        Ok(Self { tally, settings, order: order.as_slice()?.to_vec() })
    }

    fn score<'py>(
        &self,
        py: Python<'py>,
        documents: Documents,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = documents.len();
        let documents = documents.get();
        let scores = self.run(py, |context, living| living.score(context, &documents, threads))?;
        scores.into_pyarray(py).reshape([rows, self.order.len()])
    }

    /// The class with the highest score and prior of each document.
    fn best<'py>(
        &self,
        py: Python<'py>,
        documents: Documents,
        prior: PyReadonlyArray1<'py, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let prior = prior_of(&prior, self.order.len())?;
        let documents = documents.get();
        let best = self.run(py, |context, living| living.best(context, &documents, prior, threads))?;
        Ok(best.into_pyarray(py))
    }

    /// What every document gets, whatever is in it.
    fn bias<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let bias = py.detach(|| self.read(Living::bias))?;
        Ok(bias.into_pyarray(py))
    }

    /// The terms of a text with their places, the weights of each distinct one, and last those of an unknown one.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<(Vec<Located>, Bound<'py, PyArray2<f64>>)> {
        let documents = Documents::of(text)?;
        let document = documents.get()[0];
        let explained = self.run(py, |context, living| living.explain(context, document))?;
        let classes = self.order.len();
        let places = Characters::of(document.bytes);
        let located = explained.parts.into_iter().zip(&explained.places).map(|(part, &place)| {
            let (term, start, end) = places.located(part);
            let row = match explained.weights[place] {
                Weights::Known(_) => place as i64,
                Weights::Unknown => -1,
                Weights::Unused => -2,
            };
            (term, row, start, end)
        });
        let located: Vec<Located> = located.collect();
        let rows = explained.weights.len() + 1;
        let weights = explained.weights.into_iter().flat_map(|weights| match weights {
            Weights::Known(row) => row,
            Weights::Unknown | Weights::Unused => vec![0.0; classes],
        });
        let weights: Vec<f64> = weights.chain(explained.unseen).collect();
        Ok((located, weights.into_pyarray(py).reshape([rows, classes])?))
    }
}

fn settings_of(settings: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let item = |name: &str| settings.as_any().get_item(name);
    let (event, frequency) = event_of(settings)?;
    let numbers = |name: &str| -> PyResult<Option<Vec<u32>>> {
        let array: Option<PyReadonlyArray1<'_, u32>> = item(name)?.extract()?;
        array.map(|array| Ok(array.as_slice()?.to_vec())).transpose()
    };
    let weights: Option<PyReadonlyArray1<'_, f32>> = item("weights")?.extract()?;
    Ok(Settings {
        event,
        frequency,
        alpha: item("alpha")?.extract()?,
        smooth: item("smooth")?.extract()?,
        least: item("least")?.extract()?,
        most: item("most")?.extract::<Option<u64>>()?.unwrap_or(u64::MAX),
        dropped: numbers("dropped")?.unwrap_or_default(),
        weights: weights.map(|array| array.to_vec()).transpose()?.unwrap_or_default(),
        groups: item("groups")?.extract()?,
        shortest: item("shortest")?.extract()?,
        by_class: by_class_of(&item("by_class")?)?,
    })
}

/// Nodes, and a row of weights for each, one for each class by its number.
fn by_class_of(given: &Bound<'_, PyAny>) -> PyResult<ByClass> {
    type Arrays<'py> = (PyReadonlyArray1<'py, u32>, PyReadonlyArray2<'py, f32>);
    let Some((nodes, weights)) = given.extract::<Option<Arrays<'_>>>()? else {
        return Ok(ByClass::default());
    };
    let (rows, width) = weights.as_array().dim();
    let nodes = nodes.as_slice()?;
    if rows != nodes.len() {
        let message = format!("There are {} terms and {rows} rows of weights.", nodes.len());
        return Err(PyValueError::new_err(message));
    }
    Ok(ByClass::new(width, nodes, weights.as_slice()?.to_vec()))
}
