#![no_main]
//! Coverage-guided `token_parse`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| nebula_fuzz::token_parse(data));
