//! The command `diptych`.

use std::process::ExitCode;

fn main() -> ExitCode {
    diptych::main()
}
