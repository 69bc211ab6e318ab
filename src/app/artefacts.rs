//! What a run leaves behind: `release.csv` and `manifest.json`.
//!
//! Both hold nothing but the agreement and differentially private outputs. Each is written under
//! another name, brought to disk and renamed, the manifest last: a directory with a manifest has a
//! whole release, one without has none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::agreement::Agreement;
use crate::app::failure::Failure;
use crate::math::Rational;
use crate::release::diffgen::Release;
use crate::release::diffgen::output::{Rows, write_csv};
use crate::table::Cuts;

/// The version of the manifest's form.
pub const MANIFEST_FORMAT: &str = "diptych manifest v1";
/// The release's file name.
pub const RELEASE: &str = "release.csv";
/// The manifest's file name.
pub const MANIFEST: &str = "manifest.json";
/// The file name of the copy without zero rows.
pub const COMPACT: &str = "release-compact.csv";

/// Where the artefacts of one run go. Made before anything is spent, so that a directory that
/// cannot be written is found in time.
#[derive(Debug)]
pub struct Output {
    directory: PathBuf,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// SHA-256 of the release.
    pub release_sha256: String,
    /// Its rows, without the header.
    pub rows: u64,
}

impl Output {
    /// Makes the directory if need be and sees that it holds no release and can be written.
    ///
    /// # Errors
    /// If it holds one, or cannot be written.
    pub fn prepare(directory: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(directory)
            .map_err(|error| Failure::file(directory, "create", &error))?;
        for name in [RELEASE, MANIFEST, COMPACT] {
            let path = directory.join(name);
            if path.symlink_metadata().is_ok() {
                return Err(Failure::wrong_input(format!("{} exists already", path.display()))
                    .advise("choose another directory: a release is never overwritten"));
            }
        }
        let output = Self { directory: directory.to_owned() };
        let trial = output.temporary(MANIFEST);
        File::create(&trial).map_err(|error| Failure::file(&trial, "write", &error))?;
        fs::remove_file(&trial).map_err(|error| Failure::file(&trial, "remove", &error))?;
        Ok(output)
    }

    /// Writes a release and its manifest, and if asked a copy without zero rows.
    ///
    /// # Errors
    /// If a file cannot be written; no file of the release is then left.
    pub fn write(
        &self,
        agreement: &Agreement,
        release: &Release<'_>,
        delta: &Rational,
        compact: bool,
    ) -> Result<Written, Failure> {
        let result = self.write_all(agreement, release, delta, compact);
        if result.is_err() {
            for name in [RELEASE, MANIFEST, COMPACT] {
                // Whatever can be removed is; the failure itself is what must be told.
                let _ = fs::remove_file(self.temporary(name));
                let _ = fs::remove_file(self.directory.join(name));
            }
        }
        result
    }

    fn write_all(
        &self,
        agreement: &Agreement,
        release: &Release<'_>,
        delta: &Rational,
        compact: bool,
    ) -> Result<Written, Failure> {
        if compact {
            self.file(COMPACT, |out| write_csv(release, Rows::NotZero, out))?;
        }
        let (rows, release_sha256) = self.file(RELEASE, |out| {
            let mut hashed = Hashed { out, hash: Sha256::new() };
            let rows = write_csv(release, Rows::All, &mut hashed)?;
            Ok((rows, hex(&hashed.hash.finalize())))
        })?;
        let written = Written { release_sha256, rows };
        let manifest = manifest(agreement, release, delta, &written)?;
        self.file(MANIFEST, |out| out.write_all(manifest.as_bytes()))?;
        File::open(&self.directory)
            .and_then(|directory| directory.sync_all())
            .map_err(|error| Failure::file(&self.directory, "bring to disk", &error))?;
        Ok(written)
    }

    fn file<T>(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> Result<T, Failure> {
        let (temporary, path) = (self.temporary(name), self.directory.join(name));
        let written =
            OpenOptions::new().write(true).create(true).truncate(true).open(&temporary).and_then(
                |file| {
                    let mut out = BufWriter::new(file);
                    let result = write(&mut out)?;
                    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
                    fs::rename(&temporary, &path)?;
                    Ok(result)
                },
            );
        written
            .map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
    }

    fn temporary(&self, name: &str) -> PathBuf {
        self.directory.join(format!(".{name}.part"))
    }
}

/// The manifest of a release by one party, which nobody signs: byte for byte a function of the
/// agreement and the differentially private outputs.
///
/// # Errors
/// None in practice: an agreement's canonical form is JSON.
pub fn manifest(
    agreement: &Agreement,
    release: &Release<'_>,
    delta: &Rational,
    written: &Written,
) -> Result<String, Failure> {
    let canonical: Value = serde_json::from_str(&agreement.canonical()).map_err(Failure::failed)?;
    let spends: Vec<Value> = release
        .spends
        .iter()
        .map(|entry| json!({ "name": entry.name, "epsilon": entry.epsilon.to_string() }))
        .collect();
    let mut manifest = Map::new();
    manifest.insert("format".into(), MANIFEST_FORMAT.into());
    manifest.insert("version".into(), env!("CARGO_PKG_VERSION").into());
    manifest.insert("agreement_sha256".into(), agreement.hash().to_string().into());
    manifest.insert("epsilon".into(), agreement.epsilon.to_string().into());
    manifest.insert("delta".into(), delta.to_string().into());
    manifest.insert("cuts".into(), cuts(&release.cuts)?.into());
    manifest.insert("spends".into(), spends.into());
    manifest.insert(
        "release".into(),
        json!({ "file": RELEASE, "sha256": written.release_sha256, "rows": written.rows }),
    );
    manifest.insert("signatures".into(), Value::Array(Vec::new()));
    manifest.insert("agreement".into(), canonical);
    let text = serde_json::to_string_pretty(&Value::Object(manifest)).map_err(Failure::failed)?;
    Ok(text + "\n")
}

/// The specializations in the order they were made, by name.
fn cuts(made: &Cuts<'_>) -> Result<Vec<Value>, Failure> {
    described(made)?
        .into_iter()
        .map(|(attribute, value, into)| {
            Ok(json!({ "attribute": attribute, "value": value, "into": into }))
        })
        .collect()
}

/// Attribute, value and children of each specialization, as people read them.
///
/// # Errors
/// None in practice: what was made once can be made again.
pub fn described(made: &Cuts<'_>) -> Result<Vec<(String, String, Vec<String>)>, Failure> {
    let mut cuts = Cuts::topmost(made.schema());
    made.made()
        .iter()
        .map(|made| {
            let candidate = made.candidate;
            let value = cuts.name(candidate);
            let children = cuts.specialize(made).map_err(Failure::failed)?;
            let name = |value| cuts.name(crate::table::Candidate { value, ..candidate });
            let attribute = cuts.schema().attributes[candidate.attribute].name.clone();
            Ok((attribute, value, children.into_iter().map(name).collect()))
        })
        .collect()
}

struct Hashed<W> {
    out: W,
    hash: Sha256,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
