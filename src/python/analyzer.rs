//! How documents become terms, as Python sets it up, and where those terms stand in a text.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::documents::Documents;
use super::functions::{PyCutter, PyFunction, signals};
use crate::analyze::buckets::Hashed;
use crate::analyze::located::{Part, parts};
use crate::analyze::normalize::{Function, Normalizer, ZeroDigits};
use crate::analyze::patterns::Pattern;
use crate::analyze::reader::Analysis;
use crate::analyze::tokenizers::{Cut, Tokenizer};
use crate::analyze::words::WordRules;
use crate::context::Context;
use crate::errors::TallyError;
use crate::lexicon::Lexicon;
use crate::lexicon::numbering::Frozen;
use crate::tally::matrix::matrix;

#[pyclass(frozen, module = "bayleaf._core")]
pub struct Analyzer {
    pub analysis: Analysis,
    pub normalizer: Option<Normalizer>,
}

impl Analyzer {
    fn of(analysis: Analysis, buckets: Option<u32>, normalizer: Option<Normalizer>) -> Self {
        let analysis = match buckets {
            Some(buckets) => Analysis::Hashed(Box::new(Hashed::new(buckets, analysis))),
            None => analysis,
        };
        Self { analysis, normalizer }
    }

    /// Run with the GIL released, looking for Ctrl-C now and then.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Context) -> Result<T, TallyError> + Send,
    ) -> PyResult<T> {
        interruptible(py, |interrupted| work(&self.context(interrupted)))
    }

    pub fn context<'a>(&'a self, interrupted: &'a (dyn Fn() -> bool + Sync)) -> Context<'a> {
        Context { analysis: &self.analysis, normalizer: self.normalizer.as_ref(), interrupted }
    }
}

