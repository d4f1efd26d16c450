#![no_main]
//! Coverage-guided `client_messages`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| nebula_fuzz::client_messages(data));
