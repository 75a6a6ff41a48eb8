//! The core of bayleaf: text to tokens, tokens to integer counts, counts and weights to scores.

mod analyze;
mod bags;
mod characters;
mod counts;
mod cut;
mod export;
mod features;
mod letters;
mod lexicon;
mod loo;
mod matrix;
mod memory;
mod newforms;
mod normalize;
mod numbering;
mod parts;
mod porter;
mod python;
mod read;
mod restore;
mod rows;
mod score;
mod tally;
mod tokenize;
mod tune;
mod tuned;
