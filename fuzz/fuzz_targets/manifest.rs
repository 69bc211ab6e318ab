//! No bytes make the reader of manifests panic, and none are signed by somebody who did not.

#![no_main]

use diptych::publish::manifest::Manifest;
use diptych::Role;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(manifest) = Manifest::parse(bytes) else { return };
    let nobody = format!("sha256:{}", "00".repeat(32)).parse().expect("a fingerprint");
    for index in 0..manifest.signatures().min(4) {
        assert!(!manifest.is_signed_by(index, Some(Role::P1), nobody));
    }
    let _ = manifest.ledger_head(Role::P2);
});
