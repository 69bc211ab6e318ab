//! Any eight bytes are a header that encodes back to them, or exceed the limit.

#![no_main]

use diptych::net::Header;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: ([u8; 8], u32)| {
    let (bytes, limit) = input;
    if let Ok(header) = Header::decode(bytes, limit as usize) {
        assert!(header.length <= limit as usize);
        assert_eq!(header.encode(), bytes);
    }
});
