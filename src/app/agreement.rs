//! `diptych agreement`: what two organisations sign before a release.

mod new;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::Error;
use crate::agreement::{Agreement, Builtin, Problem};
use crate::app::console::Console;
use crate::publish::signing;

/// Labels that a warning names.
const SHOWN_FORMULAS: usize = 12;

/// Begin an agreement, check it, and print it in plain words
#[derive(Args, Debug)]
pub struct AgreementArgs {
    #[command(subcommand)]
    verb: AgreementVerb,
}

#[derive(Debug, Subcommand)]
enum AgreementVerb {
    New(Box<new::NewArgs>),
    /// Validate an agreement and print it in plain words, with the hash that both parties compare
    #[command(after_help = "Example: diptych agreement check examples/loans/agreement.toml\n\
                      Both parties must see the same SHA-256.")]
    Check {
        /// The agreement, in TOML; taxonomy files lie beside or below it
        file: PathBuf,
    },
    /// Print an agreement in plain words, or as a page to print and sign
    #[command(after_help = "Example: diptych agreement show agreement.toml --html --out sign.html")]
    Show {
        /// The agreement, in TOML
        file: PathBuf,
        /// As one HTML page, with all values and lines to sign on
        #[arg(long)]
        html: bool,
        /// The file to write instead of standard output; an existing file is replaced
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// List the public taxonomies that are built in, with edition and source
    Builtin,
}

/// Runs the verb.
///
/// # Errors
/// If the agreement cannot be read or breaks a rule.
pub fn run(arguments: &AgreementArgs, console: &Console) -> Result<(), Error> {
    match &arguments.verb {
        AgreementVerb::New(arguments) => new::run(arguments, console),
        AgreementVerb::Check { file } => {
            let (agreement, remarks) = load_with_remarks(file)?;
            let outlook = signing::check(&agreement).map_err(|failure| {
                let message = format!("{}: {}", file.display(), failure.message());
                failure.reworded(message)
            })?;
            console.result(agreement.plain_words().trim_end());
            console.say("\nWhat to expect");
            outlook.iter().for_each(|line| console.say(format!("  {line}")));
            remarks.iter().for_each(|remark| console.say(remark));
            warning_of_formulas(&agreement).iter().for_each(|warning| console.say(warning));
            Ok(())
        }
        AgreementVerb::Show { file, html, out } => show(file, *html, out.as_deref(), console),
        AgreementVerb::Builtin => {
            for builtin in Builtin::all() {
                console.result(builtin.references().join("  "));
                console.result(format!("  {}. {}", builtin.title(), builtin.edition()));
                console.result(format!("  Source: {}", builtin.source()));
            }
            Ok(())
        }
    }
}

/// Labels that a spreadsheet would run as formulas when the release is opened in it.
fn warning_of_formulas(agreement: &Agreement) -> Option<String> {
    let found = agreement.schema.formulas();
    if found.is_empty() {
        return None;
    }
    let mut named: Vec<String> =
        found.iter().take(SHOWN_FORMULAS).map(|label| format!("`{label}`")).collect();
    if found.len() > SHOWN_FORMULAS {
        named.push(format!("and {} more", found.len() - SHOWN_FORMULAS));
    }
    Some(format!(
        "warning: a spreadsheet would run these labels as formulas: {}. Rename them, or tell readers: \
         release.csv has them as they are, since its hash is signed, and `diptych rows \
         --spreadsheet-safe` puts an apostrophe before them",
        named.join(", ")
    ))
}

fn show(file: &Path, html: bool, out: Option<&Path>, console: &Console) -> Result<(), Error> {
    let agreement = load(file)?;
    let page = if html { signing::page(&agreement) } else { agreement.plain_words() };
    match out {
        None => console.result(page.trim_end()),
        Some(out) => {
            signing::write(out, &page)?;
            console.result_of_work_done(out.display());
        }
    }
    Ok(())
}

/// Reads an agreement for any verb that needs one.
///
/// # Errors
/// Everything that is wrong with the file, each with line, column and remedy.
pub fn load(path: &Path) -> Result<Agreement, Error> {
    load_with_remarks(path).map(|(agreement, _)| agreement)
}

fn load_with_remarks(path: &Path) -> Result<(Agreement, Vec<Problem>), Error> {
    Agreement::load_with_remarks(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Identity;

    #[test]
    fn a_fingerprint_from_keygen_goes_through_an_agreement_unchanged() {
        let printed =
            Identity::from_pem(&Identity::generate_pem("Bank").unwrap()).unwrap().fingerprint();
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("agreement.toml");
        let text = include_str!("../../examples/loans/agreement.toml")
            .replace(&format!("sha256:{}", "b1".repeat(32)), &printed.to_string());
        std::fs::write(&path, text).unwrap();
        std::fs::write(place.path().join("job.csv"), include_str!("../../examples/loans/job.csv"))
            .unwrap();
        let agreement = load(&path).unwrap();
        assert_eq!(agreement.parties().unwrap().p1.fingerprint, printed);
        assert!(load(&path).unwrap().plain_words().contains(&printed.to_string()));
    }
}
