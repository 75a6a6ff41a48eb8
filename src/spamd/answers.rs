//! CHECK, answered from counts that stand still meanwhile.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use super::names;
use crate::mail::{self, COLUMNS};

/// Where the columns have one behind them: subject and body together, for models of one text.
pub const WHOLE: usize = COLUMNS;
/// What transport leaves as it is: a mail without any of these is known by its bytes.
const LASTING: [usize; 5] = [0, 1, 2, 6, 7];
const LARGEST: f64 = 999.9;

/// What gives the probabilities of both classes of a mail; `None` is left to others.
pub trait Judge: Send + Sync {
    fn probabilities(&self, columns: &[String; COLUMNS]) -> Option<[f64; 2]>;
}

/// A model between two changes.
pub struct Moment {
    pub judge: Box<dyn Judge>,
    pub classes: Arc<[String; 2]>,
    /// Which of the classes is spam.
    pub spam: usize,
    pub version: i64,
}

/// The moment that answers, if there is one: whoever changes the counts takes it away before.
#[derive(Default)]
pub struct Standing(RwLock<Option<Moment>>);

impl Standing {
    pub fn set(&self, moment: Option<Moment>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = moment;
    }

    /// The line of an answer, and the question to be kept.
    pub fn check(&self, raw: &[u8], threshold: f64) -> Option<(Vec<u8>, Question)> {
        if !raw.contains(&b'\n') {
            return None; // a mail in one line
        }
        let columns = mail::columns(raw)?;
        if LASTING.iter().all(|&place| columns[place].is_empty()) {
            return None;
        }
        let standing = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let moment = standing.as_ref()?;
        let probabilities = moment.judge.probabilities(&columns)?;
        let line = line(probabilities[moment.spam], probabilities[1 - moment.spam], threshold)?;
        let (classes, version) = (moment.classes.clone(), moment.version);
        drop(standing);
        let (alias, sender) = names::of_mail(raw);
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let question = Question { columns, alias, sender, classes, probabilities, version, at };
        Some((line.into_bytes(), question))
    }
}

/// The answer to CHECK, its spaces and decimals exactly as clients parse them.
fn line(own: f64, others: f64, threshold: f64) -> Option<String> {
    let odds = match (own > 0.0, others > 0.0) {
        (true, true) => (own.ln() - others.ln()).clamp(-LARGEST, LARGEST),
        (true, false) => LARGEST,
        (false, _) => -LARGEST,
    };
    let score = rounded(odds)?;
    let is_spam = if score >= threshold { "True" } else { "False" };
    Some(format!("SPAMD/1.1 0 EX_OK\r\nSpam: {is_spam} ; {score:.1} / {threshold:.1}\r\n\r\n"))
}

/// A score as it is shown, which is how it is compared; without a -0.0.
fn rounded(odds: f64) -> Option<f64> {
    Some(format!("{odds:.1}").parse::<f64>().ok()? + 0.0)
}

/// What was asked and answered.
pub struct Question {
    pub columns: [String; COLUMNS],
    pub alias: String,
    pub sender: String,
    pub classes: Arc<[String; 2]>,
    pub probabilities: [f64; 2],
    pub version: i64,
    pub at: f64,
}

impl Question {
    /// The place of the most probable class; ties go to the first.
    pub fn answer(&self) -> usize {
        usize::from(self.probabilities[1] > self.probabilities[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_rounded_as_python_rounds() {
        for (odds, score) in
            [(0.25, 0.2), (0.35, 0.3), (0.75, 0.8), (2.25, 2.2), (-0.25, -0.2), (2.65, 2.6), (0.05, 0.1)]
        {
            assert_eq!(rounded(odds), Some(score));
        }
        assert!(rounded(-0.04).is_some_and(|score| score.is_sign_positive()));
    }

    #[test]
    fn what_is_certain_has_the_largest_score() {
        let shown = |own, others| line(own, others, 2.2).unwrap_or_default();
        assert!(shown(1.0, 0.0).contains("Spam: True ; 999.9 / 2.2\r\n"));
        assert!(shown(0.0, 1.0).contains("Spam: False ; -999.9 / 2.2\r\n"));
        assert!(shown(0.5, 0.5).contains("Spam: False ; 0.0 / 2.2\r\n"));
    }

    struct Broken;

    impl Judge for Broken {
        fn probabilities(&self, _: &[String; COLUMNS]) -> Option<[f64; 2]> {
            std::panic::resume_unwind(Box::new("broken"))
        }
    }

    #[test]
    fn counts_that_are_not_there_and_a_panic_leave_the_next_answer_possible() {
        let standing = Standing::default();
        let mail = b"Subject: a\n\nb\n";
        assert!(standing.check(mail, 2.2).is_none());
        let classes = Arc::new(["ham".to_owned(), "spam".to_owned()]);
        standing.set(Some(Moment { judge: Box::new(Broken), classes, spam: 1, version: 1 }));
        let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| standing.check(mail, 2.2)));
        assert!(asked.is_err());
        standing.set(None);
        assert!(standing.check(mail, 2.2).is_none());
    }
}
