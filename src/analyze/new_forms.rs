//! Surface forms that were met for the first time: they wait until all of a batch are there, and are then
//! normalized together.

use std::error::Error;

use crate::analyze::normalize::{Form, Normalizer, WordList};
use crate::lexicon::form_table::Key;
use crate::lexicon::numbering::Numbering;
use crate::lexicon::{DROPPED, WAITING};

#[derive(Default)]
pub struct NewForms {
    pub forms: Vec<Waiting>,
    /// Which tokens wait for a form.
    pub places: Vec<u32>,
    /// What each form has become.
    pub nodes: Vec<u32>,
    keys: Vec<Option<Key>>,
    words: WordList,
}

/// A form, and where it stands in the text.
pub struct Waiting {
    key: Key,
    start: usize,
    end: usize,
}

impl NewForms {
    pub fn clear(&mut self) {
        self.forms.clear();
        self.places.clear();
        self.nodes.clear();
    }

    /// A token whose form has the number of a waiting one: the next number if it is new.
    #[cold]
    pub fn meet(&mut self, number: u32, token: u32, key: Key, (start, end): (usize, usize)) {
        if number == WAITING | self.forms.len() as u32 {
            self.forms.push(Waiting { key, start, end });
        }
        self.places.push(token);
    }

    /// Hand the forms to the normalizer, all at once, and number what they become.
    pub fn ask<N: Numbering>(
        &mut self,
        text: &[u8],
        normalizer: &Normalizer,
        numbering: &mut N,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        if self.forms.is_empty() {
            return Ok(());
        }
        let bytes = |form: &Waiting| &text[form.start..form.end];
        // SAFETY: tokens are cut between the characters of texts that are UTF-8.
        let text = |form: &Waiting| unsafe { std::str::from_utf8_unchecked(bytes(form)) };
        let forms = self.forms.iter().map(|form| Form { key: form.key, text: text(form) });
        normalizer.normalize(forms, &mut self.words)?;
        self.keys.clear();
        for (form, word) in self.forms.iter().zip(self.words.iter()) {
            let key = word.map(|word| form.key_of(word.as_bytes(), bytes(form)));
            key.iter().for_each(|key| numbering.known().prefetch(key));
            self.keys.push(key);
        }
        for ((form, word), key) in self.forms.iter().zip(self.words.iter()).zip(&self.keys) {
            let node = match (word, key) {
                (Some(word), Some(key)) => numbering.term(key, || word.as_bytes()),
                _ => DROPPED,
            };
            numbering.resolve(&form.key, || bytes(form), node);
            self.nodes.push(node);
        }
        Ok(())
    }
}

impl Waiting {
    /// The key of what the form has become; most often that is what it was.
    fn key_of(&self, word: &[u8], form: &[u8]) -> Key {
        if word == form { self.key } else { Key::of(word) }
    }
}
