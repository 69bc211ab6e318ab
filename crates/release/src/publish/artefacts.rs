//! The output of a run: `release.csv`, `manifest.json`, and in `private/` what only this party may
//! see. `report.html` is made from them afterwards.
//!
//! Release and manifest contain nothing but the agreement and what its model releases. Each file is
//! written under another name, synchronised to disk and renamed, the manifest last: a directory
//! with a manifest has a complete release, one without has none.
//!
//! A release is never overwritten: the directory is locked during a run, files are renamed without
//! replacing anything, and after a failure only what the run created is removed. Disk space for the
//! largest release is allocated before anything is spent.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Error;
use crate::agreement::Agreement;
use crate::math::hex;
use crate::publish::files::{move_without_replacing, reserve, sync_directory, write_whole};
use crate::publish::manifest::Described;
use crate::release::Release;
use crate::release::plan::Plan;
use crate::release::tree::output::{Rows, write_csv};

/// The release's file name.
pub const RELEASE: &str = "release.csv";
/// The manifest's file name.
pub const MANIFEST: &str = "manifest.json";
/// The file name of the copy without zero rows.
pub const COMPACT: &str = "release-compact.csv";
/// The file name of the summary of a release that has no agreement, and so no manifest.
pub const SUMMARY: &str = "summary.json";
/// The directory for what only this party may see.
pub const PRIVATE: &str = "private";

/// Most disk space that is allocated in advance.
const MOST_RESERVED: u64 = 64_000_000;

/// The output directory of one run. Created before anything is spent, so that a directory that
/// cannot be written, or does not have enough space, is found in time.
#[derive(Debug)]
pub struct Output {
    directory: PathBuf,
    /// Locked until this is dropped; `None` for a release that exists already.
    lock: Option<File>,
    /// Whether this run created the directory; it is removed again if it stays empty.
    made: bool,
}

