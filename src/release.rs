//! From tables to a release. [`tree`] is what models by top-down specialization have in common,
//! [`diffgen`] the one that is differentially private.
//!
//! # Example
//!
//! One party's table, released as a CSV file.
//!
//! ```
//! use diptych::agreement::Agreement;
//! use diptych::math::Randomness;
//! use diptych::privacy::Budget;
//! use diptych::release::tree::output::{Rows, write_csv};
//! use diptych::release::diffgen::single;
//! use diptych::table::{Reading, parse_csv};
//!
//! let agreement = r#"
//!     [release]
//!     id = "illnesses"
//!     partition = "local"
//!     epsilon = "1"
//!     specializations = 1
//!     max_records = 1000
//!     [class]
//!     column = "ill"
//!     values = ["yes", "no"]
//!     [[attribute]]
//!     name = "job"
//!     kind = "categorical"
//!     taxonomy = { Any_Job = ["Engineer", "Writer"] }
//! "#;
//! let agreement =
//!     Agreement::parse("a.toml", agreement.as_bytes(), &|_| Err("no files here".to_owned()))?;
//! let (schema, max_records) = (&agreement.schema, agreement.max_records);
//! let reading = Reading { schema, owner: None, identifier: None, max_records };
//! let data = "job,ill\n".to_owned() + &"Engineer,no\n".repeat(300) + &"Writer,yes\n".repeat(300);
//! let table = parse_csv("people.csv", data.as_bytes(), &reading, &|_| ())?;
//!
//! let (budget, mut rng) = (Budget::new(&agreement.epsilon), Randomness::from_os()?);
//! let release = single::release(&agreement, &table, budget, &mut rng, &|_| ())?;
//! let mut csv = Vec::new();
//! let rows = write_csv(&release.table, Rows::All, &mut csv)?;
//! assert!(csv.starts_with(b"job,ill,count\nEngineer,yes,"));
//! assert_eq!(rows, 4, "two jobs, ill or not");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod diffgen;
pub mod tree;

/// How far a run has come. Phases follow each other; a phase ends when the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A phase began that has so many items before it.
    Began {
        /// Its name.
        phase: &'static str,
        /// How many items.
        total: usize,
    },
    /// So many items were just done.
    Advanced(usize),
    /// The last phase is over.
    Ended,
}
