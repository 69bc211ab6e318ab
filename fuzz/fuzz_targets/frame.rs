//! Any eight bytes are a header that encodes back to them, and is refused above the limit.

#![no_main]

use diptych::net::Header;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: ([u8; 8], u32)| {
    let (bytes, limit) = input;
    let header = Header::decode(bytes);
    assert_eq!(header.encode(), bytes);
    assert_eq!(header.check(limit as usize).is_ok(), header.length <= limit as usize);
});
