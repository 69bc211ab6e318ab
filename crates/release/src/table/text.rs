//! Names and values as people write them: what is allowed, and what was probably meant.

use super::Decimal;
use crate::Error;
use unicode_normalization::UnicodeNormalization;

/// Longest name or value, in characters.
pub const MAX_TEXT: usize = 128;

/// A name or value as it is stored: Unicode NFC, so that two spellings of one text are one.
///
/// Refused: empty and overlong text, white space at either end, control characters, and invisible
/// characters with which a page could show something other than what is signed.
///
/// # Errors
/// It says which of these it was.
pub fn clean_text(text: &str) -> Result<String, Error> {
    clean_text_within(text, MAX_TEXT)
}

/// The same for a text of another length, in characters.
///
/// # Errors
/// As [`clean_text`].
pub fn clean_text_within(text: &str, longest: usize) -> Result<String, Error> {
    let bad = |why: &str| Err(Error::input(format!("`{}` {why}", shown(text))));
    if text.is_empty() {
        return bad("is empty: give it a name");
    }
    if text.chars().nth(longest).is_some() {
        return bad(&format!("is longer than {longest} characters: shorten it"));
    }
    if text.chars().any(|c| c.is_control() || c == '\u{2028}' || c == '\u{2029}') {
        return bad("contains a control character or line break: remove it");
    }
    if text.trim() != text {
        return bad("begins or ends with white space: remove it");
    }
    if text.chars().any(is_deceptive) {
        return bad("contains an invisible character: type the text again instead of pasting it");
    }
    Ok(text.nfc().collect())
}

/// Whether a spreadsheet that opens a CSV file would take a cell for a formula and run it. Numbers are
/// numbers there, whatever their sign.
pub fn is_formula(cell: &str) -> bool {
    cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && Decimal::parse(cell).is_err()
}

/// Characters that show nothing or turn the direction of what follows. The two joiners that
/// Persian and Indic scripts need are not among them.
fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// `text` for an error message: escaped, and cut short.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

/// The one of `known` that was probably meant by `written`, if any is near enough.
///
/// Costs one edit distance per known text; meant for error messages only.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written: Vec<char> = written.chars().take(MAX_TEXT).flat_map(char::to_lowercase).collect();
    known
        .into_iter()
        .map(|candidate| (edit_distance(&written, candidate), candidate))
        .filter(|(distance, candidate)| {
            *distance <= 1.max(candidate.chars().count().min(written.len()) / 3)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions and replacements from one to the other, whatever the case.
fn edit_distance(written: &[char], candidate: &str) -> usize {
    let mut row: Vec<usize> = (0..=written.len()).collect();
    for (i, c) in candidate.chars().flat_map(char::to_lowercase).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, w) in written.iter().enumerate() {
            let replaced = diagonal + usize::from(*w != c);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[written.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_kept_in_its_composed_form() {
        assert_eq!(clean_text("Cafe\u{301}").unwrap(), "Caf\u{e9}");
        assert_eq!(clean_text("می\u{200c}خواهم").unwrap(), "می\u{200c}خواهم");
    }

    #[test]
    fn text_that_could_deceive_or_break_a_line_is_refused() {
        let long = "a".repeat(MAX_TEXT + 1);
        for text in [
            "",
            " a",
            "a ",
            "a\tb",
            "a\nb",
            "a\u{2028}b",
            "a\u{202e}b",
            "a\u{200b}b",
            "\u{feff}a",
            &long,
        ] {
            assert!(clean_text(text).is_err(), "{text:?}");
        }
        assert!(clean_text(&"a".repeat(MAX_TEXT)).is_ok());
    }

    #[test]
    fn the_nearest_known_text_is_found_and_a_far_one_is_not() {
        let known = ["epsilon", "partition", "id", "profile"];
        assert_eq!(nearest("epsilom", known), Some("epsilon"));
        assert_eq!(nearest("Epsilon", known), Some("epsilon"));
        assert_eq!(nearest("partitoin", known), Some("partition"));
        assert_eq!(nearest("colour", known), None);
    }
}
