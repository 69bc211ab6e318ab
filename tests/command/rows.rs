//! What an analyst makes of a release: rows of people, error bars, intervals.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

use crate::program::diptych;

const AGREEMENT: &str = r#"
[release]
id = "a-release"
partition = "local"
epsilon = "8"
specializations = 4
max_records = 1000
[class]
column = "ill"
values = ["yes", "no"]
[[attribute]]
name = "age"
kind = "numeric"
min = 0
max = 99
step = 5
[[attribute]]
name = "weight"
kind = "numeric"
min = "0.5"
max = "149.5"
step = "0.5"
[[attribute]]
name = "salary"
kind = "numeric"
min = 0
max = 9
step = 1
[[attribute]]
name = "job"
kind = "categorical"
taxonomy = { Any = { Pro = ["Engineer", "Lawyer"], Art = ["Dancer", "Writer"] } }
"#;

fn release() -> tempfile::TempDir {
    release_of(AGREEMENT)
}

fn release_of(agreement: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
    write("agreement.toml", agreement);
    let mut csv = String::from("age,weight,salary,job,ill\n");
    for index in 0..600_usize {
        let (age, weight) = (index * 7 % 100, (index * 13 % 299 + 1) as f64 / 2.0);
        let job = ["Engineer", "Lawyer", "Dancer", "Writer"][index % 4];
        let ill = if age > 50 || weight > 100.0 { "yes" } else { "no" };
        csv += &format!("{age},{weight},{},{job},{ill}\n", index % 10);
    }
    write("table.csv", &csv);
    let local = ["local", "--agreement", "agreement.toml", "--data", "table.csv", "--out", "out"];
    let (status, _, told) = diptych(place.path(), &local);
    assert_eq!(status, 0, "{told}");
    place
}

fn table(place: &Path, name: &str) -> Vec<Vec<String>> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).from_path(place.join(name)).unwrap();
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// How often each combination of values and class is there.
fn counted(rows: &[Vec<String>]) -> BTreeMap<Vec<String>, u64> {
    let mut counts = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(row.clone()).or_insert(0) += 1);
    counts
}

#[test]
fn a_release_becomes_one_row_for_each_person_that_it_counts() {
    let place = release();
    let place = place.path();
    let (status, said, told) = diptych(place, &["rows", "--release", "out", "--out", "rows.csv"]);
    assert_eq!((status, said.trim()), (0, "rows.csv"), "{told}");
    let (release, rows) = (table(place, "out/release.csv"), table(place, "rows.csv"));
    assert_eq!(rows[0], release[0][..5]);
    // Also the columns that were not divided: their one value says that they were not.
    let about = about(place, "rows.csv");
    assert_eq!(about["values"], "released");
    assert!(about["columns"].as_array().unwrap().iter().all(|column| column["in_rows"] == true));
    let expected: BTreeMap<Vec<String>, u64> = release[1..]
        .iter()
        .map(|row| (row[..5].to_vec(), row[5].parse().unwrap()))
        .filter(|(_, count)| *count > 0)
        .collect();
    assert_eq!(counted(&rows[1..]), expected);
    assert!(told.contains(&format!("wrote {} rows", rows.len() - 1)), "{told}");
    let (status, _, told) = diptych(place, &["rows", "--release", "out", "--out", "rows.csv"]);
    assert_eq!(status, 2);
    assert!(told.contains("rows.csv exists already"), "{told}");
}

