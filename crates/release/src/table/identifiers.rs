//! Identifiers that two parties can compare: normalised by a stated rule, one row each.
//!
//! `A1` and `a1 ` failing to match in silence is the commonest complaint about
//! private matching, and neither party can look at the other's column. So the
//! rule is something both parties sign, and it is applied before anything else.

use std::borrow::Cow;
use std::fmt;

use crate::Error;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// What is done to every identifier. Written as a list of names in agreements:
/// `["trim", "nfc", "uppercase"]`. The steps are taken in one fixed order
/// (trim, nfc, case), so the order of the list means nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Step>", into = "Vec<Step>")]
pub struct Normalization {
    steps: Vec<Step>,
}

/// One step of a [`Normalization`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Takes white space (Unicode `White_Space`), zero-width spaces and byte
    /// order marks off both ends.
    Trim,
    /// Unicode normalisation form C: `é` in one code point or in two is one.
    Nfc,
    /// Unicode upper case, without regard to any language. The better choice of
    /// the two cases: `ß` meets `SS`, and both forms of sigma meet.
    Uppercase,
    /// Unicode lower case, without regard to any language.
    Lowercase,
}

/// Rows without an identifier, and rows that become the same one; counted from 1, the header not
/// counted. No identifier is repeated in the text, so that it can be logged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.words("row", &|row| Some(row as u64 + 1)))]
pub struct Unusable {
    /// How many rows have none.
    pub empty: usize,
    /// The first few of them.
    pub first_empty: Vec<usize>,
    /// How many rows repeat an earlier one.
    pub repeated: usize,
    /// The first few identifiers that occur more than once: the rows of each.
    pub first_repeated: Vec<Vec<usize>>,
    /// The rule after which they are empty or the same.
    pub rule: Normalization,
}

impl Unusable {
    /// In words that name places, each called `word`, of which `line` knows that of a row from 0; the
    /// row itself where it does not.
    fn words(&self, word: &str, line: &dyn Fn(usize) -> Option<u64>) -> String {
        let places = |rows: &Vec<usize>| {
            let place = |row: &usize| line(row.saturating_sub(1)).unwrap_or(*row as u64);
            let places: Vec<String> = rows.iter().map(|row| place(row).to_string()).collect();
            match places.as_slice() {
                [] => String::new(),
                [one] => format!("{word} {one}"),
                [some @ .., last] => format!("{word}s {} and {last}", some.join(", ")),
            }
        };
        let Self { empty, first_empty, repeated, first_repeated, rule } = self;
        let after = if rule.steps.is_empty() { String::new() } else { format!(" after {rule}") };
        let mut words = Vec::new();
        if *empty > 0 {
            let places = places(first_empty);
            words.push(format!(
                "{empty} record(s) have no identifier{after}: {places}; fill them in or remove the \
                 records"
            ));
        }
        if *repeated > 0 {
            let places = first_repeated.iter().map(places).collect::<Vec<_>>().join("; ");
            words.push(format!(
                "{repeated} record(s) repeat the identifier of another{after}: {places}; keep one \
                 record per individual"
            ));
        }
        words.join(". ")
    }
}

/// An error of a column in words that name lines of a file (or whatever the `word` for it is), where
/// `line` knows that of a row.
pub fn by_line(error: &Error, word: &str, line: &dyn Fn(usize) -> Option<u64>) -> String {
    let words = error.origin().map(|unusable: &Unusable| unusable.words(word, line));
    words.unwrap_or_else(|| error.to_string())
}

/// How many rows, or groups of rows, an error names.
const NAMED: usize = 5;

impl Normalization {
    /// A rule of these steps; a step that is listed twice counts once.
    ///
    /// # Errors
    /// If it has both of the cases.
    pub fn new(mut steps: Vec<Step>) -> Result<Self, Error> {
        if steps.contains(&Step::Uppercase) && steps.contains(&Step::Lowercase) {
            return Err(Error::input(
                "uppercase and lowercase undo each other; choose one of them",
            ));
        }
        steps.sort_unstable();
        steps.dedup();
        Ok(Self { steps })
    }

