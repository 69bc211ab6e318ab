//! The command `diptych`.

fn main() {}
