//! A table of Python's: Arrow batches that stay where they are, or plain columns taken as text.

use std::io::Write;
use std::sync::Arc;

use diptych::Error;
use diptych::publish::data::{Memory, Origin, Source};
use diptych::table::Cells;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyFloat, PyInt, PyString};

use crate::arrow::{self, Batches};
use crate::raised;

/// How messages call a table that has no name.
const NAME: &str = "the table";

/// A table in memory, of which only columns that an agreement names are looked at.
#[pyclass(frozen, module = "diptych._native")]
pub struct Table {
    cells: Arc<dyn Cells>,
}

impl Table {
    /// Stands for a table where none is read.
    pub fn none() -> Source {
        Self { cells: Arc::new(Plain::default()) }.source()
    }

    /// Where the library reads it.
    pub fn source(&self) -> Source {
        Source::new(Origin::Memory(Memory { name: NAME.to_owned(), cells: self.cells.clone() }))
    }
}

#[pymethods]
impl Table {
    /// A table from a capsule that `__arrow_c_stream__` returned, which is empty afterwards. `also` are
    /// columns that the table has besides, which nobody wants.
    #[staticmethod]
    #[expect(unsafe_code, reason = "a capsule holds a pointer")]
    fn from_stream(capsule: &Bound<'_, PyCapsule>, also: Vec<String>) -> PyResult<Self> {
        let py = capsule.py();
        let pointer = capsule.pointer_checked(Some(arrow::STREAM))?;
        // SAFETY: by its name the capsule holds a stream, and it lives until the end of this call.
        let batches = unsafe { Batches::take(pointer) };
        let batches =
            batches.map_err(|problem| raised(py, &Error::input(format!("{NAME}: {problem}"))))?;
        Ok(Self { cells: Arc::new(Streamed { batches, also }) })
    }

    /// A table from columns: names, and values where they are wanted.
    #[staticmethod]
    fn from_columns(columns: Vec<(String, Option<Bound<'_, PyAny>>)>) -> PyResult<Self> {
        let mut plain = Plain::default();
        for (name, values) in columns {
            let texts = values.map(|values| Texts::of(&name, &values)).transpose()?;
            if let Some(texts) = &texts {
                plain.check_length(&name, texts.ends.len())?;
            }
            plain.names.push(name);
            plain.columns.push(texts);
        }
        Ok(Self { cells: Arc::new(plain) })
    }

    fn __len__(&self) -> usize {
        self.cells.records()
    }
}

/// The batches of a stream, and names of columns that it does not have.
struct Streamed {
    batches: Batches,
    also: Vec<String>,
}

impl Cells for Streamed {
    fn names(&self) -> Vec<String> {
        self.batches.names().iter().chain(&self.also).cloned().collect()
    }

    fn records(&self) -> usize {
        self.batches.records()
    }

    fn refusal(&self, column: usize) -> Option<String> {
        let name = self.batches.unreadable(column)?;
        Some(format!(
            "its type is {name}, which has no value that a release could hold: convert it to text, \
             numbers or dates"
        ))
    }

    fn write(&self, record: usize, column: usize, text: &mut Vec<u8>) {
        self.batches.write(record, column, text);
    }
}

/// Columns as text. Those that nobody wants have none.
#[derive(Default)]
struct Plain {
    names: Vec<String>,
    columns: Vec<Option<Texts>>,
    records: Option<usize>,
}

impl Plain {
    fn check_length(&mut self, name: &str, records: usize) -> PyResult<()> {
        match *self.records.get_or_insert(records) {
            known if known == records => Ok(()),
            known => Err(PyTypeError::new_err(format!(
                "column `{name}` has {records} values, and one before it has {known}"
            ))),
        }
    }
}

impl Cells for Plain {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn records(&self) -> usize {
        self.records.unwrap_or(0)
    }

