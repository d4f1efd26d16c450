#![no_main]
//! Coverage-guided `decode`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| nebula_fuzz::decode(data));
