//! `diptych demo`: a whole release on this machine, over built-in data.

mod loans;
mod local;
mod two_parties;

use std::path::{Path, PathBuf};

use clap::Args;

use crate::Error;
use crate::app::console::Console;
use crate::app::{Membership, Partition};
use crate::math::Randomness;
use crate::publish::artefacts::RELEASE;
use crate::publish::manifest::Manifest;

/// Make a release on this machine: two processes, one TLS connection
///
/// A bank and a loan company, each with a table of its own about partly the
/// same (made-up) people, publish one differentially private table; or two
/// banks with the same columns about different people. Keys, agreement and
/// party files are made for them as two organisations would make them, and are
/// kept, so that every step can be repeated by hand.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// How the data is divided: between two parties by columns or by people, or not at all
    #[arg(long, value_enum, default_value_t = Partition::Vertical)]
    partition: Partition,
    /// Whether each party learns which of its people the other has [default: shown]
    #[arg(long, value_enum)]
    membership: Option<Membership>,
    /// How many people to generate
    #[arg(long, value_name = "N", default_value_t = 5_000,
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    records: u32,
    /// Where the files go [default: a new temporary directory]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Rows of the release that are shown.
const SHOWN_ROWS: usize = 8;

/// Runs the verb.
///
/// # Errors
/// If a file cannot be written, or a party cannot be started, fails, or does not end in time.
pub fn run(arguments: &DemoArgs, console: &Console) -> Result<(), Error> {
    let (records, out) = (arguments.records, arguments.out.as_deref());
    if arguments.membership.is_some() && arguments.partition != Partition::Vertical {
        return Err(Error::input("--membership is for two parties with different columns")
            .advise("leave it out, or use --partition vertical"));
    }
    let hidden = arguments.membership == Some(Membership::Hidden);
    match arguments.partition {
        Partition::Vertical if hidden => two_parties::run(&loans::hidden(records), out, console),
        Partition::Vertical => two_parties::run(&loans::vertical(records), out, console),
        Partition::Horizontal => two_parties::run(&loans::horizontal(records), out, console),
        Partition::Local => local::run(records, out, console),
    }
}

/// A new directory for the demo's files, readable by its owner alone.
fn place(out: Option<&Path>) -> Result<PathBuf, Error> {
    use std::os::unix::fs::DirBuilderExt;
    let path = match out {
        Some(path) => path.to_owned(),
        None => {
            let suffix = u64::from_le_bytes(Randomness::from_os()?.array());
            std::env::temp_dir().join(format!("diptych-demo-{suffix:016x}"))
        }
    };
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&path)
        .map_err(|error| Error::file(&path, "create", &error))?;
    Ok(path)
}

/// Numbers below a bound for made-up people, the same everywhere: SplitMix64.
pub(super) fn made_up(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |bound| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

fn show_rows(release: &Path, manifest: &Manifest, console: &Console) -> Result<(), Error> {
    let rows = manifest.value(&["release", "rows"]).map(ToString::to_string).unwrap_or_default();
    console.result(format!("\nThe first of {} rows of the release:", rows));
    let path = release.join(RELEASE);
    let text =
        std::fs::read_to_string(&path).map_err(|error| Error::file(&path, "read", &error))?;
    text.lines().take(SHOWN_ROWS + 1).for_each(|line| console.result(format!("  {line}")));
    Ok(())
}
