//! Text to tokens: words, characters and bytes, cut, lower-cased and normalized.

pub mod buckets;
pub mod byte_masks;
pub mod char_grams;
pub mod characters;
pub mod compact;
pub mod located;
pub mod memoized;
pub mod new_forms;
pub mod normalize;
pub mod other_tokenizers;
pub mod patterns;
pub mod porter;
pub mod reader;
pub mod spans;
pub mod tokenizers;
pub mod words;
