//! Words of any letters are stemmed.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| _core::fuzzing::stems(data));
