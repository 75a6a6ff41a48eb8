//! The core of bayleaf: text to tokens, tokens to integer counts, counts and weights to scores.

mod analyze;
mod context;
mod errors;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod lexicon;
mod mail;
mod memory;
mod python;
mod quick;
mod score;
#[cfg(unix)]
mod spamd;
mod tally;
#[cfg(test)]
mod tests;
mod threads;
mod tune;

#[cfg(feature = "fuzzing")]
pub use python::_core as module;
