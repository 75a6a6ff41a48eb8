//! What a fuzzer calls (`make fuzz`): any bytes are a view and texts, or the arrays of a file. Built only for it.

use std::cell::RefCell;
use std::sync::LazyLock;

use crate::analyze::located::parts;
use crate::analyze::normalize::Normalizer;
use crate::analyze::patterns::Pattern;
use crate::analyze::porter::Porter;
use crate::analyze::reader::{Analysis, Document, Reader};
use crate::analyze::tokenizers::{Cut, Tokenizer};
use crate::analyze::words::WordRules;
use crate::context::{Context, Labeled};
use crate::lexicon::Lexicon;
use crate::lexicon::numbering::{Frozen, Numbering};
use crate::tally::Tally;
use crate::tally::export::{Arrays, Integers, Wanted, export};

/// Compiled once: with every input that took 100 times as long as all the rest.
static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let sources = [
        r"\b(?i:https?://|www\.)[^\s<>]*[^\s<>.,;]|\B#\w+",
        r"\w[\w']*|\d+",
        r"(\w+)\W",
        r"(?u)\b\w\w+\b",
        r"<[^>]*>|\S",
        r".*[^A-Z]|[A-Z]",
        r"(?:a|ab)(?:c|bcd)?(d*)",
        r"a*?b??|(?:)",
        r"(?m)^(.*)$",
        r"(?:a?){3}a{3}",
        r"(?i)é+|\p{Greek}+|[^\x00-\x7f]",
        r"\d{1,3}(?:[.,]\d{3})*(?:[.,]\d+)?|\B",
    ];
    sources.iter().filter_map(|source| Pattern::new(source, || Ok(())).ok()).collect()
});
static NORMALIZER: LazyLock<Normalizer> = LazyLock::new(|| Normalizer::new(["the", "a", ""], true, None));
const ALL: Wanted = Wanted { documents: true, occurrences: true, shares: true };

/// A view of any kind, as two bytes say.
fn analysis(kind: u8, rules: u8) -> Option<Analysis> {
    let flag = |bit: u8| rules >> bit & 1 == 1;
    let (shortest, longest) = (1 + usize::from(flag(4)), 2 + usize::from(flag(5)));
    let tokenizer = match kind % 8 {
        0 => Tokenizer::Words,
        1 => Tokenizer::Punctuation,
        2 => Tokenizer::Whitespace,
        3 => Tokenizer::Pattern(PATTERNS[1].clone()),
        4 => Tokenizer::Pattern(PATTERNS[2].clone()),
        5 | 6 => {
            return Some(Analysis::Letters {
                lower: flag(0),
                within_words: kind % 8 == 5,
                shortest,
                longest,
            });
        }
        _ => return Some(Analysis::Bytes { bases: flag(0), shortest, longest }),
    };
    let (min_length, max_length) = (usize::from(flag(2)) + 1, if flag(3) { 5 } else { usize::MAX });
    let rules = WordRules {
        lower: flag(0),
        marks: flag(1),
        min_length,
        max_length,
        max_bytes: if flag(6) { 7 } else { 256 },
        bigrams: flag(7),
    };
    let keep = (kind & 8 > 0).then(|| PATTERNS[0].clone());
    let sparse = if kind & 16 > 0 { 3 } else { 0 };
    let longest = if kind & 32 > 0 { longest } else { 1 };
    Some(Analysis::Words {
        cut: Cut { rules, tokenizer, keep },
        shortest: shortest.min(longest),
        longest,
        sparse,
    })
}

thread_local! {
    /// Kept from input to input: to make them takes longer than to use them.
    static READING: RefCell<(Reader, Lexicon)> = RefCell::default();
    static STEMMER: RefCell<(Porter, String)> = RefCell::default();
}
const MOST_NODES: u32 = 5_000;

fn documents(text: &[u8]) -> Vec<Document<'_>> {
    text.split(|&byte| byte == 0).map(|bytes| Document { bytes, trusted: false }).collect()
}

/// The fast and the careful way find the same terms.
///
/// # Panics
///
/// If they do not.
pub fn analyze(data: &[u8]) {
    let &[kind, rules, ref text @ ..] = data else { return };
    let Some(analysis) = analysis(kind, rules) else { return };
    let stemmed = kind & 64 > 0 && matches!(analysis, Analysis::Words { .. });
    let normalizer = stemmed.then_some(&*NORMALIZER);
    READING.with_borrow_mut(|(reader, lexicon)| {
        if lexicon.nodes > MOST_NODES {
            *lexicon = Lexicon::default();
        }
        // What a form became is kept, and differs from view to view.
        lexicon.forget_forms();
        let documents = documents(text);
        if reader.read(&documents, &analysis, normalizer, lexicon).is_err() {
            return;
        }
        for (i, &document) in documents.iter().enumerate() {
            let found = parts(document, &analysis, normalizer, &mut Frozen::new(lexicon, false));
            let found = found.unwrap_or_else(|error| unreachable!("only the careful way refuses: {error}"));
            let mut careful: Vec<u32> = found.iter().map(|part| part.node).collect();
            let mut fast = reader.terms(i).to_vec();
            careful.sort_unstable();
            fast.sort_unstable();
            assert_eq!(fast, careful);
            assert!(found.iter().all(|part| part.start <= part.end && part.end <= document.bytes.len()));
        }
    });
}

