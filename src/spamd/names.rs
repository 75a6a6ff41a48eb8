//! By what a mail is known besides its texts: its Message-ID and its sender.

const LONGEST_HEAD: usize = 65_536;

/// The Message-ID and the sender's address in lower case; empty if there is none.
pub fn of_mail(raw: &[u8]) -> (String, String) {
    let head = head_of(raw);
    let lower = head.to_ascii_lowercase();
    let value = |header: &str| value_of(head, &lower, header);
    let id = value("message-id:").and_then(message_id).unwrap_or_default();
    let sender = value("from:").and_then(address).unwrap_or_default();
    (text(id), text(sender).to_ascii_lowercase())
}

/// The lines before the first empty one.
fn head_of(raw: &[u8]) -> &[u8] {
    let start = &raw[..raw.len().min(LONGEST_HEAD)];
    let head = &start[..find(start, b"\n\n").unwrap_or(start.len())];
    &head[..find(head, b"\r\n\r\n").unwrap_or(head.len())]
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == wanted[0])?;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
}

/// What stands behind the name of a header.
fn value_of<'a>(head: &'a [u8], lower: &[u8], header: &str) -> Option<&'a [u8]> {
    let line = [b"\n", header.as_bytes()].concat();
    match find(lower, &line) {
        Some(at) => Some(&head[at + line.len()..]),
        None => lower.starts_with(header.as_bytes()).then(|| &head[header.len()..]),
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | 9..=13)
}

fn message_id(value: &[u8]) -> Option<&[u8]> {
    let start = value.iter().position(|&byte| !is_blank(byte))?;
    let inside = value[start..].strip_prefix(b"<")?;
    let size = inside.iter().position(|&byte| is_blank(byte) || byte == b'<' || byte == b'>')?;
    let closed = inside[size] == b'>' && (3..=250).contains(&size);
    closed.then(|| &value[start..start + size + 2])
}

fn address(value: &[u8]) -> Option<&[u8]> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let local = |byte: u8| word(byte) || b".+=".contains(&byte);
    let line = &value[..value.iter().position(|&byte| byte == b'\n').unwrap_or(value.len())];
    let mut from = 0;
    loop {
        let at = from + line.get(from..)?.iter().position(|&byte| byte == b'@')?;
        let size = line[..at].iter().rev().take_while(|&&byte| local(byte)).count();
        let run = |from: usize| line[from..].iter().take_while(|&&byte| word(byte)).count();
        let mut end = at + 1 + run(at + 1);
        if size > 0 && end > at + 1 {
            while line.get(end) == Some(&b'.') && run(end + 1) > 0 {
                end += 1 + run(end + 1);
            }
            return Some(&line[at - size..end]);
        }
        from = at + 1;
    }
}

fn text(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|&byte| if byte.is_ascii() { byte as char } else { char::REPLACEMENT_CHARACTER })
        .collect()
}
