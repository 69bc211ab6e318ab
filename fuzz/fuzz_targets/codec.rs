//! Whatever decodes encodes to the same bytes; nothing panics or allocates beyond the input's scale.

#![no_main]

use diptych::net::codec;
use libfuzzer_sys::fuzz_target;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Everything {
    number: u64,
    flag: bool,
    bytes: Vec<u8>,
    numbers: Vec<u32>,
    name: String,
    choice: Option<Choice>,
}

#[derive(Serialize, Deserialize)]
enum Choice {
    Plain,
    Pair(u16, [u8; 32]),
    Named { inner: Vec<String> },
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = codec::decode::<Everything>(bytes) {
        assert_eq!(codec::encode(&value).as_deref(), Ok(bytes));
    }
});
