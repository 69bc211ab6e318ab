//! Schema, taxonomies, cuts, columns, and CSV reading with errors that help.
//!
//! This module describes what a table *may* contain: which attributes there are and which values
//! each can take. All of it is public and comes from the agreement, never from the data. Nothing
//! here uses cryptography, privacy budgets, or more about the two parties than "first" and
//! "second".
//!
//! # Example
//!
//! ```
//! use diptych_release::table::{
//!     Attribute, CellRules, Class, Column, Domain, OnBadValue, Reading, Schema, TaxonomyBuilder, parse_csv,
//! };
//!
//! let mut jobs = TaxonomyBuilder::new();
//! jobs.open("Any_Job")?;
//! jobs.leaf("Engineer")?;
//! jobs.leaf("Writer")?;
//! jobs.close();
//! let job = Attribute {
//!     name: "job".to_owned(),
//!     owner: None,
//!     domain: Domain::Categorical(jobs.finish()?),
//!     on_bad_value: OnBadValue::Refuse,
//!     rules: CellRules::default(),
//! };
//! let values = vec!["yes".to_owned(), "no".to_owned()];
//! let class = Class { column: "ill".to_owned(), owner: None, values };
//! let schema = Schema { attributes: vec![job], class };
//! let reading = Reading { schema: &schema, owner: None, identifier: None, max_records: 100 };
//! let read = |csv: &str| parse_csv("people.csv", csv.as_bytes(), &reading, &|_| ());
//!
//! let table = read("ill,job\nno,Writer\nyes,Engineer\n")?;
//! assert_eq!(table.classes(), [1, 0]);
//! assert!(matches!(table.column(0), Some(Column::Categorical(jobs)) if jobs == &[1, 0]));
//!
//! let problem = read("ill,job\nno,Writter\n").map_err(|problem| problem.to_string());
//! assert!(problem.is_err_and(|words| words.contains("Writer")), "it says what was meant");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod identifiers;

mod columns;
pub(crate) mod csv;
mod cut;
mod date;
mod decimal;
mod numeric;
mod schema;
pub(crate) mod taxonomy;
mod text;

pub use columns::{Column, SetColumn, Table};
pub use csv::{
    BadValue, BadValues, Cells, ColumnOutline, Dialect, Encoding, Looks, MAX_LISTED_VALUES,
    MAX_RECORD_BYTES, Piece, Reading, TableOutline, outline_csv, parse_csv, parse_csv_as,
    read_cells, read_csv, read_records, regular_file,
};
pub use cut::{Candidate, CutValue, Cuts, Specialization, most_leaves};
pub use date::{Date, DateFormat, DateStep};
pub use decimal::Decimal;
pub use identifiers::Normalization;
pub use numeric::{MAX_EDGES, MAX_POINTS, MISSING, NumericDomain, Splits};
pub use schema::{
    Attribute, CellRules, Class, Domain, Identifier, MAX_SET_CHILDREN, Missing, OnBadValue, Schema,
};
pub use taxonomy::{MAX_DEPTH, MAX_VALUES, Taxonomy, TaxonomyBuilder, ValueId};
pub(crate) use text::clean_text_within;
pub use text::{MAX_TEXT, clean_text, is_formula, nearest};
