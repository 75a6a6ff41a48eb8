//! The thread of SPAMD connections, started and answered from Python.

use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::analyzer::lock;
use super::together::PyTogether;
use crate::analyze::reader::Document;
use crate::mail::COLUMNS;
use crate::spamd::answered::{Answered, Requests};
use crate::spamd::answers::{Judge, Moment, Question, Standing, WHOLE};
use crate::spamd::request::Limits;
use crate::spamd::server::{Handed, Server, Settings, Told};
use crate::threads::beside;

/// A model that is asked without Python, and the column that each of its views reads.
struct Asked {
    together: Py<PyTogether>,
    places: Vec<usize>,
}

impl Judge for Asked {
    fn probabilities(&self, columns: &[String; COLUMNS]) -> Option<[f64; 2]> {
        let (subject, body) = (&columns[0], &columns[COLUMNS - 1]);
        let whole = match (self.places.contains(&WHOLE), subject.is_empty()) {
            (true, false) => format!("{subject}\n{body}"),
            (true, true) => body.clone(),
            (false, _) => String::new(),
        };
        let text = |view: usize| columns.get(self.places[view]).unwrap_or(&whole);
        let posterior =
            self.together.get().posterior_of(|view| Document { bytes: text(view).as_bytes(), trusted: true });
        posterior.ok()?.try_into().ok()
    }
}

/// What answers SPAMD without Python between two changes of a model.
#[pyclass(frozen, module = "bayleaf._core", name = "Standing")]
pub struct PyStanding(Arc<Standing>);

#[pymethods]
impl PyStanding {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Answer by these counts until they are about to change; of each view, the place of its column.
    fn stand(
        &self,
        py: Python<'_>,
        together: Py<PyTogether>,
        places: Vec<usize>,
        classes: [String; 2],
        spam: usize,
        version: i64,
    ) -> PyResult<()> {
        let fits = places.len() == together.get().views() && places.iter().all(|&place| place <= WHOLE);
        if !fits || spam > 1 {
            return Err(PyValueError::new_err("There must be one column for each view, and a class of two."));
        }
        let judge = Box::new(Asked { together, places });
        let moment = Moment { judge, classes: Arc::new(classes), spam, version };
        py.detach(|| self.0.set(Some(moment)));
        Ok(())
    }

    /// Wait for the answer that is being given, and give no other.
    fn withdraw(&self, py: Python<'_>) {
        py.detach(|| self.0.set(None));
    }
}

/// Number of the connection, method, version, headers, body, user at the other end, and the seconds it took so far.
type Request<'py> =
    (usize, &'static str, (u8, u8), Vec<(String, String)>, Bound<'py, PyBytes>, Option<u32>, f64);
/// Columns, Message-ID, sender, answer, probabilities by class, version and time.
type Kept = (Vec<String>, String, String, String, Vec<(String, f64)>, i64, f64);
/// Method, code, how many took how long, and all of their seconds.
type Counted = (&'static str, u8, Vec<u64>, f64);

#[pyclass(frozen, module = "bayleaf._core", name = "SpamdServer")]
pub struct PySpamdServer {
    server: Arc<Server>,
    noticed: UnixStream,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[pymethods]
impl PySpamdServer {
    /// Start the thread.
    #[new]
    #[pyo3(signature = (*, headers, body, seconds, too_slow, connections, threshold, personal, uid, questions, bounds))]
    #[allow(clippy::too_many_arguments, reason = "one argument for each setting, all of them by name")]
    fn new(
        headers: usize,
        body: usize,
        seconds: f64,
        too_slow: String,
        connections: usize,
        threshold: f64,
        personal: bool,
        uid: u32,
        questions: usize,
        bounds: Vec<f64>,
    ) -> PyResult<Self> {
        let time =
            Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let limits = Limits { headers, body };
        let settings = Settings { limits, time, too_slow, most: connections, threshold, personal, uid };
        let (server, events, noticed) = Server::new(settings, Answered::new(questions, bounds))?;
        let thread = beside("bayleaf-spamd", move || events.run())?;
        Ok(Self { server, noticed, thread: Mutex::new(Some(thread)) })
    }

    /// Take connections from a socket that is bound and listens, and belongs to this from now on.
    fn listen(&self, socket: i32, is_unix: bool) -> PyResult<()> {
        if socket < 0 {
            return Err(PyOSError::new_err("The socket is closed."));
        }
        // SAFETY: the caller has given the socket up (`detach`), so that nobody else closes it.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        Ok(self.server.listen(socket, is_unix)?)
    }

    /// Answer ordinary CHECK by this model, whenever it stands; the first that is given counts.
    fn answer_by(&self, standing: &PyStanding) {
        self.server.standing.get_or_init(|| standing.0.clone());
    }

    /// What becomes readable when something was handed over.
    fn fileno(&self) -> i32 {
        self.noticed.as_raw_fd()
    }

    /// The requests that wait for an answer.
    fn handed<'py>(&self, py: Python<'py>) -> Vec<Request<'py>> {
        let mut notices = [0; 64];
        while (&self.noticed).read(&mut notices).is_ok_and(|size| size == notices.len()) {}
        let request = |Handed { connection, request, uid, took }: Handed| {
            let body = PyBytes::new(py, &request.body);
            (connection, request.method, request.version, request.headers, body, uid, took.as_secs_f64())
        };
        self.server.take_handed().into_iter().map(request).collect()
    }

    /// The answer to one of them.
    fn answer(&self, connection: usize, answer: Vec<u8>) -> PyResult<()> {
        Ok(self.server.tell(Told::Answer(connection, answer))?)
    }

    /// The newest questions that were answered and not taken yet, oldest first.
    fn questions(&self, most: usize) -> Vec<Kept> {
        let kept = |question: Question| {
            let answer = question.classes[question.answer()].clone();
            let probabilities = question.classes.iter().cloned().zip(question.probabilities).collect();
            let Question { columns, alias, sender, version, at, .. } = question;
            (columns.into(), alias, sender, answer, probabilities, version, at)
        };
        self.server.answered.take_questions(most).into_iter().map(kept).collect()
    }

    /// Requests since the last call; how often each class was answered, and the last answers, in order.
    fn tally(&self) -> (Vec<Counted>, Vec<(String, u64)>, Vec<String>) {
        let tally = self.server.answered.take_tally();
        let counted = |own: Requests| (own.method, own.code, own.counts, own.seconds);
        let before =
            tally.before.into_iter().map(|((classes, place), count)| (classes[place].clone(), count));
        let last = tally.last.into_iter().map(|(classes, place)| classes[place].clone());
        (tally.requests.into_iter().map(counted).collect(), before.collect(), last.collect())
    }

    /// Whether the thread has ended although it was not told to.
    #[getter]
    fn failed(&self) -> bool {
        self.server.has_failed()
    }

    /// Take no new connections.
    fn close(&self) -> PyResult<()> {
        Ok(self.server.tell(Told::Close)?)
    }

    /// Write what is answered, and end the thread.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.server.tell(Told::Stop)?;
        let thread = lock(&self.thread).take();
        py.detach(|| thread.map(JoinHandle::join));
        Ok(())
    }
}

impl Drop for PySpamdServer {
    fn drop(&mut self) {
        let _ = self.server.tell(Told::Stop);
    }
}
