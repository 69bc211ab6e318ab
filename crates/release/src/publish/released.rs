//! A release on disk: the manifest says how values were generalized, the table how many records
//! each cell counts.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::Error;
use crate::agreement::Agreement;
use crate::math::hex;
use crate::publish::artefacts::{MANIFEST, RELEASE};
use crate::publish::manifest::has_both_ends;
use crate::table::{Candidate, CutValue, Cuts, Domain, Schema, Specialization};

/// Largest manifest, in bytes: an agreement, and a few lines for each specialization.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;
/// Largest release that is read, in bytes.
pub(super) const MAX_RELEASE_BYTES: u64 = 4 << 30;

/// A release's files, and what they say that needs no schema.
pub struct Released {
    /// Its directory, as the user named it.
    pub directory: PathBuf,
    /// The agreement under which it was made.
    pub agreement: Agreement,
    /// Its manifest.
    pub manifest: Value,
    /// Attributes and class, whose intervals are written as in this release.
    pub schema: Arc<Schema>,
    /// The table.
    pub csv: Vec<u8>,
}

impl Released {
    /// Reads a release's directory and checks that the table is the one that the manifest names.
    ///
    /// # Errors
    /// If a file is missing or invalid, with its name and the place.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let path = directory.join(MANIFEST);
        let shown = path.display();
        let broken = |problem: String| {
            Error::input(format!("{shown}: {problem}"))
                .advise("use the directory that `diptych local` or `diptych run` has written")
        };
        let bytes = read(&path, MAX_MANIFEST_BYTES)?;
        let manifest: Value = serde_json::from_slice(&bytes).map_err(|e| broken(e.to_string()))?;
        let agreement = manifest
            .get("agreement")
            .ok_or_else(|| broken("there is no `agreement`".to_owned()))?;
        let agreement = Agreement::from_canonical(agreement.to_string().as_bytes())
            .map_err(|error| broken(format!("agreement: {error}")))?;
        if !manifest.get("cuts").is_some_and(Value::is_array) {
            return Err(broken("there is no list `cuts`".to_owned()));
        }
        let sha256 = manifest.pointer("/release/sha256").and_then(Value::as_str);
        let sha256 = sha256.ok_or_else(|| broken("there is no `sha256` of the release".into()))?;
        let path = directory.join(RELEASE);
        let csv = read(&path, MAX_RELEASE_BYTES)?;
        let found = hex::encode(Sha256::digest(&csv));
        if found != sha256 {
            let message = format!("{}: not the release that {shown} names", path.display());
            return Err(Error::input(message)
                .advise("one of the two was changed after they were made: get both again"));
        }
        let schema = schema_of(&agreement, manifest.get("format").and_then(Value::as_str));
        Ok(Self { directory: directory.to_owned(), agreement, manifest, schema, csv })
    }

    /// The cuts, reconstructed step by step.
    ///
    /// # Errors
    /// A step that the agreement does not allow, with its place.
    pub fn cuts(&self) -> Result<Cuts, Error> {
        cuts_of(&self.schema, self.manifest.get("cuts")).map_err(|problem| {
            let path = self.directory.join(MANIFEST);
            Error::input(format!("{}: {problem}", path.display()))
                .advise("get the manifest again from whoever made the release")
        })
    }
}

/// Attributes and class, whose intervals are written as in manifests of this format.
pub(super) fn schema_of(agreement: &Agreement, format: Option<&str>) -> Arc<Schema> {
    match has_both_ends(format) {
        true => Arc::new(agreement.schema.with_both_ends()),
        false => agreement.schema.clone(),
    }
}

/// The cuts that a manifest lists, reconstructed step by step.
///
/// # Errors
/// A step that the agreement does not allow, with its place.
pub(super) fn cuts_of(schema: &Arc<Schema>, steps: Option<&Value>) -> Result<Cuts, String> {
    let mut cuts = Cuts::topmost(schema);
    for (index, step) in steps.and_then(Value::as_array).into_iter().flatten().enumerate() {
        again(&mut cuts, step).map_err(|problem| format!("cuts[{index}]: {problem}"))?;
    }
    Ok(cuts)
}

/// Performs one specialization that a manifest describes.
fn again(cuts: &mut Cuts, step: &Value) -> Result<(), String> {
    let text = |key: &str| {
        let value = step.get(key).and_then(Value::as_str);
        value.ok_or_else(|| format!("there is no text `{key}`"))
    };
    let (name, value) = (text("attribute")?, text("value")?);
    let into = step.get("into").and_then(Value::as_array).ok_or("there is no list `into`")?;
    let into: Vec<&str> = into.iter().filter_map(Value::as_str).collect();
    let attributes = &cuts.schema().attributes;
    let attribute = attributes.iter().position(|attribute| attribute.name == name);
    let attribute = attribute.ok_or_else(|| format!("`{name}` is not an attribute"))?;
    // Values of a cut are in the order of their keys.
    let key = match &attributes[attribute].domain {
        Domain::Categorical(taxonomy) | Domain::Set(taxonomy) => {
            taxonomy.find(value).map(|value| CutValue::Value(value).key())
        }
        Domain::Numeric(range) => range.start_of(value),
    };
    let on_cut = cuts.of(attribute);
    let candidate = key
        .and_then(|key| on_cut.binary_search_by_key(&key, |value| value.key()).ok())
        .map(|place| Candidate { attribute, value: on_cut[place] })
        .filter(|candidate| cuts.name(*candidate) == value)
        .ok_or_else(|| format!("`{value}` is not on the cut of `{name}`"))?;
    let split = match &attributes[attribute].domain {
        Domain::Numeric(range) => {
            let point = into.get(1).and_then(|interval| range.start_of(interval));
            Some(point.ok_or("`into` is not two intervals")?)
        }
        _ => None,
    };
    let made = Specialization { candidate, split };
    let children = cuts.specialize(&made).map_err(|error| error.to_string())?;
    let named = children.into_iter().map(|value| cuts.name(Candidate { attribute, value }));
    if named.eq(into.iter().copied()) {
        return Ok(());
    }
    Err(format!("`{value}` of `{name}` does not specialize into what `into` says"))
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let failed = |error: std::io::Error| Error::file(path, "read", &error);
    let metadata = std::fs::metadata(path).map_err(|error| {
        let failure = failed(error);
        match path.file_name() == Some(MANIFEST.as_ref()) && path.with_file_name(RELEASE).exists() {
            true => failure.advise(
                "a table without a manifest comes from `diptych model`, or from a run that was \
                 interrupted; `diptych local` and `diptych run` make releases with one",
            ),
            false => failure,
        }
    })?;
    if !metadata.is_file() || metadata.len() > most {
        // Opening a pipe could block for ever.
        let message = format!("{}: not a file of at most {most} bytes", path.display());
        return Err(Error::input(message).advise("name the directory of a release"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
