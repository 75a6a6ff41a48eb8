//! What becomes of a surface form before it is counted: dropped as a stop word, stemmed, or handed to a function
//! supplied by the user. Runs once for each form ever met.

use std::error::Error;
use std::sync::LazyLock;

use regex::Regex;

use crate::analyze::porter::Porter;
use crate::lexicon::form_table::{FormTable, Key, Role};

/// Words in one piece of memory; a word may be missing, and an empty one counts as missing.
#[derive(Default)]
pub struct WordList {
    text: String,
    ends: Vec<usize>,
}

impl WordList {
    /// An empty list with room for as much.
    fn another(&self) -> Self {
        Self { text: String::with_capacity(self.text.len()), ends: Vec::with_capacity(self.ends.len()) }
    }

    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.ends.push(self.text.len());
    }

    pub fn drop_one(&mut self) {
        self.ends.push(self.text.len());
    }

    pub fn push_with(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.ends.push(self.text.len());
    }

    /// The words in order; `None` for each that was dropped.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let word = &self.text[start..end];
            start = end;
            (!word.is_empty()).then_some(word)
        })
    }
}

/// A function from words to words, such as one written in Python.
pub trait Function: Send + Sync {
    fn apply(&self, words: &[&str], out: &mut WordList) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// Every decimal digit as 0, whatever its script.
pub struct ZeroDigits;

impl Function for ZeroDigits {
    fn apply(&self, words: &[&str], out: &mut WordList) -> Result<(), Box<dyn Error + Send + Sync>> {
        for word in words {
            out.push_with(|text| text.extend(word.chars().map(|c| if is_decimal(c) { '0' } else { c })));
        }
        Ok(())
    }
}

static DECIMAL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d").ok());

fn is_decimal(character: char) -> bool {
    if character.is_ascii() || !character.is_numeric() {
        return character.is_ascii_digit();
    }
    let text = character.encode_utf8(&mut [0; 4]).to_owned();
    DECIMAL.as_ref().is_some_and(|decimal| decimal.is_match(&text))
}

/// First stop words, then the stem, then the function.
#[derive(Default)]
pub struct Normalizer {
    stops: FormTable,
    porter: bool,
    function: Option<Box<dyn Function>>,
}

impl Normalizer {
    pub fn new<'a>(
        stops: impl IntoIterator<Item = &'a str>,
        porter: bool,
        function: Option<Box<dyn Function>>,
    ) -> Self {
        let mut table = FormTable::default();
        for stop in stops {
            table.find_or_insert(&Key::of(stop.as_bytes()), || stop.as_bytes(), Role::Form, || 0);
        }
        Self { stops: table, porter, function }
    }

    /// Whether every form would be left as it is.
    pub fn is_idle(&self) -> bool {
        self.stops.len() == 0 && !self.porter && self.function.is_none()
    }

    pub fn has_function(&self) -> bool {
        self.function.is_some()
    }

    fn is_stop(&self, form: &Form) -> bool {
        self.stops.find(&form.key, || form.text.as_bytes(), Role::Form).is_some()
    }

    /// What becomes of each form, in their order.
    pub fn normalize<'a>(
        &self,
        forms: impl Iterator<Item = Form<'a>>,
        words: &mut WordList,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        words.clear();
        let mut porter = Porter::default();
        for form in forms {
            if self.is_stop(&form) {
                words.drop_one();
            } else if self.porter {
                words.push_with(|out| porter.stem(form.text, out));
            } else {
                words.push(form.text);
            }
        }
        if let Some(function) = &self.function {
            *words = apply(function.as_ref(), words)?;
        }
        Ok(())
    }
}

/// A surface form and its key.
pub struct Form<'a> {
    pub key: Key,
    pub text: &'a str,
}

impl<'a> Form<'a> {
    pub fn of(text: &'a str) -> Self {
        Self { key: Key::of(text.as_bytes()), text }
    }
}

/// The function's answers for the words that are left, in the places of those.
fn apply(function: &dyn Function, words: &WordList) -> Result<WordList, Box<dyn Error + Send + Sync>> {
    let left: Vec<&str> = words.iter().flatten().collect();
    let mut answers = words.another();
    if !left.is_empty() {
        function.apply(&left, &mut answers)?;
    }
    if left.len() == words.ends.len() {
        return Ok(answers);
    }
    let mut all = words.another();
    let mut answered = answers.iter();
    for word in words.iter() {
        match word.and_then(|_| answered.next().flatten()) {
            Some(answer) => all.push(answer),
            None => all.drop_one(),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Backwards;

    impl Function for Backwards {
        fn apply(&self, words: &[&str], out: &mut WordList) -> Result<(), Box<dyn Error + Send + Sync>> {
            for word in words {
                let backwards: String = word.chars().rev().collect();
                if *word == "drop" { out.drop_one() } else { out.push(&backwards) }
            }
            Ok(())
        }
    }

    fn normalized(normalizer: &Normalizer, forms: &[&str]) -> Vec<Option<String>> {
        let mut words = WordList::default();
        let done = normalizer.normalize(forms.iter().map(|form| Form::of(form)), &mut words);
        assert!(done.is_ok());
        words.iter().map(|word| word.map(str::to_owned)).collect()
    }

    #[test]
    fn decimal_digits_become_zeros_and_other_numbers_stay() {
        let mut words = WordList::default();
        assert!(
            ZeroDigits.apply(&["a1b22", "\u{664}\u{665}", "\u{bd}\u{2167}", "caf\u{e9}"], &mut words).is_ok()
        );
        let found: Vec<_> = words.iter().flatten().collect();
        assert_eq!(found, ["a0b00", "00", "\u{bd}\u{2167}", "caf\u{e9}"]);
    }

    #[test]
    fn stop_words_fall_before_the_stem_and_the_function_sees_the_rest() {
        let normalizer = Normalizer::new(["the", "swims"], true, Some(Box::new(Backwards)));
        let words = normalized(&normalizer, &["the", "swimming", "swims", "drop", "s", "cats"]);
        let expected = [None, Some("miws"), None, None, None, Some("tac")];
        assert_eq!(words, expected.map(|word| word.map(str::to_owned)));
    }
}
