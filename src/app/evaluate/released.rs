//! The table of a release, numbered by the values on its cuts.

use crate::Error;
use crate::publish::artefacts::RELEASE;
pub use crate::publish::released::Released;
use crate::release::judge::generalize::Generalization;
use crate::release::judge::tree::Rows;
use crate::release::tree::MAX_ROWS;
use crate::table::Schema;

/// The rows of a release whose count is not 0.
///
/// # Errors
/// A row that does not fit the cuts, with its place.
pub fn rows_of(released: &Released, values: &mut Generalization<'_>) -> Result<Rows, Error> {
    rows(&released.directory.join(RELEASE).display().to_string(), &released.csv, values)
}

/// Reads the table of a release: the rows whose count is not 0. `name` is used in messages.
///
/// # Errors
/// A header or a row that does not fit the cuts, with its place.
pub fn rows(name: &str, csv: &[u8], values: &mut Generalization<'_>) -> Result<Rows, Error> {
    let schema = values.schema().clone();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(csv);
    let mut record = csv::StringRecord::new();
    let mut rows = Rows { class_count: schema.class.values.len(), ..Rows::default() };
    rows.columns.resize(schema.attributes.len(), Vec::new());
    let wrong = |line: u64, problem: String| {
        Error::input(format!("{name}:{line}: {problem}"))
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
    let expected: Vec<&str> = names.chain(schema.class.name()).chain(["count"]).collect();
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
    let wanted = codes.len() + schema.class.name().iter().count() + 1;
    if record.len() != wanted {
        return Err(format!("{} fields in place of {wanted}", record.len()));
    }
    let short = |text: &str| text.chars().take(40).collect::<String>();
    for (attribute, code) in codes.iter_mut().enumerate() {
        *code = values.code_of(attribute, &record[attribute]).ok_or_else(|| {
            let name = &schema.attributes[attribute].name;
            format!("column `{name}`: `{}` is not on the cut", short(&record[attribute]))
        })?;
    }
    let count = &record[wanted - 1];
    let class = if schema.class.is_none() { "" } else { &record[wanted - 2] };
    let known = schema.class.values.iter().position(|known| known == class);
    let class = known.and_then(|place| u8::try_from(place).ok()).ok_or_else(|| {
        format!("column `{}`: `{}` is not a class", schema.class.column, short(class))
    })?;
    let count = count.parse().map_err(|_| format!("`{}` is not a count", short(count)))?;
    Ok((class, count))
}
