//! Arrays of NumPy as the core's columns, borrowed where their type allows it.

use std::borrow::Cow;

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::score::linear::Linear;
use crate::score::many_classes::Lender;
use crate::score::settings::{Event, Frequency};
use crate::tally::export::{Arrays, Integers, Wanted};
use crate::tally::restore::{Column, Stored};

/// Whole numbers, in whatever type a file or NumPy holds them.
pub enum Numbers<'py> {
    U8(PyReadonlyArray1<'py, u8>),
    U16(PyReadonlyArray1<'py, u16>),
    U32(PyReadonlyArray1<'py, u32>),
    U64(PyReadonlyArray1<'py, u64>),
}

/// The event model and the term frequency of settings.
pub fn event_of(settings: &Bound<'_, PyDict>) -> PyResult<(Event, Frequency)> {
    let named = |key: &str| settings.as_any().get_item(key)?.extract::<String>();
    let (event, frequency) = (named("event")?, named("tf")?);
    let unknown = |what: &str, name: &str| PyValueError::new_err(format!("There is no {what} {name:?}."));
    Ok((
        Event::named(&event).ok_or_else(|| unknown("event model", &event))?,
        Frequency::named(&frequency).ok_or_else(|| unknown("term frequency", &frequency))?,
    ))
}

/// The prior of so many classes.
pub fn prior_of<'a>(prior: &'a PyReadonlyArray1<'_, f64>, classes: usize) -> PyResult<&'a [f64]> {
    let prior = prior.as_slice()?;
    if prior.len() == classes {
        return Ok(prior);
    }
    Err(PyValueError::new_err(format!("There are {classes} classes, not {}.", prior.len())))
}

fn unfit(name: &str) -> PyErr {
    PyTypeError::new_err(format!("the array {name:?} has the wrong type or shape"))
}

/// The numbers of an array.
pub fn numbers<'py>(array: &Bound<'py, PyAny>, name: &str) -> PyResult<Numbers<'py>> {
    let found = array.extract().map(Numbers::U32).or_else(|_| array.extract().map(Numbers::U16));
    let found = found.or_else(|_| array.extract().map(Numbers::U8));
    found.or_else(|_| array.extract().map(Numbers::U64)).map_err(|_| unfit(name))
}

impl Numbers<'_> {
    fn column(&self) -> PyResult<Column<'_>> {
        Ok(match self {
            Self::U8(array) => Column::U8(array.as_slice()?),
            Self::U16(array) => Column::U16(array.as_slice()?),
            Self::U32(array) => Column::U32(array.as_slice()?),
            Self::U64(array) => Column::U64(array.as_slice()?),
        })
    }

    /// As numbers of 32 bits.
    pub fn narrow(&self, name: &str) -> PyResult<Cow<'_, [u32]>> {
        self.column()?.narrow().ok_or_else(|| unfit(name))
    }

    fn bytes(&self, name: &str) -> PyResult<&[u8]> {
        match self {
            Self::U8(array) => Ok(array.as_slice()?),
            _ => Err(unfit(name)),
        }
    }
}

fn needed<'py>(arrays: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = arrays.get_item(name)?;
    found.ok_or_else(|| PyValueError::new_err(format!("the array {name:?} is missing")))
}

/// Numbers that must be there.
pub fn numbers_of<'py>(arrays: &Bound<'py, PyDict>, name: &str) -> PyResult<Numbers<'py>> {
    numbers(&needed(arrays, name)?, name)
}

/// Use the arrays of a file where they lie.
pub fn with_stored<T>(arrays: &Bound<'_, PyDict>, work: impl FnOnce(Stored<'_>) -> T) -> PyResult<T> {
    let held = |name| numbers_of(arrays, name);
    let (words, word_ends, pairs) = (held("words")?, held("word_ends")?, held("pairs")?);
    let (class_documents, class_ends) = (held("class_documents")?, held("class_ends")?);
    let (terms, term, documents) = (held("terms")?, held("term")?, held("documents")?);
    let (occurrences, whole, part) = (held("occurrences")?, held("shares_whole")?, held("shares_part")?);
    Ok(work(Stored {
        words: words.bytes("words")?,
        word_ends: word_ends.column()?,
        pairs: pairs.narrow("pairs")?,
        terms: terms.narrow("terms")?,
        class_documents: class_documents.column()?,
        class_ends: class_ends.column()?,
        term: term.narrow("term")?,
        documents: documents.column()?,
        occurrences: occurrences.column()?,
        shares_whole: whole.column()?,
        shares_part: part.column()?,
    }))
}

