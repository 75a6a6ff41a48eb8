//! Arrays of a file: refused, or those of a tally.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| _core::fuzzing::restore(data));
