//! What was answered, until others take it: never more than they keep of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::answers::Question;

/// Shares of classes are looked at among so many of the last answers.
const WINDOW: usize = 1_000;

/// A class, as one of two.
pub type Class = (Arc<[String; 2]>, usize);

/// Requests of one method and code: how many, and how long they took.
pub struct Requests {
    pub method: &'static str,
    pub code: u8,
    /// How many took up to each of the bounds, and last those beyond.
    pub counts: Vec<u64>,
    pub seconds: f64,
}

/// What is counted of requests and answers.
#[derive(Default)]
pub struct Tally {
    pub requests: Vec<Requests>,
    /// The last answers, in order.
    pub last: VecDeque<Class>,
    /// How often each class was answered before these.
    pub before: Vec<(Class, u64)>,
}

pub struct Answered {
    /// So many questions are kept at most.
    most: usize,
    /// The bounds of times that are counted together, in seconds.
    bounds: Vec<f64>,
    questions: Mutex<VecDeque<Question>>,
    tally: Mutex<Tally>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Answered {
    pub fn new(most: usize, bounds: Vec<f64>) -> Self {
        Self { most, bounds, questions: Mutex::default(), tally: Mutex::default() }
    }

    /// The newest questions, oldest first; what is older stays.
    pub fn take_questions(&self, most: usize) -> Vec<Question> {
        let mut questions = lock(&self.questions);
        let start = questions.len().saturating_sub(most);
        questions.drain(start..).collect()
    }

    pub fn take_tally(&self) -> Tally {
        std::mem::take(&mut lock(&self.tally))
    }

    /// Count a request.
    pub fn count(&self, method: &'static str, code: u8, took: Duration) {
        self.count_in(&mut lock(&self.tally), method, code, took);
    }

    /// Count a CHECK, and keep what was asked.
    pub fn keep(&self, question: Question, took: Duration) {
        let mut tally = lock(&self.tally);
        self.count_in(&mut tally, "CHECK", 0, took);
        tally.last.push_back((question.classes.clone(), question.answer()));
        if tally.last.len() > WINDOW {
            tally.move_first();
        }
        drop(tally);
        if self.most > 0 {
            let mut questions = lock(&self.questions);
            questions.push_back(question);
            let dropped = if questions.len() > self.most { questions.pop_front() } else { None };
            drop(questions);
            drop(dropped);
        }
    }

    fn count_in(&self, tally: &mut Tally, method: &'static str, code: u8, took: Duration) {
        let seconds = took.as_secs_f64();
        let place = self.bounds.partition_point(|&bound| bound < seconds);
        let found = tally.requests.iter().position(|own| own.method == method && own.code == code);
        let found = found.unwrap_or_else(|| {
            let counts = vec![0; self.bounds.len() + 1];
            tally.requests.push(Requests { method, code, counts, seconds: 0.0 });
            tally.requests.len() - 1
        });
        let own = &mut tally.requests[found];
        own.counts[place] += 1;
        own.seconds += seconds;
    }
}

impl Tally {
    /// Count the oldest of the last answers only.
    fn move_first(&mut self) {
        let Some(class) = self.last.pop_front() else { return };
        let same = |(own, _): &&mut (Class, u64)| *own == class;
        match self.before.iter_mut().find(same) {
            Some((_, count)) => *count += 1,
            None => self.before.push((class, 1)),
        }
    }
}
