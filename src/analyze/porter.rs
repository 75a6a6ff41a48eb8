//! The stemmer of Martin Porter (1980): endings are cut off in five steps, each if enough of a word is left.
//! As in his own rendering in Snowball, letters outside a to z are consonants, and of doubled ones only those
//! that English doubles are made single.

/// Stands for one character outside ASCII; no UTF-8 has this byte.
const FOREIGN: u8 = 0xFF;
/// A y that is a consonant.
const CONSONANT_Y: u8 = 0xFE;

/// Stems words; keeps its working memory.
#[derive(Default)]
pub struct Porter {
    word: Vec<u8>,
    /// One bit a letter: is it a vowel?
    vowels: Vec<u64>,
    first_vowel: usize,
    /// Whether some byte of the word stands for another character.
    disguised: bool,
    /// Where what follows the first (second) vowel-consonant sequence begins.
    first: usize,
    second: usize,
}

impl Porter {
    /// Append the stem of `word`, which may be empty.
    pub fn stem(&mut self, word: &str, out: &mut String) {
        self.set(word);
        self.mark_regions();
        self.plurals();
        self.participles();
        self.final_y();
        self.replace_longest(second_step, self.first);
        self.replace_longest(third_step, self.first);
        self.replace_longest(fourth_step, self.second);
        self.final_e_and_l();
        if !self.disguised {
            // SAFETY: the word was ASCII, and so is all that was put in the places of its endings.
            return out.push_str(unsafe { std::str::from_utf8_unchecked(&self.word) });
        }
        let mut foreign = word.chars().filter(|character| !character.is_ascii());
        for &byte in &self.word {
            match byte {
                FOREIGN => out.extend(foreign.next()),
                CONSONANT_Y => out.push('y'),
                other => out.push(char::from(other)),
            }
        }
    }

    fn set(&mut self, word: &str) {
        self.word.clear();
        self.disguised = !word.is_ascii();
        if word.is_ascii() {
            self.word.extend_from_slice(word.as_bytes());
        } else {
            let byte = |character: char| if character.is_ascii() { character as u8 } else { FOREIGN };
            self.word.extend(word.chars().map(byte));
        }
        self.vowels.clear();
        let mut behind_vowel = true;
        for letters in self.word.chunks_mut(u64::BITS as usize) {
            let mut vowels = 0;
            for (i, letter) in letters.iter_mut().enumerate() {
                if *letter == b'y' && behind_vowel {
                    *letter = CONSONANT_Y;
                    self.disguised = true;
                }
                behind_vowel = is_vowel(*letter);
                vowels |= u64::from(behind_vowel) << i;
            }
            self.vowels.push(vowels);
        }
    }

    fn mark_regions(&mut self) {
        self.first_vowel = self.next(0, true);
        self.first = self.word.len().min(self.next(self.first_vowel, false) + 1);
        self.second = self.word.len().min(self.next(self.next(self.first, true), false) + 1);
    }

    /// The next letter, from `from` on, that is a vowel or is none; the end if there is none.
    fn next(&self, from: usize, vowel: bool) -> usize {
        let mut bit = from % 64;
        for (block, &vowels) in self.vowels.iter().enumerate().skip(from / 64) {
            let wanted = if vowel { vowels } else { !vowels } >> bit << bit;
            if wanted != 0 {
                return self.word.len().min(block * 64 + wanted.trailing_zeros() as usize);
            }
            bit = 0;
        }
        self.word.len()
    }

    #[inline]
    fn ends(&self, ending: &[u8]) -> bool {
        self.word.ends_with(ending)
    }

    #[inline]
    fn has_vowel_before(&self, end: usize) -> bool {
        self.first_vowel < end
    }

    /// Consonant, vowel, consonant at the end, the last not w, x or y.
    fn ends_short(&self, end: usize) -> bool {
        end >= 3
            && !is_vowel(self.word[end - 3])
            && is_vowel(self.word[end - 2])
            && !is_vowel(self.word[end - 1])
            && !matches!(self.word[end - 1], b'w' | b'x' | CONSONANT_Y)
    }

    fn replace(&mut self, ending: usize, by: &[u8]) {
        self.word.truncate(self.word.len() - ending);
        self.word.extend_from_slice(by);
    }

    fn plurals(&mut self) {
        if !self.ends(b"s") {
            return;
        }
        if self.ends(b"sses") || self.ends(b"ies") {
            self.replace(2, b"");
        } else if !self.ends(b"ss") {
            self.replace(1, b"");
        }
    }

    fn participles(&mut self) {
        let length = self.word.len();
        if self.ends(b"eed") {
            if length - 3 >= self.first {
                self.replace(1, b"");
            }
            return;
        }
        let ending = if self.ends(b"ed") {
            2
        } else if self.ends(b"ing") {
            3
        } else {
            return;
        };
        if !self.has_vowel_before(length - ending) {
            return;
        }
        self.replace(ending, b"");
        if self.ends(b"at") || self.ends(b"bl") || self.ends(b"iz") {
            self.word.push(b'e');
        } else if self.ends_in_a_pair() {
            self.replace(1, b"");
        } else if self.word.len() == self.first && self.ends_short(self.word.len()) {
            self.word.push(b'e');
        }
    }

    fn ends_in_a_pair(&self) -> bool {
        match self.word[..] {
            [.., before, last] => before == last && b"bdfgmnprt".contains(&last),
            _ => false,
        }
    }

    fn final_y(&mut self) {
        if let Some(b'y' | CONSONANT_Y) = self.word.last().copied() {
            let end = self.word.len() - 1;
            if self.has_vowel_before(end) {
                self.word[end] = b'i';
            }
        }
    }

