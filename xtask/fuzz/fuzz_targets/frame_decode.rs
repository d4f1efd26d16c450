#![no_main]
//! Coverage-guided `frame_decode`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| nebula_fuzz::frame_decode(data));
