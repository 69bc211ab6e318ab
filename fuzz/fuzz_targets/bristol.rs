//! Any text is a circuit that can be written and read again, or an error.

#![no_main]

use diptych::circuit::bristol::{Limits, read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let limits = Limits { gates: 10_000, port_bits: 1_000 };
    if let Ok(circuit) = read(text, limits) {
        let Ok(written) = write(&circuit) else { return };
        let again = read(&written, Limits { gates: 40_000, port_bits: 1_000 });
        assert!(again.is_ok_and(|again| again.counts().and <= circuit.counts().and));
    }
});
