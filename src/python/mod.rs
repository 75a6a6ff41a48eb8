//! The only module that names Python. It converts, releases the GIL, delegates, and decides nothing but whose turn it is.

mod analyzer;
mod arrays;
mod documents;
mod functions;
mod held;
mod left_out;
mod lessons;
mod living;
mod mail;
mod quick;
mod rows;
mod scorer;
#[cfg(unix)]
mod spamd;
mod sums;
mod tally;
mod together;
mod tuning;
mod turn;

use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::analyze::patterns::PatternError;
use crate::analyze::porter::Porter;
use crate::errors::{ReadError, TallyError};
use crate::tally::matrix;
use crate::tally::restore::Damaged;

pyo3::create_exception!(
    _core,
    NotLearned,
    PyValueError,
    "These documents were not learned: (term or None, class number)."
);

impl From<TallyError> for PyErr {
    fn from(error: TallyError) -> Self {
        match error {
            TallyError::Read(ReadError::Normalizer(error)) => match error.downcast::<PyErr>() {
                Ok(error) => *error,
                Err(error) => PyValueError::new_err(error.to_string()),
            },
            TallyError::NotLearned { term, class } => NotLearned::new_err((term, class)),
            TallyError::Lacking { term, class } => NotLearned::new_err((term, class, true)),
            TallyError::Interrupted => PyKeyboardInterrupt::new_err(()),
            TallyError::TooLarge { .. } => PyMemoryError::new_err(error.to_string()),
            TallyError::InUse => PyRuntimeError::new_err(error.to_string()),
            other => PyValueError::new_err(other.to_string()),
        }
    }
}

impl From<PatternError> for PyErr {
    fn from(error: PatternError) -> Self {
        PyValueError::new_err(error.to_string())
    }
}

impl From<Damaged> for PyErr {
    fn from(error: Damaged) -> Self {
        PyValueError::new_err(error.to_string())
    }
}

/// The stems of words by Porter's algorithm.
#[pyfunction]
fn porter(words: Vec<String>) -> Vec<String> {
    let mut porter = Porter::default();
    let stem = |word: String| {
        let mut stem = String::with_capacity(word.len() + 1);
        porter.stem(&word, &mut stem);
        stem
    };
    words.into_iter().map(stem).collect()
}

/// Whether a row of a sparse matrix names a column twice: where its rows end, their columns, how many there are.
#[pyfunction]
fn repeats(row_ends: &Bound<'_, PyAny>, columns: &Bound<'_, PyAny>, width: usize) -> PyResult<bool> {
    type Whole<'py, I> = PyReadonlyArray1<'py, I>;
    if let (Ok(ends), Ok(columns)) =
        (row_ends.extract::<Whole<'_, i32>>(), columns.extract::<Whole<'_, i32>>())
    {
        return Ok(matrix::repeats(ends.as_slice()?, columns.as_slice()?, width));
    }
    let (ends, columns): (Whole<'_, i64>, Whole<'_, i64>) = (row_ends.extract()?, columns.extract()?);
    Ok(matrix::repeats(ends.as_slice()?, columns.as_slice()?, width))
}

#[pymodule]
pub mod _core {
    #[pymodule_export]
    use super::analyzer::Analyzer;
    #[pymodule_export]
    use super::left_out::{cells_by_term, leave_one_out, shared_scores};
    #[pymodule_export]
    use super::lessons::{PyLessons, PySizes};
    #[pymodule_export]
    use super::living::PyAsking;
    #[pymodule_export]
    use super::mail::read_mail;
    #[pymodule_export]
    use super::quick::{
        PyJournal, PyQuickModel, block_checksums, exponentials, header_checksum, log_posterior_of_one,
        log_shares, logs, powers, py_log_softmax,
    };
    #[pymodule_export]
    use super::rows::PyRows;
    #[pymodule_export]
    use super::scorer::PyScorer;
    #[cfg(unix)]
    #[pymodule_export]
    use super::spamd::{PySpamdServer, PyStanding};
    #[pymodule_export]
    use super::sums::{PyDivision, sum_of_arrays};
    #[pymodule_export]
    use super::tally::PyTally;
    #[pymodule_export]
    use super::together::PyTogether;
    #[pymodule_export]
    use super::tuning::{PyByClass, PyFeatures, step_curvature, step_slope};
    #[pymodule_export]
    use super::turn::PyTurn;
    #[pymodule_export]
    use super::{NotLearned, porter, repeats};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
