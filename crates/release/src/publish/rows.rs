//! A release as a table of people: one row for each person that its counts represent.
//!
//! Values are those of the release, or concrete ones, drawn uniformly among those that a value of
//! the release represents. Both depend on nothing but the release, so they cost no privacy; and
//! concrete rows reveal no more than general ones, however precise they look.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::Kind;
use crate::math::{Randomness, hex};
use crate::net::Stop;
use crate::publish::artefacts::RELEASE;
use crate::publish::files::move_without_replacing;
use crate::publish::released::Released;
use crate::publish::verify;
use crate::release::rows::{self, Drawn};

/// Which values the rows have.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Those of the release.
    Generalized,
    /// Drawn inside them; by the seed in this file, or by a new one that is written beside the rows.
    Concrete(Option<&'a Path>),
}

/// The rows of a release that verifies, as a CSV file would have them: with the values of the release, or
/// concrete ones by this seed.
///
/// # Errors
/// If the release does not verify, or a file cannot be read.
pub fn to_csv(directory: &Path, seed: Option<[u8; 32]>) -> Result<Vec<u8>, Error> {
    verify::check(directory)?;
    let released = Released::open(directory)?;
    refuse_concrete_paths(&released, seed.is_some())?;
    let cuts = released.cuts()?;
    let mut csv = Vec::new();
    write_rows(&released, &mut seed.map(|seed| Drawn::new(&cuts, seed)), false, &mut csv)?;
    Ok(csv)
}

fn refuse_concrete_paths(released: &Released, concrete: bool) -> Result<(), Error> {
    if released.schema.attributes.is_empty() && concrete {
        return Err(Error::input("paths are concrete: they hold no coarser values")
            .advise("leave out --concrete for a row for each person"));
    }
    Ok(())
}

/// Writes the rows of a release that verifies to a new file. Returns how many there are, and a
/// warning to show with them, if any. If `spreadsheet_safe`, an apostrophe is put before every cell
/// that a spreadsheet would run.
///
/// # Errors
/// If the release does not verify, a file cannot be read or written or exists already, or the run
/// was stopped; nothing is left then.
pub fn write(
    directory: &Path,
    out: &Path,
    values: Values<'_>,
    spreadsheet_safe: bool,
    stop: &Stop,
) -> Result<(u64, Option<String>), Error> {
    let (_, lines) = verify::check(directory)?;
    let released = Released::open(directory)?;
    refuse_concrete_paths(&released, matches!(values, Values::Concrete(_)))?;
    refuse_to_overwrite(out)?;
    let cuts = released.cuts()?;
    let mut unfinished = Unfinished::default();
    let mut drawn = match values {
        Values::Generalized => None,
        Values::Concrete(Some(seed)) => Some(Drawn::new(&cuts, read_seed(seed)?)),
        Values::Concrete(None) => Some(Drawn::new(&cuts, make_seed(out, &mut unfinished)?)),
    };
    let name = out.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let part = out.with_file_name(format!(".{name}.part"));
    let _ = fs::remove_file(&part);
    let failed = |error: io::Error| Error::file(out, "write", &error);
    let file = OpenOptions::new().write(true).create_new(true).open(&part).map_err(failed)?;
    unfinished.0.push(part.clone());
    let mut to = Stoppable { file: &file, stop };
    let written = write_rows(&released, &mut drawn, spreadsheet_safe, &mut to);
    // A stop is reported as such, and not as a failed write.
    stop.check()?;
    let count = written?;
    file.sync_all().map_err(failed)?;
    match move_without_replacing(&part, out) {
        Ok(()) => unfinished.0.clear(),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(exists(out)),
        Err(error) => return Err(failed(error)),
    }
    Ok((count, verify::warning(&lines).map(str::to_owned)))
}

/// Files that are removed unless they were completed.
#[derive(Default)]
struct Unfinished(Vec<PathBuf>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// A file that rejects writes once the run was stopped.
struct Stoppable<'f> {
    file: &'f File,
    stop: &'f Stop,
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stop.check().map_err(io::Error::other)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn write_rows(
    released: &Released,
    drawn: &mut Option<Drawn<'_>>,
    spreadsheet_safe: bool,
    to: &mut dyn Write,
) -> Result<u64, Error> {
    let columns = released.agreement.columns().len();
    let classes = !released.schema.class.is_none();
    let written =
        rows::write(&released.csv, columns, classes, drawn.as_mut(), spreadsheet_safe, to);
    written.map_err(|error| match error.kind() {
        Kind::Input => {
            let place = released.directory.join(RELEASE);
            Error::internal(format!("{}: {error}", place.display()))
        }
        _ => error,
    })
}

fn refuse_to_overwrite(out: &Path) -> Result<(), Error> {
    if out.symlink_metadata().is_ok() { Err(exists(out)) } else { Ok(()) }
}

fn exists(path: &Path) -> Error {
    Error::input(format!("{} exists already", path.display()))
        .advise("name another file with --out")
}

/// Where the seed of drawn rows lies.
pub fn seed_file(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".seed");
    PathBuf::from(name)
}

fn read_seed(path: &Path) -> Result<[u8; 32], Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, "read", &error))?;
    hex::decode_array(text.trim()).ok_or_else(|| {
        Error::input(format!("{} is not a seed", path.display()))
            .advise("use the file that lies beside rows that were drawn, or leave out --seed")
    })
}

fn make_seed(out: &Path, unfinished: &mut Unfinished) -> Result<[u8; 32], Error> {
    let seed: [u8; 32] = Randomness::from_os()?.array();
    let path = seed_file(out);
    refuse_to_overwrite(&path)?;
    unfinished.0.push(path.clone());
    fs::write(&path, hex::encode(seed) + "\n")
        .map_err(|error| Error::file(&path, "write", &error))?;
    Ok(seed)
}