/// The arrays of a tally by their names, of its columns those that are wanted.
pub fn dict_of(arrays: Arrays, wanted: Wanted, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("words", arrays.words.into_pyarray(py))?;
    dict.set_item("word_ends", arrays.word_ends.into_pyarray(py))?;
    dict.set_item("pairs", arrays.pairs.into_pyarray(py))?;
    dict.set_item("terms", arrays.terms.into_pyarray(py))?;
    dict.set_item("class_documents", arrays.class_documents.into_pyarray(py))?;
    dict.set_item("class_ends", arrays.class_ends.into_pyarray(py))?;
    dict.set_item("term", arrays.term.into_pyarray(py))?;
    if wanted.documents {
        dict.set_item("documents", array_of(arrays.documents, py))?;
    }
    if wanted.occurrences {
        dict.set_item("occurrences", array_of(arrays.occurrences, py))?;
    }
    if wanted.shares {
        dict.set_item("shares_whole", array_of(arrays.shares_whole, py))?;
        dict.set_item("shares_part", arrays.shares_part.into_pyarray(py))?;
    }
    Ok(dict)
}

fn array_of(integers: Integers, py: Python<'_>) -> Bound<'_, PyAny> {
    match integers {
        Integers::U8(all) => all.into_pyarray(py).into_any(),
        Integers::U16(all) => all.into_pyarray(py).into_any(),
        Integers::U32(all) => all.into_pyarray(py).into_any(),
        Integers::U64(all) => all.into_pyarray(py).into_any(),
    }
}

type Floats<'py> = PyReadonlyArray1<'py, f64>;

/// An array of floats that must be there.
pub fn floats<'py>(arrays: &Bound<'py, PyDict>, name: &str) -> PyResult<Floats<'py>> {
    needed(arrays, name)?.extract().map_err(|_| unfit(name))
}

fn optional_floats<'py>(arrays: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<Floats<'py>>> {
    match arrays.get_item(name)?.filter(|found| !found.is_none()) {
        None => Ok(None),
        Some(_) => floats(arrays, name).map(Some),
    }
}

fn slice<'a>(array: &'a Option<Floats<'_>>) -> PyResult<Option<&'a [f64]>> {
    Ok(array.as_ref().map(|array| array.as_slice()).transpose()?)
}

/// Use weights where they lie.
pub fn with_linear<T>(arrays: &Bound<'_, PyDict>, work: impl FnOnce(&Linear<'_>) -> T) -> PyResult<T> {
    let (bias, base, differences) =
        (floats(arrays, "bias")?, floats(arrays, "base")?, floats(arrays, "differences")?);
    let optional = |name| optional_floats(arrays, name);
    let (unseen, offset, scale) = (optional("unseen")?, optional("offset")?, optional("scale")?);
    let (class_ends, term) = (numbers_of(arrays, "class_ends")?, numbers_of(arrays, "term")?);
    let linear = Linear {
        bias: bias.as_slice()?,
        base: base.as_slice()?,
        unseen: slice(&unseen)?,
        offset: slice(&offset)?,
        scale: slice(&scale)?,
        class_ends: class_ends.column()?,
        term: term.column()?,
        differences: differences.as_slice()?,
    };
    Ok(work(&linear))
}

/// What lends the same weights again.
pub fn lender(arrays: &Bound<'_, PyDict>) -> Lender {
    let arrays = arrays.clone().unbind();
    Box::new(move |borrower| {
        // They were checked, and nobody else has them: fetching them cannot fail.
        let _ = Python::attach(|py| with_linear(arrays.bind(py), |linear| py.detach(|| borrower(linear))));
    })
}
