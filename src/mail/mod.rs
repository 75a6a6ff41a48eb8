//! Ordinary e-mail, read as Python's `email` package reads it, a dozen times faster.
//!
//! What is not ordinary is left to that package: broken mail, parts in parts of odd kinds, header bytes that
//! are not ASCII, rare charsets. So every step here gives up (`None`) where it is in doubt.

mod columns;
mod decode;
mod head;
mod html;
mod received;

pub use columns::Headed;
use decode::windows_1252;
use head::Head;
pub use html::Seen;

/// Parts in parts beyond this, and more parts than this, are not ordinary.
const DEEPEST: usize = 6;
const MOST_PARTS: usize = 64;

/// The headers that the columns are made of, beside those of parts.
const NAMED: [&str; 10] = [
    "from",
    "subject",
    "reply-to",
    "return-path",
    "message-id",
    "date",
    "to",
    "cc",
    "list-id",
    "list-unsubscribe",
];

/// What is read of a mail.
#[derive(Debug, Default, PartialEq)]
pub struct Mail {
    /// The columns that are made of headers, if no words of these are encoded.
    pub headed: Option<Headed>,
    /// Otherwise name and value of those of `NAMED` that are there, spaces made one unless words are encoded.
    pub headers: Vec<(&'static str, String)>,
    /// Hosts and networks of the `Received` headers.
    pub received: String,
    /// Content type, charset, encoding and file name of every part.
    pub types: String,
    /// What is telling about its parts: that all of it is one of HTML, that it was cut.
    pub flags: Vec<&'static str>,
    /// The domains that links point to.
    pub links: String,
    /// What a reader sees of the texts: of alternatives the last, of attachments none.
    pub texts: Vec<Seen>,
}

impl Mail {
    /// All texts in one, if no references are left in them.
    pub fn body(&mut self) -> Option<String> {
        if self.texts.iter().any(|seen| seen.references) {
            return None;
        }
        let mut filled = self.texts.drain(..).map(|seen| seen.text).filter(|text| !text.is_empty());
        let mut body = filled.next().unwrap_or_default();
        filled.for_each(|text| {
            body.push(' ');
            body.push_str(&text);
        });
        Some(body)
    }
}

/// Read a mail, or leave it to others.
pub fn read(raw: &[u8]) -> Option<Mail> {
    if has_lone_return(raw) {
        return None;
    }
    let start = if raw.starts_with(b"From ") { line_end(raw, 0) } else { 0 };
    let (head, body) = head::split(&raw[start..])?;
    let mut reading = Reading::default();
    let texts = reading.part(&head, body, 0)?;
    let headers: Vec<_> = NAMED.iter().filter_map(|name| Some((*name, head.shown(name)?))).collect();
    let html_only = head.content_type()? == "text/html";
    let flags = [("html-only", html_only), ("broken", reading.is_cut)];
    let flags: Vec<_> = flags.into_iter().filter_map(|(flag, is)| is.then_some(flag)).collect();
    let encoded = headers.iter().any(|(_, value)| value.contains("=?"));
    let mut links = Vec::new();
    for text in &texts {
        html::link_domains(text, &mut links)?;
    }
    Some(Mail {
        headed: (!encoded).then(|| columns::headed(&headers, &flags)),
        headers: if encoded { headers } else { Vec::new() },
        received: received::hosts(&head),
        types: reading.types.join(" "),
        flags,
        links: links.join(" "),
        texts: texts.iter().map(|text| html::seen(text)).collect::<Option<_>>()?,
    })
}

/// How many columns a mail has.
pub const COLUMNS: usize = 8;

/// Subject, name and domain of the sender, flags, hosts, types, links and body of a mail of which nothing is left to
/// others.
pub fn columns(raw: &[u8]) -> Option<[String; COLUMNS]> {
    let mut mail = read(raw)?;
    let body = mail.body()?;
    let Headed { subject, from_name, from_domain, flags } = mail.headed?;
    Some([subject, from_name, from_domain, flags, mail.received, mail.types, mail.links, body])
}

/// A carriage return alone ends a line, too.
fn has_lone_return(raw: &[u8]) -> bool {
    if !raw.contains(&b'\r') {
        return false; // a look that is much faster than to go through it
    }
    let mut rest = raw;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\r') {
        if rest.get(at + 1) != Some(&b'\n') {
            return true;
        }
        rest = &rest[at + 2..];
    }
    false
}

/// Where the line that begins at `start` ends, its end included.
fn line_end(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| start + at + 1)
}

#[derive(Default)]
struct Reading {
    types: Vec<String>,
    parts: usize,
    is_cut: bool,
}

impl Reading {
    /// The texts of one part and of those inside it.
    fn part(&mut self, head: &Head, body: &[u8], depth: usize) -> Option<Vec<String>> {
        self.parts += 1;
        if depth > DEEPEST || self.parts > MOST_PARTS {
            return None;
        }
        let kind = head.content_type()?;
        let (main, sub) = kind.split_once('/')?;
        self.note(head, &kind)?;
        match main {
            "message" => None,
            "multipart" => self.inner(head, body, sub, depth),
            "text" if head.disposition()?.as_deref() != Some("attachment") => {
                let bytes = decode::transfer(body, &head.encoding()?)?;
                Some(vec![decode::text(&bytes, &head.charset()?)?])
            }
            // What is no text is not decoded, and cannot be found broken.
            _ => Some(Vec::new()),
        }
    }

