//! Which terms a text consists of, and where they stand in it: the slow, careful reading behind explanations.

use crate::analyze::buckets::Buckets;
use crate::analyze::char_grams::as_bases;
use crate::analyze::characters::{is_space, lower_into};
use crate::analyze::normalize::{self, Normalizer, WordList};
use crate::analyze::reader::{Analysis, Document, GAP, Grams};
use crate::analyze::tokenizers::{Cut, Tokenizer};
use crate::analyze::words::{Tokens, checked};
use crate::errors::ReadError;
use crate::lexicon::form_table::{Key, UNKNOWN};
use crate::lexicon::numbering::Numbering;

/// A term as it occurs: its name, its node, and its place in the text, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub term: Vec<u8>,
    pub node: u32,
    pub start: usize,
    pub end: usize,
}

pub fn parts<N: Numbering>(
    document: Document,
    analysis: &Analysis,
    normalizer: Option<&Normalizer>,
    numbering: &mut N,
) -> Result<Vec<Part>, ReadError> {
    match analysis {
        Analysis::Words { cut, shortest, longest, sparse } => {
            let text = checked(document.bytes, document.trusted)?;
            let words = word_parts(text, cut, normalizer, numbering)?;
            Ok(join(&words, &Grams { shortest: *shortest, longest: *longest, sparse: *sparse }, numbering))
        }
        Analysis::Letters { lower, within_words, shortest, longest } => {
            let letters = Lettered::new(checked(document.bytes, document.trusted)?, *lower);
            let pieces = if *within_words { letters.padded_words() } else { vec![letters.collapsed()] };
            let whole = *within_words;
            Ok(pieces.iter().flat_map(|piece| piece.grams(*shortest, *longest, whole, numbering)).collect())
        }
        Analysis::Bytes { bases, shortest, longest } => {
            let bytes = if *bases { &as_bases(document.bytes)[..] } else { document.bytes };
            let lengths = *shortest..=(*longest).min(bytes.len());
            Ok(lengths
                .flat_map(|length| (0..=bytes.len() - length).map(move |start| (start, start + length)))
                .map(|(start, end)| part(bytes, start, end, start, end, numbering))
                .collect())
        }
        Analysis::Hashed(hashed) => {
            let mut buckets = Buckets::default();
            buckets.open(hashed);
            let found = parts(document, &hashed.of, normalizer, &mut buckets)?;
            let named = found.into_iter().map(|part| {
                let mut term = Vec::new();
                buckets.push_name(part.node, &mut term);
                let node = numbering.term(&Key::of(&term), || &term);
                Part { term, node, ..part }
            });
            Ok(named.collect())
        }
    }
}

fn part<N: Numbering>(
    text: &[u8],
    from: usize,
    to: usize,
    start: usize,
    end: usize,
    numbering: &mut N,
) -> Part {
    let term = text[from..to].to_vec();
    let node = numbering.term(&Key::of(&term), || &term);
    Part { term, node, start, end }
}

fn word_parts<N: Numbering>(
    text: &str,
    cut: &Cut,
    normalizer: Option<&Normalizer>,
    numbering: &mut N,
) -> Result<Vec<Part>, ReadError> {
    let mut parts = Vec::new();
    for piece in cut.pieces(text)? {
        let forms = forms_of(&text[piece.range.clone()], cut, piece.kept)?;
        let normalizer = normalizer.filter(|_| !piece.kept);
        for (word, [start, end]) in normalized(forms, normalizer)? {
            let node = numbering.term(&Key::of(word.as_bytes()), || word.as_bytes());
            let (start, end) = (piece.range.start + start, piece.range.start + end);
            parts.push(Part { term: word.into_bytes(), node, start, end });
        }
    }
    Ok(parts)
}

/// A token and its place in the text.
type Form = (String, [usize; 2]);

fn forms_of(text: &str, cut: &Cut, kept: bool) -> Result<Vec<Form>, ReadError> {
    let mut tokens = Tokens::default();
    if kept {
        tokens.add_whole(text.as_bytes(), &cut.rules)?;
    } else {
        cut.add_piece(text.as_bytes(), true, &mut tokens)?;
    }
    let letters = Lettered::new(text, cut.rules.lower);
    let mut done = 0;
    let form = |&[start, end]: &[u32; 2]| {
        let (start, end) = (start as usize, end as usize);
        let token = String::from_utf8_lossy(&tokens.text[start..end]).into_owned();
        let place = match &cut.tokenizer {
            Tokenizer::Function(_) => letters.find(&token, &mut done),
            _ => letters.place(start, end),
        };
        (token, [place.0, place.1])
    };
    Ok(tokens.spans().iter().map(form).collect())
}

