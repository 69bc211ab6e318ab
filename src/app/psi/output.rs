//! Where matching rows go.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use crate::Error;
use crate::publish::psi::column::IdentifierColumn;

/// Where the matching rows go. A file gets its name only when it is complete.
pub(super) enum Output {
    Standard,
    File { file: File, partial: PathBuf, path: PathBuf },
}

impl Output {
    pub(super) fn create(path: &Option<PathBuf>) -> Result<Self, Error> {
        let Some(path) = path else { return Ok(Self::Standard) };
        if path.exists() {
            return Err(Error::input(format!("{} exists already", path.display()))
                .advise("choose another name for --out, or move the file away"));
        }
        let mut partial = path.clone().into_os_string();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let file =
            File::create(&partial).map_err(|error| Error::file(&partial, "write", &error))?;
        Ok(Self::File { file, partial, path: path.clone() })
    }

    pub(super) fn write(self, column: &IdentifierColumn, rows: &[usize]) -> Result<(), Error> {
        match &self {
            Self::Standard => column.copy_rows(rows, &mut BufWriter::new(io::stdout().lock())),
            Self::File { file, partial, path } => {
                column.copy_rows(rows, &mut BufWriter::new(file))?;
                file.sync_all()
                    .and_then(|()| std::fs::rename(partial, path))
                    .map_err(|error| Error::file(path, "write", &error))
            }
        }
    }
}

impl Drop for Output {
    /// A run that failed leaves nothing behind; after a rename there is nothing to remove.
    fn drop(&mut self) {
        if let Self::File { partial, .. } = self {
            let _ = std::fs::remove_file(partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gets_its_name_only_when_complete() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out.csv");
        drop(Output::create(&Some(path.clone())).unwrap());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
        std::fs::write(&path, "precious").unwrap();
        assert!(Output::create(&Some(path)).is_err());
    }
}
