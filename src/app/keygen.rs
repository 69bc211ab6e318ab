//! `diptych keygen`: makes an identity.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use zeroize::Zeroizing;

use crate::app::console::Console;
use crate::app::passphrase;
use crate::net::Identity;
use crate::publish::failure::Failure;
use crate::publish::meeting::read_passphrase;

/// Make an identity: a key and a self-signed certificate in one file
///
/// The file is as secret as a password, unless its key is put under a
/// passphrase; then both are needed to use it. The fingerprint that is printed
/// is public: give it to your partner by a way that you both trust.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych keygen --name Bank --out bank.pem --passphrase")]
pub struct KeygenArgs {
    /// Whose identity it is; stands in the certificate and means nothing else
    #[arg(long)]
    name: String,
    /// The file to write; an existing file is never overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Put the key under a passphrase, asked for on the terminal
    #[arg(long)]
    passphrase: bool,
    /// Put it under the passphrase in the first line of this file
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase")]
    passphrase_file: Option<PathBuf>,
}

const LONGEST_NAME: usize = 64;

/// Runs the verb.
///
/// # Errors
/// If the name is unusable or the file cannot be written.
pub fn run(arguments: &KeygenArgs, console: &Console) -> Result<(), Failure> {
    let name = arguments.name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.contains(char::is_control) {
        return Err(Failure::wrong_input("the name must have 1 to 64 printable characters")
            .advise("give the organisation's name, for example --name Bank"));
    }
    let passphrase = match &arguments.passphrase_file {
        Some(file) => Some(read_passphrase(file)?),
        None if arguments.passphrase => Some(passphrase::ask_for_new(console)?),
        None => None,
    };
    let identity = create(name, &arguments.out, passphrase.as_ref().map(|it| it.as_str()))?;
    let care =
        if passphrase.is_some() { "its key is under the passphrase" } else { "keep it secret" };
    console.say(format!("wrote {} ({care})", arguments.out.display()));
    console.say("give this fingerprint to your partner:");
    console.result(identity.fingerprint());
    Ok(())
}

/// Makes an identity and writes it to a file that only its owner can read.
pub(crate) fn create(
    name: &str,
    path: &Path,
    passphrase: Option<&str>,
) -> Result<Identity, Failure> {
    let mut pem = Identity::generate_pem(name)?;
    let identity = Identity::from_pem(&pem)?;
    if let Some(passphrase) = passphrase {
        pem = Zeroizing::new(Identity::protect_pem(&pem, passphrase.as_bytes())?);
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(
        |error| match error.kind() {
            ErrorKind::AlreadyExists => {
                Failure::wrong_input(format!("{} exists already", path.display()))
                    .advise("choose another name; an identity that is in use must not be lost")
            }
            _ => Failure::file(path, "write", &error),
        },
    )?;
    let written = file.write_all(pem.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // Half a key is worse than none: the next attempt would stop at it.
        let _ = std::fs::remove_file(path);
        return Err(Failure::file(path, "write", &error));
    }
    Ok(identity)
}
