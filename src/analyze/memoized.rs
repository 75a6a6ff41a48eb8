//! A regular expression's matches by backtracking that remembers where it failed: whatever failed at a place fails
//! there in every later search too, so each state is tried once at each place of the text.

use std::error::Error;
use std::ops::Range;

use regex_automata::nfa::thompson::{NFA, State, WhichCaptures};
use regex_automata::util::primitives::StateID;

use crate::errors::{ReadError, TextError};

/// Asks whether to go on.
pub type Poll = fn() -> Result<(), Box<dyn Error + Send + Sync>>;

/// A match, and its group if it has one.
pub type Found = (Range<usize>, Option<Range<usize>>);

/// How many bits of failures are kept at most, and how many branches wait.
const MOST_BITS: usize = 1 << 31;
const MOST_BRANCHES: usize = 1 << 25;
/// The poll for Ctrl-C comes once in so many steps.
const BETWEEN_POLLS: u32 = 1 << 20;
/// Of a state whose failures need not be kept.
const NO_MEMO: u32 = u32::MAX;

/// A pattern's states, and those where paths meet that began apart: only their failures are kept.
pub struct Automaton {
    nfa: NFA,
    memo: Vec<u32>,
    memos: usize,
}

impl Automaton {
    pub fn new(source: &str, most_bytes: usize) -> Option<Self> {
        let config =
            NFA::config().utf8(true).which_captures(WhichCaptures::All).nfa_size_limit(Some(most_bytes));
        let nfa = NFA::compiler().configure(config).build(source).ok()?;
        let mut memos = 0;
        let number = |meets: bool| {
            if !meets {
                return NO_MEMO;
            }
            memos += 1;
            memos - 1
        };
        let memo = meetings(&nfa).into_iter().map(number).collect();
        Some(Self { nfa, memo, memos: memos as usize })
    }

    pub fn states(&self) -> usize {
        self.memo.len()
    }

    #[cfg(test)]
    pub fn memos(&self) -> usize {
        self.memos
    }
}

/// Of each state whether paths meet there that began apart.
///
/// States that read a byte lie on one path as long as they are reached from one state only, however many lie between:
/// the bytes of a letter lead from the first to the last in one way. Without this, every letter of every script would
/// have some hundred memos.
fn meetings(nfa: &NFA) -> Vec<bool> {
    let mut nexts = vec![Vec::new(); nfa.states().len()];
    for (state, next) in nfa.states().iter().zip(&mut nexts) {
        next_states(state, &mut |to| next.push(to.as_usize()));
        next.sort_unstable();
        next.dedup();
    }
    let reads = |state: usize| {
        matches!(nfa.states()[state], State::ByteRange { .. } | State::Sparse(_) | State::Dense(_))
    };
    let mut ways = vec![0_u32; nexts.len()];
    nexts.iter().flatten().for_each(|&to| ways[to] += 1);
    // Where the path began on which each state lies; itself where paths meet, or where no byte was read before it.
    let mut begin: Vec<Option<usize>> = vec![None; nexts.len()];
    let first = nfa.start_anchored().as_usize();
    begin[first] = Some(first);
    ways[first] += 1;
    let mut waiting = vec![first];
    while let Some(state) = waiting.pop() {
        for &to in &nexts[state] {
            let on_path = reads(state) && reads(to);
            let from = if on_path { begin[state].unwrap_or(to) } else { to };
            let now = if begin[to].is_none_or(|known| known == from) { from } else { to };
            if begin[to] != Some(now) {
                begin[to] = Some(now);
                waiting.push(to);
            }
        }
    }
    (0..nexts.len()).map(|state| ways[state] > 1 && begin[state] == Some(state)).collect()
}

fn next_states(state: &State, reach: &mut impl FnMut(StateID)) {
    match state {
        State::ByteRange { trans } => reach(trans.next),
        State::Sparse(all) => all.transitions.iter().for_each(|trans| reach(trans.next)),
        State::Dense(all) => all.transitions.iter().copied().for_each(reach),
        State::Look { next, .. } | State::Capture { next, .. } => reach(*next),
        State::Union { alternates } => alternates.iter().copied().for_each(reach),
        State::BinaryUnion { alt1, alt2 } => [*alt1, *alt2].into_iter().for_each(reach),
        State::Fail | State::Match { .. } => {}
    }
}

/// What is left to try: a state at a place, or a bound of the group as it was before a branch that failed.
enum Branch {
    Try(StateID, u32),
    Undo(u8, u32),
}

/// No place: a group that was not entered.
const NOWHERE: u32 = u32::MAX;

pub struct Search<'a> {
    automaton: &'a Automaton,
    text: &'a str,
    /// The first place whose failures are kept.
    first: usize,
    failed: Vec<u64>,
    branches: Vec<Branch>,
    group: [u32; 2],
    poll: Poll,
    steps: u32,
}

