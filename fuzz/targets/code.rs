#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| pacman_fuzz::code(data));
