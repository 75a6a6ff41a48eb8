//! Counts as arrays, added up and divided as they are.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrays::{dict_of, with_stored};
use crate::tally::division::Division;
use crate::tally::export::{Arrays, Wanted};
use crate::tally::restore::Stored;
use crate::tally::sum::{Addend, Documents, sum};

const ALL: Wanted = Wanted { documents: true, occurrences: true, shares: true };

/// The sum of two tallies that were exported; class i of either is class `classes[i]` of so many.
#[pyfunction]
#[pyo3(signature = (left, right, left_classes, right_classes, classes, *, same_documents))]
pub fn sum_of_arrays<'py>(
    py: Python<'py>,
    left: &Bound<'py, PyDict>,
    right: &Bound<'py, PyDict>,
    left_classes: PyReadonlyArray1<'py, u32>,
    right_classes: PyReadonlyArray1<'py, u32>,
    classes: usize,
    same_documents: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let of_classes = [left_classes.as_slice()?, right_classes.as_slice()?];
    let documents = if same_documents { Documents::Same } else { Documents::Different };
    let total = with_stored(left, |left| {
        with_stored(right, |right| {
            py.detach(|| {
                let [ours, theirs] = of_classes;
                check(&left, ours, classes)?;
                check(&right, theirs, classes)?;
                let addends =
                    [Addend { stored: &left, classes: ours }, Addend { stored: &right, classes: theirs }];
                Ok::<Arrays, PyErr>(sum(addends, classes, documents)?)
            })
        })
    })???;
    dict_of(total, ALL, py)
}

fn check(stored: &Stored, of_classes: &[u32], classes: usize) -> PyResult<()> {
    stored.check_all()?;
    let in_order = of_classes.is_sorted_by(|a, b| a < b);
    if of_classes.len() == stored.class_ends.len()
        && in_order
        && of_classes.last().is_none_or(|&last| (last as usize) < classes)
    {
        return Ok(());
    }
    Err(PyValueError::new_err("The classes are not those of the arrays."))
}

/// The counts of a tally that was exported, divided by a hash of its terms.
#[pyclass(frozen, module = "bayleaf._core", name = "Division")]
pub struct PyDivision {
    arrays: Py<PyDict>,
    parts: u32,
    division: Division,
}

#[pymethods]
impl PyDivision {
    #[new]
    fn new(py: Python<'_>, arrays: &Bound<'_, PyDict>, parts: u32) -> PyResult<Self> {
        let arrays = arrays.copy()?;
        let division = with_stored(&arrays, |stored| {
            py.detach(|| stored.check_all().map(|()| Division::new(&stored, parts.max(1))))
        })??;
        Ok(Self { arrays: arrays.unbind(), parts: parts.max(1), division })
    }

    /// One of the parts.
    fn part<'py>(&self, py: Python<'py>, part: u32) -> PyResult<Bound<'py, PyDict>> {
        if part >= self.parts {
            return Err(PyValueError::new_err(format!("There are {} parts, not {}.", self.parts, part)));
        }
        let arrays = with_stored(self.arrays.bind(py), |stored| {
            py.detach(|| self.division.part(&stored, part as usize))
        })?;
        dict_of(arrays, ALL, py)
    }
}
