//! Rows of documents, as Python sees them, and the checks of the arrays that come with them.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::documents::Documents;
use super::tally::PyTally;
use crate::errors::TallyError;
use crate::lexicon::Lexicon;
use crate::lexicon::bag::NONE;
use crate::memory::check_room;
use crate::tally::bags::Rows;

/// Where each node of the lexicon stands among `nodes`.
pub fn placed(lexicon: &Lexicon, nodes: &[u32]) -> PyResult<Vec<u32>> {
    let mut place = vec![NONE; lexicon.nodes as usize];
    for (term, &node) in nodes.iter().enumerate() {
        match place.get_mut(node as usize) {
            Some(place) => *place = term as u32,
            None => return Err(PyValueError::new_err("The nodes are not those of this tally.")),
        }
    }
    Ok(place)
}

/// Raise unless what is known of the arrays of a call holds.
pub fn fits(holds: bool) -> PyResult<()> {
    if holds { Ok(()) } else { Err(PyValueError::new_err("The arrays do not fit each other.")) }
}

#[pyclass(frozen, module = "bayleaf._core", name = "Rows")]
pub struct PyRows {
    pub rows: Rows,
    pub terms: usize,
}

impl PyRows {
    pub fn check(&self, documents: &[u32]) -> PyResult<()> {
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
