//! Texts under every view: the fast and the careful way find the same terms.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| _core::fuzzing::analyze(data));
