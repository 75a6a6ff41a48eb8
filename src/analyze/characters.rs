//! What a character is: part of a word, white space, and its lower case. Python's answers, so that bayleaf
//! and `re` cut the same text at the same places.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, HirKind};

/// One bit a code point.
pub struct CharacterSet(Vec<u64>);

impl CharacterSet {
    fn of(pattern: &str) -> Self {
        let mut bits = vec![0u64; 0x11_0000 / 64];
        if let Ok(hir) = regex_syntax::parse(pattern)
            && let HirKind::Class(Class::Unicode(class)) = hir.kind()
        {
            for range in class.ranges() {
                for code in u32::from(range.start())..=u32::from(range.end()) {
                    bits[code as usize / 64] |= 1 << (code % 64);
                }
            }
        }
        Self(bits)
    }

    #[inline]
    pub fn contains(&self, character: char) -> bool {
        let code = character as usize;
        self.0[code / 64] >> (code % 64) & 1 == 1
    }
}

/// The characters of words: letters, digits and the underscore, as Python's `\w`; with `marks` the combining
/// marks too, without which Hindi falls into single letters and a decomposed é is torn apart.
pub fn word_characters(marks: bool) -> &'static CharacterSet {
    static WITH_MARKS: OnceLock<CharacterSet> = OnceLock::new();
    static AS_PYTHON: OnceLock<CharacterSet> = OnceLock::new();
    if marks {
        WITH_MARKS.get_or_init(|| CharacterSet::of(r"[\p{L}\p{M}\p{N}_]"))
    } else {
        AS_PYTHON.get_or_init(|| CharacterSet::of(r"[\p{L}\p{N}_]"))
    }
}

/// The letters of scripts that put no spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese.
pub fn spaceless() -> &'static CharacterSet {
    static SPACELESS: OnceLock<CharacterSet> = OnceLock::new();
    const SCRIPTS: &str =
        r"[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]";
    SPACELESS.get_or_init(|| CharacterSet::of(SCRIPTS))
}

/// Combining marks.
pub fn marks() -> &'static CharacterSet {
    static MARKS: OnceLock<CharacterSet> = OnceLock::new();
    MARKS.get_or_init(|| CharacterSet::of(r"\p{M}"))
}

/// Python's `str.isspace`: Unicode's white space and the four ASCII separators.
#[inline]
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

fn is_cased(character: char) -> bool {
    character.is_lowercase() || character.is_uppercase() || is_titlecase(character)
}

fn is_titlecase(character: char) -> bool {
    static TITLE: OnceLock<CharacterSet> = OnceLock::new();
    TITLE.get_or_init(|| CharacterSet::of(r"\p{Lt}")).contains(character)
}

/// Characters that do not end a word for the rule of the final sigma.
fn is_case_ignorable(character: char) -> bool {
    static IGNORABLE: OnceLock<CharacterSet> = OnceLock::new();
    const PUNCTUATION: &str = "'.:^`¨\u{ad}·\u{387}\u{55f}\u{5f4}\u{2018}\u{2019}\u{2024}\u{2027}\u{fe13}\u{fe52}\u{fe55}\u{ff07}\u{ff0e}\u{ff1a}";
    IGNORABLE.get_or_init(|| CharacterSet::of(r"[\p{Mn}\p{Me}\p{Cf}\p{Lm}\p{Sk}]")).contains(character)
        || PUNCTUATION.contains(character)
}

/// A capital sigma at the end of a word becomes ς.
fn lower_sigma(before: &str, after: &str) -> char {
    let starts_word = before.chars().rev().find(|&c| !is_case_ignorable(c)).is_some_and(is_cased);
    let goes_on = after.chars().find(|&c| !is_case_ignorable(c)).is_some_and(is_cased);
    if starts_word && !goes_on { 'ς' } else { 'σ' }
}

/// How many bytes at the head are ASCII.
fn ascii_run(bytes: &[u8]) -> usize {
    const STEP: usize = size_of::<u64>();
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let (steps, rest) = bytes.as_chunks::<STEP>();
    for (i, &step) in steps.iter().enumerate() {
        let high = u64::from_le_bytes(step) & HIGH_BITS;
        if high != 0 {
            return i * STEP + high.trailing_zeros() as usize / 8;
        }
    }
    bytes.len() - rest.len() + rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len())
}

/// Append the lower case of `source`, as Python's `str.lower`; `origin` receives, for every byte written, the
/// byte of `source` where its character begins.
pub fn lower_into(source: &str, out: &mut Vec<u8>, mut origin: Option<&mut Vec<u32>>) {
    let mut at = 0;
    while at < source.len() {
        let run = at..at + ascii_run(&source.as_bytes()[at..]);
        out.extend(source.as_bytes()[run.clone()].iter().map(u8::to_ascii_lowercase));
        if let Some(origin) = origin.as_deref_mut() {
            origin.extend(run.start as u32..run.end as u32);
        }
        at = run.end;
        for character in source[at..].chars().take_while(|character| !character.is_ascii()) {
            let before = out.len();
            match short_lower().get(character as usize) {
                Some(&lower) if lower != [0; 2] => out.extend_from_slice(&lower),
                None if is_caseless(character) => {
                    out.extend_from_slice(&source.as_bytes()[at..at + character.len_utf8()]);
                }
                _ => lower_character(source, at, character, out),
            }
            if let Some(origin) = origin.as_deref_mut() {
                origin.extend(std::iter::repeat_n(at as u32, out.len() - before));
            }
            at += character.len_utf8();
        }
    }
}

