//! Regular expressions as tokenizers. Each match is found in linear time; all of them are not, where the search for one
//! looks far beyond its end (`<[^>]*>|\S` in a text of `<`). Then a search that remembers what failed takes over.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};

use crate::analyze::memoized::{Automaton, Found, Poll, Search};
use crate::errors::{ReadError, TextError};

/// A regular expression takes at most this many bytes of memory, compiled.
const PATTERN_BYTES: usize = 4 << 20;
/// The clock is read, and Ctrl-C polled, once in so many matches; in the beginning more often.
const BETWEEN_CHECKS: usize = 16;
/// In a longer text the first search alone could take minutes, if the pattern has more states than this.
const SHORT: usize = 4096;
const MANY_STATES: usize = 10_000;
/// How long the quick search may take: this, and so much for each byte that is behind it.
const PATIENCE: Duration = Duration::from_millis(2);
const PATIENCE_PER_BYTE: Duration = Duration::from_nanos(200);

/// A regular expression that cannot be used.
#[derive(Debug)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PatternError {}

#[derive(Clone)]
pub struct Pattern {
    regex: Arc<Regex>,
    poll: Poll,
    automaton: Arc<OnceLock<Option<Automaton>>>,
}

impl Pattern {
    pub fn new(source: &str, poll: Poll) -> Result<Self, PatternError> {
        let built = RegexBuilder::new(source).size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES).build();
        let regex = built.map_err(|error| PatternError(error.to_string()))?;
        if regex.captures_len() > 2 {
            let groups = regex.captures_len() - 1;
            return Err(PatternError(format!("it has {groups} groups, and a token can be only one of them")));
        }
        Ok(Self { regex: Arc::new(regex), poll, automaton: Arc::default() })
    }

    /// Where the tokens stand: what the pattern matches, or its only group; never empty.
    pub fn tokens(&self, text: &str, push: &mut dyn FnMut(Range<usize>)) -> Result<(), ReadError> {
        if text.len() > SHORT && self.automaton().is_none_or(|automaton| automaton.states() > MANY_STATES) {
            return self.remembering(text, 0, push);
        }
        let started = Instant::now();
        for (i, (found, token)) in self.found(text).enumerate() {
            if let Some(token) = token.filter(|token| !token.is_empty()) {
                push(token);
            }
            if i.is_multiple_of(BETWEEN_CHECKS) || i.is_power_of_two() {
                let spent = started.elapsed();
                let allowed = PATIENCE_PER_BYTE.saturating_mul(found.end.try_into().unwrap_or(u32::MAX));
                if spent > PATIENCE + allowed {
                    return self.remembering(text, behind(text, &found), push);
                }
                if spent > PATIENCE {
                    (self.poll)().map_err(ReadError::Normalizer)?;
                }
            }
        }
        Ok(())
    }

    fn automaton(&self) -> Option<&Automaton> {
        self.automaton.get_or_init(|| Automaton::new(self.regex.as_str(), PATTERN_BYTES)).as_ref()
    }

    /// Each match, and its token.
    fn found<'a>(&'a self, text: &'a str) -> Box<dyn Iterator<Item = Found> + 'a> {
        if self.regex.captures_len() == 1 {
            return Box::new(self.regex.find_iter(text).map(|found| (found.range(), Some(found.range()))));
        }
        let groups = self.regex.captures_iter(text);
        Box::new(groups.map(|groups| (groups.get_match().range(), groups.get(1).map(|group| group.range()))))
    }

    /// The same tokens from `at` on, in time proportional to the text.
    pub fn remembering(
        &self,
        text: &str,
        mut at: usize,
        push: &mut dyn FnMut(Range<usize>),
    ) -> Result<(), ReadError> {
        let search = self.automaton().and_then(|automaton| Search::new(automaton, text, at, self.poll));
        let Some(mut search) = search else { return Err(TextError::TooFarAhead { document: 0 }.into()) };
        while let Some((found, group)) = search.next(at)? {
            let token = if self.regex.captures_len() == 1 { Some(found.clone()) } else { group };
            if let Some(token) = token.filter(|token| !token.is_empty()) {
                push(token);
            }
            at = behind(text, &found);
        }
        Ok(())
    }
}

/// Where to search on: behind a match, and never twice at one place.
fn behind(text: &str, found: &Range<usize>) -> usize {
    if !found.is_empty() {
        return found.end;
    }
    found.end + text[found.end..].chars().next().map_or(1, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec![
            "a", "b", "é", "<", ">", ".", r"\w", r"\W", r"\b", r"\B", "^", "$", "[^a]", "[a-é]", "(?:)",
            r"\s", "ab",
        ]);
        let leaf = leaf.prop_map(str::to_owned);
        leaf.prop_recursive(4, 24, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(|all| all.concat()),
                prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("(?:{})", all.join("|"))),
                (inner, prop::sample::select(vec!["*", "+", "?", "*?", "+?", "??", "{2,3}"]))
                    .prop_map(|(inner, times)| format!("(?:{inner}){times}")),
            ]
        })
    }

    fn all(pattern: &Pattern, text: &str, at: Option<usize>) -> Result<Vec<Range<usize>>, String> {
        let mut found = Vec::new();
        let push = &mut |range| found.push(range);
        let done = match at {
            None => pattern.tokens(text, push),
            Some(at) => pattern.remembering(text, at, push),
        };
        done.map(|()| found).map_err(|error| error.to_string())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn remembering_finds_what_the_quick_search_finds(
            source in pattern(), head in pattern(), group: bool, text in "[ab<>é \n漢]{0,24}",
        ) {
            let source = if group { format!("{head}({source})") } else { source };
            let Ok(pattern) = Pattern::new(&source, || Ok(())) else { return Ok(()) };
            prop_assert_eq!(all(&pattern, &text, None), all(&pattern, &text, Some(0)));
        }
    }

    #[test]
    fn what_looks_ahead_for_each_token_is_linear() {
        for (source, unit) in [(r"<[^>]*>|\S", "<"), (r".*[^A-Z]|[A-Z]", "A"), (r"(?:\w+@)?(\w)", "é")] {
            let text = unit.repeat(200_000);
            let pattern = Pattern::new(source, || Ok(()));
            let found = pattern.map(|pattern| all(&pattern, &text, None).map(|found| found.len()));
            assert!(matches!(found, Ok(Ok(200_000))), "{found:?}");
        }
    }

    #[test]
    fn a_large_pattern_is_stopped_too() {
        let pattern = Pattern::new("(?:x?){20000}y|x", || Err("enough".into()));
        let found = pattern.map(|pattern| all(&pattern, &"x".repeat(20_000), None));
        assert!(matches!(found, Ok(Err(error)) if error == "enough"));
    }

    #[test]
    fn letters_of_any_script_need_few_memos() {
        for (source, most) in [(r"\w+", 5), (r"(?u)\b\w\w+\b", 24), (r"\w{1,100}", 400), (r"(?:x|y)a{9}", 4)]
        {
            let memos = Automaton::new(source, PATTERN_BYTES).map_or(usize::MAX, |found| found.memos());
            assert!((1..=most).contains(&memos), "{source}: {memos}");
        }
    }

    #[test]
    fn a_search_stops_when_it_is_asked_to() {
        let pattern = Pattern::new(r"<[^>]*>|\S", || Err("enough".into()));
        let found = pattern.map(|pattern| all(&pattern, &"<".repeat(2_000_000), None));
        assert!(matches!(found, Ok(Err(error)) if error == "enough"));
    }
}
