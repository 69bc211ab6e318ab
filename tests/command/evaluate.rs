//! Releases, judged as a person or a script would.

use serde_json::Value;

use crate::loans;
use crate::program::diptych;

/// Salaries above 58 get a loan; four releases under two budgets.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, records) in [("table.csv", 4000), ("test.csv", 820)] {
        let mut csv = String::from("job,salary,approved\n");
        let jobs = ["Engineer", "Lawyer", "Dancer", "Writer"];
        for (index, job) in jobs.iter().cycle().take(records).enumerate() {
            let salary = 18 + index * 7 % 82;
            csv += &format!("{job},{salary},{}\n", if salary > 58 { "Y" } else { "N" });
        }
        std::fs::write(place.path().join(name), csv).unwrap();
    }
    for (epsilon, out) in [("10", "a"), ("10", "b"), ("0.5", "c"), ("0.5", "d")] {
        let agreement = loans::agreement(epsilon, 5000);
        std::fs::write(place.path().join("agreement.toml"), agreement).unwrap();
        let local = ["local", "--agreement", "agreement.toml", "--data", "table.csv", "--out", out];
        let (status, _, said) = diptych(place.path(), &local);
        assert_eq!(status, 0, "{said}");
    }
    place
}

#[test]
fn releases_are_judged_one_by_one_and_together() {
    let place = place();
    let evaluate = ["evaluate", "--test", "test.csv", "--train", "table.csv", "--json", "all.json"];
    let more = ["--plots", "plots", "--release", "a", "b", "c", "d"];
    let (status, table, said) = diptych(place.path(), &[&evaluate[..], &more].concat());
    assert_eq!(status, 0, "{said}");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("release") && lines[0].ends_with("accuracy"), "{table}");
    // Two values for a salary and two or four jobs: the release agrees with itself, not with the data.
    let head = lines.iter().position(|line| line.starts_with("at the granularity")).unwrap();
    assert!(lines[head].contains("of the release") && lines[head].ends_with("of the data"));
    let figures: Vec<f64> =
        lines[head + 2].split_whitespace().skip(1).map(|figure| figure.parse().unwrap()).collect();
    assert_eq!(figures.len(), 5, "{table}");
    assert!(figures[2] < figures[3] && figures[3] < figures[4], "{table}");
    assert!(table.contains("at most 32 groups of values"), "{table}");
    assert!(!said.contains("neither has the joined records"), "one party made them: {said}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("mean of 2")).count(), 4, "{table}");
    assert!(table.contains("raw records") && table.contains("100.00 %"), "{table}");
    assert!(lines[1].starts_with("always the larger class") && lines[1].contains("50.00 %"));
    assert!(!table.contains("ATTENTION"), "{table}");
    let json = std::fs::read(place.path().join("all.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["releases"].as_array().unwrap().len(), 4);
    assert_eq!(json["groups"].as_array().unwrap().len(), 2);
    // With much budget the split lies where it should and the total is right.
    let first = &json["releases"][0];
    let fine = &first["at_the_granularity_of_the_data"];
    assert_eq!(fine["tables"], serde_json::json!([3, 3, 1]));
    assert!(fine["three_way_distance"].as_f64().unwrap() > 0.0);
    assert!(first["at_the_granularity_of_the_release"]["one_way_distance"].is_f64());
    assert!(first["accuracy"].as_f64().unwrap() > 0.95, "{json}");
    assert!((first["total"].as_f64().unwrap() - 4000.0).abs() < 100.0);
    assert_eq!(first["baselines"]["class_only"], 0.5);
    for name in ["accuracy-by-specializations.svg", "accuracy-by-epsilon.svg"] {
        let svg = std::fs::read_to_string(place.path().join("plots").join(name)).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("raw records"));
    }
}

#[test]
fn columns_that_are_constant_are_named_and_told_apart_from_exact_ones() {
    let place = place();
    let agreement = loans::agreement("1", 5000);
    let agreement = agreement.replace("specializations = 3", "specializations = 1");
    std::fs::write(place.path().join("agreement.toml"), agreement).unwrap();
    let local = ["local", "--agreement", "agreement.toml", "--data", "table.csv", "--out", "flat"];
    let (status, _, said) = diptych(place.path(), &local);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("1 of 2 columns were not divided, and have one value"), "{said}");
    let (status, _, said) = diptych(place.path(), &["agreement", "check", "agreement.toml"]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("about 1 of 2 columns will not be divided"), "{said}");
    let evaluate = ["evaluate", "--test", "test.csv", "--train", "table.csv", "--json", "f.json"];
    let (status, table, said) =
        diptych(place.path(), &[&evaluate[..], &["--release", "flat"]].concat());
    assert_eq!(status, 0, "{said}");
    let json = std::fs::read(place.path().join("f.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let constant = json["releases"][0]["constant_columns"].as_array().unwrap();
    assert_eq!(constant.len(), 1, "one step divides one column: {json}");
    let constant = constant[0].as_str().unwrap();
    assert!(table.contains(&format!("{constant}: constant in this release")), "{table}");
    let evaluate = ["evaluate", "--test", "test.csv", "--release", "flat", "flat"];
    let (status, table, _) = diptych(place.path(), &evaluate);
    assert_eq!(status, 0);
    assert!(table.contains(&format!("{constant}: constant in 2 of 2 releases")), "{table}");
}

#[test]
fn two_parties_are_told_that_neither_has_the_joined_records() {
    let place = tempfile::tempdir().unwrap();
    let by_two = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/release-v1/first");
    let joined = "job,sex,age,salary,approved\nLawyer,Male,30,40,Y\nWriter,Female,50,30,N\n";
    std::fs::write(place.path().join("joined.csv"), joined).unwrap();
    let evaluate = ["evaluate", "--release", by_two, "--test", "joined.csv"];
    let (status, _, said) = diptych(place.path(), &evaluate);
    assert_eq!(status, 0, "{said}");
    assert!(!said.contains("recognized"), "{said}");
    std::fs::write(place.path().join("semicolons.csv"), joined.replace(',', ";")).unwrap();
    let semicolons = ["evaluate", "--release", by_two, "--test", "semicolons.csv"];
    let (status, _, said) = diptych(place.path(), &semicolons);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("semicolons.csv: recognized cells separated by semicolons"), "{said}");
    assert!(!said.contains("neither has the joined records"), "{said}");
    let (status, _, said) =
        diptych(place.path(), &[&evaluate[..], &["--train", "joined.csv"]].concat());
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("neither has the joined records"), "{said}");
    let (_, help, _) = diptych(place.path(), &["evaluate", "--help"]);
    assert!(help.contains("Two parties cannot evaluate against their joined records"), "{help}");
}

