//! What was learned and forgotten leaves no trace.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| _core::fuzzing::tally(data));
