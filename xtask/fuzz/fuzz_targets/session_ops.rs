#![no_main]
//! Coverage-guided `session_ops`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| nebula_fuzz::session_ops(data));
