//! Whose turn it is to change a model: a lock that refuses instead of waiting for ever.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::analyzer::lock;
use super::functions::in_callback;

const REENTERED: &str = "The model is being changed by the call that led here: a normalizer, a tokenizer or a signal handler cannot use the model that called it. Let it take note, and use the model when the call has returned.";
const ELSEWHERE: &str = "Another thread is using the model, and a normalizer or tokenizer cannot wait for it: both could wait for ever. Use the model outside of the callback.";
const FORKED: &str = "Another thread was changing the model when this process was forked, so it is half changed here. Load it again, or fork (or start a pool of processes) while no thread is learning.";

/// Python's own lock, which lets signal handlers run while a thread waits: how to take it, and to give it back.
struct Taking {
    acquire: Py<PyAny>,
    release: Py<PyAny>,
}

impl Taking {
    fn new(py: Python<'_>) -> PyResult<Self> {
        let lock = py.import("threading")?.call_method0("RLock")?;
        Ok(Self { acquire: lock.getattr("acquire")?.unbind(), release: lock.getattr("release")?.unbind() })
    }
}

/// A thread that has its turn already is refused, and so is a callback that would have to wait. The lock can be taken
/// again until it is marked as busy, and after that mark is gone: a signal handler that runs just then finds the model
/// at rest, may use it, and leaves it at rest.
#[pyclass(frozen, subclass, module = "bayleaf._core", name = "Turn")]
pub struct PyTurn {
    taking: Mutex<Taking>,
    busy: AtomicBool,
    lost: AtomicBool,
    changes: AtomicU64,
}

/// The turn of a thread, until it is dropped.
pub struct Taken<'py> {
    py: Python<'py>,
    turn: &'py PyTurn,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // A lock that this thread has can be given back.
        let _given_back = self.turn.__exit__(self.py, None, None, None);
    }
}

impl PyTurn {
    /// The turn, if nobody has it and nothing speaks against it.
    pub fn try_take<'py>(&'py self, py: Python<'py>) -> PyResult<Option<Taken<'py>>> {
        if !self.acquired(py, false)? {
            return Ok(None);
        }
        if self.is_refused() {
            self.release(py)?;
            return Ok(None);
        }
        self.busy.store(true, Ordering::Relaxed);
        Ok(Some(Taken { py, turn: self }))
    }

    /// Count a change that begins; how many there are with it.
    pub fn begin_change(&self) -> u64 {
        self.changes.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn is_refused(&self) -> bool {
        self.busy.load(Ordering::Relaxed) || self.lost.load(Ordering::Relaxed)
    }

    fn acquired(&self, py: Python<'_>, waiting: bool) -> PyResult<bool> {
        let acquire = lock(&self.taking).acquire.clone_ref(py);
        acquire.bind(py).call1((waiting,))?.is_truthy()
    }

    fn release(&self, py: Python<'_>) -> PyResult<()> {
        let release = lock(&self.taking).release.clone_ref(py);
        release.bind(py).call0().map(drop)
    }
}

#[pymethods]
impl PyTurn {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        Ok(Self {
            taking: Mutex::new(Taking::new(py)?),
            busy: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            changes: AtomicU64::new(0),
        })
    }

    /// How often the model was changed.
    #[getter]
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_changes(&self, changes: u64) {
        self.changes.store(changes, Ordering::Relaxed);
    }

    fn __enter__(&self, py: Python<'_>) -> PyResult<()> {
        if !self.acquired(py, false)? && (in_callback() || !self.acquired(py, true)?) {
            return Err(PyRuntimeError::new_err(ELSEWHERE));
        }
        if self.is_refused() {
            self.release(py)?;
            let lost = self.lost.load(Ordering::Relaxed);
            return Err(PyRuntimeError::new_err(if lost { FORKED } else { REENTERED }));
        }
        self.busy.store(true, Ordering::Relaxed);
        Ok(())
    }

    #[pyo3(signature = (kind = None, error = None, traceback = None))]
    #[allow(unused_variables, reason = "what Python hands over")]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<&Bound<'_, PyAny>>,
        error: Option<&Bound<'_, PyAny>>,
        traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.busy.store(false, Ordering::Relaxed);
        if self.lost.load(Ordering::Relaxed) { Ok(()) } else { self.release(py) }
    }

    /// Forget the threads that are not in this process; what one of them was changing is lost.
    fn forked(&self, py: Python<'_>) -> PyResult<()> {
        if self.busy.swap(false, Ordering::Relaxed) {
            self.lost.store(true, Ordering::Relaxed);
        }
        let taking = Taking::new(py)?;
        *lock(&self.taking) = taking;
        Ok(())
    }
}
