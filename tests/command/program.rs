//! The command, as a script runs it.

use std::path::Path;
use std::process::{Command, Stdio};

/// Exit status, standard output and standard error.
pub fn diptych(place: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_diptych"))
        .args(arguments)
        .current_dir(place)
        .stdin(Stdio::null())
        .env_remove("DIPTYCH_LOG")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}
