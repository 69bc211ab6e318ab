//! What is wrong with an agreement, where, and what to do about it.

use std::fmt;

use crate::Error;

/// Most problems that are kept; more would only hide the first ones.
const MAX_PROBLEMS: usize = 40;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of rule, for programs.
    pub rule: Rule,
    /// Where it is, if it came from a file.
    pub location: Option<Location>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// A place in a file, counted from 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file's name as the caller gave it.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The kinds of rules an agreement can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// Not TOML, not JSON, or not UTF-8.
    Syntax,
    /// Too large, too many, or too deeply nested.
    TooLarge,
    /// A key that means nothing.
    UnknownKey,
    /// A key that must be there.
    MissingKey,
    /// A number where text is needed, and the like.
    WrongType,
    /// A word that is not one of those allowed.
    UnknownWord,
    /// Text that is not written as it must be.
    BadText,
    /// A number that is not exact or not within its limits.
    OutOfRange,
    /// Two things that must differ are the same.
    Duplicate,
    /// Something that does not go with this partition, profile or kind of attribute.
    DoesNotApply,
    /// A taxonomy that is not a tree of distinct values within limits.
    Taxonomy,
    /// A taxonomy file that cannot be read.
    TaxonomyFile,
    /// A place that is still to be filled in.
    ToDo,
    /// Something that has no effect here. Only remarks have it.
    NoEffect,
}

impl Rule {
    /// A stable name, used in test vectors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::TooLarge => "too-large",
            Self::UnknownKey => "unknown-key",
            Self::MissingKey => "missing-key",
            Self::WrongType => "wrong-type",
            Self::UnknownWord => "unknown-word",
            Self::BadText => "bad-text",
            Self::OutOfRange => "out-of-range",
            Self::Duplicate => "duplicate",
            Self::DoesNotApply => "does-not-apply",
            Self::Taxonomy => "taxonomy",
            Self::TaxonomyFile => "taxonomy-file",
            Self::ToDo => "to-do",
            Self::NoEffect => "no-effect",
        }
    }
}

/// All broken rules that were found, in the order of the file. Never empty in an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    found: Vec<Problem>,
    left_out: usize,
}

impl Problems {
    pub(super) fn push(&mut self, problem: Problem) {
        if self.is_full() {
            self.count_one_more();
        } else {
            self.found.push(problem);
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= MAX_PROBLEMS
    }

    pub(super) fn count_one_more(&mut self) {
        self.left_out += 1;
    }

    /// In the order of the file, as far as they are kept.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.found.iter()
    }

    /// How many were found, also of those that are not kept.
    pub fn count(&self) -> usize {
        self.found.len() + self.left_out
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(crate) fn sort(&mut self) {
        let place = |problem: &Problem| {
            problem.location.as_ref().map(|place| (place.file.clone(), place.line, place.column))
        };
        self.found.sort_by_key(place);
    }
}

impl std::error::Error for Problems {}

impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        let error = match problems.count() {
            1 => Self::input(&problems),
            count => Self::input(format!("{count} problems:\n{problems}")),
        };
        error.because(problems)
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self { found: vec![problem], left_out: 0 }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        f.write_str(&self.message)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "\n  {}", self.remedy) }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.found.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        if self.left_out > 0 {
            write!(f, "\nand {} more", self.left_out)?;
        }
        Ok(())
    }
}
