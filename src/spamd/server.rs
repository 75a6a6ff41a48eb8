//! What the thread of the connections shares with those who start it and who answer what is handed over.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use mio::{Poll, Waker};

use super::answered::Answered;
use super::answers::Standing;
use super::connection::Listener;
use super::events::{Events, WAKE};
use super::request::{Limits, Request};

/// What does not change while it runs.
pub struct Settings {
    pub limits: Limits,
    /// Within this a request must be complete, and an answer taken.
    pub time: Duration,
    /// What is said of a request that was not.
    pub too_slow: String,
    /// So many connections may be open.
    pub most: usize,
    /// The score from which a mail is spam.
    pub threshold: f64,
    /// Whether users have counts of their own.
    pub personal: bool,
    /// The user of the service.
    pub uid: u32,
}

/// A request that others answer.
pub struct Handed {
    pub connection: usize,
    pub request: Request,
    pub uid: Option<u32>,
    pub took: Duration,
}

/// What the thread is told.
pub enum Told {
    Listen(Listener),
    Answer(usize, Vec<u8>),
    /// Take no new connections.
    Close,
    /// Write what is answered, and end.
    Stop,
}

pub struct Server {
    pub settings: Settings,
    pub standing: OnceLock<Arc<Standing>>,
    pub answered: Answered,
    told: Mutex<Vec<Told>>,
    handed: Mutex<Vec<Handed>>,
    /// A byte goes out here when something was handed over; its end says that the thread has ended.
    notice: Mutex<Option<UnixStream>>,
    waker: Waker,
    failed: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// The server, the loop that its thread has to run, and the place where notices come in.
    pub fn new(settings: Settings, answered: Answered) -> io::Result<(Arc<Self>, Events, UnixStream)> {
        let poll = Poll::new()?;
        let (notice, noticed) = UnixStream::pair()?;
        notice.set_nonblocking(true)?;
        noticed.set_nonblocking(true)?;
        let server = Arc::new(Self {
            settings,
            standing: OnceLock::new(),
            answered,
            told: Mutex::default(),
            handed: Mutex::default(),
            notice: Mutex::new(Some(notice)),
            waker: Waker::new(poll.registry(), WAKE)?,
            failed: AtomicBool::new(false),
        });
        let events = Events::new(server.clone(), poll);
        Ok((server, events, noticed))
    }

    /// Take connections from a socket that is bound.
    pub fn listen(&self, socket: OwnedFd, is_unix: bool) -> io::Result<()> {
        let listener = if is_unix {
            let listener = std::os::unix::net::UnixListener::from(socket);
            listener.set_nonblocking(true)?;
            Listener::Unix(mio::net::UnixListener::from_std(listener))
        } else {
            let listener = std::net::TcpListener::from(socket);
            listener.set_nonblocking(true)?;
            Listener::Tcp(mio::net::TcpListener::from_std(listener))
        };
        self.tell(Told::Listen(listener))
    }

    pub fn tell(&self, told: Told) -> io::Result<()> {
        lock(&self.told).push(told);
        self.waker.wake()
    }

    pub fn take_told(&self) -> Vec<Told> {
        std::mem::take(&mut lock(&self.told))
    }

    pub fn hand(&self, handed: Handed) {
        let mut waiting = lock(&self.handed);
        waiting.push(handed);
        if waiting.len() == 1 {
            // Full of notices it cannot be: each is one byte, and is read before the next is written.
            let _ = lock(&self.notice).as_ref().map(|mut notice| notice.write(&[1]));
        }
    }

    pub fn take_handed(&self) -> Vec<Handed> {
        std::mem::take(&mut lock(&self.handed))
    }

    /// Whether the thread has ended although it was not told to.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// The thread ends.
    pub fn end(&self, failed: bool) {
        self.failed.store(failed, Ordering::Release);
        lock(&self.notice).take();
    }
}
