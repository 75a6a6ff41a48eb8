//! Links of a text, and the text of HTML that a reader sees, as `text/mail_html.py` has them.
//!
//! Every step is linear in the text and gives up (`None`) where letters beyond ASCII decide what a tag is.

use std::borrow::Cow;

use super::{is_space, windows_1252};

const BLOCKS: [&str; 20] = [
    "html", "head", "body", "table", "div", "span", "font", "center", "br", "p", "a", "b", "img", "h1", "h2",
    "h3", "h4", "h5", "h6", "!doctype",
];
/// Within words spammers put these, to hide the word from filters: they leave no gap.
const INLINE: [&str; 14] =
    ["a", "b", "big", "em", "font", "i", "s", "small", "span", "strong", "sub", "sup", "tt", "u"];
/// Letters that Python takes for an i, a k or an s of the other case.
const ODD_LETTERS: [char; 4] = ['\u{130}', '\u{131}', '\u{17f}', '\u{212a}'];
/// References that are read here; a text with any other is left to Python.
const REFERENCES: [(&str, char); 8] = [
    ("nbsp;", '\u{a0}'),
    ("nbsp", '\u{a0}'),
    ("amp;", '&'),
    ("lt;", '<'),
    ("gt;", '>'),
    ("quot;", '"'),
    ("copy;", '\u{a9}'),
    ("reg;", '\u{ae}'),
];
/// Numbers of more digits are rare.
const DIGITS: usize = 5;
/// Characters of a domain end at these, and at spaces.
const ENDS: &str = "/?#\"'<>\\";

/// What a reader sees of a text.
#[derive(Debug, PartialEq)]
pub struct Seen {
    /// Without tags, spaces made one.
    pub text: String,
    /// Whether character references are left in it for others to read.
    pub references: bool,
}

/// The text without its HTML, if it is HTML.
pub fn seen(text: &str) -> Option<Seen> {
    if !looks_like_html(text)? {
        return Some(Seen { text: one_spaced(text), references: false });
    }
    if text.contains(ODD_LETTERS) {
        return None;
    }
    let text = cut_comments(text);
    let text = cut(text, "script")?;
    let text = cut(text, "style")?;
    let text = replaced(&text, |tag| Some(is_inline(tag)?.then(String::new)))?;
    let text = replaced(&text, |tag| if is_tag(tag) { shown(tag).map(Some) } else { Some(None) })?;
    Some(match unescaped(&text) {
        Some(text) => Seen { text: one_spaced(&text), references: false },
        None => Seen { text: one_spaced(&text), references: true },
    })
}

/// The domains that links point to, one behind the other.
pub fn link_domains(text: &str, found: &mut Vec<String>) -> Option<()> {
    let mut rest = text;
    while let Some(at) = rest.find(':') {
        let Some(host) = rest[at + 1..].strip_prefix("//") else {
            rest = &rest[at + 1..];
            continue;
        };
        let end = host.find(|c| is_space(c) || ENDS.contains(c)).unwrap_or(host.len());
        let named = host[..end].rsplit('@').next().unwrap_or_default();
        let domain = named.split(':').next().unwrap_or_default().trim_matches(['.', ',', ';', ')', '(']);
        if !domain.is_ascii() {
            return None;
        }
        if !domain.is_empty() {
            found.push(domain.to_ascii_lowercase());
        }
        rest = &host[end..];
    }
    Some(())
}

/// The words of a text with one space between them.
pub fn one_spaced(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut add = |word: &str| {
        if !word.is_empty() {
            if !made.is_empty() {
                made.push(' ');
            }
            made.push_str(word);
        }
    };
    if text.is_ascii() {
        let mut start = 0;
        for (at, byte) in text.bytes().enumerate() {
            if matches!(byte, 9..=13 | 28..=32) {
                add(&text[start..at]);
                start = at + 1;
            }
        }
        add(&text[start..]);
    } else {
        text.split(is_space).for_each(&mut add);
    }
    made
}

/// The word at the beginning of what is inside a tag; `None` where a letter beyond ASCII may belong to it.
fn word_of(inside: &str) -> Option<&str> {
    let start = usize::from(inside.starts_with('!'));
    let bytes = inside.as_bytes();
    let end = bytes[start..].iter().position(|&byte| !(byte.is_ascii_alphanumeric() || byte == b'_'));
    let end = end.map_or(bytes.len(), |at| start + at);
    if bytes.get(end).is_some_and(|byte| !byte.is_ascii()) { None } else { Some(&inside[..end]) }
}

