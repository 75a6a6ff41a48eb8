//! The headers of a mail or a part, and what their parameters say.

use super::html::one_spaced;
use super::{is_space, line_end};

/// Longer values are read only so far by others; no honest one is.
const LONGEST: usize = 900;

/// Header lines in order: names in lower case, values as they are written, ASCII only.
pub struct Head<'a>(Vec<(String, &'a str)>);

/// The head, and the body behind the empty line.
pub fn split(raw: &[u8]) -> Option<(Head<'_>, &[u8])> {
    let mut lines: Vec<(String, usize, usize)> = Vec::new();
    let mut at = 0;
    let mut body = raw.len();
    while at < raw.len() {
        let end = line_end(raw, at);
        match raw[at] {
            b'\n' | b'\r' => {
                body = end;
                break;
            }
            b' ' | b'\t' => lines.last_mut()?.2 = end,
            _ => {
                let colon = raw[at..end].iter().position(|&byte| !is_name(byte))?;
                if colon == 0 || raw[at + colon] != b':' {
                    return None;
                }
                let name = std::str::from_utf8(&raw[at..at + colon]).ok()?.to_ascii_lowercase();
                lines.push((name, at + colon + 1, end));
            }
        }
        at = end;
    }
    let read = |(name, start, end): (String, usize, usize)| {
        let value = &raw[start..end];
        let text = if value.is_ascii() { std::str::from_utf8(value).ok()? } else { return None };
        Some((name, text.trim_start_matches([' ', '\t']).trim_end_matches(['\r', '\n'])))
    };
    Some((Head(lines.into_iter().map(read).collect::<Option<_>>()?), &raw[body..]))
}

fn is_name(byte: u8) -> bool {
    (b'!'..=b'~').contains(&byte) && byte != b':'
}

impl<'a> Head<'a> {
    /// The values of all headers of this name.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| *value)
    }

    fn first(&self, name: &str) -> Option<&'a str> {
        self.all(name).next()
    }

    /// The value of the first header of this name as it is written, or the default.
    pub fn written(&self, name: &str, default: &'a str) -> &'a str {
        self.first(name).unwrap_or(default)
    }

    /// The value of the first header of this name, its spaces made one unless it has encoded words.
    pub fn shown(&self, name: &str) -> Option<String> {
        let value = self.first(name)?;
        if value.contains("=?") { Some(value.to_owned()) } else { self.normalized(name) }
    }

    /// The value of the first header of this name, its spaces made one.
    pub fn normalized(&self, name: &str) -> Option<String> {
        self.first(name).map(one_spaced)
    }

    /// A header with parameters: nothing if it is not there, `None` if it is not ordinary.
    fn described(&self, name: &str) -> Option<&'a str> {
        let value = self.first(name).unwrap_or_default();
        let odd = value.len() > LONGEST || value.contains(['\\', '*']) || value.contains("=?");
        (!odd).then_some(value)
    }

    pub fn content_type(&self) -> Option<String> {
        let value = self.described("content-type")?;
        let kind = value.split(';').next().unwrap_or_default().trim_matches(is_space).to_ascii_lowercase();
        Some(if kind.matches('/').count() == 1 { kind } else { "text/plain".to_owned() })
    }

    pub fn disposition(&self) -> Option<Option<String>> {
        let value = self.described("content-disposition")?;
        let word = value.split(';').next().unwrap_or_default().trim_matches(is_space);
        Some((!word.is_empty()).then(|| word.to_ascii_lowercase()))
    }

    /// The transfer encoding, if it is one of the usual.
    pub fn encoding(&self) -> Option<String> {
        let value = self.first("content-transfer-encoding").unwrap_or_default().to_ascii_lowercase();
        let usual = ["", "7bit", "8bit", "binary", "quoted-printable", "base64"];
        usual.contains(&value.as_str()).then_some(value)
    }

    /// The charset that the content type names, wherever it does so.
    pub fn charset(&self) -> Option<String> {
        let value = self.described("content-type")?;
        let lower = value.to_ascii_lowercase();
        for (at, word) in lower.match_indices("charset") {
            let rest = lower[at + word.len()..].trim_start_matches(is_space);
            let Some(rest) = rest.strip_prefix('=') else { continue };
            let rest = rest.trim_start_matches(is_space);
            let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_.:+-".contains(c)));
            let charset = &rest[..end.unwrap_or(rest.len())];
            if !charset.is_empty() {
                return Some(charset.to_owned());
            }
        }
        Some(String::new())
    }

    pub fn boundary(&self) -> Option<String> {
        let found = parameter(self.described("content-type")?, "boundary")??;
        let boundary = found.trim_end_matches(is_space);
        (!boundary.is_empty()).then(|| boundary.to_owned())
    }

    /// The name of the file that a part is, its spaces made underscores.
    pub fn file_name(&self) -> Option<Option<String>> {
        let named = match parameter(self.described("content-disposition")?, "filename")? {
            Some(name) => Some(name),
            None => parameter(self.described("content-type")?, "name")?,
        };
        let words = named.map(|name| {
            name.to_ascii_lowercase()
                .split(is_space)
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>()
                .join("_")
        });
        Some(words.filter(|name| !name.is_empty()))
    }
}

/// The value of a parameter of a header; `None` if the header is not ordinary.
fn parameter(value: &str, wanted: &str) -> Option<Option<String>> {
    let mut rest = value;
    loop {
        let end = parameter_end(rest)?;
        let (name, value) = rest[..end].split_once('=').unwrap_or((&rest[..end], ""));
        if name.trim_matches(is_space).eq_ignore_ascii_case(wanted) {
            let value = value.trim_matches(is_space);
            let inner = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
            return Some(Some(inner.unwrap_or(value).to_owned()));
        }
        match rest.get(end + 1..) {
            Some(more) if end < rest.len() => rest = more,
            _ => return Some(None),
        }
    }
}

/// Where a parameter ends: at a semicolon outside of quotes, which must be closed.
fn parameter_end(text: &str) -> Option<usize> {
    let mut quoted = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b';' if !quoted => return Some(at),
            b'<' | b'>' if !quoted => return None,
            _ => {}
        }
    }
    (!quoted).then_some(text.len())
}
