//! Any bytes are a table or an error, never a panic.

#![no_main]

use diptych::agreement::Agreement;
use diptych::table::{Reading, parse_csv};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static AGREEMENT: LazyLock<Agreement> = LazyLock::new(|| {
    let text = r#"
[release]
id = "fuzz"
partition = "local"
epsilon = "1"
specializations = 2
max_records = 1000
[class]
column = "c"
values = ["Y", "N"]
[[attribute]]
name = "j"
kind = "categorical"
taxonomy = { Any = { A = ["a", "b"], C = ["c"] } }
on_bad_value = "drop"
[[attribute]]
name = "n"
kind = "numeric"
min = "-1.5"
max = 10
step = "0.5"
[[attribute]]
name = "s"
kind = "set"
taxonomy = { All = ["x", "y"] }
"#;
    Agreement::parse("fuzz.toml", text.as_bytes(), &|_| Err(String::new())).expect("is valid")
});

fuzz_target!(|bytes: &[u8]| {
    let reading = Reading {
        schema: &AGREEMENT.schema,
        owner: None,
        identifier: None,
        max_records: AGREEMENT.max_records,
    };
    let _ = parse_csv("fuzz.csv", bytes, &reading, &|_| {});
    let mut behind_a_header = b"c,j,n,s\n".to_vec();
    behind_a_header.extend_from_slice(bytes);
    let _ = parse_csv("fuzz.csv", behind_a_header.as_slice(), &reading, &|_| {});
});
