//! Masks of word bytes to the places of words.

use crate::analyze::{BLOCK, Mask};

/// So many blocks are looked at before more room is made.
const GROUP: usize = 64;
/// So many ones are found at a time, whether there are as many or not: a loop that ends exactly at the last one is
/// mispredicted in every block.
const STEP: usize = 6;

/// Where the current word began, and where the next will.
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