    /// The rule of the longest ending that fits, if what it changes stands behind `region`.
    fn replace_longest(&mut self, rules: fn(u8) -> &'static [Rule], region: usize) {
        let [.., before_last, last] = self.word[..] else { return };
        if region >= self.word.len() {
            return;
        }
        if let Some(&(ending, by)) =
            rules(before_last).iter().find(|(ending, _)| ending.last() == Some(&last) && self.ends(ending))
        {
            // The s or t before "ion" must be there but need not stand behind.
            let kept = usize::from(ending.ends_with(b"ion") && by.len() == 1);
            if self.word.len() - ending.len() + kept >= region {
                self.replace(ending.len(), by);
            }
        }
    }

    fn final_e_and_l(&mut self) {
        if self.ends(b"e") {
            let left = self.word.len() - 1;
            if left >= self.second || (left >= self.first && !self.ends_short(left)) {
                self.word.truncate(left);
            }
        }
        if self.ends(b"ll") && self.word.len() > self.second {
            self.word.pop();
        }
    }
}

#[inline]
fn is_vowel(letter: u8) -> bool {
    const VOWELS: u32 = 1
        | 1 << (b'e' - b'a')
        | 1 << (b'i' - b'a')
        | 1 << (b'o' - b'a')
        | 1 << (b'u' - b'a')
        | 1 << (b'y' - b'a');
    let place = letter.wrapping_sub(b'a');
    place < 32 && VOWELS >> place & 1 == 1
}

/// An ending, and what is put in its place.
type Rule = (&'static [u8], &'static [u8]);

/// The endings that have this letter before their last; longer ones stand before those they end in.
fn second_step(before_last: u8) -> &'static [Rule] {
    match before_last {
        b'a' => &[(b"ational", b"ate"), (b"tional", b"tion")],
        b'c' => &[(b"enci", b"ence"), (b"anci", b"ance")],
        b'e' => &[(b"izer", b"ize")],
        b'l' => {
            &[(b"abli", b"able"), (b"alli", b"al"), (b"entli", b"ent"), (b"eli", b"e"), (b"ousli", b"ous")]
        }
        b'o' => &[(b"ization", b"ize"), (b"ation", b"ate"), (b"ator", b"ate")],
        b's' => &[(b"alism", b"al"), (b"iveness", b"ive"), (b"fulness", b"ful"), (b"ousness", b"ous")],
        b't' => &[(b"aliti", b"al"), (b"iviti", b"ive"), (b"biliti", b"ble")],
        _ => &[],
    }
}

fn third_step(before_last: u8) -> &'static [Rule] {
    match before_last {
        b'a' => &[(b"ical", b"ic")],
        b's' => &[(b"ness", b"")],
        b't' => &[(b"icate", b"ic"), (b"iciti", b"ic")],
        b'u' => &[(b"ful", b"")],
        b'v' => &[(b"ative", b"")],
        b'z' => &[(b"alize", b"al")],
        _ => &[],
    }
}

fn fourth_step(before_last: u8) -> &'static [Rule] {
    match before_last {
        b'a' => &[(b"al", b"")],
        b'c' => &[(b"ance", b""), (b"ence", b"")],
        b'e' => &[(b"er", b"")],
        b'i' => &[(b"ic", b"")],
        b'l' => &[(b"able", b""), (b"ible", b"")],
        b'n' => &[(b"ant", b""), (b"ement", b""), (b"ment", b""), (b"ent", b"")],
        b'o' => &[(b"sion", b"s"), (b"tion", b"t"), (b"ion", b"ion"), (b"ou", b"")],
        b's' => &[(b"ism", b"")],
        b't' => &[(b"ate", b""), (b"iti", b"")],
        b'u' => &[(b"ous", b"")],
        b'v' => &[(b"ive", b"")],
        b'z' => &[(b"ize", b"")],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stem(word: &str) -> String {
        let mut out = String::new();
        Porter::default().stem(word, &mut out);
        out
    }

    #[test]
    fn the_examples_of_the_paper_of_1980_come_out_as_printed() {
        let printed = "caresses caress ponies poni ties ti cats cat feed feed agreed agre plastered plaster bled bled \
            motoring motor sing sing conflated conflat troubled troubl sized size hopping hop tanned tan falling fall \
            hissing hiss fizzed fizz failing fail filing file happy happi sky sky relational relat conditional condit \
            rational ration valenci valenc digitizer digit conformabli conform radicalli radic differentli differ \
            vileli vile analogousli analog vietnamization vietnam predication predic operator oper feudalism feudal \
            decisiveness decis hopefulness hope callousness callous formaliti formal sensitiviti sensit \
            sensibiliti sensibl triplicate triplic formative form formalize formal electriciti electr electrical electr \
            hopeful hope goodness good revival reviv allowance allow inference infer airliner airlin gyroscopic gyroscop \
            adjustable adjust defensible defens irritant irrit replacement replac adjustment adjust dependent depend \
            adoption adopt homologou homolog communism commun activate activ angulariti angular homologous homolog \
            effective effect bowdlerize bowdler probate probat rate rate cease ceas controll control roll roll";
        let words: Vec<&str> = printed.split_whitespace().collect();
        for pair in words.chunks_exact(2) {
            assert_eq!(stem(pair[0]), pair[1], "{}", pair[0]);
        }
    }

    #[test]
    fn letters_outside_ascii_are_kept_and_count_as_consonants() {
        assert_eq!(stem("cafés"), "café");
        assert_eq!(stem("naïvely"), "naïv");
        assert_eq!(stem("漢字"), "漢字");
        assert_eq!(stem(""), "");
        assert_eq!(stem("s"), "");
    }
}
