//! Texts under every view: the fast and the careful way agree, learning and forgetting leave no trace.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| _core::fuzzing::analyze(data));
