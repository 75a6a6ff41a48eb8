//! One connection: what is read of it, what is written to it, and when it is over.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::Instant;

use mio::event::Source;
use mio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use mio::{Interest, Registry, Token};

use super::request::Reading;

pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Listener {
    pub fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp(listener) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
            Self::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
        }
    }

    pub fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Tcp(listener) => listener,
            Self::Unix(listener) => listener,
        }
    }
}

impl Stream {
    fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Tcp(stream) => stream,
            Self::Unix(stream) => stream,
        }
    }

    fn shutdown(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Self::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }
}

pub enum State {
    Reading(Reading),
    /// Others work on the answer.
    Waiting,
    /// What is left to be written.
    Writing(Vec<u8>),
    /// The answer is out; to close with data unread would take it back.
    Lingering,
}

pub struct Connection {
    pub stream: Stream,
    pub state: State,
    pub began: Instant,
    /// Whether nothing more will come that has to be read.
    pub ended: bool,
    /// When it is too late for what it is at.
    pub deadline: Option<Instant>,
    interest: Option<Interest>,
}

/// What came of a look at a connection.
#[derive(Debug, PartialEq)]
pub enum Come {
    Bytes(usize),
    End,
    Nothing,
    Broken,
}

impl Connection {
    pub fn new(stream: Stream) -> Self {
        let state = State::Reading(Reading::default());
        Self { stream, state, began: Instant::now(), ended: false, deadline: None, interest: None }
    }

    pub fn read(&mut self, buffer: &mut [u8]) -> Come {
        loop {
            return match self.stream.read(buffer) {
                Ok(0) => Come::End,
                Ok(size) => Come::Bytes(size),
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => continue,
                    ErrorKind::WouldBlock => Come::Nothing,
                    _ => Come::Broken,
                },
            };
        }
    }

    /// Write as much as goes; whether the connection stays.
    pub fn write(&mut self) -> bool {
        let State::Writing(bytes) = &mut self.state else { return true };
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(size) => drop(bytes.drain(..size)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        self.state = State::Lingering;
        self.deadline = None;
        !self.ended && self.stream.shutdown().is_ok()
    }

    /// Be told when there is something to do.
    pub fn watch(&mut self, registry: &Registry, id: usize) -> io::Result<()> {
        let wanted = match self.state {
            State::Writing(_) => Interest::READABLE | Interest::WRITABLE,
            _ => Interest::READABLE,
        };
        let before = self.interest.replace(wanted);
        match before {
            Some(before) if before == wanted => Ok(()),
            Some(_) => registry.reregister(self.stream.source(), Token(id), wanted),
            None => registry.register(self.stream.source(), Token(id), wanted),
        }
    }
}