fn is_one_of(word: &str, names: &[&str]) -> bool {
    !word.is_empty() && names.iter().any(|name| name.eq_ignore_ascii_case(word))
}

fn looks_like_html(text: &str) -> Option<bool> {
    for (_, inside) in Tags::of(text) {
        if is_one_of(word_of(inside)?, &BLOCKS) {
            return Some(true);
        }
    }
    Some(false)
}

/// Pairs of brackets without others between them: where each begins, and what is inside.
struct Tags<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tags<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let start = self.at + self.text[self.at..].find('<')?;
            let inside = start + 1;
            let rest = &self.text.as_bytes()[inside..];
            let end = inside + rest.iter().position(|&byte| byte == b'<' || byte == b'>')?;
            if self.text.as_bytes()[end] == b'>' {
                self.at = end + 1;
                return Some((start, &self.text[inside..end]));
            }
            self.at = end;
        }
    }
}

/// The text with something else in the place of some tags.
fn replaced(text: &str, by: impl Fn(&str) -> Option<Option<String>>) -> Option<String> {
    let mut made = String::with_capacity(text.len());
    let mut kept = 0;
    for (start, inside) in Tags::of(text) {
        if let Some(other) = by(inside)? {
            made.push_str(&text[kept..start]);
            made.push_str(&other);
            kept = start + inside.len() + 2;
        }
    }
    made.push_str(&text[kept..]);
    Some(made)
}

fn is_inline(inside: &str) -> Option<bool> {
    if inside.starts_with('!') {
        return Some(true);
    }
    Some(is_one_of(word_of(inside.strip_prefix('/').unwrap_or(inside))?, &INLINE))
}

fn is_tag(inside: &str) -> bool {
    inside.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c))
}

/// What stands in the place of a tag: a space, or the texts of `alt` and `title`.
fn shown(inside: &str) -> Option<String> {
    let mut texts: Vec<&str> = Vec::new();
    if inside.contains('=') {
        let mut at = 0;
        while at < inside.len() {
            at = match attribute(inside, at)? {
                Some((text, end)) => {
                    texts.push(text);
                    end
                }
                None => at + 1,
            };
        }
    }
    Some(if texts.is_empty() { " ".to_owned() } else { format!(" {} ", texts.join(" ")) })
}

/// The text of the attribute that begins here, if one does, and where it ends.
fn attribute(inside: &str, at: usize) -> Option<Option<(&str, usize)>> {
    let bytes = inside.as_bytes();
    if !matches!(bytes[at], b'a' | b'A' | b't' | b'T') {
        return Some(None); // one look at a byte instead of two at names
    }
    let named = |name: &str| {
        bytes.get(at..at + name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes()))
    };
    let Some(name) = ["alt", "title"].into_iter().find(|name| named(name)) else { return Some(None) };
    let before = if at == 0 { b'<' } else { bytes[at - 1] };
    if !before.is_ascii() {
        return None;
    }
    if before.is_ascii_alphanumeric() || before == b'_' {
        return Some(None);
    }
    let rest = inside[at + name.len()..].trim_start_matches(is_space);
    let Some(rest) = rest.strip_prefix('=') else { return Some(None) };
    let rest = rest.trim_start_matches(is_space);
    let Some(quote) = rest.chars().next().filter(|&c| c == '"' || c == '\'') else { return Some(None) };
    let value = &rest[1..];
    Some(value.find(quote).map(|end| (&value[..end], inside.len() - value.len() + end + 1)))
}

fn cut_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("<!--") {
        return Cow::Borrowed(text);
    }
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, length)) =
        rest.find("<!--").and_then(|start| rest[start + 4..].find("-->").map(|length| (start, length)))
    {
        made.push_str(&rest[..start]);
        rest = &rest[start + 4 + length + 3..];
    }
    Cow::Owned(made + rest)
}

