//! A release as it lies on disk: the manifest says how values were generalized, the table how many
//! records each cell stands for.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::agreement::Agreement;
use crate::app::evaluate::generalize::Generalization;
use crate::app::evaluate::tree::Rows;
use crate::math::hex;
use crate::publish::artefacts::{MANIFEST, RELEASE};
use crate::publish::failure::Failure;
use crate::release::tree::MAX_ROWS;
use crate::table::{Candidate, CutValue, Cuts, Decimal, Domain, Schema, Specialization};

/// Largest manifest, in bytes: an agreement, and a few lines for each specialization.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;
/// Largest release, in bytes.
const MAX_RELEASE_BYTES: u64 = 4 << 30;

/// A release's files, and what they say that needs no schema.
pub struct Released {
    /// Where it lies, as the user named it.
    pub directory: PathBuf,
    /// The agreement under which it was made.
    pub agreement: Agreement,
    cuts: Vec<Value>,
    csv: Vec<u8>,
}

impl Released {
    /// Reads a release's directory and sees that the table is the one that the manifest names.
    ///
    /// # Errors
    /// If a file is missing or not as it should be, with its name and the place.
    pub fn open(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join(MANIFEST);
        let bytes = read(&path, MAX_MANIFEST_BYTES)?;
        let shown = path.display();
        let broken = |problem: String| {
            Failure::wrong_input(format!("{shown}: {problem}"))
                .advise("use the directory that `diptych local` or `diptych run` has written")
        };
        let manifest: Value = serde_json::from_slice(&bytes).map_err(|e| broken(e.to_string()))?;
        let agreement = manifest
            .get("agreement")
            .ok_or_else(|| broken("there is no `agreement`".to_owned()))?;
        let agreement = Agreement::from_canonical(agreement.to_string().as_bytes())
            .map_err(|error| broken(format!("agreement: {error}")))?;
        let cuts = manifest.get("cuts").and_then(Value::as_array);
        let cuts = cuts.ok_or_else(|| broken("there is no list `cuts`".to_owned()))?.clone();
        let sha256 = manifest.pointer("/release/sha256").and_then(Value::as_str);
        let sha256 = sha256.ok_or_else(|| broken("there is no `sha256` of the release".into()))?;
        let path = directory.join(RELEASE);
        let csv = read(&path, MAX_RELEASE_BYTES)?;
        let found = hex::encode(Sha256::digest(&csv));
        if found != sha256 {
            let message = format!("{}: not the release that {shown} names", path.display());
            return Err(Failure::wrong_input(message)
                .advise("one of the two was changed after they were made: get both again"));
        }
        Ok(Self { directory: directory.to_owned(), agreement, cuts, csv })
    }

    /// The cuts, made again step by step.
    ///
    /// # Errors
    /// A step that the agreement does not allow, with its place.
    pub fn cuts(&self) -> Result<Cuts, Failure> {
        let mut cuts = Cuts::topmost(&self.agreement.schema);
        for (index, step) in self.cuts.iter().enumerate() {
            let made = again(&mut cuts, step);
            made.map_err(|problem| {
                let path = self.directory.join(MANIFEST);
                Failure::wrong_input(format!("{}: cuts[{index}]: {problem}", path.display()))
                    .advise("get the manifest again from whoever made the release")
            })?;
        }
        Ok(cuts)
    }

    /// The rows whose count is not 0.
    ///
    /// # Errors
    /// A row that does not fit the cuts, with its place.
    pub fn rows(&self, values: &mut Generalization<'_>) -> Result<Rows, Failure> {
        rows(&self.directory.join(RELEASE).display().to_string(), &self.csv, values)
    }
}

