//! Writes files completely or not at all, without replacing other files.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// Synchronises the names in a directory to disk.
///
/// # Errors
/// Those of the system.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Writes a file under another name first, so that it is never incomplete and never has an older
/// file's mode. An older file is replaced.
///
/// # Errors
/// Those of the system; an older file then remains.
pub(crate) fn write_whole(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    write_as(path, text, mode, false)
}

/// The same for everybody to read, whatever the umask is.
///
/// # Errors
/// Those of the system.
pub(crate) fn write_whole_for_all(path: &Path, text: &str) -> io::Result<()> {
    write_as(path, text, 0o644, true)
}

fn write_as(path: &Path, text: &str, mode: u32, exactly: bool) -> io::Result<()> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file's name"));
    };
    let part = path.with_file_name(format!(".{}.part", name.to_string_lossy()));
    let _ = fs::remove_file(&part);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    let written = options
        .open(&part)
        .and_then(|mut file| {
            if exactly {
                file.set_permissions(Permissions::from_mode(mode))?;
            }
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// Renames a file unless something has the new name.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if something has it; those of the system.
pub(crate) fn move_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not supported by this kernel or filesystem.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link_and_remove(from, to),
        result => Ok(result?),
    }
}

fn link_and_remove(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => claim_and_rename(from, to),
    }
}

/// For filesystems without hard links: reserves the name with an empty file, which is then
/// replaced.
fn claim_and_rename(from: &Path, to: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(to)?;
    fs::rename(from, to).inspect_err(|_| {
        let _ = fs::remove_file(to);
    })
}

/// Allocates so much disk space for an empty file, which then has this length.
///
/// # Errors
/// Those of the system: usually that the disk is full.
pub(crate) fn reserve(file: &mut File, bytes: u64) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    loop {
        use rustix::fs::{FallocateFlags, fallocate};
        match fallocate(&*file, FallocateFlags::empty(), 0, bytes.max(1)) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => break,
            Err(error) => return Err(error.into()),
        }
    }
    io::copy(&mut io::Read::take(io::repeat(0), bytes), file)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_naming_a_file_moves_it_and_replaces_nothing() {
        for way in [move_without_replacing, link_and_remove, claim_and_rename] {
            let place = tempfile::tempdir().unwrap();
            let [from, to] = ["from", "to"].map(|name| place.path().join(name));
            fs::write(&from, "new").unwrap();
            fs::write(&to, "old").unwrap();
            assert_eq!(way(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&to).unwrap(), b"old");
            fs::remove_file(&to).unwrap();
            std::os::unix::fs::symlink("nowhere", &to).unwrap();
            assert_eq!(way(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            fs::remove_file(&to).unwrap();
            way(&from, &to).unwrap();
            assert_eq!(fs::read(&to).unwrap(), b"new");
            assert!(!from.exists());
        }
    }

    #[test]
    fn a_file_is_written_whole_with_its_mode_or_the_older_one_stays() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("page");
        fs::write(&path, "older").unwrap();
        let reader = File::open(&path).unwrap();
        write_whole(&path, "newer", 0o600).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let mut seen = String::new();
        io::Read::read_to_string(&mut &reader, &mut seen).unwrap();
        assert_eq!(seen, "older", "whoever reads the older file reads all of it");
        // A directory in the way of the temporary name stands for any failure.
        fs::create_dir(place.path().join(".page.part")).unwrap();
        assert!(write_whole(&path, "newest", 0o600).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"newer");
    }

    #[test]
    fn room_is_taken_to_the_byte() {
        let place = tempfile::tempdir().unwrap();
        let mut file = File::create(place.path().join("room")).unwrap();
        reserve(&mut file, 100_001).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 100_001);
    }
}
