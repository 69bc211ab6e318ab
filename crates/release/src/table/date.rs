//! Dates: the proleptic Gregorian calendar from year 1 to 9999, and how cells write a date.

use super::{Decimal, text};
use crate::Error;
use std::fmt;

/// A day: day 1 is 0001-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(u32);

/// Where a range of dates may be split: at the beginnings of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DateStep {
    /// Every day.
    Day,
    /// The first of every month.
    Month,
    /// The first of January, April, July and October.
    Quarter,
    /// The first of January.
    Year,
}

/// How a date is written in a cell: `%Y` (four digits), `%m` and `%d` (two digits, or one where
/// no two fields touch), each once, with any of `- . / _` and spaces between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFormat {
    text: String,
    parts: Vec<Part>,
    /// Whether two fields touch, so that their lengths are fixed.
    touching: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Year,
    Month,
    Day,
    Separator(u8),
}

const LAST_DAY: u32 = 3_652_059;

impl Date {
    /// The day of a year, month and day of the month, if there is one.
    pub fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let valid = (1..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day);
        let before: u32 = (1..month.min(13)).map(|earlier| days_in(year, earlier)).sum();
        valid.then(|| Self(days_before(year) + before + day))
    }

    /// Reads `2026-11-18`.
    ///
    /// # Errors
    /// Text that is not such a date.
    pub fn parse(written: &str) -> Result<Self, Error> {
        let fixed = written.len() == 10;
        DateFormat::iso().read(written).filter(|_| fixed).ok_or_else(|| {
            Error::input(format!(
                "`{}` is not a date: write year, month and day, such as 2026-11-18",
                text::shown(written)
            ))
        })
    }

    /// Year, month and day of the month.
    pub fn parts(self) -> (u32, u32, u32) {
        // A year has at least 365 days, so this guess is at most a few years too late.
        let mut year = ((self.0 - 1) / 365 + 1).min(9999);
        while days_before(year) >= self.0 {
            year -= 1;
        }
        let (mut month, mut day) = (1, self.0 - days_before(year));
        while day > days_in(year, month) {
            day -= days_in(year, month);
            month += 1;
        }
        (year, month, day)
    }

    /// The number of the day.
    pub fn day(self) -> Decimal {
        i64::from(self.0).into()
    }

    /// The date of a day's number; those before the first or after the last mean these.
    pub fn of_day(day: Decimal) -> Self {
        let day = day.floor_units(0).clamp(1, i128::from(LAST_DAY));
        Self(u32::try_from(day).unwrap_or(LAST_DAY))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.parts();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl DateStep {
    /// Each with its word in an agreement, the finest first.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("day", Self::Day),
        ("month", Self::Month),
        ("quarter", Self::Quarter),
        ("year", Self::Year),
    ];

    /// The word.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, step)| *step == self).map_or("", |(word, _)| word)
    }

    /// The beginnings after `min` and up to `max`.
    pub(super) fn between(self, min: Date, max: Date) -> Vec<Date> {
        let (from, to) = (min.parts().0, max.parts().0);
        let months: &[u32] = match self {
            Self::Day => return (min.0 + 1..=max.0).map(Date).collect(),
            Self::Month => &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
            Self::Quarter => &[1, 4, 7, 10],
            Self::Year => &[1],
        };
        let firsts =
            (from..=to).flat_map(|year| months.iter().filter_map(move |m| Date::new(year, *m, 1)));
        firsts.filter(|first| min < *first && *first <= max).collect()
    }
}

impl DateFormat {
    /// `%Y-%m-%d`.
    pub fn iso() -> Self {
        let dash = Part::Separator(b'-');
        let parts = vec![Part::Year, dash, Part::Month, dash, Part::Day];
        Self { text: "%Y-%m-%d".to_owned(), parts, touching: false }
    }

