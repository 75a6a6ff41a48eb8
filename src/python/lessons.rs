//! One text learned or forgotten by all views in one call, and how many documents the classes have: what a model does
//! all its life. In Python the way there would take a third of the time.

use std::sync::Mutex;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyString};
use pyo3::{PyTypeInfo, intern};

use super::NotLearned;
use super::analyzer::lock;
use super::documents::with_text;
use super::tally::PyTally;
use super::turn::PyTurn;
use crate::analyze::reader::Document;

/// How many documents each class has, by its number.
#[pyclass(frozen, module = "bayleaf._core", name = "Sizes")]
pub struct PySizes(Mutex<Sizes>);

struct Sizes {
    documents: Vec<i64>,
    /// The same as Python has it, until a class has more or less.
    array: Option<Py<PyArray1<i64>>>,
}

impl PySizes {
    /// Whether a class has documents and will have some with one more, or less.
    fn stays(&self, class: usize, sign: i64) -> bool {
        lock(&self.0).documents.get(class).is_some_and(|&before| before > 0 && before + sign > 0)
    }

    /// An array that nobody needs any more is given back when others may look at the sizes again: by Python, which may
    /// do anything then.
    fn change(&self, class: usize, sign: i64) {
        let mut sizes = lock(&self.0);
        if let Some(documents) = sizes.documents.get_mut(class) {
            *documents += sign;
        }
        let old = sizes.array.take();
        drop(sizes);
        drop(old);
    }
}

#[pymethods]
impl PySizes {
    #[new]
    fn new() -> Self {
        Self(Mutex::new(Sizes { documents: Vec::new(), array: None }))
    }

    /// An array that stays as it is; after a change there is another.
    #[getter]
    fn array<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let documents = {
            let sizes = lock(&self.0);
            if let Some(array) = &sizes.array {
                return array.bind(py).clone();
            }
            sizes.documents.clone()
        };
        let array = documents.clone().into_pyarray(py);
        let mut sizes = lock(&self.0);
        if sizes.documents == documents {
            sizes.array = Some(array.clone().unbind());
        }
        array
    }

    #[setter]
    fn set_array(&self, array: Bound<'_, PyArray1<i64>>) -> PyResult<()> {
        let documents = array.extract::<PyReadonlyArray1<'_, i64>>()?.as_slice()?.to_vec();
        let new = Sizes { documents, array: Some(array.unbind()) };
        let old = std::mem::replace(&mut *lock(&self.0), new);
        drop(old);
        Ok(())
    }

    /// For each class whether it has documents.
    #[getter]
    fn exist<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let exist: Vec<u8> =
            lock(&self.0).documents.iter().map(|&documents| u8::from(documents > 0)).collect();
        PyBytes::new(py, &exist)
    }
}

/// What learns and forgets one text that all views look at.
#[pyclass(frozen, module = "bayleaf._core", name = "Lessons")]
pub struct PyLessons {
    turn: Py<PyTurn>,
    /// The numbers of the classes by their labels.
    numbers: Py<PyDict>,
    sizes: Py<PySizes>,
    tallies: Vec<Py<PyTally>>,
    /// What answers, which lives with the tallies: its `changes` are those that it has followed.
    answering: Py<PyAny>,
    /// What was learned since the evidence was weighed, if it was: `of` a lesson gives a number, `value` is their sum.
    drift: Option<Py<PyAny>>,
}

/// One text, its label, and the number of that.
struct Lesson<'py> {
    text: Bound<'py, PyString>,
    label: Bound<'py, PyAny>,
    class: u32,
}

#[pymethods]
impl PyLessons {
    #[new]
    fn new(
        turn: Py<PyTurn>,
        numbers: Py<PyDict>,
        sizes: Py<PySizes>,
        tallies: Vec<Py<PyTally>>,
        answering: Py<PyAny>,
        drift: Option<Py<PyAny>>,
    ) -> Self {
        Self { turn, numbers, sizes, tallies, answering, drift }
    }

