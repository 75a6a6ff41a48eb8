//! Regular expressions: the search that remembers finds what the quick one finds.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| _core::fuzzing::patterns(data));