    /// Reads a format.
    ///
    /// # Errors
    /// Text that is not one.
    pub fn parse(format: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::input(format!(
                "`{}` is not a format: use %Y, %m and %d once each, with - . / _ or spaces between \
                 them, such as %d.%m.%Y",
                text::shown(format)
            ))
        };
        let mut parts = Vec::new();
        let mut bytes = format.bytes().take(32);
        while let Some(byte) = bytes.next() {
            parts.push(match byte {
                b'%' => match bytes.next() {
                    Some(b'Y') => Part::Year,
                    Some(b'm') => Part::Month,
                    Some(b'd') => Part::Day,
                    _ => return Err(wrong()),
                },
                b'-' | b'.' | b'/' | b'_' | b' ' => Part::Separator(byte),
                _ => return Err(wrong()),
            });
        }
        let is_field = |part: &Part| !matches!(part, Part::Separator(_));
        let once = |wanted: Part| parts.iter().filter(|part| **part == wanted).count() == 1;
        // White space around a cell means nothing, so a format has none there.
        let ends = parts.first().is_some_and(is_field) && parts.last().is_some_and(is_field);
        if !(ends
            && format.len() <= 32
            && [Part::Year, Part::Month, Part::Day].into_iter().all(once))
        {
            return Err(wrong());
        }
        let touching = parts.windows(2).any(|pair| pair.iter().all(is_field));
        Ok(Self { text: format.to_owned(), parts, touching })
    }

    /// As it is written in an agreement.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The date that a cell holds.
    pub fn read(&self, cell: &str) -> Option<Date> {
        let mut rest = cell.as_bytes();
        let (mut year, mut month, mut day) = (0, 0, 0);
        for part in &self.parts {
            let (field, most, least) = match part {
                Part::Separator(byte) => {
                    rest = rest.strip_prefix(&[*byte])?;
                    continue;
                }
                Part::Year => (&mut year, 4, 4),
                Part::Month => (&mut month, 2, if self.touching { 2 } else { 1 }),
                Part::Day => (&mut day, 2, if self.touching { 2 } else { 1 }),
            };
            let digits = rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
            if digits < least {
                return None;
            }
            let (number, after) = rest.split_at(digits);
            *field = number.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
            rest = after;
        }
        if rest.is_empty() { Date::new(year, month, day) } else { None }
    }
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 0001-01-01 to the first day of a year.
fn days_before(year: u32) -> u32 {
    let past = year - 1;
    past * 365 + past / 4 - past / 100 + past / 400
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn days_are_numbered_as_by_datetime_of_python() {
        // datetime.date(…).toordinal()
        for (written, day) in [
            ("0001-01-01", 1),
            ("0004-02-29", 1_155),
            ("1582-10-15", 577_736),
            ("1600-02-29", 584_082),
            ("1899-12-31", 693_595),
            ("1900-03-01", 693_655),
            ("1970-01-01", 719_163),
            ("2000-02-29", 730_179),
            ("2024-12-31", 739_251),
            ("2026-11-18", 739_938),
            ("2100-03-01", 766_704),
            ("9999-12-31", 3_652_059),
        ] {
            let date = Date::parse(written).unwrap();
            assert_eq!(date.day(), i64::from(day).into(), "{written}");
            assert_eq!(date.to_string(), written);
        }
    }

    #[test]
    fn what_is_not_a_date_is_refused() {
        for wrong in [
            "",
            "2026",
            "2026-02-29",
            "2100-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "0000-01-01",
            "2026-1-1",
            "2026-01-01T00:00",
            " 2026-01-01",
            "+026-01-01",
            "10000-01-01",
            "2026-04-31",
            "２０２６-01-01",
        ] {
            assert!(Date::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn formats_read_what_they_say() {
        let read = |format: &str, cell: &str| {
            DateFormat::parse(format).unwrap().read(cell).map(|date| date.to_string())
        };
        let day = Some("2026-11-08".to_owned());
        assert_eq!(read("%d.%m.%Y", "08.11.2026"), day);
        assert_eq!(read("%d.%m.%Y", "8.11.2026"), day);
        assert_eq!(read("%m/%d/%Y", "11/8/2026"), day);
        assert_eq!(read("%Y%m%d", "20261108"), day);
        assert_eq!(read("%Y%m%d", "2026118"), None, "it could be the 1st of the 18th");
        assert_eq!(read("%d. %m. %Y", "8. 11. 2026"), day);
        assert_eq!(read("%d.%m.%Y", "2026-11-08"), None);
        assert_eq!(read("%d.%m.%Y", "08.11.26"), None);
        for wrong in
            ["", "%Y", "%Y-%m", "%Y-%m-%d-%d", "%y-%m-%d", "%Y-%m-%d ", "Y-m-d", "%", "%Y,%m,%d"]
        {
            assert!(DateFormat::parse(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn every_day_is_written_and_read_again(day in 1..=LAST_DAY) {
            let date = Date(day);
            prop_assert_eq!(Date::parse(&date.to_string()).unwrap(), date);
            let (year, month, of_month) = date.parts();
            let written = format!("{of_month}/{month}/{year:04}");
            prop_assert_eq!(DateFormat::parse("%d/%m/%Y").unwrap().read(&written), Some(date));
        }

        #[test]
        fn garbage_is_read_without_a_panic(format in "\\PC{0,40}", cell in "\\PC{0,40}", near in "[%Ymd/. -]{0,12}") {
            let _ = (Date::parse(&cell), DateFormat::iso().read(&cell), DateFormat::parse(&format));
            if let Ok(format) = DateFormat::parse(&near) {
                let _ = format.read(&cell);
            }
        }
    }
}
