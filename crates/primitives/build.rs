//! Copies the vector code for the tests that run it on emulated instructions.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    copy_vector_code()
}

/// Writes the modules of `simd` into one file, as code for any processor: see
/// `simd/tests/stand_in.rs`, which includes it.
fn copy_vector_code() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/simd");
    let mut copy = String::new();
    for room in ["aes", "field", "ifma", "level", "ristretto8", "transpose"] {
        copy += &format!("pub mod {room} {{\n{}}}\n", with_modules(Path::new("src/simd"), room)?);
    }
    let copy = copy
        .replace("target_arch = \"x86_64\"", "all()")
        .replace("std::arch::x86_64", "crate::simd::tests::stand_in::arch")
        .replace("crate::simd::level", "crate::simd::tests::stand_in::level");
    let place = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(place.join("stand_in.rs"), copy)
}

/// The text of a module with the text of its submodules inlined. `target_feature` attributes are
/// left out, and so are the tests of `ifma`, which would take minutes.
fn with_modules(directory: &Path, name: &str) -> io::Result<String> {
    let inner = directory.join(name);
    let mut text = String::new();
    for line in fs::read_to_string(directory.join(format!("{name}.rs")))?.lines() {
        let module = line.split_once("mod ").and_then(|(_, rest)| rest.strip_suffix(';'));
        match module.filter(|_| !line.trim_start().starts_with("//")) {
            Some("tests") if name == "ifma" => text += "mod tests {}\n",
            Some(module) => {
                text += &format!(
                    "{}{{\n{}}}\n",
                    line.trim_end_matches(';'),
                    with_modules(&inner, module)?
                );
            }
            None if line.trim_start().starts_with("#[target_feature(") => (),
            None => text += &format!("{line}\n"),
        }
    }
    Ok(text)
}