fn normalized(forms: Vec<Form>, normalizer: Option<&Normalizer>) -> Result<Vec<Form>, ReadError> {
    let Some(normalizer) = normalizer else { return Ok(forms) };
    let mut words = WordList::default();
    let bare = forms.iter().map(|(form, _)| normalize::Form::of(form));
    normalizer.normalize(bare, &mut words).map_err(ReadError::Normalizer)?;
    let both = words.iter().zip(&forms);
    Ok(both.filter_map(|(word, &(_, place))| Some((word?.to_owned(), place))).collect())
}

fn join<N: Numbering>(words: &[Part], wanted: &Grams, numbering: &mut N) -> Vec<Part> {
    let mut all = if wanted.shortest == 1 { words.to_vec() } else { Vec::new() };
    let mut previous = words.to_vec();
    for length in 2..=wanted.longest.min(words.len()) {
        previous = previous
            .iter()
            .zip(&words[length - 1..])
            .map(|(prefix, last)| prefix.with(last, numbering))
            .collect();
        if length >= wanted.shortest {
            all.extend_from_slice(&previous);
        }
    }
    let gap = if wanted.sparse > 1 { numbering.term(&Key::of(GAP), || GAP) } else { UNKNOWN };
    for distance in wanted.distances() {
        for (first, second) in words.iter().zip(words.iter().skip(distance)) {
            let skipped = Part { term: b"_".to_vec(), node: gap, ..first.clone() };
            let prefix = (1..distance).fold(first.clone(), |prefix, _| prefix.with(&skipped, numbering));
            all.push(prefix.with(second, numbering));
        }
    }
    all
}

impl Part {
    /// This term and a word behind it as one.
    fn with<N: Numbering>(&self, last: &Part, numbering: &mut N) -> Part {
        Part {
            term: [&self.term[..], b" ", &last.term[..]].concat(),
            node: numbering.pair(self.node, last.node),
            start: self.start,
            end: last.end,
        }
    }
}

/// How far behind a token of a function the next one is looked for.
const NEAR: usize = 1 << 16;

/// Text as it is analyzed, each of its characters with the place it comes from.
struct Lettered {
    text: String,
    /// For each byte of `text` and for its end, where its character begins in the original.
    origin: Vec<u32>,
}

impl Lettered {
    fn new(source: &str, lower: bool) -> Self {
        let mut text = Vec::with_capacity(source.len());
        let mut origin = Vec::with_capacity(source.len() + 1);
        if lower {
            lower_into(source, &mut text, Some(&mut origin));
        } else {
            text.extend_from_slice(source.as_bytes());
            origin.extend(
                source.char_indices().flat_map(|(at, c)| std::iter::repeat_n(at as u32, c.len_utf8())),
            );
        }
        origin.push(source.len() as u32);
        Self { text: String::from_utf8(text).unwrap_or_default(), origin }
    }

    /// The place in the original of a token that a function cut, if it stands there behind `done`.
    fn find(&self, token: &str, done: &mut usize) -> (usize, usize) {
        // Not farther: a function may give tokens that do not stand there, and each would cost the whole text.
        let near = (*done + NEAR..).find(|&end| end >= self.text.len() || self.text.is_char_boundary(end));
        let rest = self.text.get(*done..near.map_or(*done, |end| end.min(self.text.len())));
        match rest.and_then(|rest| rest.find(token)) {
            Some(at) => {
                let start = *done + at;
                *done = start + token.len();
                self.place(start, *done)
            }
            None => (self.origin[*done] as usize, self.origin[*done] as usize),
        }
    }

    /// The place in the original of `text[from..to]`: an `İ` is two characters in lower case, but stands once.
    fn place(&self, from: usize, to: usize) -> (usize, usize) {
        let start = self.origin[from];
        let last = self.origin[to - 1];
        let end = self.origin[to - 1..].iter().find(|&&at| at > last).copied().unwrap_or(last);
        (start as usize, end as usize)
    }

    /// Each word between two spaces, which come from nowhere.
    fn padded_words(&self) -> Vec<Lettered> {
        let mut words = Vec::new();
        let mut at = 0;
        for word in self.text.split_inclusive(is_space) {
            let bare = word.trim_end_matches(is_space);
            if !bare.is_empty() {
                let end = at + bare.len();
                let (first, last) = (self.origin[at], self.place(at, end).1 as u32);
                let origin = [&[first], &self.origin[at..end], &[last, last]].concat();
                words.push(Lettered { text: format!(" {bare} "), origin });
            }
            at += word.len();
        }
        words
    }

