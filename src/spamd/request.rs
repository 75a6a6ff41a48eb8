//! The bytes of one client, until they are a request or are refused.

use super::python_text::{ascii, is_space, shown};

pub const DATA: u8 = 65;
pub const IO: u8 = 74;
pub const LATER: u8 = 75;
pub const PROTOCOL: u8 = 76;

const METHODS: [&str; 9] =
    ["CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "HEADERS", "PROCESS", "TELL", "PING", "SKIP"];
const LONGEST_LINE: usize = 8_192;
const LONGEST_HEAD: usize = 65_536;

/// Why a request is not answered: a code of sysexits.h, and a sentence.
#[derive(Debug, PartialEq)]
pub struct Refused {
    pub code: u8,
    pub reason: String,
}

impl Refused {
    pub fn new(code: u8, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }

    fn line(shown: &str) -> Self {
        Self::new(PROTOCOL, format!("Bad header line: {shown}"))
    }

    /// One line without an empty one behind it: with that, spamc takes it for an answer.
    pub fn bytes(&self) -> Vec<u8> {
        format!("SPAMD/1.0 {} {}\r\n", self.code, self.reason).into_bytes()
    }
}

/// What one client may send.
#[derive(Clone, Copy)]
pub struct Limits {
    pub headers: usize,
    pub body: usize,
}

/// A request that is complete.
#[derive(Debug, PartialEq)]
pub struct Request {
    pub method: &'static str,
    pub version: (u8, u8),
    /// Names in lower case; of several of one name, the last counts.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// What has come of a request so far.
#[derive(Default)]
pub struct Reading {
    bytes: Vec<u8>,
    searched: usize,
    head: Option<Head>,
}

struct Head {
    request: Request,
    /// Where the body begins.
    start: usize,
    /// How long the body is to be.
    length: Option<usize>,
}

impl Reading {
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether the client has sent as much as it announced, and nothing behind it.
    pub fn is_exact(&self) -> bool {
        let rest = |head: &Head| head.length == Some(self.bytes.len() - head.start);
        self.head.as_ref().is_some_and(rest)
    }

    /// Whether all of the request is there; `ended` says that nothing more will come.
    pub fn is_complete(&mut self, limits: Limits, ended: bool) -> Result<bool, Refused> {
        if self.head.is_none() {
            self.head = self.read_head(limits, ended)?;
        }
        let Some(head) = &self.head else { return Ok(false) };
        if matches!(head.request.method, "PING" | "SKIP") {
            return Ok(true);
        }
        let got = self.bytes.len() - head.start;
        if got > limits.body {
            return Err(too_large(limits));
        }
        match head.length {
            Some(length) if got < length && ended => Err(Refused::new(
                PROTOCOL,
                format!("Content length mismatch: expected {length} bytes, got {got} bytes"),
            )),
            Some(length) => Ok(got >= length),
            None => Ok(ended),
        }
    }

    /// The request, once it is complete.
    pub fn into_request(self) -> Option<Request> {
        let Head { mut request, start, length } = self.head?;
        if !matches!(request.method, "PING" | "SKIP") {
            let mut body = self.bytes;
            body.truncate(length.map_or(body.len(), |length| start + length));
            body.drain(..start);
            request.body = body;
        }
        Some(request)
    }

    fn read_head(&mut self, limits: Limits, ended: bool) -> Result<Option<Head>, Refused> {
        let found = head_end(&self.bytes, self.searched);
        if found.is_none() && !ended {
            if self.bytes.len() > LONGEST_HEAD {
                return Err(Refused::line("the head of the request does not end"));
            }
            self.searched = self.bytes.len().saturating_sub(3); // the end of a head has four bytes at most
            return Ok(None);
        }
        let (end, start) = found.unwrap_or((self.bytes.len(), self.bytes.len()));
        let mut lines = self.bytes[..end].split(|&byte| byte == b'\n');
        let mut request = opened(lines.next().unwrap_or_default())?;
        if lines.clone().count() > limits.headers {
            return Err(Refused::line(&format!("more than {} of them", limits.headers)));
        }
        for line in lines.filter(|line| !line.iter().all(|byte| b" \t\r\x0b\x0c".contains(byte))) {
            request.headers.push(header(line)?);
        }
        let length = announced(request.header("content-length"), limits)?;
        Ok(Some(Head { request, start, length }))
    }
}

/// Where the head ends and the body begins: around two line ends.
fn head_end(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == b'\n')?;
        let behind = &bytes[at + 1..];
        let length = match behind {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => 0,
        };
        if length > 0 {
            let end = if at > 0 && bytes[at - 1] == b'\r' { at - 1 } else { at };
            return Some((end, at + 1 + length));
        }
        at += 1;
    }
}

