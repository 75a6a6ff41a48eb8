//! The loop of the thread that has the connections.

use std::collections::{HashMap, VecDeque};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::{Interest, Poll, Token};

use super::connection::{Come, Connection, Listener, State};
use super::peers::uid_of;
use super::request::{IO, LATER, Refused, Request};
use super::server::{Handed, Server, Told};

pub const WAKE: Token = Token(0);
/// Numbers below are of listeners.
const FIRST: usize = 1 << 10;
const LINGER: Duration = Duration::from_secs(1);
/// How long to wait when no file can be opened for another connection, and for what is to be written at the end.
const PAUSE: Duration = Duration::from_millis(100);
const FAREWELL: Duration = Duration::from_secs(1);
/// So many connections are taken, and so many pieces read of one, before others have their turn.
const AT_A_TIME: usize = 32;
const PIECE: usize = 1 << 16;
/// Longer mails are left to others, who have threads for them.
const LARGE: usize = 1 << 16;

pub struct Events {
    server: Arc<Server>,
    poll: Poll,
    listeners: Vec<Listener>,
    connections: HashMap<usize, Connection>,
    next: usize,
    buffer: Vec<u8>,
    /// Who may have more to read, though nothing tells so.
    again: Vec<usize>,
    /// When to look for new connections, though nothing tells so.
    accept_at: Option<Instant>,
    /// Deadlines in order: all of a queue have the same time from their beginning.
    slow: VecDeque<(Instant, usize)>,
    lingering: VecDeque<(Instant, usize)>,
    stop_at: Option<Instant>,
}

impl Events {
    pub fn new(server: Arc<Server>, poll: Poll) -> Self {
        Self {
            server,
            poll,
            listeners: Vec::new(),
            connections: HashMap::new(),
            next: FIRST,
            buffer: vec![0; PIECE],
            again: Vec::new(),
            accept_at: None,
            slow: VecDeque::new(),
            lingering: VecDeque::new(),
            stop_at: None,
        }
    }

    /// Until it is told to stop.
    pub fn run(mut self) {
        let server = self.server.clone();
        let ended = catch_unwind(AssertUnwindSafe(|| self.turns()));
        server.end(!matches!(ended, Ok(Ok(()))));
    }

    fn turns(&mut self) -> std::io::Result<()> {
        let mut events = mio::Events::with_capacity(256);
        while !self.is_over() {
            match self.poll.poll(&mut events, self.patience()) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                match event.token() {
                    WAKE => self.listen_to_told(),
                    Token(number) if number < FIRST => self.accept(number - 1),
                    Token(id) => self.turn(id),
                }
            }
            self.catch_up();
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let at_work = |connection: &Connection| matches!(connection.state, State::Writing(_));
        self.stop_at.is_some_and(|end| Instant::now() >= end || !self.connections.values().any(at_work))
    }

    fn patience(&self) -> Option<Duration> {
        if !self.again.is_empty() {
            return Some(Duration::ZERO);
        }
        let first = |queue: &VecDeque<(Instant, usize)>| queue.front().map(|&(at, _)| at);
        let times = [first(&self.slow), first(&self.lingering), self.accept_at, self.stop_at];
        let left = times.into_iter().flatten().min()?.saturating_duration_since(Instant::now());
        // The kernel counts in milliseconds: without one more it would be asked again and again.
        Some(if left.is_zero() { left } else { left + Duration::from_millis(1) })
    }

    /// What no event tells: more to read, and time that has passed.
    fn catch_up(&mut self) {
        for id in std::mem::take(&mut self.again) {
            self.turn(id);
        }
        let now = Instant::now();
        if self.accept_at.is_some_and(|at| at <= now) {
            self.accept_at = None;
            (0..self.listeners.len()).for_each(|number| self.accept(number));
        }
        while let Some((at, id)) = due(&mut self.slow, now).or_else(|| due(&mut self.lingering, now)) {
            self.too_late(at, id);
        }
    }

    fn too_late(&mut self, at: Instant, id: usize) {
        let Some(mut connection) = self.connections.remove(&id) else { return };
        let is_due = connection.deadline == Some(at);
        let stays = match connection.state {
            State::Reading(_) if is_due => {
                let refused = Refused::new(IO, self.server.settings.too_slow.clone());
                self.refuse(&mut connection, refused)
            }
            State::Writing(_) | State::Lingering => !is_due,
            _ => true,
        };
        if stays {
            self.keep(id, connection);
        }
    }

    fn listen_to_told(&mut self) {
        for told in self.server.take_told() {
            match told {
                Told::Listen(listener) => self.listen(listener),
                Told::Answer(id, bytes) => {
                    if let Some(mut connection) = self.connections.remove(&id)
                        && self.finish(&mut connection, bytes)
                    {
                        self.keep(id, connection);
                    }
                }
                Told::Close => self.listeners.clear(),
                Told::Stop => {
                    self.listeners.clear();
                    self.stop_at = Some(Instant::now() + FAREWELL);
                }
            }
        }
    }

    fn listen(&mut self, mut listener: Listener) {
        let token = Token(self.listeners.len() + 1);
        if self.poll.registry().register(listener.source(), token, Interest::READABLE).is_ok() {
            self.listeners.push(listener);
            self.accept(token.0 - 1);
        }
    }