    fn note(&mut self, head: &Head, kind: &str) -> Option<()> {
        self.types.push(kind.to_owned());
        let charset = head.charset()?;
        if !charset.is_empty() {
            self.types.push(format!("charset:{charset}"));
        }
        if let Some(encoding) = head.normalized("content-transfer-encoding").filter(|value| !value.is_empty())
        {
            let first = encoding.split(' ').next().unwrap_or_default();
            self.types.push(format!("encoding:{}", first.to_ascii_lowercase()));
        }
        if let Some(name) = head.file_name()? {
            self.types.push(format!("file:{name}"));
        }
        Some(())
    }

    fn inner(&mut self, head: &Head, body: &[u8], sub: &str, depth: usize) -> Option<Vec<String>> {
        if sub == "digest"
            || !matches!(head.written("content-transfer-encoding", "8bit"), "7bit" | "8bit" | "binary")
        {
            return None;
        }
        let mut filled: Vec<Vec<String>> = Vec::new();
        let (parts, is_cut) = parts(body, &head.boundary()?)?;
        self.is_cut |= is_cut;
        for part in parts {
            let (head, body) = head::split(part)?;
            let texts = self.part(&head, body, depth + 1)?;
            if texts.iter().any(|text| !text.chars().all(is_space)) {
                filled.push(texts);
            }
        }
        let kept = if sub == "alternative" { filled.len().saturating_sub(1) } else { 0 };
        Some(filled.drain(kept..).flatten().collect())
    }
}

/// What Python calls a space.
fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

/// The parts between the boundaries, and whether the last of these is missing: the mail was cut.
fn parts<'a>(body: &'a [u8], boundary: &str) -> Option<(Vec<&'a [u8]>, bool)> {
    let mut found = Vec::new();
    let mut begun: Option<usize> = None;
    let mut at = 0;
    while at < body.len() {
        let end = line_end(body, at);
        if let Some(last) = is_boundary(&body[at..end], boundary) {
            if let Some(start) = begun {
                if start == at {
                    return None; // two in a row
                }
                found.push(without_line_end(&body[start..at]));
            } else if last {
                return None;
            }
            if last {
                return Some((found, false));
            }
            begun = Some(end);
        }
        at = end;
    }
    let rest = &body[begun?..];
    found.push((!rest.is_empty()).then_some(rest)?);
    Some((found, true))
}

/// Whether a line is a boundary, and if so, whether it is the last.
fn is_boundary(line: &[u8], boundary: &str) -> Option<bool> {
    let rest = line.strip_prefix(b"--")?.strip_prefix(boundary.as_bytes())?;
    let (rest, last) = rest.strip_prefix(b"--").map_or((rest, false), |rest| (rest, true));
    rest.iter().all(|byte| b" \t\r\n".contains(byte)).then_some(last)
}

fn without_line_end(part: &[u8]) -> &[u8] {
    let part = part.strip_suffix(b"\n").unwrap_or(part);
    part.strip_suffix(b"\r").unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_alternatives_the_last_is_read_and_of_attachments_the_name() {
        let raw = b"From: a@b.example\r\nContent-Type: multipart/mixed; boundary=\"x\"\r\n\r\n\
            --x\r\nContent-Type: multipart/alternative; boundary=y\r\n\r\n\
            --y\r\n\r\nplain\r\n--y\r\nContent-Type: text/html; charset=utf-8\r\n\
            Content-Transfer-Encoding: quoted-printable\r\n\r\n<b>caf=C3=A9</b>\r\n--y--\r\n\
            --x\r\nContent-Disposition: attachment; filename=\"a b.txt\"\r\n\r\nhidden\r\n--x--\r\n";
        let mail = read(raw).unwrap_or_default();
        assert_eq!(mail.texts, [Seen { text: "café".to_owned(), references: false }]);
        assert_eq!(
            mail.types,
            "multipart/mixed multipart/alternative text/plain text/html charset:utf-8 \
             encoding:quoted-printable text/plain file:a_b.txt"
        );
    }

    #[test]
    fn what_is_broken_is_left_to_others() {
        for raw in [
            b"no header at all\n\nbody".as_slice(),
            b"Subject: caf\xe9\n\nbody",
            b"Subject: a\rb\n\nbody",
            b"Content-Transfer-Encoding: base64\n\nnot base64!",
            b"Content-Type: message/rfc822\n\nSubject: a\n\nb",
        ] {
            assert_eq!(read(raw), None, "{}", String::from_utf8_lossy(raw));
        }
    }

    #[test]
    fn mail_that_was_cut_is_read() {
        assert!(read(b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\nnot closed").is_some());
    }
}
