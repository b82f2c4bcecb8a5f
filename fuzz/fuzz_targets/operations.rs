//! Service calls that the fuzzer chooses, against the model of `kernel/tests/model.rs`: one decoder for both.
//!
//! `scripts/fuzz.sh` builds and runs this; so does `cargo fuzz run operations`.
#![no_main]

#[path = "../../kernel/tests/model.rs"]
#[allow(dead_code, unused_imports)]
mod model;

libfuzzer_sys::fuzz_target!(|data: &[u8]| model::run_case(model::words_of(data)));
