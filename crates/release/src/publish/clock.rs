//! When something happened, for people; and whether an agreement is still valid.

use crate::Error;
use crate::agreement::Agreement;

/// Whether a run under this agreement may begin at this time: until the end of its last day, in UTC.
///
/// # Errors
/// If that day has passed.
pub fn check_valid(agreement: &Agreement, seconds: u64) -> Result<(), Error> {
    let today = utc(seconds);
    match &agreement.declared.valid_until {
        // Days as ISO 8601 writes them sort as texts.
        Some(last) if today.get(..last.len()).is_some_and(|today| today > last.as_str()) => {
            Err(Error::input(format!(
                "the agreement \"{}\" was valid until {last} (`valid_until`), and it is {today}",
                agreement.id
            ))
            .advise(
                "agree on a later day and sign that agreement, which has another hash; if this \
                 computer's date is wrong, correct it",
            ))
        }
        _ => Ok(()),
    }
}

/// `2026-11-16 02:14 UTC`, by the proleptic Gregorian calendar (days from 1 March of year 0).
pub fn utc(seconds: u64) -> String {
    // A clock beyond the year 9999 is a broken clock.
    let seconds = seconds.min(253_402_300_799);
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", rest / 3600, rest / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agreement_is_valid_until_the_end_of_its_last_day() {
        let text = include_str!("../../../../examples/loans/agreement.toml")
            .replace("taxonomy_file = \"job.csv\"", "taxonomy = \"builtin:countries/name\"");
        let parse = |text: &str| {
            Agreement::parse("a.toml", text.as_bytes(), &|_| Err(String::new())).unwrap()
        };
        assert!(check_valid(&parse(&text), u64::MAX).is_ok(), "no last day is agreed");
        let until = text.replace("[release]", "[release]\nvalid_until = \"2100-02-28\"");
        let agreement = parse(&until);
        for (seconds, valid) in [(0, true), (4_107_542_399, true), (4_107_542_400, false)] {
            assert_eq!(check_valid(&agreement, seconds).is_ok(), valid, "{}", utc(seconds));
        }
        let refused = check_valid(&agreement, 4_107_542_400).unwrap_err();
        assert!(refused.message().contains("was valid until 2100-02-28"), "{refused}");
        assert_eq!(refused.status() as u8, 2);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_789_000_000, "2026-09-10 00:26 UTC"),
            (4_107_542_399, "2100-02-28 23:59 UTC"),
            (u64::MAX, "9999-12-31 23:59 UTC"),
        ] {
            assert_eq!(utc(seconds), expected);
        }
    }
}
