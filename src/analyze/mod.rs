//! Text to tokens: words, characters and bytes, cut, lower-cased and normalized.

mod base_grams;
pub mod buckets;
pub mod byte_masks;
pub mod char_grams;
pub mod characters;
pub mod compact;
pub mod located;
pub mod memoized;
pub mod new_forms;
mod new_words;
pub mod normalize;
pub mod other_tokenizers;
pub mod patterns;
pub mod porter;
pub mod reader;
pub mod spans;
pub mod tokenizers;
pub mod words;