/// Reads the table of a release: the rows whose count is not 0. `name` stands in messages.
///
/// # Errors
/// A header or a row that does not fit the cuts, with its place.
pub fn rows(name: &str, csv: &[u8], values: &mut Generalization<'_>) -> Result<Rows, Failure> {
    let schema = values.schema().clone();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(csv);
    let mut record = csv::StringRecord::new();
    let mut rows = Rows { class_count: schema.class.values.len(), ..Rows::default() };
    rows.columns.resize(schema.attributes.len(), Vec::new());
    let wrong = |line: u64, problem: String| {
        Failure::wrong_input(format!("{name}:{line}: {problem}"))
            .advise("use release.csv as it was written, beside its manifest.json")
    };
    let (mut first, mut read) = (true, 0u64);
    let mut codes = vec![0; schema.attributes.len()];
    loop {
        let line = reader.position().line();
        if !reader.read_record(&mut record).map_err(|error| wrong(line, error.to_string()))? {
            break;
        }
        let line = record.position().map_or(line, csv::Position::line);
        if first {
            check_header(&schema, &record).map_err(|problem| wrong(line, problem))?;
            first = false;
            continue;
        }
        read += 1;
        if read > MAX_ROWS {
            return Err(wrong(line, format!("more than {MAX_ROWS} rows")));
        }
        let (class, count) =
            row(&record, values, &mut codes).map_err(|problem| wrong(line, problem))?;
        if count > 0 {
            rows.columns.iter_mut().zip(&codes).for_each(|(column, code)| column.push(*code));
            rows.classes.push(class);
            rows.weights.push(count as f64);
        }
    }
    if first {
        return Err(wrong(1, "the file is empty".to_owned()));
    }
    rows.kinds = values.kinds();
    Ok(rows)
}

fn check_header(schema: &Schema, record: &csv::StringRecord) -> Result<(), String> {
    let names = schema.attributes.iter().map(|attribute| attribute.name.as_str());
    let expected: Vec<&str> = names.chain([schema.class.column.as_str(), "count"]).collect();
    if record.iter().eq(expected.iter().copied()) {
        return Ok(());
    }
    Err(format!("the columns are not those of the agreement: {}", expected.join(",")))
}

fn row(
    record: &csv::StringRecord,
    values: &mut Generalization<'_>,
    codes: &mut [u32],
) -> Result<(u8, u64), String> {
    let schema = values.schema().clone();
    if record.len() != codes.len() + 2 {
        return Err(format!("{} fields in place of {}", record.len(), codes.len() + 2));
    }
    let short = |text: &str| text.chars().take(40).collect::<String>();
    for (attribute, code) in codes.iter_mut().enumerate() {
        *code = values.code_of(attribute, &record[attribute]).ok_or_else(|| {
            let name = &schema.attributes[attribute].name;
            format!("column `{name}`: `{}` is not on the cut", short(&record[attribute]))
        })?;
    }
    let (class, count) = (&record[codes.len()], &record[codes.len() + 1]);
    let known = schema.class.values.iter().position(|known| known == class);
    let class = known.and_then(|place| u8::try_from(place).ok()).ok_or_else(|| {
        format!("column `{}`: `{}` is not a class", schema.class.column, short(class))
    })?;
    let count = count.parse().map_err(|_| format!("`{}` is not a count", short(count)))?;
    Ok((class, count))
}

/// Makes one specialization that a manifest describes.
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
    let candidate = cuts
        .of(attribute)
        .iter()
        .map(|value| Candidate { attribute, value: *value })
        .find(|candidate| cuts.name(*candidate) == value)
        .ok_or_else(|| format!("`{value}` is not on the cut of `{name}`"))?;
    let split = match (&attributes[attribute].domain, candidate.value) {
        (Domain::Numeric(range), CutValue::Interval { .. }) => {
            let right = into.get(1).and_then(|interval| interval.strip_prefix('['));
            let start = right.and_then(|right| right.split_once("..")).map(|(start, _)| start);
            let start = start.and_then(|start| Decimal::parse(start).ok());
            let point = start.and_then(|start| range.locate(start));
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

fn read(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| Failure::file(path, "read", &error);
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() || metadata.len() > most {
        // A pipe could keep us waiting for ever.
        let message = format!("{}: not a file of at most {most} bytes", path.display());
        return Err(Failure::wrong_input(message).advise("name the directory of a release"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