impl Output {
    /// Creates the directory if necessary, locks it, checks that it contains no release, and
    /// allocates disk space for the largest possible one.
    ///
    /// # Errors
    /// If it contains one, is in use by another run, cannot be written or does not have enough
    /// space.
    pub fn prepare(
        directory: &Path,
        agreement: &Agreement,
        plan: &Plan,
        compact: bool,
    ) -> Result<Self, Error> {
        let output = Self::claim(directory)?;
        let release = plan.most_bytes.min(MOST_RESERVED);
        // The agreement with indentation, and the tree.
        let manifest = agreement.canonical().len() as u64 * 4 + (64 << 10);
        let copy = if compact { release.min(MOST_RESERVED - release) } else { 0 };
        for (name, bytes) in [(RELEASE, release), (MANIFEST, manifest), (COMPACT, copy)] {
            if name == COMPACT && !compact {
                continue;
            }
            let part = output.temporary(name);
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&part)
                .map_err(|error| Error::file(&part, "write", &error))?;
            reserve(&mut file, bytes).map_err(|error| {
                let place = directory.display();
                Error::internal(format!(
                    "cannot reserve {bytes} bytes for {name} in {place}: {error}"
                ))
                .advise("make room on that disk, or name another directory; nothing was spent")
            })?;
        }
        Ok(output)
    }

    /// Creates the directory if necessary, locks it, and checks that it contains no release.
    ///
    /// # Errors
    /// If it contains one, is in use by another run or cannot be created.
    pub fn claim(directory: &Path) -> Result<Self, Error> {
        let made = !directory.is_dir();
        make_directory(directory).map_err(|error| Error::file(directory, "create", &error))?;
        let lock = lock(directory)?;
        let output = Self { directory: directory.to_owned(), lock: Some(lock), made };
        output.refuse_to_overwrite()?;
        for name in [MANIFEST, RELEASE, COMPACT, SUMMARY] {
            // The directory is locked by us: a file of such a name was left by a run that was
            // killed.
            let _ = fs::remove_file(output.temporary(name));
        }
        Ok(output)
    }

    /// A directory that contains a release already.
    pub fn of_release(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), lock: None, made: false }
    }

    /// Checks that no release was put into the directory meanwhile.
    ///
    /// # Errors
    /// If one has.
    pub fn refuse_to_overwrite(&self) -> Result<(), Error> {
        let exists = |name: &&str| self.directory.join(name).symlink_metadata().is_ok();
        let whole = exists(&MANIFEST) || exists(&SUMMARY);
        let mut names = [MANIFEST, RELEASE, COMPACT, SUMMARY].iter();
        let Some(name) = names.find(|name| exists(name)) else { return Ok(()) };
        let failure =
            Error::input(format!("{} exists already", self.directory.join(name).display()));
        Err(failure.advise(if whole {
            "choose another directory: a release is never overwritten"
        } else {
            "without a manifest.json it is not a release (an interrupted run may have left it): move \
             it away, or choose another directory"
        }))
    }

    /// Checks that the directory is still the one that was prepared, before anything is spent.
    ///
    /// # Errors
    /// If it was moved, removed or replaced.
    pub fn check_place(&self) -> Result<(), Error> {
        let Some(lock) = &self.lock else { return Ok(()) };
        let own = lock.metadata().map_err(|error| Error::file(&self.directory, "find", &error))?;
        let same = |named: fs::Metadata| (named.dev(), named.ino()) == (own.dev(), own.ino());
        if fs::metadata(&self.directory).is_ok_and(same) {
            return Ok(());
        }
        let place = self.directory.display();
        Err(Error::input(format!(
            "{place} was moved, removed or replaced after this run had made room in it"
        ))
        .advise("leave it in its place while a run is under way; nothing was spent"))
    }

    /// Its path.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes a release and its manifest, and on request a copy without zero rows.
    ///
    /// # Errors
    /// If a file cannot be written or exists already; nothing of this release is then left, and the
    /// files of others are untouched.
    pub fn write(
        &self,
        release: &Release,
        described: &Described,
        manifest: &str,
        compact: bool,
    ) -> Result<(), Error> {
        let mut made = Vec::new();
        let result = self.write_all(release, described, manifest, compact, &mut made);
        if result.is_err() {
            for name in made {
                // Errors of removing are ignored; the original failure is returned.
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
        made: &mut Vec<&'static str>,
    ) -> Result<(), Error> {
        if compact {
            self.part(COMPACT, |out| write_csv(&release.table, Rows::NotZero, out))?;
        }
        let sha256 = self.part(RELEASE, |out| {
            let mut hashed = Hashed { out, hash: Sha256::new() };
            write_csv(&release.table, Rows::All, &mut hashed)?;
            Ok(hex::encode(hashed.hash.finalize()))
        })?;
        if sha256 != described.sha256 {
            return Err(Error::internal("the release changed while it was written"));
        }
        self.part(MANIFEST, |out| out.write_all(manifest.as_bytes()))?;
        // All of it is on disk: only renames follow.
        if compact {
            self.name(COMPACT, made)?;
        }
        self.name(RELEASE, made)?;
        self.sync()?;
        self.name(MANIFEST, made)?;
        self.sync()
    }

    /// Writes a release that has a summary and no manifest. The release is renamed last, and
    /// nothing can fail after that.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub fn write_with_summary(&self, release: &[u8], summary: &[u8]) -> Result<(), Error> {
        self.part(RELEASE, |out| out.write_all(release))?;
        self.part(SUMMARY, |out| out.write_all(summary))?;
        self.name(SUMMARY, &mut Vec::new())?;
        let named = self.sync().and_then(|()| self.name(RELEASE, &mut Vec::new()));
        if named.is_err() {
            let _ = fs::remove_file(self.directory.join(SUMMARY));
        }
        named?;
        // The release is in place, whether its name is on disk yet or not.
        let _ = self.sync();
        Ok(())
    }

    /// Writes a file that only its owner may read, under `private/`.
    ///
    /// # Errors
    /// If it cannot be written; the older file, if any, then remains.
    pub fn write_private(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let directory = self.directory.join(PRIVATE);
        let path = directory.join(name);
        let failed = |error| Error::file(&path, "write", &error);
        match DirBuilder::new().mode(0o700).create(&directory) {
            Ok(()) => self.sync()?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
        write_whole(&path, text, 0o600).map_err(failed)?;
        Ok(path)
    }

    fn sync(&self) -> Result<(), Error> {
        sync_directory(&self.directory).map_err(|error| {
            let place = self.directory.display();
            Error::internal(format!("cannot bring {place} to disk: {error}"))
        })
    }

    /// Writes a file under its temporary name and synchronises it to disk.
    fn part<T>(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> Result<T, Error> {
        let path = self.temporary(name);
        let fill = |file| {
            let mut out = BufWriter::new(file);
            let result = write(&mut out)?;
            let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            // The space allocated for it may be longer.
            let length = file.stream_position()?;
            file.set_len(length)?;
            file.sync_all()?;
            Ok(result)
        };
        // Not truncated: that would free the allocated space.
        let options = OpenOptions::new().write(true).create(true).truncate(false).clone();
        options.open(&path).and_then(fill).map_err(|error| self.unwritten(name, &error))
    }

    /// Renames a file to its own name, if nothing has that name.
    fn name(&self, name: &'static str, made: &mut Vec<&'static str>) -> Result<(), Error> {
        let path = self.directory.join(name);
        match move_without_replacing(&self.temporary(name), &path) {
            Ok(()) => {
                made.push(name);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(Error::input(format!(
                    "{} has appeared while the run was under way, and is not overwritten",
                    path.display()
                )))
            }
            Err(error) => Err(self.unwritten(name, &error)),
        }
    }

    fn unwritten(&self, name: &str, error: &io::Error) -> Error {
        let path = self.directory.join(name);
        Error::internal(format!("cannot write {}: {error}", path.display()))
    }

    fn temporary(&self, name: &str) -> PathBuf {
        self.directory.join(format!(".{name}.part"))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.lock.is_some() {
            for name in [MANIFEST, RELEASE, COMPACT, SUMMARY] {
                let _ = fs::remove_file(self.temporary(name));
            }
            if self.made {
                // Only if it is empty.
                let _ = fs::remove_dir(&self.directory);
            }
        }
    }
}

/// Creates a directory and its parents, all of them on disk when this returns.
fn make_directory(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let parent = match directory.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    make_directory(parent)?;
    match fs::create_dir(directory) {
        // Another process created it first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
        result => result?,
    }
    sync_directory(parent)
}

fn lock(directory: &Path) -> Result<File, Error> {
    let file = File::open(directory).map_err(|error| Error::file(directory, "open", &error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let place = directory.display();
            Err(Error::input(format!("{place} is in use by another run"))
                .advise("name another directory, or wait until that run has ended"))
        }
        // Some network filesystems cannot lock a directory; existing files are still not replaced.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    const AGREEMENT: &str = r#"
[release]
id = "x"
partition = "local"
epsilon = "1"
specializations = 1
max_records = 100

[class]
column = "approved"
values = ["Y", "N"]

[[attribute]]
name = "sex"
kind = "categorical"
taxonomy = { Any = ["Male", "Female"] }
"#;

    fn prepare(directory: &Path) -> Result<Output, Error> {
        let agreement = Agreement::parse("x", AGREEMENT.as_bytes(), &|_| Err(String::new()))?;
        let plan = crate::release::plan::alone(&agreement)?;
        Output::prepare(directory, &agreement, &plan, true)
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_directory_belongs_to_one_run_and_is_left_as_it_was_found() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("a/b/release");
        let first = prepare(&directory).unwrap();
        let reserved = [".manifest.json.part", ".release-compact.csv.part", ".release.csv.part"];
        assert_eq!(names(&directory), reserved);
        let second = prepare(&directory).unwrap_err();
        assert!(second.message().contains("is in use by another run"), "{}", second.message());
        assert_eq!(second.status(), Status::WrongInput);
        assert_eq!(names(&directory), reserved, "the second removes nothing of the first");
        drop(first);
        assert!(!directory.exists(), "it was made by the run, and nothing came to lie in it");
        fs::create_dir(&directory).unwrap();
        // What a run left that was killed does not stand in the way.
        fs::write(directory.join(".release.csv.part"), "half").unwrap();
        drop(prepare(&directory).unwrap());
        assert!(names(&directory).is_empty(), "a directory that was there stays");
    }

    #[test]
    fn a_file_that_appears_is_neither_replaced_nor_removed() {
        let place = tempfile::tempdir().unwrap();
        let output = prepare(place.path()).unwrap();
        let mut made = Vec::new();
        output.part(COMPACT, |out| out.write_all(b"ours")).unwrap();
        output.part(RELEASE, |out| out.write_all(b"ours")).unwrap();
        output.name(COMPACT, &mut made).unwrap();
        fs::write(place.path().join(RELEASE), "theirs").unwrap();
        let refused = output.name(RELEASE, &mut made).unwrap_err();
        assert!(refused.message().contains("has appeared"), "{}", refused.message());
        assert_eq!(made, [COMPACT]);
        assert_eq!(fs::read(place.path().join(RELEASE)).unwrap(), b"theirs");
        assert_eq!(fs::read(place.path().join(COMPACT)).unwrap(), b"ours", "to its length");
        assert!(output.refuse_to_overwrite().is_err());
    }

    #[test]
    fn a_release_with_a_summary_is_all_there_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("release");
        let output = Output::claim(&directory).unwrap();
        fs::write(directory.join(RELEASE), "theirs").unwrap();
        let refused = output.write_with_summary(b"ours", b"{}").unwrap_err();
        assert!(refused.message().contains("has appeared"), "{}", refused.message());
        assert_eq!(fs::read(directory.join(RELEASE)).unwrap(), b"theirs");
        drop(output);
        assert_eq!(names(&directory), [RELEASE]);
        assert!(Output::claim(&directory).is_err());
        fs::remove_file(directory.join(RELEASE)).unwrap();
        // Nor is anything written through a link that stands where the half file goes.
        let elsewhere = place.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, directory.join(".release.csv.part")).unwrap();
        Output::claim(&directory).unwrap().write_with_summary(b"ours", b"{}").unwrap();
        assert_eq!(names(&directory), [RELEASE, SUMMARY]);
        assert_eq!(fs::read(directory.join(RELEASE)).unwrap(), b"ours");
        assert!(!elsewhere.exists());
        let refused = Output::claim(&directory).unwrap_err();
        assert!(refused.message().contains("exists already"), "{}", refused.message());
    }
}
