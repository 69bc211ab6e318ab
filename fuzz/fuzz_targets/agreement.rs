//! No bytes make the agreement's reader panic, and what it accepts has a canonical form that
//! reads back as the same agreement.

#![no_main]

use diptych::agreement::{Agreement, first_difference};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Agreement::from_canonical(bytes);
    let Ok(agreement) = Agreement::parse("fuzz.toml", bytes, &|_| Err("no files".to_owned()))
    else {
        return;
    };
    let canonical = agreement.canonical();
    let again = Agreement::from_canonical(canonical.as_bytes()).expect("canonical form is read");
    assert_eq!(again, agreement);
    assert_eq!(first_difference(&canonical, &again.canonical()), None);
    assert!(!agreement.plain_words().is_empty());
});
