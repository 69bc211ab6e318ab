//! `diptych demo --partition local`: one party, generated loan applications.

use std::path::Path;

use super::{loans, place, show_rows};
use crate::Error;
use crate::agreement::Agreement;
use crate::app::console::Console;
use crate::app::progress::Screen;
use crate::app::write;
use crate::publish::data::Source;
use crate::publish::local::{Wanted, release};
use crate::publish::verify::read_manifest;

pub(super) fn run(records: u32, out: Option<&Path>, console: &Console) -> Result<(), Error> {
    let place = place(out)?;
    let (data, out) = (place.join("table.csv"), place.join("release"));
    write(&place.join("agreement.toml"), &loans::local_agreement())?;
    write(&data, &loans::joined_csv(&loans::people(records)))?;
    let agreement = Agreement::load(&place.join("agreement.toml"))?;
    let data = Source::file(data);
    let wanted = Wanted { data: &data, out: &out, compact: true, entered: None, identity: None };
    release(&agreement, &wanted, &Screen::new(console))?;
    show_rows(&out, &read_manifest(&out)?, console)?;
    let manifest = read_manifest(&out)?;
    let promise = manifest.promise().map(|promise| promise.to_string()).unwrap_or_default();
    console.result(format!(
        "\nA reader of the release learns little about any one of the {records} people: {promise}."
    ));
    console.result(format!("All files are in {}", place.display()));
    Ok(())
}