    fn accept(&mut self, number: usize) {
        for _ in 0..AT_A_TIME {
            let Some(listener) = self.listeners.get(number) else { return };
            match listener.accept() {
                Ok(stream) => self.begin(Connection::new(stream)),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    _ => {
                        self.accept_at = Some(Instant::now() + PAUSE);
                        return;
                    }
                },
            }
        }
        self.accept_at = Some(Instant::now());
    }

    fn begin(&mut self, mut connection: Connection) {
        let id = self.next;
        self.next += 1;
        let stays = if self.connections.len() >= self.server.settings.most {
            self.refuse(&mut connection, Refused::new(LATER, "Too many connections. Try again later."))
        } else {
            self.read(id, &mut connection)
        };
        if stays {
            self.keep(id, connection);
        }
    }

    fn turn(&mut self, id: usize) {
        let Some(mut connection) = self.connections.remove(&id) else { return };
        if connection.write() && self.read(id, &mut connection) {
            self.keep(id, connection);
        }
    }

    fn keep(&mut self, id: usize, mut connection: Connection) {
        if connection.deadline.is_none() && !matches!(connection.state, State::Waiting) {
            self.set_deadline(id, &mut connection);
        }
        if connection.watch(self.poll.registry(), id).is_ok() {
            self.connections.insert(id, connection);
        }
    }

    fn set_deadline(&mut self, id: usize, connection: &mut Connection) {
        let (queue, time) = match connection.state {
            State::Lingering => (&mut self.lingering, LINGER),
            _ => (&mut self.slow, self.server.settings.time),
        };
        let at = Instant::now() + time;
        queue.push_back((at, id));
        connection.deadline = Some(at);
    }

    /// Read what is there; whether the connection stays.
    fn read(&mut self, id: usize, connection: &mut Connection) -> bool {
        for _ in 0..AT_A_TIME {
            match connection.read(&mut self.buffer) {
                Come::Bytes(size) => {
                    if let State::Reading(reading) = &mut connection.state {
                        reading.add(&self.buffer[..size]);
                        if !self.consider(id, connection) {
                            return false;
                        }
                    }
                }
                Come::End => {
                    connection.ended = true;
                    return match connection.state {
                        State::Reading(_) => self.consider(id, connection),
                        State::Lingering => false,
                        _ => true,
                    };
                }
                Come::Nothing => return true,
                Come::Broken => return false,
            }
        }
        self.again.push(id);
        true
    }

    /// Answer, if the request is complete; whether the connection stays.
    fn consider(&mut self, id: usize, connection: &mut Connection) -> bool {
        let State::Reading(reading) = &mut connection.state else { return true };
        match reading.is_complete(self.server.settings.limits, connection.ended) {
            Ok(false) => return true,
            Ok(true) => {}
            Err(refused) => return self.refuse(connection, refused),
        }
        connection.ended |= reading.is_exact();
        connection.deadline = None;
        let Some(request) = std::mem::take(reading).into_request() else { return false };
        connection.state = State::Waiting;
        match self.answer(connection, &request) {
            Some(bytes) => self.finish(connection, bytes),
            None => {
                let (uid, took) = (uid_of(&connection.stream), connection.began.elapsed());
                self.server.hand(Handed { connection: id, request, uid, took });
                true
            }
        }
    }

    fn refuse(&mut self, connection: &mut Connection, refused: Refused) -> bool {
        self.server.answered.count("unknown", refused.code, connection.began.elapsed());
        self.finish(connection, refused.bytes())
    }

    /// Write the answer; whether the connection stays.
    fn finish(&mut self, connection: &mut Connection, bytes: Vec<u8>) -> bool {
        connection.deadline = None;
        connection.state = State::Writing(bytes);
        connection.write()
    }

    /// What can be answered without others.
    fn answer(&self, connection: &Connection, request: &Request) -> Option<Vec<u8>> {
        let server = &self.server;
        match request.method {
            "PING" | "SKIP" => {
                server.answered.count(request.method, 0, connection.began.elapsed());
                Some(if request.method == "PING" { b"SPAMD/1.5 0 PONG\r\n".to_vec() } else { Vec::new() })
            }
            "CHECK" if request.body.len() <= LARGE && self.is_for_all(connection, request) => {
                let standing = server.standing.get()?;
                let check = || standing.check(&request.body, server.settings.threshold);
                // A panic is said on standard error, and others try: they can say more to the client.
                let (bytes, question) = catch_unwind(AssertUnwindSafe(check)).ok()??;
                server.answered.keep(question, connection.began.elapsed());
                Some(bytes)
            }
            _ => None,
        }
    }

    /// Whether the shared counts answer, and whoever asks may say what it says.
    fn is_for_all(&self, connection: &Connection, request: &Request) -> bool {
        if request.header("compress").is_some() {
            return false;
        }
        let settings = &self.server.settings;
        let user = request.header("user").unwrap_or_default();
        if user.is_empty() && !settings.personal {
            return true;
        }
        let may_name = || uid_of(&connection.stream).is_none_or(|uid| uid == 0 || uid == settings.uid);
        let is_plain = user.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        is_plain && (user.is_empty() || !settings.personal) && may_name()
    }
}

fn due(queue: &mut VecDeque<(Instant, usize)>, now: Instant) -> Option<(Instant, usize)> {
    queue.front().is_some_and(|&(at, _)| at <= now).then(|| queue.pop_front())?
}
