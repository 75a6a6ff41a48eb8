//! What one thread at a time may change, and many may read. A thread that changes it already, and a callback, are
//! refused instead of waiting for ever: the lock is held while a callback runs, because nobody else may see counts that
//! are half changed.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::thread::{self, ThreadId};

use super::functions::in_callback;
use crate::errors::TallyError;

#[derive(Default)]
pub struct Held<T> {
    value: RwLock<T>,
    holder: Mutex<Option<ThreadId>>,
}

impl<T> Held<T> {
    pub fn new(value: T) -> Self {
        Self { value: RwLock::new(value), holder: Mutex::default() }
    }

    /// Use it alone.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> Result<R, TallyError>) -> Result<R, TallyError> {
        work(&mut self.taken()?.value)
    }

    /// Read it beside others who read.
    pub fn read<R>(&self, work: impl FnOnce(&T) -> Result<R, TallyError>) -> Result<R, TallyError> {
        let value: RwLockReadGuard<'_, T> = match self.value.try_read() {
            Ok(value) => value,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.check_wait()?;
                self.value.read().unwrap_or_else(PoisonError::into_inner)
            }
        };
        work(&value)
    }

    /// Read it, unless it is being changed.
    pub fn peek<R>(&self, work: impl FnOnce(&T) -> R) -> Option<R> {
        match self.value.try_read() {
            Ok(value) => Some(work(&value)),
            Err(TryLockError::Poisoned(poisoned)) => Some(work(&poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Use both alone; always taken in the same order, so that nobody waits in a circle.
    pub fn with_both<R>(
        &self,
        other: &Self,
        work: impl FnOnce(&mut T, &mut T) -> Result<R, TallyError>,
    ) -> Result<R, TallyError> {
        let (mut mine, mut others);
        if (&raw const *self) < (&raw const *other) {
            mine = self.taken()?;
            others = other.taken()?;
        } else {
            others = other.taken()?;
            mine = self.taken()?;
        }
        work(&mut mine.value, &mut others.value)
    }

    fn taken(&self) -> Result<Taken<'_, T>, TallyError> {
        let value = match self.value.try_write() {
            Ok(value) => value,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.check_wait()?;
                self.value.write().unwrap_or_else(PoisonError::into_inner)
            }
        };
        *lock(&self.holder) = Some(thread::current().id());
        Ok(Taken { value, holder: &self.holder })
    }

    fn check_wait(&self) -> Result<(), TallyError> {
        let waits_for_itself = in_callback() || *lock(&self.holder) == Some(thread::current().id());
        if waits_for_itself { Err(TallyError::InUse) } else { Ok(()) }
    }
}

struct Taken<'a, T> {
    value: RwLockWriteGuard<'a, T>,
    holder: &'a Mutex<Option<ThreadId>>,
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        *lock(self.holder) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_it_already_is_refused() {
        let held = Held::new(1);
        let inner = held.with(|_| Ok(held.with(|value| Ok(*value))));
        assert!(matches!(inner, Ok(Err(TallyError::InUse))));
        assert!(matches!(held.with(|value| Ok(*value)), Ok(1)));
    }

    #[test]
    fn two_threads_that_need_both_do_not_wait_in_a_circle() {
        let (left, right) = (Held::new(0), Held::new(0));
        let add = |mine: &mut i32, others: &mut i32| {
            *mine += 1;
            *others += 1;
            Ok(())
        };
        thread::scope(|scope| {
            scope.spawn(|| (0..10_000).for_each(|_| drop(left.with_both(&right, add))));
            scope.spawn(|| (0..10_000).for_each(|_| drop(right.with_both(&left, add))));
        });
        assert!(matches!(left.with(|value| Ok(*value)), Ok(20_000)));
    }
}