#[test]
fn without_raw_records_there_is_no_distance_and_wrong_files_are_named() {
    let place = place();
    let (status, table, _) =
        diptych(place.path(), &["evaluate", "--release", "a", "--test", "test.csv"]);
    assert_eq!(status, 0);
    assert!(!table.contains("1-way") && !table.contains("raw records"), "{table}");
    // The release may not know which class is larger.
    assert!(!table.contains("larger class"), "{table}");
    let (status, _, said) =
        diptych(place.path(), &["evaluate", "--release", "nowhere", "--test", "test.csv"]);
    assert!(status == 2 && said.contains("nowhere/manifest.json"), "{said}");
    std::fs::write(place.path().join("bad.csv"), "job,salary,approved\nPainter,20,Y\n").unwrap();
    let (status, _, said) =
        diptych(place.path(), &["evaluate", "--release", "a", "--test", "bad.csv"]);
    assert!(status == 2 && said.contains("bad.csv:2: column `job`"), "{said}");
    // More bad values than are shown: the flag that is advised exists.
    let bad: String = (0..100).map(|index| format!("Painter{index},20,Y\n")).collect();
    std::fs::write(place.path().join("bad.csv"), format!("job,salary,approved\n{bad}")).unwrap();
    let evaluate = ["evaluate", "--release", "a", "--test", "bad.csv", "--problems", "all.csv"];
    let (status, _, said) = diptych(place.path(), &evaluate);
    assert!(status == 2 && said.contains("--problems FILE writes them all"), "{said}");
    assert!(said.contains("all 100 of them are listed in all.csv"), "{said}");
    assert!(place.path().join("all.csv").exists());
    std::fs::write(place.path().join("none.csv"), "job,salary,approved\n").unwrap();
    let (status, _, said) =
        diptych(place.path(), &["evaluate", "--release", "a", "--test", "none.csv"]);
    assert!(status == 2 && said.contains("no held-out record"), "{said}");
    let release = place.path().join("a/release.csv");
    let text = std::fs::read_to_string(&release).unwrap();
    std::fs::write(&release, text + "x").unwrap();
    let (status, _, said) =
        diptych(place.path(), &["evaluate", "--release", "a", "--test", "test.csv"]);
    assert!(status == 2 && said.contains("not the release that"), "{said}");
}