impl<'a> Search<'a> {
    /// None if the text from `first` on is too long for the pattern.
    pub fn new(automaton: &'a Automaton, text: &'a str, first: usize, poll: Poll) -> Option<Self> {
        let bits = (text.len() + 1 - first.min(text.len())).checked_mul(automaton.memos)?;
        let words = bits.div_ceil(64);
        let mut failed = Vec::new();
        if bits > MOST_BITS || failed.try_reserve_exact(words).is_err() {
            return None;
        }
        failed.resize(words, 0);
        let branches = Vec::new();
        Some(Self { automaton, text, first, failed, branches, group: [NOWHERE; 2], poll, steps: 0 })
    }

    /// The first match that begins at `at` or later, and its group.
    pub fn next(&mut self, at: usize) -> Result<Option<Found>, ReadError> {
        // The match before this one ended here, by way of states that did not fail.
        self.forget(at);
        let text = self.text;
        let Some(rest) = text.get(at..) else { return Ok(None) };
        let starts = rest.char_indices().map(|(i, _)| at + i).chain([text.len()]);
        for start in starts {
            self.group = [NOWHERE; 2];
            if let Some(end) = self.matched(start)? {
                let [from, to] = self.group;
                let group = (from != NOWHERE && to != NOWHERE).then_some(from as usize..to as usize);
                return Ok(Some((start..end, group)));
            }
        }
        Ok(None)
    }

    /// Where the match that begins here ends.
    fn matched(&mut self, start: usize) -> Result<Option<usize>, ReadError> {
        self.branches.clear();
        self.branches.push(Branch::Try(self.automaton.nfa.start_anchored(), start as u32));
        while let Some(branch) = self.branches.pop() {
            match branch {
                Branch::Undo(slot, place) => self.group[slot as usize] = place,
                Branch::Try(state, at) => {
                    if let Some(end) = self.follow(state, at as usize)? {
                        return Ok(Some(end));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Go on from a state until there is a match or a failure; what else could be tried waits.
    fn follow(&mut self, mut state: StateID, mut at: usize) -> Result<Option<usize>, ReadError> {
        loop {
            self.step()?;
            if self.met(state, at) {
                return Ok(None);
            }
            let next = match self.automaton.nfa.state(state) {
                State::Match { .. } => return Ok(Some(at)),
                State::Look { look, next } => {
                    let holds = self.automaton.nfa.look_matcher().matches(*look, self.text.as_bytes(), at);
                    holds.then_some(*next)
                }
                State::Capture { next, slot, .. } => {
                    self.enter_group(slot.as_usize(), at);
                    Some(*next)
                }
                State::Union { alternates } => self.choose(alternates, at),
                State::BinaryUnion { alt1, alt2 } => self.choose(&[*alt1, *alt2], at),
                reading => {
                    at += 1;
                    self.text.as_bytes().get(at - 1).and_then(|&byte| read(reading, byte))
                }
            };
            match next {
                Some(next) => state = next,
                None => return Ok(None),
            }
        }
    }

    fn choose(&mut self, all: &[StateID], at: usize) -> Option<StateID> {
        let (first, others) = all.split_first()?;
        self.branches.extend(others.iter().rev().map(|&state| Branch::Try(state, at as u32)));
        Some(*first)
    }

    /// Slots 2 and 3 are the bounds of the first group.
    fn enter_group(&mut self, slot: usize, at: usize) {
        if let Some(bound @ 0..2) = slot.checked_sub(2) {
            let before = std::mem::replace(&mut self.group[bound], at as u32);
            self.branches.push(Branch::Undo(bound as u8, before));
        }
    }

    fn step(&mut self) -> Result<(), ReadError> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(BETWEEN_POLLS) {
            (self.poll)().map_err(ReadError::Normalizer)?;
        }
        if self.branches.len() > MOST_BRANCHES {
            return Err(TextError::TooFarAhead { document: 0 }.into());
        }
        Ok(())
    }

    /// Whether the state was tried at this place before.
    fn met(&mut self, state: StateID, at: usize) -> bool {
        let memo = self.automaton.memo[state.as_usize()];
        if memo == NO_MEMO {
            return false;
        }
        let bit = (at - self.first) * self.automaton.memos + memo as usize;
        let (word, mask) = (&mut self.failed[bit / 64], 1 << (bit % 64));
        let met = *word & mask != 0;
        *word |= mask;
        met
    }

    /// Forget what was tried at a place.
    fn forget(&mut self, at: usize) {
        let start = (at - self.first) * self.automaton.memos;
        for bit in start..start + self.automaton.memos {
            if let Some(word) = self.failed.get_mut(bit / 64) {
                *word &= !(1 << (bit % 64));
            }
        }
    }
}

/// The state behind a byte.
fn read(state: &State, byte: u8) -> Option<StateID> {
    match state {
        State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
        State::Sparse(all) => all.matches_byte(byte),
        State::Dense(all) => all.matches_byte(byte),
        _ => None,
    }
}