    /// Learn the only text of X; whether it was as simple as that.
    fn learn<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>, y: &Bound<'py, PyAny>) -> PyResult<bool> {
        self.change(py, x, y, 1)
    }

    /// Forget the only text of X; whether it was as simple as that.
    fn forget<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>, y: &Bound<'py, PyAny>) -> PyResult<bool> {
        self.change(py, x, y, -1)
    }
}

impl PyLessons {
    fn change<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
        sign: i64,
    ) -> PyResult<bool> {
        let Some(lesson) = self.lesson(py, x, y)? else { return Ok(false) };
        let turn = self.turn.get();
        let Some(_turn) = turn.try_take(py)? else { return Ok(false) };
        let answering = self.answering.bind(py);
        let follows = answering.getattr(intern!(py, "changes"))?.eq(turn.changes())?;
        let (class, sizes) = (lesson.class as usize, self.sizes.get());
        if !follows || !sizes.stays(class, sign) {
            return Ok(false);
        }
        let drift = self.drifted(py, &lesson, sign)?;
        let changes = turn.begin_change();
        match with_text(&lesson.text, |document| self.change_all(py, document, lesson.class, sign > 0))? {
            // Who goes the long way finds the words for it.
            Err(error) if error.is_instance_of::<NotLearned>(py) => return Ok(false),
            changed => changed?,
        }
        sizes.change(class, sign);
        if let (Some(noted), Some(drift)) = (&self.drift, drift) {
            noted.bind(py).setattr(intern!(py, "value"), drift)?;
        }
        answering.setattr(intern!(py, "changes"), changes)?;
        Ok(true)
    }

    /// The only text of X with a label that was met before, if both are plain.
    fn lesson<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Lesson<'py>>> {
        let (Some(text), Some(label)) = (only(x), only(y)) else { return Ok(None) };
        let Ok(text) = text.cast_into_exact::<PyString>() else { return Ok(None) };
        if !PyString::is_exact_type_of(&label) && !PyInt::is_exact_type_of(&label) {
            return Ok(None);
        }
        let class = self.numbers.bind(py).get_item(&label)?;
        Ok(class.map(|class| class.extract()).transpose()?.map(|class| Lesson { text, label, class }))
    }

    /// What was learned since the evidence was weighed will be this; nothing has changed yet.
    fn drifted<'py>(
        &self,
        py: Python<'py>,
        lesson: &Lesson<'py>,
        sign: i64,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(drift) = &self.drift else { return Ok(None) };
        let drift = drift.bind(py);
        let own = drift.call_method1(intern!(py, "of"), (&lesson.text, &lesson.label))?;
        let before = drift.getattr(intern!(py, "value"))?;
        Ok(Some(if sign > 0 { before.add(own)? } else { before.sub(own)? }))
    }

    /// Change all views, or none.
    fn change_all(&self, py: Python<'_>, document: Document<'_>, class: u32, add: bool) -> PyResult<()> {
        for (i, tally) in self.tallies.iter().enumerate() {
            let before = tally.get().changes(py)?;
            let Err(mut error) = tally.get().change_one(py, document, class, add) else { continue };
            let changed = tally.get().changes(py)? != before;
            for tally in &self.tallies[..i + usize::from(changed)] {
                error = undo(py, tally.get(), document, class, add)?.unwrap_or(error);
            }
            return Err(error);
        }
        Ok(())
    }
}

/// Take a change back, whoever presses Ctrl-C meanwhile: that comes after.
fn undo(
    py: Python<'_>,
    tally: &PyTally,
    document: Document<'_>,
    class: u32,
    added: bool,
) -> PyResult<Option<PyErr>> {
    let (before, mut interrupt) = (tally.changes(py)?, None);
    while tally.changes(py)? == before {
        match tally.change_one(py, document, class, !added) {
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => interrupt = Some(error),
            undone => undone?,
        }
    }
    Ok(interrupt)
}

/// The only item of a list.
fn only<'py>(items: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let items = items.cast_exact::<PyList>().ok().filter(|items| items.len() == 1)?;
    items.get_item(0).ok()
}
