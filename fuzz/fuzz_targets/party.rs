//! No bytes make the reader of party files panic.

#![no_main]

use diptych::publish::party::Party;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    if let Err(problems) = Party::parse("fuzz.toml", bytes, Path::new("")) {
        assert!(!problems.to_string().is_empty());
    }
});