/// What was learned and forgotten leaves no trace, and what is exported can be restored.
///
/// # Panics
///
/// If it does.
pub fn tally(data: &[u8]) {
    let &[kind, rules, ref text @ ..] = data else { return };
    let Some(analysis) = analysis(kind, rules) else { return };
    let stemmed = kind & 64 > 0 && matches!(analysis, Analysis::Words { .. });
    let documents = documents(text);
    if documents.iter().all(|document| std::str::from_utf8(document.bytes).is_ok()) {
        forgotten(&analysis, stemmed.then_some(&*NORMALIZER), &documents);
    }
}

/// A search that remembers finds the tokens of the quick one.
///
/// # Panics
///
/// If it does not.
pub fn patterns(data: &[u8]) {
    let Some((&which, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let pattern = &PATTERNS[which as usize % PATTERNS.len()];
    let (mut quick, mut careful) = (Vec::new(), Vec::new());
    assert!(pattern.tokens(text, &mut |token| quick.push(token)).is_ok());
    assert!(pattern.remembering(text, 0, &mut |token| careful.push(token)).is_ok());
    assert_eq!(quick, careful);
    assert!(quick.iter().all(|token| text.get(token.clone()).is_some_and(|token| !token.is_empty())));
}

/// A stem is text, and not much longer than its word.
///
/// # Panics
///
/// If it is not.
pub fn stems(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    STEMMER.with_borrow_mut(|(porter, stem)| {
        for word in text.split(' ') {
            stem.clear();
            porter.stem(word, stem);
            assert!(std::str::from_utf8(stem.as_bytes()).is_ok());
            assert!(stem.len() <= word.len() + 1);
        }
    });
}

fn forgotten(analysis: &Analysis, normalizer: Option<&Normalizer>, documents: &[Document]) {
    let context = Context { analysis, normalizer, interrupted: &|| false };
    let classes: Vec<u32> = (0..documents.len() as u32).map(|i| i % 3).collect();
    let labeled = Labeled { documents, classes: &classes };
    let mut tally = Tally::default();
    for threads in [1, 2] {
        assert!(tally.add(&context, labeled, threads, &mut ()).is_ok());
    }
    assert!(tally.subtract(&context, labeled, &mut ()).is_ok());
    let (once, _) = export(&mut tally, &[0, 1, 2], ALL);
    let mut fresh = Tally::default();
    assert!(fresh.add(&context, labeled, 1, &mut ()).is_ok());
    assert_eq!(once, export(&mut fresh, &[0, 1, 2], ALL).0);
    let stored = once.stored();
    assert!(stored.lexicon(analysis.deepest()).is_ok());
}

/// Arrays that any tally could have written are those it writes again; all others are refused.
///
/// # Panics
///
/// If they are not.
pub fn restore(data: &[u8]) {
    let mut data = Bytes(data);
    let arrays = Arrays {
        words: data.bytes(),
        word_ends: data.numbers(u64::from),
        pairs: data.numbers(u32::from),
        terms: data.numbers(u32::from),
        class_documents: data.numbers(u64::from),
        class_ends: data.numbers(u64::from),
        term: data.numbers(u32::from),
        documents: Integers::U32(data.numbers(u32::from)),
        occurrences: Integers::U16(data.numbers(u16::from)),
        shares_whole: Integers::U32(data.numbers(u32::from)),
        shares_part: data.numbers(u64::from),
    };
    let stored = arrays.stored();
    let Ok(lexicon) = stored.lexicon(8) else { return };
    let classes = stored.classes();
    let order: Vec<u32> = (0..classes.len() as u32).collect();
    let mut tally = Tally::restored(lexicon, Box::new(move || classes));
    let (again, _) = export(&mut tally, &order, ALL);
    assert_eq!(again.class_documents, arrays.class_documents);
    assert_eq!(again.documents, arrays.documents);
}

/// Bytes that are lists, each with its length before it.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn bytes(&mut self) -> Vec<u8> {
        let Some((&length, rest)) = self.0.split_first() else { return Vec::new() };
        let (list, rest) = rest.split_at(rest.len().min(length.into()));
        self.0 = rest;
        list.to_vec()
    }

    fn numbers<T>(&mut self, number: impl Fn(u8) -> T) -> Vec<T> {
        self.bytes().into_iter().map(number).collect()
    }
}
