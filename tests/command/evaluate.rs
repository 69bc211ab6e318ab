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
    assert!(lines[0].starts_with("release") && lines[0].ends_with("2-way"), "{table}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("mean of 2")).count(), 2, "{table}");
    assert!(table.contains("raw records") && table.contains("100.00 %"), "{table}");
    assert!(lines[1].starts_with("always the larger class") && lines[1].contains("50.00 %"));
    assert!(!table.contains("ATTENTION"), "{table}");
    let json = std::fs::read(place.path().join("all.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["releases"].as_array().unwrap().len(), 4);
    assert_eq!(json["groups"].as_array().unwrap().len(), 2);
    // With much budget the split lies where it should and the total is right.
    let first = &json["releases"][0];
    assert!(first["accuracy"].as_f64().unwrap() > 0.95, "{json}");
    assert!((first["total"].as_f64().unwrap() - 4000.0).abs() < 100.0);
    assert_eq!(first["baselines"]["class_only"], 0.5);
    for name in ["accuracy-by-specializations.svg", "accuracy-by-epsilon.svg"] {
        let svg = std::fs::read_to_string(place.path().join("plots").join(name)).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("raw records"));
    }
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
