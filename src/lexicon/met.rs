//! Which forms may have been met before: a bit for each hash, so that what comes once takes no more memory than that.

use crate::lexicon::form_table::Key;

/// So many bits are kept: 128 KiB, which stay in the cache. When most are set, every form is taken for met.
const BITS: usize = 1 << 20;

#[derive(Clone, Default)]
pub struct Met {
    bits: Vec<u64>,
}

impl Met {
    /// Meet a form; whether it, or one with the same bits, was met before.
    #[inline(always)]
    pub fn meet(&mut self, key: &Key) -> bool {
        if self.bits.is_empty() {
            self.bits = vec![0; BITS / 64];
        }
        let at = key.upper_hash() % BITS;
        let (word, bit) = (&mut self.bits[at / 64], 1 << (at % 64));
        let met = *word & bit != 0;
        *word |= bit;
        met
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_met_for_the_first_time_once_and_few_others_are_taken_for_it() {
        let mut met = Met::default();
        let forms: Vec<String> = (0..1000).map(|form| format!("form {form}")).collect();
        let known = forms.iter().filter(|form| met.meet(&Key::of(form.as_bytes()))).count();
        assert!(known < 20, "{known}");
        assert!(forms.iter().all(|form| met.meet(&Key::of(form.as_bytes()))));
    }
}
