//! The command, as a script runs it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Exit status, standard output and standard error.
pub fn diptych(place: &Path, arguments: &[&str]) -> (i32, String, String) {
    diptych_with_input(place, arguments, "")
}

/// The same, with this text on standard input.
pub fn diptych_with_input(place: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_diptych"))
        .args(arguments)
        .current_dir(place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env_remove("DIPTYCH_LOG")
        .spawn()
        .unwrap();
    // A command that fails at once reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}
