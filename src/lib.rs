//! The core of bayleaf: text to tokens, tokens to integer counts, counts and weights to scores.

mod analyze;
mod context;
mod errors;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
#[cfg(target_os = "linux")]
mod large_pages;
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

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: large_pages::LargePages = large_pages::LargePages;
