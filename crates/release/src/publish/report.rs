//! A release as one page for people, from `manifest.json` and `release.csv` alone.
//!
//! The page loads nothing from anywhere, and its content security policy forbids it to. The public
//! page is byte for byte a function of the two files, so it tells no more than they do; the second
//! one, under `private/`, adds what the run cost this party. A release that does not verify gets no
//! page: one would look like a promise.

mod costs;
mod facts;
pub(in crate::publish) mod html;
mod page;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::publish::Watcher;
use crate::publish::artefacts::{Output, PRIVATE};
use crate::publish::files::write_whole;
use crate::publish::run::costs::COSTS;

/// The page's file name.
pub const REPORT: &str = "report.html";
/// Largest record of costs that is read.
const MOST_BYTES_OF_COSTS: u64 = 1 << 20;

/// Writes a page of the release in `directory`: to `out`, or else beside the release; with what the
/// run cost this party, under `private/`.
///
/// # Errors
/// If the release does not verify, or a file cannot be read or written.
pub fn write_page(directory: &Path, out: Option<&Path>, private: bool) -> Result<PathBuf, Error> {
    let costs = if private { Some(read_costs(directory)?) } else { None };
    let page = facts::Facts::of(directory)?.page(costs.as_ref());
    match (out, private) {
        (Some(path), private) => {
            write(path, &page, if private { 0o600 } else { 0o644 })?;
            Ok(path.to_owned())
        }
        (None, true) => Output::of_release(directory).write_private(REPORT, &page),
        (None, false) => write_public(directory, &page),
    }
}

/// How the values of the release in `directory` were divided, as a page of its own.
///
/// # Errors
/// If the release does not verify, or a file cannot be read.
pub fn picture(directory: &Path) -> Result<String, Error> {
    Ok(facts::Facts::of(directory)?.picture())
}

/// Writes the page beside a release that was just made, and the private one if there is a record of
/// what it cost. The release is complete without them, so a failure is only reported.
pub fn accompany(directory: &Path, watcher: &dyn Watcher) {
    let write = || {
        let facts = facts::Facts::of(directory)?;
        write_public(directory, &facts.page(None))?;
        if directory.join(PRIVATE).join(COSTS).is_file() {
            let costs = read_costs(directory)?;
            Output::of_release(directory).write_private(REPORT, &facts.page(Some(&costs)))?;
        }
        Ok::<_, Error>(())
    };
    if let Err(failure) = write() {
        watcher.say(&format!("the page {REPORT} could not be made: {}", failure.message()));
    }
}

fn write_public(directory: &Path, page: &str) -> Result<PathBuf, Error> {
    let path = directory.join(REPORT);
    write(&path, page, 0o644)?;
    Ok(path)
}

fn write(path: &Path, page: &str, mode: u32) -> Result<(), Error> {
    write_whole(path, page, mode).map_err(|error| Error::file(path, "write", &error))
}

fn read_costs(directory: &Path) -> Result<costs::Costs, Error> {
    use std::io::Read;
    let path = directory.join(PRIVATE).join(COSTS);
    let mut text = String::new();
    fs::File::open(&path)
        .and_then(|file| file.take(MOST_BYTES_OF_COSTS).read_to_string(&mut text))
        .map_err(|error| Error::file(&path, "read", &error))?;
    costs::Costs::parse(&text).ok_or_else(|| {
        Error::input(format!("{} is not a record of a run's costs", path.display()))
            .advise("leave out --private for the page without costs")
    })
}