/// The text without what is between `<name` and `</name…>`; one that is never closed stays.
fn cut<'a>(text: Cow<'a, str>, name: &str) -> Option<Cow<'a, str>> {
    let mut made = String::new();
    let mut at = 0;
    while let Some(start) = opening(&text, name, at)? {
        let Some(end) = closing(&text, name, start + 1 + name.len()) else { break };
        made.push_str(&text[at..start]);
        made.push(' ');
        at = end;
    }
    if at == 0 {
        return Some(text);
    }
    made.push_str(&text[at..]);
    Some(Cow::Owned(made))
}

fn opening(text: &str, name: &str, from: usize) -> Option<Option<usize>> {
    for (place, _) in text[from..].match_indices('<') {
        if is_one_of(word_of_open(&text[from + place + 1..], name)?, &[name]) {
            return Some(Some(from + place));
        }
    }
    Some(None)
}

/// The beginning of what follows a bracket, if it could be this name.
fn word_of_open<'a>(rest: &'a str, name: &str) -> Option<&'a str> {
    let same = rest.as_bytes().get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes()));
    if same { word_of(rest) } else { Some("") }
}

fn closing(text: &str, name: &str, from: usize) -> Option<usize> {
    for (place, _) in text[from..].match_indices("</") {
        let behind = from + place + 2;
        let own = text.as_bytes().get(behind..behind + name.len());
        if own.is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes())) {
            let rest = &text[behind + name.len()..];
            if let Some(end) = rest.find(['<', '>']).filter(|&end| rest.as_bytes()[end] == b'>') {
                return Some(behind + name.len() + end + 1);
            }
        }
    }
    None
}

/// The text with its character references read, if all are usual.
fn unescaped(text: &str) -> Option<String> {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        made.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let first = behind.bytes().next().unwrap_or(b' ');
        if matches!(first, b' ' | b'\t' | b'\n' | b'<' | b'&' | b';') {
            made.push('&');
            rest = behind;
            continue;
        }
        let (character, length) = if first == b'#' { numbered(behind)? } else { named(behind)? };
        made.push(character);
        rest = &behind[length..];
    }
    made.push_str(rest);
    Some(made)
}

fn named(behind: &str) -> Option<(char, usize)> {
    let (name, character) = REFERENCES.iter().find(|(name, _)| behind.starts_with(name))?;
    Some((*character, name.len()))
}

/// The character of a decimal number; from 128 to 159 what Windows has there, as browsers do.
fn numbered(behind: &str) -> Option<(char, usize)> {
    let digits = behind[1..].bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=DIGITS).contains(&digits) || behind.as_bytes().get(digits + 1) != Some(&b';') {
        return None;
    }
    let character = match behind[1..=digits].parse::<u32>().ok()? {
        number @ (9 | 10 | 32..=126 | 160..=0xd7ff) => char::from_u32(number)?,
        number @ 128..=159 => windows_1252(number as u8)?,
        _ => return None,
    };
    Some((character, digits + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(html: &str) -> Option<String> {
        seen(html).map(|seen| seen.text)
    }

    #[test]
    fn tags_in_a_word_leave_no_gap_and_others_do() {
        assert_eq!(text("<p>mor<b></b>tg<!-- x -->age<br>now"), Some("mortgage now".to_owned()));
        assert_eq!(
            text("<p>a<script>x<b>y</SCRIPT >b<style>never closed"),
            Some("a b never closed".to_owned())
        );
        assert_eq!(text("1 < 2 & 3 > 2"), Some("1 < 2 & 3 > 2".to_owned()));
        assert_eq!(text("<p><img alt = 'a  b' title=\"\">c"), Some("a b c".to_owned()));
        assert_eq!(text("<<b>p>x&nbsp;y &amp; z<br>"), Some("x y & z".to_owned()));
    }

    #[test]
    fn what_letters_beyond_ascii_decide_is_left_to_others() {
        assert_eq!(seen("<p>a <b\u{e9}>"), None);
        assert_eq!(seen("<p>\u{130}"), None);
        assert!(seen("<p>&eacute;").is_some_and(|seen| seen.references));
    }

    #[test]
    fn links_lose_users_ports_and_dots() {
        let mut found = Vec::new();
        assert!(
            link_domains("see HTTP://a@B.example:80/x, (ftp://c.example.) x://foo://bar", &mut found)
                .is_some()
        );
        assert_eq!(found, ["b.example", "c.example", "foo"]);
    }
}
