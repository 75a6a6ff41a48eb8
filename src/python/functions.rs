//! Python functions that the core calls.

use std::cell::Cell;
use std::error::Error;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::analyze::normalize::{Function, WordList};
use crate::analyze::tokenizers::Cutter;

thread_local! {
    /// How many of our callbacks are running on this thread, one inside the other.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread is inside a callback. Its caller may hold a lock, so it must not wait for one.
pub fn in_callback() -> bool {
    RUNNING.get() > 0
}

struct Running;

impl Running {
    fn start() -> Self {
        RUNNING.set(RUNNING.get() + 1);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(RUNNING.get() - 1);
    }
}

/// Call a Python function of one argument.
fn call<'py>(function: &Bound<'py, PyAny>, argument: impl IntoPyObject<'py>) -> PyResult<Bound<'py, PyAny>> {
    let _running = Running::start();
    function.call1((argument,))
}

/// A Python function from a list of words to a list of words, of which some may be None.
pub struct PyFunction(pub Py<PyAny>);

impl Function for PyFunction {
    fn apply(&self, words: &[&str], out: &mut WordList) -> Result<(), Box<dyn Error + Send + Sync>> {
        Python::attach(|py| -> PyResult<()> {
            let answers = call(self.0.bind(py), PyList::new(py, words)?)?;
            let answers = answers
                .cast_into::<PyList>()
                .map_err(|_| PyTypeError::new_err("The normalizer must return a list."))?;
            if answers.len() != words.len() {
                let message =
                    format!("The normalizer got {} forms and returned {} words.", words.len(), answers.len());
                return Err(PyValueError::new_err(message));
            }
            answers.iter().zip(words).try_for_each(|(answer, word)| push(&answer, word, out))
        })
        .map_err(Into::into)
    }
}

fn push(answer: &Bound<'_, PyAny>, word: &str, out: &mut WordList) -> PyResult<()> {
    if answer.is_none() {
        out.drop_one();
        return Ok(());
    }
    let Ok(string) = answer.cast::<PyString>() else {
        return Err(PyTypeError::new_err(format!(
            "The normalizer must return a string or None for each form, but for {word:?} it returned {}.",
            answer.get_type().name()?
        )));
    };
    match string.to_str() {
        Ok(text) => out.push(text),
        Err(_) => out.push(&string.to_string_lossy()),
    }
    Ok(())
}

/// A Python function from a text to a list of its tokens.
pub struct PyCutter(pub Py<PyAny>);

impl Cutter for PyCutter {
    fn cut(&self, text: &str, out: &mut WordList) -> Result<(), Box<dyn Error + Send + Sync>> {
        Python::attach(|py| -> PyResult<()> {
            let tokens = call(self.0.bind(py), text)?;
            let _running = Running::start();
            for token in tokens.try_iter()? {
                let token = token?;
                let Ok(string) = token.cast::<PyString>() else {
                    let kind = token.get_type().name()?;
                    let message =
                        format!("The tokenizer must return a list of strings, but it has a {kind}.");
                    return Err(PyTypeError::new_err(message));
                };
                out.push(&string.to_string_lossy());
            }
            Ok(())
        })
        .map_err(Into::into)
    }
}

/// Poll for Ctrl-C; the exception of a signal handler is an error as that of a callback is.
pub fn signals() -> Result<(), Box<dyn Error + Send + Sync>> {
    Ok(Python::attach(|py| py.check_signals())?)
}
