//! What the parties declare in [release] for people: purpose, retention, contacts, and the last day.

use super::super::Declared;
use super::super::form::{Form, Section};
use super::super::problem::Rule;
use super::Node;
use crate::table::{Date, clean_text_within};

/// The keys of [release] that hold it.
pub(in crate::agreement) const PURPOSE: &str = "purpose";
pub(in crate::agreement) const RETENTION: &str = "retention";
pub(in crate::agreement) const CONTACTS: &str = "contacts";
pub(in crate::agreement) const VALID_UNTIL: &str = "valid_until";

/// Longest purpose or retention, in characters.
const MAX_PARAGRAPH: usize = 1_000;
const MAX_CONTACTS: usize = 16;

/// Takes the keys; nothing if one of them cannot be read.
pub(super) fn read(form: &mut Form<'_>, section: &mut Section) -> Option<Declared> {
    let purpose = paragraph(form, section, PURPOSE, "\"monitoring of late payments\"");
    let retention = paragraph(form, section, RETENTION, "\"inputs are deleted after 30 days\"");
    let contacts = match section.take(CONTACTS) {
        None => Some(Vec::new()),
        Some(node) => {
            let example = "[\"Bank: dpo@bank.example\"]";
            form.distinct_texts(node, &section.name_of(CONTACTS), 1..=MAX_CONTACTS, example)
        }
    };
    let valid_until = match section.take(VALID_UNTIL) {
        None => Some(None),
        Some(node) => day(form, node, &section.name_of(VALID_UNTIL)).map(Some),
    };
    Some(Declared {
        purpose: purpose?,
        retention: retention?,
        contacts: contacts?,
        valid_until: valid_until?,
    })
}

/// A text of several sentences; the outer `None` if it cannot be read.
#[allow(clippy::option_option, reason = "a key that is not there is a result")]
fn paragraph(
    form: &mut Form<'_>,
    section: &mut Section,
    key: &str,
    example: &str,
) -> Option<Option<String>> {
    let Some(node) = section.take(key) else { return Some(None) };
    let (at, what) = (node.at, section.name_of(key));
    let text = form.raw_text(node, &what, example)?;
    let clean = clean_text_within(&text, MAX_PARAGRAPH);
    form.checked(Rule::BadText, at, &what, clean).map(Some)
}

/// A day of the calendar, as ISO 8601 writes it: such days sort as texts.
fn day(form: &mut Form<'_>, node: Node, what: &str) -> Option<String> {
    let at = node.at;
    let text = form.raw_text(node, what, "\"2027-03-31\"")?;
    if Date::parse(&text).is_ok() {
        return Some(text);
    }
    let written: String = text.chars().take(40).collect();
    let message = format!("{what} cannot be {written:?}: there is no such day");
    form.note(Rule::BadText, at, message, "write year, month and day, such as \"2027-03-31\"");
    None
}

#[cfg(test)]
mod tests {
    use super::Date;

    #[test]
    fn a_day_is_one_of_the_calendar() {
        for day in ["2027-03-31", "2028-02-29", "2000-02-29", "0001-01-01", "9999-12-31"] {
            assert!(Date::parse(day).is_ok(), "{day}");
        }
        for no_day in [
            "0000-01-01",
            "2027-02-29",
            "2100-02-29",
            "2027-04-31",
            "2027-13-01",
            "2027-00-01",
            "2027-01-00",
            "2027-1-1",
            "20270331",
            "2027-03-31Z",
            "+027-03-31",
            "31.03.2027",
            "2027-03-3é",
            "",
        ] {
            assert!(Date::parse(no_day).is_err(), "{no_day}");
        }
    }
}
