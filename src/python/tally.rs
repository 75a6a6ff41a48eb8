//! The counts of one view, as Python holds them.

use std::sync::Arc;

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::analyzer::Analyzer;
use super::arrays::{dict_of, lender, numbers, with_linear, with_stored};
use super::documents::Documents;
use super::held::Held;
use super::scorer::PyScorer;
use crate::analyze::reader::Document;
use crate::context::{Context, Labeled};
use crate::errors::TallyError;
use crate::lexicon::Lexicon;
use crate::score::Value;
use crate::score::living::Living;
use crate::tally::Tally;
use crate::tally::export::{Wanted, export};

#[pyclass(frozen, module = "bayleaf._core", name = "Tally")]
pub struct PyTally {
    pub analyzer: Py<Analyzer>,
    pub living: Held<Living>,
}

impl PyTally {
    /// Where terms stand. A thread that holds the lock may wait for the GIL, so none waits for the lock with the GIL.
    pub fn lexicon(&self, py: Python<'_>) -> PyResult<Arc<Lexicon>> {
        Ok(py.detach(|| self.living.with(|living| Ok(living.tally.lexicon().clone())))?)
    }

    fn change(
        &self,
        py: Python<'_>,
        documents: &Documents,
        classes: &PyReadonlyArray1<'_, u32>,
        work: impl Fn(&mut Living, &Context, Labeled) -> Result<(), TallyError> + Send + Sync,
    ) -> PyResult<()> {
        let classes = classes.as_slice()?;
        if documents.len() != classes.len() {
            return Err(PyValueError::new_err(format!(
                "There are {} documents and {} classes; each document needs one.",
                documents.len(),
                classes.len()
            )));
        }
        self.change_read(py, &documents.get(), classes, work)
    }

    /// Count one document, or take it back, without a detour by lists and arrays.
    pub fn change_one(&self, py: Python<'_>, document: Document, class: u32, add: bool) -> PyResult<()> {
        self.change_read(py, &[document], &[class], |living, context, labeled| {
            if add { living.add(context, labeled, 1) } else { living.subtract(context, labeled) }
        })
    }

    fn change_read(
        &self,
        py: Python<'_>,
        documents: &[Document],
        classes: &[u32],
        work: impl Fn(&mut Living, &Context, Labeled) -> Result<(), TallyError> + Send + Sync,
    ) -> PyResult<()> {
        let labeled = Labeled { documents, classes };
        self.analyzer.get().run(py, |context| self.living.with(|living| work(living, context, labeled)))
    }
}

#[pymethods]
impl PyTally {
    #[new]
    fn new(analyzer: Py<Analyzer>) -> Self {
        Self { analyzer, living: Held::default() }
    }

    fn add(
        &self,
        py: Python<'_>,
        documents: Documents,
        classes: PyReadonlyArray1<'_, u32>,
        threads: usize,
    ) -> PyResult<()> {
        self.change(py, &documents, &classes, |living, context, learned| {
            living.add(context, learned, threads)
        })
    }

    fn subtract(
        &self,
        py: Python<'_>,
        documents: Documents,
        classes: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<()> {
        self.change(py, &documents, &classes, |living, context, forgotten| {
            living.subtract(context, forgotten)
        })
    }

    fn merge(&self, py: Python<'_>, other: &Self, classes: PyReadonlyArray1<'_, u32>) -> PyResult<()> {
        let classes = classes.as_slice()?;
        if std::ptr::eq(self, other) {
            return Err(PyValueError::new_err("A tally cannot be merged with itself; copy it first."));
        }
        Ok(py.detach(|| self.living.with_both(&other.living, |living, other| living.merge(other, classes)))?)
    }

    /// Raise what `merge` would raise.
    fn check_merge(&self, py: Python<'_>, other: &Self, classes: PyReadonlyArray1<'_, u32>) -> PyResult<()> {
        let classes = classes.as_slice()?;
        Ok(py.detach(|| {
            self.living
                .with_both(&other.living, |mine, other| mine.tally.check_merge(&mut other.tally, classes))
        })?)
    }

    /// How often the counts have changed.
    #[getter]
    pub fn changes(&self, py: Python<'_>) -> PyResult<u64> {
        if let Some(changes) = self.living.peek(|living| living.tally.changes) {
            return Ok(changes);
        }
        Ok(py.detach(|| self.living.read(|living| Ok(living.tally.changes)))?)
    }

    #[pyo3(signature = (order, *, documents, occurrences, shares))]
    fn export<'py>(
        &self,
        py: Python<'py>,
        order: PyReadonlyArray1<'py, u32>,
        documents: bool,
        occurrences: bool,
        shares: bool,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyAny>)> {
        let order = order.as_slice()?;
        let wanted = Wanted { documents, occurrences, shares };
        let (arrays, nodes) =
            py.detach(|| self.living.with(|living| Ok(export(&mut living.tally, order, wanted))))?;
        Ok((dict_of(arrays, wanted, py)?, nodes.into_pyarray(py).into_any()))
    }

    #[staticmethod]
    fn check(py: Python<'_>, analyzer: &Analyzer, arrays: &Bound<'_, PyDict>) -> PyResult<()> {
        let deepest = analyzer.analysis.deepest();
        Ok(with_stored(arrays, |arrays| py.detach(|| arrays.check_view(deepest)))??)
    }

    #[staticmethod]
    fn restore(py: Python<'_>, analyzer: Py<Analyzer>, arrays: &Bound<'_, PyDict>) -> PyResult<Self> {
        let deepest = analyzer.get().analysis.deepest();
        let lexicon = with_stored(arrays, |arrays| py.detach(|| arrays.lexicon(deepest)))??;
        let arrays = arrays.clone().unbind();
        // They were checked, and nobody else has them: fetching them cannot fail.
        let lazy = move || {
            Python::attach(|py| with_stored(arrays.bind(py), |arrays| arrays.classes())).unwrap_or_default()
        };
        let tally = Tally::restored(lexicon, Box::new(lazy));
        Ok(Self { analyzer, living: Held::new(Living::new(tally)) })
    }

    #[pyo3(signature = (value, nodes, linear))]
    fn scorer(
        &self,
        py: Python<'_>,
        value: &str,
        nodes: &Bound<'_, PyAny>,
        linear: &Bound<'_, PyDict>,
    ) -> PyResult<PyScorer> {
        let value = match value {
            "count" => Value::Count,
            "binary" => Value::Binary,
            "share" => Value::Share,
            other => {
                return Err(PyValueError::new_err(format!(
                    "A value is count, binary or share, not {other:?}."
                )));
            }
        };
        let lexicon = self.lexicon(py)?;
        let analyzer = self.analyzer.clone_ref(py);
        let nodes = numbers(nodes, "nodes")?;
        let nodes = nodes.narrow("nodes")?;
        if nodes.iter().any(|&node| node >= lexicon.nodes) {
            return Err(PyValueError::new_err("The nodes are not those of this tally."));
        }
        let lender = lender(linear);
        let scorer = with_linear(linear, |linear| {
            linear
                .fits(nodes.len())
                .then(|| py.detach(|| PyScorer::new(analyzer, lexicon, value, linear, &nodes, lender)))
        })?;
        scorer.ok_or_else(|| PyValueError::new_err("The arrays of weights do not fit each other."))
    }
}