    /// With one space for each run of two or more white space characters.
    fn collapsed(&self) -> Lettered {
        let mut text = String::new();
        let mut origin = Vec::new();
        let mut characters = self.text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let mut kept = character;
            while is_space(character) && characters.next_if(|&(_, next)| is_space(next)).is_some() {
                kept = ' ';
            }
            text.push(kept);
            origin.extend(std::iter::repeat_n(self.origin[at], kept.len_utf8()));
        }
        origin.push(self.origin.last().copied().unwrap_or(0));
        Lettered { text, origin }
    }

    /// N-grams; with `whole`, a text shorter than its n-grams counts once, as it is.
    fn grams<N: Numbering>(
        &self,
        shortest: usize,
        longest: usize,
        whole: bool,
        numbering: &mut N,
    ) -> Vec<Part> {
        let mut borders: Vec<usize> = self.text.char_indices().map(|(at, _)| at).collect();
        let characters = borders.len();
        borders.push(self.text.len());
        let mut grams = Vec::new();
        for length in shortest..=longest {
            if whole && length >= characters {
                grams.push(self.gram(0, self.text.len(), numbering));
                break;
            }
            if length <= characters {
                let spans = borders.iter().zip(&borders[length..]);
                grams.extend(spans.map(|(&from, &to)| self.gram(from, to, numbering)));
            }
        }
        grams
    }

    fn gram<N: Numbering>(&self, from: usize, to: usize, numbering: &mut N) -> Part {
        let (start, end) = self.place(from, to);
        part(self.text.as_bytes(), from, to, start, end, numbering)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use proptest::prelude::*;

    use super::*;
    use crate::analyze::buckets::Hashed;
    use crate::analyze::normalize::WordList;
    use crate::analyze::patterns::Pattern;
    use crate::analyze::reader::Reader;
    use crate::analyze::tokenizers::Cutter;
    use crate::analyze::words::WordRules;
    use crate::lexicon::Lexicon;

    struct AtCommas;

    impl Cutter for AtCommas {
        fn cut(&self, text: &str, out: &mut WordList) -> Result<(), Box<dyn Error + Send + Sync>> {
            text.split(',').for_each(|token| out.push(token));
            Ok(())
        }
    }

    fn tokenizers() -> Vec<Tokenizer> {
        let mut all = vec![Tokenizer::Words, Tokenizer::Punctuation, Tokenizer::Whitespace];
        all.extend(Pattern::new(r"(\w)\w*|,", || Ok(())).map(Tokenizer::Pattern));
        all.push(Tokenizer::Function(Box::new(AtCommas)));
        all
    }

    fn analyses(rules: &WordRules, keep: bool, grams: [usize; 3]) -> Vec<Analysis> {
        let [shortest, longest, sparse] = grams;
        let cut = |tokenizer| Cut {
            rules: rules.clone(),
            tokenizer,
            keep: keep.then(|| Pattern::new("#\\w+|\\.a", || Ok(())).ok()).flatten(),
        };
        let words = |tokenizer| Analysis::Words { cut: cut(tokenizer), shortest, longest, sparse };
        let lower = rules.lower;
        let mut all: Vec<Analysis> = tokenizers().into_iter().map(words).collect();
        all.push(Analysis::Letters { lower, within_words: true, shortest, longest });
        all.push(Analysis::Letters { lower, within_words: false, shortest, longest });
        all.push(Analysis::Bytes { bases: false, shortest, longest });
        all.push(Analysis::Bytes { bases: true, shortest, longest });
        let words = Analysis::Words { cut: cut(Tokenizer::Words), shortest, longest, sparse };
        let letters = Analysis::Letters { lower, within_words: true, shortest, longest };
        all.extend([words, letters].map(|of| Analysis::Hashed(Box::new(Hashed::new(7, of)))));
        all
    }

    proptest! {
        #[test]
        fn the_parts_of_a_text_are_what_is_counted(
            text in "[aAbB ,.#é漢字ที่İΣ\u{301}\u{0}\u{200d}👍]{0,20}", lower: bool, bigrams: bool, keep: bool, stem: bool,
            shortest in 1usize..3, more in 0usize..3, sparse in 0usize..4, min_length in 0usize..3,
        ) {
            let rules = WordRules { lower, marks: true, min_length, max_length: 9, max_bytes: 20, bigrams };
            let normalizer = Normalizer::new(["b"], true, None);
            for analysis in analyses(&rules, keep, [shortest, shortest + more, sparse]) {
                let mut lexicon = Lexicon::default();
                let mut reader = Reader::default();
                let normalizer = stem.then_some(&normalizer);
                let document = Document { bytes: text.as_bytes(), trusted: false };
                prop_assert!(reader.read(&[document], &analysis, normalizer, &mut lexicon).is_ok());
                let mut counted = reader.terms(0).to_vec();
                let nodes = lexicon.nodes;
                let parts = parts(document, &analysis, normalizer, &mut lexicon).unwrap_or_default();
                prop_assert_eq!(nodes, lexicon.nodes, "nothing new is found");
                prop_assert!(parts.iter().all(|part| part.start <= part.end && part.end <= text.len()));
                let mut found: Vec<u32> = parts.iter().map(|part| part.node).collect();
                counted.sort_unstable();
                found.sort_unstable();
                prop_assert_eq!(counted, found);
            }
        }
    }
}
