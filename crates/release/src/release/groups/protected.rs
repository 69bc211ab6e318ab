//! Protected values as somebody writes them. One that is misspelt would protect nobody, and nobody
//! would see it.

use crate::table::nearest;

/// Values among which one is looked for that was meant.
const MOST_COMPARED: usize = 1_000;

/// The values as cells are read: without spaces around them.
pub fn trimmed(written: &[String]) -> Vec<String> {
    written.iter().map(|value| value.trim().to_owned()).collect()
}

/// Sees that values differ and occur among those `known`, and that there are some if their part is
/// `limited`.
///
/// # Errors
/// What is wrong, and what to do.
pub fn check<'k>(
    protect: &[String],
    limited: bool,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Result<(), String> {
    if limited && protect.is_empty() {
        return Err("`c` is below 1, and no value is protected: name some, or leave `c` out".into());
    }
    for (place, value) in protect.iter().enumerate() {
        if protect[..place].contains(value) {
            return Err(format!("the protected value `{value}` is named twice"));
        }
        if !known.clone().any(|one| one == value) {
            let remedy = match nearest(value, known.clone().take(MOST_COMPARED)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "leave it out, or name the right column".to_owned(),
            };
            return Err(format!("nobody has the protected value `{value}`: {remedy}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_would_protect_nobody_are_refused_with_what_was_meant() {
        let known = ["AIDS", "Flu"];
        let said = |written: &[&str], limited| {
            let written: Vec<String> = written.iter().map(|value| (*value).to_owned()).collect();
            check(&trimmed(&written), limited, known.into_iter())
        };
        assert_eq!(said(&[" AIDS ", "Flu"], true), Ok(()));
        assert_eq!(said(&[], false), Ok(()));
        for (written, problem) in [
            (&[][..], "no value is protected"),
            (&["AIDS", "AIDS "], "named twice"),
            (&["AID"], "did you mean `AIDS`?"),
            (&["Cancer"], "nobody has the protected value `Cancer`: leave it out"),
        ] {
            let refused = said(written, true).unwrap_err();
            assert!(refused.contains(problem), "{refused}");
        }
    }
}