/// The lower case of each character of two bytes, where that has two bytes and does not depend on its neighbors.
fn short_lower() -> &'static [[u8; 2]] {
    static SHORT: OnceLock<Vec<[u8; 2]>> = OnceLock::new();
    let lower = |code: u32| {
        let lower = char::from_u32(code).and_then(lower_alone).filter(|lower| lower.len_utf8() == 2);
        let mut bytes = [0; 2];
        lower.into_iter().for_each(|lower| {
            lower.encode_utf8(&mut bytes);
        });
        bytes
    };
    SHORT.get_or_init(|| (0..0x800).map(lower).collect())
}

/// Whether a character is of scripts of which none has case: those of India to Myanmar, Korean, Chinese, Japanese.
#[inline]
fn is_caseless(character: char) -> bool {
    matches!(character as u32, 0x900..0x10A0 | 0x1100..0x13A0 | 0x3000..0xA640 | 0xAC00..0xD7A4)
}

/// How many bytes the white space at `at` has: none if there is something else.
#[inline]
pub fn space_at(text: &[u8], at: usize) -> usize {
    match text[at..] {
        [b' ' | b'\t'..=b'\r' | 0x1C..=0x1F, ..] => 1,
        [0xC2, 0x85 | 0xA0, ..] => 2,
        [0xE1, 0x9A, 0x80, ..] | [0xE2, 0x81, 0x9F, ..] | [0xE3, 0x80, 0x80, ..] => 3,
        [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF, ..] => 3,
        _ => 0,
    }
}

/// With which bytes white space begins, and a few other characters.
const SPACE_BEGINS: [bool; 256] = {
    let mut begins = [false; 256];
    let bytes = b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \xC2\xE1\xE2\xE3";
    let mut i = 0;
    while i < bytes.len() {
        begins[bytes[i] as usize] = true;
        i += 1;
    }
    begins
};

/// Where the words between white space begin and end.
pub fn each_word(text: &[u8], mut visit: impl FnMut(usize, usize)) {
    let (mut start, mut at) = (0, 0);
    while let Some(next) = text[at..].iter().position(|&byte| SPACE_BEGINS[byte as usize]) {
        let space = space_at(text, at + next);
        at += next + space.max(1);
        if space > 0 {
            if at - space > start {
                visit(start, at - space);
            }
            start = at;
        }
    }
    if text.len() > start {
        visit(start, text.len());
    }
}

/// The lower case of a character that is one character and does not depend on its neighbors.
pub fn lower_alone(character: char) -> Option<char> {
    let mut lower = character.to_lowercase();
    lower.next().filter(|_| lower.next().is_none() && character != 'Σ')
}

fn lower_character(source: &str, at: usize, character: char, out: &mut Vec<u8>) {
    let mut buffer = [0; 4];
    if character == 'Σ' {
        let lower = lower_sigma(&source[..at], &source[at + 2..]);
        out.extend_from_slice(lower.encode_utf8(&mut buffer).as_bytes());
        return;
    }
    for lower in character.to_lowercase() {
        out.extend_from_slice(lower.encode_utf8(&mut buffer).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lower(source: &str) -> String {
        let mut out = Vec::new();
        lower_into(source, &mut out, None);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn lower_case_agrees_with_the_standard_library() {
        for text in ["ΑΣ ΑΣΑ Σ", "İSTANBUL", "Straße ÀÉ", "ΌΣΟΣ.", "K Å"] {
            assert_eq!(lower(text), text.to_lowercase());
        }
    }

    #[test]
    fn every_character_is_lowered_and_cut_as_the_standard_library_says() {
        for character in '\0'..=char::MAX {
            let text = format!("a{character}b");
            assert_eq!(lower(&text), text.to_lowercase());
            let space = if is_space(character) { character.len_utf8() } else { 0 };
            assert_eq!(space_at(text.as_bytes(), 1), space);
        }
    }

    proptest! {
        #[test]
        fn texts_are_lowered_as_the_standard_library_says(text in "[aZ .éÉИиΣσİßͅ한漢अﬃ😀]{0,40}") {
            let mut origin = Vec::new();
            let mut out = Vec::new();
            lower_into(&text, &mut out, Some(&mut origin));
            prop_assert_eq!(String::from_utf8_lossy(&out), text.to_lowercase());
            prop_assert_eq!(origin.len(), out.len());
            prop_assert!(origin.is_sorted() && origin.iter().all(|&at| text.is_char_boundary(at as usize)));
        }

        #[test]
        fn words_are_what_stands_between_white_space(text in "[a漢éい– \u{85}\u{a0}\u{1680}\u{2003}\u{2028}\u{205f}\u{3000}\x1c\n]{0,40}") {
            let mut words = Vec::new();
            each_word(text.as_bytes(), |start, end| words.push(&text[start..end]));
            let expected: Vec<&str> = text.split(is_space).filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(words, expected);
        }
    }

    #[test]
    fn scripts_without_spaces_are_told_from_those_with_them() {
        assert!("漢ひカーไລខမ".chars().all(|letter| spaceless().contains(letter)));
        assert!("aéя한ع1".chars().all(|letter| !spaceless().contains(letter)));
    }

    #[test]
    fn marks_belong_to_words_only_when_asked_for() {
        assert!(word_characters(true).contains('\u{301}'));
        assert!(!word_characters(false).contains('\u{301}'));
        assert!(word_characters(false).contains('é') && !word_characters(true).contains('—'));
    }
}