/// Run with the GIL released; what is handed over says whether Ctrl-C was pressed.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> Result<T, TallyError> + Send,
) -> PyResult<T> {
    let interrupt = Mutex::new(None);
    let interrupted = || match Python::attach(|py| py.check_signals()) {
        Ok(()) => lock(&interrupt).is_some(),
        Err(error) => {
            *lock(&interrupt) = Some(error);
            true
        }
    };
    let result = py.detach(|| work(&interrupted));
    match lock(&interrupt).take() {
        Some(error) => Err(error),
        None => Ok(result?),
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is done to words: a step that the core knows by its name, or a function.
#[derive(FromPyObject)]
enum Normalizing {
    Named(String),
    Called(Py<PyAny>),
}

impl Normalizing {
    fn into_function(self) -> PyResult<Box<dyn Function>> {
        match self {
            Self::Named(name) if name == "zero" => Ok(Box::new(ZeroDigits)),
            Self::Named(name) => Err(PyValueError::new_err(format!("The core knows no step {name:?}."))),
            Self::Called(function) => Ok(Box::new(PyFunction(function))),
        }
    }
}

#[pymethods]
impl Analyzer {
    #[staticmethod]
    #[pyo3(signature = (shortest, longest, *, lower, marks, min_length, max_length, max_bytes, bigrams, tokenizer, pattern, function, keep, sparse, stop_words, porter, normalizer, buckets = None))]
    #[allow(clippy::too_many_arguments, reason = "one argument for each rule, all of them by name")]
    fn words(
        shortest: usize,
        longest: usize,
        lower: bool,
        marks: bool,
        min_length: usize,
        max_length: Option<usize>,
        max_bytes: usize,
        bigrams: bool,
        tokenizer: &str,
        pattern: Option<&str>,
        function: Option<Py<PyAny>>,
        keep: Option<&str>,
        sparse: usize,
        stop_words: Vec<String>,
        porter: bool,
        normalizer: Option<Normalizing>,
        buckets: Option<u32>,
    ) -> PyResult<Self> {
        let max_length = max_length.unwrap_or(usize::MAX);
        let rules = WordRules { lower, marks, min_length, max_length, max_bytes, bigrams };
        let tokenizer = match (tokenizer, pattern, function) {
            (_, None, Some(function)) => Tokenizer::Function(Box::new(PyCutter(function))),
            (_, Some(pattern), None) => Tokenizer::Pattern(Pattern::new(pattern, signals)?),
            ("whitespace", None, None) => Tokenizer::Whitespace,
            ("words+punctuation", None, None) => Tokenizer::Punctuation,
            _ => Tokenizer::Words,
        };
        let cut = Cut { rules, tokenizer, keep: keep.map(|keep| Pattern::new(keep, signals)).transpose()? };
        let function = normalizer.map(Normalizing::into_function).transpose()?;
        let normalizer = Normalizer::new(stop_words.iter().map(String::as_str), porter, function);
        let normalizer = (!normalizer.is_idle()).then_some(normalizer);
        Ok(Self::of(Analysis::Words { cut, shortest, longest, sparse }, buckets, normalizer))
    }

    #[staticmethod]
    #[pyo3(signature = (shortest, longest, *, lower, within_words, buckets = None))]
    fn letters(
        shortest: usize,
        longest: usize,
        lower: bool,
        within_words: bool,
        buckets: Option<u32>,
    ) -> Self {
        Self::of(Analysis::Letters { lower, within_words, shortest, longest }, buckets, None)
    }

    #[staticmethod]
    #[pyo3(signature = (shortest, longest, *, bases, buckets = None))]
    fn bytes(shortest: usize, longest: usize, bases: bool, buckets: Option<u32>) -> Self {
        Self::of(Analysis::Bytes { bases, shortest, longest }, buckets, None)
    }

    /// How often each term occurs in each document, as compressed rows: names and their ends, row ends, columns, counts.
    fn matrix<'py>(&self, py: Python<'py>, documents: Documents) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let documents = documents.get();
        let matrix = self.run(py, |context| matrix(context, &documents))?;
        Ok(vec![
            matrix.names.into_pyarray(py).into_any(),
            matrix.name_ends.into_pyarray(py).into_any(),
            matrix.row_ends.into_pyarray(py).into_any(),
            matrix.columns.into_pyarray(py).into_any(),
            matrix.counts.into_pyarray(py).into_any(),
        ])
    }

    /// The terms of a text with their places.
    fn parts(&self, text: &Bound<'_, PyAny>) -> PyResult<Vec<(String, usize, usize)>> {
        let documents = Documents::of(text)?;
        let document = documents.get()[0];
        let lexicon = Lexicon::default();
        let parts =
            parts(document, &self.analysis, self.normalizer.as_ref(), &mut Frozen::new(&lexicon, false));
        let parts = parts.map_err(TallyError::Read)?;
        let places = Characters::of(document.bytes);
        Ok(parts.into_iter().map(|part| places.located(part)).collect())
    }
}

/// Byte positions in a text as character positions, which is how Python counts; bytes that are no text stay bytes.
pub struct Characters(Option<Vec<u32>>);

impl Characters {
    pub fn of(text: &[u8]) -> Self {
        if text.is_ascii() || std::str::from_utf8(text).is_err() {
            return Self(None);
        }
        let mut seen = 0;
        let starts = text.iter().map(|byte| {
            seen += u32::from(byte & 0xC0 != 0x80);
            seen - 1
        });
        let mut positions: Vec<u32> = starts.collect();
        positions.push(seen);
        Self(Some(positions))
    }

    fn at(&self, byte: usize) -> usize {
        self.0.as_ref().map_or(byte, |positions| positions[byte] as usize)
    }

    pub fn located(&self, part: Part) -> (String, usize, usize) {
        (escaped(&part.term), self.at(part.start), self.at(part.end))
    }
}

/// A term as text; bytes that are none are written as Python's `backslashreplace` does.
fn escaped(term: &[u8]) -> String {
    let mut text = String::with_capacity(term.len());
    for chunk in term.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}
