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
//!     Attribute, Class, Column, Domain, OnBadValue, Reading, Schema, TaxonomyBuilder, parse_csv,
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
mod csv;
mod cut;
mod decimal;
mod numeric;
mod schema;
mod taxonomy;
mod text;

pub use columns::{Column, SetColumn, Table};
pub use csv::{
    BadValue, BadValues, Cells, ColumnOutline, Dialect, Encoding, Looks, MAX_LISTED_VALUES,
    MAX_RECORD_BYTES, Piece, Reading, outline_csv, parse_csv, parse_csv_as, read_cells, read_csv,
    read_records, regular_file,
};
pub use cut::{Candidate, CutValue, Cuts, Specialization, most_leaves};
pub use decimal::Decimal;
pub use identifiers::Normalization;
pub use numeric::{MAX_POINTS, NumericDomain};
pub use schema::{Attribute, Class, Domain, Identifier, MAX_SET_CHILDREN, OnBadValue, Schema};
pub use taxonomy::{MAX_DEPTH, MAX_VALUES, Taxonomy, TaxonomyBuilder, ValueId};
pub use text::{MAX_TEXT, clean_text, is_formula, nearest};

/// Errors in the description of a table. Each says what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A number that is not an exact decimal.
    #[error(
        "`{0}` is not a decimal number: write digits with an optional sign and decimal point, \
         such as 12 or -0.5, without exponent, leading zeros or spaces"
    )]
    NotADecimal(String),
    /// A number with more digits than can be held exactly.
    #[error("`{0}` has too many digits: use at most 18 before and 9 after the decimal point")]
    TooManyDigits(String),
    /// A name that cannot be shown or matched safely.
    #[error("`{text}` {why}")]
    BadText {
        /// The text, made printable and truncated.
        text: String,
        /// What is wrong and what to do, as the rest of a sentence.
        why: &'static str,
    },
    /// A taxonomy without any value.
    #[error("the taxonomy is empty: give it a root, such as {{ Any = [\"a\", \"b\"] }}")]
    EmptyTaxonomy,
    /// A taxonomy with more than one root.
    #[error("`{0}` is a second root: put all values under one root, such as `Any`")]
    SecondRoot(String),
    /// The same value twice in one taxonomy.
    #[error(
        "`{0}` is in the taxonomy twice: every value must have a name of its own, parents \
         and roots included"
    )]
    DuplicateValue(String),
    /// A taxonomy with too many levels.
    #[error(
        "`{0}` lies deeper than {max} levels: use a flatter taxonomy",
        max = MAX_DEPTH
    )]
    TooDeep(String),
    /// A taxonomy with too many values.
    #[error("the taxonomy has more than {max} values: group rare ones", max = MAX_VALUES)]
    TooManyValues,
    /// A numeric domain whose lower end is above its upper end.
    #[error("min {min} is larger than max {max}: swap them")]
    EmptyRange {
        /// The lower end as given.
        min: Decimal,
        /// The upper end as given.
        max: Decimal,
    },
    /// A step of zero or less.
    #[error("step {0} is not positive: use the distance between two possible splits, such as 1")]
    BadStep(Decimal),
    /// A step that does not fit the range.
    #[error(
        "step {step} does not divide the range from min to max: use max {below} or {above}, or \
         another step"
    )]
    StepDoesNotDivide {
        /// The step as given.
        step: Decimal,
        /// The nearest smaller upper end that fits.
        below: Decimal,
        /// The nearest larger upper end that fits.
        above: Decimal,
    },
    /// A grid with too many points.
    #[error("the range has more than {max} points: use a larger step", max = MAX_POINTS)]
    TooManyPoints,
    /// A value that cannot be written in a cell such as `a|b`.
    #[error("value `{0}` contains `|`, which separates the values of a set in a cell: rename it")]
    SeparatorInItem(String),
    /// A value of a set attribute with too many children to enumerate their subsets.
    #[error(
        "`{0}` has more than {max} children, too many for a set attribute: add a level between",
        max = MAX_SET_CHILDREN
    )]
    TooManySetChildren(String),
    /// A data file that cannot be read.
    #[error("{file}: cannot be read ({reason}): check the path and the permissions")]
    Unreadable {
        /// As given by the caller.
        file: String,
        /// What the operating system said.
        reason: String,
    },
    /// A data file whose first line does not name the columns that the agreement requires.
    #[error("{file}:1: {problem}")]
    BadHeader {
        /// As given by the caller.
        file: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A table in memory whose columns are not those that the agreement requires.
    #[error("{table}: {problem}")]
    BadColumns {
        /// As given by the caller.
        table: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// Records and cells that are not what the agreement allows.
    #[error("{0}")]
    BadValues(Box<BadValues>),
    /// More records than the agreement's public bound.
    #[error(
        "{file}: more than {most} records, the agreement's `max_records`: agree on a larger bound"
    )]
    TooManyRecords {
        /// As given by the caller.
        file: String,
        /// The bound.
        most: u64,
    },
    /// A specialization that the cuts do not allow.
    #[error("{0} cannot be specialized here: both parties must use the same agreement and version")]
    NotACandidate(String),
}
