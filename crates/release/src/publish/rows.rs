//! A release as a table of people: one row for each person that its counts represent.
//!
//! Values are those of the release, or concrete ones, drawn uniformly among those that a value of
//! the release represents. Both depend on nothing but the release, so they cost no privacy; and
//! concrete rows reveal no more than general ones, however precise they look.
//!
//! A column that was not divided holds nothing but what the agreement says of it: concrete rows leave it
//! out unless it is asked for. What became of each column is written beside the rows ([`about_file`]).

mod about;

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
use about::About;

/// Which values the rows have.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Those of the release.
    Generalized,
    /// Drawn inside them.
    Concrete {
        /// By the seed in this file, or by a new one that is written beside the rows.
        seed: Option<&'a Path>,
        /// Also in columns that were not divided.
        undivided: bool,
    },
}

/// What was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// How many rows.
    pub rows: u64,
    /// A line for each column: what is left of it. A last one for concrete values: how they are drawn.
    pub columns: Vec<String>,
    /// A warning to show with them.
    pub warning: Option<String>,
}

/// The rows of a release that verifies, as a CSV file would have them: with the values of the release, or
/// concrete ones by this seed, without columns that were not divided unless these are asked for too.
///
/// # Errors
/// If the release does not verify, or a file cannot be read.
pub fn to_csv(directory: &Path, seed: Option<[u8; 32]>, undivided: bool) -> Result<Vec<u8>, Error> {
    verify::check(directory)?;
    let released = Released::open(directory)?;
    refuse_concrete_paths(&released, seed.is_some())?;
    let cuts = released.cuts()?;
    let about = About::new(&released, &cuts, seed.is_some(), undivided);
    let (mut csv, kept) = (Vec::new(), about.kept());
    let mut drawn = seed.map(|seed| Drawn::new(&cuts, seed));
    write_rows(&released, &kept, &mut drawn, false, &mut csv)?;
    Ok(csv)
}

fn refuse_concrete_paths(released: &Released, concrete: bool) -> Result<(), Error> {
    if released.schema.attributes.is_empty() && concrete {
        return Err(Error::input("paths are concrete: they hold no coarser values")
            .advise("leave out --concrete for a row for each person"));
    }
    Ok(())
}

/// Writes the rows of a release that verifies to a new file, and beside it what became of each column. If
/// `spreadsheet_safe`, an apostrophe is put before every cell that a spreadsheet would run.
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
) -> Result<Written, Error> {
    let (_, lines) = verify::check(directory)?;
    let released = Released::open(directory)?;
    let (concrete, undivided) = match values {
        Values::Generalized => (false, false),
        Values::Concrete { undivided, .. } => (true, undivided),
    };
    refuse_concrete_paths(&released, concrete)?;
    refuse_to_overwrite(out)?;
    let described = about_file(out);
    refuse_to_overwrite(&described)?;
    let cuts = released.cuts()?;
    let mut unfinished = Unfinished::default();
    let mut drawn = match values {
        Values::Generalized => None,
        Values::Concrete { seed: Some(seed), .. } => Some(Drawn::new(&cuts, read_seed(seed)?)),
        Values::Concrete { seed: None, .. } => {
            Some(Drawn::new(&cuts, make_seed(out, &mut unfinished)?))
        }
    };
    let about = About::new(&released, &cuts, concrete, undivided);
    let name = out.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let part = out.with_file_name(format!(".{name}.part"));
    let _ = fs::remove_file(&part);
    let failed = |error: io::Error| Error::file(out, "write", &error);
    let file = OpenOptions::new().write(true).create_new(true).open(&part).map_err(failed)?;
    unfinished.0.push(part.clone());
    let mut to = Stoppable { file: &file, stop };
    let written = write_rows(&released, &about.kept(), &mut drawn, spreadsheet_safe, &mut to);
    // A stop is reported as such, and not as a failed write.
    stop.check()?;
    let rows = written?;
    file.sync_all().map_err(failed)?;
    unfinished.0.push(described.clone());
    fs::write(&described, about.json(rows))
        .map_err(|error| Error::file(&described, "write", &error))?;
    match move_without_replacing(&part, out) {
        Ok(()) => unfinished.0.clear(),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(exists(out)),
        Err(error) => return Err(failed(error)),
    }
    let warning = verify::warning(&lines).map(str::to_owned);
    Ok(Written { rows, columns: about.lines(), warning })
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
    kept: &[bool],
    drawn: &mut Option<Drawn<'_>>,
    spreadsheet_safe: bool,
    to: &mut dyn Write,
) -> Result<u64, Error> {
    let classes = !released.schema.class.is_none();
    let written = rows::write(&released.csv, kept, classes, drawn.as_mut(), spreadsheet_safe, to);
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
    beside(out, ".seed")
}

/// Where it is written what became of each column.
pub fn about_file(out: &Path) -> PathBuf {
    beside(out, ".json")
}

fn beside(out: &Path, ending: &str) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(ending);
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