    fn write(&self, record: usize, column: usize, text: &mut Vec<u8>) {
        if let Some(Some(texts)) = self.columns.get(column) {
            text.extend_from_slice(texts.cell(record));
        }
    }
}

/// The cells of a column, one after the other, and where each ends.
#[derive(Default)]
struct Texts {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    fn of(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut texts = Self::default();
        for value in values.try_iter()? {
            texts.push(name, &value?)?;
        }
        Ok(texts)
    }

    fn push(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if !write_value(value, &mut self.text)? {
            let (kind, row) = (value.get_type().name()?, self.ends.len() + 1);
            let failure = Error::input(format!(
                "{NAME}: column `{name}`: the value in row {row} is of type {kind}, which has no text \
                 that a release could hold: convert the column to text, numbers or dates"
            ));
            return Err(raised(value.py(), &failure));
        }
        self.ends.push(self.text.len());
        Ok(())
    }

    fn cell(&self, record: usize) -> &[u8] {
        let start = record.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let end = self.ends.get(record).copied().unwrap_or(0);
        self.text.get(start.unwrap_or(0)..end).unwrap_or_default()
    }
}

/// A value as a table has it, empty where it is missing; nothing where it has no text. Identifiers of
/// [`psi`](crate::conversation::psi) and numbers of an agreement are written the same way.
#[pyfunction]
pub fn value_text(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let mut text = Vec::new();
    Ok(match write_value(value, &mut text)? {
        true => Some(String::from_utf8(text)?),
        false => None,
    })
}

/// Writes a value as a file would have it: floats as the shortest decimal, dates as ISO 8601, a time of
/// midnight left out, and nothing where it is missing. Returns whether it has a text.
fn write_value(value: &Bound<'_, PyAny>, text: &mut Vec<u8>) -> PyResult<bool> {
    if let Ok(string) = value.cast::<PyString>() {
        text.extend_from_slice(string.to_cow()?.as_bytes());
    } else if let Ok(truth) = value.cast::<PyBool>() {
        text.extend_from_slice(if truth.is_true() { b"True" } else { b"False" });
    } else if value.cast::<PyInt>().is_ok() {
        match value.extract::<i64>() {
            Ok(number) => write!(text, "{number}")?,
            Err(_) => text.extend_from_slice(value.str()?.to_cow()?.as_bytes()),
        }
    } else if let Ok(number) = value.cast::<PyFloat>() {
        arrow::write_float(number.value(), text)?;
    } else if is_missing(value)? {
        return Ok(true);
    } else if value.is_instance(&value.py().import("datetime")?.getattr("date")?)? {
        let written: String = value.call_method0("isoformat")?.extract()?;
        text.extend_from_slice(arrow::without_midnight(&written).as_bytes());
    } else {
        return write_special(value, text);
    }
    Ok(true)
}

/// Decimals, and numbers, truths and dates of numpy.
fn write_special(value: &Bound<'_, PyAny>, text: &mut Vec<u8>) -> PyResult<bool> {
    let kind = value.get_type();
    let (module, name) = (kind.module()?.to_string(), kind.name()?.to_string());
    match (module.as_str(), name.as_str()) {
        ("decimal", "Decimal") => {
            let written: String = value.call_method1("__format__", ("f",))?.extract()?;
            text.extend_from_slice(written.as_bytes());
        }
        ("numpy", "datetime64") => {
            let written = value.str()?.to_string();
            if written != "NaT" {
                text.extend_from_slice(arrow::without_midnight(&written).as_bytes());
            }
        }
        ("numpy", _) if value.hasattr("item")? => {
            let item = value.call_method0("item")?;
            // What numpy cannot convert, it returns as it is.
            return if item.get_type().is(&kind) { Ok(false) } else { write_value(&item, text) };
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// `None`, and what pandas writes for it.
fn is_missing(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_none() {
        return Ok(true);
    }
    let name = value.get_type().name()?;
    Ok(matches!(&*name.to_cow()?, "NAType" | "NaTType"))
}