fn about(place: &Path, rows: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(place.join(format!("{rows}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn concrete_rows_leave_out_what_was_not_divided_and_say_so() {
    let place = release_of(&AGREEMENT.replace("specializations = 4", "specializations = 2"));
    let place = place.path();
    let rows = ["rows", "--release", "out", "--concrete"];
    let (status, _, told) = diptych(place, &[&rows[..], &["--out", "rows.csv"]].concat());
    assert_eq!(status, 0, "{told}");
    let described = about(place, "rows.csv");
    let release = table(place, "out/release.csv");
    let mut written = Vec::new();
    for (index, column) in described["columns"].as_array().unwrap().iter().enumerate() {
        let name = column["name"].as_str().unwrap();
        let values: std::collections::BTreeSet<_> =
            release[1..].iter().map(|row| &row[index]).collect();
        match column["divided_into"].as_u64() {
            Some(number) => {
                assert_eq!((number, &column["in_rows"]), (values.len() as u64, &true.into()));
                assert!(told.contains(&format!("{name}: divided into {number} values")), "{told}");
                written.push(name.to_owned());
            }
            None => {
                assert_eq!((values.len(), &column["in_rows"]), (1, &false.into()));
                let line = format!("{name}: not divided, and left out of these rows; --undivided");
                assert!(told.contains(&line), "{told}");
            }
        }
    }
    assert!(written.len() <= 2, "two steps divide two columns at most");
    written.push("ill".to_owned());
    assert_eq!(table(place, "rows.csv")[0], written);
    for text in [&told, described["drawn"].as_str().unwrap()] {
        assert!(text.contains("drawn uniformly within each released value"), "{text}");
    }
    let seed = ["--seed", "rows.csv.seed", "--undivided", "--out", "all.csv"];
    let (status, _, told) = diptych(place, &[&rows[..], &seed].concat());
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("not divided: its values are drawn from all of "), "{told}");
    let (few, all) = (table(place, "rows.csv"), table(place, "all.csv"));
    assert_eq!(all[0].len(), 5);
    let last = all[0].iter().position(|name| *name == written[0]).unwrap();
    assert!(few.iter().zip(&all).all(|(few, all)| few[0] == all[last]), "the same draws");
    let (status, _, told) =
        diptych(place, &["rows", "--release", "out", "--out", "x.csv", "--undivided"]);
    assert!(status == 2 && told.contains("--concrete"), "{told}");
    let (status, _, told) = diptych(place, &[&rows[..], &["--out", "y.csv"]].concat());
    assert_eq!(status, 0, "{told}");
    std::fs::remove_file(place.join("y.csv")).unwrap();
    let (status, _, told) = diptych(place, &[&rows[..], &["--out", "y.csv"]].concat());
    assert!(status == 2 && told.contains("y.csv.json exists already"), "{told}");
}

/// Whether a concrete value lies inside one of a release.
fn is_inside(value: &str, general: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().unwrap();
    if let Some((low, high)) = general.trim_matches(['[', ']', ')']).split_once("..") {
        return number(low) <= number(value) && number(value) <= number(high);
    }
    if let Some((low, high)) = general.trim_matches(['[', ']', ')']).split_once(", ") {
        let closed = general.ends_with(']') && number(value) == number(high);
        return number(low) <= number(value) && (number(value) < number(high) || closed);
    }
    let below: &[&str] = match general {
        "Any" => &["Engineer", "Lawyer", "Dancer", "Writer"],
        "Pro" => &["Engineer", "Lawyer"],
        "Art" => &["Dancer", "Writer"],
        leaf => return leaf == value,
    };
    below.contains(&value)
}

#[test]
fn concrete_values_lie_inside_and_come_again_with_their_seed() {
    let place = release();
    let place = place.path();
    let concrete = |out: &str, more: &[&str]| {
        let rows = ["rows", "--release", "out", "--concrete", "--out", out];
        diptych(place, &[&rows[..], more].concat())
    };
    let (status, _, told) = concrete("one.csv", &[]);
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("drawn by the seed in one.csv.seed"), "{told}");
    assert_eq!(concrete("two.csv", &["--seed", "one.csv.seed"]).0, 0);
    assert_eq!(concrete("three.csv", &[]).0, 0);
    let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap();
    assert_eq!(read("one.csv"), read("two.csv"));
    assert_ne!(read("one.csv"), read("three.csv"));
    assert!(!place.join("two.csv.seed").exists());
    assert!(!read("out/manifest.json").contains(read("one.csv.seed").trim()));
    diptych(place, &["rows", "--release", "out", "--out", "general.csv"]);
    let (one, general) = (table(place, "one.csv"), table(place, "general.csv"));
    assert_eq!(one.len(), general.len());
    let kept = ["one.csv", "general.csv"].map(|name| table(place, name)[0].clone());
    let place_of = |name: &String| kept[1].iter().position(|known| known == name).unwrap();
    let places: Vec<usize> = kept[0].iter().map(place_of).collect();
    for (row, general) in one.iter().zip(&general).skip(1) {
        let general = places.iter().map(|place| &general[*place]);
        for (value, general) in row.iter().zip(general) {
            assert!(is_inside(value, general), "{value} in {general}");
        }
    }
    std::fs::write(place.join("bad.seed"), "xyz").unwrap();
    let (status, _, told) = concrete("four.csv", &["--seed", "bad.seed"]);
    assert_eq!(status, 2);
    assert!(told.contains("bad.seed is not a seed"), "{told}");
    assert_eq!(diptych(place, &["rows", "--release", "out", "--out", "x", "--seed", "y"]).0, 2);
}

#[test]
fn a_release_that_was_changed_gives_no_rows() {
    let place = release();
    let place = place.path();
    let path = place.join("out/release.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("yes", "no", 1)).unwrap();
    for (verb, out) in [("rows", "--out"), ("report", "--error-bars")] {
        let (status, _, told) = diptych(place, &[verb, "--release", "out", out, "x.csv"]);
        assert_eq!(status, 1, "{told}");
        assert!(!place.join("x.csv").exists());
    }
}

#[test]
fn error_bars_are_in_the_report_and_in_a_file_on_request() {
    let place = release();
    let place = place.path();
    let page = std::fs::read_to_string(place.join("out/report.html")).unwrap();
    let (_, rest) = page.split_once("in 95 of 100 cases at most ±").unwrap();
    let width: u64 = rest.split(',').next().unwrap().parse().unwrap();
    // At ε = 8 or what is left of it, the noise is 0 more often than not.
    assert!(width < 20, "{width}");
    let report = ["report", "--release", "out", "--error-bars", "bars.csv"];
    let (status, said, told) = diptych(place, &report);
    assert_eq!(status, 0, "{told}");
    assert!(said.ends_with("bars.csv\n"), "{said}");
    let bars = table(place, "bars.csv");
    assert_eq!(bars[0][5..], ["count", "low", "high"]);
    assert_eq!(bars.len(), table(place, "out/release.csv").len());
    for row in &bars[1..] {
        let number = |place: usize| row[place].parse::<u64>().unwrap();
        assert_eq!(number(6), number(5).saturating_sub(width));
        assert_eq!(number(7), number(5) + width);
    }
}

#[test]
fn intervals_are_half_open_unless_the_step_is_one() {
    let place = release();
    let place = place.path();
    let manifest = std::fs::read_to_string(place.join("out/manifest.json")).unwrap();
    assert!(manifest.contains("\"format\": \"diptych manifest v3\""));
    for row in &table(place, "out/release.csv")[1..] {
        for number in &row[..2] {
            assert!(number.starts_with('[') && number.contains(", "), "{number}");
            assert_eq!(
                number.ends_with(']'),
                number.ends_with("99]") || number.ends_with("149.5]")
            );
        }
        assert!(row[2].contains(".."), "{}", row[2]);
    }
    let evaluate = ["evaluate", "--release", "out", "--test", "table.csv"];
    let (status, _, told) = diptych(place, &evaluate);
    assert_eq!(status, 0, "{told}");
    let former = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/release-v2/numbers");
    std::fs::write(place.join("older.csv"), "age,weight,job,ill\n3,1.5,Writer,yes\n").unwrap();
    let (status, _, told) =
        diptych(place, &["evaluate", "--release", former, "--test", "older.csv"]);
    assert_eq!(status, 0, "{told}");
    let (status, _, told) =
        diptych(place, &["rows", "--release", former, "--out", "r", "--concrete"]);
    assert_eq!(status, 0, "{told}");
}

/// Puts another count into the first row, and renews the hash.
fn forge_count(place: &Path, count: &str) {
    let path = place.join("out/release.csv");
    let csv = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = csv.lines().map(str::to_owned).collect();
    let values = lines[1].rsplit_once(',').unwrap().0.to_owned();
    lines[1] = format!("{values},{count}");
    let forged = lines.join("\n") + "\n";
    let hash = |text: &str| diptych::math::hex::encode(Sha256::digest(text));
    let manifest = std::fs::read_to_string(place.join("out/manifest.json")).unwrap();
    let manifest = manifest.replace(&hash(&csv), &hash(&forged));
    std::fs::write(place.join("out/manifest.json"), manifest).unwrap();
    std::fs::write(path, forged).unwrap();
}

fn files(place: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(place).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_count_above_what_the_agreement_allows_gives_no_rows_and_leaves_nothing() {
    let place = release();
    let place = place.path();
    let before = files(place);
    for count in ["18446744073709551615", "100000"] {
        forge_count(place, count);
        let (status, _, told) =
            diptych(place, &["rows", "--release", "out", "--out", "x.csv", "--concrete"]);
        assert_eq!(status, 1, "{told}");
        assert!(told.contains("max_records") || told.contains("too large"), "{told}");
        assert_eq!(files(place), before);
    }
}

#[test]
fn rows_that_are_stopped_leave_nothing() {
    let many = "max_records = 100000000\nselection = \"permute-and-flip\"";
    let place = release_of(&AGREEMENT.replace("max_records = 1000", many));
    let place = place.path();
    let before = files(place);
    forge_count(place, "90000000");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_diptych"))
        .args(["rows", "--release", "out", "--out", "x.csv", "--concrete"])
        .current_dir(place)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let began = std::time::Instant::now();
    while !place.join(".x.csv.part").exists() {
        assert!(began.elapsed().as_secs() < 300 && child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(files(place), before);
}

#[test]
fn cells_that_a_spreadsheet_would_run_get_an_apostrophe_on_request() {
    let text = AGREEMENT
        .replace("\"Engineer\"", "\"=Engineer\"")
        .replace("\"Lawyer\"", "\"-5\"")
        .replace("min = 0\nmax = 9\n", "min = -9\nmax = 9\n");
    let text = text.replace("column = \"ill\"", "column = \"@ill\"");
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    std::fs::write(place.join("agreement.toml"), text).unwrap();
    let mut csv = String::from("age,weight,salary,job,@ill\n");
    for index in 0..400_usize {
        let job = ["=Engineer", "-5"][index % 2];
        let ill = if index % 2 == 0 { "yes" } else { "no" };
        csv += &format!("{},1.5,-{},{job},{ill}\n", index % 100, index % 10);
    }
    std::fs::write(place.join("table.csv"), csv).unwrap();
    let local = ["local", "--agreement", "agreement.toml", "--data", "table.csv", "--out", "out"];
    assert_eq!(diptych(place, &local).0, 0);
    let rows = ["rows", "--release", "out", "--concrete", "--undivided"];
    for (out, safe) in [("as-is.csv", &[][..]), ("safe.csv", &["--spreadsheet-safe"])] {
        let (status, _, told) = diptych(place, &[&rows[..], &["--out", out], safe].concat());
        assert_eq!(status, 0, "{told}");
        let rows = table(place, out);
        let sign = if safe.is_empty() { "" } else { "'" };
        assert_eq!(rows[0][4], format!("{sign}@ill"));
        let engineer = format!("{sign}=Engineer");
        assert!(rows[1..].iter().any(|row| row[3] == engineer), "{out}");
        assert!(rows[1..].iter().any(|row| row[3] == "-5"), "a number is a number");
        assert!(rows[1..].iter().any(|row| row[2].starts_with('-')));
        assert!(rows[1..].iter().flatten().all(|cell| !cell.starts_with("'-")));
    }
}

const KINDS: &str = r#"
[release]
id = "kinds"
partition = "local"
epsilon = "20"
specializations = 6
max_records = 1000
[class]
column = "ill"
values = ["yes", "no"]
[[attribute]]
name = "visit"
kind = "date"
min = "2020-01-01"
max = "2022-12-31"
step = "year"
format = "%d.%m.%Y"
missing = "category"
missing_values = ["", "NA"]
[[attribute]]
name = "dose"
kind = "numeric"
edges = [0, 0.5, 1, 2, 5, 10]
missing = "category"
outside = "nearest"
[[attribute]]
name = "smokes"
kind = "boolean"
missing = "category"
[[attribute]]
name = "job"
kind = "categorical"
taxonomy = { Any = ["a", "b"] }
missing = "category"
"#;

#[test]
fn dates_booleans_edges_and_missing_values_go_from_a_table_to_rows_and_a_report() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
    write("agreement.toml", KINDS);
    let mut csv = String::from("visit,dose,smokes,job,ill\n");
    for index in 0..600_usize {
        let visit = ["1.2.2020", "31.12.2021", "NA", "17.06.2022"][index % 4];
        let dose = ["0.25", "3", "12", ""][index / 4 % 4];
        let (smokes, job) = (["yes", "0", ""][index % 3], ["a", "b", ""][index / 2 % 3]);
        let ill = if visit == "NA" || dose == "12" { "yes" } else { "no" };
        csv += &format!("{visit},{dose},{smokes},{job},{ill}\n");
    }
    write("table.csv", &csv);
    let local = ["local", "--agreement", "agreement.toml", "--data", "table.csv", "--out", "out"];
    let (status, _, told) = diptych(place.path(), &local);
    assert_eq!(status, 0, "{told}");
    // 148 of 600 doses are 12, as every fourth group of four is.
    assert!(told.contains("`dose`: 148 values are out of range"), "{told}");
    let published: Vec<String> = ["release.csv", "manifest.json"]
        .iter()
        .map(|name| std::fs::read_to_string(place.path().join("out").join(name)).unwrap())
        .collect();
    assert!(published.iter().all(|text| !text.contains("out of range")));
    for verb in [&["verify", "out"][..], &["report", "--release", "out", "--out", "report.html"]] {
        let (status, _, told) = diptych(place.path(), verb);
        assert_eq!(status, 0, "{verb:?}: {told}");
    }
    let concrete = ["rows", "--release", "out", "--concrete", "--undivided", "--out", "rows.csv"];
    let (status, _, told) = diptych(place.path(), &concrete);
    assert_eq!(status, 0, "{told}");
    let rows = table(place.path(), "rows.csv");
    assert!(rows.len() > 300, "{}", rows.len());
    for row in &rows[1..] {
        assert!(
            row[0] == "missing" || ("2020-01-01".."2023").contains(&row[0].as_str()),
            "{row:?}"
        );
        assert!(row[1] == "missing" || row[1].parse::<f64>().unwrap() <= 10.0, "{row:?}");
        assert!(["true", "false", "missing"].contains(&row[2].as_str()), "{row:?}");
        assert!(["a", "b", "missing"].contains(&row[3].as_str()), "{row:?}");
    }
    let evaluate = ["evaluate", "--release", "out", "--train", "table.csv", "--test", "table.csv"];
    let (status, shown, told) = diptych(place.path(), &evaluate);
    assert_eq!(status, 0, "{shown}{told}");
}
