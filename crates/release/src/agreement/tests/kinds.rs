//! Each kind of column, from the words of an agreement to the values of a release.

use crate::Error;
use crate::agreement::Agreement;
use crate::table::{Candidate, Column, CutValue, Cuts, Domain, Reading, Schema, Table, parse_csv};
use proptest::prelude::*;
use std::sync::Arc;

const HEAD: &str = "[release]\nid = \"x\"\npartition = \"local\"\nepsilon = \"1\"\nmax_records = 100\n\
                    [class]\ncolumn = \"class\"\nvalues = [\"Y\", \"N\"]\n";

fn parsed(attribute: &str) -> Result<Agreement, Error> {
    let text = format!("{HEAD}[[attribute]]\nname = \"a\"\n{attribute}\n");
    Agreement::parse("a.toml", text.as_bytes(), &|_| Err(String::new()))
}

fn schema_of(attribute: &str) -> Arc<Schema> {
    parsed(attribute).unwrap().schema
}

fn read(attribute: &str, cells: &[&str]) -> Result<Table, Error> {
    let schema = schema_of(attribute);
    let text: String = cells.iter().map(|cell| format!("{cell},Y\n")).collect();
    let reading = Reading { schema: &schema, owner: None, identifier: None, max_records: 100 };
    parse_csv("t.csv", format!("a,class\n{text}").as_bytes(), &reading, &|_| ())
}

