//! No bytes make a taxonomy reader panic, and what it accepts is a tree of distinct values.

#![no_main]

use diptych::agreement::{TaxonomyFormat, read_taxonomy};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (format, bytes) = input;
    let format = match format % 3 {
        0 => TaxonomyFormat::Toml,
        1 => TaxonomyFormat::Json,
        _ => TaxonomyFormat::Csv,
    };
    let Ok(taxonomy) = read_taxonomy(format, "fuzz", bytes) else { return };
    for value in taxonomy.values() {
        assert_eq!(taxonomy.find(taxonomy.name(value)), Some(value));
        for child in taxonomy.children(value) {
            assert_eq!(taxonomy.parent(child), Some(value));
        }
    }
});