    /// A rule from the names of its steps, as agreements and the command line write them.
    ///
    /// # Errors
    /// Names the first that is not a step; both of the cases.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, Error> {
        let step = |name: &str| match name {
            "trim" => Ok(Step::Trim),
            "uppercase" => Ok(Step::Uppercase),
            "lowercase" => Ok(Step::Lowercase),
            "nfc" => Ok(Step::Nfc),
            other => Err(Error::input(format!(
                "'{other}' is not a step of normalisation; choose from trim, uppercase, lowercase, nfc"
            ))),
        };
        Self::new(names.into_iter().map(step).collect::<Result<_, _>>()?)
    }

    /// The steps, in the order in which they are taken.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// One identifier after all steps.
    pub fn apply<'a>(&self, identifier: &'a str) -> Cow<'a, str> {
        let mut current = Cow::Borrowed(identifier);
        // Changing the case can leave letters that compose anew.
        let recompose = self.steps.contains(&Step::Nfc).then_some(&Step::Nfc);
        for step in self.steps.iter().chain(recompose) {
            current = match current {
                Cow::Borrowed(text) => step.apply(text),
                Cow::Owned(text) => Cow::Owned(step.apply(&text).into_owned()),
            };
        }
        current
    }

    /// A whole column, normalised and checked: one row per individual. Uses all cores.
    ///
    /// # Errors
    /// [`Unusable`], with the first few rows.
    pub fn column<S: AsRef<str> + Sync>(&self, column: &[S]) -> Result<Vec<String>, Error> {
        let normalized: Vec<String> =
            column.par_iter().map(|raw| self.apply(raw.as_ref()).into_owned()).collect();
        self.check(&normalized)?;
        Ok(normalized)
    }

    /// Sees that every row of a column that is normalised already has an identifier of its own.
    ///
    /// # Errors
    /// [`Unusable`], with the first few rows.
    pub fn check(&self, identifiers: &[String]) -> Result<(), Error> {
        // Sorting row numbers takes far less memory than a set of all identifiers.
        let mut rows: Vec<usize> = (0..identifiers.len()).collect();
        rows.par_sort_unstable_by(|a, b| (&identifiers[*a], a).cmp(&(&identifiers[*b], b)));
        // Empty text comes first.
        let (empty, rows) = rows.split_at(rows.partition_point(|row| identifiers[*row].is_empty()));
        let mut repeated: Vec<&[usize]> = rows
            .chunk_by(|a, b| identifiers[*a] == identifiers[*b])
            .filter(|group| group.len() > 1)
            .collect();
        if empty.is_empty() && repeated.is_empty() {
            return Ok(());
        }
        repeated.sort_unstable_by_key(|group| group[0]);
        let first = |rows: &[usize]| rows.iter().take(NAMED).map(|row| row + 1).collect();
        let unusable = Unusable {
            empty: empty.len(),
            first_empty: first(empty),
            repeated: repeated.iter().map(|group| group.len() - 1).sum(),
            first_repeated: repeated.iter().take(NAMED).map(|group| first(group)).collect(),
            rule: self.clone(),
        };
        Err(Error::input(&unusable).because(unusable))
    }
}

impl TryFrom<Vec<Step>> for Normalization {
    type Error = Error;

    fn try_from(steps: Vec<Step>) -> Result<Self, Error> {
        Self::new(steps)
    }
}

impl From<Normalization> for Vec<Step> {
    fn from(rule: Normalization) -> Self {
        rule.steps
    }
}

impl Step {
    fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self {
            Self::Trim => Cow::Borrowed(text.trim_matches(is_blank)),
            Self::Uppercase if text.is_ascii() => {
                if text.bytes().any(|byte| byte.is_ascii_lowercase()) {
                    Cow::Owned(text.to_ascii_uppercase())
                } else {
                    Cow::Borrowed(text)
                }
            }
            Self::Uppercase => Cow::Owned(text.to_uppercase()),
            Self::Lowercase => Cow::Owned(text.to_lowercase()),
            Self::Nfc => match is_nfc_quick(text.chars()) {
                IsNormalized::Yes => Cow::Borrowed(text),
                _ => Cow::Owned(text.nfc().collect()),
            },
        }
    }

    /// Its name in agreements.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trim => "trim",
            Self::Uppercase => "uppercase",
            Self::Lowercase => "lowercase",
            Self::Nfc => "nfc",
        }
    }
}

impl fmt::Display for Normalization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return f.write_str("none");
        }
        let names: Vec<&str> = self.steps.iter().map(|step| step.name()).collect();
        f.write_str(&names.join(", "))
    }
}

