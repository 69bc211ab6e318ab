//! `diptych keygen`: makes an identity.

use std::path::PathBuf;

use clap::Args;

use crate::Error;
use crate::app::console::Console;
use crate::app::passphrase;
pub(crate) use crate::publish::meeting::create_identity as create;
use crate::publish::meeting::{identity_name, read_passphrase};

/// Make an identity: a key and a self-signed certificate in one file
///
/// The file is as secret as a password, unless its key is encrypted with a passphrase; then both
/// are needed to use it. The fingerprint that is printed
/// is public: give it to your partner over a channel that you both trust.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych keygen --name Bank --out bank.pem --passphrase")]
pub struct KeygenArgs {
    /// A name for the certificate; it has no other meaning
    #[arg(long)]
    name: String,
    /// The file to write; an existing file is never overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Encrypt the key with a passphrase, asked for on the terminal
    #[arg(long)]
    passphrase: bool,
    /// Encrypt the key with the passphrase in the first line of this file
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase")]
    passphrase_file: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// If the name is unusable or the file cannot be written.
pub fn run(arguments: &KeygenArgs, console: &Console) -> Result<(), Error> {
    let name = identity_name(&arguments.name)?;
    let passphrase = match &arguments.passphrase_file {
        Some(file) => Some(read_passphrase(file)?),
        None if arguments.passphrase => Some(passphrase::ask_for_new(console)?),
        None => None,
    };
    let identity = create(name, &arguments.out, passphrase.as_ref().map(|it| it.as_str()))?;
    let care = if passphrase.is_some() {
        "its key is encrypted with the passphrase"
    } else {
        "keep it secret"
    };
    console.say(format!("wrote {} ({care})", arguments.out.display()));
    console.say("give this fingerprint to your partner:");
    console.result(identity.fingerprint());
    Ok(())
}
