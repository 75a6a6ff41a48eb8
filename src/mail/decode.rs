//! Transfer encodings and charsets.

use std::borrow::Cow;

/// The bytes of a body; `None` if it is not clean.
pub fn transfer<'a>(body: &'a [u8], encoding: &str) -> Option<Cow<'a, [u8]>> {
    match encoding {
        "quoted-printable" => Some(Cow::Owned(quoted_printable(body))),
        "base64" => base64(body).map(Cow::Owned),
        _ => Some(Cow::Borrowed(body)),
    }
}

/// As Python has it: `==` is `=`, and what is no code stays.
fn quoted_printable(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut at = 0;
    while let Some(&byte) = body.get(at) {
        at += 1;
        if byte != b'=' {
            out.push(byte);
            continue;
        }
        let code = |place: usize| body.get(place).and_then(|&byte| (byte as char).to_digit(16));
        match body.get(at) {
            None => break,
            Some(b'\n' | b'\r') => at = super::line_end(body, at),
            Some(b'=') => {
                out.push(b'=');
                at += 1;
            }
            Some(_) => match (code(at), code(at + 1)) {
                (Some(high), Some(low)) => {
                    out.push((high * 16 + low) as u8);
                    at += 2;
                }
                _ => out.push(b'='),
            },
        }
    }
    out
}

fn base64(body: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len() / 4 * 3);
    let (mut bits, mut count, mut padding) = (0u32, 0u8, 0u8);
    for &byte in body.iter().filter(|&&byte| byte != b'\n' && byte != b'\r') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' if padding < 2 => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        bits = bits << 6 | u32::from(value);
        count += 1;
        if count == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, count) = (0, 0);
        }
    }
    match (count, padding) {
        (0, 0) => {}
        (2, 2) => out.push((bits >> 4) as u8),
        (3, 1) => out.extend_from_slice(&((bits >> 2) as u16).to_be_bytes()),
        _ => return None,
    }
    Some(out)
}

/// UTF-8 if it is that, else as declared, else as Windows has it, of the charsets that are usual.
pub fn text(bytes: &[u8], charset: &str) -> Option<String> {
    let shifting = ["iso-2022", "utf7", "utf-7", "utf16", "utf-16", "utf32", "utf-32", "hz"];
    if shifting.iter().any(|start| charset.starts_with(start)) {
        return None;
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(text.to_owned());
    }
    match charset {
        "iso-8859-1" | "latin1" | "latin-1" => Some(latin_1(bytes)),
        "" | "ascii" | "us-ascii" | "utf-8" | "utf8" | "windows-1252" | "cp1252" => {
            Some(from_windows_1252(bytes).unwrap_or_else(|| latin_1(bytes)))
        }
        _ => None,
    }
}

fn latin_1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| byte as char).collect()
}

/// The characters from 0x80 to 0x9f; 0 where there is none.
const WINDOWS: [u16; 32] = [
    0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
    0x017d, 0, 0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a,
    0x0153, 0, 0x017e, 0x0178,
];

fn from_windows_1252(bytes: &[u8]) -> Option<String> {
    bytes.iter().map(|&byte| windows_1252(byte)).collect()
}

/// The character of a byte, if there is one.
pub fn windows_1252(byte: u8) -> Option<char> {
    match byte {
        0x80..=0x9f => match WINDOWS[usize::from(byte - 0x80)] {
            0 => None,
            code => char::from_u32(u32::from(code)),
        },
        _ => Some(byte as char),
    }
}
