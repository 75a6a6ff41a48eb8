//! The core of bayleaf: text to tokens, tokens to integer counts, counts and weights to scores.

mod analyze;
mod context;
mod errors;
mod lexicon;
mod memory;
mod python;
mod score;
mod tally;
#[cfg(test)]
mod tests;
mod threads;
mod tune;
