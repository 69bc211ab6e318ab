//! The papers' loan example for one party.

/// An agreement with this ε.
pub fn agreement(epsilon: &str, max_records: u32) -> String {
    format!(
        r#"
[release]
id = "loans"
partition = "local"
epsilon = "{epsilon}"
specializations = 3
max_records = {max_records}
[class]
column = "approved"
values = ["Y", "N"]
[[attribute]]
name = "job"
kind = "categorical"
taxonomy = {{ Any_Job = {{ Professional = ["Engineer", "Lawyer"], Artist = ["Dancer", "Writer"] }} }}
[[attribute]]
name = "salary"
kind = "numeric"
min = 18
max = 99
step = 1
"#
    )
}
