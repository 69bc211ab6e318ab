//! Any bytes are a ledger, or are refused with the first bad line; what is read reads back the same.

#![no_main]

use diptych::privacy::ledger::History;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(history) = History::parse(bytes) {
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
        let completed = history.torn().is_some_and(|torn| torn.complete);
        assert_eq!(history.entries().len(), lines + usize::from(completed));
        assert_eq!(history.torn().is_some(), bytes.last().is_some_and(|&byte| byte != b'\n'));
        assert!(history.unfinished().count() <= history.runs().len());
        assert!(history.has_had_head(&history.head()));
    }
});
