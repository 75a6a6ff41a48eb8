//! The hosts and networks that handed a mail on.

use super::{head::Head, is_space};

/// Hosts behind `from`, `by` and `helo`, and the networks of addresses, header by header.
pub fn hosts(head: &Head) -> String {
    let mut found: Vec<String> = Vec::new();
    for value in head.all("received") {
        let line = value.split(';').next().unwrap_or_default().to_ascii_lowercase();
        named(&line, &mut found);
        networks(&line, &mut found);
    }
    found.join(" ")
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn starts_word(line: &str, at: usize) -> bool {
    at == 0 || !is_word(line.as_bytes()[at - 1])
}

fn named(line: &str, found: &mut Vec<String>) {
    let mut at = 0;
    while at < line.len() {
        at = match host_behind(line, at) {
            Some((host, end)) => {
                found.push(host.trim_matches('.').to_owned());
                end
            }
            None => at + 1,
        };
    }
}

/// The host behind one of the words at this place, and where it ends.
fn host_behind(line: &str, at: usize) -> Option<(&str, usize)> {
    let rest = &line[at..];
    let word = ["from", "by", "helo"].into_iter().find(|word| rest.starts_with(word))?;
    if !starts_word(line, at) {
        return None;
    }
    let gap = rest[word.len()..].trim_start_matches(|c| is_space(c) || c == '=');
    if gap.len() == rest.len() - word.len() {
        return None;
    }
    let host = gap.strip_prefix('[').unwrap_or(gap);
    let end = host.bytes().position(|byte| !(is_word(byte) || byte == b'.' || byte == b'-'));
    let end = end.unwrap_or(host.len());
    (end > 0).then(|| (&host[..end], line.len() - host.len() + end))
}

fn networks(line: &str, found: &mut Vec<String>) {
    let mut at = 0;
    while at < line.len() {
        at = match network(line, at) {
            Some((size, end)) => {
                found.push(format!("net:{}", &line[at..at + size]));
                end
            }
            None => at + 1,
        };
    }
}

/// The length of the network of an address at this place, and where the address ends.
fn network(line: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = line.as_bytes();
    if !bytes[at].is_ascii_digit() || !starts_word(line, at) {
        return None;
    }
    let (mut place, mut size) = (at, 0);
    for number in 0..4 {
        let digits = bytes[place..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=3).contains(&digits) {
            return None;
        }
        place += digits;
        if number == 2 {
            size = place - at;
        }
        if number < 3 {
            if bytes.get(place) != Some(&b'.') {
                return None;
            }
            place += 1;
        }
    }
    bytes.get(place).is_none_or(|&byte| !is_word(byte)).then_some((size, place))
}