/// Each cell as the release writes it where nothing is generalized.
fn written(attribute: &str, cells: &[&str]) -> Vec<String> {
    let table = read(attribute, cells).unwrap();
    let schema = schema_of(attribute);
    let cuts = Cuts::topmost(&schema);
    let name = |value| cuts.name(Candidate { attribute: 0, value });
    match (table.column(0).unwrap(), &schema.attributes[0].domain) {
        (Column::Numeric(points), _) => points
            .iter()
            .map(|point| name(CutValue::Interval { start: *point, end: point + 1 }))
            .collect(),
        (Column::Categorical(codes), Domain::Categorical(taxonomy)) => codes
            .iter()
            .map(|code| name(CutValue::Value(taxonomy.leaves()[usize::from(*code)])))
            .collect(),
        (Column::Set(sets), Domain::Set(taxonomy)) => (0..sets.len())
            .map(|record| {
                let items = sets.items(record).iter();
                let names = items.map(|code| taxonomy.name(taxonomy.leaves()[usize::from(*code)]));
                names.collect::<Vec<_>>().join("|")
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn refused(attribute: &str, cell: &str) -> String {
    read(attribute, &[cell]).unwrap_err().to_string()
}

#[test]
fn numbers_are_found_between_edges() {
    let edges = "kind = \"numeric\"\nedges = [0, 0.5, 1, 2, 5, 10]";
    assert_eq!(
        written(edges, &["0", "0.4999", "0.5", "2", "10", "4.99999999999"]),
        ["[0, 0.5)", "[0, 0.5)", "[0.5, 1)", "[2, 5)", "[5, 10]", "[2, 5)"]
    );
    assert!(refused(edges, "10.1").contains("the nearest value allowed is 10"));
    let log = "kind = \"numeric\"\nscale = \"log\"\nmin = \"0.1\"\nmax = 15";
    assert_eq!(written(log, &["0.1", "7", "15"]), ["[0.1, 0.2)", "[5, 10)", "[10, 15]"]);
}

#[test]
fn dates_are_read_in_the_agreed_format_and_written_in_iso_8601() {
    let range = "kind = \"date\"\nmin = \"2019-01-01\"\nmax = \"2021-12-31\"";
    let years = format!("{range}\nstep = \"year\"");
    assert_eq!(
        written(&years, &["2019-12-31", "2020-01-01", "2021-12-31"]),
        ["[2019-01-01, 2020-01-01)", "[2020-01-01, 2021-01-01)", "[2021-01-01, 2021-12-31]"]
    );
    assert_eq!(written(range, &["2020-02-29"]), ["[2020-02-01, 2020-03-01)"]);
    let german = format!("{range}\nformat = \"%d.%m.%Y\"\non_bad_value = \"2020-06-01\"");
    assert_eq!(
        written(&german, &["1.3.2020", "2020-03-01"]),
        ["[2020-03-01, 2020-04-01)", "[2020-06-01, 2020-07-01)"]
    );
    assert!(refused(range, "2020-02-30").contains("is not a date written as %Y-%m-%d"));
    assert!(refused(range, "2018-12-31").contains("the nearest date allowed is 2019-01-01"));
    assert!(refused(range, "").contains("is empty, which is not a date"));
}

#[test]
fn booleans_are_read_in_all_their_spellings() {
    let boolean = "kind = \"boolean\"";
    let yes = ["true", "TRUE", "t", "yes", "Yes", "y", "1"];
    assert!(written(boolean, &yes).iter().all(|it| it == "true"));
    let no = ["false", "False", "f", "NO", "n", "0"];
    assert!(written(boolean, &no).iter().all(|it| it == "false"));
    for cell in ["2", "any", "missing", "truest", "ja", ""] {
        let message = refused(boolean, cell);
        assert!(message.contains("true") || message.contains("is empty"), "{message}");
    }
    let either = "kind = \"boolean\"\non_bad_value = \"false\"\nmissing = \"category\"";
    assert_eq!(written(either, &["ja", "", "1"]), ["false", "missing", "true"]);
}

#[test]
fn missing_values_are_a_category_where_that_is_agreed() {
    let missing = "missing = \"category\"\nmissing_values = [\"\", \"NA\"]";
    for (kind, cell, expected) in [
        ("kind = \"numeric\"\nmin = 0\nmax = 9\nstep = 1", "0", "[0..0]"),
        ("kind = \"numeric\"\nedges = [0, 5, 9]", "5", "[5, 9]"),
        (
            "kind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2020-12-31\"",
            "2020-12-09",
            "[2020-12-01, 2020-12-31]",
        ),
        ("kind = \"categorical\"\ntaxonomy = { Any = [\"a\", \"b\"] }", "b", "b"),
        ("kind = \"boolean\"", "no", "false"),
        ("kind = \"set\"\ntaxonomy = { Any = [\"a\", \"b\"] }", "a|b", "a|b"),
    ] {
        let attribute = format!("{kind}\n{missing}");
        assert_eq!(written(&attribute, &["", " NA ", cell]), ["missing", "missing", expected]);
        assert!(read(&attribute, &["?"]).is_err(), "{kind}");
        assert!(read(kind, &[""]).is_err(), "{kind}");
        let dropped = format!("{kind}\nmissing = \"drop\"");
        assert_eq!(written(&dropped, &["", cell]), [expected], "{kind}");
        assert!(read(&dropped, &["?"]).is_err(), "on_bad_value still decides on others");
    }
    let constant = "kind = \"numeric\"\nmin = 0\nmax = 9\nstep = 1\nmissing = 4";
    assert_eq!(written(constant, &["", "3"]), ["[4..4]", "[3..3]"]);
}

#[test]
fn values_out_of_range_are_counted_where_they_become_the_nearest_end() {
    let nearest = "kind = \"numeric\"\nmin = 0\nmax = 9\nstep = 1\noutside = \"nearest\"\n\
                   on_bad_value = \"drop\"";
    assert_eq!(
        written(nearest, &["-3", "10", "x", "99.5", "4"]),
        ["[0..0]", "[9..9]", "[9..9]", "[4..4]"]
    );
    assert_eq!(read(nearest, &["-3", "10", "x", "99.5", "4"]).unwrap().outside(0), 3);
    let dates = "kind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2020-12-31\"\n\
                 outside = \"nearest\"\nmissing = \"category\"";
    assert_eq!(
        written(dates, &["1999-01-01", "2031-05-05", ""]),
        ["[2020-01-01, 2020-02-01)", "[2020-12-01, 2020-12-31]", "missing"]
    );
}

proptest! {
    #[test]
    fn garbage_in_cells_of_every_kind_is_refused_or_read(cell in "[^,\"\r\n]{0,20}", missing: bool) {
        for kind in [
            "kind = \"numeric\"\nedges = [0, 0.5, 9]\noutside = \"nearest\"",
            "kind = \"date\"\nmin = \"0001-01-01\"\nmax = \"9999-12-31\"\nformat = \"%Y%m%d\"",
            "kind = \"boolean\"",
        ] {
            let rule = if missing { "missing = \"category\"" } else { "" };
            let _ = read(&format!("{kind}\n{rule}"), &[&cell]);
        }
    }
}

#[test]
fn every_kind_has_words_and_one_canonical_form() {
    for (attribute, form, words) in [
        (
            "kind = \"numeric\"\nscale = \"log\"\nmin = 1\nmax = 20",
            "\"edges\":[\"1\",\"2\",\"5\",\"10\",\"20\"],\"kind\":\"numeric\"",
            "a number from 1 to 20, which may be divided at 2, 5, and so on up to 10.",
        ),
        (
            "kind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2021-12-31\"\nstep = \"year\"",
            "\"format\":\"%Y-%m-%d\",\"kind\":\"date\",\"max\":\"2021-12-31\",\"min\":\"2020-01-01\"",
            "a date from 2020-01-01 to 2021-12-31, which may be divided at 2021-01-01. If",
        ),
        (
            "kind = \"boolean\"\nmissing = \"category\"\nmissing_values = [\"\", \"NA\"]",
            "\"kind\":\"boolean\",\"missing\":\"category\",\"missing_values\":[\"\",\"NA\"]",
            "true or false. If a cell is empty or `NA`: it counts as `missing`, a value of its own.",
        ),
        (
            "kind = \"numeric\"\nmin = 0\nmax = 9\nstep = 3\noutside = \"nearest\"\nmissing = \"drop\"",
            "\"missing\":\"drop\",\"name\":\"a\",\"on_bad_value\":\"refuse\",\"outside\":\"nearest\"",
            "If a cell is empty: the record is left out. A value outside counts as the nearest end.",
        ),
        (
            "kind = \"categorical\"\ntaxonomy = { Any = [\"a\", \"b\"] }\nmissing = \"category\"",
            "\"taxonomy\":{\"children\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"name\":\"Any\"}",
            "Any (a, b, missing)",
        ),
    ] {
        let agreement = parsed(attribute).unwrap();
        let canonical = agreement.canonical();
        assert!(canonical.contains(form), "{canonical}");
        let again = Agreement::from_canonical(canonical.as_bytes()).unwrap();
        assert_eq!((again.hash(), &again.schema), (agreement.hash(), &agreement.schema));
        let page = agreement.plain_words();
        assert!(page.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{page}");
    }
}

#[test]
fn keys_of_other_kinds_and_wrong_values_are_refused_with_a_remedy() {
    let date = "kind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2021-12-31\"";
    for (attribute, why) in [
        (
            "kind = \"numeric\"\nedges = [0, 1]\nmin = 0".to_owned(),
            "`min` in attribute `a` does not apply",
        ),
        ("kind = \"numeric\"\nedges = [0, 2, 1]".to_owned(), "edge 1 follows 2"),
        ("kind = \"numeric\"\nedges = [0, 1e3]".to_owned(), "is not a decimal number"),
        ("kind = \"numeric\"\nedges = 5".to_owned(), "such as [0, 0.5, 1, 2, 5, 10]"),
        ("kind = \"numeric\"\nmin = 0\nmax = 9\nscale = \"log\"".to_owned(), "is not positive"),
        ("kind = \"numeric\"\nmin = 1\nmax = 9\nscale = \"lin\"".to_owned(), "cannot be \"lin\""),
        ("kind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2019-01-01\"".to_owned(), "swap them"),
        ("kind = \"date\"\nmin = 2020-01-01\nmax = \"2021-01-01\"".to_owned(), "text in quotes"),
        (format!("{date}\nstep = \"week\""), "cannot be \"week\""),
        (format!("{date}\nformat = \"%d.%m.%y\""), "use %Y, %m and %d once each"),
        (format!("{date}\non_bad_value = \"2022-01-01\""), "a date from 2020-01-01 to 2021-12-31"),
        (format!("{date}\nmissing_values = [\"NA\"]"), "nothing is said about missing values"),
        (format!("{date}\nmissing = \"category\"\nmissing_values = [\" NA\"]"), "without spaces"),
        // What a page could show as something other than what is signed.
        (
            format!("{date}\nmissing = \"category\"\nmissing_values = [\"\\u202e\"]"),
            "cannot be seen",
        ),
        ("kind = \"boolean\"\ntaxonomy = { A = [\"b\"] }".to_owned(), "`true` and `false`"),
        (
            "kind = \"boolean\"\noutside = \"nearest\"".to_owned(),
            "only numbers and dates have a range",
        ),
        (
            "kind = \"categorical\"\ntaxonomy = { A = [\"missing\"] }\nmissing = \"category\""
                .to_owned(),
            "twice",
        ),
    ] {
        let message = parsed(&attribute).unwrap_err().to_string();
        assert!(message.contains(why), "{attribute}: {message}");
    }
}
