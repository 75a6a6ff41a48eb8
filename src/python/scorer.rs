//! A frozen scorer for Python.

use crate::errors::TallyError;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use super::analyzer::{Analyzer, Characters};
use super::arrays::prior_of;
use super::documents::Documents;
use crate::analyze::located::{Part, parts};
use crate::lexicon::Lexicon;
use crate::lexicon::numbering::Frozen;
use crate::memory::filled;
use crate::score::linear::Linear;
use crate::score::many_classes::Lender;
use crate::score::{Scorer, Value};

#[pyclass(frozen, module = "bayleaf._core", name = "Scorer")]
pub struct PyScorer {
    analyzer: Py<Analyzer>,
    lexicon: Arc<Lexicon>,
    /// The term that stands at each node, where there is one.
    terms: Vec<u32>,
    scorer: Scorer,
}

impl PyScorer {
    pub(super) fn new(
        analyzer: Py<Analyzer>,
        lexicon: Arc<Lexicon>,
        value: Value,
        linear: &Linear,
        nodes: &[u32],
        lender: Lender,
    ) -> Self {
        let mut terms = filled(lexicon.nodes as usize, u32::MAX);
        for (term, &node) in nodes.iter().enumerate() {
            terms[node as usize] = term as u32;
        }
        let scorer = Scorer::new(lexicon.clone(), value, linear, nodes, lender);
        Self { analyzer, lexicon, terms, scorer }
    }
}

#[pymethods]
impl PyScorer {
    fn score<'py>(
        &self,
        py: Python<'py>,
        documents: Documents,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let shape = [documents.len(), self.scorer.classes()];
        let documents = documents.get();
        let scores =
            self.analyzer.get().run(py, |context| self.scorer.score(context, &documents, threads))?;
        scores.into_pyarray(py).reshape(shape)
    }

    /// The class with the highest score and prior of each document.
    fn best<'py>(
        &self,
        py: Python<'py>,
        documents: Documents,
        prior: PyReadonlyArray1<'py, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let prior = prior_of(&prior, self.scorer.classes())?;
        let documents = documents.get();
        let best =
            self.analyzer.get().run(py, |context| self.scorer.best(context, &documents, prior, threads))?;
        Ok(best.into_pyarray(py))
    }

    /// The terms of a text: name, index (or -1 for one that was never learned), start and end.
    fn parts(&self, text: &Bound<'_, PyAny>) -> PyResult<Vec<(String, i64, usize, usize)>> {
        let documents = Documents::of(text)?;
        let document = documents.get()[0];
        let analyzer = self.analyzer.get();
        let mut numbering = Frozen::new(&self.lexicon, false);
        let parts = parts(document, &analyzer.analysis, analyzer.normalizer.as_ref(), &mut numbering)
            .map_err(TallyError::Read)?;
        let places = Characters::of(document.bytes);
        let index = |node: u32| match self.terms.get(node as usize) {
            Some(&term) if term != u32::MAX => i64::from(term),
            _ => -1,
        };
        let part = |part: Part| {
            let index = index(part.node);
            let (term, start, end) = places.located(part);
            (term, index, start, end)
        };
        Ok(parts.into_iter().map(part).collect())
    }
}
