//! The only module that names Python. It converts, releases the GIL, delegates, and decides nothing.

mod arrays;
mod documents;
mod functions;
mod held;
mod living;
mod scorer;
mod tuning;

use crate::context::Context;
use crate::errors::ReadError;
use crate::errors::TallyError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::analyze::located::{Part, parts};
use crate::analyze::normalize::Normalizer;
use crate::analyze::porter::Porter;
use crate::analyze::reader::Analysis;
use crate::analyze::tokenizers::{self, Cut, PatternError, Tokenizer};
use crate::analyze::words::WordRules;
use crate::lexicon::Lexicon;
use crate::lexicon::numbering::Frozen;
use crate::score::Value;
use crate::score::living::Living;
use crate::tally::Tally;
use crate::tally::export::{Wanted, export};
use crate::tally::matrix::matrix;
use crate::tally::restore::Damaged;
use arrays::{dict_of, lender, numbers, with_linear, with_stored};
use documents::Documents;
use functions::{PyCutter, PyFunction};
use held::Held;
use scorer::PyScorer;

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

#[pyclass(frozen, module = "bayleaf._core")]
struct Analyzer {
    analysis: Analysis,
    normalizer: Option<Normalizer>,
}

impl Analyzer {
    /// Run with the GIL released, looking for Ctrl-C now and then.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Context) -> Result<T, TallyError> + Send,
    ) -> PyResult<T> {
        let interrupt = Mutex::new(None);
        let interrupted = || match Python::attach(|py| py.check_signals()) {
            Ok(()) => lock(&interrupt).is_some(),
            Err(error) => {
                *lock(&interrupt) = Some(error);
                true
            }
        };
        let normalizer = self.normalizer.as_ref();
        let context = Context { analysis: &self.analysis, normalizer, interrupted: &interrupted };
        let result = py.detach(|| work(&context));
        match lock(&interrupt).take() {
            Some(error) => Err(error),
            None => Ok(result?),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Analyzer {
    #[staticmethod]
    #[pyo3(signature = (shortest, longest, *, lower, marks, min_length, max_length, max_bytes, bigrams, tokenizer, pattern, function, keep, sparse, stop_words, porter, normalizer))]
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
        normalizer: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let max_length = max_length.unwrap_or(usize::MAX);
        let rules = WordRules { lower, marks, min_length, max_length, max_bytes, bigrams };
        let tokenizer = match (tokenizer, pattern, function) {
            (_, None, Some(function)) => Tokenizer::Function(Box::new(PyCutter(function))),
            (_, Some(pattern), None) => Tokenizer::Pattern(tokenizers::pattern(pattern)?),
            ("whitespace", None, None) => Tokenizer::Whitespace,
            ("words+punctuation", None, None) => Tokenizer::Punctuation,
            _ => Tokenizer::Words,
        };
        let cut = Cut { rules, tokenizer, keep: keep.map(tokenizers::pattern).transpose()? };
        let function = normalizer.map(|function| Box::new(PyFunction(function)) as _);
        let normalizer = Normalizer::new(stop_words.iter().map(String::as_str), porter, function);
        let normalizer = (!normalizer.is_idle()).then_some(normalizer);
        Ok(Self { analysis: Analysis::Words { cut, shortest, longest, sparse }, normalizer })
    }

    #[staticmethod]
    #[pyo3(signature = (shortest, longest, *, lower, within_words))]
    fn letters(shortest: usize, longest: usize, lower: bool, within_words: bool) -> Self {
        Self { analysis: Analysis::Letters { lower, within_words, shortest, longest }, normalizer: None }
    }

    #[staticmethod]
    fn bytes(shortest: usize, longest: usize) -> Self {
        Self { analysis: Analysis::Bytes { shortest, longest }, normalizer: None }
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
struct Characters(Option<Vec<u32>>);

impl Characters {
    fn of(text: &[u8]) -> Self {
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

    fn located(&self, part: Part) -> (String, usize, usize) {
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

#[pyclass(frozen, module = "bayleaf._core", name = "Tally")]
struct PyTally {
    analyzer: Py<Analyzer>,
    living: Held<Living>,
}

impl PyTally {
    /// Where terms stand. Whoever holds the lock may wait for the GIL, so nobody waits for the lock with the GIL.
    fn lexicon(&self, py: Python<'_>) -> PyResult<Arc<Lexicon>> {
        Ok(py.detach(|| self.living.with(|living| Ok(living.tally.lexicon().clone())))?)
    }

    fn check(&self, documents: &Documents, classes: &[u32]) -> PyResult<()> {
        if documents.len() == classes.len() {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "There are {} documents and {} classes; each document needs one.",
            documents.len(),
            classes.len()
        )))
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
        let classes = classes.as_slice()?;
        self.check(&documents, classes)?;
        let documents = documents.get();
        let analyzer = self.analyzer.get();
        analyzer
            .run(py, |context| self.living.with(|living| living.add(context, &documents, classes, threads)))
    }

    fn subtract(
        &self,
        py: Python<'_>,
        documents: Documents,
        classes: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<()> {
        let classes = classes.as_slice()?;
        self.check(&documents, classes)?;
        let documents = documents.get();
        self.analyzer
            .get()
            .run(py, |context| self.living.with(|living| living.subtract(context, &documents, classes)))
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
    fn changes(&self, py: Python<'_>) -> PyResult<u64> {
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
    fn restore(py: Python<'_>, analyzer: Py<Analyzer>, arrays: &Bound<'_, PyDict>) -> PyResult<Self> {
        let deepest = analyzer.get().analysis.deepest();
        let lexicon = with_stored(arrays, |arrays| py.detach(|| arrays.lexicon(deepest)))??;
        let arrays = arrays.clone().unbind();
        // They were checked, and nobody else has them: fetching them cannot fail.
        let asleep = move || {
            Python::attach(|py| with_stored(arrays.bind(py), |arrays| arrays.classes())).unwrap_or_default()
        };
        let tally = Tally::restored(lexicon, Box::new(asleep));
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

/// Whether this thread is inside a callback of the core.
#[pyfunction]
fn in_callback() -> bool {
    functions::in_callback()
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

#[pymodule]
pub mod _core {
    #[pymodule_export]
    use super::living::PyAsking;
    #[pymodule_export]
    use super::scorer::PyScorer;
    #[pymodule_export]
    use super::tuning::{PyFeatures, PyRows, leave_one_out};
    #[pymodule_export]
    use super::{Analyzer, NotLearned, PyTally, in_callback, porter};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
