//! Writes the circuits that are kept for review: `cargo run --example export_circuits [DIRECTORY]`.

use std::path::{Path, PathBuf};

use diptych::circuit::{bristol, gallery};
use diptych::mechanism::gallery as mechanisms;
use diptych::paper::gallery as papers;
use sha2::{Digest, Sha256};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("circuits");
    let directory = std::env::args_os().nth(1).map_or_else(usual, PathBuf::from);
    std::fs::create_dir_all(&directory)?;
    let mut sums = String::new();
    let circuits = gallery::exported().into_iter().chain(mechanisms::exported()?);
    for (name, circuit) in circuits.chain(papers::exported()) {
        let text = bristol::write(&circuit)?;
        let digest = diptych::math::hex::encode(Sha256::digest(text.as_bytes()));
        sums += &format!("{digest}  {name}\n");
        std::fs::write(directory.join(name), text)?;
    }
    std::fs::write(directory.join("SHA256SUMS"), sums)?;
    Ok(())
}
