//! Text as Python shows it, for what is told to clients and to administrators.

use std::fmt::Write;

/// What Python's `str.strip` takes away.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

/// ASCII, with the number of each other byte behind a backslash.
pub fn shown(bytes: &[u8]) -> String {
    let mut made = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii() {
            made.push(byte as char);
        } else {
            let _ = write!(made, "\\x{byte:02x}");
        }
    }
    made
}

/// `ascii(text)` without the quotes around it.
pub fn ascii(text: &str) -> String {
    let double = text.contains('\'') && !text.contains('"');
    let mut made = String::with_capacity(text.len());
    for character in text.chars() {
        let code = character as u32;
        let _ = match character {
            '\\' => write!(made, "\\\\"),
            '\'' if !double => write!(made, "\\'"),
            '\n' => write!(made, "\\n"),
            '\r' => write!(made, "\\r"),
            '\t' => write!(made, "\\t"),
            ' '..='~' => write!(made, "{character}"),
            _ if code < 0x100 => write!(made, "\\x{code:02x}"),
            _ if code < 0x10000 => write!(made, "\\u{code:04x}"),
            _ => write!(made, "\\U{code:08x}"),
        };
    }
    made
}
