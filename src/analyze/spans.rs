//! Masks of word bytes to the places of words.

use crate::analyze::byte_masks::{BLOCK, Mask};

/// So many blocks are looked at before more room is made.
const GROUP: usize = 64;
/// So many ones are found at a time, whether there are as many or not: a loop that ends exactly at the last one is
/// mispredicted in every block.
const STEP: usize = 6;

/// What the blocks before have left: whether a word goes on, where the next block begins, whether one was all ones.
#[derive(Clone, Copy)]
struct State {
    carry: u64,
    base: u32,
    full: bool,
}

/// Append where runs of ones begin and end, as positions from `begin` to `end`. True if a whole block is ones.
pub(crate) fn push_spans(masks: &[Mask], begin: u32, end: u32, spans: &mut Vec<[u32; 2]>) -> bool {
    let mut state = State { carry: 0, base: begin, full: false };
    for group in masks.chunks(GROUP) {
        spans.reserve(GROUP * BLOCK / 2 + STEP + 1);
        state = push_group(group, state, spans);
    }
    if let (Some(last), 1) = (spans.last_mut(), state.carry) {
        last[1] = end;
    }
    state.full
}

fn push_group(masks: &[Mask], state: State, spans: &mut Vec<[u32; 2]>) -> State {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { push_group_fast(masks, state, spans) };
    }
    push_group_anywhere(masks, state, spans)
}

/// The same, with instructions for finding, clearing and counting ones.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,popcnt")]
fn push_group_fast(masks: &[Mask], state: State, spans: &mut Vec<[u32; 2]>) -> State {
    push_group_anywhere(masks, state, spans)
}

/// Beginnings and ends are found side by side, so that one does not wait for the other.
#[inline(always)]
fn push_group_anywhere(masks: &[Mask], mut state: State, spans: &mut Vec<[u32; 2]>) -> State {
    let mut started = spans.len();
    let mut ended = started - state.carry as usize;
    let out = spans.as_mut_ptr();
    for &Mask { word, .. } in masks {
        let before = word << 1 | state.carry;
        let (mut starts, mut ends) = (word & !before, before & !word);
        let (more, done) = (starts.count_ones() as usize, ends.count_ones() as usize);
        // SAFETY: there is room for half as many spans as bytes, and for what is written beyond them.
        unsafe {
            let (mut start, mut end) = (out.add(started).cast::<u32>(), out.add(ended).cast::<u32>().add(1));
            let last = out.add(started + more.max(done)).cast::<u32>();
            while start < last {
                for _ in 0..STEP {
                    start.write(state.base.wrapping_add(starts.trailing_zeros()));
                    end.write(state.base.wrapping_add(ends.trailing_zeros()));
                    starts &= starts.wrapping_sub(1);
                    ends &= ends.wrapping_sub(1);
                    (start, end) = (start.add(2), end.add(2));
                }
            }
        }
        (started, ended) = (started + more, ended + done);
        state.full |= word == u64::MAX;
        state.carry = word >> 63;
        state.base = state.base.wrapping_add(BLOCK as u32);
    }
    // SAFETY: both numbers of each of these spans were written, but for the end of the last one.
    unsafe {
        if ended < started {
            out.add(ended).cast::<u32>().add(1).write(0);
        }
        spans.set_len(started);
    }
    state
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one_by_one(words: &[u64], begin: u32, end: u32) -> Vec<[u32; 2]> {
        let is_word = |at: usize| words.get(at / BLOCK).is_some_and(|word| word >> (at % BLOCK) & 1 == 1);
        let mut spans: Vec<[u32; 2]> = Vec::new();
        for at in 0..words.len() * BLOCK {
            if is_word(at) && (at == 0 || !is_word(at - 1)) {
                spans.push([begin + at as u32, end]);
            } else if !is_word(at) && at > 0 && is_word(at - 1) {
                spans.iter_mut().last().into_iter().for_each(|span| span[1] = begin + at as u32);
            }
        }
        spans
    }

    proptest! {
        #[test]
        fn every_processor_finds_the_same_words(
            words in prop::collection::vec(prop_oneof![any::<u64>(), Just(u64::MAX), Just(0), Just(0xAAAA_AAAA_AAAA_AAAA)], 0..200),
        ) {
            let masks: Vec<Mask> = words.iter().map(|&word| Mask { word, high: 0 }).collect();
            let end = 7 + (words.len() * BLOCK) as u32;
            let expected = one_by_one(&words, 7, end);
            let mut chosen = vec![[1, 2]];
            prop_assert_eq!(push_spans(&masks, 7, end, &mut chosen), words.contains(&u64::MAX));
            prop_assert_eq!(&chosen[1..], &expected[..]);
            let mut anywhere = Vec::with_capacity(GROUP * BLOCK / 2 + STEP + 1);
            let group = &masks[..masks.len().min(GROUP)];
            let state = push_group_anywhere(group, State { carry: 0, base: 7, full: false }, &mut anywhere);
            let closed = anywhere.len() - state.carry as usize;
            prop_assert_eq!(&anywhere[..closed], &expected[..closed]);
        }
    }
}
