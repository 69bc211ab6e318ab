//! What a run leaves behind: `release.csv`, `manifest.json`, and what is for this party's eyes
//! only in `private/`. `report.html` is made from them afterwards.
//!
//! Release and manifest hold nothing but the agreement and differentially private outputs. Each
//! file is written under another name, brought to disk and renamed, the manifest last: a directory
//! with a manifest has a whole release, one without has none.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::app::failure::Failure;
use crate::app::manifest::{Described, hex};
use crate::release::diffgen::Release;
use crate::release::tree::output::{Rows, write_csv};

/// The release's file name.
pub const RELEASE: &str = "release.csv";
/// The manifest's file name.
pub const MANIFEST: &str = "manifest.json";
/// The file name of the copy without zero rows.
pub const COMPACT: &str = "release-compact.csv";
/// The directory for this party's eyes only.
pub const PRIVATE: &str = "private";

/// Where the artefacts of one run go. Made before anything is spent, so that a directory that
/// cannot be written is found in time.
#[derive(Debug)]
pub struct Output {
    directory: PathBuf,
}

impl Output {
    /// Makes the directory if need be and sees that it holds no release and can be written.
    ///
    /// # Errors
    /// If it holds one, or cannot be written.
    pub fn prepare(directory: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(directory)
            .map_err(|error| Failure::file(directory, "create", &error))?;
        let output = Self { directory: directory.to_owned() };
        output.refuse_to_overwrite()?;
        let trial = output.temporary(MANIFEST);
        File::create(&trial).map_err(|error| Failure::file(&trial, "write", &error))?;
        let _ = [RELEASE, COMPACT].map(|name| fs::remove_file(output.temporary(name)));
        fs::remove_file(&trial).map_err(|error| Failure::file(&trial, "remove", &error))?;
        Ok(output)
    }

    /// A directory that holds a release already.
    pub fn of_release(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    fn refuse_to_overwrite(&self) -> Result<(), Failure> {
        let exists = |name: &&str| self.directory.join(name).symlink_metadata().is_ok();
        let whole = exists(&MANIFEST);
        let Some(name) = [MANIFEST, RELEASE, COMPACT].iter().find(|name| exists(name)) else {
            return Ok(());
        };
        let failure =
            Failure::wrong_input(format!("{} exists already", self.directory.join(name).display()));
        Err(failure.advise(if whole {
            "choose another directory: a release is never overwritten"
        } else {
            "without a manifest.json it is no release (an interrupted run may have left it): move \
             it away, or choose another directory"
        }))
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes a release and its manifest, and if asked a copy without zero rows.
    ///
    /// # Errors
    /// If a file cannot be written; no file of the release is then left.
    pub fn write(
        &self,
        release: &Release,
        described: &Described,
        manifest: &str,
        compact: bool,
    ) -> Result<(), Failure> {
        let result = self.write_all(release, described, manifest, compact);
        if result.is_err() {
            for name in [MANIFEST, RELEASE, COMPACT] {
                // Whatever can be removed is; the failure itself is what must be told.
                let _ = fs::remove_file(self.temporary(name));
                let _ = fs::remove_file(self.directory.join(name));
            }
        }
        result
    }

    fn write_all(
        &self,
        release: &Release,
        described: &Described,
        manifest: &str,
        compact: bool,
    ) -> Result<(), Failure> {
        if compact {
            self.part(COMPACT, |out| write_csv(&release.table, Rows::NotZero, out))?;
        }
        let sha256 = self.part(RELEASE, |out| {
            let mut hashed = Hashed { out, hash: Sha256::new() };
            write_csv(&release.table, Rows::All, &mut hashed)?;
            Ok(hex(&hashed.hash.finalize()))
        })?;
        if sha256 != described.sha256 {
            return Err(Failure::failed("the release changed while it was written"));
        }
        self.part(MANIFEST, |out| out.write_all(manifest.as_bytes()))?;
        // All of it is on disk: only names change from here on.
        if compact {
            self.rename(COMPACT)?;
        }
        self.rename(RELEASE)?;
        self.sync_directory()?;
        self.rename(MANIFEST)?;
        self.sync_directory()
    }

    /// Writes a file that only its owner may read, under `private/`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_private(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let directory = self.directory.join(PRIVATE);
        let path = directory.join(name);
        let failed = |error| Failure::file(&path, "write", &error);
        match DirBuilder::new().mode(0o700).create(&directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            _ => {}
        }
        let options = OpenOptions::new().write(true).create_new(true).mode(0o600).clone();
        // An older file is replaced, never written into: it may have had other permissions.
        let _ = fs::remove_file(&path);
        options.open(&path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)?;
        Ok(path)
    }

    fn sync_directory(&self) -> Result<(), Failure> {
        File::open(&self.directory).and_then(|directory| directory.sync_all()).map_err(|error| {
            let place = self.directory.display();
            Failure::failed(format!("cannot bring {place} to disk: {error}"))
        })
    }

    /// Writes a file under its temporary name and brings it to disk.
    fn part<T>(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> Result<T, Failure> {
        let path = self.temporary(name);
        let written =
            OpenOptions::new().write(true).create(true).truncate(true).open(&path).and_then(
                |file| {
                    let mut out = BufWriter::new(file);
                    let result = write(&mut out)?;
                    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
                    Ok(result)
                },
            );
        written.map_err(|error| self.unwritten(name, &error))
    }

    fn rename(&self, name: &str) -> Result<(), Failure> {
        fs::rename(self.temporary(name), self.directory.join(name))
            .map_err(|error| self.unwritten(name, &error))
    }

    fn unwritten(&self, name: &str, error: &io::Error) -> Failure {
        let path = self.directory.join(name);
        Failure::failed(format!("cannot write {}: {error}", path.display()))
    }

    fn temporary(&self, name: &str) -> PathBuf {
        self.directory.join(format!(".{name}.part"))
    }
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