/// The method and what the client speaks.
fn opened(line: &[u8]) -> Result<Request, Refused> {
    let refused = || Refused::line(&ascii(shown(&line[..line.len().min(60)]).trim_matches(is_space)));
    let end =
        line.iter().position(|byte| !(byte.is_ascii_uppercase() || *byte == b'_')).unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let method = METHODS.into_iter().find(|method| method.as_bytes() == word).ok_or_else(refused)?;
    let (version, rest) = match rest {
        [
            b' ',
            b'S',
            b'P',
            b'A',
            b'M',
            b'C',
            b'/',
            major @ b'0'..=b'9',
            b'.',
            minor @ b'0'..=b'9',
            rest @ ..,
        ] => ((major - b'0', minor - b'0'), rest),
        _ => ((1, 0), rest),
    };
    if !rest.iter().all(|byte| b" \t\r\x0b\x0c".contains(byte)) {
        return Err(refused());
    }
    Ok(Request { method, version, headers: Vec::new(), body: Vec::new() })
}

fn header(line: &[u8]) -> Result<(String, String), Refused> {
    if line.len() > LONGEST_LINE {
        return Err(Refused::line(&format!("longer than {LONGEST_LINE} bytes")));
    }
    let line = String::from_utf8_lossy(line);
    match line.split_once(':') {
        Some((name, value)) => {
            Ok((name.trim_matches(is_space).to_lowercase(), value.trim_matches(is_space).to_owned()))
        }
        None => {
            let start: String = line.trim_matches(is_space).chars().take(60).collect();
            Err(Refused::line(&ascii(&start)))
        }
    }
}

fn announced(length: Option<&str>, limits: Limits) -> Result<Option<usize>, Refused> {
    let Some(length) = length else { return Ok(None) };
    let plain = length.len() < 16 && length.bytes().all(|byte| byte.is_ascii_digit());
    let Some(bytes) = length.parse().ok().filter(|_| plain) else {
        let start: String = length.chars().take(40).collect();
        return Err(Refused::line(&format!("Content-length: {}", ascii(&start))));
    };
    if bytes > limits.body { Err(too_large(limits)) } else { Ok(Some(bytes)) }
}

fn too_large(limits: Limits) -> Refused {
    Refused::new(DATA, format!("The mail has more than {} bytes.", limits.body))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: Limits = Limits { headers: 4, body: 100 };
    const WHOLE: &[u8] = b"CHECK SPAMC/1.5\r\nUser: ann\r\nContent-length: 5\r\n\r\nhello";

    fn read(bytes: &[u8], ended: bool) -> Result<Option<Request>, Refused> {
        let mut reading = Reading::default();
        reading.add(bytes);
        Ok(if reading.is_complete(LIMITS, ended)? { reading.into_request() } else { None })
    }

    proptest! {
        #[test]
        fn a_request_is_the_same_in_however_many_pieces_it_comes(cut in 0..WHOLE.len(), other in 0..WHOLE.len()) {
            let (first, second) = (cut.min(other), cut.max(other));
            let mut reading = Reading::default();
            for piece in [&WHOLE[..first], &WHOLE[first..second]] {
                reading.add(piece);
                prop_assert_eq!(reading.is_complete(LIMITS, false), Ok(false));
            }
            reading.add(&WHOLE[second..]);
            prop_assert_eq!(reading.is_complete(LIMITS, false), Ok(true));
            prop_assert!(reading.is_exact());
            let request = reading.into_request();
            prop_assert_eq!(&request, &read(WHOLE, false).unwrap_or_default());
            let request = request.as_ref();
            prop_assert_eq!(request.and_then(|request| request.header("user")), Some("ann"));
            prop_assert_eq!(request.map(|request| request.body.as_slice()), Some(b"hello".as_slice()));
        }

        #[test]
        fn any_bytes_are_a_request_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes, false);
            let ended = read(&bytes, true);
            prop_assert!(!matches!(ended, Ok(None)), "nothing more will come");
        }
    }

    #[test]
    fn with_more_than_was_announced_closing_at_once_would_take_the_answer_back() {
        let mut reading = Reading::default();
        reading.add(WHOLE);
        reading.add(b"\n");
        assert_eq!(reading.is_complete(LIMITS, false), Ok(true));
        assert!(!reading.is_exact());
    }

    #[test]
    fn what_is_refused_is_said() {
        let refused = |bytes: &[u8]| read(bytes, true).err().map(|refused| refused.reason);
        for (bytes, reason) in [
            (b"HELO\n\n".as_slice(), "Bad header line: HELO"),
            (b"CHECK SPAMC/1.5 x\n\n", "Bad header line: CHECK SPAMC/1.5 x"),
            (b"CHECK\nno colon\n\n", "Bad header line: no colon"),
            (b"CHECK\nContent-length: -1\n\n", "Bad header line: Content-length: -1"),
            (b"CHECK\na:\nb:\nc:\nd:\ne:\n\n", "Bad header line: more than 4 of them"),
            (b"CHECK\nContent-length: 9\n\nx", "Content length mismatch: expected 9 bytes, got 1 bytes"),
            (b"CHECK\nContent-length: 101\n\n", "The mail has more than 100 bytes."),
        ] {
            assert_eq!(refused(bytes).as_deref(), Some(reason));
        }
    }
}
