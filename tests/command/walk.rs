//! A table as people have it (dates, missing numbers, semicolons, a byte-order mark), from the first
//! draft of an agreement to the report.

use std::path::Path;

use crate::program::diptych;

const RECOGNIZED: &str = "table.csv: recognized cells separated by semicolons";

fn succeed(place: &Path, arguments: &[&str]) -> (String, String) {
    let (status, said, told) = diptych(place, arguments);
    assert_eq!(status, 0, "{arguments:?}: {told}");
    (said, told)
}

fn write_table(place: &Path) {
    let mut csv = String::from("\u{feff}seen;dose;smoker;ill\n");
    for index in 0..400_usize {
        let (year, month) = (2020 + index % 4, 1 + index % 12);
        let dose = if index % 5 == 0 { String::new() } else { format!("{}.5", index % 9) };
        let smoker = ["yes", "no"][index % 2];
        let ill = if year > 2021 { "Y" } else { "N" };
        csv += &format!("{year}-{month:02}-15;{dose};{smoker};{ill}\n");
    }
    std::fs::write(place.join("table.csv"), csv).unwrap();
}

/// What people fill in, in the order of the draft.
fn fill_in(place: &Path) {
    let path = place.join("agreement.toml");
    let mut text = std::fs::read_to_string(&path).unwrap();
    for (key, value) in [
        ("values", "[\"Y\", \"N\"]"),
        ("min", "\"2020-01-01\""),
        ("max", "\"2023-12-31\""),
        ("min", "0"),
        ("max", "10"),
        ("step", "\"0.5\""),
    ] {
        let start = text.find(&format!("\n{key} = \"TODO")).unwrap() + 1;
        let end = start + text[start..].find('\n').unwrap();
        text.replace_range(start..end, &format!("{key} = {value}"));
    }
    // One step divides one of the three columns.
    let text = text.replace("specializations = \"auto\"", "specializations = 1");
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_table_of_dates_and_missing_numbers_goes_from_a_draft_to_a_report() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    write_table(place);
    let new = ["agreement", "new", "table.csv", "--partition", "local", "--id", "walk"];
    let more = ["--class", "ill", "--epsilon", "8", "--missing", "category"];
    let (_, told) = succeed(place, &[&new[..], &more].concat());
    assert!(told.contains(RECOGNIZED) && told.contains("6 places are left to fill in"), "{told}");
    fill_in(place);
    let (page, told) = succeed(place, &["agreement", "check", "agreement.toml"]);
    assert!(told.contains("about 2 of 3 columns will not be divided"), "{told}");
    assert!(page.contains("2020-01-01") && page.contains("missing"), "{page}");

    let local = ["local", "--agreement", "agreement.toml", "--data", "table.csv", "--out", "out"];
    let (_, told) = succeed(place, &local);
    assert!(told.contains(RECOGNIZED) && told.contains("read 400 records"), "{told}");
    assert!(told.contains("2 of 3 columns were not divided, and have one value"), "{told}");
    let release = std::fs::read_to_string(place.join("out/release.csv")).unwrap();
    assert!(release.starts_with("seen,dose,smoker,ill,count\n"), "{release}");

    let (_, told) =
        succeed(place, &["rows", "--release", "out", "--concrete", "--out", "rows.csv"]);
    assert_eq!(told.matches(": not divided, and left out of these rows").count(), 2, "{told}");
    assert!(told.contains("drawn uniformly within each released value"), "{told}");
    assert!(place.join("rows.csv.json").exists());

    let evaluate = ["evaluate", "--release", "out", "--test", "table.csv", "--train", "table.csv"];
    let (table, told) = succeed(place, &evaluate);
    assert!(told.contains(RECOGNIZED), "{told}");
    assert_eq!(table.matches(": constant in this release").count(), 2, "{table}");
    assert!(table.contains("of the release") && table.contains("of the data"), "{table}");

    succeed(place, &["verify", "out"]);
    succeed(place, &["report", "--release", "out", "--out", "page.html"]);
    let page = std::fs::read_to_string(place.join("page.html")).unwrap();
    assert!(page.contains("Most columns are constant."), "{page}");
    assert_eq!(page.matches("not divided: constant in this release").count(), 2, "{page}");
}
