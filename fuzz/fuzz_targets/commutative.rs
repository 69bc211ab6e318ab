//! Any bytes as received elements or as a key: refused or accepted, never a panic, and alike in
//! vector and portable code.
#![no_main]

use diptych::crypto::commutative::{Group, Ristretto};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (vector, portable) = (Ristretto::new(), Ristretto::portable());
    let _ = vector.key_from_bytes(bytes);
    assert_eq!(vector.check_batch(bytes), portable.check_batch(bytes));
    let mut scalar = [0; 32];
    scalar[0] = 3;
    let Ok(key) = vector.key_from_bytes(&scalar) else { return };
    let (mut one, mut two) = (bytes.to_vec(), bytes.to_vec());
    let (first, second) =
        (vector.reencrypt_batch(&key, &mut one), portable.reencrypt_batch(&key, &mut two));
    assert_eq!(first, second);
    if first.is_ok() {
        assert_eq!(one, two);
    }
});