/// White space, and the two invisible characters that come with copied text.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{200b}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Normalization {
        Normalization::parse(["trim", "nfc", "uppercase"]).unwrap()
    }

    #[test]
    fn a_million_identifiers_with_spaces_cases_and_unicode_meet_their_plain_forms() {
        let count = 1_000_000;
        let surnames = ["Müller", "Łuczak", "Nuñez", "Straße", "Ωνάσης", "Иванов", "O'Neil", "李"];
        let plain: Vec<String> =
            (0..count).map(|i| format!("{}-{i:07}", surnames[i % surnames.len()])).collect();
        let blanks = ["", " ", "\t", "\u{a0}", "\u{2003}", "\u{3000}", "\u{feff}", "\u{200b} "];
        let decorated: Vec<String> = plain
            .par_iter()
            .enumerate()
            .map(|(i, name)| {
                let name = match i % 5 {
                    0 => name.to_uppercase(),
                    1 => name.to_lowercase(),
                    2 => name.nfd().collect(),
                    3 => name.to_lowercase().nfd().collect(),
                    _ => name.clone(),
                };
                format!("{}{name}{}", blanks[i % 8], blanks[i / 8 % 8])
            })
            .collect();
        assert!(plain.iter().zip(&decorated).filter(|(a, b)| a != b).count() > count / 2);
        let rule = usual();
        assert_eq!(rule.column(&plain).unwrap(), rule.column(&decorated).unwrap());
    }

    #[test]
    fn without_a_rule_nothing_changes() {
        let rule = Normalization::default();
        assert_eq!(rule.column(&[" a ", "A"]).unwrap(), [" a ", "A"]);
    }

    #[test]
    fn identifiers_that_the_rule_calls_the_same_become_the_same() {
        let apply = |steps: &[&str], text: &str| {
            Normalization::parse(steps.iter().copied()).unwrap().apply(text).into_owned()
        };
        assert_eq!(apply(&[], " a1 "), " a1 ");
        assert_eq!(apply(&["trim"], " a1\u{3000}"), "a1");
        assert_eq!(apply(&["uppercase"], "straße"), "STRASSE");
        assert_eq!(apply(&["lowercase"], "ÀB"), "àb");
        assert_eq!(apply(&["nfc"], "e\u{301}"), "é");
        assert_eq!(apply(&["nfc", "uppercase"], "e\u{301}"), apply(&["nfc", "uppercase"], "É"));
        // The upper case of ΐ comes in three code points, two of which compose.
        assert_eq!(apply(&["uppercase", "nfc"], "ΐ").chars().count(), 2);
    }

    #[test]
    fn the_order_of_the_list_means_nothing() {
        let rule = |steps: [&str; 3]| Normalization::parse(steps).unwrap();
        assert_eq!(rule(["uppercase", "trim", "nfc"]), rule(["trim", "nfc", "uppercase"]));
        assert_eq!(rule(["trim", "trim", "nfc"]).steps(), [Step::Trim, Step::Nfc]);
    }

    #[test]
    fn duplicates_after_normalisation_are_named_by_row() {
        let column = ["a", "b", "A ", "c", "B", "a"];
        let error = usual().column(&column).unwrap_err();
        assert_eq!(
            error.to_string(),
            "3 record(s) repeat the identifier of another after trim, nfc, uppercase: \
             rows 1, 3 and 6; rows 2 and 5; keep one record per individual"
        );
        assert!(Normalization::default().column(&["a", "A ", "b"]).is_ok());
    }

    #[test]
    fn only_the_first_few_duplicates_are_listed() {
        let column: Vec<String> = (0..2000).map(|i| (i / 2).to_string()).collect();
        let error = usual().column(&column).unwrap_err();
        let Unusable { repeated: count, first_repeated: first, .. } = error.origin().unwrap();
        assert_eq!(*count, 1000);
        assert_eq!(first, &[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]);
        let error = usual().column(&["x"; 100]).unwrap_err();
        let Unusable { repeated: count, first_repeated: first, .. } = error.origin().unwrap();
        assert_eq!((*count, first), (99, &vec![vec![1, 2, 3, 4, 5]]));
    }

    #[test]
    fn a_row_without_an_identifier_is_an_error() {
        let error = usual().column(&["a", " \u{feff}", "b"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "1 record(s) have no identifier after trim, nfc, uppercase: row 2; \
             fill them in or remove the records"
        );
    }

    #[test]
    fn empty_and_repeated_identifiers_are_named_together() {
        let error = usual().column(&["a", " ", "A ", "", "b"]).unwrap_err();
        let words = error.to_string();
        assert_eq!(
            words,
            "2 record(s) have no identifier after trim, nfc, uppercase: rows 2 and 4; fill them in or \
             remove the records. 1 record(s) repeat the identifier of another after trim, nfc, \
             uppercase: rows 1 and 3; keep one record per individual"
        );
        let by_line = by_line(&error, "line", &|row| Some(row as u64 + 2));
        assert!(by_line.contains(": lines 3 and 5; ") && by_line.contains(": lines 2 and 4; "));
    }

    #[test]
    fn an_empty_column_is_ordinary() {
        assert!(usual().column::<&str>(&[]).unwrap().is_empty());
    }

    #[test]
    fn rules_are_read_and_written_as_lists_of_names() {
        let rule: Normalization = serde_json::from_str(r#"["trim","uppercase"]"#).unwrap();
        assert_eq!(rule.steps(), [Step::Trim, Step::Uppercase]);
        assert_eq!(serde_json::to_string(&rule).unwrap(), r#"["trim","uppercase"]"#);
        assert_eq!(rule.to_string(), "trim, uppercase");
        let unknown = Normalization::parse(["upper"]).unwrap_err();
        assert!(unknown.message().starts_with("'upper' is not a step"), "{unknown}");
        let both = Normalization::parse(["uppercase", "lowercase"]).unwrap_err();
        assert!(both.message().contains("undo each other"), "{both}");
        let both = serde_json::from_str::<Normalization>(r#"["uppercase","lowercase"]"#);
        assert!(both.is_err());
    }
}
