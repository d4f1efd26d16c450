#![no_main]
//! Coverage-guided `index_ops`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| nebula_fuzz::index_ops(data));
